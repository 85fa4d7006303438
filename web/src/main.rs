//! The Headroom page.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{MessageEvent, Worker};

fn main() {
    mount_to_body(|| {
        let (worker_build, set_worker_build) = signal(String::new());
        start_worker(set_worker_build);
        view! {
            <h1>"Headroom"</h1>
            <p id="worker">{worker_build}</p>
        }
    });
}

/// Starts the worker that the page's meta tag names, and shows which build answers.
fn start_worker(set_worker_build: WriteSignal<String>) {
    let address = document()
        .query_selector("meta[name=sim-worker]")
        .ok()
        .flatten()
        .and_then(|tag| tag.get_attribute("content"))
        .unwrap_or_default();
    let Ok(worker) = Worker::new(&address) else {
        set_worker_build.set("The worker could not be started.".to_owned());
        return;
    };
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        set_worker_build.set(event.data().as_string().unwrap_or_default());
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The page keeps its worker for as long as it lives.
    on_message.forget();
    std::mem::forget(worker);
}
