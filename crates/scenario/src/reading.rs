//! Texts to numbers.

use crate::field::Measure;

/// A whole number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Whole {
    /// Exactly this.
    Exact(u64),
    /// A fraction, a negative number, or one that no `u64` holds.
    Other(f64),
}

/// Read a real number, with a unit if one is given, into the unit in which it is kept.
///
/// # Errors
///
/// What is wrong, as the end of a sentence that begins with the text.
pub(crate) fn real(text: &str, measure: Measure) -> Result<f64, String> {
    let written = Written::split(text)?;
    let unit = written.unit.to_lowercase();
    let shift = match measure {
        Measure::Percent if unit.is_empty() => {
            // A bare number above one can only be a percentage.
            let bare = written.value(0)?;
            if bare > 1.0 { -2 } else { 0 }
        }
        _ => {
            unit_shift(&unit, measure).ok_or_else(|| format!("has the unit “{}”", written.unit))?
        }
    };
    written.value(shift)
}

/// Read a whole number of pieces, requests or tokens.
///
/// # Errors
///
/// What is wrong, as the end of a sentence that begins with the text.
pub(crate) fn whole(text: &str) -> Result<Whole, String> {
    let written = Written::split(text)?;
    let piece = ["", "tokens", "token", "tok", "requests", "sequences", "runs"];
    let shift = match written.unit.to_lowercase().as_str() {
        "k" => 3,
        "m" => 6,
        unit if piece.contains(&unit) => 0,
        _ => return Err(format!("has the unit “{}”", written.unit)),
    };
    if shift == 0
        && let Ok(exact) = written.digits.parse()
    {
        return Ok(Whole::Exact(exact));
    }
    let value = written.value(shift)?;
    // Below 2^53 every whole float is exactly that number.
    if (0.0..9e15).contains(&value) && libm::trunc(value) == value {
        return Ok(Whole::Exact(value as u64));
    }
    Ok(Whole::Other(value))
}

/// A number and what follows it.
struct Written {
    digits: String,
    unit: String,
}

impl Written {
    fn split(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let mut end = 0;
        let mut previous = ' ';
        for (at, c) in text.char_indices() {
            let sign = matches!(c, '+' | '-' | '−') && (at == 0 || matches!(previous, 'e' | 'E'));
            let rest = &text[at + c.len_utf8()..];
            let exponent = matches!(c, 'e' | 'E')
                && end > 0
                && rest.trim_start_matches(['+', '-']).starts_with(|d: char| d.is_ascii_digit());
            if !(c.is_ascii_digit() || matches!(c, '.' | ',') || sign || exponent) {
                break;
            }
            end = at + c.len_utf8();
            previous = c;
        }
        let digits: String = text[..end].replace(',', "").replace('−', "-");
        if !digits.contains(|c: char| c.is_ascii_digit()) {
            return Err("is not a number".to_owned());
        }
        Ok(Self { digits, unit: text[end..].trim().to_owned() })
    }

    /// The number times a power of ten, rounded once: the power is put into the text.
    fn value(&self, shift: i32) -> Result<f64, String> {
        let (digits, exponent) = match self.digits.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>()),
            None => (self.digits.as_str(), Ok(0)),
        };
        let exponent = exponent.map_err(|_| "is not a number that can be computed with")?;
        let value: f64 = format!("{digits}e{}", exponent.saturating_add(shift))
            .parse()
            .map_err(|_| "is not a number")?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err("is not a number that can be computed with".to_owned())
        }
    }
}

/// Power of ten from what is written to what is kept; `None` for a wrong unit.
fn unit_shift(unit: &str, measure: Measure) -> Option<i32> {
    match (measure, unit) {
        (Measure::Milliseconds, "") => Some(-3),
        (Measure::Milliseconds | Measure::Seconds, "ms") => Some(-3),
        (Measure::Milliseconds | Measure::Seconds, "us" | "µs") => Some(-6),
        (Measure::Milliseconds | Measure::Seconds, "s") => Some(0),
        (Measure::Percent | Measure::Share, "%") => Some(-2),
        (Measure::Rate, "req/s" | "rps" | "/s" | "qps") => Some(0),
        (Measure::Parameters, "b") => Some(9),
        (Measure::Bytes, "gb") => Some(9),
        (Measure::Bytes, "b") => Some(0),
        (Measure::BytesPerSecond, "tb/s") => Some(12),
        (Measure::BytesPerSecond, "gb/s") => Some(9),
        (Measure::FlopsPerSecond, "tflops" | "tflop/s") => Some(12),
        (_, "") => Some(0),
        (_, "k") => Some(3),
        (_, "m") => Some(6),
        (_, "g") => Some(9),
        (_, "t") => Some(12),
        _ => None,
    }
}
