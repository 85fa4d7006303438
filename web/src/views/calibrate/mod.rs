//! Calibrate: files that were measured, what was understood of them, and the constants that follow.

mod chart;
mod files;
mod tables;
mod verdict;

use std::sync::Arc;

use leptos::prelude::*;
use protocol::{
    CalibrationAsked, CalibrationNews, CalibrationOutcome, GivenFile, Understood, UnderstoodFile,
};
use scenario::Scenario;

use crate::{
    dom::{El, Nodes, el},
    memo::memo,
    recording::Seldom,
    state::State,
    strings,
};

/// How far a calibration is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stand {
    /// Files are being read.
    Reading,
    /// Runs done of about so many.
    Fitting(u32, u32),
    /// The person stopped it.
    Stopped,
    /// There is nothing to fit; why.
    Refused(String),
    /// Settings were understood, and no times.
    SettingsOnly,
    /// The constants are there.
    Done(Arc<CalibrationOutcome>),
}

/// What is known of the calibration that was asked for last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// The scenario that it began from.
    pub(super) base: Scenario,
    /// The files; a fit that is asked for again has no others.
    files: Arc<Vec<GivenFile>>,
    /// Files that were not read at all.
    unread: Vec<UnderstoodFile>,
    /// What was understood of the others.
    pub(super) understood: Option<Arc<Understood>>,
    /// How far it is.
    pub(super) stand: Stand,
}

impl Shown {
    fn of(state: State) -> Option<Arc<Self>> {
        let kept = state.calibration.get()?;
        kept.downcast::<Self>().ok()
    }

    /// What came out, once it is there.
    pub(super) fn outcome(&self) -> Option<&CalibrationOutcome> {
        match &self.stand {
            Stand::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Files that were not read, and those that were.
    pub(super) fn told_files(&self) -> impl Iterator<Item = &UnderstoodFile> {
        self.unread.iter().chain(self.understood.iter().flat_map(|it| &it.files))
    }

    /// A scenario with the settings that were taken from the files, and with the constants.
    pub(super) fn put_into(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        let taken = self.understood.iter().flat_map(|it| &it.taken);
        for (key, value) in taken {
            // The worker has set it before.
            let _ = scenario.set(key, value);
        }
        if let Some(outcome) = self.outcome() {
            for constant in &outcome.constants {
                // What a fit finds is within the range of its setting.
                let _ = scenario.set(&constant.key, &quantity::editable(constant.after));
            }
            let _ = scenario.set(CALIBRATED_ON, &quantity::plain(outcome.fitted as f64, 0));
        }
        scenario
    }
}

/// The setting that says how many points the constants come from.
pub(super) const CALIBRATED_ON: &str = "step.calibrated_on";

/// What is shown, as a signal.
pub(super) type Told = Memo<Option<Arc<Shown>>>;

/// The main column.
///
/// A door, as thin as can be: the page loads what is behind it when somebody comes.
#[inline(never)]
pub(crate) fn calibrate(state: State) -> Nodes {
    calibrate_late(state)
}

#[inline(never)]
fn calibrate_late(state: State) -> Nodes {
    let shown: Told = memo(move |_| Shown::of(state));
    let has_points = memo(move |_| {
        shown.with(|shown| {
            let found = shown.as_ref().and_then(|shown| shown.understood.as_ref());
            found.is_some_and(|found| !found.points.is_empty())
        })
    });
    let has_files = memo(move |_| shown.with(Option::is_some));
    let left = el("div").class("calibrate-column").child(files::give(state)).region(move || {
        if has_files.get() { tables::understood(shown) } else { files::none_yet(state) }
    });
    let right = el("div")
        .class("calibrate-column")
        .when(move || has_points.get(), move || [chart::chart(shown), tables::constants(shown)]);
    let columns = el("div")
        .class("calibrate-columns")
        .truth_of("data-empty", move || !has_points.get())
        .child([left, right]);
    let all = el("div").class("calibrate").child([verdict::verdict(state, shown), columns]);
    let all = all.when(move || has_points.get(), move || tables::points(shown));
    let heading = el("h1").class("hidden-but-read").text(strings::CALIBRATE_HEADING);
    [heading, files::take_drops(all, state)].into()
}

/// A card with a title and a line beside it.
pub(super) fn panel(class: &str, title: &'static str, beside: &'static str) -> El {
    el("section").class(class).attr("aria-label", title).child(el("div").class("panel-head").child(
        [el("h2").class("panel-title").text(title), el("span").class("panel-sub").text(beside)],
    ))
}

/// Has files read and constants fitted to what is in them.
pub(super) fn ask(state: State, files: &Arc<Vec<GivenFile>>, unread: Vec<UnderstoodFile>) {
    let base = state.scenario.get_untracked();
    let link = base.to_link();
    let stand = Stand::Reading;
    let shown = Shown { base, files: Arc::clone(files), unread, understood: None, stand };
    if files.is_empty() {
        let stand = Stand::Refused(strings::NO_POINTS.to_owned());
        keep(state, Shown { stand, ..shown });
        return;
    }
    keep(state, shown);
    let files = files.to_vec();
    let packed = protocol::pack(&CalibrationAsked { link, files });
    state.with_client(|client| client.calibrate(Some(packed)));
}

/// The same files once more, under the present scenario.
pub(super) fn ask_again(state: State) {
    if let Some(shown) = untrack(|| Shown::of(state)) {
        ask(state, &shown.files, shown.unread.clone());
    }
}

/// Stops the fit under way.
pub(super) fn stop(state: State) {
    state.with_client(|client| client.calibrate(None));
    if let Some(shown) = untrack(|| Shown::of(state)) {
        keep(state, Shown { stand: Stand::Stopped, ..Shown::clone(&shown) });
    }
}

/// Puts what was found into the scenario.
pub(super) fn use_everywhere(state: State) {
    let Some(shown) = untrack(|| Shown::of(state)) else { return };
    state.change(state.scenario.with_untracked(|scenario| shown.put_into(scenario)));
    if let Some(outcome) = shown.outcome() {
        state.toast.set(Some(strings::calibration_taken(outcome.fitted)));
    }
}

/// Back to the published constants, and to no files.
pub(super) fn forget(state: State) {
    state.with_client(|client| client.calibrate(None));
    state.calibration.set(None);
    let mut scenario = state.scenario.get_untracked();
    if scenario.get(CALIBRATED_ON).is_none() {
        return;
    }
    for key in FITTED_KEYS {
        // Each of them is an optional setting.
        let _ = scenario.set(key, "auto");
    }
    state.change(scenario);
    state.toast.set(Some(strings::FORGOTTEN.to_owned()));
}

/// All settings that a calibration may fill.
const FITTED_KEYS: [&str; 12] = [
    "step.bandwidth",
    "step.mfu",
    "step.overhead_s",
    "step.fixed_s",
    "step.per_item_s",
    "step.alpha_s",
    "step.beta_s",
    "step.gamma_s",
    "step.memory_factor",
    "step.compute_factor",
    "step.api_s",
    CALIBRATED_ON,
];

fn keep(state: State, shown: Shown) {
    state.calibration.set(Some(Arc::new(shown) as Seldom));
}

/// Takes what the worker tells of a calibration; nothing where it died of one. A door.
#[inline(never)]
pub(crate) fn take(state: State, packed: Option<&[u8]>, is_complete: bool) {
    take_late(state, packed, is_complete);
}

#[inline(never)]
fn take_late(state: State, packed: Option<&[u8]>, is_complete: bool) {
    let Some(shown) = untrack(|| Shown::of(state)) else { return };
    let mut shown = Shown::clone(&shown);
    let Some(packed) = packed else {
        shown.stand = Stand::Refused(strings::CALIBRATION_DIED.to_owned());
        return keep(state, shown);
    };
    match protocol::unpack(packed) {
        Some(CalibrationNews::Understood(found)) => {
            let is_log = found.points.is_empty() && !found.taken.is_empty();
            shown.stand = match (is_complete, is_log) {
                (false, _) => Stand::Fitting(0, 1),
                (true, true) => Stand::SettingsOnly,
                (true, false) => Stand::Refused(strings::NO_POINTS.to_owned()),
            };
            shown.understood = Some(Arc::from(found));
        }
        Some(CalibrationNews::Progress(done, all)) => shown.stand = Stand::Fitting(done, all),
        Some(CalibrationNews::Refused(message)) => shown.stand = Stand::Refused(message),
        Some(CalibrationNews::Answer(outcome)) => shown.stand = Stand::Done(Arc::from(outcome)),
        None => return,
    }
    keep(state, shown);
}
