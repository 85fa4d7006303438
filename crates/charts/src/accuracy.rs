//! Predicted against measured times: a panel each for TTFT and TPOT, a dot a run.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::{log_ticks, round_down, round_up};
use crate::error::ChartError;
use crate::geometry::{Panel, Rect};
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::{Rgb, Theme};

/// Titles of the panels.
const TITLES: [&str; 2] = ["TTFT", "TPOT"];
/// What the two colours are, with their place among the theme's.
const KINDS: [(&str, usize); 2] = [("dense", 1), ("mixture of experts", 2)];
/// A line for predictions that are so much too high or too low.
const OFF: f64 = 0.25;
const LEFT_PX: f64 = 54.0;
const TOP_PX: f64 = 44.0;
const BOTTOM_PX: f64 = 40.0;
const RIGHT_PX: f64 = 14.0;
const GAP_PX: f64 = 64.0;
const DOT_PX: f64 = 1.5;
const DOT_OPACITY: f64 = 0.45;
const SMALLEST_PX: (f64, f64) = (420.0, 220.0);
/// Tick labels of an upright axis are drawn without measuring them.
const NO_TIME: (f64, f64) = (1e-3, 1.0);

/// A run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyDot {
    /// 0 for TTFT, 1 for TPOT.
    pub panel: usize,
    /// What was measured, seconds.
    pub measured_s: f64,
    /// What was predicted, seconds.
    pub predicted_s: f64,
    /// Whether it is of a mixture of experts.
    pub is_second: bool,
}

/// Draws predicted over measured times on an area of [`Style::backend_size`]: on the full line they agree, between
/// the dashed ones they are within a quarter. The ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_accuracy<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    dots: &[AccuracyDot],
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= SMALLEST_PX.0 && height_px >= SMALLEST_PX.1) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let width = (width_px - LEFT_PX - RIGHT_PX - GAP_PX) / 2.0;
    for (panel, title) in TITLES.iter().enumerate() {
        let left = LEFT_PX + panel as f64 * (width + GAP_PX);
        let rect = Rect { left, top: TOP_PX, right: left + width, bottom: height_px - BOTTOM_PX };
        let of_panel = |dot: &&AccuracyDot| dot.panel == panel;
        draw_panel(&brush, rect, title, dots.iter().filter(of_panel), theme)?;
    }
    legend(&brush, theme)
}

fn draw_panel<'a, DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    rect: Rect,
    title: &str,
    dots: impl Iterator<Item = &'a AccuracyDot> + Clone,
    theme: &Theme,
) -> Result<(), ChartError> {
    let ends = range_of(dots.clone());
    let x = Scale::new(Spread::Log, ends, (rect.left, rect.right));
    let panel = Panel { rect, y: Scale::new(Spread::Log, ends, (rect.bottom, rect.top)) };
    axes(brush, &panel, &x, theme)?;
    let name = plain(format!("{title}, predicted"), (rect.left, rect.top - 12.0), theme);
    brush.text(&Label { bold: true, colour: theme.text, ..name })?;
    for (factor, dash) in
        [(1.0, None), (1.0 + OFF, Some(Dash(3.0, 3.0))), (1.0 / (1.0 + OFF), Some(Dash(3.0, 3.0)))]
    {
        let line = Line { colour: theme.axis, width_px: 1.0, dash };
        brush.path(&diagonal(&panel, &x, factor), &line)?;
    }
    for dot in dots {
        let colour = theme.data[KINDS[usize::from(dot.is_second)].1].mark;
        let (at_x, at_y) = (x.to_px(dot.measured_s), panel.y.to_px(dot.predicted_s));
        square(brush, (at_x, at_y), colour, DOT_OPACITY)?;
    }
    Ok(())
}

/// A line of so many times the measured time, cut to the panel.
pub(crate) fn diagonal(panel: &Panel, x: &Scale, factor: f64) -> Vec<(f64, f64)> {
    let low = if factor < 1.0 { x.low() / factor } else { x.low() };
    let high = if factor > 1.0 { x.high() / factor } else { x.high() };
    [low, high].iter().map(|time| (x.to_px(*time), panel.y.to_px(time * factor))).collect()
}

fn square<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    (x, y): (f64, f64),
    colour: Rgb,
    opacity: f64,
) -> Result<(), ChartError> {
    let corners = [
        (x - DOT_PX, y - DOT_PX),
        (x + DOT_PX, y - DOT_PX),
        (x + DOT_PX, y + DOT_PX),
        (x - DOT_PX, y + DOT_PX),
    ];
    brush.polygon(&corners, colour, opacity)
}

fn range_of<'a>(dots: impl Iterator<Item = &'a AccuracyDot>) -> (f64, f64) {
    range_of_times(dots.flat_map(|dot| [dot.measured_s, dot.predicted_s]))
}

/// Round ends of an axis that holds all these times, seconds.
pub(crate) fn range_of_times(times: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0);
    for value in times {
        if value > 0.0 && value.is_finite() {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
    }
    if low < high { (round_down(low), round_up(high)) } else { NO_TIME }
}

pub(crate) fn axes<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Panel,
    x: &Scale,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Rect { left, right, top, bottom } = panel.rect;
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    for tick in log_ticks(&panel.y, panel.rect.height()) {
        let (y, at) = (panel.y.to_px(tick), x.to_px(tick));
        brush.level(y, (left, right), &grid)?;
        let label = plain(quantity::axis_duration(tick), (left - 6.0, y), theme);
        brush.text(&Label { anchor: Anchor::End, ..label })?;
        brush.upright(at, (top, bottom), &grid)?;
        let label = plain(quantity::axis_duration(tick), (at, bottom + 12.0), theme);
        brush.text(&Label { anchor: Anchor::Middle, ..label })?;
    }
    let axis = Line { colour: theme.axis, ..grid };
    brush.level(bottom, (left, right), &axis)?;
    let label = plain("measured".to_owned(), (right, bottom + 28.0), theme);
    brush.text(&Label { anchor: Anchor::End, ..label })
}

fn legend<DB: DrawingBackend>(brush: &Brush<'_, DB>, theme: &Theme) -> Result<(), ChartError> {
    let mut left = LEFT_PX;
    for (name, colour) in KINDS {
        square(brush, (left + 4.0, 12.0), theme.data[colour].mark, 1.0)?;
        brush.text(&plain(name.to_owned(), (left + 12.0, 12.0), theme))?;
        left += 72.0;
    }
    let text = "dashed: a quarter too high, a quarter too low".to_owned();
    brush.text(&plain(text, (left + 76.0, 12.0), theme))
}

pub(crate) fn plain(text: String, at: (f64, f64), theme: &Theme) -> Label {
    let colour = theme.text3;
    Label { text, at, anchor: Anchor::Start, colour, bold: false, halo: None, upright: false }
}

#[cfg(all(test, feature = "svg"))]
mod tests {
    use super::*;
    use crate::{accuracy_svg, theme};

    fn dot(panel: usize, measured_s: f64, predicted_s: f64) -> AccuracyDot {
        AccuracyDot { panel, measured_s, predicted_s, is_second: panel == 1 }
    }

    #[test]
    fn every_run_is_a_dot_and_axes_hold_them_all() {
        let dots = [dot(0, 0.02, 0.03), dot(0, 4.0, 3.0), dot(1, 0.005, 0.006), dot(1, 0.05, 0.06)];
        let svg = accuracy_svg(&dots, &theme::LIGHT, &Style::svg(720.0, 380.0)).unwrap();
        for text in
            ["TTFT, predicted", "TPOT, predicted", "measured", "mixture of experts", "10 ms"]
        {
            assert!(svg.replace('\u{202f}', " ").contains(text), "{text}\n{svg}");
        }
        assert_eq!(range_of(dots.iter()), (0.005, 5.0));
        assert!(accuracy_svg(&[], &theme::DARK, &Style::svg(720.0, 380.0)).is_ok());
        assert!(accuracy_svg(&dots, &theme::LIGHT, &Style::svg(100.0, 100.0)).is_err());
    }
}
