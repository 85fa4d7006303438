//! Cost against latency: each deployment a dot, the front a line through those that nothing cheaper
//! beats.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::{log_ticks, round_down, round_up};
use crate::error::ChartError;
use crate::geometry::Rect;
use crate::paint::{Anchor, Brush, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::Theme;

/// Room around the panel, CSS px.
const LEFT_PX: f64 = 56.0;
const TOP_PX: f64 = 28.0;
const RIGHT_PX: f64 = 16.0;
const BOTTOM_PX: f64 = 40.0;
/// Smaller charts have no room for axes and names.
const SMALLEST_PX: f64 = 200.0;
/// Height of a name, and its distance from its dot.
const NAME_PX: f64 = 15.0;
const ASIDE_PX: f64 = 8.0;
/// Radius of a dot with its rim.
const DOT_PX: f64 = 5.0;
const X_TITLE: &str = "Dollars an hour, lowest to highest price on the front";
/// A narrower panel has a shorter title.
const NARROW_PX: f64 = 360.0;
/// Width of a letter, about.
const LETTER_PX: f64 = 6.2;

/// One deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct CostDot {
    /// Dollars an hour, at the typical price.
    pub per_hour: f64,
    /// At the lowest price.
    pub low: f64,
    /// At the highest price.
    pub high: f64,
    /// Its latency, seconds.
    pub latency_s: f64,
    /// Whether nothing that costs no more is faster.
    pub is_on_front: bool,
    /// What it is called.
    pub name: String,
}

/// Draws deployments on an area of [`Style::backend_size`], on logarithmic axes. The ground is left as
/// it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_costs<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    dots: &[CostDot],
    latency: &str,
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= SMALLEST_PX && height_px >= SMALLEST_PX) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let (panel, x, y) = scales(dots, style);
    axes(&brush, &panel, (&x, &y), latency, theme)?;
    front(&brush, dots, (&x, &y), theme)?;
    let others = dots.iter().filter(|dot| !dot.is_on_front);
    for dot in others.chain(dots.iter().filter(|dot| dot.is_on_front)) {
        let at = (x.to_px(dot.per_hour), y.to_px(dot.latency_s));
        if dot.is_on_front {
            let line = Line { colour: theme.axis, width_px: 1.0, dash: None };
            brush.level(at.1, (x.to_px(dot.low), x.to_px(dot.high)), &line)?;
        }
        let colour = if dot.is_on_front { theme.data[1].mark } else { theme.data[0].mark };
        brush.dot(at, colour, theme.surface)?;
    }
    names(&brush, &panel, dots, (&x, &y), theme)
}

/// Where [`draw_costs`] puts each dot, CSS px from the upper left corner.
#[must_use]
pub fn cost_places(dots: &[CostDot], style: &Style) -> Vec<(f64, f64)> {
    let (_, x, y) = scales(dots, style);
    dots.iter().map(|dot| (x.to_px(dot.per_hour), y.to_px(dot.latency_s))).collect()
}

fn scales(dots: &[CostDot], style: &Style) -> (Rect, Scale, Scale) {
    let panel = Rect {
        left: LEFT_PX,
        top: TOP_PX,
        right: style.width_px - RIGHT_PX,
        bottom: style.height_px - BOTTOM_PX,
    };
    let costs = range(dots.iter().flat_map(|dot| [dot.low, dot.high]));
    let times = range(dots.iter().map(|dot| dot.latency_s));
    let x = Scale::new(Spread::Log, costs, (panel.left, panel.right));
    let y = Scale::new(Spread::Log, times, (panel.bottom, panel.top));
    (panel, x, y)
}

/// The ends of all values, rounded.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0);
    for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
        low = if value < low { value } else { low };
        high = if value > high { value } else { high };
    }
    if low <= high { (round_down(low * 0.99), round_up(high * 1.01)) } else { (1.0, 10.0) }
}

fn axes<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Rect,
    (x, y): (&Scale, &Scale),
    latency: &str,
    theme: &Theme,
) -> Result<(), ChartError> {
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    for tick in log_ticks(y, panel.bottom - panel.top) {
        brush.level(y.to_px(tick), (panel.left, panel.right), &grid)?;
        let text = quantity::axis_duration(tick);
        brush.text(&plain(text, (panel.left - 6.0, y.to_px(tick)), Anchor::End, theme))?;
    }
    for tick in log_ticks(x, panel.right - panel.left) {
        brush.upright(x.to_px(tick), (panel.top, panel.bottom), &grid)?;
        let text = ["$", &quantity::axis_number(tick)].concat();
        brush.text(&plain(text, (x.to_px(tick), panel.bottom + 12.0), Anchor::Middle, theme))?;
    }
    let axis = Line { colour: theme.axis, width_px: 1.0, dash: None };
    brush.level(panel.bottom, (panel.left, panel.right), &axis)?;
    let title = plain(latency.to_owned(), (panel.left, panel.top - 14.0), Anchor::Start, theme);
    brush.text(&title)?;
    let text =
        if panel.right - panel.left < NARROW_PX { "Dollars an hour" } else { X_TITLE }.to_owned();
    brush.text(&plain(text, (panel.right, panel.bottom + 29.0), Anchor::End, theme))
}

/// Steps through the front: between two deployments nothing is faster for less.
fn front<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    dots: &[CostDot],
    (x, y): (&Scale, &Scale),
    theme: &Theme,
) -> Result<(), ChartError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for dot in dots.iter().filter(|dot| dot.is_on_front) {
        let at = (x.to_px(dot.per_hour), y.to_px(dot.latency_s));
        if let Some(&(_, before)) = points.last() {
            points.push((at.0, before));
        }
        points.push(at);
    }
    brush.path(&points, &Line { colour: theme.data[1].mark, width_px: 1.5, dash: None })
}

/// The names of the front, where they touch neither a dot nor another name.
fn names<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    panel: &Rect,
    dots: &[CostDot],
    (x, y): (&Scale, &Scale),
    theme: &Theme,
) -> Result<(), ChartError> {
    let place = |dot: &CostDot| (x.to_px(dot.per_hour), y.to_px(dot.latency_s));
    let places: Vec<(f64, f64)> = dots.iter().map(place).collect();
    let mut taken: Vec<Rect> = Vec::new();
    for dot in dots.iter().filter(|dot| dot.is_on_front) {
        let (at_x, at_y) = place(dot);
        let width = dot.name.chars().count() as f64 * LETTER_PX;
        let rect = |left: f64, middle: f64| Rect {
            left,
            top: middle - NAME_PX / 2.0,
            right: left + width,
            bottom: middle + NAME_PX / 2.0,
        };
        let beside = [at_x + ASIDE_PX, at_x - ASIDE_PX - width];
        let is_free = |it: &Rect| {
            let is_inside =
                it.left >= panel.left && it.right <= panel.right && it.bottom < panel.bottom;
            is_inside
                && taken.iter().all(|other| !overlap(it, other))
                && places.iter().all(|&(x, y)| !overlap(it, &around(x, y)))
        };
        let free = [-NAME_PX, NAME_PX, 0.0]
            .into_iter()
            .flat_map(|down| beside.map(|left| rect(left, at_y + down)))
            .find(is_free);
        // What has no room is named beside the chart.
        let Some(free) = free else { continue };
        let at = (free.left, (free.top + free.bottom) / 2.0);
        let label = plain(dot.name.clone(), at, Anchor::Start, theme);
        brush.text(&Label { colour: theme.data[1].ink, halo: Some(theme.surface), ..label })?;
        taken.push(free);
    }
    Ok(())
}

fn overlap(one: &Rect, other: &Rect) -> bool {
    one.left < other.right
        && other.left < one.right
        && one.top < other.bottom
        && other.top < one.bottom
}

/// A dot and its rim.
fn around(x: f64, y: f64) -> Rect {
    Rect { left: x - DOT_PX, top: y - DOT_PX, right: x + DOT_PX, bottom: y + DOT_PX }
}

pub(crate) fn plain(text: String, at: (f64, f64), anchor: Anchor, theme: &Theme) -> Label {
    Label { text, at, anchor, colour: theme.text3, bold: false, halo: None, upright: false }
}
