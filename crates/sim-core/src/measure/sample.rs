//! What the statistics of one run refuse.

/// A sample from which the question cannot be answered, with what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// There are too few values.
    #[error("{have} values are too few for this; at least {needed} are needed: run longer")]
    TooFew {
        /// How many there are.
        have: usize,
        /// How many would do.
        needed: usize,
    },
    /// A value is not a finite number.
    #[error("value {index} is not a finite number; leave out requests that did not finish")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
    /// A parameter is outside its domain.
    #[error("{field} is {}; it must be {requirement}", quantity::plain(*value, 0))]
    OutOfDomain {
        /// Which parameter.
        field: &'static str,
        /// What it was.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
}

/// Check that every value is finite and that there are enough.
pub(super) fn check(values: &[f64], needed: usize) -> Result<(), SampleError> {
    if let Some(index) = values.iter().position(|value| !value.is_finite()) {
        return Err(SampleError::NotFinite { index });
    }
    enough(values.len(), needed)
}

/// Check that there are enough values.
pub(super) const fn enough(have: usize, needed: usize) -> Result<(), SampleError> {
    if have < needed { Err(SampleError::TooFew { have, needed }) } else { Ok(()) }
}

/// Check that a confidence level or a probability lies strictly between 0 and 1.
pub(super) fn probability(field: &'static str, value: f64) -> Result<f64, SampleError> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(SampleError::OutOfDomain { field, value, requirement: "above 0 and below 1" })
    }
}

/// Check a percentile, in percent.
pub(super) fn percentile(percent: f64) -> Result<f64, SampleError> {
    if percent > 0.0 && percent < 100.0 {
        Ok(percent)
    } else {
        Err(SampleError::OutOfDomain {
            field: "percentile",
            value: percent,
            requirement: "above 0 and below 100",
        })
    }
}

/// The mean of a slice that is not empty.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
