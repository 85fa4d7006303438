//! A group of controls that folds. Which are open is a matter of this page, never of a link.

use leptos::{ev, prelude::*};
use scenario::Scenario;

use crate::{
    dom::{El, el},
    icons::Icon,
    memo::memo,
    state::State,
};

/// A folded group; the row says what is in force.
pub(crate) struct Fold {
    /// Unique in the page.
    pub(crate) id: &'static str,
    /// Name of the group.
    pub(crate) name: &'static str,
    /// What is in force, in a few words.
    pub(crate) summary: fn(&Scenario) -> String,
    /// Whether something in it was changed.
    pub(crate) is_changed: fn(&Scenario) -> bool,
    /// Whether it begins open.
    pub(crate) begins_open: bool,
    /// Puts the controls into it, at once or when it has been opened.
    pub(crate) furnish: fn(El, Memo<bool>) -> El,
}

impl Fold {
    /// Its elements.
    pub(crate) fn el(self) -> El {
        let Self { id, name, summary, is_changed, begins_open, furnish } = self;
        let state = expect_context::<State>();
        let is_open = RwSignal::new(begins_open);
        let opened = memo(move |was: Option<&bool>| was == Some(&true) || is_open.get());
        let summary = memo(move |_| state.current.with(summary));
        let body_id = format!("fold-{id}");
        let button = el("button")
            .attr("type", "button")
            .class("fold-button")
            .truth_of("aria-expanded", move || is_open.get())
            .attr("aria-controls", &body_id)
            .on(ev::click, move |_| is_open.update(|open| *open = !*open))
            .child(Icon::Right.el())
            .when(move || state.current.with(is_changed), || el("span").class("changed-dot"))
            .child([
                el("span").class("fold-name").text(name),
                el("span").class("fold-summary").text_of(move || summary.get()),
            ]);
        let body = el("div")
            .class("fold-body")
            .attr("id", &body_id)
            .flag_of("hidden", move || !is_open.get());
        el("div").class("fold").child([button, furnish(body, opened)])
    }
}
