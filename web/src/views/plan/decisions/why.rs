//! What holds the plan back: what binds, what would bind next, and what a tenth more of each thing
//! gives.

use leptos::prelude::*;
use planner::{Gain, WhyAnswer};
use protocol::DecisionNews;
use quantity::change;

use super::{
    Kind, Same,
    bars::{Row, Span, bars},
    panel::{self, folded_table, row, words},
};
use crate::{
    dom::{El, Nodes, el},
    state::State,
    strings,
};

/// Growth from which on the longest bar fills its track.
const LEAST_SCALE: f64 = 0.15;

pub(super) fn panel(state: State) -> El {
    panel::panel(state, Kind::Why, ("why", strings::WHY_TITLE, strings::WHY_BESIDE), content)
}

/// What binds, where that is what was told.
fn answer(told: Option<&Same>) -> Option<&WhyAnswer> {
    match &told?.0.news {
        DecisionNews::Why(answer) => answer.as_deref(),
        _ => None,
    }
}

fn content(_: State, told: Memo<Option<Same>>) -> El {
    let said = move || match told.get().as_ref().map(|Same(told)| &told.news) {
        Some(DecisionNews::Why(Some(answer))) => describe(answer),
        Some(DecisionNews::Why(None)) => words(&[report::WHY_OUT_OF_REACH.to_owned()]).into(),
        Some(DecisionNews::Refused(message)) => words(std::slice::from_ref(message)).into(),
        _ => Nodes::default(),
    };
    let rows = move || {
        told.with(|told| {
            let gains = answer(told.as_ref()).map(|answer| report::gain_rows(&answer.gains));
            gains.unwrap_or_default().iter().map(|cells| row(cells)).collect::<Vec<El>>()
        })
    };
    let table = folded_table(strings::WHY_TITLE, &strings::WHY_COLUMNS, rows)
        .flag_of("hidden", move || told.with(|told| answer(told.as_ref()).is_none()));
    el("div").region(said).child(table)
}

fn describe(answer: &WhyAnswer) -> Nodes {
    // The greatest first.
    let mut order: Vec<(f64, f64)> = answer
        .gains
        .iter()
        .enumerate()
        .map(|(place, gain)| (-gain.gain.value, place as f64))
        .collect();
    sim_core::sort::by_first(&mut order);
    let most = order.first().map_or(LEAST_SCALE, |(least, _)| -least);
    let scale = if most > LEAST_SCALE { most } else { LEAST_SCALE };
    let cells = report::gain_rows(&answer.gains);
    let bar = |&(_, place): &(f64, f64)| -> Option<Row> {
        let place = place as usize;
        let (gain, cells) = (answer.gains.get(place)?, cells.get(place)?);
        Some(Row {
            name: cells[0].clone(),
            note: cells[2].clone(),
            spans: vec![Span { from: 0.0, to: part(gain, scale), ink: "load" }],
            ends: (String::new(), change(1.0 + gain.gain.value)),
            is_main: Some(gain.limit) == answer.binding,
        })
    };
    let rows: Vec<Row> = order.iter().filter_map(bar).collect();
    [
        words(&report::why_lines(answer)),
        el("p").class("decision-note").text(strings::WHY_SCALE),
        bars(strings::WHY_SCALE, &rows, None),
    ]
    .into()
}

/// Part of the track; what runs cannot tell from nothing has none.
fn part(gain: &Gain, scale: f64) -> f64 {
    let part = gain.gain.value / scale;
    if part > 0.0 { part } else { 0.0 }
}
