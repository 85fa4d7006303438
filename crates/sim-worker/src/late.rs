//! The late part of the module: what few visitors need, and none at first.
//!
//! The build cuts it off (`xtask/src/late`). It shares memory, function table and stack with the first
//! part, whose exports it takes. Page and worker each need their own instance of it.

use js_sys::{
    Object, Reflect,
    WebAssembly::{Instance, Module},
};
use wasm_bindgen::{JsCast, JsValue};

/// What the first part exports only if there is a late one.
const SIGN: &str = "late";
/// The name by which the late part knows the first.
const FIRST: &str = "f";

/// Whether there is a late part at all: a module that was not cut has all of it from the start.
#[must_use]
pub fn is_apart() -> bool {
    Reflect::has(&wasm_bindgen::exports(), &JsValue::from_str(SIGN)).unwrap_or(false)
}

/// What the late part takes from this instance of the first.
#[must_use]
pub fn imports() -> Object {
    let imports = Object::new();
    // A fresh object takes every property.
    let _ = Reflect::set(&imports, &JsValue::from_str(FIRST), &wasm_bindgen::exports());
    imports
}

/// Takes the late part in if that is what a message holds; a page may not, which must not wait for
/// it.
pub(crate) fn take_in(message: &JsValue) -> Option<Result<(), JsValue>> {
    let module: &Module = message.dyn_ref()?;
    Some(Instance::new(module, &imports()).map(|_| ()))
}
