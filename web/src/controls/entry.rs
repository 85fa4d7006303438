//! What was typed into a field while it is not, or not quite, what is in force.

use std::sync::Arc;

use leptos::prelude::*;
use scenario::{Notice, NoticeKind, Scenario};

use crate::{
    dom::{El, Nodes, el},
    memo::{memo, on_change},
    state::State,
    strings,
};

/// Tells the text in force.
pub(crate) type Read = Box<dyn Fn(&Scenario) -> String + Send + Sync>;
/// What the field's text is [kept](crate::kept) under.
pub(crate) type Name = Box<dyn Fn() -> String + Send + Sync>;
/// Takes in what a person typed.
pub(crate) type Take =
    Arc<dyn Fn(&mut Scenario, &str) -> Result<Vec<Notice>, Notice> + Send + Sync>;

/// After the name of a field: what lies under it is typed, and not yet taken in.
const OPEN: &str = "~";
/// Rest after which a text that is being typed is kept, in milliseconds.
pub(crate) const TYPING_MS: u64 = 250;

/// The typed text and what was said about it. Both go when the value changes by other means.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    state: State,
    /// Id of the control that it belongs to.
    control: &'static str,
    name: StoredValue<Name>,
    take: StoredValue<Take>,
    in_force: Memo<String>,
    draft: RwSignal<Option<String>>,
    /// The line beneath; empty while there is nothing to say.
    message: RwSignal<String>,
    /// Whether what was typed was refused rather than moved.
    pub(crate) is_refused: RwSignal<bool>,
    /// Whether the text is not taken in yet: it is being typed, or was before a reload.
    is_open: RwSignal<bool>,
}

impl Entry {
    /// For one field.
    pub(crate) fn new(
        state: State,
        control: &'static str,
        name: Name,
        read: Read,
        take: Take,
    ) -> Self {
        let in_force = memo(move |_| state.current.with(|scenario| read(scenario)));
        let entry = Self {
            state,
            control,
            name: StoredValue::new(name),
            take: StoredValue::new(take),
            in_force,
            draft: RwSignal::new(None),
            message: RwSignal::new(String::new()),
            is_refused: RwSignal::new(false),
            is_open: RwSignal::new(false),
        };
        on_change(
            // Read, not tracked alone: a memo that nobody has read yet changes when somebody does.
            move || in_force.with(|_| ()),
            move || {
                if !entry.is_about_now() {
                    entry.forget();
                }
            },
        );
        entry.follow_kept();
        on_change(move || state.kept.track(), move || entry.follow_kept());
        entry
    }

    /// Shows what is kept for it: after a reload, or in another entry of the browser's history.
    fn follow_kept(self) {
        let kept = self.state.kept.get(&self.kept_name(""));
        let draft = self.draft.get_untracked();
        // Nobody takes it in by leaving the field: only Enter does.
        if draft.is_none()
            && let Some(text) = self.state.kept.get(&self.kept_name(OPEN))
        {
            self.draft.set(Some(text));
            self.is_open.set(true);
            self.message.set(strings::still_open(&self.in_force.get_untracked()));
            return;
        }
        match kept {
            // What is being typed now is newer.
            Some(text)
                if draft.is_none() || (self.has_message() && draft != Some(text.clone())) =>
            {
                let before = self.state.scenario.get_untracked();
                let mut scenario = before.clone();
                let said = self.taken(&mut scenario, &text).unwrap_or_else(|notice| vec![notice]);
                // Beside other settings the text may have become one that would be taken.
                if !said.is_empty() && scenario == before {
                    self.draft.set(Some(text));
                    self.say(&said);
                }
            }
            None if self.has_message() && !self.is_open.get_untracked() => self.forget(),
            _ => {}
        }
    }

    /// What a text of the field is kept under.
    fn kept_name(self, ending: &str) -> String {
        [&self.name.with_value(|name| name()), ending].concat()
    }

    fn keep(self, text: Option<&str>) {
        self.state.kept.keep(&self.kept_name(""), text);
    }

    /// The text is taken in, or gone.
    fn close(self) {
        self.state.typing.cancel();
        if self.is_open.get_untracked() {
            self.is_open.set(false);
            self.state.kept.keep(&self.kept_name(OPEN), None);
        }
    }

    /// The field's text: as typed, or the value in force.
    pub(crate) fn text(self) -> String {
        self.draft.get().unwrap_or_else(|| self.in_force.get())
    }

    /// A person typed; nothing happens yet, but that a reload brings the text again. What is in force
    /// anyhow is nothing that was typed.
    pub(crate) fn type_in(self, text: String) {
        if text == self.in_force.get_untracked() {
            self.forget();
            return;
        }
        self.draft.set(Some(text));
        self.is_open.set(true);
        self.state.typing.call(move || {
            if let Some(text) = self.typed().filter(|_| self.is_open.get_untracked()) {
                self.state.kept.keep(&self.kept_name(OPEN), Some(&text));
            }
        });
    }

    /// A key that undoes: takes back a text that was refused or left open as a whole, and the last
    /// setting where nothing is being typed; what is being typed is the browser's to undo. Tells
    /// whether the key is done with.
    pub(crate) fn undo_text(self) -> bool {
        let is_left = self.is_refused.get_untracked() || self.is_open.get_untracked();
        let is_said = self.has_message() && is_left;
        if is_said {
            self.forget();
        }
        is_said
    }

    /// Whether what is in the field is being typed, for the keys of the page.
    pub(crate) fn is_being_typed(self) -> bool {
        self.is_open.get()
    }

    /// What a person typed and did not yet finish.
    pub(crate) fn typed(self) -> Option<String> {
        self.draft.get_untracked()
    }

    /// A person is done typing.
    pub(crate) fn commit(self) {
        if let Some(text) = self.typed() {
            self.take_in(&text, "");
        }
    }

    /// Takes in a text that nobody typed, as if somebody had.
    pub(crate) fn enter(self, text: &str, mover: &'static str) {
        self.draft.set(Some(text.to_owned()));
        self.take_in(text, mover);
    }

    fn take_in(self, text: &str, mover: &'static str) {
        self.close();
        self.state.last_control.set(self.control);
        let mut scenario = self.state.scenario.get_untracked();
        match self.taken(&mut scenario, text) {
            Ok(notices) if notices.is_empty() => self.forget(),
            Ok(notices) => self.say(&notices),
            Err(notice) => self.say(&[notice]),
        }
        if scenario != self.state.scenario.get_untracked() {
            self.state.put_in_force(mover, scenario);
        }
    }

    /// Takes a text in as a link would be read: with lengths cut to the context of the model.
    fn taken(self, scenario: &mut Scenario, text: &str) -> Result<Vec<Notice>, Notice> {
        let take = self.take.with_value(Arc::clone);
        let mut said = take(scenario, text)?;
        said.extend(scenario.limit_to_context());
        Ok(said)
    }

    /// Drops what was typed.
    pub(crate) fn forget(self) {
        self.close();
        if self.draft.with_untracked(Option::is_some) {
            self.draft.set(None);
        }
        if self.has_message() {
            self.message.set(String::new());
            self.is_refused.set(false);
            self.keep(None);
        }
    }

    fn say(self, notices: &[Notice]) {
        let text =
            notices.iter().map(|notice| notice.message.as_str()).collect::<Vec<_>>().join(" ");
        let is_refused = notices.iter().any(|notice| notice.kind == NoticeKind::Invalid);
        self.message.set(text);
        self.is_refused.set(is_refused);
        self.keep(self.draft.get_untracked().as_deref());
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
        let _ = self.taken(&mut again, &text);
        self.has_message() && again == now
    }

    /// The line beneath, while there is something to say.
    pub(crate) fn with_message(self, within: El) -> El {
        within.when(
            move || self.has_message_now(),
            move || {
                Nodes::from(
                    el("p")
                        .class("control-message")
                        .attr("role", "status")
                        .attr_of("data-kind", move || {
                            if self.is_refused.get() { "invalid" } else { "clamped" }
                        })
                        .text_of(move || self.message.get()),
                )
            },
        )
    }

    fn has_message_now(self) -> bool {
        self.message.with(|message| !message.is_empty())
    }
}
