//! Typed look-up of fields that go by several names, in the language model's part first.

use serde_json::{Map, Value};

use super::ConfigError;

/// Parts that hold the language model of a model with towers.
const TEXT_PARTS: [&str; 5] =
    ["text_config", "llm_config", "language_config", "language_model_config", "thinker_config"];
/// A value is quoted in a message only so far.
const LONGEST_QUOTE: usize = 60;

/// The language model's fields, and those around them.
pub(super) struct Fields<'a> {
    inner: &'a Map<String, Value>,
    outer: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(root: &'a Map<String, Value>) -> Self {
        let mut inner = root;
        // Nested at most twice: a thinker's text.
        for _ in 0..2 {
            let part = TEXT_PARTS.iter().find_map(|part| inner.get(*part)?.as_object());
            inner = part.unwrap_or(inner);
        }
        Self { inner, outer: root }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        let found = |map: &'a Map<String, Value>| map.get(name).filter(|value| !value.is_null());
        found(self.inner).or_else(|| found(self.outer))
    }

    /// The language model's family, lower case.
    pub(super) fn family(&self) -> &'a str {
        let found = |map: &'a Map<String, Value>| map.get("model_type").and_then(Value::as_str);
        found(self.inner).or_else(|| found(self.outer)).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn object(&self, name: &str) -> Option<&'a Map<String, Value>> {
        self.get(name)?.as_object()
    }

    pub(super) fn list(&self, name: &str) -> Result<Option<&'a Vec<Value>>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(wrong(name, other, "a list")),
        }
    }

    /// The first of these names that is there, as a whole number.
    pub(super) fn whole(&self, names: &[&str]) -> Result<Option<u64>, ConfigError> {
        let found = names.iter().find_map(|name| Some((*name, self.get(name)?)));
        found.map(|(name, value)| whole(name, value)).transpose()
    }

    pub(super) fn required(&self, names: &[&str]) -> Result<u64, ConfigError> {
        self.whole(names)?.ok_or_else(|| missing(names.first().copied().unwrap_or_default()))
    }

    pub(super) fn number(&self, names: &[&str]) -> Result<Option<f64>, ConfigError> {
        let found = names.iter().find_map(|name| Some((*name, self.get(name)?)));
        let number = |(name, value): (&str, &Value)| {
            value.as_f64().ok_or_else(|| wrong(name, value, "a number"))
        };
        found.map(number).transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        let flag =
            |value: &Value| value.as_bool().ok_or_else(|| wrong(name, value, "true or false"));
        self.get(name).map(flag).transpose()
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, ConfigError> {
        let text = |value: &'a Value| value.as_str().ok_or_else(|| wrong(name, value, "a text"));
        self.get(name).map(text).transpose()
    }
}

/// A whole number, perhaps written with a fraction of zero.
pub(super) fn whole(name: &str, value: &Value) -> Result<u64, ConfigError> {
    let from_float = || {
        let float = value.as_f64()?;
        // Beyond 2⁵³ not every whole number is a float, and no dimension comes near.
        let is_whole = (0.0..9e15).contains(&float) && libm::floor(float) == float;
        is_whole.then_some(float as u64)
    };
    value
        .as_u64()
        .or_else(from_float)
        .ok_or_else(|| wrong(name, value, "a whole number of 0 or more"))
}

pub(super) fn wrong(field: &str, value: &Value, must_be: &str) -> ConfigError {
    let mut quoted: String = value.to_string().chars().take(LONGEST_QUOTE + 1).collect();
    if quoted.chars().count() > LONGEST_QUOTE {
        quoted.pop();
        quoted.push('…');
    }
    ConfigError::Value { field: field.to_owned(), value: quoted, must_be: must_be.to_owned() }
}

pub(super) fn missing(field: &str) -> ConfigError {
    ConfigError::Missing { field: field.to_owned() }
}
