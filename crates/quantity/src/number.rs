//! Numbers without a unit.

use crate::decimal::Decimal;

/// Numbers smaller than this and not zero are written with a power of ten.
const SMALLEST_PLAIN: i32 = -5;
/// Numbers from this power of ten on as well.
const LARGEST_PLAIN: i32 = 15;
/// Significant digits unless said.
pub(crate) const DIGITS: usize = 3;
/// Most significant digits that tell a number from its neighbours.
const DISTINCT_DIGITS: usize = 7;
/// Significant digits of a number that a person may edit: none that was typed is lost.
const EDIT_DIGITS: usize = 12;

/// What stands for a number that is not one.
pub(crate) const UNKNOWN: &str = "unknown";
/// What stands for an infinite number.
pub(crate) const BEYOND: &str = "beyond scale";

/// Three significant digits, thousands separated: “22.6”, “4,970”, “0.35”.
#[must_use]
pub fn number(value: f64) -> String {
    match Decimal::of(value) {
        Some(decimal) => plain_or_scientific(&decimal.to_significant(DIGITS)),
        None => not_finite(value),
    }
}

/// As many significant digits, thousands separated: “22.59” of four.
#[must_use]
pub fn number_to(value: f64, digits: usize) -> String {
    match Decimal::of(value) {
        Some(decimal) => plain_or_scientific(&decimal.to_significant(digits)),
        None => not_finite(value),
    }
}

/// The value that [`number_to`] shows.
#[must_use]
pub fn rounded_to(value: f64, digits: usize) -> f64 {
    Decimal::of(value).map_or(value, |decimal| decimal.to_significant(digits).value())
}

/// Power of ten of the first digit: 0 for 1 to 9.99…, −1 for 0.1 to 0.99…; 0 for zero and for what is
/// not finite.
#[must_use]
pub fn magnitude(value: f64) -> i32 {
    Decimal::of(value).map_or(0, |decimal| decimal.magnitude())
}

/// Numbers of a column in their order: each with three digits, or as many more as tell it from its
/// neighbours, if seven do.
#[must_use]
pub fn distinct(values: &[f64]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (index, &value) in values.iter().enumerate() {
        let mut digits = DIGITS;
        let mut text = number_to(value, digits);
        for &other in &values[index.saturating_sub(1)..(index + 2).min(values.len())] {
            while other != value && digits < DISTINCT_DIGITS && number_to(other, digits) == text {
                digits += 1;
                text = number_to(value, digits);
            }
        }
        texts.push(text);
    }
    texts
}

/// A fixed number of digits after the point, for columns: “22.0”.
#[must_use]
pub fn number_fixed(value: f64, decimals: u32) -> String {
    let decimals = i32::try_from(decimals).unwrap_or(0);
    match Decimal::of(value) {
        Some(decimal) => decimal.to_decimals(decimals).text(decimals),
        None => not_finite(value),
    }
}

/// Rounded to a whole number: “1,746”.
#[must_use]
pub fn whole(value: f64) -> String {
    number_fixed(value, 0)
}

/// All digits that a person may have typed, twelve at most: “1,250”, “0.9975”.
#[must_use]
pub fn editable(value: f64) -> String {
    match Decimal::of(value) {
        Some(decimal) => plain_or_scientific(&decimal.to_significant(EDIT_DIGITS)),
        None => not_finite(value),
    }
}

/// A number in the space of a tick: “0.5”, “200”, “10k”, “1.5M”.
#[must_use]
pub fn axis_number(value: f64) -> String {
    let Some(decimal) = Decimal::of(value) else {
        return not_finite(value);
    };
    let rounded = decimal.to_significant(DIGITS);
    let (shift, suffix) = match rounded.magnitude() {
        ..=3 => (0, ""),
        4..=5 => (-3, "k"),
        6..=8 => (-6, "M"),
        9..=11 => (-9, "G"),
        12..=14 => (-12, "T"),
        _ => return plain_or_scientific(&rounded),
    };
    format!("{}{suffix}", plain_or_scientific(&rounded.shifted(shift)))
}

/// “5 to 7” in a sentence; “5” if both ends read the same.
#[must_use]
pub fn range(low: f64, high: f64) -> String {
    joined(low, high, " to ")
}

/// “5–7” in a tight label.
#[must_use]
pub fn range_tight(low: f64, high: f64) -> String {
    joined(low, high, "–")
}

/// “≈ 6”: from the closed form.
#[must_use]
pub fn about(text: &str) -> String {
    format!("≈{}{text}", crate::NARROW_SPACE)
}

/// “over 60 s”: beyond what is measured. Takes a number with its unit.
#[must_use]
pub fn over(limit: &str) -> String {
    format!("over {limit}")
}

pub(crate) fn plain_or_scientific(decimal: &Decimal) -> String {
    match decimal.magnitude() {
        SMALLEST_PLAIN..LARGEST_PLAIN => decimal.text(0),
        _ => decimal.scientific(),
    }
}

pub(crate) fn not_finite(value: f64) -> String {
    String::from(if value.is_nan() { UNKNOWN } else { BEYOND })
}

fn joined(low: f64, high: f64, between: &str) -> String {
    let (low, high) = (number(low), number(high));
    if low == high { low } else { format!("{low}{between}{high}") }
}
