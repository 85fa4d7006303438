//! The few browser calls that more than one module needs.

use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use web_sys::{
    Element, Event, HtmlAnchorElement, HtmlElement, HtmlInputElement, HtmlTextAreaElement,
    Performance, PointerEvent, Storage,
};

use crate::dom::el;

/// Milliseconds since the page was opened.
pub(crate) fn now_ms() -> f64 {
    performance().map_or(0.0, |performance| performance.now())
}

fn performance() -> Option<Performance> {
    window().performance()
}

/// Leaves a mark in the browser's performance timeline.
pub(crate) fn mark(name: &str) {
    if let Some(performance) = performance() {
        let _ = performance.mark(name);
    }
}

/// Records a span that began at `start_ms` and ends now.
pub(crate) fn measure_since(name: &str, start_ms: f64) {
    let Some(performance) = performance() else { return };
    let span = js_sys::Object::new();
    let put = |key: &str, ms: f64| {
        // A fresh object takes every property.
        let _ = js_sys::Reflect::set(&span, &JsValue::from_str(key), &JsValue::from_f64(ms));
    };
    put("start", start_ms);
    put("end", performance.now());
    // The typed call knows marks only, not points in time.
    let _ = js_sys::Reflect::get(&performance, &JsValue::from_str("measure")).and_then(|measure| {
        let measure = measure.unchecked_into::<js_sys::Function>();
        measure.call2(&performance, &JsValue::from_str(name), &span)
    });
}

/// Local storage, unless the browser forbids it.
pub(crate) fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// Puts text on the clipboard; tells whether it worked.
pub(crate) fn copy(text: &str, told: impl Fn(bool) + 'static) {
    let promise = window().navigator().clipboard().write_text(text);
    let told = std::rc::Rc::new(told);
    let on_done = {
        let told = std::rc::Rc::clone(&told);
        Closure::once_into_js(move |_: JsValue| told(true))
    };
    let on_failed = Closure::once_into_js(move |_: JsValue| told(false));
    let _ = js_sys::Reflect::get(&promise, &JsValue::from_str("then")).and_then(|then| {
        then.unchecked_into::<js_sys::Function>().call2(&promise, &on_done, &on_failed)
    });
}

/// Runs `then` once nothing has called for it for a while, if the region that waits is still there.
#[derive(Clone, Copy)]
pub(crate) struct Debounce {
    handle: StoredValue<Option<TimeoutHandle>>,
    wait: Duration,
}

impl Debounce {
    /// Waits this long after the last call.
    pub(crate) fn new(wait_ms: u64) -> Self {
        Self { handle: StoredValue::new(None), wait: Duration::from_millis(wait_ms) }
    }

    /// Calls for `then`; an earlier call that still waits is forgotten.
    pub(crate) fn call(self, then: impl FnOnce() + 'static) {
        self.cancel();
        let region = self.handle;
        let then = move || {
            if !region.is_disposed() {
                then();
            }
        };
        region.set_value(set_timeout_with_handle(then, self.wait).ok());
    }

    /// Forgets a call that still waits.
    pub(crate) fn cancel(self) {
        if let Some(handle) = self.handle.try_update_value(Option::take).flatten() {
            handle.clear();
        }
    }
}

/// Runs `then` once the page's fonts are there, so that canvases can be drawn again with them.
pub(crate) fn when_fonts_are_ready(then: impl FnOnce() + 'static) {
    let document: JsValue = document().into();
    let ready = js_sys::Reflect::get(&document, &JsValue::from_str("fonts"))
        .and_then(|fonts| js_sys::Reflect::get(&fonts, &JsValue::from_str("ready")));
    if let Ok(promise) = ready {
        let callback = Closure::once_into_js(move |_: JsValue| then());
        let _ = js_sys::Reflect::get(&promise, &JsValue::from_str("then")).and_then(|method| {
            method.unchecked_into::<js_sys::Function>().call1(&promise, &callback)
        });
    }
}

/// Moves the focus, if the element can take it.
pub(crate) fn focus(element: &Element) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        let _ = element.focus();
    }
}

/// Gives the focus to the element with an id if what had it is gone in the next frame: then it
/// has fallen back to the page as a whole, where a keyboard begins anew.
#[inline(never)]
pub(crate) fn catch_focus(id: &str) {
    let id = id.to_owned();
    request_animation_frame(move || {
        let page = document();
        let is_lost = page.active_element().is_none_or(|active| active.tag_name() == "BODY");
        if let Some(element) = page.get_element_by_id(&id).filter(|_| is_lost) {
            focus(&element);
        }
    });
}

/// The input that an event came from.
pub(crate) fn input_of(event: &Event) -> Option<HtmlInputElement> {
    event.target()?.dyn_into().ok()
}

/// What is in the field that an event came from.
pub(crate) fn typed(event: &Event) -> Option<String> {
    match input_of(event) {
        Some(input) => Some(input.value()),
        None => Some(event.target()?.dyn_into::<HtmlTextAreaElement>().ok()?.value()),
    }
}

/// Lets the element under a pointer hear of it wherever it goes.
pub(crate) fn capture(event: &PointerEvent) {
    let element = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    if let Some(element) = element {
        let _ = element.set_pointer_capture(event.pointer_id());
    }
}

/// A length as styles take it.
pub(crate) fn px(length: f64) -> String {
    [&quantity::plain(length, 0), "px"].concat()
}

/// Sets one property of an element's own style; empty takes it away.
pub(crate) fn set_style(element: &Element, property: &str, value: &str) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        let _ = element.style().set_property(property, value);
    }
}

/// Lets the browser keep what is at an address under a name.
pub(crate) fn save(url: &str, name: &str) {
    let link = el("a").attr("href", url).attr("download", name);
    let link: &HtmlAnchorElement = link.node();
    // Some browsers follow only links that are in the page.
    if let Some(body) = document().body() {
        let _ = body.append_child(link);
    }
    link.click();
    link.remove();
}
