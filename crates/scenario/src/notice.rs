//! What was not taken as written, and why.

use crate::schema::Scenario;

/// How the sentence about a zero that means none begins.
pub(crate) const ZERO_MEANS: &str = "0 means ";

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
    /// A zero that means none, where one might expect the opposite; it was taken for none.
    ZeroIsNone,
    /// A length was cut to the longest context of the model.
    Shortened,
    /// The value is taken as written, but has no effect beside the other settings.
    NoEffect,
    /// The value is taken as written, but counts in single runs alone, not in plans.
    NotPlanned,
    /// The lengths are taken as written, but some requests exceed the context of the model.
    BeyondContext,
    /// The prompts are taken as written, but engines refuse empty ones.
    EmptyPrompt,
    /// The key was given more than once; the last value is used.
    Repeated,
    /// Written by another version, or with another revision of the catalogue.
    Version,
}

impl NoticeKind {
    /// A word for it, for machines.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Invalid => "invalid",
            Self::Clamped => "clamped",
            Self::ZeroIsNone => "zero_is_none",
            Self::Shortened => "shortened",
            Self::NoEffect => "no_effect",
            Self::NotPlanned => "not_planned",
            Self::BeyondContext => "beyond_context",
            Self::EmptyPrompt => "empty_prompt",
            Self::Repeated => "repeated",
            Self::Version => "version",
        }
    }
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
    /// A notice of what a setting was taken for, as a sentence.
    pub(crate) fn taken(key: &str, value: &str, sentence: String) -> Self {
        let is_zero = sentence.starts_with(ZERO_MEANS);
        let kind = if is_zero { NoticeKind::ZeroIsNone } else { NoticeKind::Clamped };
        Self::new(key, value, kind, sentence)
    }

    /// A notice of a key that is given more than once, with the value that counts.
    #[must_use]
    pub fn repeated(key: &str, value: &str) -> Self {
        let value_said = quoted(value);
        let message =
            format!("“{key}” is given more than once. The last one counts: {value_said}.");
        Self::new(key, value, NoticeKind::Repeated, message)
    }

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
    let head: String = text.chars().take(LONGEST).collect();
    let mut shown = quantity::visible(&head);
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("“{shown}”")
}
