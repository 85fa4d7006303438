//! A brush that speaks CSS px. Only this file knows the backend's whole units.

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingArea, DrawingBackend, FontDesc, FontFamily, FontStyle, TextStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, RGBAColor, ShapeStyle};

use crate::clip::Point;
use crate::error::ChartError;
use crate::geometry::Rect;
use crate::style::Style;
use crate::theme::Rgb;

/// The page's typefaces: the chart's text is set in them wherever it is shown.
pub(crate) const TYPEFACES: &str = "Inter, \"Inter fallback\", system-ui, \"PingFang SC\", \"Microsoft YaHei\", \"Noto Sans SC\", sans-serif";
/// Size of all text on a chart, CSS px.
pub(crate) const TEXT_PX: f64 = 12.0;
/// How far a halo reaches beyond its text, CSS px.
pub(crate) const HALO_PX: f64 = 2.0;

/// Length of a dash and of the gap after it, CSS px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dash(pub(crate) f64, pub(crate) f64);

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) colour: Rgb,
    pub(crate) width_px: f64,
    pub(crate) dash: Option<Dash>,
}

/// Which side of its place a text lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A piece of text; its place is at half the height of its capitals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) at: Point,
    pub(crate) anchor: Anchor,
    pub(crate) colour: Rgb,
    pub(crate) bold: bool,
    /// Colour of the halo; none where nothing lies beneath.
    pub(crate) halo: Option<Rgb>,
    /// Reads from bottom to top.
    pub(crate) upright: bool,
}

/// Draws on an area in CSS px.
pub(crate) struct Brush<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    style: &'a Style,
}

type Outcome = Result<(), ChartError>;

impl<'a, DB: DrawingBackend> Brush<'a, DB> {
    pub(crate) const fn new(area: &'a DrawingArea<DB, Shift>, style: &'a Style) -> Self {
        Self { area, style }
    }

    /// A filled rectangle, its edges on device pixels.
    pub(crate) fn rect(&self, rect: &Rect, colour: Rgb, opacity: f64) -> Outcome {
        let corners = [
            (self.snapped(rect.left), self.snapped(rect.top)),
            (self.snapped(rect.right), self.snapped(rect.bottom)),
        ];
        self.area.draw(&Rectangle::new(corners, filled(colour, opacity))).map_err(ChartError::of)
    }

    /// A filled polygon.
    pub(crate) fn polygon(&self, points: &[Point], colour: Rgb, opacity: f64) -> Outcome {
        if points.len() < 3 {
            return Ok(());
        }
        let polygon = Polygon::new(self.placed(points), filled(colour, opacity));
        self.area.draw(&polygon).map_err(ChartError::of)
    }

    /// A polyline, in dashes if the line has them.
    pub(crate) fn path(&self, points: &[Point], line: &Line) -> Outcome {
        match line.dash {
            Some(dash) => dashes(points, dash).iter().try_for_each(|dash| self.stroke(dash, line)),
            None => self.stroke(points, line),
        }
    }

    /// A level line as wide as device pixels can be, sharp on every display.
    pub(crate) fn level(&self, y: f64, (left, right): (f64, f64), line: &Line) -> Outcome {
        let (top, bottom) = self.sharp_span(y, line.width_px);
        self.spans((left, right), line.dash)
            .into_iter()
            .try_for_each(|(left, right)| self.bar(&Rect { left, top, right, bottom }, line.colour))
    }

    /// The same, upright.
    pub(crate) fn upright(&self, x: f64, (top, bottom): (f64, f64), line: &Line) -> Outcome {
        let (left, right) = self.sharp_span(x, line.width_px);
        self.spans((top, bottom), line.dash)
            .into_iter()
            .try_for_each(|(top, bottom)| self.bar(&Rect { left, top, right, bottom }, line.colour))
    }

    /// A hollow dot, eight CSS px across.
    pub(crate) fn dot(&self, at: Point, colour: Rgb, inside: Rgb) -> Outcome {
        let at = self.place(at);
        let inner = self.units(3.0);
        let outer = self.units(5.0);
        for (radius, fill) in [(outer, colour), (inner, inside)] {
            let radius = u32::try_from(radius).unwrap_or(1);
            self.area.draw(&Circle::new(at, radius, filled(fill, 1.0))).map_err(ChartError::of)?;
        }
        Ok(())
    }

    /// Text with its halo.
    pub(crate) fn text(&self, label: &Label) -> Outcome {
        if let Some(halo) = label.halo {
            let copies = self.style.halo_copies;
            if copies == 0 {
                self.glyphs(label, label.at, halo)?;
            }
            for copy in 0..copies {
                let turn = std::f64::consts::TAU * f64::from(copy) / f64::from(copies);
                let (sin, cos) = libm::sincos(turn);
                let at = (label.at.0 + HALO_PX * cos, label.at.1 + HALO_PX * sin);
                self.glyphs(label, at, halo)?;
            }
        }
        self.glyphs(label, label.at, label.colour)
    }

    fn glyphs(&self, label: &Label, at: Point, colour: Rgb) -> Outcome {
        let size = TEXT_PX * self.style.units_per_px() * self.style.font_scale;
        let weight = if label.bold { FontStyle::Bold } else { FontStyle::Normal };
        let turn = if label.upright { FontTransform::Rotate270 } else { FontTransform::None };
        let font = FontDesc::new(FontFamily::Name(TYPEFACES), size, weight).transform(turn);
        let side = match label.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let ink = rgba(colour, 1.0);
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(side, VPos::Center));
        self.area
            .draw(&Text::new(label.text.as_str(), self.place(at), style))
            .map_err(ChartError::of)
    }

    fn stroke(&self, points: &[Point], line: &Line) -> Outcome {
        if points.len() < 2 {
            return Ok(());
        }
        let width = u32::try_from(self.units(line.width_px)).unwrap_or(1);
        let style = ShapeStyle {
            color: rgba(line.colour, 1.0),
            filled: false,
            stroke_width: if width == 0 { 1 } else { width },
        };
        self.area.draw(&PathElement::new(self.placed(points), style)).map_err(ChartError::of)
    }

    fn bar(&self, rect: &Rect, colour: Rgb) -> Outcome {
        let corners = [self.place((rect.left, rect.top)), self.place((rect.right, rect.bottom))];
        self.area.draw(&Rectangle::new(corners, filled(colour, 1.0))).map_err(ChartError::of)
    }

    /// The two edges of a line of this width around a place, on device pixels.
    fn sharp_span(&self, centre: f64, width_px: f64) -> (f64, f64) {
        let scale = self.style.scale;
        let wanted = width_px * scale;
        // Finer units can show part of a pixel; the first edge is sharp all the same.
        let pixels = if self.style.oversample > 1 { wanted } else { wanted.round() };
        let pixels = if pixels < 1.0 { 1.0 } else { pixels };
        let first = (centre * scale - pixels / 2.0).round();
        (first / scale, (first + pixels) / scale)
    }

    fn spans(&self, (from, to): (f64, f64), dash: Option<Dash>) -> Vec<(f64, f64)> {
        let Some(Dash(on, off)) = dash else {
            return vec![(from, to)];
        };
        let mut spans = Vec::new();
        let mut start = from;
        while start < to && spans.len() < 10_000 {
            let end = start + on;
            spans.push((start, if end < to { end } else { to }));
            start += on + off;
        }
        spans
    }

    fn placed(&self, points: &[Point]) -> Vec<(i32, i32)> {
        let mut placed: Vec<_> = points.iter().map(|point| self.place(*point)).collect();
        placed.dedup();
        placed
    }

    fn place(&self, (x, y): Point) -> (i32, i32) {
        (self.units(x), self.units(y))
    }

    fn snapped(&self, px: f64) -> i32 {
        whole((px * self.style.scale).round() * f64::from(self.style.oversample))
    }

    fn units(&self, px: f64) -> i32 {
        whole((px * self.style.units_per_px()).round())
    }
}

/// The dashes along a polyline.
fn dashes(points: &[Point], Dash(on, off): Dash) -> Vec<Vec<Point>> {
    let mut dashes = Vec::new();
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = libm::hypot(to.0 - from.0, to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let t = done / length;
            let at = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            if drawing {
                current.push(at);
                dashes.push(std::mem::take(&mut current));
            } else {
                current = vec![at];
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length - done;
        if drawing {
            current.push(to);
        }
    }
    if drawing && current.len() > 1 {
        dashes.push(current);
    }
    dashes
}

/// A whole number of backend units; what lies far outside stays outside.
fn whole(units: f64) -> i32 {
    const FAR: f64 = 1e6;
    if units > FAR {
        FAR as i32
    } else if units < -FAR {
        -FAR as i32
    } else {
        units as i32
    }
}

fn rgba(colour: Rgb, opacity: f64) -> RGBAColor {
    RGBAColor(colour.0, colour.1, colour.2, opacity)
}

fn filled(colour: Rgb, opacity: f64) -> ShapeStyle {
    ShapeStyle { color: rgba(colour, opacity), filled: true, stroke_width: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_have_their_length_across_corners() {
        let line = [(0.0, 0.0), (5.0, 0.0), (5.0, 10.0)];
        let found = dashes(&line, Dash(7.0, 3.0));
        assert_eq!(
            found,
            [vec![(0.0, 0.0), (5.0, 0.0), (5.0, 2.0)], vec![(5.0, 5.0), (5.0, 10.0)]]
        );
        assert!(dashes(&[], Dash(1.0, 1.0)).is_empty());
        assert!(dashes(&[(1.0, 1.0)], Dash(1.0, 1.0)).is_empty());
    }
}
