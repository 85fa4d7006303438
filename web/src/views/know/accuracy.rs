//! How far the model is off where it was not fitted, by regime.

use report::{RegimeError, TimeError};

use super::table;
use crate::{
    dom::{El, el},
    strings,
};

/// An error of which a bar takes the whole width of its cell.
const WHOLE: f64 = 0.5;

/// The card.
pub(crate) fn accuracy() -> El {
    let rows = || report::regime_errors().iter().map(told).collect();
    super::panel("card panel know-accuracy", strings::LATENCY_ACCURACY, strings::ACCURACY_BESIDE)
        .child([
            table(strings::LATENCY_ACCURACY, &strings::ACCURACY_COLUMNS, rows),
            el("p").class("control-help").text(strings::ACCURACY_SOURCE),
        ])
}

fn told(error: &RegimeError) -> El {
    el("tr")
        .child([
            el("th").attr("scope", "row").text(error.regime),
            el("td").text(&quantity::count(error.runs)),
        ])
        .child([&error.ttft, &error.tpot, &error.e2e].map(cell))
}

/// “9.3 %, 90 % within 17 %”, over a bar as long as the median.
fn cell(error: &TimeError) -> El {
    let part = if error.median < WHOLE { error.median / WHOLE } else { 1.0 };
    let bar = el("span")
        .class("accuracy-bar")
        .attr("aria-hidden", "true")
        .style("--part", &quantity::plain(part, 0));
    el("td")
        .class("accuracy-cell")
        .child(bar)
        .text(&strings::median_and_p90(error.median, error.p90))
}
