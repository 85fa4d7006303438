//! A panel that folds: closed it asks nothing, open it shows what is known, how far the worker is, and
//! a way to stop it.

use leptos::{ev, prelude::*};
use quantity::whole_percent;

use super::{Hindrance, Kind, Same, Shown, ask_again, drop_stale, hindrance, look, stop};
use crate::{
    browser::now_ms,
    dom::{El, el},
    icons::Icon,
    memo::memo,
    state::State,
    strings,
};

/// Time after which what is left is told, in milliseconds.
const SOON_MS: f64 = 1_000.0;

/// What is told of a question, for whoever follows it.
pub(super) fn told(state: State, kind: Kind) -> Memo<Option<Same>> {
    memo(move |_| Shown::of(state).told(kind).cloned())
}

/// A panel about a kind of question. `content` is built when it is opened, and follows what is told.
pub(super) fn panel(
    state: State,
    kind: Kind,
    (id, title, beside): (&'static str, &'static str, &'static str),
    content: fn(State, Memo<Option<Same>>) -> El,
) -> El {
    let is_open = memo(move |_| Shown::of(state).is_open[kind as usize]);
    let toggle = move |_| {
        Shown::update(state, |shown| {
            let open = &mut shown.is_open[kind as usize];
            *open = !*open;
        });
        untrack(|| drop_stale(state));
        look(state);
    };
    let button = el("button")
        .attr("type", "button")
        .class("ledger-button")
        .truth_of("aria-expanded", move || is_open.get())
        .attr("aria-controls", id)
        .on(ev::click, toggle)
        .child(Icon::Right.el())
        .text(title);
    let head = el("div").class("panel-head").child([
        el("h2").class("panel-title").child(button),
        el("span").class("panel-sub").text(beside),
    ]);
    let body = el("div").attr("id", id).flag_of("hidden", move || !is_open.get()).when(
        move || is_open.get(),
        move || {
            let told = told(state, kind);
            el("div").class("decision-body").child([
                status(state, kind),
                el("div")
                    .class("decision-told")
                    .class_of("stale", move || is_stale(state, kind))
                    .child(content(state, told)),
            ])
        },
    );
    el("section").class("card panel decision").attr("data-kind", id).child([
        progress_line(state, kind),
        head,
        body,
    ])
}

/// Whether what is told is of other settings.
fn is_stale(state: State, kind: Kind) -> bool {
    let shown = Shown::of(state);
    let subject = Shown::subject(state, kind);
    shown.told(kind).is_some_and(|Same(told)| told.of != subject)
}

/// The thin line at the top of a card.
fn progress_line(state: State, kind: Kind) -> El {
    let part = move || {
        let shown = Shown::of(state);
        let (done, about) = shown.progress;
        if shown.is_under_way(kind) && about > 0 { f64::from(done) / f64::from(about) } else { 0.0 }
    };
    el("div")
        .class("progress")
        .attr("aria-hidden", "true")
        .truth_of("data-on", move || Shown::of(state).is_under_way(kind))
        .style_of("--done", move || quantity::plain(part(), 0))
}

/// How far it is, and a way to stop it or to go on.
pub(super) fn status(state: State, kind: Kind) -> El {
    let is_stopped = move || {
        let shown = Shown::of(state);
        shown.stopped[kind as usize] == Some(Shown::subject(state, kind))
    };
    let said = move || {
        if is_stopped() {
            return strings::DECISION_STOPPED.to_owned();
        }
        match hindrance(state, kind) {
            Some(Hindrance::Recording) => return strings::DECISION_RECORDED.to_owned(),
            Some(Hindrance::NoAnswer) => return strings::DECISION_NO_ANSWER.to_owned(),
            Some(Hindrance::Plan) => return strings::DECISION_WAITS.to_owned(),
            None => {}
        }
        let shown = Shown::of(state);
        match &shown.under_way {
            Some((now, _, began_ms)) if *now == kind => far(shown.progress, *began_ms),
            _ if shown.wants(state, kind) => strings::DECISION_NEXT.to_owned(),
            _ => String::new(),
        }
    };
    let button = |text: &'static str| {
        el("button").attr("type", "button").class("button button-small").text(text)
    };
    el("div")
        .class("decision-status")
        .child(el("span").class("decision-far").text_of(said))
        .when(
            move || Shown::of(state).is_under_way(kind),
            move || button(strings::CANCEL).on(ev::click, move |_| stop(state, kind)),
        )
        .when(is_stopped, move || {
            button(strings::DECISION_GO_ON).on(ev::click, move |_| ask_again(state, kind))
        })
}

/// “62 %, about 3 s left”.
fn far((done, about): (u32, u32), began_ms: f64) -> String {
    if about == 0 || done == 0 {
        return strings::DECISION_BEGINS.to_owned();
    }
    let part = f64::from(done.min(about)) / f64::from(about);
    let passed_ms = now_ms() - began_ms;
    let left_s = passed_ms / 1000.0 * (1.0 / part - 1.0);
    if passed_ms < SOON_MS || left_s < 1.0 {
        return whole_percent(part);
    }
    strings::decision_far(part, left_s)
}

/// Sentences, one beneath the other.
pub(super) fn words(lines: &[String]) -> El {
    let line = |text: &String| el("li").text(text.trim_end());
    el("ul").class("words").child(lines.iter().map(line).collect::<Vec<_>>())
}

/// A table that is folded away under its name; it stays as it is, open or not, when its rows change.
pub(super) fn folded_table(
    name: &'static str,
    columns: &'static [&'static str],
    rows: impl Fn() -> Vec<El> + 'static,
) -> El {
    el("details")
        .class("decision-more")
        .child([el("summary").text(strings::TABLE), crate::views::know::table(name, columns, rows)])
}

/// A row of a table from its cells; the first one names it.
pub(super) fn row(cells: &[String]) -> El {
    let (first, rest) = match cells.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("", cells),
    };
    crate::views::know::row(first, rest)
}
