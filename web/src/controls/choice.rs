//! A choice: of few as real radios, drawn as one box; of more as a list that opens.

use std::{cell::RefCell, rc::Rc};

use leptos::{ev, prelude::*};
use scenario::{Notice, Scenario};
use web_sys::HtmlSelectElement;

use crate::{
    dom::{El, el},
    icons::Icon,
    memo::memo,
    settings::Kinds,
    state::State,
};

/// Tells the value in force.
pub(crate) type Current = Box<dyn Fn(&Scenario) -> String + Send + Sync>;
/// Takes a value in.
pub(crate) type Put = Rc<dyn Fn(&mut Scenario, &str) -> Result<Vec<Notice>, Notice>>;

/// How a choice looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Radios beside the label.
    Short,
    /// Radios on a row of their own.
    Wide,
    /// A list that opens.
    List,
}

/// A choice for a setting.
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
    /// How it looks.
    pub(crate) look: Look,
}

impl Choice {
    /// A choice among the kinds of a setting. What each kind was when another was chosen comes back
    /// with it.
    pub(crate) fn of_kinds(kinds: &'static Kinds, look: Look) -> Self {
        let before: RefCell<Vec<(&'static str, String)>> = RefCell::default();
        let put = move |scenario: &mut Scenario, value: &str| {
            let mut before = before.borrow_mut();
            let now = (kinds.current)(scenario);
            before.retain(|(kind, _)| *kind != now);
            before.push((now, scenario.get(kinds.key).unwrap_or_default()));
            let then = before.iter().find(|(kind, _)| *kind == value);
            kinds.put(scenario, value, then.map(|(_, text)| text.as_str()))
        };
        let options = kinds.all.iter().map(|kind| (kind.name.to_owned(), kind.value)).collect();
        Self {
            id: kinds.id,
            label: kinds.label,
            options,
            current: Box::new(|scenario| (kinds.current)(scenario).to_owned()),
            put: Rc::new(put),
            look,
        }
    }

    /// Its elements.
    pub(crate) fn el(self) -> El {
        let Self { id, label, options, current, put, look } = self;
        let state = expect_context::<State>();
        let chosen = memo(move |_| state.current.with(|scenario| current(scenario)));
        let choose: Choose = Rc::new(move |value| {
            state.last_control.set(id);
            let mut scenario = state.scenario.get_untracked();
            if put(&mut scenario, value).is_ok() {
                state.change(scenario);
            }
        });
        let group = |tag| {
            el(tag)
                .class("control")
                .attr("id", &format!("control-{id}"))
                .truth_of("data-last", move || state.last_control.get() == id)
        };
        let name = el("span").class("control-label").attr("aria-hidden", "true").text(label);
        if look == Look::List {
            return group("div").child([name, list(label, &options, chosen, choose)]);
        }
        let radios: Vec<El> = options
            .into_iter()
            .map(|(text, value)| radio(id, &text, value, chosen, Rc::clone(&choose)))
            .collect();
        let class = if look == Look::Wide { "segments segments-wide" } else { "segments" };
        group("fieldset").child([
            el("legend").class("hidden-but-read").text(label),
            name,
            el("div").class(class).child(radios),
        ])
    }
}

/// Hears which value was chosen.
type Choose = Rc<dyn Fn(&str)>;

fn radio(
    id: &'static str,
    text: &str,
    value: &'static str,
    chosen: Memo<String>,
    choose: Choose,
) -> El {
    let input = el("input")
        .attr("type", "radio")
        .attr("name", id)
        .attr("value", value)
        .property_of("checked", move || chosen.with(|chosen| chosen == value))
        .on(ev::change, move |_| choose(value));
    el("label").child(input).text(text)
}

/// A native list, so that phones show it as they show all lists.
fn list(
    label: &str,
    options: &[(String, &'static str)],
    chosen: Memo<String>,
    choose: Choose,
) -> El {
    let option =
        |(text, value): &(String, &'static str)| el("option").attr("value", value).text(text);
    let options: Vec<El> = options.iter().map(option).collect();
    let select = el("select").class("list").attr("aria-label", label).child(options);
    let element: HtmlSelectElement = select.node::<HtmlSelectElement>().clone();
    let select = select
        .on(ev::change, move |_| choose(&element.value()))
        // After the options, of which it is one.
        .property_of("value", move || chosen.get());
    el("span").class("list-box").child([select, Icon::Down.el()])
}
