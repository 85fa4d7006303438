//! Keys that work everywhere, and the sheet that lists them.

use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, EventTarget, HtmlDialogElement};

use crate::{
    browser,
    dom::{El, el},
    icons::Icon,
    shell,
    state::{Sheet, State, View},
    strings,
};

/// Where the browser keeps that single letters are switched off.
const LETTERS_KEY: &str = "headroom.letters";
const OFF: &str = "off";
/// What a field of a setting says of itself: whether its text is being typed, so that the keys that
/// undo are the browser's.
pub(crate) const TYPED: &str = "data-typed";
/// Id of the sheet.
const ID: &str = "keys";

/// Opens the sheet.
pub(crate) fn open() {
    let found = document().get_element_by_id(ID);
    if let Some(dialog) = found.and_then(|found| found.dyn_into::<HtmlDialogElement>().ok()) {
        // Only one that is not in the page, or is open already, refuses.
        let _ = dialog.show_modal();
    }
}

/// The sheet, closed at first.
#[derive(Clone)]
pub(crate) struct KeySheet {
    dialog: El,
    /// Whether single letters do anything.
    letters: RwSignal<bool>,
}

impl KeySheet {
    /// Built, but not yet in the page.
    pub(crate) fn new() -> Self {
        let stored =
            browser::storage().and_then(|store| store.get_item(LETTERS_KEY).ok().flatten());
        let letters = RwSignal::new(stored.as_deref() != Some(OFF));
        let dialog = el("dialog")
            .class("key-sheet")
            .attr("id", "keys")
            .attr("aria-labelledby", "keys-title");
        Self { dialog, letters }
    }

    fn node(&self) -> &HtmlDialogElement {
        self.dialog.node()
    }

    /// Opens it, or closes it.
    fn toggle(&self) {
        if self.node().open() {
            self.node().close();
        } else {
            open();
        }
    }

    /// Its elements.
    pub(crate) fn el(&self) -> El {
        let (sheet, outside) = (self.clone(), self.clone());
        let close = el("button")
            .attr("type", "button")
            .class("button button-quiet")
            .attr("aria-label", strings::CLOSE)
            .on(ev::click, move |_| sheet.node().close())
            .child(Icon::Close.el());
        let head = el("div")
            .class("key-head")
            .child([el("h2").attr("id", "keys-title").text(strings::KEYS), close]);
        self.dialog
            .clone()
            // What lies around the sheet is the dialog itself.
            .on(ev::click, move |event| {
                let target = event.target();
                if target
                    .as_ref()
                    .is_some_and(|target| AsRef::<EventTarget>::as_ref(outside.node()) == target)
                {
                    outside.node().close();
                }
            })
            .child(
                el("div")
                    .class("key-body")
                    .child(head)
                    .child(strings::KEY_GROUPS.map(|(name, keys)| group(name, keys)))
                    .child(self.switch()),
            )
    }

    /// Letters can be in the way of those who speak to their computer.
    fn switch(&self) -> El {
        let letters = self.letters;
        let input = el("input")
            .attr("type", "checkbox")
            .property_of("checked", move || letters.get())
            .on(ev::change, move |event| {
                let Some(input) = browser::input_of(&event) else { return };
                letters.set(input.checked());
                if let Some(store) = browser::storage() {
                    // What cannot be kept holds until the page is closed.
                    let _ = store.set_item(LETTERS_KEY, if input.checked() { "on" } else { OFF });
                }
            });
        el("label").class("key-switch").child([input, el("span").text(strings::LETTERS_ON)])
    }
}

fn group(name: &str, keys: &[(&str, &str)]) -> El {
    let row = |(key, what): &(&str, &str)| {
        el("tr")
            .child([el("th").attr("scope", "row").child(el("kbd").text(key)), el("td").text(what)])
    };
    el("table")
        .child(el("caption").text(name))
        .child(el("tbody").child(keys.iter().map(row).collect::<Vec<El>>()))
}

/// Hears the keys.
pub(crate) fn listen(state: State, sheet: &KeySheet) {
    let sheet = sheet.clone();
    window_event_listener(ev::keydown, move |event| {
        if event.default_prevented() {
            return;
        }
        let command = event.ctrl_key() || event.meta_key();
        let types = is_typing(&event);
        match event.key().as_str() {
            "z" | "Z" if command && !undoes_text(&event) => {
                event.prevent_default();
                state.step(!event.shift_key());
            }
            "y" if command && !undoes_text(&event) => {
                event.prevent_default();
                state.step(false);
            }
            // The browser closes what is open.
            "Escape" if is_covered() => {}
            "Escape" if state.sheet.get_untracked() == Sheet::Peek => state.stop(),
            "Escape" => state.sheet.set(Sheet::Peek),
            key if !command && !event.alt_key() && !types && sheet.letters.get_untracked() => {
                hear_letter(state, &sheet, key);
            }
            _ => {}
        }
    });
}

fn hear_letter(state: State, sheet: &KeySheet, key: &str) {
    match key {
        "?" => sheet.toggle(),
        _ if is_covered() => {}
        "r" | "R" if state.view.get_untracked() == View::Know => state.prove(),
        "r" | "R" => state.run_again(),
        "1" => state.show(View::Plan),
        "2" => state.show(View::Fleet),
        "3" => state.show(View::Compare),
        "4" => state.show(View::Calibrate),
        "6" => state.show(View::Know),
        "p" | "P" => shell::pin(state),
        "x" | "X" => shell::swap(state),
        "e" | "E" => shell::export(state),
        "t" | "T" => state.knee_as_table.update(|on| *on = !*on),
        "l" | "L" => shell::copy_link(state),
        _ => {}
    }
}

/// Whether a dialog is open.
fn is_covered() -> bool {
    document().query_selector("dialog[open]").ok().flatten().is_some()
}

/// Whether the keys that undo belong to what has the focus: a field in which something is being typed,
/// or one of no setting.
fn undoes_text(event: &ev::KeyboardEvent) -> bool {
    let Some(target) = event.target() else { return false };
    let element: &Element = target.unchecked_ref();
    is_typing(event)
        && element.tag_name() != "SELECT"
        && element.get_attribute(TYPED).as_deref() != Some("false")
}

/// Whether a letter belongs to what has the focus: a field, or a list that finds by letters.
fn is_typing(event: &ev::KeyboardEvent) -> bool {
    let Some(target) = event.target() else { return false };
    let element: &Element = target.unchecked_ref();
    match browser::input_of(event) {
        Some(input) => input.type_() == "text",
        None => matches!(element.tag_name().as_str(), "SELECT" | "TEXTAREA"),
    }
}
