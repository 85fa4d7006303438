//! What was understood, the constants, and each point before and after.

use protocol::{CalibratedTime, Understood, UnderstoodFile, UnderstoodPoint};
use quantity::{change, duration_or_unknown, editable};

use leptos::prelude::*;

use super::{Shown, Told, panel};
use crate::{
    dom::{El, Nodes, el},
    icons::Icon,
    strings,
    views::know::{row, table},
};

/// Places that are not used, shown of each file.
const PLACES_SHOWN: usize = 3;

/// The files, what was taken from them, and what a person should know.
pub(super) fn understood(shown: Told) -> Nodes {
    let rows = move || -> Vec<El> {
        shown.with(|shown| shown.iter().flat_map(|shown| shown.told_files()).map(file).collect())
    };
    let more = move || -> Vec<El> {
        shown.with(|shown| {
            let found = shown.as_ref().and_then(|shown| shown.understood.as_deref());
            found.map(beside).unwrap_or_default()
        })
    };
    panel("card panel calibrate-understood", strings::FILES_UNDERSTOOD, "")
        .child(el("ul").class("calibrate-files").region(rows))
        .region(more)
        .into()
}

fn file(file: &UnderstoodFile) -> El {
    let icon = if file.is_refused { Icon::Cross } else { Icon::Tick };
    let words = el("div").child([
        el("p").class("calibrate-file-name").text(&quantity::visible(&file.name)),
        el("p").class("calibrate-file-what").text(&file.what),
    ]);
    let words = if file.skipped_total > 0 {
        let line = |text: &String| el("li").text(text);
        words.child([
            el("p").class("calibrate-file-what").text(&strings::places_unused(file.skipped_total)),
            el("ul")
                .class("calibrate-skipped")
                .child(file.skipped.iter().take(PLACES_SHOWN).map(line).collect::<Vec<_>>()),
        ])
    } else {
        words
    };
    el("li")
        .class("calibrate-file")
        .attr("data-refused", if file.is_refused { "true" } else { "false" })
        .child([icon.el(), words])
}

fn beside(found: &Understood) -> Vec<El> {
    let mut all = Vec::new();
    if !found.taken.is_empty() {
        let setting = |(key, value): &(String, String)| {
            el("code")
                .class("calibrate-setting")
                .text(&[key.as_str(), "=", value.as_str()].concat())
        };
        all.push(el("p").class("calibrate-words").text(strings::TAKEN_SETTINGS));
        all.push(
            el("p")
                .class("calibrate-settings")
                .child(found.taken.iter().map(setting).collect::<Vec<_>>()),
        );
    }
    if !found.notes.is_empty() {
        let line = |text: &String| el("li").text(text);
        all.push(el("ul").class("words").child(found.notes.iter().map(line).collect::<Vec<_>>()));
    }
    all
}

/// The constants before and after.
pub(super) fn constants(shown: Told) -> El {
    let rows = move || -> Vec<El> {
        shown.with(|shown| {
            let outcome = shown.as_ref().and_then(|shown| shown.outcome());
            let all = outcome.into_iter().flat_map(|outcome| &outcome.constants);
            all.map(|it| {
                let cells = [editable(it.before), editable(it.after), it.key.clone()];
                row(strings::constant_name(&it.key), &cells)
            })
            .collect()
        })
    };
    panel("card panel calibrate-constants", strings::CONSTANTS, strings::CONSTANTS_BESIDE)
        .child(table(strings::CONSTANTS, &strings::CONSTANT_COLUMNS, rows))
}

/// Each point as it was measured, and as the model says before and after.
pub(super) fn points(shown: Told) -> El {
    let rows = move || -> Vec<El> {
        shown.with(|shown| {
            let Some(shown) = shown.as_ref() else { return Vec::new() };
            let found = shown.understood.iter().flat_map(|found| found.points.iter().enumerate());
            found.map(|(at, point)| point_row(shown, at, point)).collect()
        })
    };
    panel("card panel calibrate-points", strings::MEASURED_POINTS, strings::POINTS_BESIDE)
        .child(table(strings::MEASURED_POINTS, &strings::POINT_COLUMNS, rows))
}

fn point_row(shown: &Shown, at: usize, point: &UnderstoodPoint) -> El {
    let measured = |measured_s| CalibratedTime { measured_s, ..CalibratedTime::default() };
    let calibrated = shown.outcome().and_then(|outcome| outcome.points.get(at));
    let (ttft, tpot) = calibrated
        .map_or_else(|| (measured(point.ttft_s), measured(point.tpot_s)), |it| (it.ttft, it.tpot));
    let said = match calibrated {
        _ if point.is_overloaded => strings::LEFT_OUT,
        Some(it) if it.is_fitted => strings::FITTED,
        _ => "",
    };
    let cells = [
        duration_or_unknown(ttft.measured_s),
        predicted(&ttft, false),
        predicted(&ttft, true),
        duration_or_unknown(tpot.measured_s),
        predicted(&tpot, false),
        predicted(&tpot, true),
        said.to_owned(),
    ];
    row(&quantity::visible(&point.name), &cells)
}

/// “12 ms (−3 %)”.
fn predicted(time: &CalibratedTime, is_after: bool) -> String {
    let predicted_s = if is_after { time.after_s } else { time.before_s };
    let text = duration_or_unknown(predicted_s);
    match time.error(is_after) {
        Some(error) => [&text, " (", &change(1.0 + error), ")"].concat(),
        None => text,
    }
}
