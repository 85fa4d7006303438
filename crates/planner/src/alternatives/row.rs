//! One deployment among others.

use scenario::{Resolved, Scenario};
use serde::{Deserialize, Serialize};

use crate::{
    answer::{PlanAnswer, Verdict},
    cost::Dollars,
    why::Limit,
};

use super::{
    bound_by_form,
    candidate::{Bound, Candidate},
};

/// How a row is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// By simulating it.
    Simulated,
    /// By bounds alone: it costs at least that much, and is at most that fast.
    Bounded,
}

/// One deployment among others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// The GPU's name in the catalogue.
    pub gpu: String,
    /// GPUs that share an engine.
    pub gpus_each: u64,
    /// The format of the weights; `auto` where the model has one alone.
    pub weights: String,
    /// How the row is known.
    pub basis: Basis,
    /// What one engine sustains at the target, requests per second; of a bounded row the most that it
    /// may.
    pub capacity_per_s: f64,
    /// GPUs with headroom; of a bounded row the fewest.
    pub gpus: u64,
    /// Dollars for an hour of one GPU.
    pub price_per_hour: Dollars,
    /// Dollars for an hour of all.
    pub per_hour: Dollars,
    /// P99 of the time to first token at the planned load, seconds.
    pub ttft_p99_s: Option<f64>,
    /// P99 of the time per output token at the planned load, seconds.
    pub tpot_p99_s: Option<f64>,
    /// P99 of the end-to-end latency at the planned load, seconds; of a bounded row what a lone request
    /// of mean length takes at least.
    pub e2e_p99_s: f64,
    /// What binds; `None` where nothing does.
    pub binding: Option<Limit>,
    /// How that is known.
    pub binding_basis: Basis,
    /// Whether nothing that costs no more is faster. Only of simulated rows.
    pub is_on_front: bool,
    /// The scenario as a link.
    pub link: String,
    /// Place of its candidate.
    #[serde(skip)]
    pub(super) place: usize,
}

/// The cheapest deployment with tuned limits, planned in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Requests at once.
    pub max_num_seqs: u64,
    /// Tokens of a step.
    pub max_num_batched_tokens: u64,
    /// What an engine sustains with the limits as they were, requests per second.
    pub untuned_capacity_per_s: f64,
    /// GPUs with headroom.
    pub gpus: u64,
    /// Dollars for an hour of all.
    pub per_hour: Dollars,
    /// The scenario as a link.
    pub link: String,
    /// Its answer, with intervals.
    pub answer: Box<PlanAnswer>,
}

/// What else would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlternativesAnswer {
    /// The cheapest first; bounded rows by the least they can cost.
    pub rows: Vec<Alternative>,
    /// The cheapest with tuned limits.
    pub tuned: Option<Tuned>,
    /// Deployments looked at.
    pub looked_at: u32,
    /// Those that do not fit or cannot be set up.
    pub unfit: u32,
    /// Those that miss the target even when idle.
    pub hopeless: u32,
    /// GPUs that are left out because they have no price.
    pub unpriced_gpus: u32,
    /// Deployments that cost more than was to be paid.
    pub dearer: u32,
    /// Whether nothing is left to simulate.
    pub is_done: bool,
}

impl Alternative {
    /// What bounds say.
    pub(super) fn bounded(
        (scenario, resolved): (&Scenario, &Resolved),
        price_per_hour: Dollars,
        bound: &Bound,
    ) -> Self {
        Self {
            gpu: scenario.gpu.clone(),
            gpus_each: scenario.gpus_per_engine(),
            weights: scenario.get("weights").unwrap_or_default(),
            basis: Basis::Bounded,
            capacity_per_s: bound.capacity_per_s,
            gpus: bound.gpus,
            price_per_hour,
            per_hour: price_per_hour.times(bound.gpus as f64),
            ttft_p99_s: None,
            tpot_p99_s: None,
            e2e_p99_s: bound.e2e_s,
            binding: bound_by_form(resolved),
            binding_basis: Basis::Bounded,
            is_on_front: false,
            link: scenario.to_link(),
            place: 0,
        }
    }

    /// The same simulated; `None` where the target turns out to be missed.
    pub(super) fn simulated(&self, candidate: &Candidate, answer: &PlanAnswer) -> Option<Self> {
        let Verdict::Sized(fleet) = &answer.verdict else { return None };
        let planned = answer.planned.filter(|planned| planned.stable)?;
        let gpus = fleet.with_headroom.saturating_mul(self.gpus_each);
        let tail = |value: f64| planned.has_percentile(99.0).then_some(value);
        Some(Self {
            basis: Basis::Simulated,
            capacity_per_s: answer.capacity_per_s?.value,
            gpus,
            per_hour: candidate.price_per_hour.times(gpus as f64),
            ttft_p99_s: tail(planned.ttft_p99_s.value),
            tpot_p99_s: tail(planned.tpot_p99_s.value),
            e2e_p99_s: tail(planned.e2e_p99_s.value).unwrap_or(f64::INFINITY),
            ..self.clone()
        })
    }

    /// What rows are ranked by: dollars an hour at the typical price.
    #[must_use]
    pub const fn order(&self) -> f64 {
        self.per_hour.typical
    }
}

/// Mark simulated rows than which nothing that costs no more is faster. They are in order of cost, then
/// of latency.
pub(super) fn mark_front(rows: &mut [Alternative]) {
    let mut fastest_s = f64::INFINITY;
    for row in rows.iter_mut().filter(|row| row.basis == Basis::Simulated) {
        row.is_on_front = row.e2e_p99_s < fastest_s;
        if row.is_on_front {
            fastest_s = row.e2e_p99_s;
        }
    }
}
