//! Money in dollars.

use crate::decimal::Decimal;
use crate::number::not_finite;

/// From this amount on cents tell nothing.
const WITHOUT_CENTS_FROM: f64 = 1000.0;

/// “$15.00”, “$0.16”, “$10,950”. Below a cent two significant digits: “$0.0016”.
#[must_use]
pub fn money(dollars: f64) -> String {
    let Some(decimal) = Decimal::of(dollars) else {
        return not_finite(dollars);
    };
    let amount = dollars.abs();
    let text = if amount >= WITHOUT_CENTS_FROM {
        decimal.to_decimals(0).text(0)
    } else if amount >= 0.01 || amount == 0.0 {
        let cents = decimal.to_decimals(2);
        let is_whole = cents.value().abs() >= WITHOUT_CENTS_FROM;
        cents.text(if is_whole { 0 } else { 2 })
    } else {
        decimal.to_significant(2).text(2)
    };
    match text.strip_prefix(crate::MINUS) {
        Some(rest) => format!("{}${rest}", crate::MINUS),
        None => format!("${text}"),
    }
}

/// “$15.00 / h”.
#[must_use]
pub fn per_hour(dollars: f64) -> String {
    suffixed(dollars, " / h")
}

/// “$10,950 a month”.
#[must_use]
pub fn per_month(dollars: f64) -> String {
    suffixed(dollars, " a month")
}

/// “$0.16 per million tokens”.
#[must_use]
pub fn per_million_tokens(dollars: f64) -> String {
    suffixed(dollars, " per million tokens")
}

/// “$12 to $21”: whole dollars from ten on, where cents only pretend to be known.
#[must_use]
pub fn money_range(low: f64, high: f64) -> String {
    let whole = low.abs() >= 10.0;
    let end = |dollars: f64| match Decimal::of(dollars) {
        Some(decimal) if whole => money(decimal.to_decimals(0).value()).replace(".00", ""),
        _ => money(dollars),
    };
    let (low, high) = (end(low), end(high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn suffixed(dollars: f64, suffix: &str) -> String {
    let text = money(dollars);
    if dollars.is_finite() { format!("{text}{suffix}") } else { text }
}
