//! The headroom gauge: load in solid cells, room in dashed ones, a mark at the load asked.

use leptos::prelude::*;
use quantity::number;

use super::card::Gauge;
use crate::strings;

/// From this many GPUs on one bar stands for all of them.
const MOST_CELLS: u64 = 24;

/// The gauge.
pub(crate) fn gauge_view(gauge: Gauge) -> impl IntoView {
    let cells = if gauge.gpus > MOST_CELLS { 1 } else { gauge.gpus };
    let carried = gauge.each_per_s * gauge.gpus as f64;
    let load = if carried > 0.0 { gauge.asked_per_s / carried } else { 0.0 };
    // What passes the end is drawn past it, and the scale makes room for it.
    let shown = if load > 1.0 { 1.0 / load } else { 1.0 };
    let at = if load > 1.0 { 1.0 } else { load };
    let filled = at * cells as f64;
    let views = (0..cells).map(|index| cell(filled - index as f64)).collect_view();
    let over = (load > 1.0).then(|| {
        let width = percent(1.0 - shown);
        view! { <div class="gauge-over" style:width=width></div> }
    });
    view! {
        <div class="gauge">
            <div class="gauge-cells" aria-hidden="true">
                {views}
                {over}
                <div class="gauge-mark" style:transform=format!("translateX({})", percent(at))></div>
            </div>
            <div class="gauge-labels">
                <span class="gauge-each">{strings::per_gpu(gauge.each_per_s)}</span>
                <span class="gauge-asked">
                    {number(gauge.asked_per_s)} <span class="wide-only">{strings::ASKED_UNIT}</span>
                </span>
                <span class="gauge-carried">{strings::carried(carried)}</span>
            </div>
        </div>
    }
}

/// One cell, holding this much of its own load.
fn cell(load: f64) -> impl IntoView {
    let part = (load > 0.0 && load < 1.0).then(|| {
        view! { <div class="gauge-load" style:width=percent(load)></div> }
    });
    view! {
        <div class="gauge-cell" data-full=(load >= 1.0).to_string()>
            {part}
        </div>
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
