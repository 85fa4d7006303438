//! Compare: a pinned scenario A beside the one that is edited, B, under the same users.
//!
//! A stands in the link as `versus=`, so that a link, the way back and a reload bring both. B is the
//! page's scenario: the first worker plans it as in the Plan view, so that a slider's number follows at
//! once. What needs both is asked of a second worker when everything rests.

mod chart;
mod empty;
mod head;
mod sides;
mod tables;

use std::sync::Arc;

use leptos::prelude::*;
use planner::{CompareAnswer, PlanAnswer};
use protocol::{CompareNews, LongAsked, Question};
use scenario::{Parsed, Scenario};

use super::second_worker::{Heard, SecondWorker};
use crate::{
    answered::Resolution,
    browser::Debounce,
    dom::{Nodes, el},
    memo::{effect, memo},
    recording::Seldom,
    state::{State, View},
    strings,
};

/// Rest after a change before both are compared, in milliseconds.
const REST_MS: u64 = 300;

/// The pinned scenario.
#[derive(Clone, Debug, PartialEq)]
struct Pinned {
    scenario: Scenario,
    /// What of its part of the link was not taken as written.
    notices: Vec<String>,
}

impl Pinned {
    fn of(words: &str) -> Option<Self> {
        let Parsed { scenario, notices } = Scenario::versus(words)?;
        let notices = notices.iter().map(strings::notice).collect();
        Some(Self { scenario, notices })
    }
}

/// A comparison that is told.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    of: [Scenario; 2],
    answer: Arc<CompareAnswer>,
}

/// What is known of comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    /// The last one that came.
    told: Option<Told>,
    /// What the worker has.
    under_way: Option<[Scenario; 2]>,
    /// Runs made, of about how many.
    progress: (u32, u32),
    /// Of which there will be none, and why.
    refused: Option<([Scenario; 2], String)>,
    /// Which a person stopped.
    stopped: Option<[Scenario; 2]>,
    /// The plan of a scenario as it was when it was pinned.
    planned: Option<(Scenario, Arc<PlanAnswer>)>,
}

impl Shown {
    /// What is kept; whoever reads it hears of changes.
    fn of(state: State) -> Arc<Self> {
        let kept = state.compared.get().and_then(|kept| kept.downcast::<Self>().ok());
        kept.unwrap_or_default()
    }

    fn update(state: State, change: impl FnOnce(&mut Self)) {
        let mut shown = Self::clone(&untrack(|| Self::of(state)));
        change(&mut shown);
        state.compared.set(Some(Arc::new(shown) as Seldom));
    }
}

/// What the view's parts share.
#[derive(Clone, Copy)]
struct Compared {
    state: State,
    pinned: Memo<Option<Pinned>>,
    /// What the pinned one resolves to.
    first: Memo<Option<Resolution>>,
    shown: Memo<Arc<Shown>>,
    worker: StoredValue<SecondWorker, LocalStorage>,
}

impl Compared {
    fn new(state: State) -> Self {
        let pinned = memo(move |_| state.words.with(|words| Pinned::of(words)));
        let first = memo(move |_| {
            let pinned = pinned.with(|pinned| pinned.as_ref().map(|it| it.scenario.clone()));
            pinned.map(|scenario| state.late.resolution(scenario))
        });
        let shown = memo(move |_| Shown::of(state));
        let worker = SecondWorker::new(state, move |heard| hear(state, heard));
        Self { state, pinned, first, shown, worker: StoredValue::new_local(worker) }
    }

    /// Both scenarios, once one is pinned.
    fn both(self) -> Option<[Scenario; 2]> {
        let first = self.pinned.with(|pinned| pinned.as_ref().map(|it| it.scenario.clone()))?;
        Some([first, self.state.current.get()])
    }

    /// The comparison of what is set now.
    fn told(self) -> Option<Arc<CompareAnswer>> {
        let both = self.both()?;
        self.shown.with(|shown| {
            let told = shown.told.as_ref().filter(|told| told.of == both);
            told.map(|told| Arc::clone(&told.answer))
        })
    }

    /// Both as questions; none where one of them has no answer or is a recording's.
    fn questions(self) -> Option<Box<[Question; 2]>> {
        let first = self.first.get_untracked()?;
        let first = Question::of(&first.outcome.as_ref().as_ref().ok()?.0)?;
        let second = self.state.question(false)?.question;
        Some(Box::new([first, second]))
    }

    /// Drops what is under way of something else, and asks once everything rests.
    fn look(self, rest: Debounce) {
        let both = self.both();
        let (under_way, is_settled) = self.shown.with(|shown| {
            let is_told = shown.told.as_ref().is_some_and(|told| Some(&told.of) == both.as_ref());
            let refused = shown.refused.as_ref().map(|(of, _)| of);
            let is_over = both.is_some() && (refused == both.as_ref() || shown.stopped == both);
            (shown.under_way.clone(), is_told || is_over || both.is_none())
        });
        if under_way.is_some() && under_way != both {
            self.worker.with_value(SecondWorker::cancel);
            Shown::update(self.state, |shown| shown.under_way = None);
        }
        if is_settled || under_way == both || self.state.dragging.get() {
            rest.cancel();
        } else {
            rest.call(move || self.ask());
        }
    }

    fn ask(self) {
        let Some(both) = untrack(|| self.both()) else { return };
        let Some(questions) = self.questions() else { return };
        let packed = protocol::pack(&LongAsked::Compare(questions));
        Shown::update(self.state, |shown| {
            shown.under_way = Some(both);
            shown.progress = (0, 0);
            shown.stopped = None;
            shown.refused = None;
        });
        self.worker.with_value(|worker| worker.ask(packed));
    }

    /// A person stops the comparison; it is made again when something changes or they ask.
    fn stop(self) {
        self.worker.with_value(SecondWorker::cancel);
        Shown::update(self.state, |shown| shown.stopped = shown.under_way.take());
    }
}

/// The main column.
///
/// A door, as thin as can be: the page loads what is behind it when somebody comes.
#[inline(never)]
pub(crate) fn compare(state: State) -> Nodes {
    compare_late(state)
}

#[inline(never)]
fn compare_late(state: State) -> Nodes {
    // The worker of an earlier visit went with it.
    Shown::update(state, |shown| shown.under_way = None);
    let compared = Compared::new(state);
    let rest = Debounce::new(REST_MS);
    effect(move || {
        compared.first.track();
        compared.shown.track();
        state.recorded_per_s.track();
        compared.look(rest);
    });
    let is_pinned = memo(move |_| compared.pinned.with(Option::is_some));
    let heading = el("h1").class("hidden-but-read").text(strings::COMPARE_HEADING);
    let body = el("div").class("compare").region(move || {
        if is_pinned.get() {
            let beneath = el("div").class("compare-columns").child([
                chart::chart(compared),
                el("div")
                    .class("compare-column")
                    .child([tables::settings(compared), tables::figures(compared)]),
            ]);
            [head::head(compared), beneath, tables::requests(compared)].into()
        } else {
            empty::empty(state)
        }
    });
    [heading, body].into()
}

/// Takes what the worker tells.
fn hear(state: State, heard: Heard) {
    let news = match heard {
        Ok((packed, _)) => match protocol::unpack::<CompareNews>(&packed) {
            Some(news) => news,
            None => return,
        },
        Err(message) => CompareNews::Refused(strings::worker_stopped(&message)),
    };
    Shown::update(state, |shown| match news {
        CompareNews::Progress(done, about) => shown.progress = (done, about),
        CompareNews::Answer(answer) => {
            if let Some(of) = shown.under_way.take() {
                shown.told = Some(Told { of, answer: Arc::from(answer) });
            }
        }
        CompareNews::Refused(message) => {
            if let Some(of) = shown.under_way.take() {
                shown.refused = Some((of, message));
            }
        }
    });
}

/// Puts what is beside the scenario and the scenario in force in one step.
fn set(state: State, pinned: Option<&Scenario>, scenario: Scenario) {
    // Prices and the like stay.
    let mut words = String::new();
    for word in state.words.get_untracked().split('&') {
        if !word.is_empty() && !word.starts_with("versus=") {
            words.push('&');
            words.push_str(word);
        }
    }
    if let Some(pinned) = pinned {
        words.push('&');
        words.push_str(&pinned.as_versus());
    }
    state.words.set(words);
    state.put_in_force("", scenario);
}

/// Pins the scenario that is set, or unpins the one that is; a door.
#[inline(never)]
pub(crate) fn pin(state: State) {
    pin_late(state);
}

#[inline(never)]
fn pin_late(state: State) {
    let scenario = state.scenario.get_untracked();
    if untrack(|| state.is_pinned()) {
        set(state, None, scenario);
        state.toast.set(Some(strings::UNPINNED.to_owned()));
        return;
    }
    keep_plan(state);
    set(state, Some(&scenario.clone()), scenario);
    state.toast.set(Some(strings::PINNED.to_owned()));
    state.show(View::Compare);
}

/// Keeps the plan that is known, so that A has its numbers at once.
fn keep_plan(state: State) {
    let known = state.answered.get_untracked().filter(|answered| answered.is_complete());
    if let Some(answered) = known {
        let planned = (answered.resolution.scenario.clone(), Arc::new(answered.answer.clone()));
        Shown::update(state, |shown| shown.planned = Some(planned));
    }
}

/// Makes A the one that is edited and B the pinned one; a door.
#[inline(never)]
pub(crate) fn swap(state: State) {
    swap_late(state);
}

#[inline(never)]
fn swap_late(state: State) {
    let Some(pinned) = state.words.with_untracked(|words| Pinned::of(words)) else { return };
    let edited = state.scenario.get_untracked();
    keep_plan(state);
    set(state, Some(&edited), pinned.scenario);
    state.toast.set(Some(strings::SWAPPED.to_owned()));
}
