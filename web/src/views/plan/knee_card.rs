//! The knee: a readout that is legend and values in one, the chart, and a cursor that is a native
//! slider, so that pointer, keyboard and screen reader move the same thing.

use std::cell::Cell;

use charts::{Interval, KneeGeometry, Readout, Theme, readout};
use leptos::{ev, prelude::*};
use quantity::{Unit, duration, number, plus_minus};
use scenario::Scenario;
use web_sys::{HtmlCanvasElement, HtmlInputElement};

use super::{
    card::Card,
    knee_data::{Knee, knee},
    knee_files::save_png,
    knee_table::knee_table,
};
use crate::{
    app::Layout,
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el, svg},
    icons::Icon,
    late::note,
    memo::{effect, memo},
    state::State,
    strings,
    theme::ThemeState,
};

/// Steps of the native cursor input.
const STEPS: f64 = 1_000.0;
/// Points that Shift with an arrow passes.
const LONG_STEP: usize = 5;

/// What the card's parts share.
#[derive(Clone, Copy)]
struct Chart {
    state: State,
    knee: Memo<Option<Knee>>,
    surface: RwSignal<Surface>,
    geometry: RwSignal<Option<KneeGeometry>>,
    cursor: RwSignal<Option<f64>>,
    theme: ThemeState,
    layout: Layout,
}

impl Chart {
    /// The rate that is read: the cursor's, or the planned one.
    fn rate(self) -> Option<f64> {
        let planned = || {
            let planned = |knee: &Knee| {
                knee.data.planned_rate_per_s.or(knee.data.capacity_per_s.map(|c| c.value))
            };
            self.knee.with(|knee| knee.as_ref().and_then(planned))
        };
        self.cursor.get().or_else(planned)
    }

    fn readout(self) -> Option<Readout> {
        let rate = self.rate()?;
        self.knee.with(|knee| {
            let knee = knee.as_ref().filter(|knee| !knee.is_stale)?;
            Some(readout(&knee.data, rate))
        })
    }

    fn colours(self) -> Theme {
        if self.theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT }
    }

    fn is_there(self) -> bool {
        self.knee.with(Option::is_some)
    }

    fn is_estimate(self) -> bool {
        self.knee.with(|knee| knee.as_ref().is_some_and(|knee| knee.is_estimate))
    }

    /// Whether what is drawn is dimmed: no run of the present scenario is in, or only that of a slider
    /// that is held, which the next one takes the place of. Before the first answer nothing is drawn
    /// that could be.
    fn is_dim(self) -> bool {
        self.knee.with(|knee| {
            let Some(knee) = knee.as_ref().filter(|knee| knee.is_estimate) else { return false };
            !knee.points.is_empty() && (!knee.is_simulated || self.state.dragging.get())
        })
    }
}

/// The card.
pub(crate) fn knee_card(card: Memo<Card>) -> El {
    let state = expect_context::<State>();
    let chart = Chart {
        state,
        knee: memo(move |_| {
            let resolution = state.resolution.get();
            state.answered.with(|answered| knee(&resolution, answered.as_ref()))
        }),
        surface: RwSignal::new(Surface::default()),
        geometry: RwSignal::new(None),
        cursor: RwSignal::new(None),
        theme: expect_context::<ThemeState>(),
        layout: expect_context::<Layout>(),
    };
    let base = el("canvas");
    el("figure")
        .class("card panel knee")
        .class_of("knee-empty", move || !chart.is_there())
        .attr("aria-labelledby", "knee-title")
        .child([
            head(state, chart, base.clone()),
            readout_line(chart),
            el("p").class("hidden-but-read").text_of(move || summary(chart).unwrap_or_default()),
            plot(state, chart, base),
        ])
        .when(move || !chart.is_there(), move || empty(card))
}

/// In the place of readout and plot: why there is nothing to draw, and what to change.
fn empty(card: Memo<Card>) -> El {
    let way_out = move || card.with(|card| strings::way_out(card.first_change().as_deref()));
    el("div").class("plot-empty").child([
        Icon::Cross.el(),
        el("p").class("plot-empty-word").text_of(move || card.with(|card| card.word().to_owned())),
        el("p").text_of(move || card.with(|card| card.reason().to_owned())),
        el("p").text_of(way_out),
    ])
}

fn head(state: State, chart: Chart, base: El) -> El {
    let as_table = state.knee_as_table;
    let title = move || pick(chart, strings::KNEE_TITLE, strings::KNEE_TITLE_SHORT);
    let subtitle = move || {
        let replications = chart.knee.with(|k| k.as_ref().map_or(0, |k| k.replications));
        let server = || report::one_server(state.current.with(Scenario::gpus_per_engine));
        match chart.layout.is_phone.get() {
            true => server(),
            false if chart.is_dim() => server() + strings::ESTIMATED,
            false => {
                strings::knee_subtitle(state.current.with(Scenario::gpus_per_engine), replications)
            }
        }
    };
    let action = |text| el("button").attr("type", "button").class("button-text").text(text);
    let table = action(strings::TABLE)
        .attr("title", strings::TABLE_TITLE)
        .truth_of("aria-pressed", move || as_table.get())
        .on(ev::click, move |_| as_table.update(|on| *on = !*on));
    let picture = action(strings::PICTURE)
        .class("button-text wide-only-action")
        .attr("title", strings::PICTURE_TITLE)
        .flag_of("disabled", move || chart.is_dim())
        .on(ev::click, move |_| {
            let (surface, colours) = untrack(|| (chart.surface.get(), chart.colours()));
            let runs = chart.knee.with_untracked(|k| k.as_ref().map_or(0, |k| k.replications));
            let lines = state.current.with_untracked(|now| strings::picture_lines(now, runs));
            let worked = save_png(base.node(), &surface, &colours, &lines);
            state.toast.set(Some(strings::saved(worked).to_owned()));
        });
    el("figcaption").class("panel-head").child([
        el("h2").class("panel-title").attr("id", "knee-title").text_of(title),
        el("span").class("panel-sub").text_of(subtitle),
        el("span")
            .class("panel-actions")
            .flag_of("hidden", move || !chart.is_there())
            .child([picture, table]),
    ])
}

/// Canvases and cursor, or the table in their place.
fn plot(state: State, chart: Chart, base: El) -> El {
    let as_table = state.knee_as_table;
    let is_drawn = move || !as_table.get() && chart.is_there();
    let canvas =
        |canvas: El| canvas.attr("aria-hidden", "true").flag_of("hidden", move || !is_drawn());
    let base = canvas(base).class_of("stale", move || chart.is_dim());
    let overlay = canvas(el("canvas"));
    paint_when_needed(chart, base.clone());
    follow_cursor(chart, overlay.clone());
    let plot =
        el("div").class("plot").child([base, overlay]).when(is_drawn, move || cursor(chart)).when(
            move || as_table.get() && chart.is_there(),
            move || {
                el("div").class("plot-table").region(move || {
                    let build = || knee_table(state, chart.knee).into();
                    state.late.view(strings::NUMBERS_NOT_LOADED, note, build)
                })
            },
        );
    watch_size(plot.node(), chart.surface);
    plot
}

/// Draws the chart in the frame after whatever it shows has changed.
fn paint_when_needed(chart: Chart, canvas: El) {
    let told_ms = Cell::new(0.0);
    let frame = Frame::new(move || {
        let drawn = untrack(|| paint(chart, canvas.node()));
        if let Some(input_ms) = drawn
            && told_ms.get() < input_ms
        {
            told_ms.set(input_ms);
            browser::mark("headroom:knee-painted");
            browser::measure_since("headroom:input-to-knee", input_ms);
        }
    });
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        chart.knee.track();
        chart.surface.track();
        chart.theme.is_dark.track();
        chart.theme.is_forced.track();
        frame.ask();
    });
}

/// Draws; returns when the change was made that this answers, if it answers one.
fn paint(chart: Chart, canvas: &HtmlCanvasElement) -> Option<f64> {
    let surface = chart.surface.get();
    let knee = chart.knee.get()?;
    if !surface.is_visible() {
        return None;
    }
    let start_ms = browser::now_ms();
    let style = chart_style(&surface);
    let colours = chart.colours();
    let area = drawing_area(canvas, &surface, &style, &colours)?;
    let drawn = charts::draw_knee(&area, &knee.data, &colours, &style).ok();
    if chart.geometry.get() != drawn {
        chart.geometry.set(drawn);
    }
    browser::measure_since("headroom:knee-draw", start_ms);
    drawn.and(knee.input_ms)
}

/// Draws the cursor on a canvas of its own: moving it does not redraw the chart.
fn follow_cursor(chart: Chart, canvas: El) {
    let frame = Frame::new(move || {
        untrack(|| {
            let (Some(geometry), Some(knee)) = (chart.geometry.get(), chart.knee.get()) else {
                return;
            };
            let surface = chart.surface.get();
            let style = chart_style(&surface);
            let colours = chart.colours();
            let Some(area) = drawing_area(canvas.node(), &surface, &style, &colours) else {
                return;
            };
            if let Some(rate) = chart.cursor.get() {
                // What cannot be drawn is still read out.
                let _ = charts::draw_cursor(&area, &geometry, &knee.data, rate, &colours, &style);
            }
        });
    });
    effect(move || {
        chart.cursor.track();
        chart.geometry.track();
        chart.theme.is_dark.track();
        chart.knee.track();
        frame.ask();
    });
}

/// The native slider over the plot.
fn cursor(chart: Chart) -> El {
    let px = move |tell: fn(&KneeGeometry) -> f64| {
        move || browser::px(chart.geometry.with(|g| g.as_ref().map_or(0.0, tell)))
    };
    let span =
        move || chart.geometry.with(|g| g.as_ref().map_or((0.0, 1.0), |g| (g.x.low(), g.x.high())));
    let position = move || {
        let (low, high) = span();
        let rate = chart.rate().unwrap_or(low);
        ((rate - low) / (high - low) * STEPS).round()
    };
    let on_move = move |event: ev::PointerEvent| {
        let rate = chart.geometry.with_untracked(|geometry| {
            geometry.as_ref().map(|g| g.rate_at(g.plot.left + f64::from(event.offset_x())))
        });
        chart.cursor.set(rate);
    };
    let on_input = move |event: ev::Event| {
        let (low, high) = untrack(span);
        let position = event_target::<HtmlInputElement>(&event).value_as_number();
        chart.cursor.set(Some(low + position / STEPS * (high - low)));
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if let Some(rate) = untrack(|| key_rate(chart, &event)) {
            event.prevent_default();
            chart.cursor.set(rate);
        }
    };
    el("input")
        .attr("type", "range")
        .class("plot-cursor")
        .attr("min", "0")
        .attr("max", "1000")
        .attr("aria-label", strings::CURSOR)
        .attr_of("aria-valuetext", move || {
            let about = if chart.is_estimate() { strings::ABOUT } else { "" };
            chart.readout().map(|read| [about, &spoken(&read)].concat()).unwrap_or_default()
        })
        .property_of("value", position)
        .style_of("left", px(|g| g.plot.left))
        .style_of("top", px(|g| g.plot.top))
        .style_of("width", px(|g| g.plot.width()))
        .style_of("height", px(|g| g.plot.height()))
        .on(ev::pointermove, on_move)
        .on(ev::pointerleave, move |_| chart.cursor.set(None))
        .on(ev::blur, move |_| chart.cursor.set(None))
        .on(ev::input, on_input)
        .on(ev::keydown, on_key)
}

/// The rate that a key brings: a point further, five points, an end, or back to the planned load.
fn key_rate(chart: Chart, event: &ev::KeyboardEvent) -> Option<Option<f64>> {
    let rates: Vec<f64> = chart.knee.with(|knee| {
        knee.iter().flat_map(|knee| knee.points.iter().map(|point| point.rate_per_s)).collect()
    });
    let now = chart.rate()?;
    let step = if event.shift_key() { LONG_STEP } else { 1 };
    let rate = match event.key().as_str() {
        "ArrowRight" | "ArrowUp" => {
            let mut after = rates.iter().filter(|rate| **rate > now * (1.0 + 1e-9));
            after.nth(step - 1).or(rates.last())
        }
        "ArrowLeft" | "ArrowDown" => {
            let mut before = rates.iter().rev().filter(|rate| **rate < now * (1.0 - 1e-9));
            before.nth(step - 1).or(rates.first())
        }
        "Home" => rates.first(),
        "End" => rates.last(),
        "Escape" => return Some(None),
        _ => return None,
    };
    rate.map(|rate| Some(*rate))
}

/// Legend and values in one.
fn readout_line(chart: Chart) -> El {
    let at = move || {
        let read = chart.readout();
        let rate = read.map(|read| read.rate_per_s).or_else(|| chart.rate());
        // A cursor stands where it was put; the planned load is as sure as the number of GPUs.
        let is_estimate = chart.is_estimate() && chart.cursor.get().is_none();
        let shown = rate.map(quantity::rate).unwrap_or_default();
        match (rate, is_estimate) {
            (None, _) => String::new(),
            (_, true) => strings::readout_at(&quantity::about(&shown)),
            (_, false) => strings::readout_at(&shown),
        }
    };
    el("p").class("readout").child([
        el("span").class("readout-at").text_of(at),
        readout_item(chart, &SERIES[0]),
        readout_item(chart, &SERIES[1]),
        readout_item(chart, &SERIES[2]),
        readout_item(chart, &SERIES[3]),
    ])
}

/// One line of the chart in the legend.
struct Series {
    class: &'static str,
    name: &'static str,
    /// The name where there is little room.
    short_name: &'static str,
    ink: &'static str,
    dash: &'static str,
    is_thin: bool,
    /// The value, shorter where there is little room.
    tell: fn(&Readout, bool) -> Option<String>,
}

/// In the order of the readout.
const SERIES: [Series; 4] = [
    Series {
        class: "readout-item ink-name-c1",
        name: strings::TTFT_P99,
        short_name: strings::TTFT,
        ink: "swatch ink-c1",
        dash: "",
        is_thin: false,
        tell: |read, short| time(read.ttft_p99_s, short),
    },
    Series {
        class: "readout-item readout-thin",
        name: strings::TTFT_P50,
        short_name: strings::TTFT_P50,
        ink: "swatch ink-c1",
        dash: "",
        is_thin: true,
        tell: |read, _| read.ttft_p50_s.map(duration),
    },
    Series {
        class: "readout-item ink-name-c2",
        name: strings::TPOT_P99,
        short_name: strings::TPOT,
        ink: "swatch ink-c2",
        dash: "7 3",
        is_thin: false,
        tell: |read, short| time(read.tpot_p99_s, short),
    },
    Series {
        class: "readout-item ink-name-c3",
        name: strings::GOODPUT,
        short_name: strings::GOODPUT,
        ink: "swatch ink-c3",
        dash: "",
        is_thin: false,
        tell: |read, short| {
            let goodput = read.goodput_per_s?.value;
            Some(if short { number(goodput) } else { quantity::rate(goodput) })
        },
    },
];

fn readout_item(chart: Chart, series: &'static Series) -> El {
    let value = move || {
        let short = chart.layout.is_phone.get();
        let value = chart.readout().and_then(|read| (series.tell)(&read, short));
        match value {
            Some(value) if chart.is_estimate() => quantity::about(&value),
            value => value.unwrap_or_else(|| strings::UNKNOWN.to_owned()),
        }
    };
    el("span")
        .class(series.class)
        .child(swatch(series))
        .text_of(move || pick(chart, series.name, series.short_name))
        .child(el("b").text_of(value))
}

fn swatch(series: &Series) -> El {
    let line = svg("line")
        .attr("x1", "0")
        .attr("y1", "4")
        .attr("x2", "20")
        .attr("y2", "4")
        .attr("stroke-dasharray", series.dash);
    svg("svg")
        .class(series.ink)
        .attr("data-thin", if series.is_thin { "true" } else { "false" })
        .attr("aria-hidden", "true")
        .child(line)
}

/// The longer of two texts, or the shorter one on a phone.
fn pick(chart: Chart, long: &'static str, short: &'static str) -> &'static str {
    if chart.layout.is_phone.get() { short } else { long }
}

/// “212 ± 22 ms”, or the value alone where there is no interval or no room for it.
fn time(value: Option<Interval>, short: bool) -> Option<String> {
    let Interval { value, low, high } = value?;
    let half = (high - low) / 2.0;
    Some(if half > 0.0 && !short {
        plus_minus(value, half, Unit::Seconds)
    } else {
        duration(value)
    })
}

fn spoken(read: &Readout) -> String {
    strings::spoken_point(
        read.rate_per_s,
        read.unstable,
        read.ttft_p99_s.map(|v| v.value),
        read.tpot_p99_s.map(|v| v.value),
        read.goodput_per_s.map(|v| v.value),
    )
}

fn summary(chart: Chart) -> Option<String> {
    chart.knee.with(|knee| {
        let data = &knee.as_ref().filter(|knee| !knee.is_estimate)?.data;
        let planned = data
            .planned_rate_per_s
            .and_then(|rate| readout(data, rate).ttft_p99_s.map(|ttft| (rate, ttft.value)));
        let capacity = data.capacity_per_s?.value;
        Some(strings::knee_summary(&data.server, &number(capacity), data.ceiling_per_s, planned))
    })
}
