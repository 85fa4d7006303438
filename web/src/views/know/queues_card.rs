//! Queueing theory beside simulation: a chart, and its table in its place.

use charts::{Interval, QueueDot, QueuePanel};
use leptos::{ev, prelude::*};
use planner::{Compared, ProofAnswer, Queue, QueuePoint};
use web_sys::HtmlCanvasElement;

use super::{row, table};
use crate::{
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el, svg},
    memo::effect,
    state::State,
    strings,
    theme::ThemeState,
};

/// The card.
pub(crate) fn queues_card(state: State) -> El {
    let as_table = RwSignal::new(false);
    let surface = RwSignal::new(Surface::default());
    let button = el("button")
        .attr("type", "button")
        .class("button-text")
        .truth_of("aria-pressed", move || as_table.get())
        .on(ev::click, move |_| as_table.update(|on| *on = !*on))
        .text(strings::TABLE);
    let head = el("figcaption").class("panel-head").child([
        el("h2").class("panel-title").attr("id", "queues-title").text(strings::QUEUES),
        el("span").class("panel-sub").text(strings::QUEUES_BESIDE),
        el("span").class("panel-actions").child(button),
    ]);
    let canvas = el("canvas").attr("aria-hidden", "true").flag_of("hidden", move || as_table.get());
    paint_when_needed(state, surface, canvas.clone());
    let rows = move || state.proved.with(|proved| proved.iter().flat_map(|a| rows(a)).collect());
    let plot = el("div").class("plot").child(canvas).when(
        move || as_table.get(),
        move || table(strings::QUEUES, &strings::QUEUE_COLUMNS, rows),
    );
    watch_size(plot.node(), surface);
    let summary = move || {
        state.proved.with(|proved| {
            let truth = proved.iter().flat_map(|answer| &answer.truths);
            let mut queues = truth.filter(|truth| truth.kind == planner::TruthKind::Queues);
            queues.next().map(report::truth_figures).unwrap_or_default()
        })
    };
    el("figure").class("card panel know-queues").attr("aria-labelledby", "queues-title").child([
        head,
        legend(),
        el("p").class("know-outside").text_of(summary),
        plot,
    ])
}

/// What the marks are.
fn legend() -> El {
    let line = || {
        svg("line")
            .attr("x1", "0")
            .attr("y1", "4")
            .attr("x2", "20")
            .attr("y2", "4")
            .attr("stroke-dasharray", "1.5 2.5")
    };
    let dot = || svg("circle").attr("cx", "10").attr("cy", "4").attr("r", "3.2");
    let cross = || svg("path").attr("d", "M6 0l8 8M14 0l-8 8");
    let item = |ink: &str, mark: El, name: &str| {
        let swatch = svg("svg").class(ink).attr("aria-hidden", "true").child(mark);
        el("span").class("readout-item").child(swatch).text(name)
    };
    el("p").class("readout").child([
        item("swatch ink-c1", dot(), strings::MEAN),
        item("swatch ink-c2", dot(), strings::P90),
        item("swatch ink-c4", dot(), strings::P99),
        item("swatch ink-c0", line(), strings::THEORY),
        item("swatch ink-warn", cross(), strings::OUTSIDE),
    ])
}

fn paint_when_needed(state: State, surface: RwSignal<Surface>, canvas: El) {
    let theme = expect_context::<ThemeState>();
    let frame = Frame::new(move || untrack(|| paint(state, theme, surface, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        state.proved.track();
        surface.track();
        theme.is_dark.track();
        theme.is_forced.track();
        frame.ask();
    });
}

fn paint(state: State, theme: ThemeState, surface: RwSignal<Surface>, canvas: &HtmlCanvasElement) {
    let surface = surface.get();
    if !surface.is_visible() {
        return;
    }
    let panels = state.proved.with(|proved| proved.as_deref().map(panels).unwrap_or_default());
    let style = chart_style(&surface);
    let colours = if theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT };
    if let Some(area) = drawing_area(canvas, &surface, &style, &colours) {
        // What cannot be drawn still stands in the table.
        let _ = charts::draw_queues(&area, &panels, &colours, &style);
    }
}

/// Every queue has its panel, whether its loads have been simulated or not.
fn panels(answer: &ProofAnswer) -> Vec<QueuePanel> {
    let dot = |point: &QueuePoint| {
        let all = [&point.mean, &point.p90, &point.p99];
        QueueDot {
            load: point.load,
            theory: all.map(|compared| compared.theory),
            simulated: all.map(|c| Interval::new(c.value, c.low, c.high)),
        }
    };
    let panel = |&queue: &Queue| QueuePanel {
        title: report::queue_name(queue).to_owned(),
        words: report::queue_words(queue).to_owned(),
        dots: answer.queues.iter().filter(|point| point.queue == queue).map(dot).collect(),
    };
    Queue::ALL.iter().map(panel).collect()
}

fn rows(answer: &ProofAnswer) -> Vec<El> {
    let of = |c: &Compared| [quantity::number(c.theory), report::compared(c)];
    let told = |point: &QueuePoint| {
        let name = strings::queue_at(report::queue_name(point.queue), point.load);
        let cells = [&point.mean, &point.p90, &point.p99].map(of);
        let inside = [point.mean, point.p90, point.p99].iter().all(Compared::is_inside);
        row(&name, cells.as_flattened()).attr("data-outside", if inside { "false" } else { "true" })
    };
    answer.queues.iter().map(told).collect()
}
