//! The address bar always holds a link that reproduces the page.
//!
//! While settings change, the current history entry is replaced, at most every 300 ms (browsers
//! refuse faster writing). Once they rest, the entry gets its old link back and the new one becomes
//! an entry of its own, so that back and forward step from one settled scenario to another. What is
//! typed or chosen rests at once, the moves of a slider a while after the last one.
//!
//! With an entry goes what was entered and is not in force ([`crate::kept`]).

use std::cell::Cell;

use leptos::prelude::*;
use scenario::{Parsed, Scenario};
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};

use crate::{
    browser::Debounce,
    kept::{Kept, LINK},
    memo::on_change,
    state::{State, View},
    steps::Steps,
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

/// What a link says beside the scenario and the view: prices, a job, another scenario to compare with. Only
/// the late part reads it.
pub(crate) fn words_of(link: &str) -> String {
    const KEYS: [&str; 4] = ["price=", "utilisation=", "demand=", "versus="];
    let mut words = String::new();
    for piece in link.split(['&', '#']) {
        if KEYS.iter().any(|key| piece.starts_with(key)) {
            words.push('&');
            words.push_str(piece);
        }
    }
    words
}

/// The whole link to the present scenario in a view.
pub(crate) fn link_to(state: State, view: View) -> String {
    let address = window().location().href().unwrap_or_default();
    let base = address.split_once('#').map_or(address.as_str(), |(base, _)| base);
    [base, "#", &link_of(state, view)].concat()
}

/// Reads the link of the address bar. What it holds that is not as written is told again after a
/// reload, although the address has long been put right.
pub(crate) fn opened(link: &str, kept: Kept) -> Parsed {
    kept.read(&entry_state());
    let mut parsed = Scenario::from_link(link);
    if !parsed.notices.is_empty() {
        kept.keep(LINK, Some(link));
    } else if let Some(first) = kept.get(LINK) {
        parsed.notices = Scenario::from_link(&first).notices;
    }
    parsed
}

/// What was kept with the present entry of the history.
fn entry_state() -> String {
    let state = window().history().and_then(|history| history.state());
    state.ok().and_then(|state| state.as_string()).unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Write {
    Replace,
    Push,
}

fn write(how: Write, Entry { link, kept }: &Entry) {
    let Ok(history) = window().history() else { return };
    let address = format!("#{link}");
    let kept = JsValue::from_str(kept);
    // A browser may refuse when called too often; the next settled write brings it up to date.
    let _ = match how {
        Write::Replace => history.replace_state_with_url(&kept, "", Some(&address)),
        Write::Push => history.push_state_with_url(&kept, "", Some(&address)),
    };
}

/// An entry of the history.
#[derive(Clone, PartialEq)]
struct Entry {
    link: String,
    kept: String,
}

/// A scenario that has not come to rest.
#[derive(Clone, PartialEq)]
struct Moving {
    scenario: Scenario,
    entry: Entry,
    mover: &'static str,
}

/// The address bar. Copies share it.
#[derive(Clone, Copy)]
struct AddressBar {
    state: State,
    /// The present entry as it is when it rests.
    settled: StoredValue<Entry>,
    moving: StoredValue<Option<Moving>>,
    replace: Debounce,
    rest: Debounce,
}

/// Keeps the address bar and the page in step for as long as the page lives.
pub(crate) fn follow(state: State) {
    let bar = AddressBar {
        state,
        settled: StoredValue::new(entry_of(state, state.view.get_untracked())),
        moving: StoredValue::new(None),
        replace: Debounce::new(REPLACE_MS),
        rest: Debounce::new(SETTLE_MS),
    };
    bar.settled.with_value(|entry| write(Write::Replace, entry));
    on_change(
        move || {
            state.current.track();
            state.scenario.track();
            state.dragging.track();
            state.kept.track();
            state.words.track();
        },
        move || bar.hear(),
    );
    // Another view is an entry of its own at once, after what had not come to rest in the old one.
    let shown = Cell::new(state.view.get_untracked());
    on_change(
        move || state.view.track(),
        move || {
            let now = state.view.get_untracked();
            let before = shown.replace(now);
            if bar.settled.with_value(|old| old.link == link_of(state, now)) {
                return;
            }
            bar.settle(entry_of(state, before));
            bar.settle(entry_of(state, now));
        },
    );
    on_change(
        move || state.notices.track(),
        move || {
            if state.notices.with_untracked(Vec::is_empty) {
                state.kept.keep(LINK, None);
            }
        },
    );
    listen(bar);
}

fn entry_of(state: State, view: View) -> Entry {
    Entry { link: link_of(state, view), kept: state.kept.written() }
}

fn link_of(state: State, view: View) -> String {
    let mut link = state.scenario.with_untracked(|scenario| view.link(scenario));
    state.words.with_untracked(|words| link.push_str(words));
    link
}

impl AddressBar {
    /// Something has changed, or a slider was let go.
    fn hear(self) {
        let state = self.state;
        let scenario = state.scenario.get_untracked();
        let entry = entry_of(state, state.view.get_untracked());
        let mut mover = state.mover.get_value();
        if let Some(before) = self.moving.get_value() {
            if before.scenario == scenario {
                mover = before.mover;
            } else if before.mover != mover {
                self.settle(before.entry);
            }
        }
        if mover.is_empty() && !state.dragging.get_untracked() {
            self.settle(entry);
            return;
        }
        self.moving.set_value(Some(Moving { scenario, entry: entry.clone(), mover }));
        self.replace.call({
            let entry = entry.clone();
            move || write(Write::Replace, &entry)
        });
        if state.dragging.get_untracked() {
            self.rest.cancel();
        } else {
            self.rest.call(move || {
                self.settle(entry);
                state.steps.update(Steps::rest);
            });
        }
    }

    /// Puts a link in force that the address bar came to without the page.
    fn open(self, link: &str) {
        let state = self.state;
        let parsed = opened(link, state.kept);
        state.keep_recording_name();
        let before = state.scenario.get_untracked();
        let view = View::of_link(link);
        let words = words_of(link);
        let link = [&view.link(&parsed.scenario), words.as_str()].concat();
        self.settled.set_value(Entry { link, kept: state.kept.written() });
        state.toast.set(strings::restored(&before, &parsed.scenario));
        state.notices.set(parsed.notices);
        state.words.set(words);
        state.put_in_force("", parsed.scenario);
        state.show(view);
    }

    /// An entry has come to rest: of its own, unless only what is kept with it is new.
    fn settle(self, entry: Entry) {
        self.replace.cancel();
        self.rest.cancel();
        self.moving.set_value(None);
        if self.settled.with_value(|old| old.link != entry.link) {
            self.settled.with_value(|old| write(Write::Replace, old));
            write(Write::Push, &entry);
        } else {
            write(Write::Replace, &entry);
        }
        self.settled.set_value(entry);
    }
}

/// Back, forward, and a link typed into the address bar.
fn listen(bar: AddressBar) {
    let state = bar.state;
    let on_change = Closure::<dyn Fn()>::new(move || {
        let link = fragment();
        if link.is_empty() || bar.settled.with_value(|old| old.link == link) {
            return;
        }
        bar.replace.cancel();
        bar.rest.cancel();
        bar.moving.set_value(None);
        if scenario::link_wants_wide_catalogue(&link) {
            state.late.before(Box::new(move || bar.open(&link)));
        } else {
            bar.open(&link);
        }
    });
    for event in ["popstate", "hashchange"] {
        let callback = on_change.as_ref().unchecked_ref();
        let _ = window().add_event_listener_with_callback(event, callback);
    }
    on_change.forget();
}
