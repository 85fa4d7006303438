//! Before anything is pinned: what the view is for, and pairs worth a look.

use leptos::{ev, prelude::*};
use scenario::Scenario;

use crate::{
    dom::{El, Nodes, el},
    memo::memo,
    state::State,
    strings,
    views::plan::ANSWER_ID,
};

/// A pair: its name, why it is worth a look, and the settings of A and of B.
struct Pair {
    name: &'static str,
    why: &'static str,
    settings: [&'static [(&'static str, &'static str)]; 2],
}

/// Each changes one thing, on both sides by the same rules.
const PAIRS: [Pair; 4] = [
    Pair {
        name: strings::PAIR_WEIGHTS,
        why: strings::PAIR_WEIGHTS_WHY,
        settings: [&[("weights", "bf16")], &[("weights", "fp8")]],
    },
    Pair {
        name: strings::PAIR_TP,
        why: strings::PAIR_TP_WHY,
        settings: [&[("deploy.tp", "1")], &[("deploy.tp", "2")]],
    },
    Pair {
        name: strings::PAIR_GPU,
        why: strings::PAIR_GPU_WHY,
        settings: [&[("gpu", "h100-sxm")], &[("gpu", "h200-sxm")]],
    },
    Pair {
        name: strings::PAIR_BUDGET,
        why: strings::PAIR_BUDGET_WHY,
        settings: [
            &[("sched.max_num_batched_tokens", "2048")],
            &[("sched.max_num_batched_tokens", "8192")],
        ],
    },
];

impl Pair {
    /// Both sides of the present scenario; none where one of them does not run.
    fn of(&self, now: &Scenario) -> Option<[Scenario; 2]> {
        let with = |settings: &[(&str, &str)]| {
            let mut scenario = now.clone();
            let is_set = settings.iter().all(|(key, value)| scenario.set(key, value).is_ok());
            (is_set && scenario.resolve().is_ok()).then_some(scenario)
        };
        let [first, second] = self.settings;
        Some([with(first)?, with(second)?])
    }
}

/// The card.
pub(super) fn empty(state: State) -> Nodes {
    let pin = el("button")
        .attr("type", "button")
        .class("button button-filled")
        .on(ev::click, move |_| super::pin(state))
        .text(strings::PIN_THIS);
    let offered = memo(move |_| {
        let now = state.scenario.get();
        PAIRS.iter().map(|pair| pair.of(&now)).collect::<Vec<_>>()
    });
    let pairs = move || {
        let row = |(pair, both): (&'static Pair, &Option<[Scenario; 2]>)| {
            both.clone().map(|both| offer(state, pair, both))
        };
        offered.with(|offered| PAIRS.iter().zip(offered).filter_map(row).collect::<Vec<El>>())
    };
    el("section")
        .class("card compare-empty")
        .attr("id", ANSWER_ID)
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .child([
            el("h2").class("compare-empty-title").text(strings::NOTHING_PINNED),
            el("p").class("compare-empty-text").text(strings::NOTHING_PINNED_MORE),
            pin,
            el("h3").class("compare-empty-or").text(strings::PAIRS_TITLE),
            el("ul").class("compare-pairs").region(pairs),
        ])
        .into()
}

fn offer(state: State, pair: &'static Pair, both: [Scenario; 2]) -> El {
    let [first, second] = both;
    let take = move |_| {
        super::set(state, Some(&first), second.clone());
        state.toast.set(Some(strings::PAIR_SET.to_owned()));
        crate::browser::catch_focus(ANSWER_ID);
    };
    let button =
        el("button").attr("type", "button").class("compare-pair").on(ev::click, take).child([
            el("span").class("compare-pair-name").text(pair.name),
            el("span").class("compare-pair-why").text(pair.why),
        ]);
    el("li").child(button)
}
