//! What has to be known of traffic that is more than one kind of request at a steady rate, and of runs
//! too short for what is read from them.

use leptos::prelude::*;

use crate::{
    dom::{El, el},
    memo::memo,
    state::State,
    strings,
};

/// Between two remarks in one text: nothing that a sentence holds.
const BETWEEN: char = '\n';

/// The remarks about the last answer. While another one is simulated they stay, dimmed, unless the
/// traffic is of one steady kind now.
pub(crate) fn remarks(state: State) -> El {
    let told = memo(move |before: Option<&String>| {
        let scenario = state.current.get();
        let is_plain = scenario.classes.is_empty()
            && scenario.bursts.is_none()
            && !scenario.changes_over_time()
            && !scenario.reacts();
        state.answered.with(|answered| match answered {
            Some(answered) if answered.is_of(&scenario) => {
                report::remarks(&answered.answer, &scenario).join(&BETWEEN.to_string())
            }
            _ if is_plain => String::new(),
            _ => before.cloned().unwrap_or_default(),
        })
    });
    // What is told of the settings before, or by one run, is dimmed.
    let is_stale = move || {
        let scenario = state.current.get();
        let is_of_now = state.answered.with(|answered| {
            answered.as_ref().is_some_and(|last| last.is_complete() && last.is_of(&scenario))
        });
        !is_of_now
    };
    let line = |text: &str| el("li").text(text);
    let lines = move || {
        told.with(|told| {
            told.split(BETWEEN).filter(|text| !text.is_empty()).map(line).collect::<Vec<El>>()
        })
    };
    el("section")
        .class("card remarks")
        .attr("aria-label", strings::REMARKS)
        .class_of("stale", is_stale)
        .flag_of("hidden", move || told.with(String::is_empty))
        .child(el("ul").region(lines))
}
