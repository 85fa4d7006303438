//! Why there is no memory plan.

use std::fmt::Display;

/// A number that cannot be used, with what would be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field} is {value}; {fix}")]
pub struct MemoryError {
    /// Which number.
    pub field: &'static str,
    /// Its value, as text.
    pub value: String,
    /// What to do.
    pub fix: String,
}

impl MemoryError {
    /// A number out of range.
    pub(crate) fn new(field: &'static str, value: &dyn Display, fix: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), fix: fix.into() }
    }
}
