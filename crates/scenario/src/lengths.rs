//! Lengths as links write them.

use sim_core::{
    LengthSpec,
    workload::{MAX_QUANTILES, Quantiles},
};

use crate::{
    field::Field,
    notice::quoted,
    pieces::call,
    range::{self, Taken},
    writing,
};

/// Sigma beyond this spreads lengths over more orders of magnitude than any traffic.
const MOST_SIGMA: f64 = 5.0;

/// Standard deviations up to the length that one in a thousand exceeds.
const LONG_TAIL: f64 = 3.09;

/// Least distance between two quantiles: a thousandth of a per cent.
const LEAST_SHARE: f64 = 1e-5;

/// Write a length: `1024`, `uniform(100,900)`, `lognormal(512,0.9)`, `lognormal(512,0.9,1,8192)` or
/// `quantiles(0:5,50:700,90:2100,100:9000)`.
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
        LengthSpec::Empirical(quantiles) => {
            let point = |(share, tokens)| format!("{}:{tokens}", writing::decimal(share, 2));
            format!("quantiles({})", quantiles.points().map(point).collect::<Vec<_>>().join(","))
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
        "quantiles" => read_quantiles(field, text, &parts),
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

fn read_quantiles(field: &Field, text: &str, parts: &[&str]) -> Result<Taken<LengthSpec>, String> {
    let wrong = |problem: &str| format!("{} {problem}", quoted(text));
    if parts.len() > MAX_QUANTILES {
        return Err(wrong("has more than 12 points"));
    }
    let (mut points, mut said) = (Vec::new(), Vec::new());
    for part in parts {
        let Some((percent, tokens)) = part.split_once(':') else {
            return Err(wrong("needs points such as 50:700, a percentile and its length each"));
        };
        let share = percentile(percent).ok_or_else(|| {
            format!("{} is no percentile from 0 to 100 in {}", quoted(percent.trim()), quoted(text))
        })?;
        let (tokens, more) = range::whole(field, tokens)?;
        said.extend(more);
        points.push((share, tokens));
    }
    let ends = (points.first().map(|point| point.0), points.last().map(|point| point.0));
    if ends != (Some(0.0), Some(1.0)) {
        return Err(wrong("must begin with 0, the shortest length, and end with 100, the longest"));
    }
    if points.windows(2).any(|pair| pair[1].0 - pair[0].0 < LEAST_SHARE) {
        return Err(wrong("needs its percentiles in rising order"));
    }
    let quantiles = Quantiles::new(&points)
        .ok_or_else(|| wrong("has a length below that of a smaller percentile"))?;
    Ok((LengthSpec::Empirical(quantiles), said))
}

/// “50”, “p99.9” or “99.9%” as a share of one. Only plain digits, whose point is moved in the text,
/// so that there is one rounding and not two.
fn percentile(text: &str) -> Option<f64> {
    let text = text.trim().trim_start_matches(['p', 'P']).trim_end_matches('%').trim_end();
    let is_plain = text.len() < 40 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let share = quantity::nearest_double(&format!("{text}e-2")).filter(|_| is_plain)?;
    (share == 0.0 || (LEAST_SHARE..=1.0).contains(&share)).then_some(share)
}

/// The same spread around another median; its bounds follow if they were the usual ones.
pub(crate) fn with_median(field: &Field, length: LengthSpec, tokens: f64) -> LengthSpec {
    match length {
        LengthSpec::Fixed { .. } => LengthSpec::Fixed { tokens: libm::round(tokens) as u64 },
        LengthSpec::Uniform { min_tokens, max_tokens } => {
            let mean_tokens = length.mean_tokens();
            let scaled = |bound: u64| {
                // Around nothing there is no spread to keep.
                let tokens =
                    if mean_tokens > 0.0 { bound as f64 * tokens / mean_tokens } else { tokens };
                let tokens = libm::round(tokens);
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
        LengthSpec::Empirical(quantiles) => {
            let median = quantiles.at(0.5);
            let scale = if median > 0.0 { tokens / median } else { 1.0 };
            let scaled = |bound: u64| {
                let tokens = libm::round(bound as f64 * scale);
                let tokens = if tokens < field.min { field.min } else { tokens };
                (if tokens > field.max { field.max } else { tokens }) as u64
            };
            quantiles.map_tokens(scaled).map_or(length, LengthSpec::Empirical)
        }
    }
}

/// Bounds where none are given: from one token to the length that one in a thousand exceeds.
fn usual_bounds(field: &Field, median_tokens: f64, sigma: f64) -> (u64, u64) {
    let longest = libm::ceil(median_tokens * libm::exp(LONG_TAIL * sigma));
    let longest = if longest > field.max { field.max } else { longest };
    (1, longest as u64)
}
