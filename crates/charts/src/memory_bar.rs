//! The memory of a GPU as a stacked bar: what takes how much of it, and what is left for the cache.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend};

use crate::error::ChartError;
use crate::geometry::Rect;
use crate::paint::{Anchor, Brush, Label, Line};
use crate::style::Style;
use crate::theme::{Rgb, Theme};

const SIDE_PX: f64 = 12.0;
const BAR_TOP_PX: f64 = 14.0;
const BAR_HEIGHT_PX: f64 = 34.0;
const ROW_PX: f64 = 21.0;
const ROWS_TOP_PX: f64 = BAR_TOP_PX + BAR_HEIGHT_PX + 24.0;
const SWATCH_PX: f64 = 10.0;
const SMALLEST_WIDTH_PX: f64 = 280.0;
const MARK_PX: f64 = 1.0;
/// Room for “81.2 GiB”, and for “100 %” after it.
const NUMBER_PX: f64 = 150.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// One part of the memory, in the order in which they are stacked.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPart {
    /// What it is.
    pub name: String,
    /// How large.
    pub bytes: f64,
    /// Which of the theme's data colours; 0, the reference, for what is left alone.
    pub colour: usize,
}

/// Draws the parts as one bar and a line of text each on an area of [`Style::backend_size`]. The ground is left as
/// it is. Parts of nothing are named all the same.
///
/// # Errors
///
/// When the chart is too small for its lines, or the backend refuses.
pub fn draw_memory_bar<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    parts: &[MemoryPart],
    theme: &Theme,
    style: &Style,
) -> Result<(), ChartError> {
    let (width_px, height_px) = (style.width_px, style.height_px);
    let needed_px = ROWS_TOP_PX + ROW_PX * parts.len() as f64;
    if !(width_px >= SMALLEST_WIDTH_PX && height_px >= needed_px) {
        return Err(ChartError::TooSmall { width_px, height_px });
    }
    let brush = Brush::new(root, style);
    let total: f64 = parts.iter().map(|part| part.bytes).filter(|bytes| *bytes > 0.0).sum();
    let width = width_px - 2.0 * SIDE_PX;
    let mut left = SIDE_PX;
    for (row, part) in parts.iter().enumerate() {
        let share = if total > 0.0 && part.bytes > 0.0 { part.bytes / total } else { 0.0 };
        let right = left + share * width;
        let rect = Rect { left, top: BAR_TOP_PX, right, bottom: BAR_TOP_PX + BAR_HEIGHT_PX };
        if share > 0.0 {
            brush.rect(&rect, colour_of(part, theme), 1.0)?;
            let line = Line { colour: theme.surface, width_px: MARK_PX, dash: None };
            brush.upright(right, (rect.top, rect.bottom), &line)?;
        }
        left = right;
        let y = ROWS_TOP_PX + ROW_PX * row as f64;
        told(&brush, part, share, (y, width_px), theme)?;
    }
    Ok(())
}

fn colour_of(part: &MemoryPart, theme: &Theme) -> Rgb {
    theme.data.get(part.colour).map_or(theme.sunken, |colour| colour.mark)
}

fn told<DB: DrawingBackend>(
    brush: &Brush<'_, DB>,
    part: &MemoryPart,
    share: f64,
    (y, width_px): (f64, f64),
    theme: &Theme,
) -> Result<(), ChartError> {
    let half = 0.5 * SWATCH_PX;
    let swatch =
        Rect { left: SIDE_PX, top: y - half, right: SIDE_PX + SWATCH_PX, bottom: y + half };
    brush.rect(&swatch, colour_of(part, theme), 1.0)?;
    let label = |text: String, x: f64, anchor| Label {
        text,
        at: (x, y),
        anchor,
        colour: theme.text2,
        bold: false,
        halo: None,
        upright: false,
    };
    brush.text(&label(part.name.clone(), SIDE_PX + 2.0 * SWATCH_PX, Anchor::Start))?;
    let size = quantity::with_unit(&quantity::number_fixed(part.bytes / GIB, 2), "GiB");
    let right = width_px - SIDE_PX;
    let number = label(size, right - NUMBER_PX + 90.0, Anchor::End);
    brush.text(&Label { colour: theme.text, ..number })?;
    brush.text(&label(quantity::share(share), right, Anchor::End))
}

#[cfg(all(test, feature = "svg"))]
mod tests {
    use super::*;
    use crate::{memory_bar_svg, theme};

    #[test]
    fn parts_are_named_with_their_size_and_share() {
        let part = |name: &str, gib: f64, colour| MemoryPart {
            name: name.to_owned(),
            bytes: gib * GIB,
            colour,
        };
        let parts =
            [part("weights", 15.0, 1), part("KV cache", 45.0, 2), part("CUDA graphs", 0.0, 3)];
        let svg = memory_bar_svg(&parts, &theme::LIGHT, &Style::svg(560.0, 180.0)).unwrap();
        let svg = svg.replace('\u{202f}', " ");
        for text in ["weights", "15.00 GiB", "25 %", "KV cache", "75 %", "CUDA graphs", "0.00 GiB"]
        {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert!(memory_bar_svg(&parts, &theme::LIGHT, &Style::svg(560.0, 90.0)).is_err());
        assert!(memory_bar_svg(&[], &theme::LIGHT, &Style::svg(560.0, 90.0)).is_ok());
    }
}
