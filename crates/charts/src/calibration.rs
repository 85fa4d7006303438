//! Measured times and what a model says of them, before and after its constants were fitted: a panel each for
//! TTFT and TPOT.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::accuracy::{axes, diagonal, plain, range_of_times};
use crate::error::ChartError;
use crate::geometry::{Panel, Rect};
use crate::paint::{Brush, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::Theme;

/// Titles of the panels.
const TITLES: [&str; 2] = ["TTFT, predicted", "TPOT, predicted"];
/// Bands around the line where prediction and measurement agree, with their opacity.
const BANDS: [(f64, f64); 2] = [(1.25, 0.06), (1.1, 0.1)];
const LEFT_PX: f64 = 54.0;
const TOP_PX: f64 = 26.0;
const BOTTOM_PX: f64 = 40.0;
const RIGHT_PX: f64 = 14.0;
const GAP_PX: f64 = 64.0;
/// A panel is no smaller.
const SMALLEST_PX: f64 = 110.0;

/// A point of a load test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationDot {
    /// 0 for TTFT, 1 for TPOT.
    pub panel: usize,
    /// What was measured, seconds.
    pub measured_s: f64,
    /// What was predicted before, seconds.
    pub before_s: f64,
    /// What is predicted after, seconds.
    pub after_s: f64,
    /// Whether constants were fitted to it.
    pub is_fitted: bool,
}

/// Draws predicted over measured times on an area of [`Style::backend_size`]: hollow dots before, filled ones
/// after, each pair joined. The bands are 10 and 25 % around where they agree. Narrow charts have one panel above
/// the other. The ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_calibration<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    dots: &[CalibrationDot],
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let brush = Brush::new(root, style);
    for (panel, rect) in rects(style)?.into_iter().enumerate() {
        let of_panel: Vec<CalibrationDot> =
            dots.iter().filter(|dot| dot.panel == panel).copied().collect();
        draw_panel(&brush, rect, TITLES[panel], &of_panel, theme)?;
    }
    Ok(())
}

fn rects(style: &Style) -> Result<[Rect; 2], ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    let is_stacked = style.is_narrow();
    let (width, height) = if is_stacked {
        let height = (height_px - 2.0 * (TOP_PX + BOTTOM_PX)) / 2.0;
        (width_px - LEFT_PX - RIGHT_PX, height)
    } else {
        ((width_px - LEFT_PX - RIGHT_PX - GAP_PX) / 2.0, height_px - TOP_PX - BOTTOM_PX)
    };
    if !(width >= SMALLEST_PX && height >= SMALLEST_PX) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let at = |panel: f64| {
        let (right, down) = if is_stacked {
            (0.0, panel * (height + TOP_PX + BOTTOM_PX))
        } else {
            (panel * (width + GAP_PX), 0.0)
        };
        let (left, top) = (LEFT_PX + right, TOP_PX + down);
        Rect { left, top, right: left + width, bottom: top + height }
    };
    Ok([at(0.0), at(1.0)])
}

fn draw_panel<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    rect: Rect,
    title: &str,
    dots: &[CalibrationDot],
    theme: &Theme,
) -> Result<(), ChartError> {
    let ends =
        range_of_times(dots.iter().flat_map(|dot| [dot.measured_s, dot.before_s, dot.after_s]));
    let x = Scale::new(Spread::Log, ends, (rect.left, rect.right));
    let panel = Panel { rect, y: Scale::new(Spread::Log, ends, (rect.bottom, rect.top)) };
    let middle = diagonal(&panel, &x, 1.0);
    for (factor, opacity) in BANDS {
        let (above, below) = (diagonal(&panel, &x, factor), diagonal(&panel, &x, 1.0 / factor));
        let band = [above[0], above[1], middle[1], below[1], below[0], middle[0]];
        brush.polygon(&band, theme.data[0].mark, opacity)?;
    }
    axes(brush, &panel, &x, theme)?;
    let name = plain(title.to_owned(), (rect.left, rect.top - 12.0), theme);
    brush.text(&Label { bold: true, colour: theme.text, ..name })?;
    brush.path(&middle, &Line { colour: theme.text3, width_px: 1.0, dash: None })?;
    let places = |dot: &CalibrationDot| {
        let at = x.to_px(dot.measured_s);
        ((at, panel.y.to_px(dot.before_s)), (at, panel.y.to_px(dot.after_s)))
    };
    for dot in dots {
        let (before, after) = places(dot);
        brush.path(&[before, after], &Line { colour: theme.axis, width_px: 1.0, dash: None })?;
    }
    for dot in dots {
        let (before, after) = places(dot);
        brush.dot(before, theme.data[0].mark, theme.surface)?;
        let colour = theme.data[if dot.is_fitted { 1 } else { 2 }].mark;
        brush.dot(after, colour, colour)?;
    }
    Ok(())
}

#[cfg(all(test, feature = "svg"))]
mod tests {
    use super::*;
    use crate::{calibration_svg, theme};

    #[test]
    fn a_pair_a_point_beside_or_above_each_other() {
        let dot = |panel, measured_s| CalibrationDot {
            panel,
            measured_s,
            before_s: 0.7 * measured_s,
            after_s: 1.01 * measured_s,
            is_fitted: panel == 0,
        };
        let dots = [dot(0, 0.05), dot(0, 0.4), dot(1, 0.012)];
        let of = |width: f64, height: f64| {
            calibration_svg(&dots, &theme::LIGHT, &Style::svg(width, height))
        };
        let wide = of(760.0, 300.0).unwrap();
        assert!(wide.contains("TTFT, predicted") && wide.contains("TPOT, predicted"));
        // Each point has two dots of two circles.
        assert_eq!(wide.matches("<circle").count(), 12, "{wide}");
        assert!(of(340.0, 520.0).is_ok());
        assert!(of(340.0, 200.0).is_err() && of(200.0, 300.0).is_err());
        let [first, second] = rects(&Style::svg(340.0, 520.0)).unwrap();
        assert!(first.left == second.left && first.bottom < second.top);
    }
}
