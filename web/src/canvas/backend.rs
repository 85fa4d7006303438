//! The canvas backend of the charts.
//!
//! Drawing is `plotters-canvas`'s. Three things are ours: text is measured with the canvas itself
//! (by default the document would be laid out anew for each label), joints of curves are round, and
//! the backing store has as many pixels as the screen.

use charts::Style;
use plotters::{coord::Shift, drawing::DrawingArea, prelude::IntoDrawingArea};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::Surface;

type Outcome<T> = Result<T, DrawingErrorKind<<CanvasBackend as DrawingBackend>::ErrorType>>;

/// A backend over one canvas, for one drawing.
pub(crate) struct Ink {
    inner: CanvasBackend,
    context: CanvasRenderingContext2d,
    size: (u32, u32),
}

/// Clears a canvas, gives it as many pixels as it covers on the screen, and opens it for a drawing.
pub(crate) fn drawing_area(
    canvas: &HtmlCanvasElement,
    surface: &Surface,
    style: &Style,
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
    Some(Ink { inner, context, size: style.backend_size() }.into_drawing_area())
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
        self.inner.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Outcome<()> {
        self.inner.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome<()> {
        self.inner.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome<()> {
        self.inner.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Outcome<()> {
        self.inner.draw_circle(center, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Outcome<()> {
        self.inner.fill_polygon(vert, style)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        pos: BackendCoord,
    ) -> Outcome<()> {
        self.inner.draw_text(text, style, pos)
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

/// The font as `plotters-canvas` will set it.
fn font<S: BackendTextStyle>(style: &S) -> String {
    format!("{} {}px {}", style.style().as_str(), style.size(), style.family().as_str())
}
