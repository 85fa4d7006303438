//! The right side of the answer card: facts, changes that work, or a way out of a stop.

use leptos::prelude::*;

use super::card::{Change, Fact, Right};
use crate::{browser, state::State, strings};

/// Characters beyond which a value is set smaller.
const LONG_VALUE: usize = 11;

/// Whatever stands there.
pub(crate) fn right_view(state: State, right: Right) -> AnyView {
    match right {
        Right::Facts { facts, are_stale } => facts_view(*facts, are_stale).into_any(),
        Right::Remedies(changes) => remedies_view(state, changes).into_any(),
        Right::Restart { message, waits } => restart_view(state, message, waits).into_any(),
    }
}

fn facts_view(facts: [Fact; 4], are_stale: bool) -> impl IntoView {
    let facts = facts
        .into_iter()
        .map(|fact| {
            let Fact { label, value, line, second, second_line } = fact;
            let is_long = value.chars().count() > LONG_VALUE;
            view! {
                <div class="fact">
                    <p class="fact-label">{label}</p>
                    <p class="fact-value" class:fact-value-long=is_long class:stale=are_stale>
                        {value}
                    </p>
                    {line_view(line)}
                    <p class="fact-second" class:stale=are_stale>
                        {second}
                    </p>
                    {line_view(second_line)}
                </div>
            }
        })
        .collect_view();
    view! { <div class="facts">{facts}</div> }
}

/// One text for each width: the end of a text that grows would move what follows it.
fn line_view((full, short): (String, String)) -> impl IntoView {
    let title = full.clone();
    view! {
        <p class="fact-line" title=title>
            <span class="wide-only">{full}</span>
            <span class="narrow-only">{short}</span>
        </p>
    }
}

fn remedies_view(state: State, changes: Vec<Change>) -> impl IntoView {
    let rows = changes
        .into_iter()
        .map(|change| {
            let Change { key, value, effect } = change;
            let name = strings::remedy(&key, &value);
            let apply_name = strings::apply_change(&name);
            let (name_title, effect_title) = (name.clone(), effect.clone());
            view! {
                <li class="remedy">
                    <span class="remedy-name" title=name_title>
                        {name}
                    </span>
                    <span class="remedy-effect" title=effect_title>
                        {effect}
                    </span>
                    <button
                        type="button"
                        class="button button-small"
                        aria-label=apply_name
                        on:click=move |_| state.apply(&key, &value)
                    >
                        {strings::APPLY}
                    </button>
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="remedies">
            <p class="remedies-title">{strings::SMALLEST_CHANGES}</p>
            <ul>{rows}</ul>
        </div>
    }
}

fn restart_view(state: State, message: String, waits: bool) -> impl IntoView {
    let note = if waits { strings::STOPPED_TWICE } else { strings::RESTARTING };
    let copy = move |_| {
        let link = crate::url_state::link_to(&state.scenario.get_untracked());
        browser::copy(&strings::details(&message, &link), move |worked| {
            let text = if worked { strings::DETAILS_COPIED } else { strings::COPY_FAILED };
            state.toast.set(Some(text.to_owned()));
        });
    };
    view! {
        <div class="restart">
            <button type="button" class="button button-filled" on:click=move |_| state.start_again()>
                {strings::START_AGAIN}
            </button>
            <button type="button" class="button" on:click=move |_| state.use_fewer_runs()>
                {strings::FEWER_RUNS}
            </button>
            <button type="button" class="button" on:click=copy>
                {strings::COPY_DETAILS}
            </button>
            <p class="restart-note">{note}</p>
        </div>
    }
}
