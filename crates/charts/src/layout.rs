//! The knee chart's geometry: panels, ranges and scales from data and size.

use crate::axis::{round_down, round_up};
use crate::data::KneeData;
use crate::error::ChartError;
use crate::geometry::{KneeGeometry, Panel, Rect};
use crate::scale::{Scale, Spread};
use crate::series::Series;
use crate::style::Style;

/// Smaller charts have no room for three panels.
const SMALLEST_PX: f64 = 160.0;
/// Room for the labels above the panels, CSS px.
const TOP_PX: f64 = 22.0;
/// Room for ticks and title below them.
const BOTTOM_PX: f64 = 38.0;
/// Room for tick labels on the left: wide and narrow chart.
const LEFT_PX: (f64, f64) = (56.0, 52.0);
/// Room on the right: wide and narrow chart.
const RIGHT_PX: (f64, f64) = (14.0, 6.0);
/// Between panels.
const GAP_PX: f64 = 20.0;
/// Shares of the plot height: time to first token, time per output token, goodput.
const SHARES: [f64; 3] = [0.46, 0.28, 0.26];
/// The x axis ends at this many ceilings.
const BEYOND_CEILING: f64 = 1.15;
/// A planned load is kept in view up to this many ceilings.
const FURTHEST_PLAN: f64 = 3.0;
/// A logarithmic axis spans at most this factor.
const WIDEST_SPAN: f64 = 1e12;
/// What an axis shows when there is nothing to show.
const NO_RATE_PER_S: f64 = 1.0;
const NO_TTFT_S: f64 = 1.0;
const NO_TPOT_S: f64 = 0.1;

/// Where everything lies.
pub(crate) fn geometry(
    data: &KneeData,
    series: &Series,
    style: &Style,
) -> Result<KneeGeometry, ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    let fits = width_px >= SMALLEST_PX && height_px >= SMALLEST_PX;
    let sharp = style.scale > 0.0 && style.scale.is_finite() && style.oversample > 0;
    if !(fits && sharp && width_px.is_finite() && height_px.is_finite()) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let pick = |(wide, narrow)| if style.is_narrow() { narrow } else { wide };
    let plot = Rect {
        left: pick(LEFT_PX),
        top: TOP_PX,
        right: width_px - pick(RIGHT_PX),
        bottom: height_px - BOTTOM_PX,
    };
    let rate_high = highest_rate(data);
    let x = Scale::new(Spread::Linear, (0.0, rate_high), (plot.left, plot.right));
    let [ttft, tpot, goodput] = panels(&plot);
    Ok(KneeGeometry {
        plot,
        x,
        ttft: panel(ttft, Spread::Log, ttft_range(data, series)),
        tpot: panel(tpot, Spread::Linear, (0.0, tpot_high(data, series))),
        goodput: panel(goodput, Spread::Linear, (0.0, goodput_high(series, rate_high))),
    })
}

fn panels(plot: &Rect) -> [Rect; 3] {
    let height = plot.height() - 2.0 * GAP_PX;
    let mut top = plot.top;
    let mut panels = SHARES.map(|share| {
        let bottom = (top + share * height).round();
        let rect = Rect { top, bottom, ..*plot };
        top = bottom + GAP_PX;
        rect
    });
    // Rounding must not leave the last one off the axis.
    panels[2].bottom = plot.bottom;
    panels
}

fn panel(rect: Rect, spread: Spread, range: (f64, f64)) -> Panel {
    Panel { rect, y: Scale::new(spread, range, (rect.bottom, rect.top)) }
}

fn highest_rate(data: &KneeData) -> f64 {
    let measured = data.points.iter().map(|point| point.rate_per_s);
    let capacity = data.capacity_per_s.map(|capacity| capacity.high);
    let last = usable(data.ceiling_per_s)
        .or_else(|| largest(measured.chain(capacity)))
        .or(usable(data.planned_rate_per_s))
        .unwrap_or(NO_RATE_PER_S);
    let end = BEYOND_CEILING * last;
    match usable(data.planned_rate_per_s) {
        Some(planned) if planned > end / 1.05 && planned < FURTHEST_PLAN * last => 1.05 * planned,
        _ => end,
    }
}

fn ttft_range(data: &KneeData, series: &Series) -> (f64, f64) {
    let ends = |curve: &crate::curve::Curve| -> Vec<f64> {
        curve.points().iter().map(|(_, ln)| libm::exp(*ln)).collect()
    };
    let p99 = ends(&series.ttft_p99_ln.value);
    let lowest = smallest(ends(&series.ttft_p50_ln))
        .or_else(|| smallest(p99.iter().copied()))
        .or_else(|| smallest(ends(&series.closed_form_ln)))
        .or_else(|| usable(Some(data.ttft_target_s)).map(|target| target / 10.0))
        .unwrap_or(NO_TTFT_S);
    let target = usable(Some(data.ttft_target_s)).map(|target| 4.0 * target);
    let high = largest(p99.into_iter().map(|p99| 2.0 * p99).chain(target)).unwrap_or(8.0 * lowest);
    let low = round_down(lowest / 2.0);
    let high = round_up(if high < 2.0 * low { 2.0 * low } else { high });
    (if high / low > WIDEST_SPAN { high / WIDEST_SPAN } else { low }, high)
}

fn tpot_high(data: &KneeData, series: &Series) -> f64 {
    let measured = || largest(series.tpot_p99.value.points().iter().map(|point| point.1));
    let top = usable(Some(data.tpot_target_s)).or_else(measured).unwrap_or(NO_TPOT_S);
    1.25 * top
}

fn goodput_high(series: &Series, rate_high: f64) -> f64 {
    let missing_least = series.shortfall.low.points().iter();
    let goodput = largest(missing_least.map(|(rate, missing)| rate - missing));
    // The offered load has to stay in view up to the ceiling.
    let offered = series.unstable_from.unwrap_or(rate_high / BEYOND_CEILING);
    let top = goodput.into_iter().chain(usable(Some(offered)));
    1.08 * largest(top).unwrap_or(NO_RATE_PER_S)
}

/// Finite, above zero, and small enough to do sums with.
fn usable(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 1e-100 && *value < 1e100)
}

fn largest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter_map(|value| usable(Some(value))).max_by(f64::total_cmp)
}

fn smallest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter_map(|value| usable(Some(value))).min_by(f64::total_cmp)
}
