//! Where the figures of the wide catalogue come from.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::Deserialize;

use super::LookUpError;

const SOURCES: &str = include_str!("../../../../assets/catalog/sources.json");

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Source {
    /// Its title.
    pub title: String,
    /// Its address; empty where there is none, as for what is known from memory.
    pub address: String,
    /// When it was published; may be empty.
    pub date: String,
    /// When it was read; may be empty.
    pub read: String,
}

/// How a figure is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Measured, for example by an engine at start-up.
    Measured,
    /// Printed in the source.
    #[default]
    Published,
    /// Computed from what the source prints.
    Derived,
    /// Known from memory, or a convention: nobody checked it against a document.
    Assumed,
}

impl FactKind {
    /// One word, as files write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Derived => "derived",
            Self::Assumed => "assumed",
        }
    }

    /// The same for people: “Published”.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Measured => "Measured",
            Self::Published => "Published",
            Self::Derived => "Derived",
            Self::Assumed => "Assumed",
        }
    }
}

/// A source, and how what is said follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// How it is known.
    pub kind: FactKind,
    /// The document.
    pub source: Source,
    /// Where in the document; may be empty.
    pub at: String,
    /// A remark; may be empty.
    pub note: String,
}

impl Citation {
    /// Source, place, date and remark in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = self.source.title.clone();
        let date = if self.source.date.is_empty() { &self.source.read } else { &self.source.date };
        for part in [&self.at, date] {
            if !part.is_empty() {
                line.push_str(", ");
                line.push_str(part);
            }
        }
        if !self.note.is_empty() {
            line.push_str(&format!(" ({})", self.note));
        }
        line
    }
}

/// A number with its source. The unit is that of the field that holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The number.
    pub value: f64,
    /// Where it comes from.
    pub citation: Citation,
}

/// A figure as the data have it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFact {
    pub(super) value: f64,
    pub(super) source: String,
    #[serde(default)]
    pub(super) kind: FactKind,
    #[serde(default)]
    pub(super) note: String,
}

impl RawFact {
    pub(super) fn build(&self, entry: &str) -> Result<Fact, LookUpError> {
        if !(self.value.is_finite() && self.value > 0.0) {
            return Err(LookUpError::Broken(format!("{entry}: {} is no figure", self.value)));
        }
        let source = source(&self.source, entry)?;
        let citation =
            Citation { kind: self.kind, source, at: String::new(), note: self.note.clone() };
        Ok(Fact { value: self.value, citation })
    }
}

/// The source with that id.
pub(super) fn source(id: &str, entry: &str) -> Result<Source, LookUpError> {
    static SOURCES_BY_ID: OnceLock<Result<BTreeMap<String, Source>, String>> = OnceLock::new();
    let read = || serde_json::from_str(SOURCES).map_err(|error| format!("sources.json: {error}"));
    let all = SOURCES_BY_ID.get_or_init(read).as_ref();
    let all = all.map_err(|error| LookUpError::Broken(error.clone()))?;
    all.get(id).cloned().ok_or_else(|| {
        LookUpError::Broken(format!("{entry} names the source {id}, which is not listed"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_an_address_and_the_day_it_was_read_or_says_why_not() {
        let all: BTreeMap<String, Source> = serde_json::from_str(SOURCES).expect("it is JSON");
        assert!(all.len() >= 40, "{}", all.len());
        for (id, source) in &all {
            assert!(!source.title.is_empty(), "{id}");
            if source.address.is_empty() {
                let is_plain = ["memory", "card", "datasheet"].contains(&id.as_str());
                assert!(is_plain || !source.date.is_empty(), "{id}");
            } else {
                assert!(source.address.starts_with("https://"), "{id}");
                assert!(!source.read.is_empty() || !source.date.is_empty(), "{id}");
            }
        }
    }

    #[test]
    fn a_line_holds_what_there_is() {
        let source = |id| source(id, "test").expect("it is listed");
        let of = |id, at: &str, note: &str| {
            let (at, note) = (at.to_owned(), note.to_owned());
            Citation { kind: FactKind::Published, source: source(id), at, note }.line()
        };
        assert_eq!(of("memory", "", ""), "From memory, unverified");
        assert_eq!(
            of("minimax-m2", "At a glance", "both"),
            "MiniMax-M2 README, At a glance, 2025-10 (both)"
        );
        assert!(of("litgpt", "phi-4", "").ends_with("follows, phi-4, 2026-11-30"));
    }
}
