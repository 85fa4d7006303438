//! Other policies on the same traffic: a chart of what they take and whom they make wait, and a table
//! whose rows appear as they are tried.

use std::sync::Arc;

use charts::{PolicyDot, PolicyKind};
use leptos::prelude::*;
use protocol::{FleetRow, FleetSums};
use quantity::{duration, share};
use scenario::{FleetSpec, Scenario};
use web_sys::HtmlCanvasElement;

use super::{Shown, card::fewest_fixed};
use crate::{
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el},
    memo::{effect, memo},
    state::State,
    strings,
    theme::ThemeState,
};

/// One policy as it is told.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    name: String,
    sums: FleetSums,
    kind: PolicyKind,
    is_current: bool,
    is_cheapest: bool,
}

/// The card.
pub(super) fn policies(state: State, shown: Memo<Option<Arc<Shown>>>) -> El {
    let told = memo(move |_| {
        let now = state.current.get();
        shown.with(|shown| shown.as_deref().map_or_else(Vec::new, |shown| of(shown, &now)))
    });
    let surface = RwSignal::new(Surface::default());
    let canvas = el("canvas").attr("aria-hidden", "true");
    paint_when_needed(told, surface, canvas.clone());
    let plot = el("div").class("plot policies-plot").child(canvas);
    watch_size(plot.node(), surface);
    let beside = move || {
        let is_complete = shown.with(|shown| shown.as_ref().is_some_and(|s| s.is_complete));
        if is_complete { strings::POLICIES_BESIDE } else { strings::POLICIES_RUNNING }
    };
    let none = move || {
        shown.with(|shown| {
            let shown = shown.as_ref().filter(|shown| shown.is_complete && shown.rows.is_empty());
            shown.map_or("", |_| strings::POLICIES_NONE)
        })
    };
    let head = el("div").class("panel-head").child([
        el("h2").class("panel-title").text(strings::POLICIES),
        el("span").class("panel-sub").text_of(beside),
    ]);
    let rows = move || told.with(|told| told.iter().map(row).collect::<Vec<El>>());
    let table = crate::views::know::table(strings::POLICIES_TABLE, &strings::POLICY_COLUMNS, rows);
    el("section").class("card panel fleet-policies").attr("aria-label", strings::POLICIES).child([
        head,
        plot,
        table,
        el("p").class("control-help").text_of(none),
    ])
}

/// The policies by how many they make wait, and by what they take.
fn of(shown: &Shown, now: &Scenario) -> Vec<Told> {
    let Some(answer) = shown.current(now) else { return Vec::new() };
    let cheapest = fewest_fixed(now, shown).map(|row| row.spec);
    let name = |spec: &FleetSpec| {
        let start_s = (spec.policy == now.fleet.policy).then_some(spec.start_s);
        strings::policy_name(spec.policy_word(), spec.min, start_s)
    };
    let of_row = |row: &FleetRow| Told {
        name: name(&row.spec),
        sums: row.sums,
        kind: kind(&row.spec),
        is_current: false,
        is_cheapest: false,
    };
    let mut told: Vec<Told> = shown.rows.iter().map(of_row).collect();
    told.push(Told {
        name: [&name(&now.fleet), strings::THIS].concat(),
        sums: answer.sums,
        kind: kind(&now.fleet),
        is_current: true,
        is_cheapest: false,
    });
    let holds = |sums: &FleetSums| sums.met_share() >= now.slo.share;
    let mut best: Option<(f64, usize)> = None;
    for (index, policy) in told.iter().enumerate() {
        let hours = policy.sums.gpu_hours;
        if holds(&policy.sums) && best.is_none_or(|(least, _)| hours < least) {
            best = Some((hours, index));
        }
    }
    if let Some((_, index)) = best.filter(|_| shown.is_complete && cheapest.is_some()) {
        told[index].is_cheapest = true;
    }
    let mut order: Vec<(f64, f64)> = told
        .iter()
        .enumerate()
        .map(|(index, policy)| {
            // By the share that is late; among equals by what they take.
            (1e6 * (1.0 - policy.sums.met_share()) + 1e-3 * policy.sums.gpu_hours, index as f64)
        })
        .collect();
    sim_core::sort::by_first(&mut order);
    order.iter().filter_map(|&(_, index)| told.get(index as usize).cloned()).collect()
}

fn kind(spec: &FleetSpec) -> PolicyKind {
    if spec.policy_word() == "fixed" { PolicyKind::Fixed } else { PolicyKind::Reactive }
}

fn row(told: &Told) -> El {
    let cell = |text: String| el("td").text(&text);
    let name = el("th").attr("scope", "row").text(&told.name);
    let name = if told.is_cheapest {
        name.child(el("span").class("fleet-tag").text(strings::CHEAPEST))
    } else {
        name
    };
    let p99 = told.sums.ttft_s.1.map_or_else(|| strings::UNKNOWN.to_owned(), duration);
    el("tr").attr("data-current", if told.is_current { "true" } else { "false" }).child([
        name,
        cell(share(1.0 - told.sums.met_share())),
        cell(p99),
        cell(quantity::number(told.sums.gpu_hours)),
    ])
}

fn paint_when_needed(told: Memo<Vec<Told>>, surface: RwSignal<Surface>, canvas: El) {
    let theme = expect_context::<ThemeState>();
    let frame = Frame::new(move || untrack(|| paint(told, theme, surface, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        told.track();
        surface.track();
        theme.is_dark.track();
        theme.is_forced.track();
        frame.ask();
    });
}

fn paint(
    told: Memo<Vec<Told>>,
    theme: ThemeState,
    surface: RwSignal<Surface>,
    canvas: &HtmlCanvasElement,
) {
    let surface = surface.get();
    if !surface.is_visible() {
        return;
    }
    let dot = |policy: &Told| PolicyDot {
        name: policy.name.clone(),
        gpu_hours: policy.sums.gpu_hours,
        late: 1.0 - policy.sums.met_share(),
        kind: policy.kind,
        is_current: policy.is_current,
    };
    let dots: Vec<PolicyDot> = told.with(|told| told.iter().map(dot).collect());
    let style = chart_style(&surface);
    let colours = if theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT };
    if let Some(area) = drawing_area(canvas, &surface, &style, &colours) {
        // What cannot be drawn still stands in the table.
        let _ = charts::draw_policies(&area, &dots, &colours, &style);
    }
}
