//! What stands around the view: top bar, side panel, notices, toast.

use std::time::Duration;

use leptos::{ev, html, prelude::*};

use crate::{
    app::Layout,
    browser,
    dom::{El, el},
    icons::{Icon, mark},
    memo::{flag, text, when},
    state::{Sheet, State},
    strings,
    theme::{Choice, ThemeState},
    url_state,
    views::plan::SettingsPanel,
};

/// How long a toast stays.
const TOAST_MS: u64 = 4_000;
/// A move of the grip shorter than this is a tap, CSS px.
const TAP_PX: f64 = 6.0;
/// Height of the sheet at its lowest stop, CSS px.
const PEEK_PX: f64 = 112.0;
/// What the sheet leaves free at its highest stop, CSS px.
const FULL_GAP_PX: f64 = 48.0;

/// Mark, view, and the actions on the whole scenario.
#[component]
pub(crate) fn TopBar() -> impl IntoView {
    let state = expect_context::<State>();
    let theme = expect_context::<ThemeState>();
    let can_undo = move || state.steps.with(|steps| steps.can_undo());
    let can_redo = move || state.steps.with(|steps| steps.can_redo());
    let here = move || format!("#{}", state.current.with(scenario::Scenario::to_link));
    let copy = move |_| {
        let link = url_state::link_to(&state.scenario.get_untracked());
        let characters = link.chars().count();
        browser::copy(&link, move |worked| {
            let said = if worked {
                strings::link_copied(characters)
            } else {
                strings::COPY_FAILED.to_owned()
            };
            state.toast.set(Some(said));
        });
    };
    view! {
        <header class="bar">
            <button
                type="button"
                class="button button-quiet only-narrow"
                aria-label=strings::SETTINGS
                aria-controls="settings"
                aria-expanded=text(move || (state.sheet.get() != Sheet::Peek).to_string())
                on:click=move |_| {
                    state.sheet.update(|sheet| {
                        *sheet = if *sheet == Sheet::Peek { Sheet::Half } else { Sheet::Peek };
                    });
                }
            >
                {Icon::Settings.view()}
            </button>
            <span class="brand">{mark()} {strings::NAME}</span>
            <nav class="views" aria-label=strings::VIEWS>
                <a href=here aria-current="page" on:click=|event| event.prevent_default()>
                    {strings::PLAN}
                </a>
            </nav>
            <span class="bar-space"></span>
            <button
                type="button"
                class="button button-quiet"
                aria-label=strings::UNDO
                title=strings::UNDO
                disabled=flag(move || !can_undo())
                on:click=move |_| state.step(true)
            >
                {Icon::Undo.view()}
            </button>
            <button
                type="button"
                class="button button-quiet"
                aria-label=strings::REDO
                title=strings::REDO
                disabled=flag(move || !can_redo())
                on:click=move |_| state.step(false)
            >
                {Icon::Redo.view()}
            </button>
            <button
                type="button"
                class="button button-filled"
                aria-label=strings::COPY_LINK
                on:click=copy
            >
                {Icon::Link.view()}
                <span class="bar-label">{strings::COPY_LINK}</span>
            </button>
            <button
                type="button"
                class="button button-quiet"
                aria-label=move || strings::theme_is(theme_name(theme.choice.get()))
                title=move || strings::theme_is(theme_name(theme.choice.get()))
                on:click=move |_| theme.switch()
            >
                {move || theme_icon(theme.choice.get()).view()}
            </button>
        </header>
    }
}

fn theme_name(choice: Choice) -> &'static str {
    match choice {
        Choice::System => strings::THEME_SYSTEM,
        Choice::Light => strings::THEME_LIGHT,
        Choice::Dark => strings::THEME_DARK,
    }
}

fn theme_icon(choice: Choice) -> Icon {
    match choice {
        Choice::System => Icon::System,
        Choice::Light => Icon::Sun,
        Choice::Dark => Icon::Moon,
    }
}

/// The controls: beside the answer, in a drawer, or in a sheet.
#[component]
pub(crate) fn SidePanel() -> impl IntoView {
    let state = expect_context::<State>();
    let layout = expect_context::<Layout>();
    let side = NodeRef::<html::Aside>::new();
    let engine_open = !layout.is_narrow.get_untracked();
    let is_open = move || state.sheet.get() != Sheet::Peek;
    let stop = move || match state.sheet.get() {
        Sheet::Peek => "peek",
        Sheet::Half => "half",
        Sheet::Full => "full",
    };
    // A closed drawer takes no focus; an open one begins with it.
    Effect::new(move |before: Option<bool>| {
        let open = is_open() && layout.is_narrow.get() && !layout.is_phone.get();
        if open && before == Some(false) {
            focus_first(side);
        }
        open
    });
    let toggle = move |_| {
        state.sheet.set(if is_open() { Sheet::Peek } else { Sheet::Full });
    };
    view! {
        <aside
            class="side"
            id="settings"
            aria-label=strings::SETTINGS
            node_ref=side
            data-open=text(move || is_open().to_string())
            data-stop=stop
        >
            <Grip side />
            <SettingsPanel engine_open />
            <div class="sheet-foot">
                <button type="button" aria-expanded=move || is_open().to_string() on:click=toggle>
                    {move || if is_open() { strings::FEWER_SETTINGS } else { strings::ALL_SETTINGS }}
                </button>
                <span>{strings::SETTINGS_COUNT}</span>
            </div>
        </aside>
    }
}

fn focus_first(side: NodeRef<html::Aside>) {
    let first = side
        .get_untracked()
        .and_then(|side| side.query_selector(".controls button").ok().flatten());
    if let Some(first) = first {
        browser::focus(&first);
    }
}

/// The sheet's grip: drag it to a stop, or tap it to go to the next.
#[component]
fn Grip(side: NodeRef<html::Aside>) -> impl IntoView {
    let state = expect_context::<State>();
    let from = StoredValue::new(None::<(f64, f64)>);
    let down = move |event: ev::PointerEvent| {
        let Some(side) = side.get_untracked() else { return };
        from.set_value(Some((f64::from(event.client_y()), f64::from(side.client_height()))));
        browser::capture(&event);
        let _ = side.set_attribute("data-dragging", "true");
    };
    let drag = move |event: ev::PointerEvent| {
        let (Some(side), Some((y, height))) = (side.get_untracked(), from.get_value()) else {
            return;
        };
        let height = height + y - f64::from(event.client_y());
        browser::set_style(&side, "height", &format!("{height:.0}px"));
    };
    let up = move |event: ev::PointerEvent| {
        let (Some(side), Some((y, height))) = (side.get_untracked(), from.get_value()) else {
            return;
        };
        from.set_value(None);
        let _ = side.remove_attribute("data-dragging");
        browser::set_style(&side, "height", "");
        let moved = y - f64::from(event.client_y());
        if moved.abs() >= TAP_PX {
            state.sheet.set(nearest_stop(height + moved));
        } else {
            state.sheet.update(next_stop);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if matches!(event.key().as_str(), "Enter" | " ") {
            event.prevent_default();
            state.sheet.update(next_stop);
        }
    };
    view! {
        <button
            type="button"
            class="sheet-grip"
            aria-label=strings::RESIZE_SETTINGS
            on:pointerdown=down
            on:pointermove=drag
            on:pointerup=up
            on:pointercancel=up
            on:keydown=on_key
        ></button>
    }
}

fn next_stop(sheet: &mut Sheet) {
    *sheet = match sheet {
        Sheet::Peek => Sheet::Half,
        Sheet::Half => Sheet::Full,
        Sheet::Full => Sheet::Peek,
    };
}

fn nearest_stop(height: f64) -> Sheet {
    let window = window().inner_height().ok().and_then(|h| h.as_f64()).unwrap_or(844.0);
    let stops =
        [(Sheet::Peek, PEEK_PX), (Sheet::Half, window / 2.0), (Sheet::Full, window - FULL_GAP_PX)];
    let distance = |stop: &(Sheet, f64)| (stop.1 - height).abs();
    stops
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .map_or(Sheet::Peek, |(sheet, _)| *sheet)
}

/// One line above the answer about what an opened link held.
#[component]
pub(crate) fn NoticeLine() -> impl IntoView {
    let state = expect_context::<State>();
    let shown = RwSignal::new(false);
    let lines = move || {
        state.notices.with(|notices| {
            notices.iter().map(|notice| view! { <li>{strings::notice(notice)}</li> }).collect_view()
        })
    };
    view! {
        <Show when=when(move || state.notices.with(|notices| !notices.is_empty()))>
            <div class="notice" role="status">
                <p>{move || strings::notices(state.notices.with(Vec::len))}</p>
                <button
                    type="button"
                    class="button-text"
                    aria-expanded=text(move || shown.get().to_string())
                    on:click=move |_| shown.update(|shown| *shown = !*shown)
                >
                    {move || if shown.get() { strings::HIDE } else { strings::SHOW }}
                </button>
                <button
                    type="button"
                    class="button-text"
                    on:click=move |_| state.notices.set(Vec::new())
                >
                    {strings::DISMISS}
                </button>
                <ul hidden=move || !shown.get()>{lines}</ul>
            </div>
        </Show>
    }
}

/// One line that goes away by itself, unless it is being read.
pub(crate) fn toast() -> El {
    let state = expect_context::<State>();
    let timer = StoredValue::new(None::<TimeoutHandle>);
    let stop = move || {
        if let Some(handle) = timer.try_update_value(Option::take).flatten() {
            handle.clear();
        }
    };
    let start = move || {
        stop();
        let wait = Duration::from_millis(TOAST_MS);
        timer.set_value(set_timeout_with_handle(move || state.toast.set(None), wait).ok());
    };
    Effect::new(move |_| {
        if state.toast.with(Option::is_some) {
            start();
        }
    });
    el("div").attr("role", "status").attr("aria-live", "polite").region(move || {
        state.toast.get().map(|text| {
            el("p")
                .class("toast")
                .on(ev::pointerenter, move |_| stop())
                .on(ev::pointerleave, move |_| start())
                .text(&text)
        })
    })
}
