//! Numbers with their units.

use crate::decimal::Decimal;
use crate::number::{DIGITS, editable, not_finite, number, plain_or_scientific, whole};
use crate::{NARROW_SPACE, Unit, duration};

/// Factors that grow by this much from one binary prefix to the next.
const BINARY_STEP: f64 = 1024.0;
const BINARY: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// A value given in `unit`, in the unit that reads best: 1,000 ms is “1 s”, 0.25 of a share “25 %”.
#[must_use]
pub fn format(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => duration(value),
        Unit::Milliseconds => duration(shifted(value, -3)),
        Unit::RequestsPerSecond | Unit::TokensPerSecond => with_unit(&number(value), unit.symbol()),
        Unit::Tokens => tokens(value),
        Unit::Share => share(value),
        Unit::Percent => share(shifted(value, -2)),
        Unit::Bytes | Unit::Gibibytes => memory(value * unit.in_base()),
        Unit::Gigabytes => with_unit(&number(value), "GB"),
        Unit::BytesPerSecond => prefixed(value, "B/s"),
        Unit::Flops => prefixed(value, "FLOP"),
        Unit::FlopsPerSecond => prefixed(value, "FLOP/s"),
        Unit::Parameters => parameters(value),
        Unit::Count => whole(value),
        Unit::Gpus => with_noun(value, "GPU", "GPUs"),
        Unit::Dollars => crate::money(value),
        Unit::DollarsPerHour => crate::per_hour(value),
        Unit::Number => number(value),
    }
}

/// A value given in `unit`, in that very unit and with all its digits, for a field that a person
/// edits: “1,000 ms”. [`crate::parse`] reads it back.
#[must_use]
pub fn explicit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => with_unit(&editable(shifted(value, 2)), "%"),
        Unit::Dollars => format!("${}", editable(value)),
        Unit::DollarsPerHour => format!("${} / h", editable(value)),
        _ if unit.symbol().is_empty() || !value.is_finite() => editable(value),
        _ => with_unit(&editable(value), unit.symbol()),
    }
}

/// The number of [`explicit`] alone, for a field that shows its unit beside it: “1,000”, and “25”
/// for a share of 0.25.
#[must_use]
pub fn explicit_number(value: f64, unit: Unit) -> String {
    editable(if unit == Unit::Share { shifted(value, 2) } else { value })
}

/// “22.6 req/s”.
#[must_use]
pub fn rate(per_s: f64) -> String {
    format(per_s, Unit::RequestsPerSecond)
}

/// “4,970 tok/s”.
#[must_use]
pub fn token_rate(per_s: f64) -> String {
    format(per_s, Unit::TokensPerSecond)
}

/// “1,746”.
#[must_use]
pub fn count(n: u64) -> String {
    grouped(n)
}

/// “1,746 requests”, “1 request”: a count in a sentence, with its noun.
#[must_use]
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// “1,746 of 7,434”.
#[must_use]
pub fn count_of(part: u64, all: u64) -> String {
    format!("{} of {}", grouped(part), grouped(all))
}

/// “1,024 tokens”, “1 token”.
#[must_use]
pub fn tokens(tokens: f64) -> String {
    with_noun(tokens, "token", "tokens")
}

/// A share from 0 to 1: “23.5 %”, “99.97 %”, “under 0.01 %”.
#[must_use]
pub fn share(share: f64) -> String {
    let Some(percent) = Decimal::of(share).map(|decimal| decimal.shifted(2)) else {
        return not_finite(share);
    };
    let exact = percent.value();
    let rounded = match exact {
        0.0 => percent,
        _ if exact.abs() < 0.01 => return format!("under {}", with_unit("0.01", "%")),
        // Close to all of them the rest is what matters.
        99.0..100.0 if percent.to_decimals(2).value() == 100.0 => {
            return format!("over {}", with_unit("99.99", "%"));
        }
        99.0..100.0 => percent.to_decimals(2),
        _ if exact.abs() < 10.0 => percent.to_decimals(2),
        _ => percent.to_significant(DIGITS),
    };
    with_unit(&rounded.text(0), "%")
}

/// A share from 0 up, rounded to whole per cent: “36 %”.
#[must_use]
pub fn whole_percent(share: f64) -> String {
    match Decimal::of(share) {
        Some(decimal) => with_unit(&decimal.shifted(2).to_decimals(0).text(0), "%"),
        None => not_finite(share),
    }
}

/// What a value became, as new over old: “+13 %”, “−78 %”, and from twice on “5 times”.
#[must_use]
pub fn change(new_over_old: f64) -> String {
    if !new_over_old.is_finite() {
        return not_finite(new_over_old);
    }
    if new_over_old >= 2.0 {
        let times = Decimal::of(new_over_old).map(|decimal| decimal.to_significant(2).text(0));
        return format!("{} times", times.unwrap_or_default());
    }
    with_unit(&signed_percent(new_over_old), "%")
}

/// “−78 % ± 3”: a change and half its 95 % interval, both as new over old.
#[must_use]
pub fn change_plus_minus(new_over_old: f64, half: f64) -> String {
    let change = change(new_over_old);
    match Decimal::of(half.abs()) {
        Some(half) if change.ends_with('%') => {
            format!("{change} ± {}", half.shifted(2).to_decimals(0).text(0))
        }
        _ => change,
    }
}

/// Memory in bytes: “14.2 GiB”, “56 KiB”.
#[must_use]
pub fn memory(bytes: f64) -> String {
    let mut value = bytes;
    let mut prefix = 0;
    // Three digits of 1,023 read 1,020; the step up comes where they would read 1,024 or more.
    while value.abs() >= BINARY_STEP - 0.5 && prefix + 1 < BINARY.len() {
        value /= BINARY_STEP;
        prefix += 1;
    }
    let text = if prefix == 0 { whole(value) } else { number(value) };
    with_unit_if_finite(value, &text, BINARY[prefix])
}

/// Orders of magnitude below the value at which half an interval is still told.
const FINEST_HALF: i32 = 4;

/// “±” is half a 95 % interval: rounded to two digits, it rounds the value with it: “212 ± 22 ms”.
/// Both are given in `unit` and shown in the unit that suits the value.
#[must_use]
pub fn plus_minus(value: f64, half: f64, unit: Unit) -> String {
    let (value, half, symbol) = scaled(value, half, unit);
    let (Some(number), Some(half)) = (Decimal::of(value), Decimal::of(half.abs())) else {
        return not_finite(value);
    };
    let half = half.to_significant(2);
    // What is less than a thousandth of a part is rounding, not doubt.
    let is_nothing = half.magnitude() < number.magnitude() - FINEST_HALF;
    if half.is_zero() || is_nothing {
        return with_unit(&number.to_significant(DIGITS).text(0), symbol);
    }
    // The second digit of the half-width is the last that means anything.
    let decimals = 1 - half.magnitude();
    let shown = if decimals > 0 { decimals } else { 0 };
    let text = format!("{} ± {}", number.to_decimals(decimals).text(shown), half.text(shown));
    with_unit(&text, symbol)
}

/// “22.6 (22.2 to 23.2)”: all three with the digits of the value, “24 (23.7 to 24.3)”.
#[must_use]
pub fn with_interval(value: f64, low: f64, high: f64) -> String {
    let Some(rounded) = Decimal::of(value).map(|decimal| decimal.to_significant(DIGITS)) else {
        return not_finite(value);
    };
    // A value that ends in zeros has them, too: the ends are told with three digits.
    let decimals = u32::try_from(DIGITS as i32 - 1 - rounded.magnitude()).unwrap_or(0);
    let end = |end| crate::number_fixed(end, decimals);
    format!("{} ({} to {})", rounded.text(0), end(low), end(high))
}

/// A number and its unit, with the narrow space that belongs between.
#[must_use]
pub fn with_unit(number: &str, symbol: &str) -> String {
    if symbol.is_empty() {
        return number.to_owned();
    }
    format!("{number}{NARROW_SPACE}{symbol}")
}

fn with_unit_if_finite(value: f64, number: &str, symbol: &str) -> String {
    if value.is_finite() { with_unit(number, symbol) } else { number.to_owned() }
}

/// The value and its half-width in the unit that suits the value.
fn scaled(value: f64, half: f64, unit: Unit) -> (f64, f64, &'static str) {
    match unit {
        Unit::Seconds if value.abs() < 0.9995 => (shifted(value, 3), shifted(half, 3), "ms"),
        Unit::Milliseconds if value.abs() >= 999.5 => (shifted(value, -3), shifted(half, -3), "s"),
        Unit::Share => (shifted(value, 2), shifted(half, 2), "%"),
        _ => (value, half, unit.symbol()),
    }
}

fn signed_percent(new_over_old: f64) -> String {
    let percent = Decimal::of((new_over_old - 1.0) * 100.0);
    let Some(percent) = percent else { return String::new() };
    let rounded = percent.to_decimals(if percent.magnitude() < 0 { 1 } else { 0 });
    let sign = if rounded.value() > 0.0 { "+" } else { "" };
    format!("{sign}{}", rounded.text(0))
}

fn parameters(value: f64) -> String {
    match Decimal::of(value) {
        Some(decimal) if value.abs() >= 1e9 => {
            with_unit(&decimal.shifted(-9).to_significant(DIGITS).text(0), "B")
        }
        Some(decimal) if value.abs() >= 1e6 => {
            with_unit(&decimal.shifted(-6).to_significant(DIGITS).text(0), "M")
        }
        _ => whole(value),
    }
}

fn prefixed(value: f64, symbol: &str) -> String {
    let Some(decimal) = Decimal::of(value).map(|decimal| decimal.to_significant(DIGITS)) else {
        return not_finite(value);
    };
    let step = decimal.magnitude().div_euclid(3);
    let step = if step < 0 { 0 } else { step };
    match usize::try_from(step).ok().and_then(|step| DECIMAL.get(step)) {
        Some(prefix) => {
            let text = plain_or_scientific(&decimal.shifted(-3 * step));
            with_unit(&text, &format!("{prefix}{symbol}"))
        }
        None => with_unit(&plain_or_scientific(&decimal), symbol),
    }
}

fn with_noun(value: f64, one: &str, many: &str) -> String {
    let text = whole(value);
    let noun = if text == "1" { one } else { many };
    with_unit_if_finite(value, &text, noun)
}

/// The value times `10^power` without the error of a multiplication.
fn shifted(value: f64, power: i32) -> f64 {
    Decimal::of(value).map_or(value, |decimal| decimal.shifted(power).value())
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
