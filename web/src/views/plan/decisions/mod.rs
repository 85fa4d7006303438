//! What is asked beside the plan: what it costs, what holds it back, what else would do, and how far it
//! moves. All of it comes late.
//!
//! A worker works on one long question at a time, and on none while there is a plan to make. Those whose
//! panel is open are asked one after the other once the plan stands; another scenario drops whatever is
//! under way, and what was found stays, dimmed, until there is something newer.

mod alternatives;
mod bars;
mod cost;
mod costs_chart;
mod demand;
mod panel;
mod tornado;
mod why;
mod words;

use std::sync::Arc;

use leptos::prelude::*;
use protocol::{Decision, DecisionAsked, DecisionNews, LongAsked};
use scenario::Scenario;

use crate::{
    browser::{Debounce, now_ms},
    dom::{Nodes, el},
    memo::effect,
    recording::Seldom,
    state::{Activity, State, View},
    worker_client::Client,
};

pub(crate) use demand::demand;

/// Rest after a change before anything is asked, in milliseconds.
const REST_MS: u64 = 300;
/// How many kinds of questions there are.
const KINDS: usize = 4;

/// A kind of question; also its place among what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Why,
    Alternatives,
    Sensitivity,
    Job,
}

impl Kind {
    const ALL: [Self; KINDS] = [Self::Job, Self::Why, Self::Alternatives, Self::Sensitivity];

    /// Whether the answer depends on prices.
    const fn is_of_money(self) -> bool {
        matches!(self, Self::Alternatives | Self::Sensitivity)
    }
}

/// What a question was about.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    scenario: Scenario,
    /// What the link says beside the scenario, where the answer depends on it.
    words: String,
    /// The job, where it is one.
    job: Option<(u64, f64)>,
}

/// What was told of a question last.
struct Told {
    of: Subject,
    news: DecisionNews,
    is_complete: bool,
}

/// The same thing, not an equal one.
#[derive(Clone)]
struct Same(Arc<Told>);

impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// All that is known of these questions.
#[derive(Clone, Default)]
struct Shown {
    is_open: [bool; KINDS],
    told: [Option<Same>; KINDS],
    /// What a person stopped: it is not asked again until something changes.
    stopped: [Option<Subject>; KINDS],
    /// What the worker has, and since when.
    under_way: Option<(Kind, Subject, f64)>,
    /// Runs made, of about how many.
    progress: (u32, u32),
}

impl Shown {
    /// What is kept; whoever reads it hears of changes.
    fn of(state: State) -> Arc<Self> {
        let kept = state.decisions.get().and_then(|kept| kept.downcast::<Self>().ok());
        kept.unwrap_or_default()
    }

    fn update(state: State, change: impl FnOnce(&mut Self)) {
        let mut shown = Self::clone(&untrack(|| Self::of(state)));
        change(&mut shown);
        state.decisions.set(Some(Arc::new(shown) as Seldom));
    }

    fn told(&self, kind: Kind) -> Option<&Same> {
        self.told[kind as usize].as_ref()
    }

    fn is_under_way(&self, kind: Kind) -> bool {
        self.under_way.as_ref().is_some_and(|(now, ..)| *now == kind)
    }

    /// What the question would be about now.
    fn subject(state: State, kind: Kind) -> Subject {
        Subject {
            scenario: state.current.get(),
            words: if kind.is_of_money() { state.words.get() } else { String::new() },
            job: if kind == Kind::Job { words::job(&state.words.get()) } else { None },
        }
    }

    /// Whether it is to be asked: it is looked at, and neither answered nor stopped.
    fn wants(&self, state: State, kind: Kind) -> bool {
        let place = kind as usize;
        let subject = Self::subject(state, kind);
        let is_told = self.told[place]
            .as_ref()
            .is_some_and(|Same(told)| told.is_complete && told.of == subject);
        let is_asked = if kind == Kind::Job { subject.job.is_some() } else { self.is_open[place] };
        is_asked && !is_told && self.stopped[place].as_ref() != Some(&subject)
    }
}

/// The cards beneath the knee.
///
/// A door, as thin as can be: the page loads what is behind it when it has time.
#[inline(never)]
pub(crate) fn decisions(state: State) -> Nodes {
    decisions_late(state)
}

#[inline(never)]
fn decisions_late(state: State) -> Nodes {
    // Whatever was under way when the view was left is dropped by the worker.
    Shown::update(state, |shown| shown.under_way = None);
    let rest = Debounce::new(REST_MS);
    effect(move || {
        state.current.track();
        state.words.track();
        state.activity.track();
        state.answered.track();
        state.recorded_per_s.track();
        state.dragging.track();
        untrack(|| drop_stale(state));
        rest.call(move || look(state));
    });
    [
        cost::cost_card(state),
        el("div").class("decision-panels").child([
            why::panel(state),
            alternatives::panel(state),
            tornado::panel(state),
        ]),
    ]
    .into()
}

/// Why a question cannot be asked now, if it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hindrance {
    /// The requests are those of a recording.
    Recording,
    /// The scenario has no answer.
    NoAnswer,
    /// The plan comes first.
    Plan,
}

fn hindrance(state: State, kind: Kind) -> Option<Hindrance> {
    if state.recorded_per_s.get().is_some() {
        return Some(Hindrance::Recording);
    }
    let has_numbers = state.resolution.with(|resolution| resolution.outcome.is_ok());
    if !has_numbers {
        return (kind != Kind::Alternatives).then_some(Hindrance::NoAnswer);
    }
    let now = state.current.get();
    let is_answered = state.answered.with(|answered| {
        answered.as_ref().is_some_and(|last| last.is_complete() && last.is_of(&now))
    });
    let is_idle = state.activity.get() == Activity::Idle && !state.dragging.get();
    (!(is_answered && is_idle)).then_some(Hindrance::Plan)
}

/// Drops what is under way if it is not what would be asked now.
fn drop_stale(state: State) {
    let shown = Shown::of(state);
    let Some((kind, subject, _)) = &shown.under_way else { return };
    let goes_on = *subject == Shown::subject(state, *kind)
        && hindrance(state, *kind).is_none()
        && (*kind == Kind::Job || shown.is_open[*kind as usize]);
    if !goes_on {
        state.with_client(Client::drop_long);
        Shown::update(state, |shown| shown.under_way = None);
    }
}

/// Asks the next question that is looked at, if the worker has none.
fn look(state: State) {
    untrack(|| {
        let shown = Shown::of(state);
        if shown.under_way.is_some() || state.view.get() != View::Plan {
            return;
        }
        let next = Kind::ALL
            .into_iter()
            .find(|kind| shown.wants(state, *kind) && hindrance(state, *kind).is_none());
        if let Some(kind) = next {
            ask(state, kind);
        }
    });
}

fn ask(state: State, kind: Kind) {
    let subject = Shown::subject(state, kind);
    let about = match (kind, subject.job) {
        (Kind::Why, _) => Decision::Why,
        (Kind::Alternatives, _) => Decision::Alternatives,
        (Kind::Sensitivity, _) => Decision::Sensitivity,
        (Kind::Job, Some((requests, within_s))) => Decision::Job { requests, within_s },
        (Kind::Job, None) => return,
    };
    let link = subject.scenario.to_link();
    let price = words::typed_price(&subject.words);
    let asked = DecisionAsked { link, price, about };
    let packed = protocol::pack(&LongAsked::Decision(Box::new(asked)));
    Shown::update(state, |shown| {
        shown.under_way = Some((kind, subject, now_ms()));
        shown.progress = (0, 0);
    });
    state.with_client(|client| client.long(packed));
}

/// A person stops a question; it is not asked again until something changes.
fn stop(state: State, kind: Kind) {
    state.with_client(Client::drop_long);
    let subject = untrack(|| Shown::subject(state, kind));
    Shown::update(state, |shown| {
        shown.stopped[kind as usize] = Some(subject);
        shown.under_way = None;
    });
    look(state);
}

/// A person wants it asked after all.
fn ask_again(state: State, kind: Kind) {
    Shown::update(state, |shown| shown.stopped[kind as usize] = None);
    look(state);
}

/// Takes what a worker tells of a question; a door.
#[inline(never)]
pub(crate) fn take(state: State, packed: &[u8], is_complete: bool) {
    take_late(state, packed, is_complete);
}

#[inline(never)]
fn take_late(state: State, packed: &[u8], is_complete: bool) {
    let Some(news) = protocol::unpack::<DecisionNews>(packed) else { return };
    Shown::update(state, |shown| {
        if let DecisionNews::Progress(done, about) = news {
            shown.progress = (done, about);
            return;
        }
        let Some((kind, of, _)) = shown.under_way.clone() else { return };
        shown.told[kind as usize] = Some(Same(Arc::new(Told { of, news, is_complete })));
        if is_complete {
            shown.under_way = None;
        }
    });
    if is_complete {
        look(state);
    }
}
