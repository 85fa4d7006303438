//! Where each number comes from.

use serde::{Deserialize, Serialize};

/// All numbers of a set-up, each with where it comes from, in the order in which they are computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger(pub Vec<LedgerEntry>);

/// One number and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Key of the setting that would replace the number, or a name in the same style.
    pub key: String,
    /// Name that people read.
    pub label: String,
    /// The number, in `unit`.
    pub value: f64,
    /// Unit of the number; empty for a plain number.
    pub unit: String,
    /// How the number came to be.
    pub kind: Provenance,
    /// Document, person or convention.
    pub source: String,
    /// The computation with its numbers put in, where there was one.
    pub formula: Option<String>,
    /// Lower end of the plausible band, where one is known.
    pub low: Option<f64>,
    /// Upper end of the plausible band, where one is known.
    pub high: Option<f64>,
}

/// How a number came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Provenance {
    /// Measured on the machine in question.
    Measured,
    /// Printed in a document.
    Published,
    /// Computed from other numbers.
    Derived,
    /// Nobody measured it; a documented convention.
    Assumed,
    /// The person typed it.
    Given,
    /// Fitted to measured points of the deployment in question.
    Calibrated,
}

impl Ledger {
    /// The entry of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&LedgerEntry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// Constants of the step time that stand in the scenario were fitted to so many measured points.
    pub(crate) fn mark_calibrated(&mut self, points: u64) {
        let points = quantity::counted(points, "measured point", "measured points");
        for entry in &mut self.0 {
            if entry.kind == Provenance::Given && entry.key.starts_with("step.") {
                entry.kind = Provenance::Calibrated;
                entry.source = ["fitted to ", &points, " by headroom calibrate"].concat();
            }
        }
    }

    pub(crate) fn push(&mut self, entry: LedgerEntry) {
        self.0.push(entry);
    }
}

impl LedgerEntry {
    pub(crate) fn new(
        (key, label, unit): (&str, &str, &str),
        value: f64,
        kind: Provenance,
        source: impl Into<String>,
    ) -> Self {
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            value,
            unit: unit.to_owned(),
            kind,
            source: source.into(),
            formula: None,
            low: None,
            high: None,
        }
    }

    pub(crate) fn with_formula(mut self, formula: String) -> Self {
        self.formula = Some(formula);
        self
    }

    pub(crate) fn with_band(mut self, low: f64, high: f64) -> Self {
        (self.low, self.high) = (Some(low), Some(high));
        self
    }
}

impl Provenance {
    /// Word for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Measured => "Measured",
            Self::Published => "Published",
            Self::Derived => "Derived",
            Self::Assumed => "Assumed",
            Self::Given => "Given",
            Self::Calibrated => "Calibrated",
        }
    }
}
