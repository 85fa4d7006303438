//! The JSON codec: one flat object with the keys of links. A class may also be an object of its
//! parts.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use crate::{
    class::{CLASS_PREFIX, field_of_part},
    field::{Field, field},
    notice::{Notice, NoticeKind, Parsed, quoted},
    reader::{LINK_VERSION, Reader},
    schema::Scenario,
    setting::AUTO,
};

/// A file that holds no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The text is not JSON, or not one object.
    #[error(
        "line {line}, column {column}: {problem}. Correct it there; a scenario is one object such as {{\"rate\": 100, \"ttft\": \"1s\"}}"
    )]
    Json {
        /// Line of the mistake, from 1.
        line: usize,
        /// Column of the mistake.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// A setting has a value that cannot be used.
    #[error("{0}")]
    Setting(Notice),
}

impl Scenario {
    /// Read a scenario from JSON. What it does not mention has its default; unknown keys and values
    /// moved into their range are notices.
    ///
    /// # Errors
    ///
    /// If the text is not a JSON object, or a value cannot be used.
    pub fn from_json(text: &str) -> Result<Parsed, ScenarioError> {
        let pairs: Pairs = serde_json::from_str(text).map_err(|error| ScenarioError::Json {
            line: error.line(),
            // Of a value of the wrong kind the parser says column 0.
            column: error.column().max(1),
            problem: without_position(&error),
        })?;
        let mut reader = Reader::new("file");
        for (key, value) in &pairs.0 {
            let text = match value {
                serde_json::Value::Null => match field(key) {
                    // Where the catalogue decides it is how a file says so.
                    Some(field) if field.is_optional() => AUTO.to_owned(),
                    field => return Err(ScenarioError::Setting(missing(key, field))),
                },
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Object(parts) if key.starts_with(CLASS_PREFIX) => {
                    class_text(key, parts)?
                }
                other => other.to_string(),
            };
            reader.take(key, &text).map_err(ScenarioError::Setting)?;
        }
        Ok(reader.finish())
    }

    /// Write a scenario as JSON, every setting on its own line; `null` where the catalogue decides.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut lines =
            vec![format!("  \"v\": {LINK_VERSION}"), format!("  \"rev\": {}", catalog::REVISION)];
        for (key, text) in self.entries() {
            let value = match text {
                None => "null".to_owned(),
                Some(text) if serde_json::from_str::<serde_json::Number>(&text).is_ok() => text,
                Some(text) => serde_json::Value::from(text).to_string(),
            };
            lines.push(format!("  \"{key}\": {value}"));
        }
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// A class written as an object of its parts: `{"share": "20%", "in": 4000}`.
fn class_text(
    class: &str,
    parts: &serde_json::Map<String, serde_json::Value>,
) -> Result<String, ScenarioError> {
    let part = |(key, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Null => {
            let full_key = [class, ".", key].concat();
            Err(ScenarioError::Setting(missing(&full_key, field_of_part(key))))
        }
        serde_json::Value::String(text) => Ok(format!("{key}:{text}")),
        other => Ok(format!("{key}:{other}")),
    };
    Ok(parts.iter().map(part).collect::<Result<Vec<_>, _>>()?.join(","))
}

/// The notice about a key whose value is `null`.
fn missing(key: &str, field: Option<&Field>) -> Notice {
    let give = match field {
        Some(field) => format!("For “{}” give for example {}", field.label, field.example),
        None => "Give it a value".to_owned(),
    };
    let message =
        format!("{} is missing a value: it is “null”. {give}, or leave the key out.", quoted(key));
    Notice::new(key, "null", NoticeKind::Invalid, message)
}

/// The parser's words without the position, which the error holds apart.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// The entries of an object in the order of the text, repeated keys included.
struct Pairs(Vec<(String, serde_json::Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
