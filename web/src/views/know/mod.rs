//! How we know: the simulator's truths, proved in the visitor's browser, and what is assumed.

mod accuracy;
mod assumptions;
mod comparisons;
mod know_card;
mod queues_card;
mod truths;

use leptos::prelude::*;

use crate::{
    dom::{El, Nodes, el},
    state::State,
    strings,
};

/// The main column. The proof begins when it is first looked at.
///
/// The only way to what is in here, and never inlined: the page loads it when somebody comes.
#[inline(never)]
pub(crate) fn know(state: State) -> Nodes {
    if state.proved.with_untracked(Option::is_none) {
        state.prove();
    }
    let heading = el("h1").class("hidden-but-read").text(strings::KNOW_HEADING);
    let right = el("div")
        .class("know-column")
        .child([queues_card::queues_card(state), comparisons::comparisons(state)]);
    let columns = el("div").class("know-columns").child([truths::truths(state), right]);
    [
        heading,
        know_card::know_card(state),
        columns,
        accuracy::accuracy(),
        assumptions::assumptions(state),
    ]
    .into()
}

/// A card with a title and a line beside it.
fn panel(class: &str, title: &'static str, beside: &'static str) -> El {
    el("section").class(class).child(el("div").class("panel-head").child([
        el("h2").class("panel-title").text(title),
        el("span").class("panel-sub").text(beside),
    ]))
}

/// A table that can be scrolled, its rows told by `rows`.
pub(crate) fn table(
    name: &'static str,
    columns: &[&str],
    rows: impl Fn() -> Vec<El> + 'static,
) -> El {
    el("div")
        .class("table-scroll")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", name)
        .child(el("table").child([
            el("thead").child(crate::views::plan::column_names(columns)),
            el("tbody").region(rows),
        ]))
}

/// A row: its name, then its cells.
pub(crate) fn row(name: &str, cells: &[String]) -> El {
    let cell = |text: &String| el("td").text(text);
    el("tr")
        .child(el("th").attr("scope", "row").text(name))
        .child(cells.iter().map(cell).collect::<Vec<_>>())
}
