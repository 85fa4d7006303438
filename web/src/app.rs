//! The page as a whole: state, layout, and the keys that work everywhere.

use leptos::{ev, html, prelude::*};
use scenario::Scenario;
use wasm_bindgen::JsCast;

use crate::{
    browser,
    dom::mounted,
    memo::text,
    shell::{NoticeLine, SidePanel, TopBar, toast},
    state::{Sheet, State},
    strings,
    theme::{ThemeState, media_signal},
    url_state,
    views::plan::{announcer, plan},
};

/// Scrolling further than this condenses the answer card, CSS px.
const CONDENSE_PX: f64 = 40.0;

/// Which shape the page has.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// Under 600 px: the controls are a sheet.
    pub(crate) is_phone: RwSignal<bool>,
    /// Under 900 px: the controls are a drawer, or a sheet.
    pub(crate) is_narrow: RwSignal<bool>,
}

/// The page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let parsed = Scenario::from_link(&url_state::fragment());
    let state = State::new(parsed.scenario, parsed.notices);
    let layout = Layout {
        is_phone: media_signal("(max-width: 599px)"),
        is_narrow: media_signal("(max-width: 899px)"),
    };
    provide_context(state);
    provide_context(layout);
    provide_context(ThemeState::new());
    state.simulate();
    url_state::follow(state);
    listen_to_keys(state);

    let main = NodeRef::<html::Main>::new();
    let condensed = RwSignal::new(false);
    let on_scroll = move || {
        let inner = main.get_untracked().map_or(0.0, |main| f64::from(main.scroll_top()));
        let outer = window().scroll_y().unwrap_or(0.0);
        let now = inner + outer > CONDENSE_PX;
        if condensed.get_untracked() != now {
            condensed.set(now);
        }
    };
    window_event_listener(ev::scroll, move |_| on_scroll());
    let skip = move |event: ev::MouseEvent| {
        event.prevent_default();
        if let Some(answer) = document().get_element_by_id("answer") {
            browser::focus(&answer);
        }
    };
    let drawer_is_open = move || {
        layout.is_narrow.get() && !layout.is_phone.get() && state.sheet.get() != Sheet::Peek
    };
    view! {
        <button type="button" class="skip" on:click=skip>
            {strings::SKIP}
        </button>
        <div class="page">
            <TopBar />
            <SidePanel />
            <div
                class="scrim"
                data-open=text(move || drawer_is_open().to_string())
                on:click=move |_| state.sheet.set(Sheet::Peek)
            ></div>
            <main
                class="main"
                node_ref=main
                inert=drawer_is_open
                on:scroll=move |_| on_scroll()
            >
                <div class="main-inner">
                    <NoticeLine />
                    {mounted(move || plan(condensed.into()))}
                </div>
            </main>
        </div>
        {mounted(toast)}
        {mounted(announcer)}
    }
}

/// Undo, redo, and Escape for a run or an open drawer.
fn listen_to_keys(state: State) {
    window_event_listener(ev::keydown, move |event| {
        let types = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok())
            .is_some_and(|input| input.type_() == "text");
        let command = event.ctrl_key() || event.meta_key();
        match event.key().as_str() {
            "z" | "Z" if command && !types => {
                event.prevent_default();
                state.step(!event.shift_key());
            }
            "y" if command && !types => {
                event.prevent_default();
                state.step(false);
            }
            "Escape" if !event.default_prevented() => {
                if state.sheet.get_untracked() == Sheet::Peek {
                    state.stop();
                } else {
                    state.sheet.set(Sheet::Peek);
                }
            }
            _ => {}
        }
    });
}
