//! A number as a slider with its field: a native range input of 1,000 steps, moved by our own keys.

use leptos::{ev, prelude::*};
use scenario::{Direction, Scenario, Slider, Step};

use super::{entry::Entry, number_field::number_field};
use crate::{
    browser,
    dom::{El, el},
    settings::Dial,
    state::State,
    strings,
};

/// Steps of the native input.
const STEPS: f64 = 1_000.0;

/// Label, field, track and message of one dial.
pub(crate) fn control(dial: &'static Dial) -> El {
    let state = expect_context::<State>();
    let entry = Entry::new(state, dial);
    let help_id = format!("help-{}", dial.id);
    let dot = move || {
        let default = strings::default_is(&default_text(dial), dial.unit());
        el("span").class("changed-dot").attr("title", &default)
    };
    let label = el("span")
        .class("control-label")
        .attr("title", dial.help())
        .when(move || state.current.with(|scenario| dial.is_changed(scenario)), dot)
        .text(dial.label());
    el("div")
        .class("control")
        .attr("role", "group")
        .attr("id", &format!("control-{}", dial.id))
        .attr("aria-label", dial.label())
        .truth_of("data-last", move || state.last_control.get() == dial.id)
        .child([label, number_field(dial, entry, &help_id)])
        .child(dial.slider().map(|slider| track(dial, entry, slider)))
        .child(el("span").class("hidden-but-read").attr("id", &help_id).text(dial.help()))
        .when(
            move || entry.message.with(|message| !message.is_empty()),
            move || {
                el("p")
                    .class("control-message")
                    .attr("role", "status")
                    .attr_of("data-kind", move || {
                        if entry.is_refused.get() { "invalid" } else { "clamped" }
                    })
                    .text_of(move || entry.message.get())
            },
        )
}

fn default_text(dial: &Dial) -> String {
    dial.default_value().map_or_else(|| strings::CATALOGUE.to_owned(), quantity::editable)
}

/// The track with its thumb.
fn track(dial: &'static Dial, entry: Entry, slider: Slider) -> El {
    let state = expect_context::<State>();
    let position = move || slider.position(entry.value.get().unwrap_or(slider.min));
    let default_at = dial.default_value().map(|value| share(slider.position(value)));
    let spoken = move || {
        let value = entry.value.get().map(quantity::editable).unwrap_or_default();
        strings::spoken_value(&value, dial.spoken_unit)
    };
    let on_input = move |event: ev::Event| {
        let Some(input) = browser::input_of(&event) else { return };
        let value = slider.snapped(slider.value_at(input.value_as_number() / STEPS));
        entry.put(value);
        // The thumb stands on the round value, even if that is the one it stood on before.
        input.set_value_as_number(slider.position(value) * STEPS);
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
    let held = move |_| {
        state.last_control.set(dial.id);
        state.hold();
    };
    let input = el("input")
        .attr("type", "range")
        .attr("min", "0")
        .attr("max", &STEPS.to_string())
        .attr("step", "any")
        .attr("aria-label", dial.label())
        .attr_of("aria-valuetext", spoken)
        .property_of("value", move || position() * STEPS)
        .on(ev::input, on_input)
        .on(ev::keydown, on_key)
        .on(ev::pointerdown, held)
        .on(ev::dblclick, move |_| entry.reset());
    el("div")
        .class("track")
        .style_of("--fill", move || share(position()))
        .child(default_at.map(|at| el("span").class("track-default").style("--at", &at)))
        .child(input)
}

/// A position between 0 and 1 as styles take it.
fn share(position: f64) -> String {
    format!("{position:.4}")
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
