//! What would change the answer: a bar for each input between the ends of its range.

use leptos::prelude::*;
use planner::{Outcome, SensitivityAnswer};
use protocol::DecisionNews;
use quantity::{money, number};

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

pub(super) fn panel(state: State) -> El {
    panel::panel(
        state,
        Kind::Sensitivity,
        ("tornado", strings::TORNADO_TITLE, strings::TORNADO_BESIDE),
        content,
    )
}

/// How far the answer moves, where that is what was told.
fn answer(told: Option<&Same>) -> Option<&SensitivityAnswer> {
    match &told?.0.news {
        DecisionNews::Sensitivity(answer) => answer.as_deref(),
        _ => None,
    }
}

fn content(_: State, told: Memo<Option<Same>>) -> El {
    let said = move || match told.get().as_ref().map(|Same(told)| &told.news) {
        Some(DecisionNews::Sensitivity(Some(answer))) => describe(answer),
        Some(DecisionNews::Sensitivity(None)) => {
            words(&[report::WHY_OUT_OF_REACH.to_owned()]).into()
        }
        Some(DecisionNews::Refused(message)) => words(std::slice::from_ref(message)).into(),
        _ => Nodes::default(),
    };
    let rows = move || {
        told.with(|told| {
            let bars = answer(told.as_ref()).map_or(&[][..], |answer| &answer.bars);
            bars.iter().map(|bar| row(&report::sensitivity_cells(bar))).collect::<Vec<El>>()
        })
    };
    let table = folded_table(strings::TORNADO_TITLE, &strings::TORNADO_COLUMNS, rows)
        .flag_of("hidden", move || told.with(|told| answer(told.as_ref()).is_none()));
    el("div").region(said).child(table)
}

fn describe(answer: &SensitivityAnswer) -> Nodes {
    let data = report::tornado_data(answer);
    let (mut low, mut high) = (data.base, data.base);
    for value in data.bars.iter().flat_map(|bar| [bar.answers.0, bar.answers.1]) {
        low = if value < low { value } else { low };
        high = if value > high { value } else { high };
    }
    let width = if high > low { high - low } else { 1.0 };
    let part = |value: f64| (value - low) / width;
    let base = part(data.base);
    let told = |end: &Option<Outcome>| match end {
        None => strings::OUT_OF_REACH_END.to_owned(),
        Some(Outcome { per_hour: Some(dollars), .. }) => money(*dollars),
        Some(outcome) => number(outcome.gpus_unrounded),
    };
    let bar = |(bar, drawn): (&planner::Bar, &charts::TornadoBar)| {
        let (at_low, at_high) = drawn.answers;
        let ends = (told(&bar.low), told(&bar.high));
        let is_turned = at_low > at_high || bar.low.is_none();
        Row {
            name: drawn.name.clone(),
            note: strings::from_to(&drawn.ends.0, &drawn.ends.1),
            spans: vec![
                Span { from: base, to: part(at_low), ink: "low" },
                Span { from: base, to: part(at_high), ink: "high" },
            ],
            ends: if is_turned { (ends.1, ends.0) } else { ends },
            is_main: false,
        }
    };
    let rows: Vec<Row> = answer.bars.iter().zip(&data.bars).map(bar).collect();
    let key = |ink: &'static str, text: &str| {
        el("span")
            .class("readout-item")
            .child(el("i").class("key").attr("data-ink", ink))
            .text(text)
    };
    [
        words(&report::sensitivity_lines(answer)),
        el("p").class("readout decision-legend").child([
            el("span").class("readout-at").text(&data.title),
            key("low", strings::LOWER_END),
            key("high", strings::UPPER_END),
        ]),
        bars(&data.title, &rows, Some(base)),
        el("p").class("decision-note").text(report::SENSITIVITY_NOTE),
    ]
    .into()
}
