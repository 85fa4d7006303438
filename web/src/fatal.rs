//! When the page itself fails: what the static part of it shows, with plain DOM calls.

use std::panic::PanicHookInfo;

use wasm_bindgen::{JsCast, prelude::Closure};
use web_sys::Document;

/// Shows the box of `index.html` with what happened. After a panic nothing in here runs any more,
/// so the box is complete without us.
pub(crate) fn reveal_on_panic() {
    let document = web_sys::window().and_then(|window| window.document());
    if let Some(button) = document.and_then(|document| document.get_element_by_id("fatal-reload")) {
        let reload = Closure::<dyn Fn()>::new(|| {
            if let Some(window) = web_sys::window() {
                let _ = window.location().reload();
            }
        });
        let _ = button.add_event_listener_with_callback("click", reload.as_ref().unchecked_ref());
        reload.forget();
    }
    std::panic::set_hook(Box::new(|info| {
        if let Some(document) = web_sys::window().and_then(|window| window.document()) {
            reveal(&document, info);
        }
    }));
}

fn reveal(document: &Document, info: &PanicHookInfo<'_>) {
    let text = info.to_string();
    web_sys::console::error_1(&text.as_str().into());
    if let Some(details) = document.get_element_by_id("fatal-details") {
        details.set_text_content(Some(&text));
    }
    if let Some(fatal) = document.get_element_by_id("fatal") {
        let _ = fatal.remove_attribute("hidden");
    }
}
