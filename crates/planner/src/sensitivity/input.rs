//! Inputs that nobody knows exactly, and how far off they may be.

use quantity::Unit;
use scenario::{Provenance, Resolved, Scenario, field};
use serde::{Deserialize, Serialize};
use sim_core::{LengthSpec, workload::Quantiles};

use crate::cost::Dollars;

/// How far off a forecast of traffic is taken to be, where nobody says: a fifth either way.
const TRAFFIC: (f64, f64) = (0.8, 1.25);
/// Part of the nominal bandwidth that kernels reach: what timed kernels show, from a bad to an ideal one.
const BANDWIDTH: (f64, f64) = (0.75, 1.0);
/// The fixed time of a step, which depends on versions and processors: half to twice.
const OVERHEAD: (f64, f64) = (0.5, 2.0);

/// One input and its range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertain {
    /// What is changed.
    pub what: What,
    /// What it is called.
    pub label: String,
    /// Its ends; the value itself lies between, or at one of them.
    pub range: (f64, f64),
    /// Who says that it lies there.
    pub source: String,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Requests per second (or users): ends are multiples.
    Load,
    /// Lengths of prompts: ends are multiples.
    Prompts,
    /// Lengths of answers: ends are multiples.
    Answers,
    /// A number of the scenario, by its key: ends are values in SI units.
    Setting(String),
    /// Dollars for an hour of a GPU: ends are values. Nothing is simulated for it.
    Price,
}

impl Uncertain {
    /// What is uncertain about a scenario, and within which range. `price` is that of a GPU-hour.
    #[must_use]
    pub fn all(scenario: &Scenario, resolved: &Resolved, price: Option<&Dollars>) -> Vec<Self> {
        let of = |what, label: &str, range, source: &str| Self {
            what,
            label: label.to_owned(),
            range,
            source: source.to_owned(),
        };
        let forecast = "assumed: a forecast is off by a fifth";
        let load = if scenario.closed.is_some() { "Users" } else { "Request rate" };
        let mut all = vec![
            of(What::Load, load, TRAFFIC, forecast),
            of(What::Prompts, "Prompt length", TRAFFIC, forecast),
            of(What::Answers, "Answer length", TRAFFIC, forecast),
        ];
        for (key, part, source) in [
            ("step.bandwidth", BANDWIDTH, "assumed: kernels reach 75 to 100 % of it"),
            ("step.overhead_s", OVERHEAD, "assumed: from half to twice"),
        ] {
            let Some(entry) = resolved.ledger.get(key) else { continue };
            // Who typed a number knows it.
            if entry.value > 0.0 && entry.kind != Provenance::Given {
                let range = (entry.value * part.0, entry.value * part.1);
                all.push(of(What::Setting(key.to_owned()), &entry.label, range, source));
            }
        }
        // What the ledger knows the band of, and a scenario can set.
        for entry in &resolved.ledger.0 {
            let band = entry.low.zip(entry.high).filter(|(low, high)| low < high);
            if let (Some(range), Some(_)) = (band, field(&entry.key)) {
                let source = format!("{}: {}", entry.kind.label().to_lowercase(), entry.source);
                all.push(of(What::Setting(entry.key.clone()), &entry.label, range, &source));
            }
        }
        if let Some(price) = price.filter(|price| !price.is_exact()) {
            let range = (price.low, price.high);
            all.push(of(What::Price, "Price of a GPU-hour", range, "the price’s own range"));
        }
        all
    }

    /// The scenario with the input at a value; `None` where it cannot take it. A price changes nothing.
    #[must_use]
    pub fn put(&self, scenario: &Scenario, value: f64) -> Option<Scenario> {
        let mut own = scenario.clone();
        match &self.what {
            What::Load => match &mut own.closed {
                Some(closed) => {
                    // A float beyond the range of u64 saturates.
                    closed.users = (libm::round(closed.users as f64 * value) as u64).max(1);
                }
                None => own.rate_per_s *= value,
            },
            What::Prompts => {
                own.input = scaled(own.input, value);
                for class in &mut own.classes {
                    class.input = class.input.map(|length| scaled(length, value));
                }
            }
            What::Answers => {
                own.output = scaled(own.output, value);
                for class in &mut own.classes {
                    class.output = class.output.map(|length| scaled(length, value));
                }
            }
            What::Setting(key) => {
                let field = field(key)?;
                let text = match field.quantity {
                    _ if field.is_whole() => quantity::plain(libm::floor(value), 0),
                    // A bare number above 1 would be read as per cent.
                    Unit::Share | Unit::Percent => quantity::plain(value * 100.0, 0) + "%",
                    unit => quantity::plain(value / unit.in_base(), 0),
                };
                // A value that is moved into range is another one.
                if !own.set(key, &text).ok()?.is_empty() {
                    return None;
                }
            }
            What::Price => {}
        }
        Some(own)
    }
}

/// Lengths that are `factor` times as long, in whole tokens.
fn scaled(length: LengthSpec, factor: f64) -> LengthSpec {
    // A float beyond the range of u64 saturates.
    let times = |tokens: u64| libm::round(tokens as f64 * factor) as u64;
    match length {
        LengthSpec::Fixed { tokens } => LengthSpec::Fixed { tokens: times(tokens) },
        LengthSpec::Uniform { min_tokens, max_tokens } => {
            LengthSpec::Uniform { min_tokens: times(min_tokens), max_tokens: times(max_tokens) }
        }
        LengthSpec::LogNormal { median_tokens, sigma, min_tokens, max_tokens } => {
            LengthSpec::LogNormal {
                median_tokens: median_tokens * factor,
                sigma,
                min_tokens: times(min_tokens),
                max_tokens: times(max_tokens),
            }
        }
        LengthSpec::Empirical(quantiles) => {
            let points: Vec<(f64, u64)> =
                quantiles.points().map(|(share, tokens)| (share, times(tokens))).collect();
            // Order and shares are as they were.
            Quantiles::new(&points).map_or(length, LengthSpec::Empirical)
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    fn all(settings: &[(&str, &str)]) -> (Scenario, Vec<Uncertain>) {
        let mut scenario = Scenario::preset();
        for (key, value) in settings {
            scenario.set(key, value).expect("a setting");
        }
        let resolved = scenario.resolve().expect("it resolves");
        let inputs = Uncertain::all(&scenario, &resolved, Some(&Dollars::between(2.0, 4.0)));
        (scenario, inputs)
    }

    #[test]
    fn what_is_assumed_is_uncertain_and_what_is_typed_is_not() {
        let keys = |inputs: &[Uncertain]| -> Vec<String> {
            inputs
                .iter()
                .filter_map(|it| match &it.what {
                    What::Setting(key) => Some(key.clone()),
                    _ => None,
                })
                .collect()
        };
        let (_, inputs) = all(&[]);
        assert!(keys(&inputs).contains(&"step.mfu".to_owned()), "{:?}", keys(&inputs));
        assert_eq!(inputs.last().map(|it| &it.what), Some(&What::Price));
        let (_, typed) = all(&[("step.mfu", "0.5"), ("step.bandwidth", "3e12")]);
        let left = keys(&typed);
        assert!(
            !left.contains(&"step.mfu".to_owned()) && !left.contains(&"step.bandwidth".to_owned())
        );
    }

    #[test]
    fn every_input_can_be_put_at_both_ends() {
        for settings in [
            &[][..],
            &[("in", "lognormal(500,0.9)"), ("out", "quantiles(0:10,50:100,100:900)")],
            &[("arrivals", "closed(200,10s)"), ("class.a", "share:20,in:uniform(100,900)")],
        ] {
            let (scenario, inputs) = all(settings);
            for input in &inputs {
                for end in [input.range.0, input.range.1] {
                    let own = input.put(&scenario, end).expect("it takes the value");
                    let moved = own != scenario;
                    assert!(moved || input.what == What::Price, "{input:?} at {end}");
                    assert!(own.resolve().is_ok(), "{input:?} at {end}");
                }
            }
        }
    }

    #[test]
    fn lengths_grow_as_a_whole() {
        let quantiles = Quantiles::new(&[(0.0, 10), (0.5, 100), (1.0, 900)]).expect("quantiles");
        for length in [
            LengthSpec::Fixed { tokens: 100 },
            LengthSpec::Uniform { min_tokens: 100, max_tokens: 300 },
            LengthSpec::Empirical(quantiles),
        ] {
            let ratio = scaled(length, 2.0).mean_tokens() / length.mean_tokens();
            assert!((ratio - 2.0).abs() < 1e-9, "{length:?}: {ratio}");
        }
    }
}
