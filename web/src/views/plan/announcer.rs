//! The one live region: it speaks the answer once it rests, and a run that takes long.

use leptos::prelude::*;

use super::{
    answer_card::card_memo,
    card::{Card, Size},
};
use crate::{
    browser::Debounce,
    dom::{El, el},
    memo::{effect, memo},
    names,
    state::{Activity, State, View},
    strings,
};

/// Rest before the answer is spoken.
const REST_MS: u64 = 500;
/// Time between two words about a long run.
const PATIENCE_MS: u64 = 10_000;

/// The region.
pub(crate) fn announcer() -> El {
    let state = expect_context::<State>();
    let said = RwSignal::new(String::new());
    let rest = Debounce::new(REST_MS);
    let card = card_memo(state);
    effect(move || {
        let text = match state.activity.get() {
            Activity::Running(..) => None,
            Activity::Stopped { message, .. } => Some(strings::stopped_because(&message)),
            Activity::NotLoaded => Some(strings::stopped_because(strings::NOT_LOADED)),
            _ if state.view.get() == View::Fleet => Some(state.fleet_said.get()),
            _ => Some(announcement(state, &card.get())),
        };
        match text {
            Some(text) => rest.call(move || said.set(text)),
            None => rest.cancel(),
        }
    });
    speak_of_long_runs(state, said);
    el("p")
        .class("hidden-but-read")
        .attr("role", "status")
        .attr("aria-live", "polite")
        .text_of(move || said.get())
}

fn announcement(state: State, card: &Card) -> String {
    let scenario = state.current.get_untracked();
    let ttft_s = state.answered.with_untracked(|answered| {
        let answered = answered.as_ref()?;
        let planned = answered.answer.planned?;
        let is_sure = answered.is_complete() && answered.is_of(&scenario);
        is_sure.then_some(planned.ttft_p99_s.value)
    });
    if card.size == Size::Words || card.hero == strings::UNKNOWN {
        return strings::no_number(card.word(), card.reason());
    }
    strings::announcement(&card.hero, &names::gpu_short(&scenario.gpu), ttft_s, &card.pill.text)
}

fn speak_of_long_runs(state: State, said: RwSignal<String>) {
    let long = Debounce::new(PATIENCE_MS);
    let is_running =
        memo(move |_| state.activity.with(|activity| matches!(activity, Activity::Running(..))));
    effect(move || {
        if is_running.get() {
            wait_and_say(state, said, long);
        } else {
            long.cancel();
        }
    });
}

fn wait_and_say(state: State, said: RwSignal<String>, long: Debounce) {
    long.call(move || {
        if let Activity::Running(done, total) = state.activity.get_untracked() {
            said.set(strings::still_running(done, total));
            wait_and_say(state, said, long);
        }
    });
}
