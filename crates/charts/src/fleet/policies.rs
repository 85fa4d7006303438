//! Policies on the same traffic: what they take against how many they make wait.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::axis::linear_ticks;
use crate::error::ChartError;
use crate::geometry::Rect;
use crate::labels::text_box;
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::scale::{Scale, Spread};
use crate::style::Style;
use crate::theme::Theme;

use super::plain;

const LEFT_PX: f64 = 46.0;
const TOP_PX: f64 = 12.0;
const BOTTOM_PX: f64 = 38.0;
const RIGHT_PX: f64 = 12.0;
const RADIUS_PX: f64 = 5.0;

/// What kind of a policy it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// An autoscaler: a circle.
    Reactive,
    /// Always as many: a square.
    Fixed,
}

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyDot {
    /// In few words.
    pub name: String,
    /// GPU-hours that it takes.
    pub gpu_hours: f64,
    /// Share of the requests that are late, 0 to 1.
    pub late: f64,
    /// What kind it is.
    pub kind: PolicyKind,
    /// Whether it is the one in force.
    pub is_current: bool,
}

impl PolicyDot {
    /// Whether nothing is better in one respect and no worse in the other.
    fn is_front(&self, all: &[Self]) -> bool {
        !all.iter().any(|other| {
            let no_worse = other.gpu_hours <= self.gpu_hours && other.late <= self.late;
            no_worse && (other.gpu_hours < self.gpu_hours || other.late < self.late)
        })
    }
}

/// Draws the policies on an area of [`Style::backend_size`]. The ground is left as it is.
///
/// # Errors
///
/// When the chart is too small, or the backend refuses.
pub fn draw_policies<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    dots: &[PolicyDot],
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    if !(width_px >= 160.0 && height_px >= 120.0) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let plot = Rect {
        left: LEFT_PX,
        top: TOP_PX,
        right: width_px - RIGHT_PX,
        bottom: height_px - BOTTOM_PX,
    };
    let most = |tell: fn(&PolicyDot) -> f64| {
        dots.iter().map(tell).fold(0.0, |most, value| if value > most { value } else { most })
    };
    let (hours, late) = (most(|dot| dot.gpu_hours), most(|dot| dot.late));
    let late = if late > 0.01 { late } else { 0.01 };
    let x = Scale::new(Spread::Linear, (0.0, hours * 1.12), (plot.left, plot.right));
    let y = Scale::new(Spread::Linear, (0.0, late * 1.12), (plot.bottom, plot.top));
    axes(&brush, &plot, (&x, &y), theme)?;
    front(&brush, dots, (&x, &y), (&plot, theme))?;
    marks(&brush, dots, (&x, &y), (&plot, theme))
}

fn axes<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    plot: &Rect,
    (x, y): (&Scale, &Scale),
    theme: &Theme,
) -> Result<(), ChartError> {
    let grid = Line { colour: theme.grid, width_px: 1.0, dash: None };
    for tick in linear_ticks(y.high(), plot.height(), 30.0) {
        let at = y.to_px(tick);
        brush.level(at, (plot.left, plot.right), &grid)?;
        let text = quantity::with_unit(&quantity::axis_number(tick * 100.0), "%");
        brush.text(&plain(text, (plot.left - 8.0, at), Anchor::End, theme.text3))?;
    }
    let axis = Line { colour: theme.axis, ..grid };
    brush.level(plot.bottom, (plot.left, plot.right), &axis)?;
    for tick in linear_ticks(x.high(), plot.width(), 56.0) {
        let at = x.to_px(tick);
        brush.upright(at, (plot.bottom, plot.bottom + 4.0), &axis)?;
        let place = (at, plot.bottom + 13.0);
        brush.text(&plain(quantity::axis_number(tick), place, Anchor::Middle, theme.text3))?;
    }
    let place = (plot.right, plot.bottom + 29.0);
    brush.text(&plain("GPU-hours".to_owned(), place, Anchor::End, theme.text3))
}

/// The staircase of the policies that nothing beats.
fn front<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    dots: &[PolicyDot],
    (x, y): (&Scale, &Scale),
    (plot, theme): (&Rect, &Theme),
) -> Result<(), ChartError> {
    let mut best: Vec<(f64, f64)> =
        dots.iter().filter(|dot| dot.is_front(dots)).map(|dot| (dot.gpu_hours, dot.late)).collect();
    crate::curve::sort_by_first(&mut best);
    let mut line = Vec::new();
    for (hours, late) in best {
        let at = (x.to_px(hours), y.to_px(late));
        match line.last().copied() {
            Some((_, above)) => line.push((at.0, above)),
            None => line.push((at.0, plot.top)),
        }
        line.push(at);
    }
    if let Some(&(_, last)) = line.last() {
        line.push((plot.right, last));
    }
    let colour = theme.data[3].mark;
    brush.path(&line, &Line { colour, width_px: 1.5, dash: Some(Dash(4.0, 3.0)) })
}

fn marks<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    dots: &[PolicyDot],
    (x, y): (&Scale, &Scale),
    (plot, theme): (&Rect, &Theme),
) -> Result<(), ChartError> {
    let place = |dot: &PolicyDot| (x.to_px(dot.gpu_hours), y.to_px(dot.late));
    let mut taken: Vec<Rect> = dots
        .iter()
        .map(|dot| {
            let (x, y) = place(dot);
            Rect { left: x - 6.0, right: x + 6.0, top: y - 6.0, bottom: y + 6.0 }
        })
        .collect();
    for dot in dots {
        let at = place(dot);
        let colour = match (dot.is_current, dot.is_front(dots)) {
            (true, _) => theme.data[1].mark,
            (_, true) => theme.data[3].mark,
            _ => theme.data[0].mark,
        };
        match dot.kind {
            PolicyKind::Reactive => brush.dot(at, colour, colour)?,
            PolicyKind::Fixed => {
                let reach = RADIUS_PX - 0.5;
                let rect = Rect {
                    left: at.0 - reach,
                    right: at.0 + reach,
                    top: at.1 - reach,
                    bottom: at.1 + reach,
                };
                brush.rect(&rect, colour, 1.0)?;
            }
        }
        if dot.is_current {
            ring(brush, at, theme)?;
        }
    }
    // The one in force and those that nothing beats are named, the first before the others.
    let named = |current: bool| {
        dots.iter().filter(move |dot| dot.is_current == current && (current || dot.is_front(dots)))
    };
    for dot in named(true).chain(named(false)) {
        let (x, y) = place(dot);
        let sides = [
            ((x + 12.0, y), Anchor::Start),
            ((x - 12.0, y), Anchor::End),
            ((x, y - 15.0), Anchor::Middle),
            ((x, y + 15.0), Anchor::Middle),
        ];
        let free = sides.into_iter().find(|&(at, anchor)| {
            let rect = text_box(&dot.name, dot.is_current, at, anchor);
            plot.grown(6.0).contains(&rect) && !taken.iter().any(|other| other.overlaps(&rect))
        });
        let Some((at, anchor)) = free else { continue };
        taken.push(text_box(&dot.name, dot.is_current, at, anchor));
        let label = plain(dot.name.clone(), at, anchor, theme.text2);
        let halo = Some(theme.surface);
        brush.text(&Label { bold: dot.is_current, halo, ..label })?;
    }
    Ok(())
}

/// A ring of nine CSS px around the policy in force.
fn ring<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    (x, y): (f64, f64),
    theme: &Theme,
) -> Result<(), ChartError> {
    let circle: Vec<(f64, f64)> = (0..=48)
        .map(|step| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(step) / 48.0);
            (x + 9.0 * cos, y + 9.0 * sin)
        })
        .collect();
    brush.path(&circle, &Line { colour: theme.text, width_px: 1.5, dash: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let dot = |gpu_hours, late| PolicyDot {
            name: String::new(),
            gpu_hours,
            late,
            kind: PolicyKind::Reactive,
            is_current: false,
        };
        let all = [dot(1.0, 0.3), dot(2.0, 0.0), dot(2.5, 0.0), dot(1.5, 0.4), dot(1.0, 0.3)];
        let front: Vec<bool> = all.iter().map(|dot| dot.is_front(&all)).collect();
        assert_eq!(front, [true, true, false, false, true]);
    }
}
