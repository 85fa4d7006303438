//! The knee: a readout that is legend and values in one, the chart, and a cursor that is a native
//! slider, so that pointer, keyboard and screen reader move the same thing.

use charts::{Interval, KneeGeometry, Readout, Style, Theme, readout};
use leptos::{ev, html, prelude::*};
use quantity::{Unit, duration, number, plus_minus};
use web_sys::{HtmlCanvasElement, HtmlInputElement};

use super::{
    knee_data::{Knee, knee},
    knee_table::knee_table,
};
use crate::{
    app::Layout,
    browser,
    canvas::{Frame, Surface, drawing_area, watch_size},
    memo::{flag, memo, text, when},
    state::State,
    strings,
    theme::ThemeState,
};

/// Backend units per device pixel: curves stay smooth though units are whole numbers.
const OVERSAMPLE: u32 = 4;
/// Steps of the native cursor input.
const STEPS: f64 = 1_000.0;
/// Points that Shift with an arrow passes.
const LONG_STEP: usize = 5;

/// What the card's parts share.
#[derive(Clone, Copy)]
struct Chart {
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
        self.knee.with(|knee| knee.as_ref().map(|knee| readout(&knee.data, rate)))
    }

    fn colours(self) -> Theme {
        if self.theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT }
    }
}

/// The card.
#[component]
pub(crate) fn KneeCard() -> impl IntoView {
    let state = expect_context::<State>();
    let chart = Chart {
        knee: memo(move |_| {
            let resolution = state.resolution.get();
            state.answered.with(|answered| knee(&resolution, answered.as_deref()))
        }),
        surface: RwSignal::new(Surface::default()),
        geometry: RwSignal::new(None),
        cursor: RwSignal::new(None),
        theme: expect_context::<ThemeState>(),
        layout: expect_context::<Layout>(),
    };
    let as_table = RwSignal::new(false);
    let subtitle = memo(move |_| {
        let replications = chart.knee.with(|k| k.as_ref().map_or(0, |k| k.replications));
        strings::knee_subtitle(if chart.layout.is_phone.get() { 0 } else { replications })
    });
    let is_stale =
        memo(move |_| chart.knee.with(|knee| knee.as_ref().is_some_and(|knee| knee.is_stale)));
    let has_knee = memo(move |_| chart.knee.with(Option::is_some));
    view! {
        <figure class="card panel knee" aria-labelledby="knee-title">
            <figcaption class="panel-head">
                <h2 class="panel-title" id="knee-title">
                    {move || pick(chart, strings::KNEE_TITLE, strings::KNEE_TITLE_SHORT)}
                </h2>
                <span class="panel-sub">{text(move || subtitle.get())}</span>
                <span class="panel-actions">
                    <button
                        type="button"
                        class="button-text"
                        aria-pressed=text(move || as_table.get().to_string())
                        on:click=move |_| as_table.update(|on| *on = !*on)
                    >
                        {strings::TABLE}
                    </button>
                </span>
            </figcaption>
            <ReadoutLine chart is_stale />
            <p class="hidden-but-read">{text(move || summary(chart).unwrap_or_default())}</p>
            <Plot chart is_stale as_table />
            <Show when=when(move || !has_knee.get())>
                <p class="plot-empty">{strings::NO_CURVE}</p>
            </Show>
        </figure>
    }
}

/// Canvases and cursor, or the table in their place.
#[component]
fn Plot(chart: Chart, is_stale: Memo<bool>, as_table: RwSignal<bool>) -> impl IntoView {
    let state = expect_context::<State>();
    let plot = NodeRef::<html::Div>::new();
    let base = NodeRef::<html::Canvas>::new();
    let overlay = NodeRef::<html::Canvas>::new();
    Effect::new(move |_| {
        if let Some(plot) = plot.get() {
            watch_size(&plot, chart.surface);
        }
    });
    paint_when_needed(chart, base);
    follow_cursor(chart, overlay);
    let hide = move || as_table.get() || chart.knee.with(Option::is_none);
    view! {
        <div class="plot" node_ref=plot>
            <canvas
                node_ref=base
                aria-hidden="true"
                class:stale=flag(move || is_stale.get())
                hidden=hide
            ></canvas>
            <canvas node_ref=overlay aria-hidden="true" hidden=hide></canvas>
            <Show when=when(move || !hide())>
                <Cursor chart />
            </Show>
            <Show when=when(move || as_table.get())>
                {move || {
                    chart.knee.with(|knee| knee.as_ref().map(|knee| knee_table(state, knee)))
                }}
            </Show>
        </div>
    }
}

/// Draws the chart in the frame after whatever it shows has changed.
fn paint_when_needed(chart: Chart, canvas: NodeRef<html::Canvas>) {
    let told = StoredValue::new(0.0_f64);
    let frame = Frame::new(move || {
        let Some(canvas) = canvas.get_untracked() else { return };
        let drawn = untrack(|| paint(chart, &canvas));
        if let Some(input_ms) = drawn
            && told.with_value(|last| *last < input_ms)
        {
            told.set_value(input_ms);
            browser::mark("headroom:knee-painted");
            browser::measure_since("headroom:input-to-knee", input_ms);
        }
    });
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    Effect::new(move |_| {
        chart.knee.track();
        chart.surface.track();
        chart.theme.is_dark.track();
        chart.theme.is_forced.track();
        canvas.track();
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
    let style = style(&surface);
    let colours = chart.colours();
    let area = drawing_area(canvas, &surface, &style, &colours)?;
    let drawn = charts::draw_knee(&area, &knee.data, &colours, &style).ok();
    if chart.geometry.get() != drawn {
        chart.geometry.set(drawn);
    }
    browser::measure_since("headroom:knee-draw", start_ms);
    drawn.and(knee.input_ms)
}

fn style(surface: &Surface) -> Style {
    let style = Style::canvas(surface.width_px, surface.height_px, surface.ratio);
    // No copies: our backend strokes the halo.
    Style { halo_copies: 0, ..style.oversampled(OVERSAMPLE) }
}

/// Draws the cursor on a canvas of its own: moving it does not redraw the chart.
fn follow_cursor(chart: Chart, canvas: NodeRef<html::Canvas>) {
    let frame = Frame::new(move || {
        untrack(|| {
            let Some(canvas) = canvas.get() else { return };
            let (Some(geometry), Some(knee)) = (chart.geometry.get(), chart.knee.get()) else {
                return;
            };
            let surface = chart.surface.get();
            let style = style(&surface);
            let colours = chart.colours();
            let Some(area) = drawing_area(&canvas, &surface, &style, &colours) else { return };
            if let Some(rate) = chart.cursor.get() {
                // What cannot be drawn is still read out.
                let _ = charts::draw_cursor(&area, &geometry, &knee.data, rate, &colours, &style);
            }
        });
    });
    Effect::new(move |_| {
        chart.cursor.track();
        chart.geometry.track();
        chart.theme.is_dark.track();
        chart.knee.track();
        canvas.track();
        frame.ask();
    });
}

/// The native slider over the plot.
#[component]
fn Cursor(chart: Chart) -> impl IntoView {
    let px = move |tell: fn(&KneeGeometry) -> f64| {
        move || chart.geometry.with(|g| g.as_ref().map_or(0.0, tell)).to_string() + "px"
    };
    let span =
        move || chart.geometry.with(|g| g.as_ref().map_or((0.0, 1.0), |g| (g.x.low(), g.x.high())));
    let position = move || {
        let (low, high) = span();
        let rate = chart.rate().unwrap_or(low);
        ((rate - low) / (high - low) * STEPS).round().to_string()
    };
    let on_move = move |event: ev::PointerEvent| {
        let rate = chart.geometry.with_untracked(|geometry| {
            geometry.as_ref().map(|g| g.rate_at(g.plot.left + f64::from(event.offset_x())))
        });
        chart.cursor.set(rate);
    };
    let on_input = move |event: ev::Targeted<ev::Event, HtmlInputElement>| {
        let (low, high) = untrack(span);
        chart.cursor.set(Some(low + event.target().value_as_number() / STEPS * (high - low)));
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if let Some(rate) = untrack(|| key_rate(chart, &event)) {
            event.prevent_default();
            chart.cursor.set(rate);
        }
    };
    view! {
        <input
            type="range"
            class="plot-cursor"
            min="0"
            max=STEPS.to_string()
            aria-label=strings::CURSOR
            aria-valuetext=move || chart.readout().map(|read| spoken(&read)).unwrap_or_default()
            prop:value=position
            style:left=px(|g| g.plot.left)
            style:top=px(|g| g.plot.top)
            style:width=px(|g| g.plot.width())
            style:height=px(|g| g.plot.height())
            on:pointermove=on_move
            on:pointerleave=move |_| chart.cursor.set(None)
            on:blur=move |_| chart.cursor.set(None)
            on:input:target=on_input
            on:keydown=on_key
        />
    }
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
#[component]
fn ReadoutLine(chart: Chart, is_stale: Memo<bool>) -> impl IntoView {
    let read = memo(move |_| chart.readout());
    let item = move |class: &'static str,
                     (name, short): (&'static str, &'static str),
                     swatch: Swatch,
                     tell: fn(&Readout, bool) -> Option<String>| {
        view! {
            <span class=format!("readout-item {class}")>
                {swatch_view(swatch)} {move || pick(chart, name, short)}
                <b class:stale=flag(move || is_stale.get())>
                    {move || {
                        let is_phone = chart.layout.is_phone.get();
                        read.with(|read| read.as_ref().and_then(|read| tell(read, is_phone)))
                            .unwrap_or_else(|| strings::UNKNOWN.to_owned())
                    }}
                </b>
            </span>
        }
    };
    view! {
        <p class="readout">
            <span class="readout-at">
                {move || read.with(|r| r.as_ref().map(|r| strings::readout_at(r.rate_per_s)))}
            </span>
            {item("ink-name-c1", (strings::TTFT_P99, strings::TTFT), SWATCHES[0], |r, short| {
                time(r.ttft_p99_s, short)
            })}
            {item("readout-thin", (strings::TTFT_P50, strings::TTFT_P50), SWATCHES[1], |r, _| {
                r.ttft_p50_s.map(duration)
            })}
            {item("ink-name-c2", (strings::TPOT_P99, strings::TPOT), SWATCHES[2], |r, short| {
                time(r.tpot_p99_s, short)
            })}
            {item("ink-name-c3", (strings::GOODPUT, strings::GOODPUT), SWATCHES[3], |r, short| {
                let goodput = r.goodput_per_s?.value;
                Some(if short { number(goodput) } else { quantity::rate(goodput) })
            })}
        </p>
    }
}

/// The longer of two texts, or the shorter one on a phone.
fn pick(chart: Chart, long: &'static str, short: &'static str) -> &'static str {
    if chart.layout.is_phone.get() { short } else { long }
}

/// Colour, dash and whether the line is thin.
type Swatch = (&'static str, &'static str, bool);

/// The lines of the chart, in the order of the readout.
const SWATCHES: [Swatch; 4] =
    [("ink-c1", "", false), ("ink-c1", "", true), ("ink-c2", "7 3", false), ("ink-c3", "", false)];

fn swatch_view((colour, dash, thin): Swatch) -> impl IntoView {
    view! {
        <svg class=format!("swatch {colour}") data-thin=thin.to_string() aria-hidden="true">
            <line x1="0" y1="4" x2="20" y2="4" stroke-dasharray=dash></line>
        </svg>
    }
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
        let data = &knee.as_ref()?.data;
        let planned = data
            .planned_rate_per_s
            .and_then(|rate| readout(data, rate).ttft_p99_s.map(|ttft| (rate, ttft.value)));
        let capacity = data.capacity_per_s?.value;
        Some(strings::knee_summary(&number(capacity), data.ceiling_per_s, planned))
    })
}
