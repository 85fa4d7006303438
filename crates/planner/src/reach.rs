//! Whether an engine that does nothing else meets a target, in closed form.
//!
//! A plan finds that out by a run. Where a scenario cannot run at all, the changes that would let it
//! run are many, and the page asks for them while a slider moves; so each is judged by what its
//! longest requests take alone. A share of `1 - (1 - s) / 2` of the prompts and as many of the answers
//! are no longer than the lengths that are looked at, so that at least the target's share `s` of the
//! requests takes no longer, whatever goes with what. What is said to be met is met in a run, too.

use scenario::{Remedy, Resolved, Scenario, field};
use sim_core::{
    ArrivalProcess, RequestSource, Rules, Setup,
    clients::{Awaited, ClientTime, Patience, PatienceTime},
    float::greater,
};

use crate::{
    closed_form::{Kind, kinds_within},
    remedies::{EASES, key_of, milliseconds, two_digits_up},
};

/// How much longer a run may take than the closed form says, which spreads a prompt evenly over its
/// steps; with drafts, how many are kept varies from request to request.
const MARGIN: f64 = 1.05;
const MARGIN_OF_DRAFTS: f64 = 1.25;

/// Gaps of a smaller shape are so often next to nothing that requests meet even where they are few.
const LEAST_SHAPE: f64 = 0.5;

/// Whether at least the target's share of the requests meets it while the engine does nothing else.
pub(crate) fn is_met(resolved: &Resolved) -> bool {
    let setup = &resolved.setup;
    if is_bursty(&setup.workload.source) {
        return false;
    }
    let patience = resolved.attendance.clients.patience;
    longest_kinds(setup).iter().enumerate().all(|(index, kind)| {
        let (ttft_s, tpot_s) = floors_s(setup, kind);
        ttft_s <= kind.slo.ttft_s
            && tpot_s <= kind.slo.tpot_s
            && patience.is_none_or(|patience| is_awaited(&patience, setup, (index, kind)))
    })
}

/// The change with every target moved that an idle engine would still miss, if that is enough.
pub(crate) fn with_targets(scenario: &Scenario, change: &Remedy) -> Option<Remedy> {
    let mut changed = scenario.clone();
    for (key, value) in change.changes() {
        changed.set(key, value).ok()?;
    }
    let resolved = changed.resolve().ok()?;
    let mut remedy = change.clone();
    remedy.effect.push_str(", with a target that can be met");
    for (index, kind) in longest_kinds(&resolved.setup).iter().enumerate() {
        let (ttft_s, tpot_s) = floors_s(&resolved.setup, kind);
        let targets = [("ttft", kind.slo.ttft_s, ttft_s), ("tpot", kind.slo.tpot_s, tpot_s)];
        for (name, target_s, floor_s) in targets {
            if floor_s <= target_s {
                continue;
            }
            let us = two_digits_up((floor_s * EASES[0].0 * 1e6).ceil() as u64);
            if us as f64 / 1e3 > field(name)?.max {
                return None;
            }
            let key = key_of(resolved.classes.get(index), name);
            let value = milliseconds(us);
            changed.set(&key, &value).ok()?;
            remedy = remedy.with(&key, &value);
        }
    }
    is_met(&changed.resolve().ok()?).then_some(remedy)
}

/// The kinds of request with the lengths that count for the target's share.
fn longest_kinds(setup: &Setup) -> Vec<Kind> {
    kinds_within(setup, within(setup))
}

fn within(setup: &Setup) -> f64 {
    1.0 - 0.5 * (1.0 - setup.slo.share)
}

/// Time to first token and time per output token of a lone request, in seconds, at most.
fn floors_s(setup: &Setup, kind: &Kind) -> (f64, f64) {
    let (margin, delay_s) = match setup.rules {
        Rules::Speculative(_) => (MARGIN_OF_DRAFTS, 0.0),
        Rules::WholeBatches { max_delay_s, .. } => (MARGIN, max_delay_s),
        _ => (MARGIN, 0.0),
    };
    (margin * kind.fluid.lone_prefill_s() + delay_s, margin * kind.fluid.lone_decode_s())
}

/// Whether clients stay until they have what they wait for.
fn is_awaited(patience: &Patience, setup: &Setup, (index, kind): (usize, &Kind)) -> bool {
    let (ttft_s, tpot_s) = floors_s(setup, kind);
    let after_s = match patience.awaits {
        Awaited::FirstToken => 0.0,
        Awaited::Answer => tpot_s * greater(0.0, kind.output_tokens_at(within(setup)) - 1.0),
    };
    ttft_s + after_s <= surely_waits_s(patience, setup, index)
}

/// How long every client of a kind waits, in seconds; nothing where it is a matter of chance.
fn surely_waits_s(patience: &Patience, setup: &Setup, index: usize) -> f64 {
    let time = match (patience.time, setup.workload.source.whole()) {
        (PatienceTime::Same(time), _) => Some(time),
        (PatienceTime::OfClass, RequestSource::Mixed(mix)) => {
            mix.classes.get(index).and_then(|class| class.patience)
        }
        (PatienceTime::OfClass, _) => None,
    };
    match time {
        None => f64::INFINITY,
        Some(ClientTime::Fixed { mean_s }) => mean_s,
        Some(ClientTime::Exponential { .. } | ClientTime::LogNormal { .. }) => 0.0,
    }
}

fn is_bursty(source: &RequestSource) -> bool {
    let process = match source.whole() {
        RequestSource::Generated { process, .. } => *process,
        RequestSource::Mixed(mix) => mix.arrivals.process,
        _ => return false,
    };
    matches!(process, ArrivalProcess::Gamma { shape } if shape < LEAST_SHAPE)
}
