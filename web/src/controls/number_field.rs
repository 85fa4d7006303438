//! The text field of a number, with its unit.

use leptos::{ev, prelude::*};

use super::slider::{Moved, key_step};
use crate::{
    browser,
    dom::{El, el},
    keys,
    settings::Dial,
    state::State,
    strings,
};

/// Id of the input of a dial.
pub(crate) fn field_id(dial: &Dial) -> String {
    ["field-", dial.id].concat()
}

/// A field for one dial. `described_by` names the element with the help.
pub(crate) fn number_field(dial: &'static Dial, moved: Moved, described_by: &str) -> El {
    let state = expect_context::<State>();
    let entry = moved.entry;
    let label = match dial.spoken_unit {
        "" => dial.label().to_owned(),
        unit => format!("{}, {unit}", dial.label()),
    };
    // Long units, and numbers as long as a cache, leave no room in the usual box. A length may be a
    // word with its numbers, too.
    let is_wide = dial.unit().len() > 5 || (dial.is_optional() && !dial.unit().is_empty());
    let class = match (dial.is_text(), is_wide) {
        (true, _) => "field field-text",
        _ if dial.takes_words() => "field field-wide field-words",
        (_, true) => "field field-wide",
        _ => "field",
    };
    // Where nobody gave a number the catalogue's is in force.
    let figure = move || {
        state.resolution.with(|resolution| resolution.figure(dial.key)).map(quantity::editable)
    };
    let in_force =
        move || figure().or_else(|| dial.is_optional().then(|| strings::UNKNOWN.to_owned()));
    let why_none = move || {
        let is_missing = dial.is_optional() && figure().is_none();
        is_missing.then(|| state.resolution.with(|r| strings::no_figure(r.error().as_deref())))
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Enter" => {
            // A longer text has no second paragraph either.
            event.prevent_default();
            entry.commit();
        }
        "Escape" => entry.forget(),
        "z" | "Z" if (event.ctrl_key() || event.meta_key()) && entry.undo_text() => {
            event.prevent_default();
        }
        "ArrowUp" | "ArrowDown" => {
            if let Some(value) = key_step(dial, moved.value.get_untracked(), &event) {
                event.prevent_default();
                moved.put(value);
            }
        }
        _ => {}
    };
    let input = if dial.is_text() {
        el("textarea").attr("rows", "2")
    } else {
        el("input").attr("type", "text").attr("inputmode", "decimal")
    };
    let input = input
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr_maybe("placeholder", in_force)
        .attr_maybe("title", why_none)
        .attr("id", &field_id(dial))
        .attr("aria-label", &label)
        .attr("aria-describedby", described_by)
        .truth_of("aria-invalid", move || entry.is_refused.get())
        .truth_of(keys::TYPED, move || entry.is_being_typed())
        .property_of("value", move || entry.text())
        .on(ev::input, move |event| {
            if let Some(text) = browser::typed(&event) {
                entry.type_in(text);
            }
        })
        .on(ev::change, move |_| entry.commit())
        .on(ev::keydown, on_key);
    el("label").class(class).truth_of("data-invalid", move || entry.is_refused.get()).child([
        input,
        el("span").class("field-unit").attr("aria-hidden", "true").text(dial.unit()),
    ])
}
