//! The answer in the same frame: mean lengths, no simulation.

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{
    LengthSpec, RequestSource, Rules, Setup, Slo,
    engine::{BLOCK_SIZE, Speculation, VllmRules},
    float::{greater, lesser},
    theory::{Fluid, WholeBatches, md1_wait_exceeded_s},
    workload::{RequestClass, RequestLengths},
};

use crate::{demand::Demand, fleet::gpus_for};

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
    /// About how many GPUs the asked load needs with headroom; `None` if no number will do.
    pub gpus: Option<u64>,
    /// The asked rate over all GPUs, at its peak; of a closed loop about what its users come to.
    pub asked_per_s: f64,
    /// About how many users of a closed loop one GPU sustains at the target.
    pub users: Option<f64>,
    /// Time to first token of a lone request.
    pub ttft_floor_s: f64,
    /// Time per output token of a lone request.
    pub tpot_floor_s: f64,
    /// Rate against the time to first token that 1 in 100 requests exceeds. Under continuous
    /// batching a lone prefill and the M/D/1 wait for other prefills: what the simulation shows
    /// above it is the cost of decoding. Under whole batches the wait for the batch under way and
    /// the step for the prompts.
    pub curve: Vec<(f64, f64)>,
}

/// Solve the closed forms of a scenario. A rate that changes over time counts with its peak.
#[must_use]
pub fn closed_form(resolved: &Resolved) -> ClosedForm {
    let setup = &resolved.setup;
    let tail = greater(1e-4, 1.0 - setup.slo.share);
    let kinds = kinds_of(setup);
    let form = Form::of(setup, &kinds);
    let ceiling_per_s = form.ceiling_per_s();
    let capacity_per_s = largest_rate(ceiling_per_s, |rate_per_s| {
        form.met_share(rate_per_s, &kinds, tail) >= setup.slo.share
    });
    let curve = (1..=CURVE_POINTS)
        .map(|index| {
            let rate_per_s = ceiling_per_s * f64::from(index) / f64::from(CURVE_POINTS);
            (rate_per_s, form.ttft_exceeded_s(rate_per_s, 0.01))
        })
        .filter(|(_, ttft_s)| ttft_s.is_finite())
        .collect();
    let fluid = fluid_of(setup);
    let users = users_at(resolved, &fluid, capacity_per_s);
    let (gpus, asked_per_s) = match (resolved.attendance.users(), users) {
        (Some(asked), Some(each)) if each > 0.0 => {
            let asked = asked as f64;
            (gpus_for(asked * (1.0 + resolved.headroom), each), asked / each * capacity_per_s)
        }
        (Some(_), _) => (None, 0.0),
        (None, _) => {
            let asked_per_s = asked_rate(setup);
            (gpus_for(asked_per_s * (1.0 + resolved.headroom), capacity_per_s), asked_per_s)
        }
    };
    ClosedForm {
        capacity_per_s,
        ceiling_per_s,
        gpus,
        asked_per_s,
        users,
        ttft_floor_s: fluid.lone_prefill_s(),
        tpot_floor_s: fluid.lone_decode_s(),
        curve,
    }
}

/// How many users come to a rate: each sends one request in the time to think and to be answered.
fn users_at(resolved: &Resolved, fluid: &Fluid, rate_per_s: f64) -> Option<f64> {
    let Demand::Users { think_s, on_schedule } = Demand::of(&resolved.attendance) else {
        return None;
    };
    if on_schedule {
        return Some(rate_per_s * think_s);
    }
    let (_, output_tokens) = resolved.setup.workload.source.mean_tokens();
    let answer_s = fluid
        .at(rate_per_s)
        .map_or(0.0, |point| point.prefill_s + point.tpot_s * greater(0.0, output_tokens - 1.0));
    Some(rate_per_s * (think_s + answer_s))
}

/// The closed form that suits the rules.
enum Form {
    Continuous(Fluid),
    Whole(WholeBatches),
}

impl Form {
    fn of(setup: &Setup, kinds: &[Kind]) -> Self {
        let Rules::WholeBatches { max_delay_s, .. } = setup.rules else {
            return Self::Continuous(fluid_of(setup));
        };
        let (input_tokens, _) = setup.workload.source.mean_tokens();
        let outputs = kinds.iter().map(|kind| (kind.share, kind.output)).collect();
        let limits = (setup.engine.max_num_seqs, max_delay_s);
        Self::Whole(WholeBatches::new(&setup.step_time, limits, input_tokens, outputs))
    }

    fn ceiling_per_s(&self) -> f64 {
        match self {
            Self::Continuous(fluid) => fluid.ceiling_per_s(),
            Self::Whole(batches) => batches.ceiling_per_s(),
        }
    }

    /// The time to first token in seconds that a share `tail` of the requests exceeds.
    fn ttft_exceeded_s(&self, rate_per_s: f64, tail: f64) -> f64 {
        match self {
            Self::Continuous(fluid) => {
                let prefill_s = fluid.lone_prefill_s();
                prefill_s + md1_wait_exceeded_s(rate_per_s, prefill_s, tail)
            }
            Self::Whole(batches) => batches.at(rate_per_s).map_or(f64::INFINITY, |point| {
                point.prefill_s + batches.wait_exceeded_s(rate_per_s, tail)
            }),
        }
    }

    /// Share of all requests within the target of their kind, 0 to 1, where times to first token
    /// count with what a share `tail` exceeds.
    fn met_share(&self, rate_per_s: f64, kinds: &[Kind], tail: f64) -> f64 {
        let share_of = |met: &dyn Fn(&Kind) -> f64| {
            kinds.iter().map(|kind| kind.share * met(kind)).sum::<f64>()
        };
        match self {
            Self::Continuous(fluid) => {
                let Some(point) = fluid.at(rate_per_s) else { return 0.0 };
                let wait_s = md1_wait_exceeded_s(rate_per_s, point.prefill_s, tail);
                let others_s = point.prefill_s - fluid.lone_prefill_s() + wait_s;
                // A class waits as all do, and then for its own prompt.
                share_of(&|kind| {
                    let ttft_s = others_s + kind.fluid.lone_prefill_s();
                    f64::from(kind.slo.is_met(ttft_s, point.tpot_s))
                })
            }
            Self::Whole(batches) => {
                let Some(point) = batches.at(rate_per_s) else { return 0.0 };
                let ttft_s = point.prefill_s + batches.wait_exceeded_s(rate_per_s, tail);
                share_of(&|kind| {
                    let in_time = f64::from(ttft_s <= kind.slo.ttft_s);
                    in_time * batches.within_tpot(&point, &kind.output, kind.slo.tpot_s)
                })
            }
        }
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
    /// How long its outputs are; the mean where they are recorded one by one.
    output: LengthSpec,
}

impl Kind {
    /// Tokens of output that a share of its requests stays within, 0 to 1.
    pub(crate) fn output_tokens_at(&self, share: f64) -> f64 {
        self.output.at(share)
    }
}

/// The kinds of request of a set-up, in the order of its classes.
pub(crate) fn kinds_of(setup: &Setup) -> Vec<Kind> {
    kinds_at(setup, None)
}

/// The same with lengths that a share of the requests stays within, 0 to 1, in place of mean ones;
/// lengths that are recorded together count with their means.
pub(crate) fn kinds_within(setup: &Setup, share: f64) -> Vec<Kind> {
    kinds_at(setup, Some(share))
}

fn kinds_at(setup: &Setup, share: Option<f64>) -> Vec<Kind> {
    let RequestSource::Mixed(mix) = setup.workload.source.whole() else {
        let output = match setup.workload.source.whole() {
            RequestSource::Generated { output, .. } => *output,
            source => fixed(source.mean_tokens().1),
        };
        let fluid = match (setup.workload.source.whole(), share) {
            (RequestSource::Generated { input, output, .. }, Some(share)) => {
                Fluid::new(&setup.step_time, setup.engine, input.at(share), output.at(share))
                    .with_speculation(speculation(setup))
            }
            _ => fluid_of(setup),
        };
        return vec![Kind { share: 1.0, slo: setup.slo, fluid, output }];
    };
    // One class has all requests: no rounding may take some of them.
    let total = if mix.classes.len() == 1 { None } else { Some(mix.total_weight()) };
    let kind = |class: &RequestClass| {
        let (input_tokens, output_tokens) = match (&class.lengths, share) {
            (RequestLengths::Independent { input, output }, Some(share)) => {
                // A conversation may have grown as long as it can.
                let history = class.sessions.map_or(0.0, |sessions| sessions.most_tokens as f64);
                (greater(input.at(share), history), output.at(share))
            }
            _ => class.mean_tokens(),
        };
        Kind {
            share: total.map_or(1.0, |total| class.weight / total),
            slo: class.slo,
            fluid: Fluid::new(&setup.step_time, setup.engine, input_tokens, output_tokens)
                .with_cached(cached_tokens(setup, class))
                .with_speculation(speculation(setup)),
            output: match class.lengths {
                RequestLengths::Independent { output, .. } => output,
                RequestLengths::Pairs(_) => fixed(output_tokens),
            },
        }
    };
    mix.classes.iter().map(kind).collect()
}

/// The highest rate per second that the closed form lets one GPU finish.
pub(crate) fn ceiling_of(setup: &Setup) -> f64 {
    Form::of(setup, &kinds_of(setup)).ceiling_per_s()
}

/// A length of whole tokens, one at least.
fn fixed(tokens: f64) -> LengthSpec {
    // A float beyond the range of u64 saturates.
    LengthSpec::Fixed { tokens: (libm::round(tokens) as u64).max(1) }
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
        .with_speculation(speculation(setup))
}

const fn speculation(setup: &Setup) -> Speculation {
    match setup.rules {
        Rules::Speculative(speculation) => speculation,
        _ => Speculation::NONE,
    }
}

/// Tokens of a prompt of mean length that the prefix cache holds: whole blocks of what prompts of
/// its class begin with or of the conversation before, but not the last token, whose logits are the
/// first of the output. A cache without limits, that is: what it has lost by then is not known.
fn cached_tokens(setup: &Setup, class: &RequestClass) -> f64 {
    let Rules::VllmV1(VllmRules { prefix_caching: true, .. }) = setup.rules else { return 0.0 };
    let prefix_tokens = class.shared_prefix.map_or(0.0, |prefix| prefix.tokens as f64);
    let known_tokens = greater(prefix_tokens, class.mean_history_tokens());
    let (input_tokens, _) = class.mean_tokens();
    let block_tokens = BLOCK_SIZE as f64;
    let found = lesser(known_tokens, input_tokens - 1.0);
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
