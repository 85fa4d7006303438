//! Reactive values that are compiled once per type, not once per closure: the page has a hundred of
//! them, and each copy of the reactive machinery would travel to every visitor.

use leptos::prelude::{Effect, Memo, Signal};

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
