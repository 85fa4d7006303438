//! The text field of a number, with its unit.

use leptos::{ev, prelude::*};

use super::{entry::Entry, slider::key_step};
use crate::{
    browser,
    dom::{El, el},
    settings::Dial,
    state::State,
};

/// A field for one dial. `described_by` names the element with the help.
pub(crate) fn number_field(dial: &'static Dial, entry: Entry, described_by: &str) -> El {
    let state = expect_context::<State>();
    let label = match dial.spoken_unit {
        "" => dial.label().to_owned(),
        unit => format!("{}, {unit}", dial.label()),
    };
    // The longest units leave no room for the number in the usual box.
    let is_wide = dial.unit().len() > 7;
    // Where nobody gave a number the catalogue's is in force.
    let in_force = move || {
        state.resolution.with(|resolution| {
            let (resolved, _) = resolution.outcome.as_ref().as_ref().ok()?;
            let entry = resolved.ledger.0.iter().find(|entry| entry.key == dial.key)?;
            Some(quantity::editable(entry.value))
        })
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Enter" => entry.commit(),
        "Escape" => entry.forget(),
        "ArrowUp" | "ArrowDown" => {
            if let Some(value) = key_step(dial, entry.value.get_untracked(), &event) {
                event.prevent_default();
                entry.put(value);
            }
        }
        _ => {}
    };
    let input = el("input")
        .attr("type", "text")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr_maybe("placeholder", in_force)
        .attr("id", &format!("field-{}", dial.id))
        .attr("aria-label", &label)
        .attr("aria-describedby", described_by)
        .truth_of("aria-invalid", move || entry.is_refused.get())
        .property_of("value", move || entry.text())
        .on(ev::input, move |event| {
            if let Some(input) = browser::input_of(&event) {
                entry.type_in(input.value());
            }
        })
        .on(ev::change, move |_| entry.commit())
        .on(ev::keydown, on_key);
    el("label")
        .class(if is_wide { "field field-wide" } else { "field" })
        .truth_of("data-invalid", move || entry.is_refused.get())
        .child([
            input,
            el("span").class("field-unit").attr("aria-hidden", "true").text(dial.unit()),
        ])
}
