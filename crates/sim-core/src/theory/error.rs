//! What a formula refuses, and the checks that make it refuse.

/// A question that theory cannot answer, with what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TheoryError {
    /// A number is outside its domain.
    #[error("{field} is {}; it must be {requirement}", quantity::plain(*value, 0))]
    OutOfDomain {
        /// Which number, with its unit.
        field: &'static str,
        /// What it was.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// Work arrives as fast as it is served, or faster: the queue grows without end.
    #[error(
        "the load is {}, so the queue grows without end; lower the rate or add capacity until the \
         load is below 1",
        quantity::number_fixed(*load, 4)
    )]
    Unstable {
        /// Offered work over capacity; 1 or more.
        load: f64,
    },
    /// The exact recursion would need more states than are worth computing.
    #[error("{what} would need more than {limit} states; {remedy}")]
    TooManyStates {
        /// What was asked for.
        what: &'static str,
        /// How many states are computed at most.
        limit: usize,
        /// What to change.
        remedy: &'static str,
    },
}

/// The magnitudes that quantities may have. Sums and products of a few of them neither overflow
/// nor vanish, so that no formula can come to NaN.
const SMALLEST: f64 = 1e-15;
const LARGEST: f64 = 1e15;

/// A quantity that cannot be zero: a rate, a duration.
pub(super) fn positive(field: &'static str, value: f64) -> Result<f64, TheoryError> {
    if (SMALLEST..=LARGEST).contains(&value) {
        Ok(value)
    } else {
        Err(TheoryError::OutOfDomain { field, value, requirement: "between 1e-15 and 1e15" })
    }
}

/// A quantity that may be zero.
pub(super) fn not_negative(field: &'static str, value: f64) -> Result<f64, TheoryError> {
    if value == 0.0 || (SMALLEST..=LARGEST).contains(&value) {
        Ok(value)
    } else {
        Err(TheoryError::OutOfDomain { field, value, requirement: "0, or between 1e-15 and 1e15" })
    }
}

/// The share of arrivals in a tail: how many wait longer.
pub(super) fn tail_share(value: f64) -> Result<f64, TheoryError> {
    if (1e-9..1.0).contains(&value) {
        Ok(value)
    } else {
        Err(TheoryError::OutOfDomain {
            field: "tail share",
            value,
            requirement: "at least 1e-9 and below 1; for the 99th percentile it is 0.01",
        })
    }
}

/// A time to compare with; it may be zero, negative or infinite.
pub(super) fn time_s(value: f64) -> Result<f64, TheoryError> {
    if value.is_nan() {
        let requirement = "a number of seconds";
        return Err(TheoryError::OutOfDomain { field: "time", value, requirement });
    }
    Ok(value)
}

/// A count of servers or slots.
pub(super) fn count(field: &'static str, value: u64) -> Result<u64, TheoryError> {
    if (1..=MOST_SERVERS).contains(&value) {
        Ok(value)
    } else {
        let requirement = "between 1 and 1,000,000";
        Err(TheoryError::OutOfDomain { field, value: value as f64, requirement })
    }
}

/// Recursions over servers take time in proportion to their number.
const MOST_SERVERS: u64 = 1_000_000;

/// A load at which a steady state exists.
///
/// The margin keeps `1 − load` clear of rounding: below it a mean would be all rounding error.
pub(super) fn stable(load: f64) -> Result<f64, TheoryError> {
    if load < 1.0 - 1e-9 { Ok(load) } else { Err(TheoryError::Unstable { load }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_to_change() {
        let error = positive("rate_per_s", f64::NAN).unwrap_err();
        assert_eq!(error.to_string(), "rate_per_s is NaN; it must be between 1e-15 and 1e15");
        let error = stable(1.25).unwrap_err().to_string();
        assert!(error.contains("1.2500") && error.contains("lower the rate"), "{error}");
        assert!(stable(f64::NAN).is_err());
        assert!(tail_share(0.0).is_err() && tail_share(1.0).is_err() && tail_share(0.5).is_ok());
        assert!(count("servers", 0).is_err() && not_negative("scv", -0.5).is_err());
    }
}
