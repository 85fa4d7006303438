//! The knee as a table: the same numbers, for reading and for copying.

use leptos::{ev, prelude::*};
use planner::LoadPoint;
use quantity::{duration, number, share};

use super::knee_data::Knee;
use crate::{
    browser,
    dom::{El, el},
    state::State,
    strings,
};

/// The table in the place of the chart. With other numbers it has other rows; the rest, which can be
/// scrolled and focused, stays.
///
/// A door: the page loads it when somebody looks at it, so that it is never inlined.
#[inline(never)]
pub(crate) fn knee_table(state: State, knee: Memo<Option<Knee>>) -> El {
    let copy = move |_| {
        let text = knee.with_untracked(|knee| {
            tab_separated(knee.as_ref().map_or(&[], |knee| knee.points.as_slice()))
        });
        browser::copy(&text, move |worked| {
            let said = if worked { strings::TABLE_COPIED } else { strings::COPY_FAILED };
            state.toast.set(Some(said.to_owned()));
        });
    };
    let has_users = move || knee.with(|knee| knee.as_ref().is_some_and(|k| has_users(&k.points)));
    let is_estimate = move || knee.with(|knee| knee.as_ref().is_some_and(|knee| knee.is_estimate));
    let rows = move || knee.with(|knee| knee.as_ref().map_or_else(Vec::new, rows));
    el("div")
        .class("table-scroll")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", strings::KNEE_TITLE)
        .child(el("table").child([
            el("thead").region(move || column_names(columns(has_users()))),
            el("tbody").class_of("stale", is_estimate).region(rows),
        ]))
        .child(
            el("button")
                .attr("type", "button")
                .class("button button-small table-copy")
                .flag_of("disabled", is_estimate)
                .on(ev::click, copy)
                .text(strings::COPY_TABLE),
        )
}

/// The row of a table's head.
pub(crate) fn column_names(names: &[&str]) -> El {
    let cell = |name: &&str| el("th").attr("scope", "col").text(name);
    el("tr").child(names.iter().map(cell).collect::<Vec<_>>())
}

/// Whether the loads are users of a closed loop.
fn has_users(points: &[LoadPoint]) -> bool {
    points.iter().any(|point| point.users.is_some())
}

/// Names of the columns; users come before the rate that they came to.
fn columns(has_users: bool) -> &'static [&'static str] {
    &strings::KNEE_COLUMNS[usize::from(!has_users)..]
}

fn rows(knee: &Knee) -> Vec<El> {
    if knee.is_stale {
        // As many as there were, so that nothing moves.
        let columns = columns(has_users(&knee.points));
        return knee.points.iter().map(|_| unknown_row(columns)).collect();
    }
    let planned = knee.data.planned_rate_per_s;
    loads(&knee.points)
        .into_iter()
        .map(|(point, users, rate)| {
            let is_planned = planned.is_some_and(|rate| is_near(rate, point.rate_per_s));
            let (head, second) = match users {
                Some(users) => (users, Some(el("td").text(&rate))),
                None => (rate, None),
            };
            el("tr")
                .attr("data-current", if is_planned { "true" } else { "false" })
                .child(el("th").attr("scope", "row").text(&head))
                .child(second)
                .child(cells(point).into_iter().map(cell).collect::<Vec<_>>())
        })
        .collect()
}

/// A row without numbers: those that are known are of an older scenario.
fn unknown_row(columns: &[&str]) -> El {
    let cell = |_: &&str| el("td").text(strings::UNKNOWN);
    el("tr").child(columns.iter().map(cell).collect::<Vec<_>>())
}

/// The points in their order, each with its users, if it has any, and its rate.
fn loads(points: &[LoadPoint]) -> Vec<(&LoadPoint, Option<String>, String)> {
    let points = report::by_load(points);
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s).collect();
    points
        .into_iter()
        .zip(quantity::distinct(&rates))
        .map(|(point, rate)| (point, point.users.map(quantity::whole), rate))
        .collect()
}

/// The cells after the rate; why where the number is withheld.
fn cells(point: &LoadPoint) -> [Result<String, &'static str>; 7] {
    let time = |percent: f64, value: f64| {
        if point.has_percentile(percent) {
            Ok(duration(value))
        } else {
            Err(strings::withheld(point.stable))
        }
    };
    [
        time(50.0, point.ttft_p50_s.value),
        time(99.0, point.ttft_p99_s.value),
        time(99.0, point.tpot_p99_s.value),
        time(99.0, point.itl_p99_s.value),
        Ok(number(point.goodput_per_s.value)),
        Ok(share(point.slo_share.value)),
        Ok(number(point.mean_running)),
    ]
}

fn cell(text: Result<String, &'static str>) -> El {
    let cell = el("td");
    match text {
        Ok(text) => cell.text(&text),
        Err(reason) => cell.class("withheld").attr("title", reason).child([
            el("span").attr("aria-hidden", "true").text(strings::UNKNOWN),
            el("span").class("hidden-but-read").text(reason),
        ]),
    }
}

fn tab_separated(points: &[LoadPoint]) -> String {
    let mut text = columns(has_users(points)).join("\t");
    for (point, users, rate) in loads(points) {
        text.push('\n');
        if let Some(users) = users {
            text.push_str(&users);
            text.push('\t');
        }
        text.push_str(&rate);
        for cell in cells(point) {
            text.push('\t');
            text.push_str(&cell.unwrap_or_else(str::to_owned));
        }
    }
    text
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs()
}
