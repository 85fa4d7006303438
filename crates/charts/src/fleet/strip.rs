//! What goes through all rows: the time axis, events, and spans.

use plotters::prelude::DrawingBackend;

use crate::error::ChartError;
use crate::geometry::Rect;
use crate::labels::text_box;
use crate::paint::{Anchor, Brush, Dash, Label, Line};
use crate::theme::Theme;

use super::data::FleetData;
use super::layout::FleetGeometry;
use super::plain;

/// Steps of the time axis that read well, seconds.
const STEPS_S: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
    10_800.0, 21_600.0, 43_200.0, 86_400.0,
];
const TICKS_APART_PX: f64 = 76.0;
const TICK_PX: f64 = 4.0;
const SPAN_OPACITY: f64 = 0.045;
const EVENT_DASH: Dash = Dash(1.5, 3.0);
/// Height of the middle of the words on the strip, and half the width of a diamond, CSS px.
const STRIP_PX: f64 = 9.0;
const DIAMOND_PX: f64 = 4.0;
/// Runs of this length and more are told in hours and minutes.
const LONG_S: f64 = 7200.0;

type Outcome = Result<(), ChartError>;

/// The surge, shaded through all rows.
pub(super) fn spans<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    data: &FleetData,
    theme: &Theme,
) -> Outcome {
    let Some((from_s, to_s)) = data.surge else { return Ok(()) };
    let to_s = if to_s < geometry.x.high() { to_s } else { geometry.x.high() };
    let (left, right) = (geometry.x.to_px(from_s), geometry.x.to_px(to_s));
    let top = geometry.plot.top - 8.0;
    brush.rect(&Rect { left, right, top, ..geometry.plot }, theme.text, SPAN_OPACITY)
}

/// A time on the axis: “7:30” in minutes and seconds, or hours and minutes where the run is long.
fn clock_text(at_s: f64, is_long: bool) -> String {
    let unit = if is_long { at_s / 60.0 } else { at_s };
    let whole = (unit + 1e-9) as u64;
    let (large, small) = (whole / 60, whole % 60);
    let zero = if small < 10 { "0" } else { "" };
    [&large.to_string(), ":", zero, &small.to_string()].concat()
}

/// Baseline ticks and their times.
pub(super) fn time_axis<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    theme: &Theme,
) -> Outcome {
    let (end_s, bottom) = (geometry.x.high(), geometry.plot.bottom);
    let apart_s = TICKS_APART_PX / geometry.plot.width() * end_s;
    let step_s = STEPS_S.iter().copied().find(|step| *step >= apart_s).unwrap_or(86_400.0);
    let line = Line { colour: theme.axis, width_px: 1.0, dash: None };
    let count = (end_s / step_s + 1e-9) as u32;
    for index in 0..=count {
        let at_s = f64::from(index) * step_s;
        let x = geometry.x.to_px(at_s);
        brush.upright(x, (bottom, bottom + TICK_PX), &line)?;
        let text = clock_text(at_s, end_s >= LONG_S);
        // The last one stays inside.
        let wide =
            text_box(&text, false, (x, 0.0), Anchor::Middle).right > geometry.plot.right + 10.0;
        let anchor = if wide { Anchor::End } else { Anchor::Middle };
        let x = if wide { geometry.plot.right + 8.0 } else { x };
        brush.text(&plain(text, (x, bottom + 14.0), anchor, theme.text3))?;
    }
    Ok(())
}

/// The time at the cursor, on the axis.
pub(super) fn clock<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    at_s: f64,
    theme: &Theme,
) -> Outcome {
    let text = clock_text(at_s, geometry.x.high() >= LONG_S);
    let x = geometry.x.to_px(at_s);
    let y = geometry.plot.bottom + 14.0;
    let tight = text_box(&text, true, (x, y), Anchor::Middle);
    let rect =
        Rect { left: tight.left - 6.0, right: tight.right + 6.0, top: y - 9.0, bottom: y + 9.0 };
    brush.rect(&rect, theme.text, 1.0)?;
    // Not the surface's colour, in which halos are drawn.
    let label = plain(text, (x, y), Anchor::Middle, theme.bg);
    brush.text(&Label { bold: true, ..label })
}

/// Diamonds with their words and lines, and how long the first start takes. Words go to the right of
/// their line or to its left, wherever they don't collide.
pub(super) fn events<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    data: &FleetData,
    theme: &Theme,
) -> Outcome {
    let plot = geometry.plot;
    let line = Line { colour: theme.text3, width_px: 1.0, dash: Some(EVENT_DASH) };
    let xs: Vec<f64> = data.events.iter().map(|event| geometry.x.to_px(event.at_s)).collect();
    let mut taken: Vec<Rect> = xs
        .iter()
        .map(|x| Rect { left: x - 7.0, right: x + 7.0, top: 0.0, bottom: 2.0 * STRIP_PX })
        .collect();
    for (index, (event, &x)) in data.events.iter().zip(&xs).enumerate() {
        brush.upright(x, (STRIP_PX + 6.0, plot.bottom), &line)?;
        let diamond = [
            (x, STRIP_PX - DIAMOND_PX),
            (x + DIAMOND_PX, STRIP_PX),
            (x, STRIP_PX + DIAMOND_PX),
            (x - DIAMOND_PX, STRIP_PX),
        ];
        brush.polygon(&diamond, theme.text2, 1.0)?;
        let sides = [(x + 9.0, Anchor::Start), (x - 9.0, Anchor::End)];
        let free = sides.into_iter().find(|&(at, anchor)| {
            let rect = text_box(&event.name, false, (at, STRIP_PX), anchor);
            let mut others = taken.iter().enumerate().filter(|(other, _)| *other != index);
            rect.left >= 0.0
                && rect.right <= plot.right + 8.0
                && others.all(|(_, other)| !other.overlaps(&rect.grown(2.0)))
        });
        if let Some((at, anchor)) = free {
            taken.push(text_box(&event.name, false, (at, STRIP_PX), anchor));
            brush.text(&plain(event.name.clone(), (at, STRIP_PX), anchor, theme.text2))?;
        }
    }
    bracket(brush, geometry, data, theme)
}

/// From the first decision to the first new replica.
fn bracket<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    geometry: &FleetGeometry,
    data: &FleetData,
    theme: &Theme,
) -> Outcome {
    let Some((from_s, to_s, name)) = &data.start else { return Ok(()) };
    let (from, to) = (geometry.x.to_px(*from_s), geometry.x.to_px(*to_s));
    let y = geometry.plot.top - 7.0;
    let line = Line { colour: theme.data[2].mark, width_px: 1.75, dash: None };
    brush.path(&[(from, y + 6.0), (from, y), (to, y), (to, y + 6.0)], &line)?;
    let wide = text_box(name, true, (0.0, 0.0), Anchor::Start).right;
    let label = |at, anchor| plain(name.clone(), at, anchor, theme.data[2].ink);
    let label = if wide + 16.0 < to - from {
        Label { halo: Some(theme.surface), ..label(((from + to) / 2.0, y), Anchor::Middle) }
    } else {
        label((to + 6.0, y), Anchor::Start)
    };
    brush.text(&Label { bold: true, ..label })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_clocks() {
        assert_eq!(clock_text(450.0, false), "7:30");
        assert_eq!(clock_text(5.0, false), "0:05");
        assert_eq!(clock_text(45_000.0, true), "12:30");
    }
}
