//! A choice of few: real radios, drawn as one box.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{Notice, Scenario};

use crate::memo::{memo, text};
use crate::state::State;

/// Tells the value in force. Boxed, so that the component is compiled once.
pub(crate) type Current = Box<dyn Fn(&Scenario) -> String + Send + Sync>;
/// Takes a value in.
pub(crate) type Put = Rc<dyn Fn(&mut Scenario, &str) -> Result<Vec<Notice>, Notice>>;

/// Radios for a setting. `options` are labels and values; `current` tells the value in force.
#[component]
pub(crate) fn Choice(
    /// Unique in the page.
    id: &'static str,
    /// What is chosen.
    label: &'static str,
    /// Labels and values.
    options: Vec<(String, String)>,
    /// The value in force.
    current: Current,
    /// Takes a value in.
    put: Put,
    /// Whether the box has a row of its own.
    #[prop(optional)]
    wide: bool,
) -> impl IntoView {
    let state = expect_context::<State>();
    let chosen = memo(move |_| state.current.with(|scenario| current(scenario)));
    let radios = options
        .into_iter()
        .map(move |(text, value)| {
            let wanted = value.clone();
            let put = Rc::clone(&put);
            let on_change = move |_| {
                state.last_control.set(id);
                let mut scenario = state.scenario.get_untracked();
                if put(&mut scenario, &wanted).is_ok() {
                    state.scenario.set(scenario);
                }
            };
            view! {
                <label>
                    <input
                        type="radio"
                        name=id
                        prop:checked={
                            let value = value.clone();
                            move || chosen.get() == value
                        }
                        value=value
                        on:change=on_change
                    />
                    {text}
                </label>
            }
        })
        .collect_view();
    view! {
        <fieldset
            class="control"
            id=format!("control-{id}")
            data-last=text(move || (state.last_control.get() == id).to_string())
        >
            <legend class="hidden-but-read">{label}</legend>
            <span class="control-label" aria-hidden="true">
                {label}
            </span>
            <div class="segments" class:segments-wide=wide>
                {radios}
            </div>
        </fieldset>
    }
}
