//! Both knees on one chart, with a cursor that is a native slider and the same numbers as a table.

use charts::{KneeGeometry, PairData, Readout, Style, Theme, readout};
use js_sys::encode_uri_component;
use leptos::{ev, prelude::*};
use quantity::duration;
use web_sys::{HtmlCanvasElement, HtmlInputElement};

use super::{Compared, head::badge, sides::Side};
use crate::{
    app::Layout,
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el, svg},
    memo::{effect, memo},
    strings,
    theme::ThemeState,
    views::know::table,
};

/// Steps of the native cursor input.
const STEPS: f64 = 1_000.0;
/// Points that Shift with an arrow passes.
const LONG_STEP: usize = 5;
/// Size of the picture, CSS px.
const PICTURE_PX: (f64, f64) = (960.0, 560.0);

/// What the card's parts share.
#[derive(Clone, Copy)]
struct Chart {
    compared: Compared,
    pair: Memo<Option<PairData>>,
    surface: RwSignal<Surface>,
    geometry: RwSignal<Option<KneeGeometry>>,
    cursor: RwSignal<Option<f64>>,
    as_table: RwSignal<bool>,
    theme: ThemeState,
    layout: Layout,
}

impl Chart {
    /// The rate that is read: the cursor's, or the smaller of the two planned ones.
    fn rate(self) -> Option<f64> {
        self.cursor.get().or_else(|| planned(self.compared))
    }

    fn readouts(self) -> Option<[Readout; 2]> {
        let rate = self.rate()?;
        self.pair
            .with(|pair| pair.as_ref().map(|pair| pair.both.each_ref().map(|it| readout(it, rate))))
    }

    fn colours(self) -> Theme {
        if self.theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT }
    }

    fn is_there(self) -> bool {
        self.pair.with(Option::is_some)
    }
}

/// The load at which both are read unless a cursor says otherwise: that of the paired requests, or the
/// smaller of the planned ones, requests per second on one engine.
pub(super) fn planned(compared: Compared) -> Option<f64> {
    let sides = compared.sides()?;
    let rate = |side: &Side| Some(side.answer.as_ref()?.planned?.rate_per_s);
    let (a, b) = (rate(&sides[0])?, rate(&sides[1])?);
    Some(if a < b { a } else { b })
}

/// Both knees as they are known; none before both are.
pub(super) fn pair(compared: Compared) -> Option<PairData> {
    let sides = compared.sides()?;
    let knee = |side: &Side| {
        let answer = side.answer.as_ref().filter(|answer| !answer.knee.is_empty())?;
        let mut data = report::knee_data(answer, &side.resolution.scenario, Vec::new());
        data.planned_rate_per_s = None;
        data.is_estimate = side.is_estimate;
        Some(data)
    };
    let gpus = sides.each_ref().map(|side| side.resolution.scenario.gpus_per_engine());
    let server = if gpus[0] == gpus[1] {
        report::one_server(gpus[0])
    } else {
        strings::ONE_ENGINE_OF_EACH.to_owned()
    };
    Some(PairData { both: [knee(&sides[0])?, knee(&sides[1])?], server })
}

/// The card.
pub(super) fn chart(compared: Compared) -> El {
    let chart = Chart {
        compared,
        pair: memo(move |_| pair(compared)),
        surface: RwSignal::new(Surface::default()),
        geometry: RwSignal::new(None),
        cursor: RwSignal::new(None),
        as_table: RwSignal::new(false),
        theme: expect_context::<ThemeState>(),
        layout: expect_context::<Layout>(),
    };
    let empty = move || {
        el("div").class("plot-empty").child(el("p").text_of(move || {
            let is_impossible = compared.sides().is_some_and(|sides| {
                sides.iter().any(|side| {
                    side.resolution.outcome.is_err()
                        || side.answer.as_ref().is_some_and(|answer| answer.knee.is_empty())
                })
            });
            if is_impossible { strings::NO_KNEE } else { strings::COMPARING }
        }))
    };
    el("figure")
        .class("card panel compare-knee")
        .attr("aria-labelledby", "compare-knee-title")
        .child([head(chart), readout_line(chart), plot(chart)])
        .when(move || !chart.is_there(), empty)
}

fn head(chart: Chart) -> El {
    let action = |text: &str| el("button").attr("type", "button").class("button-text").text(text);
    let table = action(strings::TABLE)
        .truth_of("aria-pressed", move || chart.as_table.get())
        .on(ev::click, move |_| chart.as_table.update(|on| *on = !*on));
    let picture = action(strings::SVG)
        .class("button-text wide-only-action")
        .attr("title", strings::SVG_TITLE)
        .on(ev::click, move |_| {
            let drawn = untrack(|| {
                let style = Style::svg(PICTURE_PX.0, PICTURE_PX.1);
                chart
                    .pair
                    .with(|pair| charts::pair_svg(pair.as_ref()?, &chart.colours(), &style).ok())
            });
            let Some(drawn) = drawn else { return };
            let encoded = String::from(encode_uri_component(&drawn));
            browser::save(&["data:image/svg+xml;charset=utf-8,", &encoded].concat(), "compare.svg");
        });
    el("figcaption").class("panel-head").child([
        el("h2").class("panel-title").attr("id", "compare-knee-title").text(strings::COMPARE_KNEE),
        el("span").class("panel-sub").text(strings::COMPARE_KNEE_SUB),
        el("span")
            .class("panel-actions")
            .flag_of("hidden", move || !chart.is_there())
            .child([picture, table]),
    ])
}

/// Legend and values in one.
fn readout_line(chart: Chart) -> El {
    let at = move || {
        chart
            .rate()
            .filter(|_| chart.is_there())
            .map_or_else(String::new, |rate| strings::readout_at(&quantity::rate(rate)))
    };
    el("p").class("readout compare-readout").child([
        el("span").class("readout-at").text_of(at),
        item(chart, 0),
        item(chart, 1),
    ])
}

fn item(chart: Chart, place: usize) -> El {
    let value = move || {
        let short = chart.layout.is_phone.get();
        chart
            .readouts()
            .map_or_else(|| strings::UNKNOWN.to_owned(), |both| said(&both[place], short))
    };
    let (class, dash) = if place == 0 { ("swatch ink-c1", "") } else { ("swatch ink-c2", "7 3") };
    let line = svg("line").attr("x1", "0").attr("y1", "4").attr("x2", "20").attr("y2", "4");
    let swatch = svg("svg")
        .class(class)
        .attr("aria-hidden", "true")
        .child(line.attr("stroke-dasharray", dash));
    el("span").class("readout-item").child([swatch, badge(place), el("b").text_of(value)])
}

/// Both latencies of a side; why where there are none.
fn said(read: &Readout, short: bool) -> String {
    if read.unstable {
        return strings::withheld(false).to_owned();
    }
    let time = |value: Option<charts::Interval>| {
        value.map_or_else(|| strings::UNKNOWN.to_owned(), |it| duration(it.value))
    };
    strings::latencies(&time(read.ttft_p99_s), &time(read.tpot_p99_s), short)
}

/// Canvases and cursor, or the table in their place.
fn plot(chart: Chart) -> El {
    let is_drawn = move || !chart.as_table.get() && chart.is_there();
    let canvas = || el("canvas").attr("aria-hidden", "true").flag_of("hidden", move || !is_drawn());
    let (base, overlay) = (canvas(), canvas());
    paint_when_needed(chart, base.clone());
    follow_cursor(chart, overlay.clone());
    let plot =
        el("div").class("plot").child([base, overlay]).when(is_drawn, move || cursor(chart)).when(
            move || chart.as_table.get() && chart.is_there(),
            move || el("div").class("plot-table").child(points(chart)),
        );
    watch_size(plot.node(), chart.surface);
    plot
}

/// Draws the chart in the frame after whatever it shows has changed.
fn paint_when_needed(chart: Chart, canvas: El) {
    let frame = Frame::new(move || untrack(|| paint(chart, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        chart.pair.track();
        chart.surface.track();
        chart.theme.is_dark.track();
        chart.theme.is_forced.track();
        frame.ask();
    });
}

fn paint(chart: Chart, canvas: &HtmlCanvasElement) {
    let surface = chart.surface.get();
    let Some(pair) = chart.pair.get().filter(|_| surface.is_visible()) else { return };
    let (style, colours) = (chart_style(&surface), chart.colours());
    let Some(area) = drawing_area(canvas, &surface, &style, &colours) else { return };
    let drawn = charts::draw_pair(&area, &pair, &colours, &style).ok();
    if chart.geometry.get() != drawn {
        chart.geometry.set(drawn);
    }
}

/// Draws the cursor on a canvas of its own: moving it does not redraw the chart.
fn follow_cursor(chart: Chart, canvas: El) {
    let frame = Frame::new(move || {
        untrack(|| {
            let (Some(geometry), Some(pair)) = (chart.geometry.get(), chart.pair.get()) else {
                return;
            };
            let surface = chart.surface.get();
            let (style, colours) = (chart_style(&surface), chart.colours());
            let Some(area) = drawing_area(canvas.node(), &surface, &style, &colours) else {
                return;
            };
            if let Some(rate) = chart.rate() {
                // What cannot be drawn is still read out.
                let _ = charts::draw_pair_cursor(&area, &geometry, &pair, rate, &colours, &style);
            }
        });
    });
    effect(move || {
        chart.cursor.track();
        chart.geometry.track();
        chart.theme.is_dark.track();
        chart.pair.track();
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
        ((chart.rate().unwrap_or(low) - low) / (high - low) * STEPS).round()
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
        .attr_of("aria-valuetext", move || spoken(chart))
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

fn spoken(chart: Chart) -> String {
    let Some((both, rate)) = chart.readouts().zip(chart.rate()) else { return String::new() };
    let [a, b] = both.each_ref().map(|read| said(read, false));
    strings::spoken_pair(&quantity::rate(rate), &a, &b)
}

/// The rate that a key brings: a measured point further, five points, an end, or back to the planned load.
fn key_rate(chart: Chart, event: &ev::KeyboardEvent) -> Option<Option<f64>> {
    let rates: Vec<f64> = chart.pair.with(|pair| {
        let both = pair.iter().flat_map(|pair| pair.both.iter());
        let mut rates: Vec<(f64, f64)> =
            both.flat_map(|it| it.points.iter().map(|point| (point.rate_per_s, 0.0))).collect();
        sim_core::sort::by_first(&mut rates);
        rates.into_iter().map(|(rate, _)| rate).collect()
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

/// The measured points of both.
fn points(chart: Chart) -> El {
    let rows = move || {
        chart.pair.with(|pair| {
            let Some(pair) = pair else { return Vec::new() };
            let side = |(place, data): (usize, &charts::KneeData)| {
                data.points.iter().map(move |point| row(place, point)).collect::<Vec<El>>()
            };
            pair.both.iter().enumerate().flat_map(side).collect()
        })
    };
    table(strings::COMPARE_KNEE, &strings::PAIR_COLUMNS, rows)
}

fn row(place: usize, point: &charts::KneePoint) -> El {
    let time = |value: f64| {
        let is_known = point.stable && value.is_finite();
        if is_known { duration(value) } else { strings::withheld(point.stable).to_owned() }
    };
    let cells = [
        quantity::number(point.rate_per_s),
        time(point.ttft_p99_s.value),
        time(point.tpot_p99_s.value),
        quantity::number(point.goodput_per_s.value),
    ];
    let cell = |text: &String| el("td").text(text);
    el("tr")
        .child(el("th").attr("scope", "row").child(badge(place)))
        .child(cells.iter().map(cell).collect::<Vec<_>>())
}
