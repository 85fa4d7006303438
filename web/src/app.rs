//! The page as a whole: state, layout, and the keys that work everywhere.

use leptos::{ev, prelude::*};
use scenario::Parsed;
use web_sys::Element;

use crate::{
    browser,
    dom::{El, el, in_body},
    kept::Kept,
    keys::{self, KeySheet},
    late::{self, LatePart},
    shell::{side_panel, toast, top_bar, with_notice_line},
    state::{Sheet, State, View},
    strings,
    theme::{ThemeState, media_signal},
    url_state,
    views::{
        calibrate::calibrate,
        compare::compare,
        fleet::fleet,
        know::know,
        plan::{ANSWER_ID, announcer, plan},
    },
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

/// Builds the page into the document's body: at once, or where its link names what is in the late part,
/// when that is there.
pub(crate) fn app() {
    let late = LatePart::new();
    let link = url_state::fragment();
    if !scenario::link_wants_wide_catalogue(&link) {
        build(late, &link);
        return;
    }
    let owner = Owner::current();
    late.before(Box::new(move || {
        owner.unwrap_or_default().with(|| build(late, &link));
    }));
}

fn build(late: LatePart, link: &str) {
    let kept = Kept::new();
    let Parsed { scenario, notices } = url_state::opened(link, kept);
    let shown = (View::of_link(link), url_state::words_of(link));
    let state = State::new(scenario, shown, notices, kept, late);
    let layout = Layout {
        is_phone: media_signal("(max-width: 599px)"),
        is_narrow: media_signal("(max-width: 899px)"),
    };
    provide_context(state);
    provide_context(layout);
    provide_context(ThemeState::new());
    state.simulate();
    state.watch_cautions();
    url_state::follow(state);
    let keys = KeySheet::new();
    keys::listen(state, &keys);

    in_body([skip_link(), page(state, layout), keys.el(), toast(), announcer()]);
}

/// For those who come by keyboard.
fn skip_link() -> El {
    let skip = |event: ev::MouseEvent| {
        event.prevent_default();
        if let Some(answer) = document().get_element_by_id("answer") {
            browser::focus(&answer);
        }
    };
    el("button").attr("type", "button").class("skip").on(ev::click, skip).text(strings::SKIP)
}

fn page(state: State, layout: Layout) -> El {
    let drawer_is_open = move || {
        layout.is_narrow.get() && !layout.is_phone.get() && state.sheet.get() != Sheet::Peek
    };
    let scrim = el("div")
        .class("scrim")
        .truth_of("data-open", drawer_is_open)
        .on(ev::click, move |_| state.sheet.set(Sheet::Peek));
    let main = el("main").class("main").flag_of("inert", drawer_is_open);
    let condensed = follow_scrolling(&main);
    let column: Element = main.node::<Element>().clone();
    let view = move || {
        column.set_scroll_top(0);
        match state.view.get() {
            View::Plan => plan(condensed),
            View::Fleet => {
                let instead = |text: &str, action| late::card(ANSWER_ID, text, action);
                state.late.view(strings::VIEW_NOT_LOADED, instead, || fleet(state, condensed))
            }
            View::Compare => {
                let instead = |text: &str, action| late::card(ANSWER_ID, text, action);
                state.late.view(strings::VIEW_NOT_LOADED, instead, || compare(state))
            }
            View::Calibrate => {
                let instead = |text: &str, action| late::card(ANSWER_ID, text, action);
                state.late.view(strings::VIEW_NOT_LOADED, instead, || calibrate(state))
            }
            View::Know => {
                let instead = |text: &str, action| late::card(ANSWER_ID, text, action);
                state.late.view(strings::VIEW_NOT_LOADED, instead, || know(state))
            }
        }
    };
    let inner = with_notice_line(el("div").class("main-inner")).region(view);
    let name = move || match state.view.get() {
        View::Plan => "plan",
        other => other.name(),
    };
    el("div").class("page").attr_of("data-view", name).child([
        top_bar(),
        side_panel(),
        scrim,
        main.child(inner),
    ])
}

/// Whether the answer has been scrolled out of its place, in the main column or with the page.
fn follow_scrolling(main: &El) -> Signal<bool> {
    let condensed = RwSignal::new(false);
    let element: Element = main.node::<Element>().clone();
    let on_scroll = move || {
        let inner = f64::from(element.scroll_top());
        let outer = window().scroll_y().unwrap_or(0.0);
        let now = inner + outer > CONDENSE_PX;
        if condensed.get_untracked() != now {
            condensed.set(now);
        }
    };
    let _ = main.clone().on(ev::scroll, {
        let on_scroll = on_scroll.clone();
        move |_| on_scroll()
    });
    window_event_listener(ev::scroll, move |_| on_scroll());
    condensed.into()
}
