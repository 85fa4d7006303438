//! What a plan answers. Plain data: serializable, compared, told by `report`.

use scenario::Remedy;
use serde::{Deserialize, Serialize};

use crate::ceiling::limit_margin;

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over replications.
    pub value: f64,
    /// Lower end of the 95 % interval; equals `value` with one replication.
    pub low: f64,
    /// Upper end of the 95 % interval; equals `value` with one replication.
    pub high: f64,
}

/// The engine measured at one request rate. Times in seconds, rates per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Offered request rate on one replica; of a closed loop the rate that it came to.
    pub rate_per_s: f64,
    /// Users of a closed loop on one replica; `None` for a rate.
    pub users: Option<f64>,
    /// False at or above the highest rate that the engine can finish, and where more came than left
    /// in most runs: latencies there only tell how long one watched, and are not shown.
    pub stable: bool,
    /// False where most runs were still settling as they ended, or too short to tell.
    pub settled: bool,
    /// Median time to first token.
    pub ttft_p50_s: Estimate,
    /// 99th percentile of the time to first token.
    pub ttft_p99_s: Estimate,
    /// Median of the per-request mean time per output token.
    pub tpot_p50_s: Estimate,
    /// 99th percentile of the per-request mean time per output token.
    pub tpot_p99_s: Estimate,
    /// Median gap between tokens.
    pub itl_p50_s: Estimate,
    /// 99th percentile of all gaps between tokens.
    pub itl_p99_s: Estimate,
    /// Longest gap between tokens seen.
    pub itl_max_s: f64,
    /// Median end-to-end latency.
    pub e2e_p50_s: Estimate,
    /// 99th percentile of the end-to-end latency.
    pub e2e_p99_s: Estimate,
    /// Mean wait before the first step, in seconds.
    pub queue_wait_mean_s: Estimate,
    /// Requests per second that met the target.
    pub goodput_per_s: Estimate,
    /// Requests finished per second.
    pub throughput_per_s: Estimate,
    /// Output tokens per second.
    pub output_tokens_per_s: Estimate,
    /// Share of requests that met the target, 0 to 1.
    pub slo_share: Estimate,
    /// Share of requests that got an answer at all, 0 to 1. Latencies are those of answers; a
    /// percentile that more requests exceed by getting none is not finite.
    pub answered_share: f64,
    /// Time-average number of running requests.
    pub mean_running: f64,
    /// Share of the KV cache in use at its peak, 0 to 1.
    pub kv_peak_share: f64,
    /// Share of step time in which arithmetic, not memory traffic, set the pace, 0 to 1.
    pub compute_bound_share: f64,
    /// Share of the time in which a step was running, 0 to 1.
    pub busy_share: f64,
}

/// One class of requests at one rate, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassAtLoad {
    /// Its name.
    pub name: String,
    /// Share of its requests that met its target, 0 to 1.
    pub slo_share: f64,
    /// 99th percentile of the time to first token, seconds; `None` where none finished.
    pub ttft_p99_s: Option<f64>,
    /// 99th percentile of the mean time per output token, seconds; `None` without such a value.
    pub tpot_p99_s: Option<f64>,
}

/// GPUs for the asked rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSize {
    /// `ceil(rate / capacity)`.
    pub without_headroom: u64,
    /// `ceil(rate · (1 + headroom) / capacity)`, rounded once.
    pub with_headroom: u64,
    /// The same at the upper end of the capacity's interval.
    pub with_headroom_low: u64,
    /// The same at the lower end of the capacity's interval.
    pub with_headroom_high: u64,
    /// What `with_headroom` GPUs carry at the target, requests per second.
    pub carried_per_s: f64,
}

impl LoadPoint {
    /// Whether a percentile of all requests, 0 to 100, is one of an answer: the queue does not grow,
    /// and enough requests get one.
    #[must_use]
    pub fn has_percentile(&self, percent: f64) -> bool {
        self.stable && self.answered_share * 100.0 >= percent
    }
}

/// The same question and answer in users of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsersAnswer {
    /// Users over all GPUs.
    pub asked: f64,
    /// Mean time that each thinks, seconds.
    pub think_s: f64,
    /// Users whom one GPU sustains at the target.
    pub capacity: Option<Estimate>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// The target can be met; here is how many GPUs.
    Sized(FleetSize),
    /// The weights leave no memory for a KV cache.
    DoesNotFit {
        /// Bytes of weights on one GPU.
        weight_bytes: f64,
        /// Bytes one GPU has for weights and KV cache.
        available_bytes: f64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The KV cache cannot hold one request.
    NoRoom {
        /// Tokens the cache holds.
        capacity_tokens: u64,
        /// Tokens that the largest request needs.
        needed_tokens: u64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The model cannot take prompts or answers of that length.
    TooLong {
        /// Which length, and by how much, in words.
        sentence: String,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// Even an idle engine misses the target.
    OutOfReach {
        /// The class of requests that is furthest from its target, where there are classes.
        class: Option<String>,
        /// Time to first token of a lone request (at the target's percentile), seconds.
        ttft_floor_s: f64,
        /// Time per output token of a lone request, seconds.
        tpot_floor_s: f64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
}

/// The answer to "how many GPUs for this scenario?".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanAnswer {
    /// What came out.
    pub verdict: Verdict,
    /// Asked request rate, per second; the peak where it changes over time. Of a closed loop it is
    /// what the users come to at the planned load.
    pub rate_per_s: f64,
    /// Question and answer in users, where the loop is closed; the rates are then those that the
    /// users come to.
    pub users: Option<UsersAnswer>,
    /// Asked headroom, 0.25 for 25 %.
    pub headroom: f64,
    /// Largest rate per second one GPU sustains at the target.
    pub capacity_per_s: Option<Estimate>,
    /// Highest rate per second one GPU can finish at all, measured under permanent overload.
    pub ceiling_per_s: Option<Estimate>,
    /// The knee, in increasing rate; the capacity and the planned load are among the points.
    pub knee: Vec<LoadPoint>,
    /// The engine at the planned load: `rate / with_headroom`.
    pub planned: Option<LoadPoint>,
    /// Each class of requests there; none where the scenario names none.
    pub classes: Vec<ClassAtLoad>,
    /// Requests of the largest size that the KV cache holds at once.
    pub requests_that_fit: u64,
    /// Replications behind every interval.
    pub replications: u32,
    /// Requests in each replication.
    pub requests: u64,
    /// Requests simulated in all.
    pub simulated_requests: u64,
    /// Engine steps simulated in all.
    pub simulated_steps: u64,
}

impl PlanAnswer {
    /// Whether the target is met up to the limit of stability, so that the capacity is the ceiling
    /// less what the runs cannot tell.
    #[must_use]
    pub fn is_at_limit(&self) -> bool {
        match (self.capacity_per_s, self.ceiling_per_s) {
            // Users who wait for their answers never ask for more than is finished.
            (Some(capacity), Some(ceiling)) if self.users.is_none() => {
                let limit_per_s = ceiling.value * (1.0 - self.limit_margin());
                capacity.value >= limit_per_s * (1.0 - 1e-9)
            }
            _ => false,
        }
    }

    /// How far below the ceiling a rate has to lie for these runs to tell it from the ceiling, as a
    /// part of it.
    #[must_use]
    pub fn limit_margin(&self) -> f64 {
        limit_margin(self.requests * u64::from(self.replications))
    }
}
