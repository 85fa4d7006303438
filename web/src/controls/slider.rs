//! A number as a slider with its field: a native range input of 1,000 steps, moved by our own keys.

use leptos::{ev, prelude::*};
use scenario::{Direction, Scenario, Slider, Step};
use web_sys::HtmlInputElement;

use super::{entry::Entry, number_field::NumberField};
use crate::{
    memo::{memo, text, when},
    settings::Dial,
    state::State,
    strings,
};

/// Steps of the native input.
const STEPS: f64 = 1_000.0;

/// Label, field, track and message of one dial.
#[component]
pub(crate) fn Control(dial: &'static Dial) -> impl IntoView {
    let state = expect_context::<State>();
    let entry = Entry::new(state, dial);
    let changed = memo(move |_| state.current.with(|scenario| dial.is_changed(scenario)));
    let help_id = format!("help-{}", dial.id);
    let default_text = move || strings::default_is(&default_text(dial), dial.unit());
    view! {
        <div
            class="control"
            role="group"
            id=format!("control-{}", dial.id)
            aria-label=dial.label()
            data-last=text(move || (state.last_control.get() == dial.id).to_string())
        >
            <span class="control-label" title=dial.help()>
                <Show when=when(move || changed.get())>
                    <span class="changed-dot" title=default_text></span>
                </Show>
                {dial.label()}
            </span>
            <NumberField dial entry described_by=help_id.clone() />
            {dial.slider().map(|slider| view! { <Track dial entry slider /> })}
            <span class="hidden-but-read" id=help_id>
                {dial.help()}
            </span>
            <Show when=when(move || entry.message.with(Option::is_some))>
                <p
                    class="control-message"
                    role="status"
                    data-kind=move || {
                        let refused = entry.message.with(|m| m.as_ref().is_some_and(|m| m.is_refusal));
                        if refused { "invalid" } else { "clamped" }
                    }
                >
                    {move || entry.message.with(|m| m.as_ref().map(|m| m.text.clone()))}
                </p>
            </Show>
        </div>
    }
}

fn default_text(dial: &Dial) -> String {
    dial.default_value().map_or_else(|| strings::CATALOGUE.to_owned(), quantity::editable)
}

/// The track with its thumb.
#[component]
fn Track(dial: &'static Dial, entry: Entry, slider: Slider) -> impl IntoView {
    let state = expect_context::<State>();
    let position = memo(move |_| slider.position(entry.value.get().unwrap_or(slider.min)));
    let default_at = dial.default_value().map(|value| slider.position(value));
    let spoken = move || {
        let value = entry.value.get().map(quantity::editable).unwrap_or_default();
        strings::spoken_value(&value, dial.spoken_unit)
    };
    let on_input = move |event: ev::Targeted<ev::Event, HtmlInputElement>| {
        let raw = event.target().value_as_number() / STEPS;
        let value = slider.snapped(slider.value_at(raw));
        entry.put(value);
        // The thumb stands on the round value, even if that is the one it stood on before.
        event.target().set_value_as_number(slider.position(value) * STEPS);
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Delete" | "Backspace" => {
            event.prevent_default();
            entry.reset();
        }
        _ => {
            if let Some(value) = key_step(dial, entry.value.get_untracked(), &event) {
                event.prevent_default();
                entry.put(value);
            }
        }
    };
    let held = move |_: ev::PointerEvent| {
        state.last_control.set(dial.id);
        state.hold();
    };
    view! {
        <div class="track" style=("--fill", move || format!("{:.4}", position.get()))>
            {default_at
                .map(|at| {
                    view! { <span class="track-default" style=("--at", format!("{at:.4}"))></span> }
                })}
            <input
                type="range"
                min="0"
                max=STEPS.to_string()
                step="any"
                aria-label=dial.label()
                aria-valuetext=spoken
                prop:value=move || (position.get() * STEPS).to_string()
                on:input:target=on_input
                on:keydown=on_key
                on:pointerdown=held
                on:dblclick=move |_| entry.reset()
            />
        </div>
    }
}

/// The value that a key brings, if it is one that steps.
pub(crate) fn key_step(dial: &Dial, value: Option<f64>, event: &ev::KeyboardEvent) -> Option<f64> {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return None;
    }
    let value = value.or_else(|| dial.value(&Scenario::preset()))?;
    let slider = dial.slider();
    let arrow = if event.shift_key() { Step::Large } else { Step::Small };
    let (step, direction) = match event.key().as_str() {
        "ArrowRight" | "ArrowUp" => (arrow, Direction::Up),
        "ArrowLeft" | "ArrowDown" => (arrow, Direction::Down),
        "PageUp" => (Step::Page, Direction::Up),
        "PageDown" => (Step::Page, Direction::Down),
        "Home" => return slider.map(|slider| slider.min),
        "End" => return slider.map(|slider| slider.max),
        _ => return None,
    };
    slider.map(|_| dial.stepped(value, step, direction))
}
