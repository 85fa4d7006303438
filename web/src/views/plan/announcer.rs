//! The one live region: it speaks the answer once it rests, and a run that takes long.

use leptos::prelude::*;

use super::answer_card::card_memo;
use crate::{
    browser::Debounce,
    memo::memo,
    names,
    state::{Activity, State},
    strings,
};

/// Rest before the answer is spoken.
const REST_MS: u64 = 500;
/// Time between two words about a long run.
const PATIENCE_MS: u64 = 10_000;

/// The region.
#[component]
pub(crate) fn Announcer() -> impl IntoView {
    let state = expect_context::<State>();
    let said = RwSignal::new(String::new());
    let rest = Debounce::new(REST_MS);
    let card = card_memo(state);
    Effect::watch(
        move || (card.get(), state.activity.get()),
        move |(card, activity), _, _| {
            let text = match activity {
                Activity::Running(..) => {
                    rest.cancel();
                    return;
                }
                Activity::Stopped { message, .. } => strings::stopped_because(message),
                _ => {
                    let scenario = state.current.get_untracked();
                    let ttft = state.answered.with_untracked(|answered| {
                        let answered = answered.as_ref()?;
                        let planned = answered.answer.planned?;
                        (answered.scenario == scenario).then_some(planned.ttft_p99_s.value)
                    });
                    strings::announcement(
                        &card.hero,
                        &names::gpu_short(&scenario.gpu),
                        ttft,
                        &card.pill.text,
                    )
                }
            };
            rest.call(move || said.set(text));
        },
        true,
    );
    speak_of_long_runs(state, said);
    view! {
        <p class="hidden-but-read" role="status" aria-live="polite">
            {move || said.get()}
        </p>
    }
}

fn speak_of_long_runs(state: State, said: RwSignal<String>) {
    let long = Debounce::new(PATIENCE_MS);
    let is_running =
        memo(move |_| state.activity.with(|activity| matches!(activity, Activity::Running(..))));
    Effect::new(move |_| {
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
