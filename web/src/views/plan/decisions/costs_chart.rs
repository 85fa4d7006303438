//! Cost against latency: the chart, and a cursor that is a native slider, so that pointer, keyboard and
//! screen reader move the same thing.

use charts::CostDot;
use leptos::{ev, prelude::*};
use web_sys::{HtmlCanvasElement, HtmlInputElement};

use super::{Same, alternatives::drawn};
use crate::{
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el},
    memo::{effect, memo},
    strings,
    theme::ThemeState,
};

/// What the chart's parts share.
#[derive(Clone, Copy)]
struct Chart {
    dots: Memo<Vec<CostDot>>,
    surface: RwSignal<Surface>,
    /// The dot that is read.
    cursor: RwSignal<Option<usize>>,
    theme: ThemeState,
}

impl Chart {
    /// Where the dots are, CSS px.
    fn places(self) -> Vec<(f64, f64)> {
        let surface = self.surface.get();
        self.dots.with(|dots| charts::cost_places(dots, &chart_style(&surface)))
    }

    /// The dot that is read; the cheapest of the front where nobody chose.
    fn at(self) -> usize {
        let count = self.dots.with(Vec::len);
        self.cursor.get().filter(|at| *at < count).unwrap_or(0)
    }

    fn told(self) -> String {
        let at = self.at();
        self.dots.with(|dots| dots.get(at).map(strings::cost_dot).unwrap_or_default())
    }
}

pub(super) fn costs_chart(told: Memo<Option<Same>>) -> El {
    let chart = Chart {
        dots: drawn(told),
        surface: RwSignal::new(Surface::default()),
        cursor: RwSignal::new(None),
        theme: expect_context::<ThemeState>(),
    };
    let canvas = el("canvas").attr("aria-hidden", "true");
    paint_when_needed(chart, canvas.clone());
    let plot = el("div").class("plot costs-plot").child([canvas, ring(chart), cursor(chart)]);
    watch_size(plot.node(), chart.surface);
    let has_dots = memo(move |_| chart.dots.with(|dots| !dots.is_empty()));
    el("div").class("costs").flag_of("hidden", move || !has_dots.get()).child([
        legend(),
        plot,
        el("p").class("costs-read").text_of(move || chart.told()),
    ])
}

fn legend() -> El {
    let key = |ink: &'static str, text: &str| {
        el("span")
            .class("readout-item")
            .child(el("i").class("key key-dot").attr("data-ink", ink))
            .text(text)
    };
    el("p").class("readout decision-legend").child([
        el("span").class("readout-at").text(strings::COSTS_AXES),
        key("load", strings::ON_FRONT),
        key("other", strings::OFF_FRONT),
    ])
}

/// A ring around the dot that is read.
fn ring(chart: Chart) -> El {
    let place = move |tell: fn((f64, f64)) -> f64| {
        move || {
            let places = chart.places();
            browser::px(places.get(chart.at()).map_or(0.0, |place| tell(*place)))
        }
    };
    el("span")
        .class("costs-ring")
        .attr("aria-hidden", "true")
        .style_of("left", place(|(x, _)| x))
        .style_of("top", place(|(_, y)| y))
}

/// The native slider over the plot.
fn cursor(chart: Chart) -> El {
    let last = move || chart.dots.with(|dots| dots.len().saturating_sub(1));
    let on_move = move |event: ev::PointerEvent| {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let places = untrack(|| chart.places());
        let mut nearest: Option<(f64, usize)> = None;
        for (index, (at_x, at_y)) in places.into_iter().enumerate() {
            let distance = (at_x - x) * (at_x - x) + (at_y - y) * (at_y - y);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, index));
            }
        }
        chart.cursor.set(nearest.map(|(_, index)| index));
    };
    let on_input = move |event: ev::Event| {
        let value = event_target::<HtmlInputElement>(&event).value_as_number();
        chart.cursor.set(Some(value as usize));
    };
    el("input")
        .attr("type", "range")
        .class("plot-cursor costs-cursor")
        .attr("min", "0")
        .attr_of("max", move || quantity::plain(last() as f64, 0))
        .attr("aria-label", strings::COSTS_CURSOR)
        .attr_of("aria-valuetext", move || chart.told())
        .property_of("value", move || chart.at() as f64)
        .on(ev::pointermove, on_move)
        .on(ev::input, on_input)
}

fn paint_when_needed(chart: Chart, canvas: El) {
    let frame = Frame::new(move || untrack(|| paint(chart, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        chart.dots.track();
        chart.surface.track();
        chart.theme.is_dark.track();
        chart.theme.is_forced.track();
        frame.ask();
    });
}

fn paint(chart: Chart, canvas: &HtmlCanvasElement) {
    let surface = chart.surface.get();
    let is_empty = chart.dots.with(Vec::is_empty);
    if !surface.is_visible() || is_empty {
        return;
    }
    let style = chart_style(&surface);
    let colours =
        if chart.theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT };
    if let Some(area) = drawing_area(canvas, &surface, &style, &colours) {
        let dots = chart.dots.get();
        // What cannot be drawn still stands in the table.
        let _ = charts::draw_costs(&area, &dots, strings::COSTS_LATENCY, &colours, &style);
    }
}
