//! The knee as a picture to keep.

use charts::{KneeData, Style, Theme};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
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

/// Gives the chart at its size on the screen as `knee.svg`. Tells whether it could.
pub(super) fn save_svg(data: &KneeData, surface: &Surface, theme: &Theme) -> bool {
    let style = Style::svg(surface.width_px, surface.height_px);
    let Ok(document) = charts::knee_svg(data, theme, &style) else { return false };
    let encoded = js_sys::encode_uri_component(&document);
    let encoded: JsValue = encoded.into();
    let encoded = encoded.as_string().unwrap_or_default();
    save(&["data:image/svg+xml;charset=utf-8,", &encoded].concat(), "knee.svg");
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
