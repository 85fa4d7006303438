//! The knee: latency and goodput as load rises, in three panels over one axis.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::data::KneeData;
use crate::error::ChartError;
use crate::geometry::{KneeGeometry, Rect};
use crate::paint::{Brush, Dash, Line};
use crate::series::Series;
use crate::style::Style;
use crate::theme::Theme;
use crate::traces::Traces;
use crate::{ground, layout, naming, traces};

const VERTICAL_PX: f64 = 1.5;
const PLANNED_DASH: Dash = Dash(4.0, 3.0);

/// Draws the knee chart on an area of [`Style::backend_size`] and says where things are. The ground
/// is left as it is.
///
/// # Errors
///
/// When the chart is too small for its panels, or the backend refuses.
pub fn draw_knee<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    data: &KneeData,
    theme: &Theme,
    style: &Style,
) -> Result<KneeGeometry, ChartError> {
    let series = Series::of(data);
    let geometry = layout::geometry(data, &series, style)?;
    let traces = Traces::of(data, &series, &geometry);
    let brush = Brush::new(root, style);

    ground::room(&brush, &geometry, data, theme)?;
    ground::unstable(&brush, &geometry, &series, theme)?;
    ground::axes(&brush, &geometry, (data, &series), theme, style)?;
    ground::capacity_interval(&brush, &geometry, data, theme)?;
    traces::draw(&brush, &geometry, &series, &traces, theme)?;
    verticals(&brush, &geometry, data, theme)?;
    if let Some(planned) = data.planned_rate_per_s {
        dots(&brush, &geometry, &series, planned, theme)?;
    }
    for label in naming::labels(data, &series, &geometry, &traces, theme, style) {
        brush.text(&label)?;
    }
    Ok(geometry)
}

/// Where things would be, without drawing.
///
/// # Errors
///
/// When the chart is too small for its panels.
pub fn knee_geometry(data: &KneeData, style: &Style) -> Result<KneeGeometry, ChartError> {
    layout::geometry(data, &Series::of(data), style)
}

/// Draws a cursor at a rate on an overlay of the same size: a line, and a hollow dot on each curve.
///
/// # Errors
///
/// When the backend refuses.
pub fn draw_cursor<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    geometry: &KneeGeometry,
    data: &KneeData,
    rate_per_s: f64,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let brush = Brush::new(root, style);
    let line = Line { colour: theme.text, width_px: 1.0, dash: None };
    if let Some(x) = within(geometry, rate_per_s) {
        brush.upright(x, (geometry.plot.top, geometry.plot.bottom), &line)?;
    }
    dots(&brush, geometry, &Series::of(data), rate_per_s, theme)
}

fn verticals<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    data: &KneeData,
    theme: &Theme,
) -> Result<(), ChartError> {
    let span = (geometry.plot.top, geometry.plot.bottom);
    if let Some(x) = data.planned_rate_per_s.and_then(|rate| within(geometry, rate)) {
        let dash = Some(PLANNED_DASH);
        brush.upright(x, span, &Line { colour: theme.ok, width_px: VERTICAL_PX, dash })?;
    }
    if let Some(x) = data.capacity_per_s.and_then(|capacity| within(geometry, capacity.value)) {
        brush.upright(x, span, &Line { colour: theme.text, width_px: VERTICAL_PX, dash: None })?;
    }
    Ok(())
}

/// Hollow dots where the main curves pass a rate.
fn dots<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    series: &Series,
    rate_per_s: f64,
    theme: &Theme,
) -> Result<(), ChartError> {
    let places = dot_places(geometry, series, rate_per_s);
    places
        .into_iter()
        .try_for_each(|(at, data)| brush.dot(at, theme.data[data].mark, theme.surface))
}

/// Middles of the dots at a rate, with the number of their data colour.
pub(crate) fn dot_places(
    geometry: &KneeGeometry,
    series: &Series,
    rate_per_s: f64,
) -> Vec<((f64, f64), usize)> {
    let Some(x) = within(geometry, rate_per_s) else {
        return Vec::new();
    };
    let ttft = series.ttft_p99_ln.value.at(rate_per_s).map(libm::exp);
    let places = [
        (ttft, geometry.ttft, 1),
        (series.tpot_p99.value.at(rate_per_s), geometry.tpot, 2),
        (series.goodput_at(rate_per_s).map(|i| i.value), geometry.goodput, 3),
    ];
    let placed = places.into_iter().filter_map(|(value, panel, data)| {
        let y = panel.y.to_px(value?);
        let Rect { top, bottom, .. } = panel.rect;
        (y >= top && y <= bottom).then_some(((x, y), data))
    });
    placed.collect()
}

/// Where a rate lies, if on the chart.
pub(crate) fn within(geometry: &KneeGeometry, rate_per_s: f64) -> Option<f64> {
    let x = geometry.x.to_px(rate_per_s);
    (x >= geometry.plot.left && x <= geometry.plot.right).then_some(x)
}
