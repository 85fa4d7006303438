//! The worker: message loop, slicing, cancellation, panic report.
//!
//! Runs in a dedicated worker, in an instance of the page's own module: what both need is loaded and
//! compiled once. Between two slices of work it yields through a message channel: a timer would wait for
//! 4 ms each time, a microtask would never let the page's messages in.

mod aside;
mod calibrate_task;
mod compare_task;
mod decision_task;
mod fleet_task;
pub mod late;
mod pools_task;
mod proof_task;
mod recording_file;
mod recording_task;
mod report_task;
mod session;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use js_sys::{Reflect, Uint8Array};
use protocol::{BUILD_ID, FromWorker, PROTOCOL, ToWorker};
use session::Session;
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

/// Everything the callbacks share.
struct Loop {
    scope: DedicatedWorkerGlobalScope,
    session: RefCell<Session>,
    /// Posting here brings the next slice.
    bell: MessagePort,
    /// Whether a slice is already on its way: two at once would halve the chance of a cancel.
    rung: Cell<bool>,
}

impl Loop {
    fn post(&self, message: &FromWorker) {
        post(&self.scope, message);
    }

    fn now_ms(&self) -> f64 {
        self.scope.performance().map_or(0.0, |performance| performance.now())
    }

    /// A message of the page.
    fn on_message(&self, event: &MessageEvent) {
        let data = event.data();
        if let Some(outcome) = late::take_in(&data) {
            if let Err(error) = outcome {
                let message = format!("the late part does not fit: {error:?}");
                self.post(&FromWorker::Panicked { message });
            }
            return;
        }
        let mut session = self.session.borrow_mut();
        if let Some(read) = recording_file::take_in(&data) {
            self.post(&session.record(read));
            return;
        }
        let bytes = Uint8Array::new(&data).to_vec();
        match protocol::decode::<ToWorker>(&bytes) {
            Ok(ToWorker::WriteRecording { link }) => {
                if let Some(file) = session.recording().and_then(|t| recording_file::of(t, &link)) {
                    let _ = self.scope.post_message(&file);
                }
            }
            Ok(message) => session.receive(message, &mut |news| self.post(&news)),
            Err(error) => self.post(&FromWorker::Panicked { message: error.to_string() }),
        }
        if session.is_busy() {
            self.ring();
        }
    }

    /// One slice of work.
    fn on_bell(&self) {
        self.rung.set(false);
        let mut session = self.session.borrow_mut();
        session.work(&|| self.now_ms(), &mut |news| self.post(&news));
        if session.is_busy() {
            self.ring();
        }
    }

    fn ring(&self) {
        if !self.rung.replace(true) {
            // The port lives as long as the worker; posting to it cannot fail.
            let _ = self.bell.post_message(&JsValue::NULL);
        }
    }
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &FromWorker) {
    if let Ok(bytes) = protocol::encode(message) {
        let _ = scope.post_message(&Uint8Array::from(&bytes[..]));
    }
}

/// Tells the page before the trap: afterwards nothing in here runs any more.
fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
            let what = info.payload_as_str().unwrap_or("panic");
            let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
            post(&scope, &FromWorker::Panicked { message: format!("{what}{place}") });
        }
    }));
}

/// Puts a function beside the message loop that panics, for the fault drill of the browser tests.
fn expose_fault_drill(scope: &DedicatedWorkerGlobalScope) {
    let drill = Closure::<dyn Fn()>::new(|| std::panic::panic_any("fault drill"));
    let _ = Reflect::set(scope, &JsValue::from_str("provoke_panic"), drill.as_ref());
    drill.forget();
}

/// Whether this is a worker, and not a page.
#[must_use]
pub fn scope() -> Option<DedicatedWorkerGlobalScope> {
    js_sys::global().dyn_into().ok()
}

/// Takes up the work of a worker, in the scope of one: listens, and tells the page `Ready`.
pub fn start(scope: &DedicatedWorkerGlobalScope) {
    report_panics();
    expose_fault_drill(scope);
    let Ok(channel) = MessageChannel::new() else { return };
    let shared = Rc::new(Loop {
        scope: scope.clone(),
        session: RefCell::new(Session::default()),
        bell: channel.port1(),
        rung: Cell::new(false),
    });

    let on_bell = {
        let shared = Rc::clone(&shared);
        Closure::<dyn Fn()>::new(move || shared.on_bell())
    };
    channel.port2().set_onmessage(Some(on_bell.as_ref().unchecked_ref()));
    on_bell.forget();

    let on_message = {
        let shared = Rc::clone(&shared);
        Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| shared.on_message(&event))
    };
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();

    shared.post(&FromWorker::Ready { protocol: PROTOCOL, build_id: BUILD_ID.into() });
}
