//! What stands around the view: top bar, side panel, notices, toast.

use std::{cell::Cell, rc::Rc, time::Duration};

use leptos::{ev, prelude::*};
use scenario::Notice;
use web_sys::{Element, PointerEvent};

use crate::{
    app::Layout,
    browser,
    dom::{El, el},
    icons::{Icon, mark},
    keys,
    late::note,
    memo::{effect, memo},
    recording::recording_in,
    state::{Sheet, State, View},
    strings,
    theme::{Choice, ThemeState},
    url_state,
    views::{
        compare, export, fleet,
        plan::{ANSWER_ID, settings_panel},
    },
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
pub(crate) fn top_bar() -> El {
    let state = expect_context::<State>();
    let views = el("nav").class("views").attr("aria-label", strings::VIEWS).child([
        view_link(state, View::Plan, strings::PLAN),
        view_link(state, View::Fleet, strings::FLEET),
        view_link(state, View::Compare, strings::COMPARE),
        view_link(state, View::Calibrate, strings::CALIBRATE),
        el("span").class("views-line").attr("aria-hidden", "true"),
        view_link(state, View::Know, strings::KNOW),
    ]);
    el("header").class("bar").child([
        drawer_button(state),
        el("span").class("brand").child(mark()).text(strings::NAME),
        views,
        el("span").class("bar-space"),
        quiet_button(strings::UNDO, Icon::Undo)
            .flag_of("disabled", move || !state.steps.with(|steps| steps.can_undo()))
            .on(ev::click, move |_| state.step(true)),
        quiet_button(strings::REDO, Icon::Redo)
            .flag_of("disabled", move || !state.steps.with(|steps| steps.can_redo()))
            .on(ev::click, move |_| state.step(false)),
        labelled_button(Icon::Pin, strings::PIN, strings::UNPIN, state)
            .on(ev::click, move |_| pin(state)),
        labelled_button(Icon::Export, strings::EXPORT, strings::EXPORT, state)
            .attr("aria-haspopup", "dialog")
            .on(ev::click, move |_| export(state)),
        button("button button-filled")
            .attr("aria-label", strings::COPY_LINK)
            .on(ev::click, move |_| copy_link(state))
            .child([Icon::Link.el(), el("span").class("bar-label").text(strings::COPY_LINK)]),
        key_button(),
        theme_button(),
    ])
}

/// A link to another view of the same scenario; a plain click stays on the page.
fn view_link(state: State, view: View, name: &str) -> El {
    let address = move || {
        let link = state.current.with(|scenario| view.link(scenario));
        ["#", &link, &state.words.get()].concat()
    };
    let is_here = move || (state.view.get() == view).then_some("page");
    let go = move |event: ev::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        state.show(view);
    };
    el("a")
        .attr_of("href", address)
        .attr_maybe("aria-current", is_here)
        .on(ev::click, go)
        .text(name)
}

fn button(class: &str) -> El {
    el("button").attr("type", "button").class(class)
}

/// A button that shows only its icon.
fn quiet_button(name: &str, icon: Icon) -> El {
    button("button button-quiet").attr("aria-label", name).attr("title", name).child(icon.el())
}

/// A button whose name is hidden where there is little room, and is another one while a scenario is
/// pinned.
fn labelled_button(icon: Icon, name: &'static str, pinned: &'static str, state: State) -> El {
    let name = move || if state.is_pinned() { pinned } else { name };
    button("button bar-button")
        .attr_of("aria-label", name)
        .attr_of("title", name)
        .child([icon.el(), el("span").class("bar-name").text_of(name)])
}

/// Pins the scenario, or unpins the one that is.
pub(crate) fn pin(state: State) {
    state.late.before(Box::new(move || compare::pin(state)));
}

/// Makes the pinned scenario the one that is edited, and the other way round.
pub(crate) fn swap(state: State) {
    if state.is_pinned() {
        state.late.before(Box::new(move || compare::swap(state)));
    }
}

/// Opens what can be taken away.
pub(crate) fn export(state: State) {
    state.late.before(Box::new(move || export::open(state)));
}

/// Opens the list of keys; a phone has none.
fn key_button() -> El {
    quiet_button(strings::KEYS, Icon::Keys)
        .class("button button-quiet key-button")
        .attr("aria-haspopup", "dialog")
        .on(ev::click, |_| keys::open())
}

fn drawer_button(state: State) -> El {
    let toggle = move |_| {
        state.sheet.update(|sheet| {
            *sheet = if *sheet == Sheet::Peek { Sheet::Half } else { Sheet::Peek };
        });
    };
    button("button button-quiet only-narrow")
        .attr("aria-label", strings::SETTINGS)
        .attr("aria-controls", "settings")
        .truth_of("aria-expanded", move || state.sheet.get() != Sheet::Peek)
        .on(ev::click, toggle)
        .child(Icon::Settings.el())
}

/// Copies the link to the scenario and says so.
pub(crate) fn copy_link(state: State) {
    let requests =
        state.recording.with_untracked(|kept| recording_in(kept).map(|taken| taken.requests));
    if let Some(requests) = requests {
        let said = Some(strings::too_big_for_link(requests));
        state.offer.set(said.clone());
        state.toast.set(said);
        return;
    }
    let link = url_state::link_to(state, state.view.get_untracked());
    let characters = link.chars().count();
    browser::copy(&link, move |worked| {
        let said =
            if worked { strings::link_copied(characters) } else { strings::COPY_FAILED.to_owned() };
        state.toast.set(Some(said));
    });
}

fn theme_button() -> El {
    let theme = expect_context::<ThemeState>();
    let name = move || strings::theme_is(theme_name(theme.choice.get()));
    button("button button-quiet")
        .attr_of("aria-label", name)
        .attr_of("title", name)
        .on(ev::click, move |_| theme.switch())
        .region(move || theme_icon(theme.choice.get()).el())
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
pub(crate) fn side_panel() -> El {
    let state = expect_context::<State>();
    let layout = expect_context::<Layout>();
    let engine_open = !layout.is_narrow.get_untracked();
    let is_open = move || state.sheet.get() != Sheet::Peek;
    let stop = move || match state.sheet.get() {
        Sheet::Peek => "peek",
        Sheet::Half => "half",
        Sheet::Full => "full",
    };
    let side = el("aside")
        .class("side")
        .attr("id", "settings")
        .attr("aria-label", strings::SETTINGS)
        .truth_of("data-open", is_open)
        .attr_of("data-stop", stop);
    // A closed drawer takes no focus; an open one begins with it.
    effect({
        let side = side.clone();
        let was_open = Cell::new(true);
        move || {
            let open = is_open() && layout.is_narrow.get() && !layout.is_phone.get();
            if !was_open.replace(open) && open {
                focus_first(side.node());
            }
        }
    });
    let grip = grip(&side, state);
    let is_fleet = memo(move |_| state.view.get() == View::Fleet);
    let panel = move || {
        if !is_fleet.get() {
            return settings_panel(engine_open).into();
        }
        state.late.view(strings::SETTINGS_NOT_LOADED, note, || fleet::settings(state))
    };
    let panel = el("div").class("side-panel").region(panel);
    side.child([grip, panel, sheet_foot(state, is_fleet)])
}

fn focus_first(side: &Element) {
    if let Some(first) = side.query_selector(".controls button").ok().flatten() {
        browser::focus(&first);
    }
}

fn sheet_foot(state: State, is_fleet: Memo<bool>) -> El {
    let is_open = move || state.sheet.get() != Sheet::Peek;
    let toggle = move |_| {
        let is_open = state.sheet.get_untracked() != Sheet::Peek;
        state.sheet.set(if is_open { Sheet::Peek } else { Sheet::Full });
    };
    let button = el("button")
        .attr("type", "button")
        .truth_of("aria-expanded", is_open)
        .on(ev::click, toggle)
        .text_of(move || if is_open() { strings::FEWER_SETTINGS } else { strings::ALL_SETTINGS });
    el("div").class("sheet-foot").child([
        button,
        el("span").text_of(move || {
            if is_fleet.get() { strings::FLEET_SETTINGS_COUNT } else { strings::SETTINGS_COUNT }
        }),
    ])
}

/// The sheet's grip: drag it to a stop, or tap it to go to the next.
fn grip(side: &El, state: State) -> El {
    let held = Rc::new(Held { side: side.clone(), from: Cell::new(None) });
    let hold = {
        let held = Rc::clone(&held);
        move |event: PointerEvent| held.begin(&event)
    };
    let drag = {
        let held = Rc::clone(&held);
        move |event: PointerEvent| held.follow(&event)
    };
    let let_go = {
        let held = Rc::clone(&held);
        move |event: PointerEvent| held.end(&event, state)
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if matches!(event.key().as_str(), "Enter" | " ") {
            event.prevent_default();
            state.sheet.update(next_stop);
        }
    };
    el("button")
        .attr("type", "button")
        .class("sheet-grip")
        .attr("aria-label", strings::RESIZE_SETTINGS)
        .on(ev::pointerdown, hold)
        .on(ev::pointermove, drag)
        .on(ev::pointerup, let_go.clone())
        .on(ev::pointercancel, let_go)
        .on(ev::keydown, on_key)
}

/// The sheet under a pointer.
struct Held {
    side: El,
    /// Where the pointer took hold, and the sheet's height then, CSS px.
    from: Cell<Option<(f64, f64)>>,
}

impl Held {
    fn begin(&self, event: &PointerEvent) {
        let side: &Element = self.side.node();
        self.from.set(Some((f64::from(event.client_y()), f64::from(side.client_height()))));
        browser::capture(event);
        let _ = side.set_attribute("data-dragging", "true");
    }

    fn follow(&self, event: &PointerEvent) {
        let Some((y, height)) = self.from.get() else { return };
        let height = height + y - f64::from(event.client_y());
        browser::set_style(self.side.node(), "height", &browser::px(height.round()));
    }

    fn end(&self, event: &PointerEvent, state: State) {
        let Some((y, height)) = self.from.take() else { return };
        let side: &Element = self.side.node();
        let _ = side.remove_attribute("data-dragging");
        browser::set_style(side, "height", "");
        let moved = y - f64::from(event.client_y());
        if moved.abs() >= TAP_PX {
            state.sheet.set(nearest_stop(height + moved));
        } else {
            state.sheet.update(next_stop);
        }
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

/// One line above the answer about what an opened link held, while it has something to say.
pub(crate) fn with_notice_line(within: El) -> El {
    let state = expect_context::<State>();
    let shown = RwSignal::new(false);
    let is_told = |notices: RwSignal<Vec<Notice>>| move || notices.with(|told| !told.is_empty());
    within
        .when(is_told(state.notices), move || notice_line(state, shown))
        .when(is_told(state.cautions), move || caution_line(state))
}

/// What has to be said of the settings in force, in full.
fn caution_line(state: State) -> El {
    el("div").class("notice cautions").attr("role", "status").child([
        el("ul").region(move || lines(state.cautions)),
        el("div").class("notice-actions").child(dismiss(state, state.cautions)),
    ])
}

fn lines(notices: RwSignal<Vec<Notice>>) -> Vec<El> {
    let line = |notice: &Notice| el("li").text(&strings::notice(notice));
    notices.with(|notices| notices.iter().map(line).collect())
}

fn dismiss(state: State, notices: RwSignal<Vec<Notice>>) -> El {
    button("button-text")
        .on(ev::click, move |_| {
            notices.set(Vec::new());
            if notices == state.cautions {
                state.forget_lost_recording();
            }
            browser::catch_focus(ANSWER_ID);
        })
        .text(strings::DISMISS)
}

fn notice_line(state: State, shown: RwSignal<bool>) -> El {
    let show = button("button-text")
        .truth_of("aria-expanded", move || shown.get())
        .on(ev::click, move |_| shown.update(|shown| *shown = !*shown))
        .text_of(move || if shown.get() { strings::HIDE } else { strings::SHOW });
    el("div").class("notice").attr("role", "status").child([
        el("p").text_of(move || strings::notices(state.notices.with(Vec::len))),
        // The two stay together on whichever line there is room.
        el("div").class("notice-actions").child([show, dismiss(state, state.notices)]),
        el("ul").flag_of("hidden", move || !shown.get()).region(move || lines(state.notices)),
    ])
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
    effect(move || {
        if state.toast.with(Option::is_some) {
            start();
        }
    });
    el("div").attr("role", "status").attr("aria-live", "polite").region(move || {
        state.toast.get().map(|text| {
            let is_offer = state.offer.with_untracked(|offer| offer.as_ref() == Some(&text));
            let save = move || {
                button("button-text")
                    .on(ev::click, move |_| state.save_recording())
                    .text(strings::SAVE_FILE)
            };
            el("p")
                .class("toast")
                .on(ev::pointerenter, move |_| stop())
                .on(ev::pointerleave, move |_| start())
                .on(ev::focusin, move |_| stop())
                .on(ev::focusout, move |_| start())
                .text(&text)
                .child(is_offer.then(save))
        })
    })
}
