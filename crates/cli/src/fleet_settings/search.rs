//! Options of the search for the cheapest settings that hold the target.

use std::num::NonZeroU32;

use clap::Args;
use planner::{Axis, Steps};
use scenario::FleetSpec;

use super::{FleetArgs, names::PolicyName};
use crate::{failure::Failure, typed::requests};

#[derive(Args, Clone, Debug)]
pub(crate) struct SearchArgs {
    /// Search for the cheapest settings with which these policies hold the target, each given as for
    /// --compare: by its target, its fewest replicas and what else is its own. What is given here
    /// stays as it is.
    #[arg(
        long, value_name = "POLICY", num_args = 1..,
        conflicts_with_all = ["compare", "policy", "prefill", "quota_gpus", "openmetrics", "svg", "csv"]
    )]
    pub(crate) search: Vec<String>,
    /// Most settings to try of each policy.
    #[arg(long, value_name = "N", value_parser = requests, allow_hyphen_values = true, default_value = "60", requires = "search")]
    pub(crate) trials: NonZeroU32,
}

impl FleetArgs {
    /// These options with the policy of `--search`, and along what it may be varied.
    pub(crate) fn searched(
        &self,
        text: &str,
        said: &FleetSpec,
        places: u64,
    ) -> Result<(Self, Vec<Axis>), Failure> {
        let args = self.with("--search", text)?;
        let spec = args.spec(said);
        let (min, max) = (spec.min as f64, spec.max as f64);
        let mut axes = Vec::new();
        let policy = args.policy;
        let goes_to_zero = matches!(
            policy,
            Some(PolicyName::Keda | PolicyName::Knative | PolicyName::Trend | PolicyName::Seasonal)
        );
        let least = if goes_to_zero { 0.0 } else { 1.0 };
        let first = sim_core::float::greater(min, least);
        axes.push(Axis { name: "min", first, least, most: max, steps: Steps::Counts });
        let mut amount = |name, first, least, most| {
            axes.push(Axis { name, first, least, most, steps: Steps::Factors });
        };
        match policy {
            Some(PolicyName::Fixed | PolicyName::WvaQueueing) | None => {}
            Some(PolicyName::WvaV1) => {
                amount("wva.kvSpareTrigger", 0.1, 0.01, 0.6);
                amount("wva.queueSpareTrigger", 3.0, 0.5, 24.0);
            }
            Some(PolicyName::WvaV2) => amount("wva.scaleUpThreshold", 0.85, 0.2, 0.99),
            Some(_) => {
                let usual = spec.target_or_usual(places);
                amount("target", usual, usual / 64.0, usual * 16.0);
            }
        }
        if matches!(policy, Some(PolicyName::Hpa | PolicyName::WvaV1 | PolicyName::WvaV2)) {
            amount("scale-down-window", spec.scale_down_window_s, 15.0, 3600.0);
        }
        let (_, given) = text.split_once(':').unwrap_or((text, ""));
        let is_given = |axis: &Axis| {
            given.split(',').any(|pair| pair.split('=').next().is_some_and(|key| key == axis.name))
        };
        axes.retain(|axis| !is_given(axis));
        if axes.is_empty() {
            return Err(Failure::input(format!(
                "--search {text}: nothing is left to vary. Leave a setting out, or use --compare."
            )));
        }
        Ok((args, axes))
    }

    /// These options with the settings of one trial.
    pub(crate) fn tried(
        &self,
        text: &str,
        names: &[&'static str],
        settings: &[f64],
    ) -> Result<Self, Failure> {
        let mut one = text.to_owned();
        for (at, (name, value)) in names.iter().zip(settings).enumerate() {
            let is_first = at == 0 && !text.contains(':');
            one += if is_first { ":" } else { "," };
            one += &[name, "=", &value.to_string()].concat();
        }
        self.with("--search", &one)
    }
}
