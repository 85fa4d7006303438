//! What lies behind the curves: grid and ticks, the room, the unstable region, the capacity's
//! interval.

use plotters::prelude::DrawingBackend;

use crate::axis::{linear_ticks, log_ticks};
use crate::clip::hatch;
use crate::data::KneeData;
use crate::error::ChartError;
use crate::geometry::{KneeGeometry, Panel, Rect};
use crate::paint::{Anchor, Brush, Label, Line};
use crate::series::Series;
use crate::style::Style;
use crate::theme::{Rgb, Theme};

/// Length of a tick outside the axis, CSS px.
const TICK_PX: f64 = 4.0;
/// Labelled ticks of a y axis are at least this far apart.
const Y_TICKS_APART_PX: f64 = 18.0;
/// Those of the x axis: at least this, and a seventh of the width.
const X_TICKS_APART_PX: f64 = 64.0;
const ROOM_OPACITY: f64 = 0.07;
const INTERVAL_OPACITY: f64 = 0.10;
const HATCH_SPACING_PX: f64 = 7.0;
/// How much of the ink the hatching keeps: seen, but behind the words on it.
const HATCH_INK: f64 = 0.22;
const HAIRLINE_PX: f64 = 1.0;

/// The tinted room between planned load and capacity.
pub(crate) fn room<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    data: &KneeData,
    theme: &Theme,
) -> Result<(), ChartError> {
    let (Some(planned), Some(capacity)) = (data.planned_rate_per_s, data.capacity_per_s) else {
        return Ok(());
    };
    across(geometry, planned, capacity.value)
        .into_iter()
        .try_for_each(|rect| brush.rect(&rect, theme.ok, ROOM_OPACITY))
}

/// The grey band of the capacity's interval, through all panels.
pub(crate) fn capacity_interval<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    data: &KneeData,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Some(capacity) = data.capacity_per_s else {
        return Ok(());
    };
    match span(geometry, capacity.low, capacity.high) {
        Some(rect) => brush.rect(&rect, theme.text, INTERVAL_OPACITY),
        None => Ok(()),
    }
}

/// The hatched region in which latencies are withheld.
pub(crate) fn unstable<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    series: &Series,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Some(from) = series.unstable_from else {
        return Ok(());
    };
    let ink = mixed(theme.held, theme.held_soft, HATCH_INK);
    let line = Line { colour: ink, width_px: HAIRLINE_PX, dash: None };
    for rect in across(geometry, from, geometry.x.high()) {
        brush.rect(&rect, unstable_ground(theme), 1.0)?;
        for (from, to) in hatch(&rect, HATCH_SPACING_PX) {
            brush.path(&[from, to], &line)?;
        }
    }
    Ok(())
}

/// The ground of the unstable region, and of the words on it.
pub(crate) fn unstable_ground(theme: &Theme) -> Rgb {
    mixed(theme.held_soft, theme.surface, 0.65)
}

/// Grid lines, baselines, ticks and their labels, and the title of the x axis.
pub(crate) fn axes<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    (data, series): (&KneeData, &Series),
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let grid_end = stable_end(geometry, series);
    let ttft = log_ticks(&geometry.ttft.y, geometry.ttft.rect.height());
    y_axis(brush, &geometry.ttft, (&ttft, quantity::axis_duration), grid_end, theme)?;
    let tpot = linear_y_ticks(&geometry.tpot);
    y_axis(brush, &geometry.tpot, (&tpot, quantity::axis_duration), grid_end, theme)?;
    let goodput = linear_y_ticks(&geometry.goodput);
    y_axis(brush, &geometry.goodput, (&goodput, quantity::axis_number), grid_end, theme)?;
    x_axis(brush, geometry, theme)?;
    let per_second = if style.is_narrow() { "Requests/s" } else { "Requests per second" };
    brush.text(&Label {
        text: format!("{per_second} on {}", data.server),
        at: (geometry.plot.right, geometry.plot.bottom + 28.0),
        anchor: Anchor::End,
        colour: theme.text3,
        bold: false,
        halo: None,
        upright: false,
    })
}

/// Where the unstable region starts, or else the plot ends: grid and targets mean nothing beyond.
pub(crate) fn stable_end(geometry: &KneeGeometry, series: &Series) -> f64 {
    let from = series.unstable_from.map(|rate| geometry.x.to_px(rate));
    from.filter(|x| *x < geometry.plot.right).unwrap_or(geometry.plot.right)
}

/// The part of each panel between two rates; none where there is nothing between them.
fn across(geometry: &KneeGeometry, from: f64, to: f64) -> Vec<Rect> {
    let Some(span) = span(geometry, from, to) else {
        return Vec::new();
    };
    [geometry.ttft, geometry.tpot, geometry.goodput]
        .map(|panel| Rect { left: span.left, right: span.right, ..panel.rect })
        .into()
}

/// The part of the plot between two rates, held within it.
pub(crate) fn span(geometry: &KneeGeometry, from: f64, to: f64) -> Option<Rect> {
    let within = |rate: f64| {
        let px = geometry.x.to_px(rate);
        if px < geometry.plot.left {
            geometry.plot.left
        } else if px > geometry.plot.right {
            geometry.plot.right
        } else {
            px
        }
    };
    let (left, right) = (within(from), within(to));
    (left < right).then_some(Rect { left, right, ..geometry.plot })
}

fn linear_y_ticks(panel: &Panel) -> Vec<f64> {
    let ticks = linear_ticks(panel.y.high(), panel.rect.height(), Y_TICKS_APART_PX);
    // The baseline says zero.
    ticks.into_iter().filter(|tick| *tick > 0.0).collect()
}

fn y_axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Panel,
    (ticks, tick_text): (&[f64], fn(f64) -> String),
    grid_end: f64,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Rect { left, right, bottom, .. } = panel.rect;
    let grid = Line { colour: theme.grid, width_px: HAIRLINE_PX, dash: None };
    let axis = Line { colour: theme.axis, ..grid };
    for &tick in ticks {
        let y = panel.y.to_px(tick);
        if y < bottom - 0.5 {
            brush.level(y, (left, grid_end), &grid)?;
        }
        brush.level(y, (left - TICK_PX, left), &axis)?;
        brush.text(&Label {
            text: tick_text(tick),
            at: (left - TICK_PX - 4.0, y),
            anchor: Anchor::End,
            colour: theme.text3,
            bold: false,
            halo: None,
            upright: false,
        })?;
    }
    brush.level(bottom, (left, right), &axis)
}

fn x_axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Rect { bottom, .. } = geometry.plot;
    let width = geometry.plot.width();
    let apart = if width / 7.0 > X_TICKS_APART_PX { width / 7.0 } else { X_TICKS_APART_PX };
    let axis = Line { colour: theme.axis, width_px: HAIRLINE_PX, dash: None };
    for tick in linear_ticks(geometry.x.high(), width, apart) {
        let x = geometry.x.to_px(tick);
        brush.upright(x, (bottom, bottom + TICK_PX), &axis)?;
        brush.text(&Label {
            text: quantity::axis_number(tick),
            at: (x, bottom + 13.0),
            anchor: Anchor::Middle,
            colour: theme.text3,
            bold: false,
            halo: None,
            upright: false,
        })?;
    }
    Ok(())
}

/// `part` of one colour over another.
fn mixed(over: Rgb, under: Rgb, part: f64) -> Rgb {
    let channel = |over: u8, under: u8| {
        (f64::from(over) * part + f64::from(under) * (1.0 - part)).round() as u8
    };
    Rgb(channel(over.0, under.0), channel(over.1, under.1), channel(over.2, under.2))
}
