//! Numbers within a length: the spread and the ends of a distribution.

use quantity::Unit;
use scenario::{Scenario, Snap};
use sim_core::LengthSpec;

use super::{
    Dial, List, Part, Piece,
    piece::{call, linear, log, piece},
};
use crate::strings;

const TOKEN_SNAPS: Snap = Snap::Octaves(&[1.0, 1.5]);

const fn tokens(
    help: &'static str,
    read: fn(&Scenario) -> Option<f64>,
    write: fn(&Scenario, f64) -> String,
) -> Piece {
    Piece { help, unit: "tokens", quantity: Unit::Tokens, first: None, ..piece(0.0, read, write) }
}

/// The dials of prompts, or of answers.
#[derive(Debug)]
pub(crate) struct LengthDials {
    /// Spread of a lognormal.
    pub(crate) sigma: Dial,
    /// Lower bound of a lognormal.
    pub(crate) shortest: Dial,
    /// Upper bound of a lognormal.
    pub(crate) longest: Dial,
    /// Least of a uniform.
    pub(crate) least: Dial,
    /// Most of a uniform.
    pub(crate) most: Dial,
    /// Points of a measured distribution.
    pub(crate) quantiles: Dial,
}

/// The dials for one of the two lengths: their ids, the key, and how the scenario has it.
macro_rules! length_dials {
    ($key:literal, $length:ident, $first:literal) => {
        LengthDials {
            sigma: Dial {
                id: concat!($key, "-spread"),
                key: $key,
                label: strings::SPREAD,
                spoken_unit: "",
                part: Part::Piece(Piece {
                    help: strings::SPREAD_HELP,
                    slider: linear(0.0, 2.0, 0.1, [0.01, 0.1, 0.5]),
                    ..piece(
                        0.5,
                        |s| Some(lognormal(s.$length)?.1),
                        |s, sigma| write_sigma(s, $key, s.$length, sigma),
                    )
                }),
            },
            shortest: Dial {
                id: concat!($key, "-shortest"),
                key: $key,
                label: strings::SHORTEST,
                spoken_unit: "tokens",
                part: Part::Piece(tokens(
                    strings::SHORTEST_HELP,
                    |s| Some(lognormal(s.$length)?.2 as f64),
                    |s, tokens| write_bounds(s.$length, Some(tokens), None),
                )),
            },
            longest: Dial {
                id: concat!($key, "-longest"),
                key: $key,
                label: strings::LONGEST,
                spoken_unit: "tokens",
                part: Part::Piece(tokens(
                    strings::LONGEST_HELP,
                    |s| Some(lognormal(s.$length)?.3 as f64),
                    |s, tokens| write_bounds(s.$length, None, Some(tokens)),
                )),
            },
            least: Dial {
                id: concat!($key, "-least"),
                key: $key,
                label: strings::SHORTEST,
                spoken_unit: "tokens",
                part: Part::Piece(Piece {
                    slider: log(1.0, $first, TOKEN_SNAPS),
                    ..tokens(
                        strings::SHORTEST_HELP,
                        |s| Some(uniform(s.$length)?.0 as f64),
                        |s, tokens| write_uniform(s.$length, Some(tokens), None),
                    )
                }),
            },
            most: Dial {
                id: concat!($key, "-most"),
                key: $key,
                label: strings::LONGEST,
                spoken_unit: "tokens",
                part: Part::Piece(Piece {
                    slider: log(1.0, $first, TOKEN_SNAPS),
                    ..tokens(
                        strings::LONGEST_HELP,
                        |s| Some(uniform(s.$length)?.1 as f64),
                        |s, tokens| write_uniform(s.$length, None, Some(tokens)),
                    )
                }),
            },
            quantiles: Dial {
                id: concat!($key, "-quantiles"),
                key: $key,
                label: strings::QUANTILES,
                spoken_unit: "",
                part: Part::List(List {
                    help: strings::QUANTILES_HELP,
                    name: "quantiles",
                    is_there: |s| matches!(s.$length, LengthSpec::Empirical(_)),
                }),
            },
        }
    };
}

pub(crate) static IN: LengthDials = length_dials!("in", input, 131_072.0);
pub(crate) static OUT: LengthDials = length_dials!("out", output, 16_384.0);

/// Median, sigma, shortest and longest.
fn lognormal(length: LengthSpec) -> Option<(f64, f64, u64, u64)> {
    match length {
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            Some((median_tokens, sigma, min_tokens, max_tokens))
        }
        _ => None,
    }
}

/// Another sigma. Bounds that a person gave stay; others follow it.
fn write_sigma(scenario: &Scenario, key: &str, length: LengthSpec, sigma: f64) -> String {
    match lognormal(length) {
        Some((median, _, shortest, longest)) => {
            let written = scenario.get(key).unwrap_or_default();
            if written.matches(',').count() > 1 {
                call("lognormal", [median, sigma, shortest as f64, longest as f64])
            } else {
                call("lognormal", [median, sigma])
            }
        }
        None => call("lognormal", [scenario.number(key).unwrap_or(1.0), sigma]),
    }
}

/// Another bound; the other one moves along if it has to.
fn write_bounds(length: LengthSpec, shortest: Option<f64>, longest: Option<f64>) -> String {
    let (median, sigma, least, most) = lognormal(length).unwrap_or((1.0, 0.5, 1, 1));
    let (least, most) = bounds((least, most), shortest, longest);
    call("lognormal", [median, sigma, least, most])
}

fn uniform(length: LengthSpec) -> Option<(u64, u64)> {
    match length {
        LengthSpec::Uniform { min_tokens, max_tokens } => Some((min_tokens, max_tokens)),
        _ => None,
    }
}

fn write_uniform(length: LengthSpec, shortest: Option<f64>, longest: Option<f64>) -> String {
    let (least, most) = bounds(uniform(length).unwrap_or((1, 1)), shortest, longest);
    call("uniform", [least, most])
}

/// Two bounds of which one is set: the other never lies on the wrong side of it.
fn bounds(now: (u64, u64), shortest: Option<f64>, longest: Option<f64>) -> (f64, f64) {
    let (least, most) = (now.0 as f64, now.1 as f64);
    match (shortest, longest) {
        (Some(least), _) => (least, if most < least { least } else { most }),
        (_, Some(most)) => (if least > most { most } else { least }, most),
        _ => (least, most),
    }
}
