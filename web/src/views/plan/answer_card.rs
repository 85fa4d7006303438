//! The answer card: one frame for all its states, so that nothing around it ever moves.

use leptos::{ev, prelude::*};
use quantity::NARROW_SPACE;

use super::{
    card::{Beneath, Card, Size, card},
    facts::right,
    gauge::gauge,
};
use crate::{
    app::Layout,
    browser,
    dom::{El, Nodes, el},
    memo::memo,
    state::{Activity, State},
    strings,
};

/// Id of the card, which takes the focus when what had it is gone.
pub(crate) const ANSWER_ID: &str = "answer";

/// What the card shows now.
pub(crate) fn card_memo(state: State) -> Memo<Card> {
    memo(move |_| {
        let resolution = state.resolution.get();
        let answered = state.answered.get();
        let is_quick = state.is_quick();
        state.activity.with(|now| card(&resolution, answered.as_ref(), now, is_quick))
    })
}

/// The card. Its texts change in place; a part is replaced only if it becomes another one.
pub(crate) fn answer_card(card: Memo<Card>, condensed: Signal<bool>) -> El {
    let state = expect_context::<State>();
    let is_gauge = memo(move |_| card.with(|card| matches!(card.beneath, Beneath::Gauge(_))));
    let left = el("div")
        .class("answer-left")
        .child(head(state, card))
        .region(move || if is_gauge.get() { gauge(card) } else { paragraph(state, card) });
    el("section")
        .class("card answer")
        .attr("id", ANSWER_ID)
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .truth_of("data-condensed", move || condensed.get())
        .child([progress_line(state), left, right(state, card)])
}

/// Number, headline and state.
fn head(state: State, card: Memo<Card>) -> El {
    let pill_text = memo(move |_| card.with(|card| card.pill.text.clone()));
    el("div")
        .class("answer-head")
        .child([hero(card)])
        // Another word is another pill: one that grew to the left would seem to move.
        .child(headlines(state, card).region(move || pill(card, &pill_text.get())))
}

/// The number; a sign that it is about right hangs beside it, so that it comes and goes without
/// moving anything.
fn hero(card: Memo<Card>) -> El {
    let sign = move || card.with(|card| parts(&card.hero).0.to_owned());
    el("p")
        .attr_of("class", move || card.with(hero_class))
        .when(move || !sign().is_empty(), move || el("span").class("hero-sign").text_of(sign))
        .text_of(move || card.with(|card| parts(&card.hero).1.to_owned()))
}

/// Sign and number.
fn parts(hero: &str) -> (&str, &str) {
    let is_about = hero.starts_with('≈');
    let sign_end = hero.find(NARROW_SPACE).filter(|_| is_about);
    let after_sign = sign_end.map_or(0, |at| at + NARROW_SPACE.len_utf8());
    hero.split_at(after_sign)
}

fn hero_class(card: &Card) -> String {
    let size = match card.size {
        Size::Number => "",
        Size::Wide => " hero-wide",
        Size::Widest => " hero-widest",
        Size::Words => " hero-words",
    };
    ["hero", size, if card.is_stale { " stale" } else { "" }].concat()
}

fn headlines(state: State, card: Memo<Card>) -> El {
    let layout = expect_context::<Layout>();
    // It breaks between its two parts, if it has to: what, and for what load.
    let part = move |tell: for<'a> fn((&'a str, &'a str)) -> &'a str| {
        let text = move || {
            card.with(|card| {
                let headline = card.headline.as_str();
                tell(headline.split_once('\n').unwrap_or((headline, ""))).to_owned()
            })
        };
        el("span").text_of(text)
    };
    let length = move || card.with(|card| quantity::plain(card.headline.chars().count() as f64, 0));
    let qualifier = move || {
        let short = layout.is_phone.get();
        card.with(|card| if short { card.qualifier_short.clone() } else { card.qualifier.clone() })
    };
    let simulate = move || {
        let button = inline_action(strings::SIMULATE).on(ev::click, move |_| {
            state.run_again();
            browser::catch_focus(ANSWER_ID);
        });
        [Nodes::from(" "), button.into()]
    };
    el("div")
        .class("answer-text")
        .child(
            el("div").class("headline-place").child(
                el("p")
                    .class("headline")
                    .style_of("--chars", length)
                    .child(part(|(what, _)| what))
                    .text(" ")
                    .child(part(|(_, load)| load)),
            ),
        )
        .child(
            el("p")
                .class("qualifier")
                .attr_of("title", qualifier)
                .text_of(qualifier)
                .when(move || card.with(|card| card.offers_simulation), simulate),
        )
}

fn inline_action(text: &str) -> El {
    el("button").attr("type", "button").class("inline-action").text(text)
}

/// The pill for a word; each word has its own colour and icon.
fn pill(card: Memo<Card>, text: &str) -> El {
    let (tone, icon) = card.with_untracked(|card| (card.pill.tone, card.pill.icon));
    let pill = el("p").class("pill").attr("data-tone", tone);
    let pill = if text.is_empty() { pill.attr("hidden", "") } else { pill };
    pill.child(icon.map(|icon| icon.el())).child(el("span").class("pill-text").text(text))
}

fn paragraph(state: State, card: Memo<Card>) -> El {
    let text = move || card.with(|card| card.reason().to_owned());
    let offers_longer_run = move || {
        card.with(|card| matches!(card.beneath, Beneath::Paragraph { run_longer: true, .. }))
    };
    let run_longer = move || {
        let button = inline_action(report::RUN_LONGER).on(ev::click, move |_| {
            state.run_longer();
            browser::catch_focus(ANSWER_ID);
        });
        [button.into(), Nodes::from(".")]
    };
    el("p")
        .class("paragraph")
        .attr_of("title", text)
        .text_of(text)
        .when(offers_longer_run, run_longer)
}

/// The line at the card's upper edge while something is being simulated.
fn progress_line(state: State) -> El {
    // Thousandths, in a form that takes no decimals.
    let done = move || match state.activity.get() {
        Activity::Running(done, total) if total > 0 => {
            let thousandths = u64::from(done) * 1_000 / u64::from(total);
            format!("calc({thousandths} / 1000)")
        }
        _ => "0".to_owned(),
    };
    // The runs of a drag come and go too fast for a line of theirs.
    let is_running = move || {
        state.activity.with(|activity| matches!(activity, Activity::Running(..)))
            && !state.is_quick()
    };
    el("div")
        .class("progress")
        .attr("aria-hidden", "true")
        .truth_of("data-on", is_running)
        .style_of("--done", done)
}
