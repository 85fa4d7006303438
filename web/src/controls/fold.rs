//! A group of controls that folds. Which are open is a matter of this page, never of a link.

use leptos::prelude::*;

use crate::{
    icons::Icon,
    memo::{flag, memo, text, when},
    state::State,
};

/// A folded group; the row says what is in force.
#[component]
pub(crate) fn Fold(
    /// Unique in the page.
    id: &'static str,
    /// Name of the group.
    name: &'static str,
    /// What is in force, in a few words.
    summary: fn(&scenario::Scenario) -> String,
    /// Whether something in it was changed.
    changed: Memo<bool>,
    /// Whether it begins open.
    #[prop(optional)]
    open: bool,
    children: Children,
) -> impl IntoView {
    let state = expect_context::<State>();
    let is_open = RwSignal::new(open);
    let summary = memo(move |_| state.current.with(summary));
    let body_id = format!("fold-{id}");
    view! {
        <div class="fold">
            <button
                type="button"
                class="fold-button"
                aria-expanded=text(move || is_open.get().to_string())
                aria-controls=body_id.clone()
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                {Icon::Right.view()}
                <Show when=when(move || changed.get())>
                    <span class="changed-dot"></span>
                </Show>
                <span class="fold-name">{name}</span>
                <span class="fold-summary">{text(move || summary.get())}</span>
            </button>
            <div class="fold-body" id=body_id hidden=flag(move || !is_open.get())>
                {children()}
            </div>
        </div>
    }
}
