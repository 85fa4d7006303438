//! The page's elements: built once, then each text, attribute and region follows what it is made
//! from.
//!
//! ```ignore
//! el("button")
//!     .attr("type", "button")
//!     .flag_of("disabled", move || !can_undo.get())
//!     .on(ev::click, move |_| state.step(true))
//!     .text(strings::UNDO)
//! ```
//!
//! Leptos's own views are a type of their own for each shape of element, and every shape brings a
//! copy of the code that builds, updates and removes it: two fifths of the page's code were such
//! copies. Here whatever differs is behind a `Box`, and there is one copy of everything. Signals,
//! memos, effects, owners and contexts are Leptos's: what is built while a region is being told
//! belongs to that region, and ends when it is told anew.

mod element;
mod list;
mod mount;
mod region;

pub(crate) use element::{El, el, svg};
pub(crate) use mount::in_body;
pub(crate) use region::Nodes;

use leptos::prelude::{RenderEffect, StoredValue};
use web_sys::Event;

/// A closure that tells something. A box of `dyn Fn` would bring, for each of some hundred closures,
/// two more ways to call it that nobody takes.
trait Tell<T> {
    fn tell(&self) -> T;
}

impl<T, F: Fn() -> T> Tell<T> for F {
    fn tell(&self) -> T {
        self()
    }
}

/// A closure that hears events, likewise.
trait Hear {
    fn hear(&mut self, event: Event);
}

impl<F: FnMut(Event)> Hear for F {
    fn hear(&mut self, event: Event) {
        self(event);
    }
}

/// Runs `run` now, and again whenever a signal that it read has changed, until the region that is
/// being built goes.
#[inline(never)]
fn follow(mut run: Box<dyn FnMut()>) {
    let effect = RenderEffect::new(move |_| run());
    // The owner keeps it: a render effect ends when it is dropped.
    StoredValue::new_local(effect);
}
