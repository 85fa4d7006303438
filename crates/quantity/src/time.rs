//! Durations in words and figures.

use crate::decimal::Decimal;
use crate::number::{DIGITS, UNKNOWN, not_finite, number, plain_or_scientific, whole};
use crate::with_unit;

/// From this many hours on minutes tell nothing.
const HOURS_WITHOUT_MINUTES: f64 = 100.0;

/// A time in seconds: “47 ms”, “2.97 s”, “8 min 20 s”, “3 h 10 min”.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let Some(decimal) = Decimal::of(seconds) else {
        return not_finite(seconds);
    };
    // What is rounded decides the unit: 0.9996 s is 1 s, not 1,000 ms.
    let rounded = decimal.to_significant(DIGITS);
    if rounded.magnitude() < 0 || rounded.is_zero() {
        return below_a_second(&rounded);
    }
    if rounded.value().abs() < 60.0 {
        return with_unit(&rounded.text(0), "s");
    }
    let sign = if seconds < 0.0 { String::from(crate::MINUS) } else { String::new() };
    format!("{sign}{}", from_a_minute(seconds.abs()))
}

/// A time in seconds on an axis: “100 ms”, “1 s”, “100 s”. Never minutes, so that ticks compare.
#[must_use]
pub fn axis_duration(seconds: f64) -> String {
    match Decimal::of(seconds) {
        Some(decimal) if decimal.is_zero() => String::from("0"),
        Some(decimal) if decimal.to_significant(DIGITS).magnitude() < 0 => {
            below_a_second(&decimal.to_significant(DIGITS))
        }
        Some(_) => with_unit(&crate::axis_number(seconds), "s"),
        None => not_finite(seconds),
    }
}

fn below_a_second(seconds: &Decimal) -> String {
    // Below a tenth of a millisecond thousandths of it read better.
    if seconds.magnitude() < -4 && !seconds.is_zero() {
        return with_unit(&plain_or_scientific(&seconds.clone().shifted(6)), "µs");
    }
    with_unit(&seconds.clone().shifted(3).text(0), "ms")
}

fn from_a_minute(seconds: f64) -> String {
    let whole_seconds = rounded(seconds);
    if whole_seconds < 3600.0 {
        let minutes = (whole_seconds / 60.0).floor();
        return two_parts((minutes, "min"), (whole_seconds - minutes * 60.0, "s"));
    }
    let minutes = rounded(whole_seconds / 60.0);
    let hours = (minutes / 60.0).floor();
    if hours >= HOURS_WITHOUT_MINUTES {
        return with_unit(&number(seconds / 3600.0), "h");
    }
    two_parts((hours, "h"), (minutes - hours * 60.0, "min"))
}

fn two_parts((large, large_unit): (f64, &str), (small, small_unit): (f64, &str)) -> String {
    let large = with_unit(&whole(large), large_unit);
    if small < 0.5 {
        return large;
    }
    format!("{large} {}", with_unit(&whole(small), small_unit))
}

fn rounded(value: f64) -> f64 {
    Decimal::of(value).map_or(0.0, |decimal| decimal.to_decimals(0).value())
}

/// “unknown” where there is no time to tell, otherwise [`duration`].
#[must_use]
pub fn duration_or_unknown(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| String::from(UNKNOWN), duration)
}
