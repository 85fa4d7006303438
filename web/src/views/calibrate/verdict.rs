//! The verdict: how far the model was off and is, and what can be done with that.

use leptos::{ev, prelude::*};

use super::{CALIBRATED_ON, Shown, Stand, Told, ask_again, forget, stop, use_everywhere};
use crate::{
    dom::{El, el},
    icons::Icon,
    memo::memo,
    state::State,
    strings,
    views::plan::ANSWER_ID,
};

/// What the card says.
#[derive(Clone, Debug, PartialEq)]
struct Words {
    hero: String,
    headline: String,
    qualifier: String,
    tone: &'static str,
    icon: Option<Icon>,
    pill: String,
}

/// The card.
pub(super) fn verdict(state: State, shown: Told) -> El {
    let words = memo(move |_| {
        let now = state.scenario.get();
        shown.with(|shown| words(shown.as_deref(), &now))
    });
    let text = el("div").class("answer-text").child([
        el("p").class("headline").text_of(move || words.with(|it| it.headline.clone())),
        el("p").class("qualifier").text_of(move || words.with(|it| it.qualifier.clone())),
    ]);
    let hero = el("p").class("calibrate-hero").text_of(move || words.with(|it| it.hero.clone()));
    let pill = move || {
        let Words { tone, icon, pill, .. } = words.get();
        el("p")
            .class("pill")
            .attr("role", "status")
            .attr("data-tone", tone)
            .child(icon.map(Icon::el))
            .child(el("span").class("pill-text").text(&pill))
    };
    let kind = memo(move |_| {
        let is_calibrated = state.scenario.with(|now| now.get(CALIBRATED_ON).is_some());
        shown.with(|shown| shown.as_ref().map(|shown| kind_of(&shown.stand)).unwrap_or_default())
            + if is_calibrated { CALIBRATED } else { 0 }
    });
    let actions = el("div").class("know-actions").region(pill).region(move || {
        let kind = kind.get();
        let has = |part: u8| kind & part != 0;
        let button = |text: &'static str, class: &'static str, act: fn(State)| {
            el("button")
                .attr("type", "button")
                .class(class)
                .on(ev::click, move |_| act(state))
                .text(text)
        };
        let mut buttons = Vec::new();
        if has(GOES_ON) {
            buttons.push(button(strings::STOP_FIT, "button", stop));
        }
        if has(USABLE) {
            buttons.push(
                button(strings::USE_EVERYWHERE, "button button-filled", use_everywhere)
                    .attr("id", "calibrate-use")
                    .flag_of("disabled", move || is_used(state, shown)),
            );
        }
        if has(AGAIN) {
            buttons.push(button(strings::FIT_AGAIN, "button", ask_again));
        }
        if has(FORGETTABLE | CALIBRATED) {
            buttons.push(
                button(strings::FORGET_CALIBRATION, "button", forget)
                    .attr("id", "calibrate-forget"),
            );
        }
        buttons
    });
    let part = move || {
        let (done, all) = shown.with(|shown| match shown.as_ref().map(|shown| &shown.stand) {
            Some(Stand::Fitting(done, all)) => (*done, *all),
            _ => (0, 1),
        });
        let thousandths = u64::from(done) * 1_000 / u64::from(all.max(1));
        ["calc(", &quantity::plain(thousandths as f64, 0), " / 1000)"].concat()
    };
    let progress = el("div")
        .class("progress")
        .attr("aria-hidden", "true")
        .truth_of("data-on", move || kind.get() & GOES_ON != 0)
        .style_of("--done", part);
    el("section")
        .class("card know-card calibrate-card")
        .attr("id", ANSWER_ID)
        .attr("tabindex", "-1")
        .attr("aria-label", strings::ANSWER_LABEL)
        .child([progress, el("div").class("calibrate-verdict").child([hero, text]), actions])
}

/// Parts of what can be done.
const GOES_ON: u8 = 1;
const USABLE: u8 = 2;
const AGAIN: u8 = 4;
const FORGETTABLE: u8 = 8;
const CALIBRATED: u8 = 16;

const fn kind_of(stand: &Stand) -> u8 {
    match stand {
        Stand::Reading | Stand::Fitting(..) => GOES_ON,
        Stand::Stopped | Stand::Refused(_) => AGAIN | FORGETTABLE,
        Stand::SettingsOnly => USABLE | FORGETTABLE,
        Stand::Done(_) => USABLE | AGAIN | FORGETTABLE,
    }
}

fn is_used(state: State, shown: Told) -> bool {
    state.scenario.with(|now| {
        shown.with(|shown| shown.as_ref().is_none_or(|shown| shown.put_into(now) == *now))
    })
}

fn words(shown: Option<&Shown>, now: &scenario::Scenario) -> Words {
    let of =
        |hero: &str, headline: &str, (tone, icon, pill): (&'static str, Option<Icon>, &str)| {
            Words {
                hero: hero.to_owned(),
                headline: headline.to_owned(),
                qualifier: strings::calibrated_deployment(shown.map_or(now, |shown| &shown.base)),
                tone,
                icon,
                pill: pill.to_owned(),
            }
        };
    let Some(shown) = shown else {
        let points = now.number(CALIBRATED_ON);
        let mut words = match points {
            Some(points) => of(
                strings::USED,
                &strings::calibration_used(points as u64),
                ("ok", Some(Icon::Tick), strings::USED),
            ),
            None => of(
                strings::NOT_CALIBRATED_YET,
                strings::CALIBRATE_EMPTY,
                ("run", None, strings::NOT_CALIBRATED),
            ),
        };
        strings::CALIBRATE_STAYS.clone_into(&mut words.qualifier);
        return words;
    };
    match &shown.stand {
        Stand::Reading => of(strings::READING_FILES, "", ("run", None, strings::READING_FILES)),
        Stand::Fitting(done, all) => {
            let pill = strings::fitting(*done, *all);
            of("…", strings::FIT_ROUNDS, ("run", None, &pill))
        }
        Stand::Stopped => {
            of(strings::FIT_STOPPED, "", ("warn", Some(Icon::Warning), strings::FIT_STOPPED))
        }
        Stand::Refused(message) => of(
            strings::NOTHING_TO_FIT,
            message,
            ("bad", Some(Icon::Cross), strings::NOTHING_TO_FIT),
        ),
        Stand::SettingsOnly => of(
            strings::SETTINGS_ONLY,
            strings::LOG_ONLY,
            if shown.put_into(now) == *now {
                ("ok", Some(Icon::Tick), strings::USED)
            } else {
                ("run", None, strings::NOT_USED)
            },
        ),
        Stand::Done(outcome) => {
            let errors = |is_ttft| {
                Some((outcome.median_error(is_ttft, false)?, outcome.median_error(is_ttft, true)?))
            };
            let points = outcome.points.len() as u64;
            let pill = if shown.put_into(now) == *now {
                ("ok", Some(Icon::Tick), strings::USED)
            } else {
                ("run", None, strings::NOT_USED)
            };
            let (first, name, other) = match (errors(false), errors(true)) {
                (Some(tpot), ttft) => (tpot, "TPOT", ttft),
                (None, ttft) => (ttft.unwrap_or_default(), "TTFT", None),
            };
            let hero = strings::error_shrinks(first.0, first.1);
            let mut words = of(&hero, &strings::error_of(name, points), pill);
            if let Some((before, after)) = other {
                let beside = strings::other_error("TTFT", before, after);
                words.qualifier = [&beside, " · ", &words.qualifier].concat();
            }
            words
        }
    }
}
