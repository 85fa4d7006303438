//! What is in the groups of settings that begin folded, behind one door: the page loads it when somebody
//! opens one.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::Scenario;

use super::{
    memory_bar::memory_bar,
    settings_panel::{KindDials, differs, is_closed, of_kind, word_choice},
};
use crate::{
    controls::{Choice, Look, class_list, control},
    dom::El,
    settings::{self, Dial, Kinds},
    state::State,
    strings,
};

/// A group that begins folded wherever the page is shown.
#[derive(Clone, Copy)]
pub(super) enum Folded {
    Arrivals,
    Lengths,
    Mix,
    Memory,
    Overload,
    Accuracy,
}

/// Puts the controls of a group into its body.
///
/// The only way to what is in here, and never inlined.
#[inline(never)]
pub(super) fn furnish(group: Folded, body: El) -> El {
    match group {
        Folded::Arrivals => arrivals(body),
        Folded::Lengths => all_lengths(body),
        Folded::Mix => mix(body),
        Folded::Memory => memory(body),
        Folded::Overload => overload(body),
        Folded::Accuracy => accuracy(body),
    }
}

fn arrivals(body: El) -> El {
    let body = body.child(Choice::of_kinds(&settings::ARRIVALS, Look::Wide).el());
    let body = of_kind(body, &settings::ARRIVALS, PATTERNS).when(is_closed(true), pacing_choice);
    let profile = Choice::of_kinds(&settings::PROFILE, Look::List).el();
    let body = body.child(profile.flag_of("hidden", is_closed(true)));
    let body = of_kind(body, &settings::PROFILE, PROFILES);
    let state = expect_context::<State>();
    let has_sessions = move || state.current.with(Scenario::has_sessions);
    body.when(is_closed(false), || control(&settings::TURNS))
        .when(has_sessions, || control(&settings::TURN_THINK))
}

fn all_lengths(body: El) -> El {
    let body = lengths(body, &settings::IN_LENGTHS, IN_DIALS);
    lengths(body, &settings::OUT_LENGTHS, OUT_DIALS)
}

fn mix(body: El) -> El {
    body.child(class_list())
}

fn memory(body: El) -> El {
    let words = [("engine-version", "engine"), ("weights", "weights"), ("kv-dtype", "kv_dtype")];
    body.child(memory_bar())
        .child(words.map(|(id, key)| word_choice(id, key)))
        .child(control(&settings::BLOCKS))
}

fn overload(body: El) -> El {
    let body = body
        .child(word_choice("queue-policy", "overload.policy"))
        .child([control(&settings::QUEUE_LIMIT), control(&settings::DEADLINE)]);
    let body = details(body, &settings::LINE_DETAILS).child(control(&settings::PATIENCE));
    let body = details(choices(body, PATIENCE_CHOICES), &settings::PATIENCE_DETAILS)
        .when(is_shown("clients.retries"), || control(&settings::RETRIES));
    let body = details(body, &settings::RETRY_DETAILS);
    details(choices(body, THROTTLE_CHOICES), &settings::THROTTLE_DETAILS)
}

fn accuracy(body: El) -> El {
    body.child([
        control(&settings::EFFICIENCY),
        control(&settings::OVERHEAD),
        control(&settings::REQUESTS),
        control(&settings::RUNS),
        control(&settings::SEED),
    ])
}

const PATTERNS: KindDials = &[
    ("bursty", &[&settings::BURSTINESS]),
    ("closed", &[&settings::THINK]),
    ("onoff", &[&settings::BURST, &settings::LULL, &settings::LULL_SHARE]),
];

pub(crate) const PROFILES: KindDials = &[
    ("step", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT]),
    ("ramp", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT, &settings::PROFILE_TO]),
    ("spike", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT, &settings::PROFILE_LENGTH]),
    ("daily", &[&settings::TROUGH, &settings::PEAK_HOUR]),
    ("hours", &[&settings::HOURS]),
    ("points", &[&settings::POINTS]),
];

const IN_DIALS: KindDials = &[
    ("uniform", &[&settings::IN.least, &settings::IN.most]),
    ("lognormal", &[&settings::IN.sigma, &settings::IN.shortest, &settings::IN.longest]),
    ("quantiles", &[&settings::IN.quantiles]),
];

const OUT_DIALS: KindDials = &[
    ("uniform", &[&settings::OUT.least, &settings::OUT.most]),
    ("lognormal", &[&settings::OUT.sigma, &settings::OUT.shortest, &settings::OUT.longest]),
    ("quantiles", &[&settings::OUT.quantiles]),
];

fn lengths(body: El, kinds: &'static Kinds, dials: KindDials) -> El {
    of_kind(body.child(Choice::of_kinds(kinds, Look::List).el()), kinds, dials)
}

/// When a user of a closed loop sends the next request.
fn pacing_choice() -> El {
    let on_schedule = |scenario: &Scenario| scenario.closed.is_some_and(|c| c.on_schedule);
    let word = |on_schedule| if on_schedule { "scheduled" } else { "answered" };
    Choice {
        id: "pacing",
        label: strings::PACING,
        options: vec![
            (strings::PACING_ANSWER.to_owned(), word(false)),
            (strings::PACING_SCHEDULE.to_owned(), word(true)),
        ],
        current: Box::new(move |scenario| word(on_schedule(scenario)).to_owned()),
        put: Rc::new(move |scenario, chosen| {
            let text = settings::closed(scenario, |closed| {
                closed.on_schedule = chosen == word(true);
            });
            scenario.set("arrivals", &text)
        }),
        look: Look::Wide,
    }
    .el()
}

/// Whether a person sees a control: something follows from it, or it was changed.
fn is_shown(key: &'static str) -> impl Fn() -> bool + Clone + 'static {
    let state = expect_context::<State>();
    move || state.current.with(|scenario| scenario.has_needs_of(key) || differs(scenario, &[key]))
}

/// Dials that are there while something follows from them.
fn details(body: El, dials: &'static [Dial]) -> El {
    dials.iter().fold(body, |body, dial| body.when(is_shown(dial.key), move || control(dial)))
}

/// Choices that are there while something follows from them.
fn choices(body: El, choices: &'static [(&'static str, &'static str)]) -> El {
    choices
        .iter()
        .fold(body, |body, &(id, key)| body.when(is_shown(key), move || word_choice(id, key)))
}

const PATIENCE_CHOICES: &[(&str, &str)] = &[
    ("awaits", "clients.awaits"),
    ("abandoned", "clients.abandoned"),
    ("patience-spread", "clients.patience_spread"),
];

const THROTTLE_CHOICES: &[(&str, &str)] = &[("throttle", "clients.throttle")];
