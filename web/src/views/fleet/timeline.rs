//! The rows over time: what stands beside them is legend and values in one, and the cursor through all
//! of them is a native slider, so that pointer, keyboard and screen reader move the same thing.

use std::sync::Arc;

use charts::{FleetGeometry, FleetRowKind, Theme};
use leptos::{ev, prelude::*};
use web_sys::{HtmlCanvasElement, HtmlInputElement, HtmlSelectElement};

use super::{
    Shown,
    data::{Drawn, drawn, reading},
    files,
    windows::windows,
};
use crate::{
    app::Layout,
    browser,
    canvas::{Frame, Surface, chart_style, drawing_area, watch_size},
    dom::{El, el, svg},
    memo::{effect, memo},
    state::State,
    strings,
    theme::ThemeState,
};

/// What Shift with an arrow passes, seconds.
const LONG_STEP_S: f64 = 60.0;
/// The rows that a phone may show beneath the first two.
const THIRD: [FleetRowKind; 4] =
    [FleetRowKind::Ttft, FleetRowKind::Queue, FleetRowKind::Kv, FleetRowKind::Gpus];

/// Rows of a phone.
const PHONE_ROWS: usize = 3;

/// What the card's parts share.
#[derive(Clone, Copy)]
struct Chart {
    drawn: Memo<Option<Arc<Drawn>>>,
    surface: RwSignal<Surface>,
    geometry: RwSignal<Option<FleetGeometry>>,
    /// The window under the cursor.
    cursor: RwSignal<Option<usize>>,
    /// The third row of a phone.
    third: RwSignal<usize>,
    theme: ThemeState,
    layout: Layout,
}

impl Chart {
    fn colours(self) -> Theme {
        if self.theme.is_dark.get() { charts::theme::DARK } else { charts::theme::LIGHT }
    }

    fn is_there(self) -> bool {
        self.drawn.with(Option::is_some)
    }

    fn is_stale(self) -> bool {
        self.drawn.with(|drawn| drawn.as_ref().is_some_and(|drawn| drawn.is_stale))
    }

    /// The rows that are shown.
    fn kinds(self) -> Vec<FleetRowKind> {
        if self.layout.is_phone.get() {
            let third = THIRD.get(self.third.get()).copied().unwrap_or(THIRD[0]);
            return vec![FleetRowKind::Arrivals, FleetRowKind::Replicas, third];
        }
        FleetRowKind::ALL.into()
    }

    /// The window that is read: the cursor's, or the worst.
    fn index(self) -> usize {
        let (worst, last) = self.drawn.with(|drawn| {
            drawn
                .as_ref()
                .map_or((0, 0), |drawn| (drawn.worst, drawn.data.bins.len().saturating_sub(1)))
        });
        self.cursor.get().unwrap_or(worst).min(last)
    }

    /// What stands beside a row.
    fn reading(self, kind: FleetRowKind) -> (String, String) {
        let index = self.index();
        self.drawn.with(|drawn| match drawn {
            Some(drawn) => reading(kind, &drawn.data, index),
            _ => (strings::UNKNOWN.to_owned(), String::new()),
        })
    }
}

/// The card.
pub(super) fn timeline(state: State, shown: Memo<Option<Arc<Shown>>>) -> El {
    let chart = Chart {
        drawn: memo(move |_| {
            let now = state.current.get();
            shown.with(|shown| {
                let (of, answer) = shown.as_ref()?.answered.as_ref()?;
                Some(Arc::new(drawn(of, answer, *of != now)))
            })
        }),
        surface: RwSignal::new(Surface::default()),
        geometry: RwSignal::new(None),
        cursor: RwSignal::new(None),
        third: RwSignal::new(0),
        theme: expect_context::<ThemeState>(),
        layout: expect_context::<Layout>(),
    };
    let is_table = move || state.knee_as_table.get() && chart.is_there();
    let readings =
        el("div").class("fleet-readings").flag_of("hidden", is_table).region(move || {
            let is_phone = chart.layout.is_phone.get();
            let count = if is_phone { PHONE_ROWS } else { FleetRowKind::ALL.len() };
            let row = |place| beside(chart, place, is_phone && place + 1 == PHONE_ROWS);
            (0..count).map(row).collect::<Vec<El>>()
        });
    let body = el("div").class("fleet-body").child([plot(state, chart, shown), readings]);
    el("figure").class("card panel fleet-timeline").attr("aria-labelledby", "timeline-title").child(
        [
            head(state, chart, shown),
            legend(),
            el("p").class("hidden-but-read").text_of(move || summary(chart, shown)),
            body,
        ],
    )
}

fn head(state: State, chart: Chart, shown: Memo<Option<Arc<Shown>>>) -> El {
    let subtitle = move || {
        shown.with(|shown| {
            let answered = shown.as_ref().and_then(|shown| shown.answered.as_ref());
            answered.map_or_else(String::new, |(of, answer)| {
                // A recording ends where it ends.
                let is_recorded = state.recording.with(Option::is_some);
                let length_s = if is_recorded { answer.end_s } else { of.fleet.duration_s };
                strings::timeline_subtitle(length_s, answer.window_s)
            })
        })
    };
    let action = |text, title: &str| {
        el("button").attr("type", "button").class("button-text").attr("title", title).text(text)
    };
    let table = action(strings::TABLE, strings::TABLE_TITLE)
        .truth_of("aria-pressed", move || state.knee_as_table.get())
        .on(ev::click, move |_| state.knee_as_table.update(|on| *on = !*on));
    let csv = action(strings::CSV, strings::CSV_TITLE)
        .flag_of("disabled", move || chart.is_stale())
        .on(ev::click, move |_| {
            shown.with_untracked(|shown| {
                if let Some((_, answer)) = shown.as_ref().and_then(|shown| shown.answered.as_ref())
                {
                    files::save_csv(&answer.slices);
                }
            });
        });
    let picture = action(strings::SVG, strings::SVG_TITLE)
        .class("button-text wide-only-action")
        .flag_of("disabled", move || chart.is_stale())
        .on(ev::click, move |_| {
            let colours = untrack(|| chart.colours());
            let worked = chart.drawn.with_untracked(|drawn| {
                drawn.as_ref().is_some_and(|drawn| files::save_svg(&drawn.data, &colours))
            });
            if !worked {
                state.toast.set(Some(strings::saved(false).to_owned()));
            }
        });
    el("figcaption").class("panel-head").child([
        el("h2").class("panel-title").attr("id", "timeline-title").text(strings::TIMELINE),
        el("span").class("panel-sub").text_of(subtitle),
        el("span")
            .class("panel-actions")
            .flag_of("hidden", move || !chart.is_there())
            .child([table, csv, picture]),
    ])
}

/// What colours and patterns of the second row are, which has no place for it.
fn legend() -> El {
    let block = |class: &'static str| {
        svg("rect")
            .attr("x", "0")
            .attr("y", "-1")
            .attr("width", "20")
            .attr("height", "10")
            .attr("class", class)
    };
    let line = || {
        svg("line")
            .attr("x1", "0")
            .attr("y1", "4")
            .attr("x2", "20")
            .attr("y2", "4")
            .attr("stroke-dasharray", "4 3")
    };
    let item = |ink: &str, mark: El, name: &str| {
        let swatch = svg("svg").class(ink).attr("aria-hidden", "true").child(mark);
        el("span").class("readout-item").child(swatch).text(name)
    };
    let few = el("span")
        .class("readout-item")
        .child(el("span").class("fleet-few").attr("aria-hidden", "true"))
        .text(strings::FEW_SERVED);
    el("p").class("readout fleet-legend").child([
        item("swatch ink-c3", block("fleet-ready"), strings::READY),
        el("span")
            .class("readout-item")
            .child(el("span").class("fleet-starting").attr("aria-hidden", "true"))
            .text(strings::STARTING),
        item("swatch ink-c0", block("fleet-draining"), strings::DRAINING),
        item("swatch fleet-asked", line(), strings::ASKED_FOR),
        few,
    ])
}

/// Name, value and a line beside a row; on a phone the last row is chosen here.
fn beside(chart: Chart, place: usize, is_chosen: bool) -> El {
    let kind = move || chart.kinds().get(place).copied().unwrap_or(FleetRowKind::Arrivals);
    let top = move || {
        let top = chart.geometry.with(|geometry| {
            let rows = geometry.as_ref().map(|geometry| &geometry.rows);
            rows.and_then(|rows| rows.get(place)).map_or(0.0, |(_, panel)| panel.rect.top)
        });
        browser::px(top - 4.0)
    };
    let name = if is_chosen {
        chooser(chart)
    } else {
        el("span").class("fleet-name").text_of(move || kind().name())
    };
    el("div")
        .class("fleet-reading")
        .class_of("stale", move || chart.is_stale())
        .attr_of("data-row", move || kind().name())
        .style_of("--top", top)
        .child([
            name,
            el("b").class("fleet-value").text_of(move || chart.reading(kind()).0),
            el("span").class("fleet-line").text_of(move || chart.reading(kind()).1),
        ])
}

/// Which row a phone shows as its third.
fn chooser(chart: Chart) -> El {
    let option = |(index, kind): (usize, &FleetRowKind)| {
        el("option").attr("value", &index.to_string()).text(kind.name())
    };
    let options: Vec<El> = THIRD.iter().enumerate().map(option).collect();
    let select = el("select")
        .class("fleet-chooser")
        .attr("aria-label", strings::TIMELINE_ROWS)
        .child(options);
    let element: HtmlSelectElement = select.node::<HtmlSelectElement>().clone();
    select
        .on(ev::change, move |_| {
            let index = element.selected_index();
            chart.third.set(usize::try_from(index).unwrap_or(0));
        })
        .property_of("value", move || chart.third.get().to_string())
}

/// Canvases and cursor, or the table in their place.
fn plot(state: State, chart: Chart, shown: Memo<Option<Arc<Shown>>>) -> El {
    let is_drawn = move || !state.knee_as_table.get() && chart.is_there();
    let canvas =
        |canvas: El| canvas.attr("aria-hidden", "true").flag_of("hidden", move || !is_drawn());
    let base = canvas(el("canvas")).class_of("stale", move || chart.is_stale());
    let overlay = canvas(el("canvas"));
    paint_when_needed(chart, base.clone());
    follow_cursor(chart, overlay.clone());
    let plot = el("div")
        .class("plot")
        .child([base, overlay])
        .when(is_drawn, move || cursor(chart))
        .when(
            move || state.knee_as_table.get() && chart.is_there(),
            move || el("div").class("plot-table").child(windows(shown)),
        )
        .when(
            move || !chart.is_there(),
            || el("p").class("fleet-none").text(strings::NO_FLEET_YET),
        );
    watch_size(plot.node(), chart.surface);
    plot
}

/// Draws the rows in the frame after whatever they show has changed.
fn paint_when_needed(chart: Chart, canvas: El) {
    let frame = Frame::new(move || untrack(|| paint(chart, canvas.node())));
    {
        let frame = frame.clone();
        browser::when_fonts_are_ready(move || frame.ask());
    }
    effect(move || {
        chart.drawn.track();
        chart.surface.track();
        chart.third.track();
        chart.layout.is_phone.track();
        chart.theme.is_dark.track();
        chart.theme.is_forced.track();
        frame.ask();
    });
}

fn paint(chart: Chart, canvas: &HtmlCanvasElement) {
    let surface = chart.surface.get();
    let Some(drawn) = chart.drawn.get().filter(|_| surface.is_visible()) else { return };
    let start_ms = browser::now_ms();
    let style = chart_style(&surface);
    let colours = chart.colours();
    let Some(area) = drawing_area(canvas, &surface, &style, &colours) else { return };
    let kinds = chart.kinds();
    // What cannot be drawn still stands in the table.
    let geometry = charts::draw_fleet(&area, &drawn.data, (&kinds, false), &colours, &style).ok();
    if chart.geometry.get() != geometry {
        chart.geometry.set(geometry);
    }
    browser::measure_since("headroom:fleet-draw", start_ms);
}

/// Draws the cursor on a canvas of its own: moving it does not redraw the rows.
fn follow_cursor(chart: Chart, canvas: El) {
    let frame = Frame::new(move || {
        untrack(|| {
            let (Some(geometry), Some(drawn)) = (chart.geometry.get(), chart.drawn.get()) else {
                return;
            };
            let surface = chart.surface.get();
            let style = chart_style(&surface);
            let colours = chart.colours();
            let Some(area) = drawing_area(canvas.node(), &surface, &style, &colours) else {
                return;
            };
            let bin = drawn.data.bins.get(chart.index()).filter(|_| !drawn.is_stale);
            if let Some(bin) = bin {
                let middle_s = (bin.start_s + bin.end_s) / 2.0;
                // What cannot be drawn is still read out.
                let _ = charts::draw_fleet_cursor(&area, &geometry, middle_s, &colours, &style);
            }
        });
    });
    effect(move || {
        chart.cursor.track();
        chart.geometry.track();
        chart.theme.is_dark.track();
        chart.drawn.track();
        frame.ask();
    });
}

/// The native slider over the rows, one step a window.
fn cursor(chart: Chart) -> El {
    let px = move |tell: fn(&FleetGeometry) -> f64| {
        move || browser::px(chart.geometry.with(|g| g.as_ref().map_or(0.0, tell)))
    };
    let last =
        move || chart.drawn.with(|d| d.as_ref().map_or(0, |d| d.data.bins.len().saturating_sub(1)));
    let on_move = move |event: ev::PointerEvent| {
        let time_s = chart.geometry.with_untracked(|geometry| {
            geometry.as_ref().map(|g| g.time_at(g.plot.left + f64::from(event.offset_x())))
        });
        chart.cursor.set(time_s.and_then(|at_s| untrack(|| index_at(chart, at_s))));
    };
    let on_input = move |event: ev::Event| {
        let value = event_target::<HtmlInputElement>(&event).value_as_number();
        chart.cursor.set(Some(value as usize));
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if let Some(index) = untrack(|| key_index(chart, &event)) {
            event.prevent_default();
            chart.cursor.set(index);
        }
    };
    el("input")
        .attr("type", "range")
        .class("plot-cursor")
        .attr("min", "0")
        .attr_of("max", move || last().to_string())
        .attr("aria-label", strings::FLEET_CURSOR)
        .attr_of("aria-valuetext", move || spoken(chart))
        .property_of("value", move || chart.index() as f64)
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

fn index_at(chart: Chart, at_s: f64) -> Option<usize> {
    chart.drawn.with(|drawn| {
        let bins = &drawn.as_ref()?.data.bins;
        let at = bins.iter().position(|bin| at_s < bin.end_s);
        Some(at.unwrap_or(bins.len().saturating_sub(1)))
    })
}

/// The window that a key brings: the next, one a minute on, an end, an event, or back to the worst.
fn key_index(chart: Chart, event: &ev::KeyboardEvent) -> Option<Option<usize>> {
    let now = chart.index();
    chart.drawn.with(|drawn| {
        let data = &drawn.as_ref()?.data;
        let bin = data.bins.get(now)?;
        let last = data.bins.len().saturating_sub(1);
        let wide = (LONG_STEP_S / (bin.end_s - bin.start_s)).round() as usize;
        let step = if event.shift_key() { wide.max(1) } else { 1 };
        let at_event = |event: Option<&charts::FleetEvent>| {
            let at_s = event?.at_s;
            data.bins.iter().position(|bin| at_s < bin.end_s)
        };
        let index = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => (now + step).min(last),
            "ArrowLeft" | "ArrowDown" => now.saturating_sub(step),
            "Home" => 0,
            "End" => last,
            "n" | "N" => at_event(data.events.iter().find(|event| event.at_s >= bin.end_s))?,
            "b" | "B" => at_event(data.events.iter().rev().find(|event| event.at_s < bin.start_s))?,
            "Escape" => return Some(None),
            _ => return None,
        };
        Some(Some(index))
    })
}

fn spoken(chart: Chart) -> String {
    let index = chart.index();
    let at = chart.drawn.with(|drawn| {
        let drawn = drawn.as_ref()?;
        let bin = drawn.data.bins.get(index)?;
        Some(strings::clock(bin.start_s, drawn.data.end_s))
    });
    let kinds = chart.kinds();
    let parts: Vec<(&str, String)> =
        kinds.iter().map(|kind| (kind.name(), chart.reading(*kind).0)).collect();
    strings::spoken_window(&at.unwrap_or_default(), &parts)
}

fn summary(chart: Chart, shown: Memo<Option<Arc<Shown>>>) -> String {
    let ready = shown.with(|shown| {
        let answered = shown.as_ref().and_then(|shown| shown.answered.as_ref());
        answered.map(|(_, answer)| (answer.sums.peak_ready, answer.sums.met_share()))
    });
    let worst = chart.drawn.with(|drawn| {
        let drawn = drawn.as_ref().filter(|drawn| !drawn.is_stale)?;
        let bin = drawn.data.bins.get(drawn.worst)?;
        Some((strings::clock(bin.start_s, drawn.data.end_s), bin.ttft_p99_s?))
    });
    match (ready, worst) {
        (Some((ready, met)), Some((at, p99_s))) => strings::timeline_summary(
            &quantity::share(1.0 - met),
            &quantity::duration(p99_s),
            &at,
            ready,
        ),
        _ => String::new(),
    }
}
