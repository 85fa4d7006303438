//! One number with where it comes from.

use serde::{Deserialize, Serialize};

/// How a figure came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureKind {
    /// Printed in the source.
    Published,
    /// Computed from what the source prints, as the note says.
    Derived,
}

/// A number of the catalogue. The unit is that of the field that holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The number, positive and finite.
    pub value: f64,
    /// Printed or computed.
    pub kind: FigureKind,
    /// Title of the document it comes from.
    pub source: String,
    /// When that document was published: a year, or year and month.
    pub date: String,
    /// A remark on how the number is to be read; may be empty.
    pub note: String,
}

impl Figure {
    /// Source, date and remark in one line.
    pub fn citation(&self) -> String {
        if self.note.is_empty() {
            format!("{}, {}", self.source, self.date)
        } else {
            format!("{}, {} ({})", self.source, self.date, self.note)
        }
    }
}
