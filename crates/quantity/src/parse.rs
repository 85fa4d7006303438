//! What people type: “1.5k”, “2 s”, “0.5ms”, “1e3”, “4096 tokens”, “25 %”.

use std::fmt;

use crate::unit::{Dimension, Unit};
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
                write!(f, "“{text}” is not {}", expected.with_article())
            }
            Self::NotFinite { text, expected } => {
                write!(f, "“{text}” is too large for {}", expected.with_article())
            }
            Self::WrongUnit { text, expected, .. } => write!(
                f,
                "“{text}” is not {}; {}",
                expected.with_article(),
                expected.how_to_write()
            ),
            Self::Comma { text, expected } => write!(
                f,
                "“{text}” is not {}; write a point for decimals, a comma only for thousands",
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
            return Ok(converted(value, in_seconds, unit.in_base()));
        }
        total_s += value.abs() * in_seconds.value();
        parts += 1;
        if next.is_empty() {
            return Ok(sign * total_s / unit.in_base());
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
        return Ok(if is_percent { value / 100.0 } else { value });
    }
    if let Some(scale) = factor(name, expected) {
        return Ok(converted(value, scale, unit.in_base()));
    }
    // “1.5k”, “1.5k tokens”, “3.35 TB/s”: a prefix, then perhaps a unit.
    let mut chars = name.chars();
    let prefix = chars.next().and_then(prefix_power);
    let base_name = chars.as_str().trim_start();
    let base = if base_name.is_empty() {
        Some(Factor::Times(unit.in_base()))
    } else {
        factor(base_name, expected)
    };
    match (prefix, base) {
        (Some(power), Some(base)) if takes_prefix(expected) => {
            Ok(converted(value * power, base, unit.in_base()))
        }
        _ => Err(wrong_unit(shown, name, unit)),
    }
}

/// How a unit relates to the base of its dimension. Divisions stay divisions, so that 2 ms is
/// 0.002 s to the last bit.
#[derive(Clone, Copy)]
enum Factor {
    Times(f64),
    Over(f64),
}

impl Factor {
    fn value(self) -> f64 {
        match self {
            Self::Times(factor) => factor,
            Self::Over(divisor) => 1.0 / divisor,
        }
    }
}

fn converted(value: f64, from: Factor, to_base: f64) -> f64 {
    // Of the units asked for, those below their base are a thousandth and a hundredth.
    let to_inverse = if to_base < 1.0 { (1.0 / to_base).round() } else { 1.0 };
    let to_divisor = if to_base < 1.0 { 1.0 } else { to_base };
    match from {
        Factor::Times(factor) if factor == to_base => value,
        Factor::Over(divisor) if divisor == to_inverse => value,
        Factor::Times(factor) => value * factor * to_inverse / to_divisor,
        Factor::Over(divisor) => value * to_inverse / (divisor * to_divisor),
    }
}

fn prefix_power(prefix: char) -> Option<f64> {
    match prefix {
        'k' | 'K' => Some(1e3),
        'M' => Some(1e6),
        'G' | 'B' => Some(1e9),
        'T' => Some(1e12),
        'P' => Some(1e15),
        _ => None,
    }
}

fn takes_prefix(dimension: Dimension) -> bool {
    !matches!(dimension, Dimension::Share | Dimension::Time)
}

/// What one of the named unit is in the base of `dimension`.
fn factor(name: &str, dimension: Dimension) -> Option<Factor> {
    use Factor::{Over, Times};
    let squeezed: String = name.chars().filter(|c| *c != ' ').collect();
    let lower = squeezed.to_lowercase();
    match dimension {
        Dimension::Time => match lower.as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => Some(Times(1.0)),
            "ms" | "msec" | "millisecond" | "milliseconds" => Some(Over(1e3)),
            "us" | "µs" | "microsecond" | "microseconds" => Some(Over(1e6)),
            "min" | "mins" | "minute" | "minutes" => Some(Times(60.0)),
            "h" | "hr" | "hour" | "hours" => Some(Times(3600.0)),
            "d" | "day" | "days" => Some(Times(86_400.0)),
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
            "%" | "percent" | "percents" => Some(Over(1e2)),
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
    names.contains(&name).then_some(Factor::Times(1.0))
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
    match factor(time, Dimension::Time)? {
        Factor::Times(seconds) => Some(Factor::Over(seconds)),
        Factor::Over(_) => None,
    }
}

fn bytes(name: &str) -> Option<Factor> {
    let stem = name.strip_suffix("bytes").or(name.strip_suffix('B'))?;
    let factor = match stem {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        _ => return None,
    };
    Some(Factor::Times(factor))
}

fn operations(name: &str) -> Option<Factor> {
    let stem = name.strip_suffix("flops").or(name.strip_suffix("flop"))?;
    let factor = match stem {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "p" => 1e15,
        "e" => 1e18,
        _ => return None,
    };
    Some(Factor::Times(factor))
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
        let lower = plain.trim_start_matches(['+', '-']).to_lowercase();
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
    match digits.parse::<f64>() {
        Ok(value) => Ok((value, rest.trim_start())),
        Err(_) => Err(not_a_number(shown, unit)),
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
