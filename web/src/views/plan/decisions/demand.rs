//! What is asked for in other words than a rate: users who think, tokens a day, or a job with an end.

use leptos::{ev, prelude::*};
use protocol::DecisionNews;
use scenario::{Demand, DemandError};

use super::{
    Kind, Same,
    panel::{status, told},
    words::{DEMAND, price_of, put},
};
use crate::{
    browser,
    dom::{El, Nodes, el},
    keys,
    memo::memo,
    state::State,
    strings,
};

/// The forms beside a rate: their names, and an example each.
const FORMS: [(&str, &str); 3] = [
    (strings::DEMAND_USERS, "300 users, 30s"),
    (strings::DEMAND_TOKENS, "50M tokens/day"),
    (strings::DEMAND_JOB, "120k documents in 8h"),
];

/// Beneath the rate; a door.
#[inline(never)]
pub(crate) fn demand(state: State) -> Nodes {
    demand_late(state)
}

#[inline(never)]
fn demand_late(state: State) -> Nodes {
    let job = memo(move |_| scenario::page_word(&state.words.get(), DEMAND).unwrap_or_default());
    let form = RwSignal::new(if job.get_untracked().is_empty() { 0 } else { FORMS.len() });
    let option = |(index, name): (usize, &str)| {
        let option = el("option").attr("value", &quantity::plain(index as f64, 0)).text(name);
        if index == form.get_untracked() { option.attr("selected", "") } else { option }
    };
    let names = std::iter::once(strings::DEMAND_RATE).chain(FORMS.map(|(name, _)| name));
    let choose = move |event: ev::Event| {
        let value = event_target_value(&event);
        let chosen = (0..=FORMS.len()).find(|index| quantity::plain(*index as f64, 0) == value);
        let chosen = chosen.unwrap_or(0);
        form.set(chosen);
        if chosen != FORMS.len() {
            put(state, DEMAND, "");
        }
    };
    let select = el("select")
        .attr("id", "demand-form")
        .class("demand-form")
        .on(ev::change, choose)
        .child(names.enumerate().map(option).collect::<Vec<_>>());
    let head = el("div").class("demand-head").child([
        el("label").class("control-label").attr("for", "demand-form").text(strings::DEMAND),
        select,
    ]);
    el("div")
        .class("demand")
        .attr("id", "control-demand")
        .child(head)
        .region(move || match form.get().checked_sub(1).and_then(|index| FORMS.get(index)) {
            Some((name, example)) => entry(state, name, example).into(),
            None => Nodes::default(),
        })
        .when(move || !job.get().is_empty(), move || answer(state))
        .into()
}

/// A field that takes any of the forms, as the command line does.
fn entry(state: State, name: &'static str, example: &'static str) -> El {
    let said = RwSignal::new((String::new(), false));
    let typing = RwSignal::new(false);
    let in_force =
        memo(move |_| scenario::page_word(&state.words.get(), DEMAND).unwrap_or_default());
    let commit = move |event: ev::Event| {
        typing.set(false);
        let text = browser::typed(&event).unwrap_or_default();
        if text.trim().is_empty() {
            put(state, DEMAND, "");
            said.set((String::new(), false));
            return;
        }
        match taken(state, &text) {
            Ok(told) => said.set((told, false)),
            Err(error) => said.set(([&error.to_string(), "."].concat(), true)),
        }
    };
    let input = el("input")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-label", name)
        .attr("aria-describedby", "demand-said")
        .attr("placeholder", example)
        .truth_of("aria-invalid", move || said.get().1)
        .truth_of(keys::TYPED, move || typing.get())
        .property_of("value", move || in_force.get())
        .on(ev::input, move |_| typing.set(true))
        .on(ev::change, commit);
    el("div").child([
        el("span")
            .class("field demand-field")
            .truth_of("data-invalid", move || said.get().1)
            .child(input),
        el("p")
            .class_of("control-message", move || said.get().1)
            .class_of("control-help", move || !said.get().1)
            .attr("id", "demand-said")
            .text_of(move || said.get().0),
    ])
}

/// Puts a demand in force; what became of it, in a sentence.
fn taken(state: State, text: &str) -> Result<String, DemandError> {
    let demand = Demand::read(text)?;
    if let Demand::Job { .. } = demand {
        put(state, DEMAND, text.trim());
        return Ok(String::new());
    }
    let mut scenario = state.scenario.get_untracked();
    demand.put_into(&mut scenario, text)?;
    put(state, DEMAND, "");
    let told = match scenario.closed {
        Some(_) => strings::DEMAND_IS_USERS.to_owned(),
        None => strings::demand_is_rate(scenario.rate_per_s),
    };
    state.change(scenario);
    Ok(told)
}

/// What a job takes.
fn answer(state: State) -> El {
    let told = told(state, Kind::Job);
    let is_stale = move || {
        let shown = super::Shown::of(state);
        let subject = super::Shown::subject(state, Kind::Job);
        shown.told(Kind::Job).is_some_and(|Same(told)| told.of != subject)
    };
    let lines = move || match told.get().as_ref().map(|Same(told)| &told.news) {
        Some(DecisionNews::Job(answer)) => state.current.with(|scenario| {
            let price = price_of(&state.words.get(), &scenario.gpu);
            let text = report::batch_text(answer, scenario, price.as_ref());
            let line = |text: &str| el("li").text(text);
            let lines = text.lines().filter(|line| !line.is_empty()).map(line);
            el("ul").class("words demand-answer").child(lines.collect::<Vec<_>>()).into()
        }),
        Some(DecisionNews::Refused(message)) => el("p").class("control-help").text(message).into(),
        _ => Nodes::default(),
    };
    el("div").child([status(state, Kind::Job), el("div").class_of("stale", is_stale).region(lines)])
}
