//! Where the numbers come from: every input of the simulation with its source.

use leptos::{ev, prelude::*};
use quantity::Unit;
use scenario::{LedgerEntry, Provenance};

use super::{
    card::{Card, told},
    knee_table::column_names,
};
use crate::{
    dom::{El, Nodes, el},
    icons::Icon,
    late::note,
    state::State,
    strings,
};

/// The folded panel.
pub(crate) fn ledger_panel(card: Memo<Card>) -> El {
    let state = expect_context::<State>();
    let is_open = RwSignal::new(false);
    let button = el("button")
        .attr("type", "button")
        .class("ledger-button")
        .truth_of("aria-expanded", move || is_open.get())
        .attr("aria-controls", "ledger")
        .on(ev::click, move |_| is_open.update(|open| *open = !*open))
        .child(Icon::Right.el())
        .text(strings::LEDGER);
    let content = el("div")
        .attr("id", "ledger")
        .flag_of("hidden", move || !is_open.get())
        .when(
            move || is_open.get() && has_numbers(state),
            move || {
                el("div").class("ledger-numbers").region(move || {
                    let build = || numbers(state);
                    state.late.view(strings::NUMBERS_NOT_LOADED, note, build)
                })
            },
        )
        .when(move || is_open.get() && !has_numbers(state), move || empty(card));
    el("section")
        .class("card panel ledger")
        .child([el("h2").class("panel-title").child(button), content])
}

fn has_numbers(state: State) -> bool {
    state.resolution.with(|resolution| resolution.outcome.is_ok())
}

/// What the panel holds. A door: the page loads it when somebody opens the panel, so that it is never
/// inlined.
#[inline(never)]
fn numbers(state: State) -> Nodes {
    [words(state), table(state)].into()
}

/// Why there are no numbers, and what to change.
fn empty(card: Memo<Card>) -> El {
    let text = move || {
        card.with(|card| strings::no_numbers(card.reason(), card.first_change().as_deref()))
    };
    el("p").class("ledger-empty").text_of(text)
}

/// The answer in sentences, its arithmetic among them.
fn words(state: State) -> El {
    let line = |text: &String| el("li").text(text);
    let lines = move || {
        state.answered.with(|answered| match answered {
            Some(answered) => told(answered).sentences.iter().map(line).collect::<Vec<El>>(),
            None => Vec::new(),
        })
    };
    // The last sentences stay, dimmed, until all runs of the present scenario are in.
    let is_stale = move || {
        let scenario = state.current.get();
        state.answered.with(|answered| {
            !answered.as_ref().is_some_and(|last| last.is_complete() && last.is_of(&scenario))
        })
    };
    el("ul").class("words").class_of("stale", is_stale).region(lines)
}

/// With other numbers it has other rows; the rest, which can be scrolled and focused, stays.
fn table(state: State) -> El {
    let rows = move || {
        state.resolution.with(|resolution| match resolution.outcome.as_ref() {
            Ok((resolved, _)) => resolved.ledger.0.iter().map(row).collect(),
            Err(_) => Vec::new(),
        })
    };
    el("div")
        .class("table-scroll")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", strings::LEDGER)
        .child(el("table").child([
            el("thead").child(column_names(&strings::LEDGER_COLUMNS)),
            el("tbody").region(rows),
        ]))
}

fn row(entry: &LedgerEntry) -> El {
    let value = el("td").text(&shown(entry.value, &entry.unit)).text(" ");
    let value = match (entry.low, entry.high) {
        (Some(low), Some(high)) => value
            .child(el("span").class("fold-note").text(&strings::band(&quantity::range(low, high)))),
        _ => value,
    };
    let kind =
        el("span").class("kind").attr("data-kind", kind(entry.kind)).text(entry.kind.label());
    el("tr").child([
        el("th").attr("scope", "row").text(&entry.label),
        value,
        el("td").child(kind),
        el("td").class("wide").text(&entry.source),
        el("td").class("wide").child(el("code").text(entry.formula.as_deref().unwrap_or_default())),
    ])
}

/// A value in the unit that reads best; in its own if that is not a unit of quantities.
fn shown(value: f64, unit: &str) -> String {
    let known = match unit {
        "bytes" => Unit::Bytes,
        "bytes/s" => Unit::BytesPerSecond,
        "FLOP/s" => Unit::FlopsPerSecond,
        "parameters" => Unit::Parameters,
        "tokens" => Unit::Tokens,
        "req/s" => Unit::RequestsPerSecond,
        "s" => Unit::Seconds,
        "ms" => Unit::Milliseconds,
        _ => return strings::with_unit(&quantity::editable(value), unit),
    };
    quantity::format(value, known)
}

fn kind(kind: Provenance) -> &'static str {
    match kind {
        Provenance::Measured => "measured",
        Provenance::Published => "published",
        Provenance::Derived => "derived",
        Provenance::Assumed => "assumed",
        Provenance::Given => "given",
        Provenance::Calibrated => "calibrated",
    }
}
