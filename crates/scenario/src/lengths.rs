//! Lengths and arrival patterns as links write them.

use sim_core::{ArrivalProcess, LengthSpec};

use crate::{
    field::{Field, Measure},
    reading::{self, Whole},
    writing,
};

/// Something that was written and had to be moved into its range: a sentence that says so.
pub(crate) type Adjustments = Vec<String>;

/// Sigma beyond this spreads lengths over more orders of magnitude than any traffic.
const MOST_SIGMA: f64 = 5.0;

/// Standard deviations up to the length that one in a thousand exceeds.
const LONG_TAIL: f64 = 3.09;

/// Write a length: `1024`, `lognormal(512,0.9)` or `lognormal(512,0.9,1,8192)`.
pub(crate) fn write_length(field: &Field, length: LengthSpec) -> String {
    match length {
        LengthSpec::Fixed { tokens } => tokens.to_string(),
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            let head = format!(
                "lognormal({},{}",
                writing::decimal(median_tokens, 0),
                writing::decimal(sigma, 0)
            );
            if (min_tokens, max_tokens) == usual_bounds(field, median_tokens, sigma) {
                format!("{head})")
            } else {
                format!("{head},{min_tokens},{max_tokens})")
            }
        }
    }
}

/// Read what [`write_length`] writes.
///
/// # Errors
///
/// What is wrong, as the end of a sentence that begins with the text.
pub(crate) fn read_length(field: &Field, text: &str) -> Result<(LengthSpec, Adjustments), String> {
    let mut adjustments = Vec::new();
    let Some((name, parts)) = call(text) else {
        let tokens = whole_within(field, text, &mut adjustments)?;
        return Ok((LengthSpec::Fixed { tokens }, adjustments));
    };
    if name != "lognormal" {
        return Err("is not a spread that is known".to_owned());
    }
    let (median, sigma) = match parts[..] {
        [median, sigma] | [median, sigma, _, _] => (median, sigma),
        _ => return Err("needs a median and a sigma, or these and two bounds".to_owned()),
    };
    let least = if field.min < 1.0 { 1.0 } else { field.min };
    let median_tokens = real_within(median, "the median", (least, field.max), &mut adjustments)?;
    let sigma = real_within(sigma, "sigma", (0.0, MOST_SIGMA), &mut adjustments)?;
    let (min_tokens, max_tokens) = match parts[..] {
        [_, _, min, max] => (
            whole_within(field, min, &mut adjustments)?,
            whole_within(field, max, &mut adjustments)?,
        ),
        _ => usual_bounds(field, median_tokens, sigma),
    };
    if min_tokens > max_tokens {
        return Err("has a lower bound above its upper bound".to_owned());
    }
    Ok((LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens }, adjustments))
}

/// The same spread around another median; its bounds follow if they were the usual ones.
pub(crate) fn with_median(field: &Field, length: LengthSpec, tokens: f64) -> LengthSpec {
    match length {
        LengthSpec::Fixed { .. } => LengthSpec::Fixed { tokens: libm::round(tokens) as u64 },
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            let usual = (min_tokens, max_tokens) == usual_bounds(field, median_tokens, sigma);
            let (min_tokens, max_tokens) =
                if usual { usual_bounds(field, tokens, sigma) } else { (min_tokens, max_tokens) };
            LengthSpec::LogNormal { median_tokens: tokens, sigma, min_tokens, max_tokens }
        }
    }
}

/// Write an arrival pattern: `poisson`, `gamma(0.5)` or `even`.
pub(crate) fn write_arrivals(arrivals: ArrivalProcess) -> String {
    match arrivals {
        ArrivalProcess::Poisson => "poisson".to_owned(),
        ArrivalProcess::Gamma { shape } => format!("gamma({})", writing::decimal(shape, 0)),
        ArrivalProcess::Even => "even".to_owned(),
    }
}

/// Read what [`write_arrivals`] writes.
///
/// # Errors
///
/// What is wrong, as the end of a sentence that begins with the text.
pub(crate) fn read_arrivals(
    field: &Field,
    text: &str,
) -> Result<(ArrivalProcess, Adjustments), String> {
    let mut adjustments = Vec::new();
    let plain = text.trim().to_lowercase();
    let process = match (plain.as_str(), call(text)) {
        ("poisson", _) => ArrivalProcess::Poisson,
        ("even", _) => ArrivalProcess::Even,
        (_, Some((name, parts))) if name == "gamma" => {
            let [shape] = parts[..] else {
                return Err("needs one number, its shape".to_owned());
            };
            let range = (field.min, field.max);
            let shape = real_within(shape, "the shape", range, &mut adjustments)?;
            ArrivalProcess::Gamma { shape }
        }
        _ => return Err("is not a pattern that is known".to_owned()),
    };
    Ok((process, adjustments))
}

/// Bounds where none are given: from one token to the length that one in a thousand exceeds.
fn usual_bounds(field: &Field, median_tokens: f64, sigma: f64) -> (u64, u64) {
    let longest = libm::ceil(median_tokens * libm::exp(LONG_TAIL * sigma));
    let longest = if longest > field.max { field.max } else { longest };
    (1, longest as u64)
}

/// `name(a,b)` taken apart. A missing last parenthesis is forgiven: mail programs cut it off links.
fn call(text: &str) -> Option<(String, Vec<&str>)> {
    let (name, rest) = text.trim().split_once('(')?;
    let inside = rest.strip_suffix(')').unwrap_or(rest);
    Some((name.trim().to_lowercase(), inside.split(',').collect()))
}

fn whole_within(field: &Field, text: &str, said: &mut Adjustments) -> Result<u64, String> {
    let (min, max) = (field.min as u64, field.max as u64);
    let (tokens, sentence) = match reading::whole(text)? {
        Whole::Exact(tokens) if tokens > max => (max, beyond(field, field.max)),
        Whole::Exact(tokens) if tokens < min => (min, beyond(field, field.min)),
        Whole::Exact(tokens) => return Ok(tokens),
        Whole::Other(value) if value > field.max => (max, beyond(field, field.max)),
        Whole::Other(value) if value < field.min => (min, beyond(field, field.min)),
        Whole::Other(value) => {
            let tokens = libm::round(value);
            (
                tokens as u64,
                format!("{} counts whole tokens. Using {}.", field.label, writing::spoken(tokens)),
            )
        }
    };
    said.push(sentence);
    Ok(tokens)
}

/// “Most we simulate is 10,000 req/s. Using 10,000.”
pub(crate) fn beyond(field: &Field, end: f64) -> String {
    let most = if end == field.max { "Most" } else { "Least" };
    let number = writing::spoken(end);
    let unit = match field.unit {
        "" => String::new(),
        "%" => "\u{202f}%".to_owned(),
        unit => format!("\u{202f}{unit}"),
    };
    format!("{most} we simulate is {number}{unit}. Using {number}.")
}

fn real_within(
    text: &str,
    what: &str,
    (min, max): (f64, f64),
    said: &mut Adjustments,
) -> Result<f64, String> {
    let value =
        reading::real(text, Measure::Share).map_err(|_| format!("needs a number for {what}"))?;
    let end = if value < min {
        min
    } else if value > max {
        max
    } else {
        return Ok(value);
    };
    let most = if value > max { "Most" } else { "Least" };
    let number = writing::spoken(end);
    said.push(format!("{most} we simulate for {what} is {number}. Using {number}."));
    Ok(end)
}
