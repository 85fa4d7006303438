//! The text field of a number, with its unit.

use leptos::{ev::KeyboardEvent, prelude::*};

use super::{entry::Entry, slider::key_step};
use crate::{memo::text, settings::Dial, state::State};

/// A field for one dial. `described_by` names the element with the help.
#[component]
pub(crate) fn NumberField(
    dial: &'static Dial,
    entry: Entry,
    described_by: String,
) -> impl IntoView {
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
    let refused = move || entry.message.with(|m| m.as_ref().is_some_and(|m| m.is_refusal));
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
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
    view! {
        <label class="field" class:field-wide=is_wide data-invalid=text(move || refused().to_string())>
            <input
                type="text"
                inputmode="decimal"
                autocomplete="off"
                spellcheck="false"
                placeholder=in_force
                id=format!("field-{}", dial.id)
                aria-label=label
                aria-describedby=described_by
                aria-invalid=text(move || refused().to_string())
                prop:value=move || entry.text()
                on:input:target=move |event| entry.type_in(event.target().value())
                on:change=move |_| entry.commit()
                on:keydown=on_key
            />
            <span class="field-unit" aria-hidden="true">{dial.unit()}</span>
        </label>
    }
}
