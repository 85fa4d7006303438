//! Scheduling rules as links write them.

use serde::{Deserialize, Serialize};
use sim_core::{
    Rules,
    engine::{
        ServiceNoise, VllmRules,
        vllm::{Policy, Version},
    },
};

use crate::{notice::quoted, range::Taken, schema::VllmOptions};

/// How the engine forms its steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SchedRules {
    /// Continuous batching, memory reserved for the final length: the published reference rules.
    Reference,
    /// Continuous batching by vLLM's V1 scheduler, paged memory, preemption.
    Vllm {
        /// Whether the rules are those up to release 0.11, or those of 0.33.
        old: bool,
    },
    /// Whole batches, each served until its longest member is done.
    Static,
    /// Whole batches that wait for company.
    Dynamic {
        /// Longest wait of the oldest request, seconds.
        max_delay_s: f64,
    },
    /// One request at a time.
    Sequential,
}

/// Longest delay that a dynamic batcher may be given, seconds.
const MOST_DELAY_S: f64 = 60.0;

impl SchedRules {
    /// Whether they take the options of vLLM's scheduler.
    pub(crate) const fn are_vllms(self) -> bool {
        matches!(self, Self::Vllm { .. })
    }

    /// Whether a batch is served whole before the next one begins.
    #[must_use]
    pub const fn form_whole_batches(self) -> bool {
        matches!(self, Self::Static | Self::Dynamic { .. } | Self::Sequential)
    }

    /// Whether requests are served one by one.
    #[must_use]
    pub const fn are_sequential(self) -> bool {
        matches!(self, Self::Sequential)
    }

    /// What the simulator calls them.
    pub(crate) fn to_rules(self, options: &VllmOptions, by_priority: bool) -> Rules {
        let whole = |max_delay_s| Rules::WholeBatches { max_delay_s, noise: ServiceNoise::None };
        match self {
            Self::Reference => Rules::Reference,
            Self::Vllm { old } => Rules::VllmV1(VllmRules {
                version: if old { Version::V0_11 } else { Version::V0_33 },
                asynchronous: options.asynchronous,
                policy: if by_priority { Policy::Priority } else { Policy::Fcfs },
                prefix_caching: options.prefix_caching,
                long_prefill_token_threshold: options.long_prefill_token_threshold,
                watermark: options.watermark,
            }),
            Self::Static | Self::Sequential => whole(0.0),
            Self::Dynamic { max_delay_s } => whole(max_delay_s),
        }
    }

    /// Write them: `reference`, `vllm-0.33`, `vllm-0.11`, `static`, `dynamic(0.02s)`, `sequential`.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Reference => "reference".to_owned(),
            Self::Vllm { old: false } => "vllm-0.33".to_owned(),
            Self::Vllm { old: true } => "vllm-0.11".to_owned(),
            Self::Static => "static".to_owned(),
            Self::Dynamic { max_delay_s } => {
                format!("dynamic({}s)", crate::writing::decimal(max_delay_s, 0))
            }
            Self::Sequential => "sequential".to_owned(),
        }
    }
}

/// Read what [`SchedRules::text`] writes.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read(text: &str) -> Result<Taken<SchedRules>, String> {
    let plain = text.trim().to_ascii_lowercase();
    let named = match plain.as_str() {
        "reference" => Some(SchedRules::Reference),
        "vllm" | "vllm-v1" | "vllm-0.33" => Some(SchedRules::Vllm { old: false }),
        "vllm-0.11" => Some(SchedRules::Vllm { old: true }),
        "static" => Some(SchedRules::Static),
        "sequential" => Some(SchedRules::Sequential),
        _ => None,
    };
    if let Some(rules) = named {
        return Ok((rules, Vec::new()));
    }
    let delay = plain.strip_prefix("dynamic(").map(|rest| rest.strip_suffix(')').unwrap_or(rest));
    let Some(delay) = delay else {
        return Err(format!("{} is no scheduling rule", quoted(text)));
    };
    let max_delay_s = quantity::parse(delay, quantity::Unit::Seconds)
        .map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
    if !(0.0..=MOST_DELAY_S).contains(&max_delay_s) {
        return Err(format!("{} waits longer than 60 s or less than nothing", quoted(text)));
    }
    Ok((SchedRules::Dynamic { max_delay_s }, Vec::new()))
}
