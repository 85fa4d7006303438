//! JSON (RFC 8259) as it was written: numbers keep their digits, and whatever has to be shown is
//! shown in the file's own words.

use std::borrow::Cow;

/// How deep arrays and objects may lie in each other: each level takes some of the stack.
const DEPTH: u32 = 128;

/// A value, with its text where people may have to see it.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// A number's text.
    Number(&'a str),
    Text(Cow<'a, str>),
    /// Items, and the text of all.
    Array(Vec<Value<'a>>, &'a str),
    /// An object, and its text.
    Object(Object<'a>, &'a str),
}

/// Keys and their values, in the order of the text.
#[derive(Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// Why a text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// What is wrong.
    pub(crate) problem: &'static str,
    /// Byte at which that shows.
    at: usize,
}

impl<'a> Object<'a> {
    /// The value of a key; the last where it is there several times.
    pub(crate) fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.0.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// All keys in order, each once.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let mut keys = in_order(self.0.iter().map(|(key, _)| &**key).collect());
        keys.dedup();
        keys
    }
}

/// Sorted, by merging halves: a fraction of the code of the standard library's sorts.
fn in_order(mut names: Vec<&str>) -> Vec<&str> {
    if names.len() < 2 {
        return names;
    }
    let right = in_order(names.split_off(names.len() / 2));
    let left = in_order(names);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (&left[..], &right[..]);
    while let ([first, ..], [second, ..]) = (left, right) {
        let from = if second < first { &mut right } else { &mut left };
        merged.push(from[0]);
        *from = &from[1..];
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged
}

impl<'a> Value<'a> {
    /// The value of a key, where this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object().and_then(|object| object.get(key))
    }

    pub(crate) const fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object, _) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What people are shown of it: its text, of a text what is in it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(text) | Self::Array(_, text) | Self::Object(_, text) => text,
            Self::Text(text) => text,
        }
    }
}

impl Broken {
    /// One-based line and column, counted in bytes.
    pub(crate) fn place(&self, text: &str) -> (usize, usize) {
        // What is missing at the end shows at the last byte.
        let read = &text.as_bytes()[..(self.at + 1).min(text.len())];
        let start = read.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = read.iter().filter(|&&byte| byte == b'\n').count() + 1;
        (line, read.len() - start)
    }
}

/// Reads a text that is one value.
pub(crate) fn value(text: &str) -> Result<Value<'_>, Broken> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(DEPTH)?;
    reader.end()?;
    Ok(value)
}

/// Reads a text that is one object.
pub(crate) fn object(text: &str) -> Result<Object<'_>, Broken> {
    let mut reader = Reader { text, at: 0 };
    if reader.peek() != Some(b'{') {
        return Err(reader.broken("expected `{`"));
    }
    let object = reader.object(DEPTH)?;
    reader.end()?;
    Ok(object)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    const fn broken(&self, problem: &'static str) -> Broken {
        Broken { problem, at: self.at }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn end(&mut self) -> Result<(), Broken> {
        if self.peek().is_some() { Err(self.broken("trailing characters")) } else { Ok(()) }
    }

    fn value(&mut self, depth: u32) -> Result<Value<'a>, Broken> {
        let first = self.peek();
        let start = self.at;
        match first {
            None => Err(self.broken("EOF while parsing a value")),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{') => {
                let object = self.object(depth)?;
                Ok(Value::Object(object, &self.text[start..self.at]))
            }
            Some(b'[') => {
                let items = self.array(depth)?;
                Ok(Value::Array(items, &self.text[start..self.at]))
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(_) => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value<'a>, Broken> {
        let words =
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.broken("expected value"))
    }

    fn array(&mut self, depth: u32) -> Result<Vec<Value<'a>>, Broken> {
        let mut items = Vec::new();
        self.entries(depth, b']', &mut |reader, depth| {
            items.push(reader.value(depth)?);
            Ok(())
        })?;
        Ok(items)
    }

    fn object(&mut self, depth: u32) -> Result<Object<'a>, Broken> {
        let mut entries = Vec::new();
        self.entries(depth, b'}', &mut |reader, depth| {
            match reader.peek() {
                Some(b'"') => {}
                Some(_) => return Err(reader.broken("key must be a string")),
                None => return Err(reader.broken("EOF while parsing an object")),
            }
            let key = reader.string()?;
            if reader.peek() != Some(b':') {
                return Err(reader.broken("expected `:`"));
            }
            reader.at += 1;
            entries.push((key, reader.value(depth)?));
            Ok(())
        })?;
        Ok(Object(entries))
    }

    /// What is between brackets or braces, entry by entry.
    fn entries(
        &mut self,
        depth: u32,
        close: u8,
        entry: &mut dyn FnMut(&mut Self, u32) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let depth = depth - 1;
        if depth == 0 {
            return Err(self.broken("recursion limit exceeded"));
        }
        self.at += 1;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            entry(self, depth)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) if close == b']' => return Err(self.broken("expected `,` or `]`")),
                Some(_) => return Err(self.broken("expected `,` or `}`")),
                None if close == b']' => return Err(self.broken("EOF while parsing a list")),
                None => return Err(self.broken("EOF while parsing an object")),
            }
        }
    }

    fn digits(&mut self) -> Result<(), Broken> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.broken("invalid number")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let leads_with_zero = self.byte() == Some(b'0');
        let whole = self.at;
        self.digits()?;
        if leads_with_zero && self.at > whole + 1 {
            self.at = whole + 1;
            return Err(self.broken("invalid number"));
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Broken> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            while self.byte().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            // Taken as it is, unless there is more to come.
            text += &self.text[start..self.at];
            match self.byte() {
                None => return Err(self.broken("EOF while parsing a string")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.to_mut().push(self.escaped()?);
                }
                Some(_) => return Err(self.broken("control character while parsing a string")),
            }
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self) -> Result<char, Broken> {
        let Some(byte) = self.byte() else {
            return Err(self.broken("EOF while parsing a string"));
        };
        let character = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.broken("invalid escape")),
        };
        self.at += 1;
        Ok(character)
    }

    /// The character of `\u1234`, or of two of these that belong together.
    fn code_point(&mut self) -> Result<char, Broken> {
        let unit = self.unit()?;
        let both = if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            [unit, self.unit()?]
        } else {
            [unit, 0]
        };
        let units = if both[1] == 0 { &both[..1] } else { &both[..] };
        let mut characters = char::decode_utf16(units.iter().copied());
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.broken("half a character in an escape")),
        }
    }

    fn unit(&mut self) -> Result<u16, Broken> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.broken("invalid escape")) };
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use serde_json::Value as Oracle;

    use super::*;

    /// The same as another reader has it.
    fn same(value: &Value<'_>, oracle: &Oracle) -> bool {
        match (value, oracle) {
            (Value::Null, Oracle::Null) => true,
            (Value::Bool(a), Oracle::Bool(b)) => a == b,
            (Value::Number(a), Oracle::Number(b)) => a.parse::<f64>().ok() == b.as_f64(),
            (Value::Text(a), Oracle::String(b)) => a == b,
            (Value::Array(a, text), Oracle::Array(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| same(a, b))
                    && super::value(text).as_ref() == Ok(value)
            }
            (Value::Object(a, text), Oracle::Object(b)) => {
                let keys: Vec<&String> = b.keys().collect();
                a.keys() == keys
                    && b.iter().all(|(key, b)| a.get(key).is_some_and(|a| same(a, b)))
                    && super::value(text).as_ref() == Ok(value)
            }
            _ => false,
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            "[\\[\\]{},:\" \n]{1,3}",
            "-?[0-9]{1,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{0,2})?",
            "\"[a-c]{0,2}\":",
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("false,".to_owned()),
            Just("\"\\ud83d\\ude00\\u00e4\\n\\/\"".to_owned()),
            Just("\"\\ud83d\\u0041\"".to_owned()),
            "\"\\\\[a-z0-9]{1,5}\"",
            "\"[\t\u{1}-\u{7f}ä]{0,3}\"",
        ]
    }

    /// Documents of which most are right.
    fn document() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?",
            "\"([a-zä ]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-cA-C]{4}){0,8}\"",
            Just("null".to_owned()),
            Just("true".to_owned()),
        ];
        leaf.prop_recursive(4, 30, 6, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..6).prop_map(|items| format!("[ {} ]", items.join(" ,"))),
                vec(("[a-d]{1,2}", inner), 0..6).prop_map(|entries| {
                    let entries = entries.iter().map(|(key, value)| format!("\"{key}\" : {value}"));
                    format!("{{{}\n}}", entries.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    fn agree(text: &str) -> Result<(), TestCaseError> {
        match (value(text), serde_json::from_str::<Oracle>(text)) {
            (Ok(value), Ok(oracle)) => prop_assert!(same(&value, &oracle), "{text}: {value:?}"),
            (Err(broken), Err(error)) => {
                // How far an escape is read that is none differs.
                let line = broken.place(text).0;
                let is_escape = broken.problem.contains("escape");
                prop_assert!(is_escape || line == error.line(), "{text}: {broken:?} {error}");
            }
            // A number beyond all doubles is one that was written.
            (Ok(_), Err(error)) => {
                prop_assert!(
                    error.to_string().starts_with("number out of range"),
                    "{text}: {error}"
                );
            }
            (Err(broken), Ok(_)) => prop_assert!(false, "{text}: {broken:?}"),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn documents_are_read_as_another_reader_reads_them(text in document()) {
            prop_assert!(value(&text).is_ok());
            agree(&text)?;
        }

        #[test]
        fn pieces_are_taken_or_refused_as_another_reader_does(pieces in vec(piece(), 0..12)) {
            agree(&pieces.concat())?;
        }

        #[test]
        fn keys_are_in_order(names in vec("[a-c]{0,3}", 0..40)) {
            let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
            let sorted = in_order(expected.clone());
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for text in [
            "",
            "[1",
            "[1,",
            "{\"a\":1",
            "\"a",
            "{\"a\" 1}",
            "[1 2]",
            "{\"a\":1 2}",
            "1 2",
            "[\n oh]",
        ] {
            let broken = value(text).unwrap_err();
            let error = serde_json::from_str::<Oracle>(text).unwrap_err();
            let (line, column) = broken.place(text);
            let told = format!("{} at line {line} column {column}", broken.problem);
            assert_eq!(told, error.to_string(), "{text}");
        }
        assert_eq!(object(" [1]").unwrap_err().place(" [1]"), (1, 2));
        assert_eq!(value("\"\\ud800\"").unwrap_err().problem, "half a character in an escape");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert!(value(&nested(127)).is_ok());
        assert_eq!(value(&nested(100_000)).unwrap_err().problem, "recursion limit exceeded");
    }
}
