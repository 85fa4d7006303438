//! Theory beside simulation: one small panel a queue, all on the same axes.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::{log_ticks, round_down, round_up};
use crate::curve::Curve;
use crate::data::Interval;
use crate::error::ChartError;
use crate::geometry::{Panel, Rect};
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::{Rgb, Theme};

/// Panels side by side.
const COLUMNS: usize = 2;
/// Room for tick labels, for a panel's title, and for what stands under the last row, CSS px.
const LEFT_PX: f64 = 34.0;
const TITLE_PX: f64 = 24.0;
const BOTTOM_PX: f64 = 36.0;
const RIGHT_PX: f64 = 8.0;
const GAP_PX: (f64, f64) = (20.0, 12.0);
/// Smaller charts have no room for two rows.
const SMALLEST_PX: f64 = 160.0;
/// The axis of the load.
const LOADS: (f64, f64) = (0.25, 1.0);
const LOAD_TICKS: [f64; 4] = [0.3, 0.5, 0.7, 0.9];
const TICK_PX: f64 = 4.0;
const CAP_PX: f64 = 3.0;
const CROSS_PX: f64 = 4.0;
const STEP: f64 = 0.01;
/// Colours of mean, P90 and P99.
const COLOURS: [usize; 3] = [1, 2, 4];
const NO_TIME: (f64, f64) = (1.0, 100.0);

/// One queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePanel {
    /// What it is called: “M/M/1”.
    pub title: String,
    /// What is special about it.
    pub words: String,
    /// Its loads.
    pub dots: Vec<QueueDot>,
}

/// One load: mean, P90 and P99 of the time in the system, in mean service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDot {
    /// Share of the servers that is busy, 0 to 1.
    pub load: f64,
    /// What theory says.
    pub theory: [f64; 3],
    /// What the simulation says.
    pub simulated: [Interval; 3],
}

/// Draws a panel for each queue on an area of [`Style::backend_size`]: theory as dotted curves, the
/// simulation as dots with their intervals, as crosses where theory is outside. The
/// ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_queues<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    queues: &[QueuePanel],
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= SMALLEST_PX && height_px >= SMALLEST_PX) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let range = range_of(queues);
    let rows = queues.len().div_ceil(COLUMNS);
    for (index, queue) in queues.iter().enumerate() {
        let (row, column) = (index / COLUMNS, index % COLUMNS);
        let rect = place(style, rows, row, column);
        let panel = Panel { rect, y: Scale::new(Spread::Log, range, (rect.bottom, rect.top)) };
        let x = Scale::new(Spread::Linear, LOADS, (rect.left, rect.right));
        title(&brush, &panel, queue, theme, style)?;
        y_axis(&brush, &panel, column == 0, theme)?;
        x_axis(&brush, &rect, &x, row + 1 == rows, theme)?;
        for (series, &colour) in COLOURS.iter().enumerate() {
            curve(&brush, queue, (&x, &panel.y), series, theme)?;
            dots(&brush, queue, (&x, &panel.y), (series, theme.data[colour].mark), theme)?;
        }
    }
    let text = "Load".to_owned();
    let at = (width_px - RIGHT_PX, height_px - 7.0);
    brush.text(&plain(text, at, Anchor::End, theme))
}

fn plain(text: String, at: (f64, f64), anchor: Anchor, theme: &Theme) -> Label {
    Label { text, at, anchor, colour: theme.text3, bold: false, halo: None, upright: false }
}

/// The range of all times, ends rounded.
fn range_of(queues: &[QueuePanel]) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0);
    for dot in queues.iter().flat_map(|queue| &queue.dots) {
        for (&theory, simulated) in dot.theory.iter().zip(&dot.simulated) {
            for value in [theory, simulated.low, simulated.high] {
                if value > 0.0 && value.is_finite() {
                    low = if value < low { value } else { low };
                    high = if value > high { value } else { high };
                }
            }
        }
    }
    if low < high { (round_down(low), round_up(high)) } else { NO_TIME }
}

fn place(style: &Style, rows: usize, row: usize, column: usize) -> Rect {
    let columns = COLUMNS as f64;
    let width = (style.width_px - LEFT_PX - RIGHT_PX - GAP_PX.0 * (columns - 1.0)) / columns;
    let rows = rows as f64;
    let height = (style.height_px - BOTTOM_PX - GAP_PX.1 * (rows - 1.0)) / rows;
    let left = (LEFT_PX + column as f64 * (width + GAP_PX.0)).round();
    let top = (row as f64 * (height + GAP_PX.1)).round();
    let bottom = (top + height).round();
    Rect { left, top: top + TITLE_PX, right: (left + width).round(), bottom }
}

fn title<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Panel,
    queue: &QueuePanel,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let Rect { left, right, top, .. } = panel.rect;
    let y = top - 15.0;
    let name = plain(queue.title.clone(), (left, y), Anchor::Start, theme);
    brush.text(&Label { bold: true, colour: theme.text, ..name })?;
    if style.is_narrow() {
        return Ok(());
    }
    brush.text(&plain(queue.words.clone(), (right, y), Anchor::End, theme))
}

fn y_axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Panel,
    is_first: bool,
    theme: &Theme,
) -> Result<(), ChartError> {
    let Rect { left, right, bottom, .. } = panel.rect;
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    for tick in log_ticks(&panel.y, panel.rect.height()) {
        let y = panel.y.to_px(tick);
        if y < bottom - 0.5 {
            brush.level(y, (left, right), &grid)?;
        }
        if is_first {
            let at = (left - TICK_PX - 4.0, y);
            brush.text(&plain(quantity::axis_number(tick), at, Anchor::End, theme))?;
        }
    }
    brush.level(bottom, (left, right), &Line { colour: theme.axis, ..grid })
}

fn x_axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    rect: &Rect,
    x: &Scale,
    is_last: bool,
    theme: &Theme,
) -> Result<(), ChartError> {
    let axis = Line { colour: theme.axis, width_px: 1.0, dash: None };
    for load in LOAD_TICKS {
        let at = x.to_px(load);
        brush.upright(at, (rect.bottom, rect.bottom + TICK_PX), &axis)?;
        if is_last {
            let place = (at, rect.bottom + 13.0);
            brush.text(&plain(quantity::axis_number(load), place, Anchor::Middle, theme))?;
        }
    }
    Ok(())
}

/// Theory, as a dotted curve.
fn curve<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    queue: &QueuePanel,
    (x, y): (&Scale, &Scale),
    series: usize,
    theme: &Theme,
) -> Result<(), ChartError> {
    let points = queue.dots.iter().map(|dot| (dot.load, libm::log(dot.theory[series])));
    let path: Vec<(f64, f64)> = Curve::through(points)
        .sampled(STEP)
        .into_iter()
        .map(|(load, ln)| (x.to_px(load), y.to_px(libm::exp(ln))))
        .collect();
    let line = Line { colour: theme.data[0].mark, width_px: 1.75, dash: Some(Dash(1.5, 2.5)) };
    brush.path(&path, &line)
}

/// The simulation: a dot with the whisker of its interval.
fn dots<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    queue: &QueuePanel,
    (x, y): (&Scale, &Scale),
    (series, colour): (usize, Rgb),
    theme: &Theme,
) -> Result<(), ChartError> {
    for dot in &queue.dots {
        let Interval { value, low, high } = dot.simulated[series];
        if !(low > 0.0 && value.is_finite() && high.is_finite()) {
            continue;
        }
        let theory = dot.theory[series];
        let outside = theory < low || theory > high;
        // Some are by chance: it is for the whole to say whether too many.
        let colour = if outside { theme.warn } else { colour };
        let line = Line { colour, width_px: 1.25, dash: None };
        let at = (x.to_px(dot.load), y.to_px(value));
        let (top, bottom) = (y.to_px(high), y.to_px(low));
        brush.upright(at.0, (top, bottom), &line)?;
        for end in [top, bottom] {
            brush.level(end, (at.0 - CAP_PX, at.0 + CAP_PX), &line)?;
        }
        if outside {
            let stroke = Line { colour, width_px: 2.25, dash: None };
            for side in [CROSS_PX, -CROSS_PX] {
                let ends = [(at.0 - CROSS_PX, at.1 - side), (at.0 + CROSS_PX, at.1 + side)];
                brush.path(&ends, &stroke)?;
            }
        } else {
            brush.dot(at, colour, theme.surface)?;
        }
    }
    Ok(())
}
