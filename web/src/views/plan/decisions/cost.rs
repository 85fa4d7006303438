//! What the plan costs, with the price and the mean load that it is computed with.

use leptos::{ev, prelude::*};
use planner::{Cost, Dollars};
use report::{Price, about, about_finely};

use super::{
    panel::{folded_table, row, words as lines},
    words::{LOAD, PRICE, money_written, price_of, put, typed_load},
};
use crate::{
    browser,
    dom::{El, Nodes, el},
    keys,
    memo::memo,
    state::State,
    strings,
};

/// What is told of the cost.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    cost: Cost,
    price: Price,
    /// Whether the plan behind it is not the last word.
    is_about: bool,
}

pub(super) fn cost_card(state: State) -> El {
    let gpu = memo(move |_| state.current.with(|scenario| scenario.gpu.clone()));
    let price = memo(move |_| price_of(&state.words.get(), &gpu.get()));
    let told = memo(move |_| told(state, price.get()?));
    let beside = move || match price.get() {
        None => strings::NO_PRICE.to_owned(),
        Some(price) => strings::price_beside(&about(&price.per_hour), price.kind),
    };
    let source = move || price.get().map(|price| price.source).unwrap_or_default();
    let head = el("div").class("panel-head").child([
        el("h2").class("panel-title").text(strings::COST_TITLE),
        el("span").class("panel-sub").attr_of("title", source).text_of(beside),
    ]);
    let is_about = move || told.with(|told| told.as_ref().is_none_or(|told| told.is_about));
    let figures = el("div")
        .class("cost-figures")
        .class_of("stale", is_about)
        .child((0..FIGURES.len()).map(|index| figure(told, index)).collect::<Vec<_>>());
    el("section")
        .class("card panel cost")
        .attr("aria-label", strings::COST_TITLE)
        .child([head, el("div").class("cost-body").child([figures, assumptions(state, price)])])
        .child(details(told))
}

fn told(state: State, price: Price) -> Option<Told> {
    let resolution = state.resolution.get();
    let answered = state.answered.get()?.under(&resolution)?;
    let resolved = match answered.resolution.outcome.as_ref() {
        Ok((resolved, _)) => resolved,
        Err(_) => return None,
    };
    let gpus_each = resolution.scenario.gpus_per_engine();
    let average_load = typed_load(&state.words.get());
    let cost = Cost::of(&answered.answer, resolved, gpus_each, price.per_hour, average_load)?;
    Some(Told { cost, price, is_about: !answered.is_complete() })
}

/// One figure: its label, and what it reads of the cost.
struct Figure {
    label: &'static str,
    value: fn(&Cost) -> Option<Dollars>,
    /// Whether cents are too coarse.
    is_fine: bool,
}

const FIGURES: [Figure; 4] = [
    Figure { label: strings::PER_HOUR, value: |cost| Some(cost.per_hour), is_fine: false },
    Figure { label: strings::PER_MONTH, value: |cost| Some(cost.per_month), is_fine: false },
    Figure {
        label: strings::PER_MILLION_ANSWER,
        value: |cost| Some(cost.averaged.million_output),
        is_fine: true,
    },
    Figure {
        label: strings::PER_MILLION_PROMPT,
        value: |cost| cost.averaged.million_input,
        is_fine: true,
    },
];

fn figure(told: Memo<Option<Told>>, index: usize) -> El {
    let figure = &FIGURES[index];
    // “$18.93 ($12 to $30)” in its two parts.
    let parts = move || {
        told.with(|told| {
            let told = told.as_ref()?;
            let dollars = (figure.value)(&told.cost)?;
            let text = if figure.is_fine { about_finely(&dollars) } else { about(&dollars) };
            let (value, range) = text.split_once(" (").unwrap_or((&text, ""));
            let value = if told.is_about { quantity::about(value) } else { value.to_owned() };
            Some((value, range.trim_end_matches(')').to_owned()))
        })
    };
    let value = move || parts().map_or_else(|| strings::UNKNOWN.to_owned(), |(value, _)| value);
    let range = move || parts().map(|(_, range)| range).unwrap_or_default();
    el("div").class("cost-figure").child([
        el("p").class("cost-label").text(figure.label),
        el("p").class("cost-value").text_of(value),
        el("p").class("cost-range").text_of(range),
    ])
}

/// The price and the mean load, which a person may give.
fn assumptions(state: State, price: Memo<Option<Price>>) -> El {
    let catalogue = move || match price.get() {
        Some(price) if price.kind != "given" => price.per_hour.written(),
        _ => String::new(),
    };
    el("div").class("cost-assumptions").child([
        field(state, (PRICE, strings::PRICE_FIELD, "$ / h"), catalogue),
        field(state, (LOAD, strings::LOAD_FIELD, ""), || strings::LOAD_PLACEHOLDER.to_owned()),
    ])
}

/// A field for one word of the link.
fn field(
    state: State,
    (key, label, unit): (&'static str, &'static str, &'static str),
    placeholder: impl Fn() -> String + 'static,
) -> El {
    let in_force = memo(move |_| scenario::page_word(&state.words.get(), key).unwrap_or_default());
    let refused = RwSignal::new(String::new());
    let typing = RwSignal::new(false);
    // What a link holds may be unusable, too.
    let message = move || {
        let refused = refused.get();
        if refused.is_empty() {
            let message = money_written(key, &in_force.get()).err();
            return message.map(|error| error.to_string()).unwrap_or_default();
        }
        refused
    };
    let commit = move |event: ev::Event| {
        typing.set(false);
        let text = browser::typed(&event).unwrap_or_default();
        match money_written(key, &text) {
            Ok(written) => {
                refused.set(String::new());
                put(state, key, &written);
            }
            Err(error) => refused.set(error.to_string()),
        }
    };
    let id = ["field-", key].concat();
    let input = el("input")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("id", &id)
        .attr("aria-describedby", &[&id, "-said"].concat())
        .truth_of("aria-invalid", move || !message().is_empty())
        .truth_of(keys::TYPED, move || typing.get())
        .attr_of("placeholder", placeholder)
        .property_of("value", move || in_force.get())
        .on(ev::input, move |_| typing.set(true))
        .on(ev::change, commit);
    el("div").class("cost-field").attr("id", &["control-", key].concat()).child([
        el("label").class("control-label").attr("for", &id).text(label),
        el("label")
            .class("field field-wide")
            .truth_of("data-invalid", move || !message().is_empty())
            .child([input, el("span").class("field-unit").attr("aria-hidden", "true").text(unit)]),
        el("p").class("control-message").attr("id", &[&id, "-said"].concat()).text_of(message),
    ])
}

/// The sentences, and what tokens cost at each load.
fn details(told: Memo<Option<Told>>) -> El {
    let rows = move || {
        told.with(|told| {
            let rows = told.as_ref().map(|told| report::cost_rows(&told.cost));
            rows.unwrap_or_default().iter().map(|cells| row(cells)).collect::<Vec<El>>()
        })
    };
    let said = move || match told.get() {
        Some(Told { cost, price, .. }) => lines(&report::cost_lines(&cost, &price)).into(),
        None => Nodes::default(),
    };
    folded_table(strings::COST_TITLE, &strings::COST_COLUMNS, rows)
        .region(said)
        .flag_of("hidden", move || told.with(Option::is_none))
}
