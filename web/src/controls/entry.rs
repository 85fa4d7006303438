//! What was typed into a field while it is not, or not quite, what is in force.

use leptos::prelude::*;
use scenario::{Notice, NoticeKind};

use crate::{
    memo::{memo, on_change},
    settings::Dial,
    state::State,
};

/// The typed text and what was said about it. Both go when the value changes by other means.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    state: State,
    dial: &'static Dial,
    /// The value in force.
    pub(crate) value: Memo<Option<f64>>,
    in_force: Memo<String>,
    draft: RwSignal<Option<String>>,
    /// The line beneath; empty while there is nothing to say.
    pub(crate) message: RwSignal<String>,
    /// Whether what was typed was refused rather than moved.
    pub(crate) is_refused: RwSignal<bool>,
}

impl Entry {
    /// For one dial.
    pub(crate) fn new(state: State, dial: &'static Dial) -> Self {
        let value = memo(move |_| state.current.with(|scenario| dial.value(scenario)));
        let in_force =
            memo(move |_| state.current.with(|scenario| dial.text(scenario)).unwrap_or_default());
        let entry = Self {
            state,
            dial,
            value,
            in_force,
            draft: RwSignal::new(None),
            message: RwSignal::new(String::new()),
            is_refused: RwSignal::new(false),
        };
        on_change(
            move || in_force.track(),
            move || {
                if !entry.is_about_now() {
                    entry.forget();
                }
            },
        );
        entry
    }

    /// The field's text: as typed, or the value in force.
    pub(crate) fn text(self) -> String {
        self.draft.get().unwrap_or_else(|| self.in_force.get())
    }

    /// A person typed; nothing happens yet.
    pub(crate) fn type_in(self, text: String) {
        self.draft.set(Some(text));
    }

    /// A person is done typing.
    pub(crate) fn commit(self) {
        let Some(text) = self.draft.get_untracked() else { return };
        self.state.last_control.set(self.dial.id);
        let mut scenario = self.state.scenario.get_untracked();
        match self.dial.type_in(&mut scenario, &text) {
            Ok(notices) if notices.is_empty() => self.forget(),
            Ok(notices) => self.say(&notices),
            Err(notice) => self.say(&[notice]),
        }
        if scenario != self.state.scenario.get_untracked() {
            self.state.scenario.set(scenario);
        }
    }

    /// A slider, a key or a reset set the value.
    pub(crate) fn put(self, value: f64) {
        self.forget();
        self.state.last_control.set(self.dial.id);
        let mut scenario = self.state.scenario.get_untracked();
        if self.dial.put(&mut scenario, value).is_ok() {
            self.state.scenario.set(scenario);
        }
    }

    /// Back to what it is when nobody changed it.
    pub(crate) fn reset(self) {
        self.forget();
        self.state.scenario.update(|scenario| self.dial.reset(scenario));
    }

    /// Drops what was typed.
    pub(crate) fn forget(self) {
        if self.draft.with_untracked(Option::is_some) {
            self.draft.set(None);
        }
        if self.has_message() {
            self.message.set(String::new());
            self.is_refused.set(false);
        }
    }

    fn say(self, notices: &[Notice]) {
        let text =
            notices.iter().map(|notice| notice.message.as_str()).collect::<Vec<_>>().join(" ");
        let is_refused = notices.iter().any(|notice| notice.kind == NoticeKind::Invalid);
        self.message.set(text);
        self.is_refused.set(is_refused);
    }

    fn has_message(self) -> bool {
        self.message.with_untracked(|message| !message.is_empty())
    }

    /// Whether the typed text, read again, gives the value in force: then it is the cause of the
    /// change, and stays.
    fn is_about_now(self) -> bool {
        let Some(text) = self.draft.get_untracked() else { return true };
        let now = self.state.scenario.get_untracked();
        let mut again = now.clone();
        let _ = self.dial.type_in(&mut again, &text);
        self.has_message() && again == now
    }
}
