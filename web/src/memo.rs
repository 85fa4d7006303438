//! Reactive values that are compiled once per type, not once per closure: the page has a hundred of
//! them, and each copy of the reactive machinery would travel to every visitor.

use std::cell::Cell;

use leptos::prelude::{Effect, Memo, untrack};

/// A memo of what `compute` tells, like [`Memo::new`].
pub(crate) fn memo<T>(compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    boxed(Box::new(compute))
}

type Compute<T> = Box<dyn Fn(Option<&T>) -> T + Send + Sync>;

#[inline(never)]
fn boxed<T>(compute: Compute<T>) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(compute)
}

/// Runs `run` once what is being built is in the page, and again whenever a signal that it read has
/// changed.
pub(crate) fn effect(run: impl Fn() + 'static) {
    boxed_effect(Box::new(run));
}

#[inline(never)]
fn boxed_effect(run: Box<dyn Fn()>) {
    Effect::new(move |_| run());
}

/// Runs `then` whenever what `read` reads has changed, but not at first. `then` may read whatever
/// else it likes.
pub(crate) fn on_change(read: impl Fn() + 'static, then: impl Fn() + 'static) {
    let is_first = Cell::new(true);
    effect(move || {
        read();
        if !is_first.replace(false) {
            untrack(&then);
        }
    });
}
