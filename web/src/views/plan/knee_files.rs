//! The knee as a picture to keep.

use charts::Theme;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlAnchorElement, HtmlCanvasElement};

use crate::{canvas::Surface, dom::el};

/// Space around the chart, device pixels for one CSS px.
const MARGIN_PX: f64 = 16.0;

/// Gives the chart as it is on the screen, on its own ground, as `knee.png`. Tells whether it could.
pub(super) fn save_png(drawn: &HtmlCanvasElement, surface: &Surface, theme: &Theme) -> bool {
    let margin = (MARGIN_PX * surface.ratio).round();
    let picture = el("canvas");
    let canvas: &HtmlCanvasElement = picture.node();
    canvas.set_width(drawn.width() + 2 * margin as u32);
    canvas.set_height(drawn.height() + 2 * margin as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok()) else {
        return false;
    };
    context.set_fill_style_str(&theme.surface.to_string());
    context.fill_rect(0.0, 0.0, f64::from(canvas.width()), f64::from(canvas.height()));
    let is_drawn = context.draw_image_with_html_canvas_element(drawn, margin, margin).is_ok();
    match canvas.to_data_url() {
        Ok(url) if is_drawn => save(&url, "knee.png"),
        _ => return false,
    }
    true
}

/// Lets the browser keep what is at an address under a name.
fn save(url: &str, name: &str) {
    let link = el("a").attr("href", url).attr("download", name);
    let link: &HtmlAnchorElement = link.node();
    // Some browsers follow only links that are in the page.
    if let Some(body) = document().body() {
        let _ = body.append_child(link);
    }
    link.click();
    link.remove();
}
