//! What was not taken as written, and why.

use crate::schema::Scenario;

/// One departure from what was written, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Key that it is about; empty where it is about the whole.
    pub key: String,
    /// Value as it was written.
    pub value: String,
    /// Kind of departure.
    pub kind: NoticeKind,
    /// Whole sentences: field, value, remedy.
    pub message: String,
}

/// Kinds of departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// No setting has that key; it was passed over.
    Unknown,
    /// The value could not be used; the setting kept what it had.
    Invalid,
    /// The value was moved into the range.
    Clamped,
    /// A length was cut to the longest context of the model.
    Shortened,
    /// The value is taken as written, but has no effect beside the other settings.
    NoEffect,
    /// The lengths are taken as written, but some requests exceed the context of the model.
    BeyondContext,
    /// The key was given more than once; the last value is used.
    Repeated,
    /// Written by another version, or with another revision of the catalogue.
    Version,
}

/// A scenario read from a text, with everything that was not taken as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The scenario, always complete.
    pub scenario: Scenario,
    /// In the order of the text.
    pub notices: Vec<Notice>,
}

impl Notice {
    pub(crate) fn new(key: &str, value: &str, kind: NoticeKind, message: String) -> Self {
        Self { key: key.to_owned(), value: value.to_owned(), kind, message }
    }
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Notice {}

/// A text in quotation marks, fit for a sentence: one line, and not too long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String =
        text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("“{shown}”")
}
