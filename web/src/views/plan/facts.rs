//! The right side of the answer card: facts, changes that work, or a way out of a stop.

use leptos::{ev, prelude::*};
use planner::Remedy;

use super::{
    answer_card::ANSWER_ID,
    card::{Card, MOST_CHANGES, Right, change_name},
    fact::Fact,
};
use crate::{
    browser,
    dom::{El, el},
    state::State,
    strings,
};

/// Characters beyond which a value is set smaller.
const LONG_VALUE: usize = 11;
/// How many facts there are.
const FACTS: usize = 4;

/// Whatever stands there. It is built anew only when it becomes something else; until then its texts
/// change in place.
pub(crate) fn right(state: State, card: Memo<Card>) -> El {
    let is = move |kind: fn(&Right) -> bool| move || card.with(|card| kind(&card.right));
    el("div")
        .class("answer-right")
        .when(is(|right| matches!(right, Right::Facts(_))), move || facts(card))
        .when(is(|right| matches!(right, Right::Remedies(_))), move || remedies(state, card))
        .when(is(|right| matches!(right, Right::Restart { .. })), move || restart(state, card))
}

fn facts(card: Memo<Card>) -> El {
    el("div").class("facts").child((0..FACTS).map(|index| fact(card, index)).collect::<Vec<_>>())
}

fn fact(card: Memo<Card>, index: usize) -> El {
    let told = move |tell: fn(&Fact) -> &str| {
        move || {
            card.with(|card| match &card.right {
                Right::Facts(facts) => facts.get(index).map_or("", tell).to_owned(),
                _ => String::new(),
            })
        }
    };
    let text = |class, tell| el("p").class(class).text_of(told(tell));
    // One text for each width: the end of a text that grows would move what follows it.
    let line = |full: fn(&Fact) -> &str, short: fn(&Fact) -> &str| {
        let span = |class, tell| el("span").class(class).text_of(told(tell));
        el("p")
            .class("fact-line")
            .attr_of("title", told(full))
            .child([span("wide-only", full), span("narrow-only", short)])
    };
    let value = told(|fact| &fact.value);
    el("div").class("fact").child([
        text("fact-label", |fact| fact.label),
        text("fact-value", |fact| &fact.value)
            .class_of("fact-value-long", move || value().chars().count() > LONG_VALUE),
        line(|fact| &fact.line.0, |fact| &fact.line.1),
        text("fact-second", |fact| &fact.second),
        line(|fact| &fact.second_line.0, |fact| &fact.second_line.1),
    ])
}

/// The change in one row, if the row is there.
fn change(card: &Card, row: usize) -> Option<&Remedy> {
    match &card.right {
        Right::Remedies(changes) => changes.get(row),
        _ => None,
    }
}

fn remedies(state: State, card: Memo<Card>) -> El {
    let rows = (0..MOST_CHANGES).fold(el("ul"), |list, row| {
        list.when(
            move || card.with(|card| change(card, row).is_some()),
            move || remedy(state, card, row),
        )
    });
    let title = move || {
        card.with(|card| match &card.right {
            Right::Remedies(changes) => report::changes_title(&card.hero, changes),
            _ => "",
        })
    };
    el("div").class("remedies").child([el("p").class("remedies-title").text_of(title), rows])
}

fn remedy(state: State, card: Memo<Card>, row: usize) -> El {
    let told = move |tell: fn(&Remedy) -> String| {
        move || card.with(|card| change(card, row).map(tell).unwrap_or_default())
    };
    let name = told(change_name);
    let effect = told(|change| change.effect.clone());
    let apply = move |_| {
        if let Some(change) = card.with_untracked(|card| change(card, row).cloned()) {
            state.apply_change(&change);
            browser::catch_focus(ANSWER_ID);
        }
    };
    el("li").class("remedy").child([
        el("span").class("remedy-name").attr_of("title", name).text_of(name),
        el("span").class("remedy-effect").attr_of("title", effect).text_of(effect),
        el("button")
            .attr("type", "button")
            .class("button button-small")
            .attr_of("aria-label", move || strings::apply_change(&name()))
            .on(ev::click, apply)
            .text(strings::APPLY),
    ])
}

fn restart(state: State, card: Memo<Card>) -> El {
    let note = move || {
        card.with(|card| match card.right {
            Right::Restart { note, .. } => note,
            _ => "",
        })
    };
    let copy = move |_| {
        let message = card.with_untracked(|card| match &card.right {
            Right::Restart { message, .. } => message.clone(),
            _ => String::new(),
        });
        let link = crate::url_state::link_to(state, crate::state::View::Plan);
        browser::copy(&strings::details(&message, &link), move |worked| {
            let text = if worked { strings::DETAILS_COPIED } else { strings::COPY_FAILED };
            state.toast.set(Some(text.to_owned()));
        });
    };
    let button = |class, text| el("button").attr("type", "button").class(class).text(text);
    el("div").class("restart").child([
        button("button button-filled", strings::START_AGAIN).on(ev::click, move |_| {
            state.start_again();
            browser::catch_focus(ANSWER_ID);
        }),
        button("button", strings::FEWER_RUNS).on(ev::click, move |_| {
            state.use_fewer_runs();
            browser::catch_focus(ANSWER_ID);
        }),
        button("button", strings::COPY_DETAILS).on(ev::click, copy),
        el("p").class("restart-note").text_of(note),
    ])
}
