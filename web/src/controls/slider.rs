//! A number as a slider with its field: a native range input of 1,000 steps, moved by our own keys.

use std::sync::Arc;

use leptos::{ev, prelude::*};
use scenario::{Direction, Scenario, Slider, Step};

use super::{
    entry::Entry,
    number_field::{field_id, number_field},
};
use crate::{
    browser,
    dom::{El, el},
    memo::memo,
    settings::Dial,
    state::State,
    strings,
};

/// Steps of the native input.
const STEPS: f64 = 1_000.0;
const STEPS_TEXT: &str = "1000";

/// A dial as its control moves it.
#[derive(Clone, Copy)]
pub(crate) struct Moved {
    state: State,
    dial: &'static Dial,
    /// What is typed into its field.
    pub(crate) entry: Entry,
    /// The value in force.
    pub(crate) value: Memo<Option<f64>>,
}

impl Moved {
    fn new(state: State, dial: &'static Dial) -> Self {
        let entry = Entry::new(
            state,
            dial.id,
            Box::new(|| dial.id.to_owned()),
            Box::new(|scenario| dial.text(scenario).unwrap_or_default()),
            Arc::new(|scenario, text| dial.type_in(scenario, text)),
        );
        let value = memo(move |_| state.current.with(|scenario| dial.value(scenario)));
        Self { state, dial, entry, value }
    }

    /// A slider or a key sets the value.
    pub(crate) fn put(self, value: f64) {
        self.entry.forget();
        self.state.last_control.set(self.dial.id);
        let mut scenario = self.state.scenario.get_untracked();
        if self.dial.put(&mut scenario, value).is_err() {
            return;
        }
        if scenario.limit_to_context().is_empty() {
            self.state.put_in_force(self.dial.id, scenario);
        } else {
            // More than the model takes is told beside the field, as if it had been typed.
            self.entry.enter(&quantity::editable(value), self.dial.id);
        }
    }

    /// Back to what it is when nobody changed it.
    fn reset(self) {
        self.entry.forget();
        let mut scenario = self.state.scenario.get_untracked();
        self.dial.reset(&mut scenario);
        self.state.change_by(self.dial.id, scenario);
    }
}

/// Label, field, track and message of one dial.
pub(crate) fn control(dial: &'static Dial) -> El {
    let state = expect_context::<State>();
    let moved = Moved::new(state, dial);
    let help_id = format!("help-{}", dial.id);
    let is_changed = move || state.current.with(|scenario| dial.is_changed(scenario));
    let dot = move || {
        let default = strings::default_is(&default_text(dial), dial.unit());
        el("span").class("changed-dot").attr("title", &default)
    };
    let label = el("span")
        .class("control-label")
        .attr("title", dial.help())
        .when(is_changed, dot)
        .text(dial.label());
    // Where the catalogue decides unless told otherwise there is a way back to it.
    let back = move || {
        el("button")
            .attr("type", "button")
            .class("control-back")
            .attr("aria-label", &strings::back_to_catalogue(dial.label()))
            .on(ev::click, move |_| {
                moved.reset();
                browser::catch_focus(&field_id(dial));
            })
            .text(strings::AUTO)
    };
    let label = if dial.is_optional() { label.when(is_changed, back) } else { label };
    let group = el("div")
        .class(if dial.is_text() { "control control-text" } else { "control" })
        .attr("role", "group")
        .attr("id", &format!("control-{}", dial.id))
        .attr("aria-label", dial.label())
        .truth_of("data-last", move || state.last_control.get() == dial.id)
        .child([label, number_field(dial, moved, &help_id)])
        .child(dial.slider().map(|slider| track(dial, moved, slider)))
        .child(el("span").class("hidden-but-read").attr("id", &help_id).text(dial.help()));
    moved.entry.with_message(group)
}

fn default_text(dial: &Dial) -> String {
    dial.default_value().map_or_else(|| strings::CATALOGUE.to_owned(), quantity::editable)
}

/// The track with its thumb.
fn track(dial: &'static Dial, moved: Moved, slider: Slider) -> El {
    let state = expect_context::<State>();
    let position = move || slider.position(moved.value.get().unwrap_or(slider.min));
    let default_at = dial.default_value().map(|value| share(slider.position(value)));
    let spoken = move || {
        let value = moved.value.get().map(quantity::editable).unwrap_or_default();
        strings::spoken_value(&value, dial.spoken_unit)
    };
    let on_input = move |event: ev::Event| {
        let Some(input) = browser::input_of(&event) else { return };
        let value = slider.snapped(slider.value_at(input.value_as_number() / STEPS));
        moved.put(value);
        // The thumb stands on the round value, even if that is the one it stood on before.
        input.set_value_as_number(slider.position(value) * STEPS);
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Delete" | "Backspace" => {
            event.prevent_default();
            moved.reset();
        }
        _ => {
            if let Some(value) = key_step(dial, moved.value.get_untracked(), &event) {
                event.prevent_default();
                moved.put(value);
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
        .attr("max", STEPS_TEXT)
        .attr("step", "any")
        .attr("aria-label", dial.label())
        .attr_of("aria-valuetext", spoken)
        .property_of("value", move || position() * STEPS)
        .on(ev::input, on_input)
        .on(ev::keydown, on_key)
        .on(ev::pointerdown, held)
        .on(ev::dblclick, move |_| moved.reset());
    el("div")
        .class("track")
        .style_of("--fill", move || share(position()))
        .child(default_at.map(|at| el("span").class("track-default").style("--at", &at)))
        .child(input)
}

/// A position between 0 and 1 as styles take it.
fn share(position: f64) -> String {
    quantity::plain((position * 1e4).round(), -4)
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
