//! Units, the one number formatter, and the reader of what people type.
//!
//! Three significant digits unless said, a narrow no-break space before a unit, commas between
//! thousands, a true minus. Nothing here rounds on binary digits: what people see is what is
//! rounded, half away from zero.

mod decimal;
mod format;
mod money;
mod nearest;
mod number;
mod parse;
mod shortest;
mod time;
mod unit;
mod visible;

pub use format::{
    change, change_plus_minus, count, count_of, counted, explicit, explicit_number, format, memory,
    plus_minus, rate, share, token_rate, tokens, whole_percent, with_interval, with_unit,
};
pub use money::{money, money_range, per_hour, per_million_tokens, per_month};
pub use nearest::nearest_double;
pub use number::{
    about, axis_number, distinct, editable, magnitude, number, number_fixed, number_to, over,
    range, range_tight, rounded_to, whole,
};
pub use parse::{ParseError, parse};
pub use shortest::plain;
pub use time::{axis_duration, duration, duration_or_unknown};
pub use unit::{Dimension, Unit};
pub use visible::visible;

/// The space between a number and its unit: narrow, and no line breaks in it.
pub const NARROW_SPACE: char = '\u{202f}';
/// The minus sign.
pub const MINUS: char = '\u{2212}';
