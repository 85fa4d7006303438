//! Tables of text: which separator, which line is the header, and the rows under it.

use csv::{ReaderBuilder, StringRecord, Trim};

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
pub(crate) struct Row {
    /// One-based line on which it starts.
    pub(crate) line: u64,
    record: StringRecord,
}

impl Header {
    /// Whether a comma can be the decimal sign: it separates nothing here.
    pub(crate) const fn decimal_comma(&self) -> bool {
        self.separator != b','
    }
}

impl Row {
    /// A field, or `None` where the row ends before it.
    pub(crate) fn field(&self, index: usize) -> Option<&str> {
        self.record.get(index)
    }

    /// Why this row's values may be under the wrong names, if they may.
    pub(crate) fn misfit(&self, columns: usize) -> Option<String> {
        let lines = self.record.iter().map(|field| field.matches('\n').count()).sum::<usize>();
        let filled = self.record.iter().skip(columns).any(|field| !field.is_empty());
        if self.record.len() < columns && lines > 0 {
            Some(format!(
                "a quotation mark is not closed, so that the rows below were read as part of this one \
                 ({lines} or more); remove or double the mark"
            ))
        } else if filled {
            Some(format!(
                "{} values under {columns} column names; put quotation marks around values that \
                 hold the separator",
                self.record.len()
            ))
        } else {
            None
        }
    }
}

/// Rows that may be the header, the likeliest separators first.
pub(crate) fn headers(text: &str) -> impl Iterator<Item = Header> + '_ {
    SEPARATORS.into_iter().flat_map(move |separator| {
        rows(text, separator).take(ROWS_ABOVE).map(move |row| Header {
            names: row.record.iter().map(str::to_owned).collect(),
            line: row.line,
            separator,
        })
    })
}

/// The rows under a header.
pub(crate) fn rows_under<'a>(
    text: &'a str,
    header: &Header,
) -> impl Iterator<Item = Row> + use<'a> {
    let line = header.line;
    rows(text, header.separator).skip_while(move |row| row.line <= line)
}

/// All rows but blank lines, rows of empty fields, and comments.
fn rows(text: &str, separator: u8) -> impl Iterator<Item = Row> + '_ {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    std::iter::from_fn(move || {
        let mut record = StringRecord::new();
        // Reading from memory that is UTF-8 and of any width has no way to fail.
        let more = reader.read_record(&mut record).unwrap_or(false);
        more.then(|| Row { line: start_line(text, &record), record })
    })
    .filter(|row| row.record.iter().any(|field| !field.is_empty()))
    .filter(|row| !row.field(0).is_some_and(|field| field.starts_with('#')))
}

/// The line on which a record starts. Its position is where the one before it ended: what is left
/// of that line's end, and blank lines, come first.
fn start_line(text: &str, record: &StringRecord) -> u64 {
    let Some(position) = record.position() else { return 1 };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + ends.filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
