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

/// A closure that computes or runs, behind one method: a box of `dyn Fn` has two more, and their code,
/// for each closure.
trait Compute<T>: Send + Sync {
    fn compute(&self, was: Option<&T>) -> T;
}

impl<T, F: Fn(Option<&T>) -> T + Send + Sync> Compute<T> for F {
    fn compute(&self, was: Option<&T>) -> T {
        self(was)
    }
}

trait Run {
    fn run(&self);
}

impl<F: Fn()> Run for F {
    fn run(&self) {
        self();
    }
}

#[inline(never)]
fn boxed<T>(compute: Box<dyn Compute<T>>) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |was| compute.compute(was))
}

/// Runs `run` once what is being built is in the page, and again whenever a signal that it read has
/// changed.
pub(crate) fn effect(run: impl Fn() + 'static) {
    boxed_effect(Box::new(run));
}

#[inline(never)]
fn boxed_effect(run: Box<dyn Run>) {
    Effect::new(move |_| run.run());
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
