//! The knee as a table: the same numbers, for reading and for copying.

use leptos::prelude::*;
use planner::LoadPoint;
use quantity::{duration, number, share};

use super::knee_data::Knee;
use crate::{browser, state::State, strings};

/// The table in the place of the chart.
pub(crate) fn knee_table(state: State, knee: &Knee) -> impl IntoView + use<> {
    let planned = knee.data.planned_rate_per_s;
    let text = tab_separated(&knee.points);
    let rows = knee
        .points
        .iter()
        .map(|point| {
            let is_planned = planned.is_some_and(|rate| is_near(rate, point.rate_per_s));
            let cells = cells(point).map(cell_view).into_iter().collect_view();
            view! {
                <tr data-current=is_planned.to_string()>
                    <th scope="row">{number(point.rate_per_s)}</th>
                    {cells}
                </tr>
            }
        })
        .collect_view();
    let copy = move |_| {
        browser::copy(&text, move |worked| {
            let said = if worked { strings::TABLE_COPIED } else { strings::COPY_FAILED };
            state.toast.set(Some(said.to_owned()));
        });
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label=strings::KNEE_TITLE>
            <table>
                <thead>
                    <tr>
                        {strings::KNEE_COLUMNS
                            .into_iter()
                            .map(|column| view! { <th scope="col">{column}</th> })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <button type="button" class="button button-small table-copy" on:click=copy>
                {strings::COPY_TABLE}
            </button>
        </div>
    }
}

/// The cells after the rate; none where the number is withheld.
fn cells(point: &LoadPoint) -> [Option<String>; 7] {
    let time = |value: f64| point.stable.then(|| duration(value));
    [
        time(point.ttft_p50_s.value),
        time(point.ttft_p99_s.value),
        time(point.tpot_p99_s.value),
        time(point.itl_p99_s.value),
        Some(number(point.goodput_per_s.value)),
        Some(share(point.slo_share.value)),
        Some(number(point.mean_running)),
    ]
}

fn cell_view(text: Option<String>) -> AnyView {
    match text {
        Some(text) => view! { <td>{text}</td> }.into_any(),
        None => view! {
            <td class="withheld" title=strings::WITHHELD_CELL>
                <span aria-hidden="true">{strings::UNKNOWN}</span>
                <span class="hidden-but-read">{strings::WITHHELD_CELL}</span>
            </td>
        }
        .into_any(),
    }
}

fn tab_separated(points: &[LoadPoint]) -> String {
    let mut text = strings::KNEE_COLUMNS.join("\t");
    for point in points {
        text.push('\n');
        text.push_str(&number(point.rate_per_s));
        for cell in cells(point) {
            text.push('\t');
            text.push_str(&cell.unwrap_or_else(|| strings::WITHHELD_CELL.to_owned()));
        }
    }
    text
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs()
}
