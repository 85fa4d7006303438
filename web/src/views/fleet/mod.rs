//! Fleet: traffic over time, an autoscaler, what starts take, and what goes wrong.

mod card;
mod data;
mod files;
mod policies;
mod settings_panel;
mod timeline;
mod windows;

use std::sync::Arc;

use leptos::prelude::*;
use protocol::{FleetAnswer, FleetAsked, FleetNews, FleetRow, LongAsked};
use scenario::Scenario;

use super::plan::answer_card;
use crate::{
    dom::{El, Nodes, el},
    memo::{effect, memo},
    recording::Seldom,
    state::{Activity, State},
    strings,
};

/// Parts of a run that its progress is told in.
const PARTS: u64 = 1000;

/// What is known of fleets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    /// The scenario that was asked about last.
    asked: Scenario,
    /// The last answer, and the scenario that it answers.
    answered: Option<(Scenario, FleetAnswer)>,
    /// Other policies on the same traffic, in the order in which they were tried.
    rows: Vec<FleetRow>,
    /// Whether nothing more will come.
    is_complete: bool,
}

impl Shown {
    /// What is kept; nothing at first.
    fn of(state: State) -> Option<Arc<Self>> {
        let kept = state.fleet.get()?;
        kept.downcast::<Self>().ok()
    }

    /// The answer of the present scenario, if there is one.
    fn current(&self, now: &Scenario) -> Option<&FleetAnswer> {
        self.answered.as_ref().filter(|(of, _)| of == now).map(|(_, answer)| answer)
    }
}

/// The main column.
///
/// A door, as thin as can be: the page loads what is behind it when somebody comes.
#[inline(never)]
pub(crate) fn fleet(state: State, condensed: Signal<bool>) -> Nodes {
    fleet_late(state, condensed)
}

#[inline(never)]
fn fleet_late(state: State, condensed: Signal<bool>) -> Nodes {
    let shown = memo(move |_| Shown::of(state));
    let card = memo(move |_| {
        let resolution = state.resolution.get();
        let is_quick = state.is_quick();
        let shown = shown.get();
        state.activity.with(|now| card::card(&resolution, shown.as_deref(), now, is_quick))
    });
    effect(move || {
        let said = card
            .with(|card| strings::fleet_announcement(&card.hero, &card.headline, &card.pill.text));
        state.fleet_said.set(said);
    });
    let right = el("div").class("fleet-column").child(policies::policies(state, shown));
    let columns = el("div").class("fleet-columns").child([timeline::timeline(state, shown), right]);
    [
        el("h1").class("hidden-but-read").text(strings::FLEET_HEADING),
        answer_card(card, condensed),
        chips(state),
        columns,
    ]
    .into()
}

/// On a phone: what is set, each opening the sheet at its control.
fn chips(state: State) -> El {
    let chip = move |control: &'static str, tell: fn(&Scenario) -> String| {
        el("button")
            .attr("type", "button")
            .class("chip")
            .on(leptos::ev::click, move |_| state.open_at(control))
            .child(el("span").text_of(move || state.current.with(tell)))
    };
    el("div").class("chips").child([
        chip("rate", |s| quantity::rate(s.rate_per_s)),
        chip("fleet-policy", |s| strings::fleet_policy(s.fleet.policy_word()).to_owned()),
        chip("fleet-min", |s| strings::fleet_bounds(s.fleet.min, s.fleet.max)),
        chip("fleet-start", |s| strings::fleet_start(s.fleet.start_s)),
    ])
}

/// The controls of the view; a door.
#[inline(never)]
pub(crate) fn settings(state: State) -> Nodes {
    settings_panel::settings_panel(state)
}

/// Has the present fleet simulated, unless it is already; a door.
#[inline(never)]
pub(crate) fn ask(state: State) {
    ask_late(state);
}

#[inline(never)]
fn ask_late(state: State) {
    let now = state.current.get_untracked();
    let shown = untrack(|| Shown::of(state));
    if shown.as_deref().is_some_and(|shown| shown.is_complete && shown.current(&now).is_some()) {
        state.activity.set(Activity::Idle);
        return;
    }
    if let Err(error) = now.check_fleet() {
        state.activity.set(Activity::Refused(error.to_string()));
        return;
    }
    let Some(asked) = state.question(false) else {
        // The scenario itself says why it has no answer.
        state.activity.set(Activity::Idle);
        return;
    };
    let spec = now.fleet;
    let asked = FleetAsked {
        question: asked.question,
        spec,
        gpus_per_replica: now.gpus_per_engine(),
        compares: true,
    };
    let packed = protocol::pack(&LongAsked::Fleet(Box::new(asked)));
    let answered = shown.as_deref().and_then(|shown| shown.answered.clone());
    let rows = Vec::new();
    let shown = Shown { asked: now, answered, rows, is_complete: false };
    state.fleet.set(Some(Arc::new(shown) as Seldom));
    if !matches!(state.activity.get_untracked(), Activity::Stopped { .. }) {
        state.activity.set(Activity::Running(0, PARTS as u32));
    }
    state.with_client(|client| client.long(packed));
}

/// Takes what a worker tells of the fleet; a door.
#[inline(never)]
pub(crate) fn take(state: State, packed: &[u8], is_complete: bool) {
    take_late(state, packed, is_complete);
}

#[inline(never)]
fn take_late(state: State, packed: &[u8], is_complete: bool) {
    let Some(news) = protocol::unpack::<FleetNews>(packed) else { return };
    let Some(shown) = untrack(|| Shown::of(state)) else { return };
    let mut shown = Shown::clone(&shown);
    shown.is_complete = is_complete;
    match news {
        FleetNews::Progress(done, all) => {
            if shown.current(&shown.asked).is_none() {
                let part = done.saturating_mul(PARTS) / all.max(1);
                state.activity.set(Activity::Running(part as u32, PARTS as u32));
            }
            return;
        }
        FleetNews::Refused(message) => {
            shown.answered = None;
            state.activity.set(Activity::Refused(message));
        }
        FleetNews::Answer(answer) => {
            shown.answered = Some((shown.asked.clone(), *answer));
            state.activity.set(Activity::Idle);
        }
        FleetNews::Row(row) => shown.rows.push(*row),
    }
    state.fleet.set(Some(Arc::new(shown) as Seldom));
}
