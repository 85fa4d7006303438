//! Prefill and decode on replicas of their own, beside as many replicas that do both.

use std::sync::Arc;

use leptos::prelude::*;
use protocol::{PoolsAnswer, PoolsAsked, PoolsOutcome, PoolsSeen};
use quantity::{duration, rate, share};

use crate::{
    browser::Debounce,
    dom::{El, Nodes, el},
    memo::effect,
    recording::Seldom,
    state::State,
    strings,
    views::know::{row, table},
};

/// Rest after a change before the pools are simulated, in milliseconds.
const REST_MS: u64 = 300;

/// The card. It asks for its numbers whenever what they are of has changed.
///
/// The only way to what is in here, and never inlined: the page loads it when somebody has pools.
#[inline(never)]
pub(crate) fn pools_card(state: State) -> Nodes {
    pools_card_late(state)
}

#[inline(never)]
fn pools_card_late(state: State) -> Nodes {
    let rest = Debounce::new(REST_MS);
    effect(move || {
        state.resolution.track();
        state.recorded_per_s.track();
        let is_held = state.dragging.get();
        state.pools_are_stale.set(true);
        if !is_held {
            rest.call(move || ask(state));
        }
    });
    let told = move || {
        state.pools.with(|kept| match kept.as_ref().and_then(|kept| kept.downcast_ref()) {
            None => vec![el("p").class("control-help").text(strings::LOADING)],
            Some(PoolsOutcome::Err(message)) => vec![el("p").class("pools-refused").text(message)],
            Some(PoolsOutcome::Ok(answer)) => describe(answer),
        })
    };
    let told = el("div")
        .class("pools-told")
        .class_of("stale", move || state.pools_are_stale.get())
        .region(told);
    let head = el("div").class("panel-head").child([
        el("h2").class("panel-title").text(strings::POOLS_TITLE),
        el("span").class("panel-sub").text_of(move || {
            state.current.with(|now| strings::pools_subtitle(now.disagg.prefill, now.disagg.decode))
        }),
    ]);
    el("section")
        .class("card panel pools")
        .attr("aria-label", strings::POOLS_TITLE)
        .child([head, told])
        .into()
}

/// What came of the pools; a door, as thin as can be.
#[inline(never)]
pub(crate) fn take(state: State, packed: &[u8]) {
    take_late(state, packed);
}

#[inline(never)]
fn take_late(state: State, packed: &[u8]) {
    let outcome: Option<PoolsOutcome> = protocol::unpack(packed);
    state.pools.set(outcome.map(|outcome| Arc::new(outcome) as Seldom));
    state.pools_are_stale.set(false);
}

fn ask(state: State) {
    let Some(asked) = state.question(false) else { return };
    let disagg = asked.resolution.scenario.disagg;
    let pools = PoolsAsked {
        prefill: disagg.prefill,
        decode: disagg.decode,
        link_gbps: disagg.link_gbps,
        latency_s: disagg.latency_s,
    };
    state.with_client(|client| client.pools(asked.question, pools));
}

fn describe(answer: &PoolsAnswer) -> Vec<El> {
    let PoolsAnswer { asked, requests, busy, sent, apart, together } = answer;
    let prefill = (asked.prefill as usize, busy.0);
    let decode = (asked.decode as usize, busy.1);
    let mut lines = vec![report::run_pools(prefill, decode)];
    if let Some(sent) = sent {
        let times = (sent.mean_s, sent.wait_s);
        lines.push(report::run_transfers(sent.caches, sent.mean_bytes, times, sent.links_busy));
    }
    if apart.is_overloaded || together.is_overloaded {
        let which = (apart.is_overloaded, together.is_overloaded);
        lines.push(report::pools_overloaded(which).to_owned());
    }
    lines.push(strings::pools_finite(*requests));
    let (apart, together) = (*apart, *together);
    let rows = move || {
        FIGURES
            .iter()
            .map(|(name, tell)| row(name, &[tell(&apart), tell(&together)]))
            .collect::<Vec<El>>()
    };
    let line = |text: &String| el("li").text(text);
    vec![
        el("ul").class("words").child(lines.iter().map(line).collect::<Vec<_>>()),
        table(strings::POOLS_TABLE, &strings::POOLS_COLUMNS, rows),
    ]
}

type Figure = (&'static str, fn(&PoolsSeen) -> String);

/// The rows of the comparison.
const FIGURES: [Figure; 7] = [
    (strings::TTFT_P50, |seen| latency(seen, seen.ttft_p50_s)),
    (strings::TTFT_P99, |seen| latency(seen, seen.ttft_p99_s)),
    (strings::TPOT_P50, |seen| latency(seen, seen.tpot_p50_s)),
    (strings::TPOT_P99, |seen| latency(seen, seen.tpot_p99_s)),
    (strings::ITL_P99, |seen| latency(seen, seen.itl_p99_s)),
    (strings::GOODPUT, |seen| rate(seen.goodput_per_s)),
    (strings::WITHIN_TARGET, |seen| share(seen.slo_share)),
];

/// A latency, or why there is none: under overload it only tells how long one watched.
fn latency(seen: &PoolsSeen, value_s: Option<f64>) -> String {
    match value_s {
        _ if seen.is_overloaded => strings::withheld(false).to_owned(),
        Some(value_s) => duration(value_s),
        None => strings::UNKNOWN.to_owned(),
    }
}
