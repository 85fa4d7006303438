//! The knee as a picture to keep.

use charts::Theme;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::{browser, canvas::Surface, dom::el, strings};

/// Space around the chart, device pixels for one CSS px.
const MARGIN_PX: f64 = 16.0;

/// Height of the title's line, and of each line beneath, CSS px.
const TITLE_PX: f64 = 26.0;
const LINE_PX: f64 = 18.0;

/// Gives the chart as it is on the screen, on its own ground, as `knee.png`, under its title and the
/// lines that say what it is of. Tells whether it could.
pub(super) fn save_png(
    drawn: &HtmlCanvasElement,
    surface: &Surface,
    theme: &Theme,
    lines: &[String],
) -> bool {
    let margin = (MARGIN_PX * surface.ratio).round();
    let picture = el("canvas");
    let canvas: &HtmlCanvasElement = picture.node();
    canvas.set_width(drawn.width() + 2 * margin as u32);
    let head_px = TITLE_PX + LINE_PX * lines.len() as f64 + MARGIN_PX / 2.0;
    let head = (head_px * surface.ratio).round();
    canvas.set_height(drawn.height() + 2 * margin as u32 + head as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok()) else {
        return false;
    };
    context.set_fill_style_str(&theme.surface.to_string());
    context.fill_rect(0.0, 0.0, f64::from(canvas.width()), f64::from(canvas.height()));
    let is_drawn =
        context.draw_image_with_html_canvas_element(drawn, margin, margin + head).is_ok();
    // Text is measured in CSS px from here on.
    let is_titled = context.scale(surface.ratio, surface.ratio).is_ok()
        && write_head(&context, theme, lines).is_ok();
    let is_drawn = is_drawn && is_titled;
    match canvas.to_data_url() {
        Ok(url) if is_drawn => browser::save(&url, "knee.png"),
        _ => return false,
    }
    true
}

/// Writes the title and the lines beneath it. A canvas cannot write without its own context.
fn write_head(
    context: &CanvasRenderingContext2d,
    theme: &Theme,
    lines: &[String],
) -> Result<(), JsValue> {
    let mut y_px = MARGIN_PX + TITLE_PX - LINE_PX / 2.0;
    context.set_font("600 17px Inter, sans-serif");
    context.set_fill_style_str(&theme.text.to_string());
    context.fill_text(strings::KNEE_TITLE, MARGIN_PX, y_px)?;
    context.set_font("400 13px Inter, sans-serif");
    context.set_fill_style_str(&theme.text2.to_string());
    for line in lines {
        y_px += LINE_PX;
        context.fill_text(line, MARGIN_PX, y_px)?;
    }
    Ok(())
}
