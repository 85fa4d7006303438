//! The address bar always holds a link that reproduces the page.
//!
//! While settings change, the current history entry is replaced, at most every 300 ms (browsers
//! refuse faster writing). Once they rest, the entry gets its old link back and the new one becomes
//! an entry of its own, so that back and forward step from one settled scenario to another.

use std::cell::Cell;

use leptos::prelude::*;
use scenario::Scenario;
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};

use crate::{
    browser::Debounce,
    memo::on_change,
    state::{State, View},
    strings,
};

/// Rest before the entry is replaced.
const REPLACE_MS: u64 = 300;
/// Rest before a new entry is made.
const SETTLE_MS: u64 = 500;

/// The fragment of the address bar, without `#`.
pub(crate) fn fragment() -> String {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix('#').unwrap_or(&hash).to_owned()
}

/// The whole link to a view of a scenario.
pub(crate) fn link_to(view: View, scenario: &Scenario) -> String {
    let address = window().location().href().unwrap_or_default();
    let base = address.split_once('#').map_or(address.as_str(), |(base, _)| base);
    format!("{base}#{}", view.link(scenario))
}

#[derive(Clone, Copy)]
enum Write {
    Replace,
    Push,
}

fn write(how: Write, link: &str) {
    let Ok(history) = window().history() else { return };
    let address = format!("#{link}");
    // A browser may refuse when called too often; the next settled write brings it up to date.
    let _ = match how {
        Write::Replace => history.replace_state_with_url(&JsValue::NULL, "", Some(&address)),
        Write::Push => history.push_state_with_url(&JsValue::NULL, "", Some(&address)),
    };
}

/// Settled scenarios, for undo and redo.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Steps {
    scenarios: Vec<Scenario>,
    at: usize,
}

impl Steps {
    /// Begins with one.
    pub(crate) fn new(first: Scenario) -> Self {
        Self { scenarios: vec![first], at: 0 }
    }

    /// Whether there is something to undo.
    pub(crate) fn can_undo(&self) -> bool {
        self.at > 0
    }

    /// Whether there is something to do again.
    pub(crate) fn can_redo(&self) -> bool {
        self.at + 1 < self.scenarios.len()
    }

    fn current(&self) -> Option<&Scenario> {
        self.scenarios.get(self.at)
    }

    /// Takes a settled scenario; what had been undone is gone. One that the stack already stands at
    /// changes nothing, which is how an undo comes back here.
    pub(crate) fn settle(&mut self, scenario: &Scenario) {
        if self.current() != Some(scenario) {
            self.scenarios.truncate(self.at + 1);
            self.scenarios.push(scenario.clone());
            self.at = self.scenarios.len() - 1;
        }
    }

    /// Steps by one in either direction.
    pub(crate) fn step(&mut self, back: bool) -> Option<Scenario> {
        let to = if back { self.at.checked_sub(1) } else { Some(self.at + 1) }?;
        let scenario = self.scenarios.get(to)?.clone();
        self.at = to;
        Some(scenario)
    }
}

/// Keeps the address bar and the page in step for as long as the page lives.
pub(crate) fn follow(state: State) {
    let view = state.view.get_untracked();
    let settled = StoredValue::new(state.scenario.with_untracked(|scenario| view.link(scenario)));
    settled.with_value(|link| write(Write::Replace, link));
    let replace = Debounce::new(REPLACE_MS);
    let settle = Debounce::new(SETTLE_MS);

    on_change(
        move || {
            state.current.track();
            state.dragging.track();
        },
        move || {
            let scenario = state.scenario.get_untracked();
            let link = state.view.get_untracked().link(&scenario);
            replace.call({
                let link = link.clone();
                move || write(Write::Replace, &link)
            });
            if state.dragging.get_untracked() {
                settle.cancel();
                return;
            }
            settle.call(move || {
                replace.cancel();
                settle_at(state, settled, &scenario, link);
            });
        },
    );
    // Another view is an entry of its own at once, after what had not come to rest in the old one.
    let shown = Cell::new(view);
    on_change(
        move || state.view.track(),
        move || {
            let now = state.view.get_untracked();
            let before = shown.replace(now);
            let scenario = state.scenario.get_untracked();
            let link = now.link(&scenario);
            if settled.with_value(|old| *old == link) {
                return;
            }
            replace.cancel();
            settle.cancel();
            settle_at(state, settled, &scenario, before.link(&scenario));
            settle_at(state, settled, &scenario, link);
        },
    );
    listen(state, settled);
}

fn settle_at(state: State, settled: StoredValue<String>, scenario: &Scenario, link: String) {
    state.steps.update(|steps| steps.settle(scenario));
    if settled.with_value(|old| *old != link) {
        settled.with_value(|old| write(Write::Replace, old));
        write(Write::Push, &link);
        settled.set_value(link);
    }
}

/// Back, forward, and a link typed into the address bar.
fn listen(state: State, settled: StoredValue<String>) {
    let on_change = Closure::<dyn Fn()>::new(move || {
        let link = fragment();
        if link.is_empty() || settled.with_value(|old| *old == link) {
            return;
        }
        let parsed = Scenario::from_link(&link);
        let before = state.scenario.get_untracked();
        let view = View::of_link(&link);
        settled.set_value(view.link(&parsed.scenario));
        state.toast.set(strings::restored(&before, &parsed.scenario));
        state.notices.set(parsed.notices);
        state.scenario.set(parsed.scenario);
        state.show(view);
    });
    for event in ["popstate", "hashchange"] {
        let callback = on_change.as_ref().unchecked_ref();
        let _ = window().add_event_listener_with_callback(event, callback);
    }
    on_change.forget();
}
