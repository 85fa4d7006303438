//! A choice of few: real radios, drawn as one box.

use std::rc::Rc;

use leptos::{ev, prelude::*};
use scenario::{Notice, Scenario};

use crate::dom::{El, el};
use crate::memo::memo;
use crate::state::State;

/// Tells the value in force.
pub(crate) type Current = Box<dyn Fn(&Scenario) -> String + Send + Sync>;
/// Takes a value in.
pub(crate) type Put = Rc<dyn Fn(&mut Scenario, &str) -> Result<Vec<Notice>, Notice>>;

/// Radios for a setting.
pub(crate) struct Choice {
    /// Unique in the page.
    pub(crate) id: &'static str,
    /// What is chosen.
    pub(crate) label: &'static str,
    /// Labels and values.
    pub(crate) options: Vec<(String, &'static str)>,
    /// The value in force.
    pub(crate) current: Current,
    /// Takes a value in.
    pub(crate) put: Put,
    /// Whether the box has a row of its own.
    pub(crate) is_wide: bool,
}

impl Choice {
    /// Its elements.
    pub(crate) fn el(self) -> El {
        let Self { id, label, options, current, put, is_wide } = self;
        let state = expect_context::<State>();
        let chosen = memo(move |_| state.current.with(|scenario| current(scenario)));
        let radios: Vec<El> = options
            .into_iter()
            .map(|(text, value)| radio(id, &text, value, chosen, Rc::clone(&put)))
            .collect();
        el("fieldset")
            .class("control")
            .attr("id", &format!("control-{id}"))
            .truth_of("data-last", move || state.last_control.get() == id)
            .child([
                el("legend").class("hidden-but-read").text(label),
                el("span").class("control-label").attr("aria-hidden", "true").text(label),
                el("div")
                    .class(if is_wide { "segments segments-wide" } else { "segments" })
                    .child(radios),
            ])
    }
}

fn radio(id: &'static str, text: &str, value: &'static str, chosen: Memo<String>, put: Put) -> El {
    let state = expect_context::<State>();
    let choose = move |_| {
        state.last_control.set(id);
        let mut scenario = state.scenario.get_untracked();
        if put(&mut scenario, value).is_ok() {
            state.scenario.set(scenario);
        }
    };
    let input = el("input")
        .attr("type", "radio")
        .attr("name", id)
        .attr("value", value)
        .property_of("checked", move || chosen.with(|chosen| chosen == value))
        .on(ev::change, choose);
    el("label").child(input).text(text)
}
