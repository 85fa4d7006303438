//! Points in time: seconds of a recording, counts since 1970, dates with a time of day.
//!
//! Times since 1970 have more digits than a float holds, so they are kept in whole nanoseconds
//! until the first is subtracted. Seconds of a recording stay the float that was written.

use crate::count;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// A point in time as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Nanoseconds since 1970 or since the start of the recording.
    pub(crate) ns: i128,
    /// The same in seconds, nearest to what was written.
    pub(crate) s: f64,
    /// The unit that its size gave away, where its column names none.
    pub(crate) guessed: Option<Unit>,
}

const NS_PER_S: i128 = 1_000_000_000;

/// From here on, seconds are since 1970: the year 1973, or a recording of three years.
const EPOCH_NS: i128 = 100_000_000 * NS_PER_S;

impl Unit {
    /// Name in the plural.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// How many powers of ten a unit is above a nanosecond.
    const fn power(self) -> i32 {
        match self {
            Self::Seconds => 9,
            Self::Milliseconds => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
        }
    }

    /// The unit in which a bare number of this size is a time since 1970: no such time is
    /// a hundred thousand million seconds yet, and all have been more milliseconds since 1973.
    fn by_size(number: f64) -> Option<Self> {
        match number.abs() {
            size if size >= 1e17 => Some(Self::Nanoseconds),
            size if size >= 1e14 => Some(Self::Microseconds),
            size if size >= 1e11 => Some(Self::Milliseconds),
            _ => None,
        }
    }
}

impl Moment {
    /// Read a number or a date. With no `unit`, a number counts seconds unless it is too large.
    pub(crate) fn parse(text: &str, unit: Option<Unit>, decimal_comma: bool) -> Option<Self> {
        if let Some(ns) = date_ns(text) {
            return Some(Self { ns, s: seconds(ns), guessed: None });
        }
        let number = count::decimal(text, decimal_comma);
        let written: f64 = number.parse().ok().filter(|value: &f64| value.is_finite())?;
        let guessed = if unit.is_none() { Unit::by_size(written) } else { None };
        let unit = unit.or(guessed).unwrap_or(Unit::Seconds);
        let ns = scaled(&number, unit.power())?;
        let s = if unit == Unit::Seconds { written } else { seconds(ns) };
        Some(Self { ns, s, guessed })
    }

    /// Whether it is a time since 1970 and not one of a recording.
    pub(crate) const fn is_absolute(&self) -> bool {
        self.ns >= EPOCH_NS
    }

    /// Seconds since an earlier moment.
    pub(crate) fn seconds_since(&self, origin_ns: i128) -> f64 {
        seconds(self.ns - origin_ns)
    }
}

fn seconds(ns: i128) -> f64 {
    ns as f64 / NS_PER_S as f64
}

/// The decimal number `text` times ten to the `power`, rounded to a whole number, half away from
/// zero. Exact where a float would not be.
fn scaled(text: &str, power: i32) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut shift = exponent.checked_add(power)?;
    let mut value = 0_i128;
    for byte in whole.bytes() {
        value = value.checked_mul(10)?.checked_add(digit(byte)?)?;
    }
    for byte in fraction.bytes() {
        let digit = digit(byte)?;
        // Digits beyond what an i128 holds are far below a nanosecond.
        if let Some(longer) = value.checked_mul(10).and_then(|value| value.checked_add(digit)) {
            value = longer;
            shift = shift.checked_sub(1)?;
        } else {
            break;
        }
    }
    let value = shifted(value, shift)?;
    Some(if negative { -value } else { value })
}

fn shifted(value: i128, shift: i32) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    let Some(factor) = 10_i128.checked_pow(shift.unsigned_abs()) else {
        return (shift < 0).then_some(0);
    };
    if shift >= 0 { value.checked_mul(factor) } else { (value + factor / 2).checked_div(factor) }
}

fn digit(byte: u8) -> Option<i128> {
    byte.is_ascii_digit().then(|| i128::from(byte - b'0'))
}

/// Nanoseconds since 1970 of `2023-11-16 18:15:46.6805900`, with `T` or a blank between, any
/// number of decimals, and an offset from UTC where one is given.
fn date_ns(text: &str) -> Option<i128> {
    let mut rest = text;
    let year = number(&mut rest, 4..=4)?;
    let mark = ['-', '/'].into_iter().find(|&mark| rest.starts_with(mark))?;
    let month = after(&mut rest, mark, 1..=2)?;
    let day = after(&mut rest, mark, 1..=2)?;
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    rest = rest.strip_prefix(['T', 't', ' '])?.trim_start();
    let hour = number(&mut rest, 1..=2)?;
    let minute = after(&mut rest, ':', 2..=2)?;
    let (second, fraction_ns) = if rest.starts_with(':') {
        (after(&mut rest, ':', 2..=2)?, fraction_ns(&mut rest)?)
    } else {
        (0, 0)
    };
    // A leap second is read as the first of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let local_s = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let utc_s = local_s - offset_s(rest.trim())?;
    Some(i128::from(utc_s) * NS_PER_S + i128::from(fraction_ns))
}

/// Take a number of so many digits off the front.
fn number(rest: &mut &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !digits.contains(&length) {
        return None;
    }
    let (head, tail) = rest.split_at(length);
    *rest = tail;
    head.parse().ok()
}

fn after(rest: &mut &str, mark: char, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    *rest = rest.strip_prefix(mark)?;
    number(rest, digits)
}

fn fraction_ns(rest: &mut &str) -> Option<i64> {
    let Some(tail) = rest.strip_prefix(['.', ',']) else {
        return Some(0);
    };
    let length = tail.bytes().take_while(u8::is_ascii_digit).count();
    let (head, tail) = tail.split_at(length);
    *rest = tail;
    // Nine digits of the fraction, filled up with zeros; what is below a nanosecond is dropped.
    let nine: String = head.chars().chain("000000000".chars()).take(9).collect();
    (length > 0).then_some(nine.parse().ok()?)
}

/// Offset from UTC in seconds: nothing, `Z`, `UTC`, `+02:00`, `-0530`, `+02`.
fn offset_s(text: &str) -> Option<i64> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let (sign, digits) = match text.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, text.strip_prefix('-')?),
    };
    let mut rest = digits;
    let hours_minutes = match number(&mut rest, 2..=4)? {
        hours if digits.len() - rest.len() == 2 => {
            let minutes = if rest.is_empty() { 0 } else { after(&mut rest, ':', 2..=2)? };
            (hours, minutes)
        }
        both if digits.len() - rest.len() == 4 => (both / 100, both % 100),
        _ => return None,
    };
    let (hours, minutes) = hours_minutes;
    (rest.is_empty() && hours <= 14 && minutes <= 59)
        .then_some(sign * (hours * 3600 + minutes * 60))
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1 January 1970 in the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Leap days before 1 January of the year, counted from the year 0.
    let leaps = |year: i64| (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    let months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    (year - 1970) * 365 + leaps(year) - leaps(1970) + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds_of(text: &str, unit: Option<Unit>) -> f64 {
        Moment::parse(text, unit, false).unwrap().s
    }

    #[test]
    fn dates_are_unix_times() {
        for (text, ns) in [
            ("1970-01-01 00:00:00", 0),
            ("2000-03-01T00:00:00Z", 951_868_800_000_000_000),
            ("2023-11-16 18:15:46.6805900", 1_700_158_546_680_590_000),
            ("2024-02-29 23:59:59.123456789+00:00", 1_709_251_199_123_456_789),
            ("2024-05-10 02:00:00,5 +02:00", 1_715_299_200_500_000_000),
            ("2024/5/9 18:30 -0530", 1_715_299_200_000_000_000),
            ("1969-12-31 23:59:59", -1_000_000_000),
        ] {
            assert_eq!(date_ns(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "2023-13-01 00:00:00",
            "2023-02-29 00:00:00",
            "2023-01-01",
            "2023-01-01 24:00:00",
            "2023-01-01 10:00:00.",
            "2023-01-01 10:00:00 noon",
            "2023-01/01 10:00:00",
            "16-11-2023 18:15:46",
            "",
        ] {
            assert_eq!(date_ns(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(seconds_of("0.01803638301368865", None), 0.018_036_383_013_688_65);
        assert_eq!(seconds_of("405914", Some(Unit::Milliseconds)), 405.914);
        assert_eq!(seconds_of("-2.5e-3", None), -0.0025);
        let first = Moment::parse("1762551534797067827", None, false).unwrap();
        assert_eq!(first.guessed, Some(Unit::Nanoseconds));
        let next = Moment::parse("1762551534.797067828", None, false).unwrap();
        assert_eq!(next.seconds_since(first.ns), 1e-9);
        assert!(next.is_absolute());
    }

    #[test]
    fn sizes_give_units_away() {
        for (text, unit) in [
            ("1700000000", None),
            ("1700000000000", Some(Unit::Milliseconds)),
            ("1700000000000000", Some(Unit::Microseconds)),
        ] {
            let moment = Moment::parse(text, None, false).unwrap();
            assert_eq!(moment.guessed, unit);
            assert_eq!(moment.s, 1.7e9);
        }
    }

    #[test]
    fn numbers_out_of_reach_are_refused() {
        for text in ["1e40", "inf", "NaN", "1e999999999999", "", "-", ".", "1.2.3", "0x10"] {
            assert_eq!(Moment::parse(text, None, false), None, "{text}");
        }
        assert_eq!(seconds_of("1e-40", None), 1e-40);
    }
}
