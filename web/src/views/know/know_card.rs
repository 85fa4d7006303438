//! The verdict: how many truths hold, how long that took, and once more.

use leptos::{ev, prelude::*};
use planner::ProofAnswer;

use crate::{
    dom::{El, el},
    icons::Icon,
    state::State,
    strings,
};

/// The card.
pub(crate) fn know_card(state: State) -> El {
    let hero = told(state, |answer| quantity::count(answer.count(planner::State::Holds) as u64));
    let headline = told(state, |answer| strings::of_truths_hold(answer.truths.len()));
    let extent = told(state, report::know_extent);
    let print = told(state, |answer| format!("{:016x}", answer.fingerprint));
    let command = told(state, |answer| strings::know_command(answer.seed));
    let text = el("div").class("answer-text").child([
        el("p").class("headline").text_of(headline),
        el("p").class("qualifier").text_of(move || strings::know_when(state.proof_ms.get())),
    ]);
    let left = el("div").class("know-verdict").child([el("p").class("hero").text_of(hero), text]);
    let evidence = el("div").class("know-evidence").child([
        el("p").text_of(extent),
        el("p")
            .text(strings::FINGERPRINT)
            .child(el("code").attr("id", "fingerprint").text_of(print))
            .text(strings::SAME_AS)
            .child(el("code").text_of(command)),
    ]);
    let again = el("button")
        .attr("type", "button")
        .class("button")
        .on(ev::click, move |_| state.prove())
        .text(strings::RUN_AGAIN);
    el("section")
        .class("card know-card")
        .attr("id", "answer")
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .child([progress(state), left, evidence])
        .child(el("div").class("know-actions").region(move || pill(state)).child(again))
}

/// A text of the proof; empty before there is one.
fn told(state: State, tell: fn(&ProofAnswer) -> String) -> impl Fn() -> String + Copy + 'static {
    move || state.proved.with(|proved| proved.as_deref().map(tell).unwrap_or_default())
}

fn pill(state: State) -> El {
    let (tone, icon, text) = state.proved.with(|proved| match proved.as_deref() {
        Some(answer) if answer.count(planner::State::Fails) > 0 => {
            ("bad", Some(Icon::Cross), strings::DOES_NOT_HOLD.to_owned())
        }
        Some(answer) if answer.is_complete() => {
            ("ok", Some(Icon::Tick), strings::ALL_HOLD.to_owned())
        }
        Some(answer) => ("run", None, strings::percent_done(answer.done, answer.total)),
        None => ("run", None, strings::percent_done(0, 1)),
    });
    el("p")
        .class("pill")
        .attr("role", "status")
        .attr("data-tone", tone)
        .child(icon.map(Icon::el))
        .child(el("span").class("pill-text").text(&text))
}

fn progress(state: State) -> El {
    let done = move || {
        let (done, total) = state
            .proved
            .with(|proved| proved.as_deref().map_or((0, 1), |answer| (answer.done, answer.total)));
        let thousandths = u64::from(done) * 1_000 / u64::from(total.max(1));
        format!("calc({thousandths} / 1000)")
    };
    let is_on = move || {
        state.proved.with(|proved| proved.as_deref().is_none_or(|answer| !answer.is_complete()))
    };
    el("div")
        .class("progress")
        .attr("aria-hidden", "true")
        .truth_of("data-on", is_on)
        .style_of("--done", done)
}
