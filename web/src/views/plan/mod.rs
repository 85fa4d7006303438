//! Plan: the answer, its knee, and where the numbers come from.

mod announcer;
mod answer_card;
pub(crate) mod card;
pub(crate) mod decisions;
pub(crate) mod fact;
mod facts;
mod gauge;
mod knee_card;
mod knee_data;
mod knee_files;
mod knee_table;
mod ledger;
mod memory_bar;
pub(crate) mod pools_card;
pub(crate) mod recorded;
mod recording_group;
pub(crate) mod refused;
mod remarks;
mod settings_groups;
mod settings_panel;

use leptos::{ev, prelude::*};

pub(crate) use announcer::announcer;
pub(crate) use answer_card::{ANSWER_ID, answer_card};
pub(crate) use knee_table::column_names;
pub(crate) use recording_group::recording_group;
pub(crate) use settings_groups::PROFILES;
pub(crate) use settings_panel::{control_set, differs, of_kind, settings_panel, share_choice};

use answer_card::card_memo;
use knee_card::knee_card;
use ledger::ledger_panel;
use remarks::remarks;

use crate::{
    dom::{El, Nodes, el},
    late::{self, Stage},
    memo::memo,
    names,
    state::State,
    strings,
};

/// The main column.
pub(crate) fn plan(condensed: Signal<bool>) -> Nodes {
    let heading = el("h1").class("hidden-but-read").text(strings::PAGE_HEADING);
    let state = expect_context::<State>();
    let card = card_memo(state);
    let has_pools = memo(move |_| state.current.with(|now| now.disagg.is_asked_for()));
    let pools = move || {
        if has_pools.get() {
            let instead = |text: &str, action| late::card("pools", text, action);
            state.late.view(strings::VIEW_NOT_LOADED, instead, || pools_card::pools_card(state))
        } else {
            Nodes::default()
        }
    };
    [
        heading,
        answer_card(card, condensed),
        chips(state),
        remarks(state),
        knee_card(card),
        el("div").class("pools-place").region(pools),
        el("div").class("decisions").region(move || beside(state)),
        ledger_panel(card),
    ]
    .into()
}

/// What is asked beside the plan, once the late part is there or has failed to come; until then nobody
/// waits for it.
fn beside(state: State) -> Nodes {
    match state.late.stage.get() {
        Stage::Absent | Stage::Loading => Nodes::default(),
        _ => state.late.view(strings::VIEW_NOT_LOADED, late::note, || decisions::decisions(state)),
    }
}

/// On a phone: what is set, each opening the sheet at its control.
fn chips(state: State) -> El {
    let chip = move |control: &'static str, tell: fn(&scenario::Scenario) -> String| {
        el("button")
            .attr("type", "button")
            .class("chip")
            .on(ev::click, move |_| state.open_at(control))
            .child(el("span").text_of(move || state.current.with(tell)))
    };
    el("div").class("chips").child([
        chip("model", |s| names::model_short(&s.model)),
        chip("gpu", |s| names::gpu_short(&s.gpu)),
        chip("in", strings::chip_lengths),
        chip("ttft", strings::chip_target),
        chip("headroom", |s| report::with_headroom(s.headroom)),
    ])
}
