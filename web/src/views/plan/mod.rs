//! Plan: the answer, its knee, and where the numbers come from.

mod announcer;
mod answer_card;
mod card;
mod facts;
mod gauge;
mod knee_card;
mod knee_data;
mod knee_table;
mod ledger;
mod settings_panel;

use leptos::prelude::*;

pub(crate) use announcer::Announcer;
pub(crate) use settings_panel::settings_panel;

use answer_card::AnswerCard;
use knee_card::KneeCard;
use ledger::LedgerPanel;

use crate::{memo::memo, names, state::State, strings};

/// The main column.
#[component]
pub(crate) fn Plan(condensed: Signal<bool>) -> impl IntoView {
    view! {
        <h1 class="hidden-but-read">{strings::PAGE_HEADING}</h1>
        <AnswerCard condensed />
        <Chips />
        <KneeCard />
        <LedgerPanel />
    }
}

/// On a phone: what is set, each opening the sheet at its control.
#[component]
fn Chips() -> impl IntoView {
    let state = expect_context::<State>();
    let chip = move |control: &'static str, text: Memo<String>| {
        view! {
            <button type="button" class="chip" on:click=move |_| state.open_at(control)>
                <span>{move || text.get()}</span>
            </button>
        }
    };
    let told =
        move |tell: fn(&scenario::Scenario) -> String| memo(move |_| state.current.with(tell));
    view! {
        <div class="chips">
            {chip("model", told(|s| names::model_short(&s.model)))}
            {chip("gpu", told(|s| names::gpu_short(&s.gpu)))}
            {chip("in", told(strings::chip_lengths))}
            {chip("ttft", told(strings::chip_target))}
            {chip("headroom", told(|s| strings::with_headroom(s.headroom)))}
        </div>
    }
}
