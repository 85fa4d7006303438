//! The worker: message loop, slicing, cancellation, panic report.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

/// The build that the page must be of, too.
const BUILD_ID: Option<&str> = option_env!("HEADROOM_BUILD_ID");

fn main() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    // Nobody to tell, should the page be gone already.
    let _ = scope.post_message(&JsValue::from_str(BUILD_ID.unwrap_or("unnamed")));
}
