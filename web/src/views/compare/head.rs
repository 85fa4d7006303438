//! The card above all: A, B, and the difference in one sentence.

use leptos::{ev, prelude::*};
use planner::{PlanAnswer, Verdict};
use report::Price;
use scenario::Scenario;

use super::{Compared, Shown, sides::Side};
use crate::{
    browser,
    dom::{El, Nodes, el},
    icons::Icon,
    memo::memo,
    names, strings,
    views::plan::ANSWER_ID,
};

/// The card.
pub(super) fn head(compared: Compared) -> El {
    el("section")
        .class("card compare-head")
        .attr("id", ANSWER_ID)
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .child([side(compared, 0), side(compared, 1), difference(compared)])
}

/// What one side says.
#[derive(Clone, Debug, PartialEq, Default)]
struct Words {
    name: String,
    hero: String,
    is_words: bool,
    what: String,
    each: String,
    cost: String,
    tail: String,
}

fn words(side: &Side) -> Words {
    let scenario = &side.resolution.scenario;
    let name = strings::side_name(scenario);
    let Some(answer) = &side.answer else {
        let hero = strings::UNKNOWN.to_owned();
        return match side.resolution.error() {
            Some(reason) => Words { name, hero, tail: reason, ..Words::default() },
            None => Words { name, hero, what: strings::PLANNING.to_owned(), ..Words::default() },
        };
    };
    let told = if side.is_estimate {
        report::tell_so_far(answer, scenario)
    } else {
        report::tell(answer, scenario)
    };
    let Verdict::Sized(fleet) = &answer.verdict else {
        let reason = told.sentences.first().cloned().unwrap_or_default();
        return Words { name, hero: told.hero, is_words: true, tail: reason, ..Words::default() };
    };
    let gpus = fleet.with_headroom * scenario.gpus_per_engine();
    let each = answer.capacity_per_s.map(|capacity| {
        strings::each_sustains(capacity.value, scenario.gpus_per_engine(), side.is_estimate)
    });
    Words {
        name,
        is_words: false,
        what: strings::gpus_of(&names::gpu_short(&scenario.gpu), gpus),
        each: each.unwrap_or_default(),
        cost: per_hour(scenario, gpus).map_or_else(String::new, strings::dollars_an_hour),
        tail: tail(answer),
        hero: if side.is_estimate { quantity::about(&told.hero) } else { told.hero },
    }
}

fn tail(answer: &PlanAnswer) -> String {
    let point = answer.planned.filter(|point| point.has_percentile(99.0));
    point.map_or_else(String::new, |point| {
        strings::at_plan(point.ttft_p99_s.value, point.tpot_p99_s.value)
    })
}

/// Typical dollars an hour by the catalogue's price; none where it has none.
fn per_hour(scenario: &Scenario, gpus: u64) -> Option<f64> {
    let price = Price::of_catalogue(&catalog::device(&scenario.gpu).ok()?)?;
    Some(price.per_hour.typical * gpus as f64)
}

fn side(compared: Compared, place: usize) -> El {
    let told =
        memo(move |_| compared.sides().map(|sides| words(&sides[place])).unwrap_or_default());
    let text = move |tell: fn(&Words) -> &String| move || told.with(|told| tell(told).clone());
    let name = el("span").class("side-name").text_of(text(|it| &it.name));
    let top = el("div").class("side-top").child([badge(place), name]);
    let top = if place == 0 { top.child(actions(compared)) } else { top };
    let hero = el("p")
        .class("side-hero")
        .class_of("side-words", move || told.with(|told| told.is_words))
        .text_of(text(|it| &it.hero));
    let what = el("p").class("side-what").child([
        el("span").text_of(text(|it| &it.what)),
        el("span").class("side-each").text_of(text(|it| &it.each)),
    ]);
    let cost = el("p").class("side-cost").text_of(text(|it| &it.cost));
    let notices = move || {
        let line = |notice: &String| el("li").text(notice);
        compared.pinned.with(|pinned| {
            let notices = pinned.as_ref().filter(|it| place == 0 && !it.notices.is_empty());
            notices.map(|it| {
                el("div").class("side-notice").attr("role", "status").child([
                    el("p").text(strings::PINNED_NOTICES),
                    el("ul").child(it.notices.iter().map(line).collect::<Vec<_>>()),
                ])
            })
        })
    };
    el("div")
        .class("compare-side")
        .attr("data-side", if place == 0 { "a" } else { "b" })
        .child([
            top,
            el("div").class("side-answer").child([hero, what, cost]),
            el("p").class("side-tail").text_of(text(|it| &it.tail)),
        ])
        .region(notices)
}

/// The letter in the colour of its curves.
pub(super) fn badge(place: usize) -> El {
    let (letter, side) = if place == 0 { ("A", "a") } else { ("B", "b") };
    el("span").class("badge").attr("data-side", side).text(letter)
}

/// What one can do with the pinned one.
fn actions(compared: Compared) -> El {
    let action =
        |text: &'static str| el("button").attr("type", "button").class("button-text").text(text);
    let state = compared.state;
    el("span").class("side-actions").child([
        action(strings::SWAP).on(ev::click, move |_| super::swap(state)),
        action(strings::UNPIN).on(ev::click, move |_| {
            super::pin(state);
            browser::catch_focus(ANSWER_ID);
        }),
    ])
}

/// The sentence, what the runs say of it, and how far they are.
fn difference(compared: Compared) -> El {
    let told = memo(move |_| Difference::of(compared));
    let status = move || told.with(|told| status(compared, told));
    let sure = move || {
        told.with(|told| {
            let sentence = |text: &String| el("p").class("difference-line").text(text);
            told.lines.iter().map(sentence).collect::<Vec<_>>()
        })
    };
    el("div")
        .class("compare-difference")
        .attr("role", "status")
        .class_of("stale", move || told.with(|told| told.is_stale))
        .child([
            el("h2").class("difference-title").text_of(move || told.with(|it| it.title.clone())),
            el("div").class("difference-lines").region(sure),
        ])
        .region(status)
}

#[derive(Clone, Debug, PartialEq, Default)]
struct Difference {
    title: String,
    lines: Vec<String>,
    /// Whether it is of what was set before.
    is_stale: bool,
    progress: Option<(u32, u32)>,
    is_stopped: bool,
}

impl Difference {
    fn of(compared: Compared) -> Self {
        let Some(both) = compared.both() else { return Self::default() };
        let shown = compared.shown.get();
        let mut this = match (&shown.refused, compared.told()) {
            (Some((of, message)), None) if *of == both => Self {
                title: strings::NOT_COMPARED.to_owned(),
                lines: vec![message.clone()],
                ..Self::default()
            },
            (_, Some(answer)) => {
                let (title, lines) = strings::difference(&answer, (&both[0], &both[1]));
                Self { title, lines, ..Self::default() }
            }
            _ => before(compared, &shown),
        };
        if shown.under_way.as_ref() == Some(&both) {
            this.progress = Some(shown.progress);
        }
        this.is_stopped = shown.stopped.as_ref() == Some(&both);
        this
    }
}

/// Until both are compared: what was said last, dimmed, or that they are being compared.
fn before(compared: Compared, shown: &Shown) -> Difference {
    let has_numbers = compared
        .sides()
        .is_some_and(|sides| sides.iter().all(|side| side.resolution.outcome.is_ok()));
    if !has_numbers {
        return Difference { title: strings::NO_NUMBERS.to_owned(), ..Difference::default() };
    }
    match &shown.told {
        Some(told) => {
            let (title, lines) = strings::difference(&told.answer, (&told.of[0], &told.of[1]));
            Difference { title, lines, is_stale: true, ..Difference::default() }
        }
        None => Difference { title: strings::COMPARING.to_owned(), ..Difference::default() },
    }
}

fn status(compared: Compared, told: &Difference) -> Nodes {
    let action =
        |text: &'static str| el("button").attr("type", "button").class("button-text").text(text);
    match (told.progress, told.is_stopped) {
        (Some((done, about)), _) => {
            let part = f64::from(done) / f64::from(about.max(1));
            el("p")
                .class("difference-status")
                .child([
                    el("span")
                        .class("pill")
                        .attr("data-tone", "run")
                        .text(&strings::comparing(part)),
                    action(strings::STOP).on(ev::click, move |_| {
                        compared.stop();
                        browser::catch_focus(ANSWER_ID);
                    }),
                ])
                .into()
        }
        (None, true) => el("p")
            .class("difference-status")
            .child([
                el("span")
                    .class("pill")
                    .attr("data-tone", "warn")
                    .child(Icon::Warning.el())
                    .text(strings::STOPPED),
                action(strings::COMPARE_AGAIN).on(ev::click, move |_| {
                    compared.ask();
                    browser::catch_focus(ANSWER_ID);
                }),
            ])
            .into(),
        (None, false) => Nodes::default(),
    }
}
