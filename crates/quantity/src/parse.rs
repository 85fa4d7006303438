//! What people type: “1.5k”, “2 s”, “0.5ms”, “1e3”, “4096 tokens”, “25 %”.

use std::fmt;

use crate::decimal::Decimal;
use crate::nearest::nearest_double;
use crate::unit::{Dimension, Unit};
use crate::visible;
use crate::{MINUS, NARROW_SPACE};

/// Why a text is not the quantity asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Nothing was typed.
    Empty {
        /// What was asked for.
        expected: Dimension,
    },
    /// No number can be read.
    NotANumber {
        /// What was typed.
        text: String,
        /// What was asked for.
        expected: Dimension,
    },
    /// The number is infinite, or too large to keep.
    NotFinite {
        /// What was typed.
        text: String,
        /// What was asked for.
        expected: Dimension,
    },
    /// A number, with a unit of something else.
    WrongUnit {
        /// What was typed.
        text: String,
        /// The unit that was typed.
        unit: String,
        /// What was asked for.
        expected: Dimension,
    },
    /// Commas that do not separate thousands: “1,5” can mean two things.
    Comma {
        /// What was typed.
        text: String,
        /// What was asked for.
        expected: Dimension,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { expected } => {
                write!(f, "Nothing typed where {} belongs", expected.with_article())
            }
            Self::NotANumber { text, expected } => {
                write!(f, "“{}” is not {}", visible(text), expected.with_article())
            }
            Self::NotFinite { text, expected } => {
                write!(f, "“{}” is too large for {}", visible(text), expected.with_article())
            }
            Self::WrongUnit { text, expected, .. } => write!(
                f,
                "“{}” is not {}; {}",
                visible(text),
                expected.with_article(),
                expected.how_to_write()
            ),
            Self::Comma { text, expected } => write!(
                f,
                "“{}” is not {}; write a point for decimals, a comma only for thousands",
                visible(text),
                expected.with_article()
            ),
        }
    }
}

impl std::error::Error for ParseError {}

/// Reads a quantity and returns it in `unit`. A bare number is taken to be in `unit` already;
/// of a share, a bare number above 1 is taken to be per cent.
///
/// # Errors
///
/// What was wrong, in words that can be shown.
pub fn parse(text: &str, unit: Unit) -> Result<f64, ParseError> {
    let expected = unit.dimension();
    let shown = text.trim();
    let plain = normalised(shown);
    if plain.is_empty() {
        return Err(ParseError::Empty { expected });
    }
    let value = if expected == Dimension::Time {
        time_parts(&plain, shown, unit)?
    } else {
        one_part(&plain, shown, unit)?
    };
    if value.is_finite() {
        // A typed minus before a zero means nothing.
        Ok(if value == 0.0 { 0.0 } else { value })
    } else {
        Err(ParseError::NotFinite { text: shown.to_owned(), expected })
    }
}

/// Every kind of space becomes a plain one, every minus a hyphen.
fn normalised(text: &str) -> String {
    let simple = text.chars().map(|c| match c {
        MINUS => '-',
        NARROW_SPACE | '\u{a0}' | '\u{2009}' => ' ',
        c if c.is_whitespace() => ' ',
        'μ' => 'µ',
        c => c,
    });
    simple.collect::<String>().trim().to_owned()
}

/// “8 min 20 s” is a sum; any other time is one part.
fn time_parts(plain: &str, shown: &str, unit: Unit) -> Result<f64, ParseError> {
    let mut rest = plain;
    let mut total_s = 0.0;
    let mut sign = 1.0;
    let mut parts = 0;
    loop {
        let (value, after) = leading_number(rest, shown, unit)?;
        let (name, next) = leading_word(after);
        if name.is_empty() && parts == 0 && next.is_empty() {
            return Ok(value);
        }
        let in_seconds =
            factor(name, Dimension::Time).ok_or_else(|| wrong_unit(shown, after, unit))?;
        if parts == 0 && value < 0.0 {
            sign = -1.0;
        } else if value < 0.0 {
            return Err(not_a_number(shown, unit));
        }
        // One part keeps its digits where its unit is the one asked for.
        if parts == 0 && next.is_empty() {
            return Ok(converted(value, in_seconds, unit));
        }
        total_s += converted(value.abs(), in_seconds, Unit::Seconds);
        parts += 1;
        if next.is_empty() {
            return Ok(converted(sign * total_s, Factor::ONE, unit));
        }
        rest = next;
    }
}

fn one_part(plain: &str, shown: &str, unit: Unit) -> Result<f64, ParseError> {
    let expected = unit.dimension();
    let is_money = matches!(expected, Dimension::Money | Dimension::Price);
    let (negative, unsigned) = match plain.strip_prefix('-') {
        Some(rest) if is_money => (true, rest.trim_start()),
        _ => (false, plain),
    };
    let plain = if is_money { unsigned.strip_prefix('$').unwrap_or(unsigned) } else { plain };
    let (value, rest) = leading_number(plain.trim_start(), shown, unit)?;
    let value = if negative { -value } else { value };
    let name = rest.trim();
    if name.is_empty() {
        let is_percent = unit == Unit::Share && value > 1.0;
        return Ok(if is_percent { converted(value, Factor::ten(-2), unit) } else { value });
    }
    if let Some(scale) = factor(name, expected) {
        return Ok(converted(value, scale, unit));
    }
    // “1.5k”, “1.5k tokens”, “3.35 TB/s”: a prefix, then perhaps a unit.
    let mut chars = name.chars();
    let prefix = chars.next().and_then(prefix_power);
    let base_name = chars.as_str().trim_start();
    let base =
        if base_name.is_empty() { Some(Factor::of(unit)) } else { factor(base_name, expected) };
    match (prefix, base) {
        (Some(power), Some(base)) if takes_prefix(expected) => {
            Ok(converted(value, Factor { ten: base.ten + power, ..base }, unit))
        }
        _ => Err(wrong_unit(shown, name, unit)),
    }
}

/// What one of a unit is in the base of its dimension: `10^ten · times / over`. Powers of ten are
/// kept apart, since shifting a decimal point loses nothing: 99.9 % is 0.999 to the last bit.
#[derive(Clone, Copy)]
struct Factor {
    ten: i32,
    times: f64,
    over: f64,
}

impl Factor {
    const ONE: Self = Self { ten: 0, times: 1.0, over: 1.0 };

    const fn ten(ten: i32) -> Self {
        Self { ten, ..Self::ONE }
    }

    const fn times(times: f64) -> Self {
        Self { times, ..Self::ONE }
    }

    const fn over(over: f64) -> Self {
        Self { over, ..Self::ONE }
    }

    /// What one of `unit` is in the base of its dimension.
    const fn of(unit: Unit) -> Self {
        match unit {
            Unit::Milliseconds => Self::ten(-3),
            Unit::Percent => Self::ten(-2),
            Unit::Gigabytes => Self::ten(9),
            unit => Self::times(unit.in_base()),
        }
    }
}

fn converted(value: f64, from: Factor, unit: Unit) -> f64 {
    let to = Factor::of(unit);
    let shift = from.ten - to.ten;
    let shifted = Decimal::of(value).map_or(value, |decimal| decimal.shifted(shift).value());
    if from.times == to.times && from.over == to.over {
        return shifted;
    }
    shifted * from.times * to.over / (from.over * to.times)
}

fn prefix_power(prefix: char) -> Option<i32> {
    match prefix {
        'k' | 'K' => Some(3),
        'M' => Some(6),
        'G' | 'B' => Some(9),
        'T' => Some(12),
        'P' => Some(15),
        _ => None,
    }
}

fn takes_prefix(dimension: Dimension) -> bool {
    !matches!(dimension, Dimension::Share | Dimension::Time)
}

/// What one of the named unit is in the base of `dimension`.
fn factor(name: &str, dimension: Dimension) -> Option<Factor> {
    let squeezed: String = name.chars().filter(|c| *c != ' ').collect();
    let lower = squeezed.to_ascii_lowercase();
    match dimension {
        Dimension::Time => match lower.as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => Some(Factor::ONE),
            "ms" | "msec" | "millisecond" | "milliseconds" => Some(Factor::ten(-3)),
            "us" | "µs" | "microsecond" | "microseconds" => Some(Factor::ten(-6)),
            "min" | "mins" | "minute" | "minutes" => Some(Factor::times(60.0)),
            "h" | "hr" | "hour" | "hours" => Some(Factor::times(3600.0)),
            "d" | "day" | "days" => Some(Factor::times(86_400.0)),
            _ => None,
        },
        Dimension::RequestRate => {
            per_time(&lower, &["req", "reqs", "request", "requests", "r", "q", "queries", ""])
        }
        Dimension::TokenRate => per_time(&lower, &["tok", "toks", "token", "tokens", "t", ""]),
        Dimension::Tokens => is_one_of(&lower, &["tokens", "token", "tok", "toks"]),
        Dimension::Count => is_one_of(
            &lower,
            &["requests", "request", "req", "sequences", "sequence", "runs", "run", "gpus", "gpu"],
        ),
        Dimension::Share => match lower.as_str() {
            "%" | "percent" | "percents" => Some(Factor::ten(-2)),
            _ => None,
        },
        Dimension::Memory => bytes(&squeezed),
        Dimension::Bandwidth => bytes(squeezed.strip_suffix("/s")?),
        Dimension::Work => operations(&lower),
        Dimension::WorkRate => operations(lower.strip_suffix("/s").or(lower.strip_suffix("ps"))?)
            .or_else(|| operations(lower.strip_suffix('s')?)),
        Dimension::Money => is_one_of(&lower, &["$", "usd", "dollar", "dollars"]),
        Dimension::Price => is_one_of(
            lower.strip_prefix('$').or(lower.strip_prefix("usd")).unwrap_or(&lower),
            &["/h", "/hour", "perhour", "anhour", "", "/hr"],
        ),
        Dimension::Parameters => is_one_of(&lower, &["parameters", "params"]),
        Dimension::Number => None,
    }
}

fn is_one_of(name: &str, names: &[&str]) -> Option<Factor> {
    names.contains(&name).then_some(Factor::ONE)
}

fn per_time(name: &str, nouns: &[&str]) -> Option<Factor> {
    let (noun, time) = match name.split_once('/') {
        Some(pair) => pair,
        None => match name.split_once("per") {
            Some(pair) => pair,
            None => (name.strip_suffix("ps")?, "s"),
        },
    };
    if !nouns.contains(&noun) {
        return None;
    }
    let seconds = factor(time, Dimension::Time)?;
    Some(Factor { ten: -seconds.ten, ..Factor::over(seconds.times) })
}

fn bytes(name: &str) -> Option<Factor> {
    let stem = name.strip_suffix("bytes").or(name.strip_suffix('B'))?;
    if let Some(binary) = stem.strip_suffix('i') {
        let steps = ["K", "M", "G", "T", "P"].iter().position(|prefix| *prefix == binary)?;
        return Some(Factor::times((0..=steps).map(|_| 1024.0).product()));
    }
    decimal_prefix(stem)
}

fn operations(name: &str) -> Option<Factor> {
    // Names come in lower case here, where a thousandth makes no sense.
    let stem = name.strip_suffix("flops").or(name.strip_suffix("flop"))?;
    decimal_prefix(&stem.to_ascii_uppercase())
}

fn decimal_prefix(prefix: &str) -> Option<Factor> {
    let ten = match prefix {
        "" => 0,
        "k" | "K" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => return None,
    };
    Some(Factor::ten(ten))
}

/// The number at the start of `plain` and what follows it.
fn leading_number<'a>(
    plain: &'a str,
    shown: &str,
    unit: Unit,
) -> Result<(f64, &'a str), ParseError> {
    let expected = unit.dimension();
    let end = number_length(plain);
    let (number, rest) = plain.split_at(end);
    if !number.bytes().any(|byte| byte.is_ascii_digit()) {
        let lower = plain.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let text = shown.to_owned();
        return Err(if lower.starts_with("inf") || lower.starts_with('∞') {
            ParseError::NotFinite { text, expected }
        } else {
            ParseError::NotANumber { text, expected }
        });
    }
    if !commas_separate_thousands(number) {
        return Err(ParseError::Comma { text: shown.to_owned(), expected });
    }
    let digits: String = number.chars().filter(|c| *c != ',' && *c != ' ').collect();
    match nearest_double(&digits) {
        Some(value) => Ok((value, rest.trim_start())),
        None => Err(not_a_number(shown, unit)),
    }
}

/// Length in bytes of the number that `text` starts with.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let start = end;
    loop {
        match bytes.get(end) {
            Some(b'0'..=b'9' | b',' | b'.') => end += 1,
            // A space between thousands: three digits follow, and no fourth.
            Some(b' ')
                if end > start
                    && digit(end - 1)
                    && (1..=3).all(|ahead| digit(end + ahead))
                    && !digit(end + 4) =>
            {
                end += 1;
            }
            _ => break,
        }
    }
    if end > start && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit(end + 1 + signed) {
            end += 1 + signed;
            while digit(end) {
                end += 1;
            }
        }
    }
    end
}

fn commas_separate_thousands(number: &str) -> bool {
    let unsigned = number.trim_start_matches(['+', '-']);
    let whole = unsigned.split(['.', 'e', 'E']).next().unwrap_or_default();
    if unsigned[whole.len()..].contains(',') {
        return false;
    }
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let well_led = rest.peek().is_none() || (1..=3).contains(&first.len());
    well_led && rest.all(|group| group.len() == 3)
}

/// The word at the start of `text` and what follows it.
fn leading_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c == ' ' || c.is_ascii_digit()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_start())
}

fn not_a_number(shown: &str, unit: Unit) -> ParseError {
    ParseError::NotANumber { text: shown.to_owned(), expected: unit.dimension() }
}

fn wrong_unit(shown: &str, name: &str, unit: Unit) -> ParseError {
    ParseError::WrongUnit {
        text: shown.to_owned(),
        unit: name.to_owned(),
        expected: unit.dimension(),
    }
}
