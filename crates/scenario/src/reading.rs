//! Texts to numbers, in the unit in which a scenario keeps them.
//!
//! Units and suffixes are `quantity`'s. Here is only what makes links come back to the bit: powers
//! of ten between the written and the kept unit are put into the decimal text, so that there is one
//! rounding and not two.

use quantity::Unit;

use crate::{notice::quoted, writing};

/// Longest text that is looked at: the longest that is ever written has fewer than 100 letters.
const LONGEST: usize = 120;

/// A whole number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Whole {
    /// Exactly this.
    Exact(u64),
    /// A fraction, a negative number, or one that no `u64` holds.
    Other(f64),
}

/// Powers of ten from the kept unit to the written one: times are kept in seconds, shares of one.
pub(crate) const fn shift(unit: Unit) -> i32 {
    match unit {
        Unit::Milliseconds => 3,
        Unit::Percent => 2,
        _ => 0,
    }
}

/// Read a real number written in `unit`, or in another unit that it names.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn real(text: &str, unit: Unit) -> Result<f64, String> {
    if text.chars().count() > LONGEST {
        return Err(format!("{} is too long", quoted(text)));
    }
    let written = parsed(text, unit)?;
    let kept = match unit {
        Unit::Milliseconds => parsed(text, Unit::Seconds)?,
        Unit::Percent => parsed(text, Unit::Share)?,
        _ => return Ok(written),
    };
    let takes_written = match unit {
        // A bare number reads the same in both, and means milliseconds.
        Unit::Milliseconds => {
            written == kept || text.trim_end().to_ascii_lowercase().ends_with("ms")
        }
        // A bare number up to one reads the same in both, and means a share.
        _ => written != kept,
    };
    Ok(if takes_written { writing::shifted(written, -shift(unit)) } else { kept })
}

/// Read a whole number of tokens or other pieces.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn whole(text: &str, unit: Unit) -> Result<Whole, String> {
    // Seeds have more digits than a float holds.
    if let Ok(exact) = text.trim().parse() {
        return Ok(Whole::Exact(exact));
    }
    let value = real(text, unit)?;
    // Below 2^53 every whole float is exactly that number.
    if (0.0..9e15).contains(&value) && libm::trunc(value) == value {
        return Ok(Whole::Exact(value as u64));
    }
    Ok(Whole::Other(value))
}

fn parsed(text: &str, unit: Unit) -> Result<f64, String> {
    quantity::parse(text, unit).map_err(|error| error.to_string())
}
