//! Predicted against measured times, before and after.

use charts::CalibrationDot;
use leptos::prelude::*;
use protocol::{CalibratedPoint, CalibratedTime};
use web_sys::HtmlCanvasElement;

use super::Told;
use crate::{
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el, svg},
    memo::effect,
    strings,
    theme::ThemeState,
};

/// The card. The table of points holds the same numbers.
pub(super) fn chart(shown: Told) -> El {
    let surface = RwSignal::new(Surface::default());
    let head = el("figcaption").class("panel-head").child([
        el("h2").class("panel-title").attr("id", "predicted-title").text(strings::PREDICTED),
        el("span").class("panel-sub").text(strings::PREDICTED_BESIDE),
    ]);
    let canvas = el("canvas").attr("aria-hidden", "true");
    paint_when_needed(shown, surface, canvas.clone());
    let plot = el("div").class("plot").child(canvas);
    watch_size(plot.node(), surface);
    el("figure")
        .class("card panel calibrate-chart")
        .attr("aria-labelledby", "predicted-title")
        .child([head, legend(), plot])
}

fn legend() -> El {
    let item = |ink: &str, is_hollow: bool, name: &str| {
        let dot = svg("circle").attr("cx", "10").attr("cy", "4").attr("r", "3.6");
        let dot = if is_hollow {
            dot.attr("fill", "none").attr("stroke", "currentColor").attr("stroke-width", "1.6")
        } else {
            dot
        };
        let swatch = svg("svg").class(ink).attr("aria-hidden", "true").child(dot);
        el("span").class("readout-item").child(swatch).text(name)
    };
    el("p").class("readout calibrate-legend").child([
        item("swatch ink-c0", true, strings::BEFORE),
        item("swatch ink-c1", false, strings::AFTER),
        item("swatch ink-c2", false, strings::AFTER_LEFT_OUT),
    ])
}

fn paint_when_needed(shown: Told, surface: RwSignal<Surface>, canvas: El) {
    let theme = expect_context::<ThemeState>();
    let frame = Frame::new(move || untrack(|| paint(shown, theme, surface, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        shown.track();
        surface.track();
        theme.is_dark.track();
        theme.is_forced.track();
        frame.ask();
    });
}

fn paint(shown: Told, theme: ThemeState, surface: RwSignal<Surface>, canvas: &HtmlCanvasElement) {
    let surface = surface.get();
    if !surface.is_visible() {
        return;
    }
    let dots: Vec<CalibrationDot> = shown.with(|shown| {
        let outcome = shown.as_ref().and_then(|shown| shown.outcome());
        outcome.into_iter().flat_map(|outcome| &outcome.points).flat_map(dots).collect()
    });
    let style = chart_style(&surface);
    let colours = if theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT };
    if let Some(area) = drawing_area(canvas, &surface, &style, &colours) {
        // What cannot be drawn still stands in the table.
        let _ = charts::draw_calibration(&area, &dots, &colours, &style);
    }
}

fn dots(point: &CalibratedPoint) -> Vec<CalibrationDot> {
    let dot = |(panel, time): (usize, &CalibratedTime)| {
        Some(CalibrationDot {
            panel,
            measured_s: time.measured_s?,
            before_s: time.before_s?,
            after_s: time.after_s?,
            is_fitted: point.is_fitted,
        })
    };
    [&point.ttft, &point.tpot].into_iter().enumerate().filter_map(dot).collect()
}
