//! Pickers for model and GPU: a button with the choice and its facts; a panel with a search field
//! and a listbox. Moving the highlight previews nothing.

use leptos::{ev, html, prelude::*};
use scenario::Scenario;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Node};

use crate::{
    icons::Icon,
    memo::{memo, text},
    names,
    state::State,
    strings,
};

/// Gap between the button and its panel, CSS px.
const GAP_PX: f64 = 4.0;
/// Height that the panel may take, CSS px.
const PANEL_PX: f64 = 480.0;

/// What a picker picks.
#[derive(Clone, Copy, Debug)]
struct Kind {
    id: &'static str,
    key: &'static str,
    search: &'static str,
    chosen: fn(&Scenario) -> &str,
    /// Rows for what was typed.
    rows: fn(&str) -> Vec<Row>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    slug: String,
    name: String,
    facts: String,
}

/// Picks the model.
#[component]
pub(crate) fn ModelPicker() -> impl IntoView {
    let kind = Kind {
        id: "model",
        key: "model",
        search: strings::SEARCH_MODELS,
        chosen: |scenario| &scenario.model,
        rows: |query| {
            let found = names::catalogue().map(|all| all.search_models(query)).unwrap_or_default();
            let row = |model: &catalog::Model| Row {
                slug: model.slug.clone(),
                name: model.name.clone(),
                facts: names::model_facts(model),
            };
            found.into_iter().map(row).collect()
        },
    };
    view! { <Picker kind /> }
}

/// Picks the GPU.
#[component]
pub(crate) fn GpuPicker() -> impl IntoView {
    let kind = Kind {
        id: "gpu",
        key: "gpu",
        search: strings::SEARCH_GPUS,
        chosen: |scenario| &scenario.gpu,
        rows: |query| {
            let found = names::catalogue().map(|all| all.search_gpus(query)).unwrap_or_default();
            let row = |gpu: &catalog::Gpu| Row {
                slug: gpu.slug.clone(),
                name: gpu.name.clone(),
                facts: names::gpu_facts(gpu),
            };
            found.into_iter().map(row).collect()
        },
    };
    view! { <Picker kind /> }
}

/// Where the panel is, in CSS px of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    left: f64,
    top: f64,
}

#[component]
fn Picker(kind: Kind) -> impl IntoView {
    let state = expect_context::<State>();
    let chosen = memo(move |_| state.current.with(|scenario| (kind.chosen)(scenario).to_owned()));
    let place = RwSignal::new(None::<Place>);
    let button = NodeRef::<html::Button>::new();
    let current = memo(move |_| {
        let slug = chosen.get();
        let row = (kind.rows)("").into_iter().find(|row| row.slug == slug);
        row.unwrap_or_else(|| Row { name: slug.clone(), slug, facts: String::new() })
    });
    let close = move || {
        place.set(None);
        if let Some(button) = button.get_untracked() {
            // The button is on the page for as long as its panel was.
            let _ = button.focus();
        }
    };
    let toggle = move |_| match (place.get_untracked(), button.get_untracked()) {
        (None, Some(button)) => place.set(Some(place_under(&button))),
        _ => close(),
    };
    view! {
        <div class="picker" id=format!("control-{}", kind.id)>
            <button
                type="button"
                class="picker-button"
                node_ref=button
                aria-haspopup="listbox"
                aria-expanded=text(move || place.get().is_some().to_string())
                on:click=toggle
            >
                <span class="hidden-but-read">{strings::picker_label(kind.key)}</span>
                <span class="picker-name">{text(move || current.get().name)}</span>
                <span class="picker-facts">{text(move || current.get().facts)}</span>
                {Icon::Down.view()}
            </button>
            {move || {
                place.get().map(|place| view! { <Panel kind place chosen close /> })
            }}
        </div>
    }
}

/// Under the button if there is room, else as far up as needed.
fn place_under(button: &HtmlElement) -> Place {
    let rect = button.get_bounding_client_rect();
    let window_height = window().inner_height().ok().and_then(|h| h.as_f64()).unwrap_or(PANEL_PX);
    let lowest = window_height - PANEL_PX - GAP_PX;
    let under = rect.bottom() + GAP_PX;
    let top = if under > lowest { lowest } else { under };
    Place { left: rect.left(), top: if top < GAP_PX { GAP_PX } else { top } }
}

#[component]
fn Panel<C>(kind: Kind, place: Place, chosen: Memo<String>, close: C) -> impl IntoView
where
    C: Fn() + Copy + Send + Sync + 'static,
{
    let state = expect_context::<State>();
    let query = RwSignal::new(String::new());
    let rows = memo(move |_| query.with(|query| (kind.rows)(query.trim())));
    let active = RwSignal::new(start_at(&rows.get_untracked(), &chosen.get_untracked()));
    let search = NodeRef::<html::Input>::new();
    let panel = NodeRef::<html::Div>::new();
    let list_id = format!("{}-list", kind.id);

    let pick = move |slug: String| {
        state.last_control.set("rate");
        state.apply(kind.key, &slug);
        close();
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let at = active.get_untracked();
        let to = match event.key().as_str() {
            "ArrowDown" => {
                if at < last {
                    at + 1
                } else {
                    0
                }
            }
            "ArrowUp" => {
                if at > 0 {
                    at - 1
                } else {
                    last
                }
            }
            "Home" => 0,
            "End" => last,
            "PageDown" => {
                if at + 6 < last {
                    at + 6
                } else {
                    last
                }
            }
            "PageUp" => at.saturating_sub(6),
            "Enter" => {
                event.prevent_default();
                let slug = rows.with_untracked(|rows| rows.get(at).map(|row| row.slug.clone()));
                slug.into_iter().for_each(pick);
                return;
            }
            "Escape" => {
                event.prevent_default();
                event.stop_propagation();
                close();
                return;
            }
            _ => return,
        };
        event.prevent_default();
        active.set(to);
        reveal(kind.id, to);
    };
    // Leaving for anything but the panel itself closes it without touching the focus.
    let on_leave = move |event: ev::FocusEvent| {
        let inside = event.related_target().and_then(|to| to.dyn_into::<Node>().ok());
        let stays = panel.get_untracked().is_some_and(|panel| panel.contains(inside.as_ref()));
        if !stays {
            close();
        }
    };
    Effect::new(move |_| {
        if let Some(search) = search.get() {
            // It has just been put on the page.
            let _ = search.focus();
            reveal(kind.id, active.get_untracked());
        }
    });
    let options = move || {
        let rows = rows.get();
        let fits = state.current.with_untracked(|now| fits_of(kind, now, &rows));
        let view = |(index, (row, fits)): (usize, (Row, bool))| {
            let slug = row.slug.clone();
            let is_chosen = chosen.get_untracked() == row.slug;
            view! {
                <li
                    class="picker-row"
                    role="option"
                    id=format!("{}-{index}", kind.id)
                    aria-selected=is_chosen.to_string()
                    data-active=text(move || (active.get() == index).to_string())
                    on:pointermove=move |_| active.set(index)
                    on:mousedown=|event| event.prevent_default()
                    on:click=move |_| pick(slug.clone())
                >
                    <span class="picker-name">{row.name}</span>
                    <span class="picker-fits" data-fits=fits.to_string()>
                        {if fits { strings::FITS } else { strings::DOES_NOT_FIT_SHORT }}
                    </span>
                    <span class="picker-facts">{row.facts}</span>
                </li>
            }
        };
        rows.into_iter().zip(fits).enumerate().map(view).collect_view()
    };
    let nothing = move || rows.with(Vec::is_empty);
    view! {
        <div
            class="picker-panel"
            node_ref=panel
            style:left=format!("{}px", place.left)
            style:top=format!("{}px", place.top)
            on:focusout=on_leave
        >
            <input
                class="picker-search"
                node_ref=search
                type="text"
                role="combobox"
                autocomplete="off"
                spellcheck="false"
                aria-label=kind.search
                placeholder=kind.search
                aria-expanded="true"
                aria-controls=list_id.clone()
                aria-activedescendant=move || {
                    let at = active.get();
                    rows.with(|rows| at < rows.len()).then(|| format!("{}-{at}", kind.id))
                }
                on:input:target=move |event| {
                    query.set(event.target().value());
                    active.set(0);
                }
                on:keydown=on_key
            />
            <ul class="picker-list" role="listbox" id=list_id aria-label=kind.search>
                {options}
            </ul>
            <Show when=nothing>
                <p class="picker-empty">{text(move || strings::nothing_found(&query.get()))}</p>
            </Show>
        </div>
    }
}

fn start_at(rows: &[Row], chosen: &str) -> usize {
    rows.iter().position(|row| row.slug == chosen).unwrap_or(0)
}

/// Whether each row would give a scenario that can be simulated.
fn fits_of(kind: Kind, now: &Scenario, rows: &[Row]) -> Vec<bool> {
    let fits = |row: &Row| {
        let mut scenario = now.clone();
        scenario.set(kind.key, &row.slug).is_ok() && scenario.resolve().is_ok()
    };
    rows.iter().map(fits).collect()
}

/// Scrolls a row into view.
fn reveal(id: &str, index: usize) {
    if let Some(row) = document().get_element_by_id(&format!("{id}-{index}")) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        row.scroll_into_view_with_scroll_into_view_options(&options);
    }
}
