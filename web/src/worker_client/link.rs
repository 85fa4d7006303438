//! A worker as the browser has it: how it is made, what it is made of, and how it ends.

use leptos::prelude::document;
use wasm_bindgen::{
    JsCast, JsValue,
    prelude::{Closure, wasm_bindgen},
};
use web_sys::{Event, MessageEvent, Worker, WorkerOptions, WorkerType};

/// A worker with its listeners.
pub(crate) struct Link {
    worker: Worker,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(Event)>,
}

impl Link {
    /// Starts a worker.
    ///
    /// # Errors
    /// What the browser did not do.
    pub(crate) fn open(
        on_message: Closure<dyn Fn(MessageEvent)>,
        on_error: Closure<dyn Fn(Event)>,
    ) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&worker_url()?, &options)
            .map_err(|_| "the browser did not start the worker".to_owned())?;
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        worker.set_onmessageerror(Some(on_error.as_ref().unchecked_ref()));
        worker
            .post_message(&own_module())
            .map_err(|_| "the browser did not pass the module to the worker".to_owned())?;
        Ok(Self { worker, _on_message: on_message, _on_error: on_error })
    }

    /// Passes a message on; tells whether the browser took it.
    pub(crate) fn pass(&self, message: &JsValue) -> bool {
        self.worker.post_message(message).is_ok()
    }

    /// Ends the worker; nothing is heard of it from here on.
    pub(crate) fn end(&self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.set_onmessageerror(None);
        self.worker.terminate();
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static SCRIPT: String;
}

/// Where the script lies that this module came with.
pub(crate) fn script() -> String {
    SCRIPT.with(String::clone)
}

/// What the worker is made of: this very module, compiled, and the script to it.
fn own_module() -> JsValue {
    let parts = js_sys::Object::new();
    let put = |name: &str, value: &JsValue| {
        // A fresh object takes every property.
        let _ = js_sys::Reflect::set(&parts, &JsValue::from_str(name), value);
    };
    put("script", &JsValue::from_str(&script()));
    put("module", &wasm_bindgen::module());
    parts.into()
}

/// The worker's first lines where the build left their name as it was.
const UNNAMED_WORKER: &str = "./worker.js";

/// The script that the build named, relative to wherever the page lies.
fn worker_url() -> Result<String, String> {
    let missing = || "the page does not name its worker".to_owned();
    let document = document();
    let meta = document.query_selector("meta[name=worker]").ok().flatten();
    let name = meta.and_then(|meta| meta.get_attribute("content")).ok_or_else(missing)?;
    let name = if name.is_empty() { UNNAMED_WORKER.to_owned() } else { name };
    let base = document.base_uri().ok().flatten().ok_or_else(missing)?;
    let url = web_sys::Url::new_with_base(&name, &base).map_err(|_| missing())?;
    Ok(url.href())
}
