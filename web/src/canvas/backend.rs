//! The canvas backend of the charts.
//!
//! A layer over `plotters-canvas`. What a chart draws hundreds of times (lines, paths, areas) goes to
//! the canvas here, which remembers colours and widths and does not set them again. Text is set at
//! the page's weights, its halo one stroke instead of many copies, and measured with the canvas
//! itself instead of by laying out the document. The backing store has as many pixels as the screen.

use std::f64::consts::PI;

use charts::{Style, Theme};
use plotters::{coord::Shift, drawing::DrawingArea, prelude::IntoDrawingArea};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle, FontTransform,
    text_anchor::{HPos, VPos},
};
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::Surface;

/// How wide the stroke around a text is, CSS px: half of it lies outside of the letters.
const HALO_PX: f64 = 4.0;

type Outcome<T> = Result<T, DrawingErrorKind<<CanvasBackend as DrawingBackend>::ErrorType>>;

/// A backend over one canvas, for one drawing.
pub(crate) struct Ink {
    inner: CanvasBackend,
    context: CanvasRenderingContext2d,
    size: (u32, u32),
    /// Text in this colour is the halo of the text that follows it.
    halo: (u8, u8, u8),
    /// Width of its stroke in backend units.
    halo_width: f64,
    /// The fill colour in force, if it is known.
    fill: Option<Colour>,
    /// The stroke colour and width in force, if they are known.
    stroke: Option<(Colour, u32)>,
}

/// A colour, comparable to the bit.
type Colour = ((u8, u8, u8), u64);

fn colour(color: BackendColor) -> Colour {
    (color.rgb, color.alpha.to_bits())
}

fn css(color: BackendColor) -> String {
    let BackendColor { alpha, rgb: (red, green, blue) } = color;
    // The standard library's own way of writing a fraction would be a fiftieth of what the page begins with.
    format!("rgba({red},{green},{blue},{})", quantity::plain(alpha, 0))
}

impl Ink {
    fn set_fill(&mut self, color: BackendColor) {
        let wanted = Some(colour(color));
        if self.fill != wanted {
            self.fill = wanted;
            self.context.set_fill_style_str(&css(color));
        }
    }

    fn set_stroke<S: BackendStyle>(&mut self, style: &S) {
        let wanted = Some((colour(style.color()), style.stroke_width()));
        if self.stroke != wanted {
            self.stroke = wanted;
            self.context.set_stroke_style_str(&css(style.color()));
            self.context.set_line_width(f64::from(style.stroke_width()));
        }
    }

    /// Puts a path on the canvas, to be stroked or filled.
    fn trace(&self, path: impl IntoIterator<Item = BackendCoord>) {
        self.context.begin_path();
        for (index, (x, y)) in path.into_iter().enumerate() {
            if index == 0 {
                self.context.move_to(f64::from(x), f64::from(y));
            } else {
                self.context.line_to(f64::from(x), f64::from(y));
            }
        }
    }

    /// Forgets what the canvas has in force, because someone else sets it.
    fn forget(&mut self) {
        self.fill = None;
        self.stroke = None;
    }
}

/// Clears a canvas, gives it as many pixels as it covers on the screen, and opens it for a drawing.
pub(crate) fn drawing_area(
    canvas: &HtmlCanvasElement,
    surface: &Surface,
    style: &Style,
    theme: &Theme,
) -> Option<DrawingArea<Ink, Shift>> {
    surface.fit(canvas);
    let context = context(canvas)?;
    let inner = CanvasBackend::with_canvas_object(canvas.clone())?;
    let fine = 1.0 / f64::from(style.oversample);
    context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    context.clear_rect(0.0, 0.0, width, height);
    context.set_transform(fine, 0.0, 0.0, fine, 0.0, 0.0).ok()?;
    context.set_line_join("round");
    let halo = (theme.surface.0, theme.surface.1, theme.surface.2);
    let halo_width = HALO_PX * style.scale * f64::from(style.oversample);
    let size = style.backend_size();
    let ink = Ink { inner, context, size, halo, halo_width, fill: None, stroke: None };
    Some(ink.into_drawing_area())
}

/// The drawing context of a canvas.
fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

impl DrawingBackend for Ink {
    type ErrorType = <CanvasBackend as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Outcome<()> {
        self.inner.ensure_prepared()
    }

    fn present(&mut self) -> Outcome<()> {
        self.inner.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Outcome<()> {
        self.forget();
        self.inner.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Outcome<()> {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome<()> {
        let (left, top) = (f64::from(upper_left.0), f64::from(upper_left.1));
        let (right, bottom) = (f64::from(bottom_right.0), f64::from(bottom_right.1));
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        if fill {
            self.set_fill(style.color());
            self.context.fill_rect(left, top, right - left, bottom - top);
        } else {
            self.set_stroke(style);
            self.context.stroke_rect(left, top, right - left, bottom - top);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome<()> {
        if style.color().alpha > 0.0 {
            self.set_stroke(style);
            self.trace(path);
            self.context.stroke();
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Outcome<()> {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        if fill {
            self.set_fill(style.color());
        } else {
            self.set_stroke(style);
        }
        self.context.begin_path();
        let (x, y, turn) = (f64::from(center.0), f64::from(center.1), 2.0 * PI);
        // Only a radius below nothing is refused.
        let _ = self.context.arc(x, y, f64::from(radius), 0.0, turn);
        if fill {
            self.context.fill();
        } else {
            self.context.stroke();
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Outcome<()> {
        if style.color().alpha > 0.0 {
            self.set_fill(style.color());
            self.trace(vert);
            self.context.fill();
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        pos: BackendCoord,
    ) -> Outcome<()> {
        let color = style.color();
        if color.alpha == 0.0 {
            return Ok(());
        }
        let context = &self.context;
        context.save();
        let turned = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 0.5,
            FontTransform::Rotate180 => 1.0,
            FontTransform::Rotate270 => 1.5,
        } * PI;
        // Finite numbers are never refused.
        let _ = context.translate(f64::from(pos.0), f64::from(pos.1));
        let _ = context.rotate(turned);
        context.set_font(&font(style));
        context.set_text_align(match style.anchor().h_pos {
            HPos::Left => "left",
            HPos::Center => "center",
            HPos::Right => "right",
        });
        context.set_text_baseline(match style.anchor().v_pos {
            VPos::Top => "top",
            VPos::Center => "middle",
            VPos::Bottom => "bottom",
        });
        let _ = if color.rgb == self.halo {
            context.set_stroke_style_str(&css(color));
            context.set_line_width(self.halo_width);
            context.stroke_text(text, 0.0, 0.0)
        } else {
            context.set_fill_style_str(&css(color));
            context.fill_text(text, 0.0, 0.0)
        };
        // Colours and widths as they were before the text.
        context.restore();
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Outcome<(u32, u32)> {
        self.context.set_font(&font(style));
        let width = self.context.measure_text(text).map_or(0.0, |metrics| metrics.width());
        Ok((width.ceil() as u32, style.size().ceil() as u32))
    }
}

/// The font as CSS writes it. What charts call bold is semibold on the page.
fn font<S: BackendTextStyle>(style: &S) -> String {
    let weight = if matches!(style.style(), FontStyle::Bold) { 600 } else { 400 };
    format!("{weight} {}px {}", quantity::plain(style.size(), 0), style.family().as_str())
}
