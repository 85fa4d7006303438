//! JSON of other programs: read with bounds, and forgiving of what Python writes.
//!
//! Reports keep every request beside their summaries, texts included. What no summary needs is passed
//! over while it is read, so that a report of a gigabyte's worth of requests takes the memory of its
//! summaries.

use std::{borrow::Cow, cell::Cell, fmt};

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use crate::error::ImportError;

pub(crate) type Object = Map<String, Value>;

/// Keys whose values are passed over: single requests with their texts, and densities.
const PASSED_OVER: [&str; 6] =
    ["requests", "generated_texts", "itls", "pdf", "request_samples", "server_info"];
/// Values that a document may hold beside; a summary has some thousands.
const MOST_VALUES: u32 = 3_000_000;
/// What the reader says when there are more.
const TOO_MANY: &str = "more values than any summary has";
/// Lines that may each be a document.
const MOST_LINES: usize = 1_000_000;
/// Broken lines after which a file is taken to be no lines of documents.
const MOST_BROKEN: usize = 20;

/// The documents of a text: one, or one a line. Each with its line.
pub(crate) fn documents(file: &str, text: &str) -> Result<Vec<(u64, Value)>, ImportError> {
    let text = python_numbers(text);
    let left = Cell::new(MOST_VALUES);
    let error = match read(&text, &left) {
        Ok(whole) => return Ok(vec![(1, whole)]),
        Err(error) => error,
    };
    match lines(&text) {
        Some(found) => Ok(found),
        None if error.to_string().contains(TOO_MANY) => {
            Err(ImportError::TooManyValues { file: file.to_owned(), most: u64::from(MOST_VALUES) })
        }
        None => Err(ImportError::BrokenJson {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            problem: cause(&error),
            remedy: "is the file cut off? Copy it again, whole, as the tool wrote it",
        }),
    }
}

/// One object a line, as programs append them; none where the first line is no object. A last line that was
/// cut off is left out by its line number being absent.
fn lines(text: &str) -> Option<Vec<(u64, Value)>> {
    let left = Cell::new(MOST_VALUES);
    let mut found = Vec::new();
    let mut broken = 0;
    for (at, line) in text.lines().take(MOST_LINES).enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match read(line, &left) {
            Ok(value @ Value::Object(_)) => found.push((at as u64 + 1, value)),
            _ if found.is_empty() => return None,
            _ => broken += 1,
        }
        if broken > MOST_BROKEN {
            return None;
        }
    }
    (!found.is_empty() && broken == 0 || found.len() > broken).then_some(found)
}

fn read(text: &str, left: &Cell<u32>) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Bounded { left }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The parser's message without its position.
fn cause(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Python writes `NaN`, `Infinity` and `-Infinity`, which are no JSON.
fn python_numbers(text: &str) -> Cow<'_, str> {
    const WORDS: [(&str, &str); 3] =
        [("-Infinity", "\"-inf\""), ("Infinity", "\"inf\""), ("NaN", "null")];
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_text) = (text, false);
    while let Some(at) = rest.find(['"', '\\', 'N', 'I', '-']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let word = WORDS.iter().find(|(word, _)| !is_text && from.starts_with(word));
        if let Some((word, instead)) = word {
            out.push_str(instead);
            rest = &from[word.len()..];
            continue;
        }
        let mut letters = from.chars();
        let letter = letters.next();
        if letter == Some('"') {
            is_text = !is_text;
        }
        // What is escaped ends no text.
        let taken = match (letter, letters.next()) {
            (Some('\\'), Some(escaped)) => 1 + escaped.len_utf8(),
            _ => 1,
        };
        out.push_str(&from[..taken]);
        rest = &from[taken..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Reads a value while there are values left to take.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: &'a Cell<u32>,
}

impl Bounded<'_> {
    fn take<E: serde::de::Error>(self) -> Result<(), E> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom(TOO_MANY)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.take()?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut all = Object::new();
        while let Some(key) = pairs.next_key::<String>()? {
            if PASSED_OVER.contains(&key.as_str()) {
                pairs.next_value::<IgnoredAny>()?;
                // That it is there may tell what the document is.
                all.insert(key, Value::Null);
                continue;
            }
            let value = pairs.next_value_seed(self)?;
            if all.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice in one object"));
            }
        }
        Ok(Value::Object(all))
    }
}

/// What lies at the end of a path of keys.
pub(crate) fn at<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.get(*first)?, |value, key| value.get(key))
}

/// A finite number, also where it is written as a text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let found = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    found.filter(|number: &f64| number.is_finite())
}

/// A finite number at the end of a path.
pub(crate) fn number_at(object: &Object, path: &[&str]) -> Option<f64> {
    at(object, path).and_then(number)
}

/// A number above zero at the end of a path: zero stands for what was not measured.
pub(crate) fn positive_at(object: &Object, path: &[&str]) -> Option<f64> {
    number_at(object, path).filter(|number| *number > 0.0)
}

/// A text that is not empty at the end of a path.
pub(crate) fn text_at<'a>(object: &'a Object, path: &[&str]) -> Option<&'a str> {
    at(object, path)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// A count at the end of a path.
pub(crate) fn count_at(object: &Object, path: &[&str]) -> Option<u64> {
    number_at(object, path).filter(|number| *number >= 0.0).map(|number| number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Value {
        documents("f", text).unwrap().remove(0).1
    }

    #[test]
    fn what_python_writes_is_read() {
        let value =
            one(r#"{"a": NaN, "b": Infinity, "c": -Infinity, "d": "NaN \" Infinity", "e": -1}"#);
        assert_eq!(value["a"], Value::Null);
        assert_eq!((&value["b"], &value["c"]), (&Value::from("inf"), &Value::from("-inf")));
        assert_eq!((&value["d"], &value["e"]), (&Value::from("NaN \" Infinity"), &Value::from(-1)));
    }

    #[test]
    fn single_requests_are_passed_over() {
        let value = one(r#"{"a": 1, "requests": [{"text": "x"}, [[]]], "b": {"itls": [[1.0]]}}"#);
        assert_eq!(value, serde_json::json!({"a": 1, "requests": null, "b": {"itls": null}}));
    }

    #[test]
    fn lines_are_documents_too() {
        let found = documents("f", "{\"a\": 1}\n\n{\"a\": Infinity}\n").unwrap();
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn there_is_an_end_to_values() {
        let text = format!("[{}1]", "1,".repeat(MOST_VALUES as usize));
        let error = documents("f", &text).unwrap_err().to_string();
        assert!(error.contains("3,000,000"), "{error}");
        let deep = "[".repeat(100_000);
        assert!(documents("f", &deep).unwrap_err().to_string().contains("recursion"));
    }
}
