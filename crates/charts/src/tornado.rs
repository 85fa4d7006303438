//! A tornado: what each input does to an answer between its ends, the widest bar first.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::round_up;
use crate::cost::plain;
use crate::error::ChartError;
use crate::geometry::Rect;
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::Theme;

/// Room for the inputs' names, and around the panel, CSS px.
const LEFT_PX: f64 = 200.0;
const TOP_PX: f64 = 28.0;
const RIGHT_PX: f64 = 72.0;
const BOTTOM_PX: f64 = 24.0;
/// Smaller charts have no room for names and bars.
const SMALLEST_PX: (f64, f64) = (360.0, 120.0);
/// Part of a row that its bar fills.
const FILLED: f64 = 0.62;
const MOST_TICKS: f64 = 5.0;

/// One input.
#[derive(Clone, Debug, PartialEq)]
pub struct TornadoBar {
    /// What it is called.
    pub name: String,
    /// Its ends, as people read them.
    pub ends: (String, String),
    /// The answer at each end.
    pub answers: (f64, f64),
}

/// What a tornado draws.
#[derive(Clone, Debug, PartialEq)]
pub struct TornadoData {
    /// What the answer is, with its unit.
    pub title: String,
    /// The answer as it is.
    pub base: f64,
    /// The widest first.
    pub bars: Vec<TornadoBar>,
}

/// Draws a bar for each input on an area of [`Style::backend_size`]. The ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_tornado<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    data: &TornadoData,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= SMALLEST_PX.0 && height_px >= SMALLEST_PX.1) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let panel = Rect {
        left: LEFT_PX,
        top: TOP_PX,
        right: width_px - RIGHT_PX,
        bottom: height_px - BOTTOM_PX,
    };
    let x = Scale::new(Spread::Linear, range(data), (panel.left, panel.right));
    let title = plain(data.title.clone(), (8.0, TOP_PX - 14.0), Anchor::Start, theme);
    brush.text(&Label { bold: true, colour: theme.text, ..title })?;
    axis(&brush, &panel, &x, theme)?;
    let height = (panel.bottom - panel.top) / data.bars.len().max(1) as f64;
    for (index, bar) in data.bars.iter().enumerate() {
        let middle = panel.top + (index as f64 + 0.5) * height;
        draw_bar(&brush, bar, (&x, middle, height * FILLED), data.base, theme)?;
    }
    let line = Line { colour: theme.text2, width_px: 1.5, dash: Some(Dash(4.0, 3.0)) };
    brush.upright(x.to_px(data.base), (panel.top, panel.bottom), &line)
}

/// From the least answer to the greatest, with a little room.
fn range(data: &TornadoData) -> (f64, f64) {
    let (mut low, mut high) = (data.base, data.base);
    let answers = data.bars.iter().flat_map(|bar| [bar.answers.0, bar.answers.1]);
    for value in answers.filter(|value| value.is_finite()) {
        low = if value < low { value } else { low };
        high = if value > high { value } else { high };
    }
    let room = 0.06 * (high - low);
    (low - room, high + room)
}

fn axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Rect,
    x: &Scale,
    theme: &Theme,
) -> Result<(), ChartError> {
    let step = round_up((x.high() - x.low()) / MOST_TICKS);
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    let mut tick = libm::ceil(x.low() / step) * step;
    while tick <= x.high() {
        brush.upright(x.to_px(tick), (panel.top, panel.bottom), &grid)?;
        let at = (x.to_px(tick), panel.bottom + 12.0);
        brush.text(&plain(quantity::axis_number(tick), at, Anchor::Middle, theme))?;
        tick += step;
    }
    Ok(())
}

fn draw_bar<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    bar: &TornadoBar,
    (x, middle, height): (&Scale, f64, f64),
    base: f64,
    theme: &Theme,
) -> Result<(), ChartError> {
    let name = plain(bar.name.clone(), (LEFT_PX - 64.0, middle), Anchor::End, theme);
    brush.text(&Label { colour: theme.text, ..name })?;
    let (top, bottom) = (middle - height / 2.0, middle + height / 2.0);
    let centre = x.to_px(base);
    let ends = [(&bar.ends.0, bar.answers.0, 1), (&bar.ends.1, bar.answers.1, 2)];
    for (end, answer, colour) in ends {
        let place = x.to_px(answer);
        let (left, right) = if place < centre { (place, centre) } else { (centre, place) };
        brush.rect(&Rect { left, top, right, bottom }, theme.data[colour].mark, 0.85)?;
        let is_left = answer < base || (answer == base && colour == 1);
        let (anchor, at) =
            if is_left { (Anchor::End, left - 4.0) } else { (Anchor::Start, right + 4.0) };
        let label = plain(end.clone(), (at, middle), anchor, theme);
        brush.text(&Label { colour: theme.text2, halo: Some(theme.surface), ..label })?;
    }
    Ok(())
}
