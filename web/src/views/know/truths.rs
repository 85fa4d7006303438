//! The truths with their live counters.

use leptos::prelude::*;
use planner::{Truth, TruthKind};

use crate::{
    dom::{El, el},
    icons::Icon,
    state::State,
    strings,
};

/// The list. Its rows stay; their counters fill in.
pub(crate) fn truths(state: State) -> El {
    let rows: Vec<El> =
        TruthKind::ALL.iter().enumerate().map(|(index, &kind)| row(state, index, kind)).collect();
    super::panel("card panel know-truths", strings::TRUTHS, strings::TRUTHS_BESIDE)
        .child(el("ul").class("truths").child(rows))
}

fn row(state: State, index: usize, kind: TruthKind) -> El {
    let told = move |tell: fn(&Truth) -> String| {
        move || {
            state.proved.with(|proved| {
                let truth = proved.as_deref().and_then(|answer| answer.truths.get(index));
                truth.map(tell).unwrap_or_default()
            })
        }
    };
    let verdict = told(|truth| word(truth.state).to_owned());
    let figures = told(|truth| match &truth.problem {
        Some(problem) => problem.clone(),
        None => report::truth_figures(truth),
    });
    let marks = [("holds", Icon::Tick), ("fails", Icon::Cross)].map(|(name, icon)| {
        el("span").class("truth-mark").attr("data-mark", name).child(icon.el())
    });
    el("li").class("truth").attr_of("data-state", verdict).child(marks).child([
        el("span").class("truth-title").text(report::truth_title(kind)),
        el("span").class("hidden-but-read").text_of(move || strings::spoken_verdict(&verdict())),
        el("span").class("truth-figures").text_of(figures),
    ])
}

const fn word(state: planner::State) -> &'static str {
    match state {
        planner::State::Open => "open",
        planner::State::Holds => "holds",
        planner::State::Fails => "fails",
    }
}
