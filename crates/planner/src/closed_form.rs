//! The answer in the same frame: mean lengths, no simulation.

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{
    RequestSource, Rules, Setup, Slo,
    engine::{BLOCK_SIZE, VllmRules},
    float::{greater, lesser},
    theory::{Fluid, md1_wait_exceeded_s},
    workload::RequestClass,
};

use crate::fleet::gpus_for;

/// Points of the curve.
const CURVE_POINTS: u32 = 48;

/// What closed forms say. Rates per second on one GPU, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosedForm {
    /// About the largest rate one GPU sustains at the target; 0 if none. Means stand for the tail
    /// of TPOT, so it lies above the simulated capacity, by a few per cent up to a tenth.
    pub capacity_per_s: f64,
    /// About the highest rate one GPU can finish at all.
    pub ceiling_per_s: f64,
    /// About how many GPUs the asked rate needs with headroom; `None` if no number will do.
    pub gpus: Option<u64>,
    /// Time to first token of a lone request.
    pub ttft_floor_s: f64,
    /// Time per output token of a lone request.
    pub tpot_floor_s: f64,
    /// Rate against the time to first token that 1 in 100 requests exceeds: a lone prefill and the
    /// M/D/1 wait for other prefills. What the simulation shows above it is the cost of decoding.
    pub curve: Vec<(f64, f64)>,
}

/// Solve the closed forms of a scenario. A rate that changes over time counts with its peak.
#[must_use]
pub fn closed_form(resolved: &Resolved) -> ClosedForm {
    let setup = &resolved.setup;
    let fluid = fluid_of(setup);
    let tail = greater(1e-4, 1.0 - setup.slo.share);
    let ceiling_per_s = fluid.ceiling_per_s();
    let prefill_s = fluid.lone_prefill_s();
    let kinds = kinds_of(setup);
    let capacity_per_s = largest_rate(ceiling_per_s, |rate_per_s| {
        fluid.at(rate_per_s).is_some_and(|point| {
            let wait_s = md1_wait_exceeded_s(rate_per_s, point.prefill_s, tail);
            // A class waits as all do, and then for its own prompt.
            let is_met = |kind: &&Kind| {
                let ttft_s = point.prefill_s + kind.fluid.lone_prefill_s() - prefill_s + wait_s;
                kind.slo.is_met(ttft_s, point.tpot_s)
            };
            kinds.iter().filter(is_met).map(|kind| kind.share).sum::<f64>() >= setup.slo.share
        })
    });
    let curve = (1..=CURVE_POINTS)
        .map(|index| {
            let rate_per_s = ceiling_per_s * f64::from(index) / f64::from(CURVE_POINTS);
            (rate_per_s, prefill_s + md1_wait_exceeded_s(rate_per_s, prefill_s, 0.01))
        })
        .filter(|(_, ttft_s)| ttft_s.is_finite())
        .collect();
    ClosedForm {
        capacity_per_s,
        ceiling_per_s,
        gpus: gpus_for(asked_rate(setup) * (1.0 + resolved.headroom), capacity_per_s),
        ttft_floor_s: prefill_s,
        tpot_floor_s: fluid.lone_decode_s(),
        curve,
    }
}

/// One kind of request: a class, or all of them.
pub(crate) struct Kind {
    /// Share of all requests, 0 to 1.
    pub(crate) share: f64,
    /// Its target.
    pub(crate) slo: Slo,
    /// The engine with its mean lengths.
    pub(crate) fluid: Fluid,
}

/// The kinds of request of a set-up, in the order of its classes.
pub(crate) fn kinds_of(setup: &Setup) -> Vec<Kind> {
    let RequestSource::Mixed(mix) = setup.workload.source.whole() else {
        return vec![Kind { share: 1.0, slo: setup.slo, fluid: fluid_of(setup) }];
    };
    // One class has all requests: no rounding may take some of them.
    let total = if mix.classes.len() == 1 { None } else { Some(mix.total_weight()) };
    let kind = |class: &RequestClass| {
        let (input_tokens, output_tokens) = class.lengths.mean_tokens();
        Kind {
            share: total.map_or(1.0, |total| class.weight / total),
            slo: class.slo,
            fluid: Fluid::new(&setup.step_time, setup.engine, input_tokens, output_tokens)
                .with_cached(cached_tokens(setup, class)),
        }
    };
    mix.classes.iter().map(kind).collect()
}

/// The highest rate per second that the closed form lets one GPU finish.
pub(crate) fn ceiling_of(setup: &Setup) -> f64 {
    fluid_of(setup).ceiling_per_s()
}

/// The fluid of a set-up: lengths count with their means.
pub(crate) fn fluid_of(setup: &Setup) -> Fluid {
    let (input_tokens, output_tokens) = setup.workload.source.mean_tokens();
    let cached_tokens = match setup.workload.source.whole() {
        RequestSource::Mixed(mix) => {
            let weighted = |class: &RequestClass| class.weight * cached_tokens(setup, class);
            mix.classes.iter().map(weighted).sum::<f64>() / mix.total_weight()
        }
        _ => 0.0,
    };
    Fluid::new(&setup.step_time, setup.engine, input_tokens, output_tokens)
        .with_cached(cached_tokens)
}

/// Tokens of a prompt of mean length that the prefix cache holds: whole blocks of what prompts of
/// its class begin with, but not the last token, whose logits are the first of the output.
fn cached_tokens(setup: &Setup, class: &RequestClass) -> f64 {
    let Rules::VllmV1(VllmRules { prefix_caching: true, .. }) = setup.rules else { return 0.0 };
    let Some(prefix) = class.shared_prefix else { return 0.0 };
    let (input_tokens, _) = class.lengths.mean_tokens();
    let block_tokens = BLOCK_SIZE as f64;
    let found = lesser(prefix.tokens as f64, input_tokens - 1.0);
    block_tokens * libm::floor(greater(found, 0.0) / block_tokens)
}

/// The rate that the set-up asks for, at its peak; a replay has none of its own.
pub(crate) fn asked_rate(setup: &Setup) -> f64 {
    match setup.workload.source.whole() {
        RequestSource::Mixed(mix) => {
            setup.workload.source.rate_per_s().unwrap_or(0.0) * mix.arrivals.profile.peak_factor()
        }
        _ => setup.workload.source.rate_per_s().unwrap_or(0.0),
    }
}

/// The largest rate up to `ceiling_per_s` at which `holds`, which is true up to some rate.
fn largest_rate(ceiling_per_s: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, ceiling_per_s);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    lesser(low, ceiling_per_s)
}
