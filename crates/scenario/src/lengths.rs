//! Lengths and arrival patterns as links write them.

use sim_core::{ArrivalProcess, LengthSpec};

use crate::{
    field::Field,
    notice::quoted,
    range::{self, Taken},
    writing,
};

/// Sigma beyond this spreads lengths over more orders of magnitude than any traffic.
const MOST_SIGMA: f64 = 5.0;

/// Standard deviations up to the length that one in a thousand exceeds.
const LONG_TAIL: f64 = 3.09;

/// Write a length: `1024`, `uniform(100,900)`, `lognormal(512,0.9)` or
/// `lognormal(512,0.9,1,8192)`.
pub(crate) fn write_length(field: &Field, length: LengthSpec) -> String {
    match length {
        LengthSpec::Fixed { tokens } => tokens.to_string(),
        LengthSpec::Uniform { min_tokens, max_tokens } => {
            format!("uniform({min_tokens},{max_tokens})")
        }
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
/// What is wrong, as a clause that names the text.
pub(crate) fn read_length(field: &Field, text: &str) -> Result<Taken<LengthSpec>, String> {
    let Some((name, parts)) = call(text) else {
        let (tokens, said) = range::whole(field, text)?;
        return Ok((LengthSpec::Fixed { tokens }, said));
    };
    match name.as_str() {
        "lognormal" => read_lognormal(field, text, &parts),
        "uniform" => read_uniform(field, text, &parts),
        _ => Err(format!("{} is not a length", quoted(text))),
    }
}

fn read_uniform(field: &Field, text: &str, parts: &[&str]) -> Result<Taken<LengthSpec>, String> {
    let [min, max] = parts[..] else {
        return Err(format!("{} needs its shortest and its longest", quoted(text)));
    };
    let (min_tokens, mut said) = range::whole(field, min)?;
    let (max_tokens, more) = range::whole(field, max)?;
    said.extend(more);
    if min_tokens > max_tokens {
        return Err(format!("{} has its lower bound above its upper bound", quoted(text)));
    }
    Ok((LengthSpec::Uniform { min_tokens, max_tokens }, said))
}

fn read_lognormal(field: &Field, text: &str, parts: &[&str]) -> Result<Taken<LengthSpec>, String> {
    let (median, sigma) = match parts[..] {
        [median, sigma] | [median, sigma, _, _] => (median, sigma),
        _ => {
            let problem = "needs a median and a sigma, or these and two bounds";
            return Err(format!("{} {problem}", quoted(text)));
        }
    };
    let least = if field.min < 1.0 { 1.0 } else { field.min };
    let (median_tokens, mut said) = range::plain(median, "the median", (least, field.max))?;
    let (sigma, more) = range::plain(sigma, "sigma", (0.0, MOST_SIGMA))?;
    said.extend(more);
    let (min_tokens, max_tokens) = match parts[..] {
        [_, _, min, max] => {
            let (min_tokens, more) = range::whole(field, min)?;
            said.extend(more);
            let (max_tokens, more) = range::whole(field, max)?;
            said.extend(more);
            (min_tokens, max_tokens)
        }
        _ => usual_bounds(field, median_tokens, sigma),
    };
    if min_tokens > max_tokens {
        return Err(format!("{} has its lower bound above its upper bound", quoted(text)));
    }
    Ok((LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens }, said))
}

/// The same spread around another median; its bounds follow if they were the usual ones.
pub(crate) fn with_median(field: &Field, length: LengthSpec, tokens: f64) -> LengthSpec {
    match length {
        LengthSpec::Fixed { .. } => LengthSpec::Fixed { tokens: libm::round(tokens) as u64 },
        LengthSpec::Uniform { min_tokens, max_tokens } => {
            let scale = tokens / length.mean_tokens();
            let scaled = |bound: u64| {
                let tokens = libm::round(bound as f64 * scale);
                (if tokens > field.max { field.max } else { tokens }) as u64
            };
            LengthSpec::Uniform { min_tokens: scaled(min_tokens), max_tokens: scaled(max_tokens) }
        }
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
/// What is wrong, as a clause that names the text.
pub(crate) fn read_arrivals(field: &Field, text: &str) -> Result<Taken<ArrivalProcess>, String> {
    let plain = text.trim().to_ascii_lowercase();
    match (plain.as_str(), call(text)) {
        ("poisson", _) => Ok((ArrivalProcess::Poisson, Vec::new())),
        ("even", _) => Ok((ArrivalProcess::Even, Vec::new())),
        (_, Some((name, parts))) if name == "gamma" => {
            let [shape] = parts[..] else {
                return Err(format!("{} needs one number, its shape", quoted(text)));
            };
            let (shape, said) = range::plain(shape, "the shape", (field.min, field.max))?;
            Ok((ArrivalProcess::Gamma { shape }, said))
        }
        _ => Err(format!("{} is not a pattern of arrivals", quoted(text))),
    }
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
    Some((name.trim().to_ascii_lowercase(), inside.split(',').collect()))
}
