//! What else would do: a chart of cost against latency, and a table whose rows come as rounds end.

use leptos::{ev, prelude::*};
use planner::{Alternative, AlternativesAnswer, Basis};
use protocol::DecisionNews;
use scenario::Scenario;

use super::{
    Kind, Same,
    costs_chart::costs_chart,
    panel::{self, words},
};
use crate::{
    browser,
    dom::{El, Nodes, el},
    memo::memo,
    state::State,
    strings,
    views::plan::{ANSWER_ID, column_names},
};

/// Rows that are shown at first, beside those of the front.
const SHOWN: usize = 8;

pub(super) fn panel(state: State) -> El {
    panel::panel(
        state,
        Kind::Alternatives,
        ("alternatives", strings::ALTERNATIVES_TITLE, strings::ALTERNATIVES_BESIDE),
        content,
    )
}

/// The rows that are known, if the question was one that has any.
pub(super) fn answer(told: Option<&Same>) -> Option<&AlternativesAnswer> {
    match &told?.0.news {
        DecisionNews::Alternatives(answer) => Some(answer),
        _ => None,
    }
}

fn content(state: State, told: Memo<Option<Same>>) -> El {
    let all = RwSignal::new(false);
    let refused = move || match told.get().as_ref().map(|Same(told)| &told.news) {
        Some(DecisionNews::Refused(message)) => words(std::slice::from_ref(message)).into(),
        _ => Nodes::default(),
    };
    let before = move || {
        let told = told.get();
        let Some(answer) = answer(told.as_ref()) else { return Nodes::default() };
        words(&[report::alternatives_headline(answer)]).into()
    };
    let after = move || {
        let told = told.get();
        let Some(answer) = answer(told.as_ref()) else { return Nodes::default() };
        let mut nodes = vec![words(&notes(state, answer, all.get()))];
        nodes.extend(tuned(state, answer));
        nodes.into()
    };
    let rows = move || {
        let told = told.get();
        let Some(answer) = answer(told.as_ref()) else { return Vec::new() };
        let rows = answer.rows.iter().enumerate();
        let is_shown =
            |place: usize, row: &Alternative| all.get() || place < SHOWN || row.is_on_front;
        let here = state.current.with(Scenario::to_link);
        rows.filter(|(place, row)| is_shown(*place, row))
            .map(|(_, alternative)| row(state, alternative, &here))
            .collect::<Vec<El>>()
    };
    let has_rows = move || told.with(|told| answer(told.as_ref()).is_some());
    let more = move || {
        let count = told.with(|told| answer(told.as_ref()).map_or(0, |answer| answer.rows.len()));
        if all.get() { strings::SHOW_FEWER.to_owned() } else { strings::show_all(count) }
    };
    let is_long = move || {
        told.with(|told| answer(told.as_ref()).is_some_and(|answer| answer.rows.len() > SHOWN))
    };
    el("div")
        .region(refused)
        .region(before)
        .child(costs_chart(told))
        .when(has_rows, move || {
            el("div")
                .class("table-scroll alternatives-table")
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", strings::ALTERNATIVES_TITLE)
                .child(el("table").child([
                    el("thead").child(column_names(&strings::ALTERNATIVES_COLUMNS)),
                    el("tbody").region(rows),
                ]))
        })
        .when(is_long, move || {
            el("button")
                .attr("type", "button")
                .class("button button-small alternatives-more")
                .on(ev::click, move |_| all.update(|all| *all = !*all))
                .text_of(more)
        })
        .region(after)
}

/// What the signs mean, what has to be known, and what was left out.
fn notes(state: State, answer: &AlternativesAnswer, all: bool) -> Vec<String> {
    let shown = if all { answer.rows.len() } else { SHOWN };
    let is_shown = |(place, row): &(usize, &Alternative)| *place < shown || row.is_on_front;
    let told = answer.rows.iter().enumerate().filter(is_shown).count();
    let mut notes = vec![strings::ALTERNATIVES_SIGNS.to_owned()];
    let caution =
        state.current.with(|scenario| report::alternatives_caution(answer, scenario, shown));
    notes.extend(caution.map(str::to_owned));
    notes.extend(report::alternatives_left_out(answer, told).lines().map(str::to_owned));
    notes
}

/// The cheapest with other limits of the scheduler.
fn tuned(state: State, answer: &AlternativesAnswer) -> Option<El> {
    let tuned = answer.tuned.as_ref()?;
    let text = report::tuned_text(tuned);
    let link = tuned.link.clone();
    Some(el("p").class("alternatives-tuned").text(text.trim_end()).text(" ").child(use_button(
        state,
        link,
        strings::USE_TUNED,
    )))
}

fn row(state: State, row: &Alternative, here: &str) -> El {
    let [mark, cells @ ..] = report::alternative_cells(row);
    let cell = |text: &String| el("td").text(text);
    let is_here = row.link == here;
    let name = report::fleet_name(row);
    let last = if is_here {
        el("td").text(strings::IN_USE)
    } else {
        let link = row.link.clone();
        el("td").child(use_button(state, link, &strings::use_alternative(&name, &row.weights)))
    };
    el("tr")
        .attr("data-current", if is_here { "true" } else { "false" })
        .attr("data-basis", if row.basis == Basis::Simulated { "simulated" } else { "bounded" })
        .child(
            el("th")
                .attr("scope", "row")
                .text(&mark)
                .text(" ")
                .child(el("span").class("hidden-but-read").text(&name)),
        )
        .child(cells.iter().map(cell).collect::<Vec<_>>())
        .child(last)
}

/// Puts another scenario in force, as a step that can be undone.
fn use_button(state: State, link: String, spoken: &str) -> El {
    el("button")
        .attr("type", "button")
        .class("button button-small")
        .attr("aria-label", spoken)
        .on(ev::click, move |_| {
            state.change(Scenario::from_link(&link).scenario);
            browser::catch_focus(ANSWER_ID);
        })
        .text(strings::USE_THIS)
}

/// The rows that a chart shows, in its order.
pub(super) fn drawn(told: Memo<Option<Same>>) -> Memo<Vec<charts::CostDot>> {
    memo(move |_| told.with(|told| answer(told.as_ref()).map_or_else(Vec::new, report::cost_dots)))
}
