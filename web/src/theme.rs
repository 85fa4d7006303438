//! Which theme is in force, and how the choice is kept.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, prelude::Closure};

use crate::browser;
use crate::memo::{effect, memo};

/// Where the choice is kept. `theme.js` reads the same key before the first paint.
const STORAGE_KEY: &str = "headroom.theme";

/// What the person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Whatever the system says.
    System,
    /// Dark text on light.
    Light,
    /// Light text on dark.
    Dark,
}

impl Choice {
    /// The one that the switch goes to next.
    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    fn attribute(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }
}

/// The theme as signals.
#[derive(Clone, Copy)]
pub(crate) struct ThemeState {
    /// What the person chose.
    pub(crate) choice: RwSignal<Choice>,
    /// Whether dark is in force.
    pub(crate) is_dark: Memo<bool>,
    /// Whether the system forces its own colours.
    pub(crate) is_forced: RwSignal<bool>,
}

impl ThemeState {
    /// Reads the kept choice and follows the system from here on.
    pub(crate) fn new() -> Self {
        let choice = RwSignal::new(kept_choice());
        let system_is_dark = media_signal("(prefers-color-scheme: dark)");
        let is_forced = media_signal("(forced-colors: active)");
        let is_dark = memo(move |_| match choice.get() {
            Choice::System => system_is_dark.get(),
            Choice::Light => false,
            Choice::Dark => true,
        });
        effect(move || keep(choice.get()));
        Self { choice, is_dark, is_forced }
    }

    /// System, light, dark, and round again.
    pub(crate) fn switch(self) {
        self.choice.update(|choice| *choice = choice.next());
    }
}

fn kept_choice() -> Choice {
    let kept = browser::storage().and_then(|storage| storage.get_item(STORAGE_KEY).ok().flatten());
    match kept.as_deref() {
        Some("light") => Choice::Light,
        Some("dark") => Choice::Dark,
        _ => Choice::System,
    }
}

/// Storage can be forbidden or full; the choice then lasts as long as the page.
fn keep(choice: Choice) {
    let root = document().document_element();
    let storage = browser::storage();
    if let Some(name) = choice.attribute() {
        root.map(|root| root.set_attribute("data-theme", name));
        storage.map(|storage| storage.set_item(STORAGE_KEY, name));
    } else {
        root.map(|root| root.remove_attribute("data-theme"));
        storage.map(|storage| storage.remove_item(STORAGE_KEY));
    }
}

/// Whether a media query matches, kept up to date for as long as the page lives.
pub(crate) fn media_signal(query: &str) -> RwSignal<bool> {
    let Ok(Some(list)) = window().match_media(query) else { return RwSignal::new(false) };
    let signal = RwSignal::new(list.matches());
    let watched = list.clone();
    let on_change = Closure::<dyn Fn()>::new(move || signal.set(watched.matches()));
    // The page has one handful of queries, and they live as long as it does.
    let _ = list.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
    on_change.forget();
    signal
}
