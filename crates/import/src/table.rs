//! Tables of text: which separator, which line is the header, and the rows under it.

use std::borrow::Cow;

/// Separators that are tried; the first with which a header makes sense is the one.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// How many rows may stand above a header: titles, licences, `sep=;`.
const ROWS_ABOVE: usize = 10;

/// A row that may be the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    /// One-based.
    pub(crate) line: u64,
    separator: u8,
}

/// A row of a table.
pub(crate) struct Row<'a> {
    /// One-based line on which it starts.
    pub(crate) line: u64,
    /// Without quotation marks, and without blanks around.
    fields: Vec<Cow<'a, str>>,
}

impl Header {
    /// Whether a comma can be the decimal sign: it separates nothing here.
    pub(crate) const fn decimal_comma(&self) -> bool {
        self.separator != b','
    }
}

impl Row<'_> {
    /// A field, or `None` where the row ends before it.
    pub(crate) fn field(&self, index: usize) -> Option<&str> {
        self.fields.get(index).map(|field| &**field)
    }

    /// Why this row's values may be under the wrong names, if they may.
    pub(crate) fn misfit(&self, columns: usize) -> Option<String> {
        let lines = self.fields.iter().map(|field| field.matches('\n').count()).sum::<usize>();
        let filled = self.fields.iter().skip(columns).any(|field| !field.is_empty());
        if self.fields.len() < columns && lines > 0 {
            Some(format!(
                "a quotation mark is not closed, so that the rows below were read as part of this one \
                 ({lines} or more); remove or double the mark"
            ))
        } else if filled {
            Some(format!(
                "{} values under {columns} column names; put quotation marks around values that \
                 hold the separator",
                self.fields.len()
            ))
        } else {
            None
        }
    }
}

/// Rows that may be the header, the likeliest separators first.
pub(crate) fn headers(text: &str) -> impl Iterator<Item = Header> + '_ {
    let mut separators = SEPARATORS.into_iter();
    let mut rows = rows(text, b',');
    let mut left = 0;
    std::iter::from_fn(move || {
        loop {
            if left == 0 {
                rows = self::rows(text, separators.next()?);
                left = ROWS_ABOVE;
            }
            let Some(Row { line, fields }) = rows.next() else {
                left = 0;
                continue;
            };
            left -= 1;
            let names = fields.into_iter().map(Cow::into_owned).collect();
            return Some(Header { names, line, separator: rows.separator });
        }
    })
}

/// The rows under a header.
pub(crate) fn rows_under<'a>(
    text: &'a str,
    header: &Header,
) -> impl Iterator<Item = Row<'a>> + use<'a> {
    let line = header.line;
    rows(text, header.separator).skip_while(move |row| row.line <= line)
}

/// All rows but blank lines, rows of empty fields, and comments.
fn rows(text: &str, separator: u8) -> Rows<'_> {
    Rows { text, at: 0, line: 1, separator, width: 0 }
}

/// Reads rows as RFC 4180 has them, and files in the wild: of any width, with line ends of any kind,
/// blank lines between, and marks inside fields.
struct Rows<'a> {
    text: &'a str,
    at: usize,
    line: u64,
    separator: u8,
    /// Fields of the last row: most have as many.
    width: usize,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        loop {
            let row = self.any_row()?;
            let is_comment = row.field(0).is_some_and(|field| field.starts_with('#'));
            if !is_comment && row.fields.iter().any(|field| !field.is_empty()) {
                return Some(row);
            }
        }
    }
}

impl<'a> Rows<'a> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next row that is no blank line.
    fn any_row(&mut self) -> Option<Row<'a>> {
        while let Some(end @ (b'\r' | b'\n')) = self.byte() {
            self.line += u64::from(end == b'\n');
            self.at += 1;
        }
        self.byte()?;
        let line = self.line;
        let mut fields = Vec::with_capacity(self.width);
        loop {
            fields.push(self.field());
            match self.byte() {
                Some(byte) if byte == self.separator => self.at += 1,
                _ => break,
            }
        }
        self.width = fields.len();
        Some(Row { line, fields })
    }

    /// A field, up to the separator or the end of the line.
    fn field(&mut self) -> Cow<'a, str> {
        let mut field = Cow::Borrowed("");
        if self.byte() == Some(b'"') {
            field = self.quoted();
        }
        // What follows a closing mark belongs to the field, as it is.
        let separator = self.separator;
        let rest = &self.text[self.at..];
        let is_end = |byte: u8| byte == separator || byte == b'\r' || byte == b'\n';
        let end = rest.bytes().position(is_end).unwrap_or(rest.len());
        self.at += end;
        field += &rest[..end];
        match field {
            Cow::Borrowed(field) => Cow::Borrowed(field.trim()),
            Cow::Owned(field) => Cow::Owned(field.trim().to_owned()),
        }
    }

    /// What is in quotation marks, up to the mark that closes them or the end of the text. Two marks
    /// are one.
    fn quoted(&mut self) -> Cow<'a, str> {
        let mut field = Cow::Borrowed("");
        loop {
            self.at += 1;
            let rest = &self.text[self.at..];
            let end = rest.bytes().position(|byte| byte == b'"').unwrap_or(rest.len());
            let part = &rest[..end];
            self.line += part.bytes().filter(|byte| *byte == b'\n').count() as u64;
            self.at += end;
            field += part;
            if self.byte().is_none() {
                return field;
            }
            self.at += 1;
            if self.byte() != Some(b'"') {
                return field;
            }
            field += "\"";
        }
    }
}

#[cfg(test)]
mod tests {
    use csv::{ReaderBuilder, StringRecord, Trim};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Rows as another reader has them.
    fn oracle(text: &str, separator: u8) -> Vec<Vec<String>> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        let fields = |row: StringRecord| row.iter().map(str::to_owned).collect::<Vec<_>>();
        let rows = reader.into_records().map(|row| fields(row.unwrap()));
        let is_kept = |row: &Vec<String>| {
            row.iter().any(|field| !field.is_empty()) && !row[0].starts_with('#')
        };
        rows.filter(is_kept).collect()
    }

    proptest! {
        #[test]
        fn rows_are_those_of_another_reader(pieces in vec("[a\" ,;#\r\n1ä\u{a0}]{0,4}|\"\"|,", 0..30)) {
            let text = pieces.concat();
            for separator in SEPARATORS {
                let rows = rows(&text, separator);
                let rows: Vec<Vec<String>> =
                    rows.map(|row| row.fields.iter().map(|field| field.to_string()).collect()).collect();
                prop_assert_eq!(rows, oracle(&text, separator), "{:?}", text);
            }
        }
    }

    fn lines(text: &str) -> Vec<u64> {
        rows(text, b',').map(|row| row.line).collect()
    }

    #[test]
    fn lines_are_counted_over_blanks_quotes_and_line_ends() {
        assert_eq!(lines("a,b\n\n\n1,2\n# note\n3,4"), [1, 4, 6]);
        assert_eq!(lines("a,b\r\n\r\n1,2\r\n,,\r\n3,4\r\n"), [1, 3, 5]);
        assert_eq!(lines("\n\na,b\n\"x\ny\",2\n3,4\n"), [3, 4, 6]);
    }

    #[test]
    fn each_separator_is_tried() {
        let header =
            headers("sep=;\na;b\n1;2\n").find(|header| header.names == ["a", "b"]).unwrap();
        assert_eq!((header.line, header.decimal_comma()), (2, true));
    }

    #[test]
    fn shifted_rows_are_noticed() {
        let misfit = |text: &str| rows(text, b',').next().unwrap().misfit(2);
        assert_eq!(misfit("1,2"), None);
        assert_eq!(misfit("1,2,,"), None);
        assert_eq!(misfit("1"), None);
        assert!(misfit("1,024,5").unwrap().starts_with("3 values under 2"));
        assert!(misfit("\"1,2\n3,4\n").unwrap().starts_with("a quotation mark"));
    }
}
