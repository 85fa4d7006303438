//! The curves of the knee chart on their panels.

use plotters::prelude::DrawingBackend;

use crate::clip::{Point, clipped};
use crate::curve::Curve;
use crate::data::KneeData;
use crate::error::ChartError;
use crate::geometry::{KneeGeometry, Panel};
use crate::ground;
use crate::paint::{Brush, Dash, Line};
use crate::series::{Band, Series};
use crate::theme::Theme;

/// Curves are drawn in pieces this long, CSS px.
const SAMPLE_PX: f64 = 2.0;
pub(crate) const MAIN_PX: f64 = 2.25;
const SECONDARY_PX: f64 = 1.25;
pub(crate) const TARGET_PX: f64 = 1.5;
const AREA_OPACITY: f64 = 0.12;
pub(crate) const TARGET_DASH: Dash = Dash(2.0, 3.0);
pub(crate) const TPOT_DASH: Dash = Dash(7.0, 3.0);
/// Dots of one px with round ends: strokes here end square, so they are drawn as long as they look.
const CLOSED_FORM_DASH: Dash = Dash(2.0, 3.0);
const OFFERED_DASH: Dash = Dash(4.0, 3.0);

/// What a curve's number at a rate stands for.
pub(crate) type ValueAt = fn(f64, f64) -> f64;

pub(crate) fn itself(_rate: f64, value: f64) -> f64 {
    value
}

pub(crate) fn seconds(_rate: f64, ln: f64) -> f64 {
    libm::exp(ln)
}

fn goodput(rate: f64, shortfall: f64) -> f64 {
    rate - shortfall
}

/// The curves in CSS px, for drawing and for keeping labels clear of them. Empty where there is
/// nothing to draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traces {
    pub(crate) ttft_p50: Vec<Point>,
    pub(crate) ttft_p99: Vec<Point>,
    pub(crate) closed_form: Vec<Point>,
    pub(crate) tpot_p99: Vec<Point>,
    pub(crate) goodput: Vec<Point>,
    pub(crate) offered: Vec<Point>,
    pub(crate) ttft_target: Option<f64>,
    pub(crate) tpot_target: Option<f64>,
}

impl Traces {
    pub(crate) fn of(data: &KneeData, series: &Series, geometry: &KneeGeometry) -> Self {
        let on =
            |curve: &Curve, panel: &Panel, value: ValueAt| placed(curve, panel, geometry, value);
        let last = series.unstable_from.unwrap_or(geometry.x.high());
        let offered = Curve::through([(0.0, 0.0), (last, last)]);
        Self {
            ttft_p50: on(&series.ttft_p50_ln, &geometry.ttft, seconds),
            ttft_p99: on(&series.ttft_p99_ln.value, &geometry.ttft, seconds),
            closed_form: on(&series.closed_form_ln, &geometry.ttft, seconds),
            tpot_p99: on(&series.tpot_p99.value, &geometry.tpot, itself),
            goodput: on(&series.shortfall.value, &geometry.goodput, goodput),
            offered: clipped(&on(&offered, &geometry.goodput, itself), &geometry.goodput.rect)
                .into_iter()
                .flatten()
                .collect(),
            ttft_target: target(data.ttft_target_s, &geometry.ttft),
            tpot_target: target(data.tpot_target_s, &geometry.tpot),
        }
    }
}

/// Draws all curves, those that matter most last.
pub(crate) fn draw<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &KneeGeometry,
    series: &Series,
    traces: &Traces,
    theme: &Theme,
) -> Result<(), ChartError> {
    let line = |data: usize, width_px: f64, dash: Option<Dash>| Line {
        colour: theme.data[data].mark,
        width_px,
        dash,
    };
    let across = (geometry.plot.left, ground::stable_end(geometry, series));
    let (ttft, tpot, panel) = (&geometry.ttft, &geometry.tpot, &geometry.goodput);

    if let Some(y) = traces.ttft_target {
        brush.level(y, across, &line(1, TARGET_PX, Some(TARGET_DASH)))?;
    }
    band(brush, &series.ttft_p99_ln, ttft, geometry, seconds, (1, theme))?;
    trace(brush, &traces.closed_form, ttft, &line(0, TARGET_PX, Some(CLOSED_FORM_DASH)))?;
    trace(brush, &traces.ttft_p50, ttft, &line(1, SECONDARY_PX, None))?;
    trace(brush, &traces.ttft_p99, ttft, &line(1, MAIN_PX, None))?;

    if let Some(y) = traces.tpot_target {
        brush.level(y, across, &line(2, TARGET_PX, Some(TARGET_DASH)))?;
    }
    band(brush, &series.tpot_p99, tpot, geometry, itself, (2, theme))?;
    trace(brush, &traces.tpot_p99, tpot, &line(2, MAIN_PX, Some(TPOT_DASH)))?;

    trace(brush, &traces.offered, panel, &line(0, SECONDARY_PX, Some(OFFERED_DASH)))?;
    area(brush, &traces.goodput, panel, theme)?;
    band(brush, &series.shortfall, panel, geometry, goodput, (3, theme))?;
    trace(brush, &traces.goodput, panel, &line(3, MAIN_PX, None))
}

fn target(value: f64, panel: &Panel) -> Option<f64> {
    let is_drawn = value.is_finite() && value > panel.y.low() && value <= panel.y.high();
    is_drawn.then(|| panel.y.to_px(value))
}

fn placed(curve: &Curve, panel: &Panel, geometry: &KneeGeometry, value: ValueAt) -> Vec<Point> {
    let step = geometry.x.to_value(geometry.plot.left + SAMPLE_PX);
    let place = |(rate, y): (f64, f64)| (geometry.x.to_px(rate), panel.y.to_px(value(rate, y)));
    let samples = curve.sampled(step).into_iter().map(place);
    // Samples lie so close that a curve cut at the last one ends at the edge.
    samples.filter(|(x, y)| *x <= geometry.plot.right && y.is_finite()).collect()
}

pub(crate) fn trace<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    points: &[Point],
    panel: &Panel,
    line: &Line,
) -> Result<(), ChartError> {
    clipped(points, &panel.rect).iter().try_for_each(|part| brush.path(part, line))
}

/// An interval around a curve. Curves without one draw nothing.
pub(crate) fn band<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    band: &Band,
    panel: &Panel,
    geometry: &KneeGeometry,
    value: ValueAt,
    (data, theme): (usize, &Theme),
) -> Result<(), ChartError> {
    if band.low == band.high {
        return Ok(());
    }
    let mut outline = placed(&band.high, panel, geometry, value);
    outline.extend(placed(&band.low, panel, geometry, value).into_iter().rev());
    brush.polygon(&held(&outline, panel), theme.data[data].mark, theme.band_opacity)
}

fn area<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    points: &[Point],
    panel: &Panel,
    theme: &Theme,
) -> Result<(), ChartError> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Ok(());
    };
    let bottom = panel.rect.bottom;
    let mut outline = points.to_vec();
    outline.extend([(last.0, bottom), (first.0, bottom)]);
    brush.polygon(&held(&outline, panel), theme.data[3].mark, AREA_OPACITY)
}

/// Points outside a panel moved to its edge.
fn held(points: &[Point], panel: &Panel) -> Vec<Point> {
    let within = |value: f64, low: f64, high: f64| {
        if value < low {
            low
        } else if value > high {
            high
        } else {
            value
        }
    };
    let rect = &panel.rect;
    points
        .iter()
        .map(|(x, y)| (within(*x, rect.left, rect.right), within(*y, rect.top, rect.bottom)))
        .collect()
}
