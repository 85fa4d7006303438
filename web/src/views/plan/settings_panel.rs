//! The side panel: what is always visible, then the folded groups.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{FIELDS, Group, Scenario, SchedRules, field};

use crate::{
    controls::{Choice, Fold, Look, class_list, control, gpu_picker, model_picker},
    dom::{El, el},
    settings::{self, Dial, Kinds},
    state::State,
    strings,
};

/// All controls of Plan, in order. `engine_open` tells whether the engine's group begins open.
pub(crate) fn settings_panel(engine_open: bool) -> El {
    el("div").class("controls").child([
        control_set(Group::ModelAndGpu).child([model_picker(), gpu_picker()]),
        // Users of a closed loop take the place of the rate.
        control_set(Group::Traffic)
            .when(is_closed(false), || in_place_of(&settings::USERS, &settings::RATE))
            .when(is_closed(true), || in_place_of(&settings::RATE, &settings::USERS))
            .child([control(&settings::PROMPT), control(&settings::ANSWER)]),
        control_set(Group::Target).child([
            control(&settings::TTFT),
            control(&settings::TPOT),
            share_choice(),
            control(&settings::HEADROOM),
        ]),
        el("div").class("folds").child([
            arrivals_group(),
            lengths_group(),
            mix_group(),
            engine_group(engine_open),
            overload_group(),
            accuracy_group(),
        ]),
    ])
}

/// A control that comes where another was: the lowest stop of a phone's sheet then shows this one.
fn in_place_of(gone: &'static Dial, new: &'static Dial) -> El {
    let state = expect_context::<State>();
    if state.last_control.get_untracked() == gone.id {
        state.last_control.set(new.id);
    }
    control(new)
}

/// Whether the loop is closed, or not, now.
fn is_closed(wanted: bool) -> impl Fn() -> bool + Clone + 'static {
    let state = expect_context::<State>();
    move || state.current.with(|scenario| scenario.closed.is_some() == wanted)
}

fn control_set(group: Group) -> El {
    el("section")
        .class("control-set")
        .child(el("h2").class("control-set-title").text(group.label()))
}

/// Whether any of these keys differs from the default.
fn differs(now: &Scenario, keys: &[&str]) -> bool {
    let preset = Scenario::preset();
    keys.iter().any(|key| now.get(key) != preset.get(key))
}

fn share_choice() -> El {
    let options = ["95", "99", "99.9"];
    Choice {
        id: "share",
        label: strings::MUST_HOLD_FOR,
        options: options.map(|share| (strings::with_unit(share, "%"), share)).into(),
        current: Box::new(|scenario| scenario.get("share").unwrap_or_default()),
        put: Rc::new(|scenario, value| scenario.set("share", value)),
        look: Look::Short,
    }
    .el()
}

/// The dials that kinds of a setting have, by the value of the kind.
type KindDials = &'static [(&'static str, &'static [&'static Dial])];

/// The controls of some kinds of a setting, each there while its kind is in force.
fn of_kind(body: El, kinds: &'static Kinds, dials: KindDials) -> El {
    let state = expect_context::<State>();
    dials.iter().fold(body, |body, (kind, dials)| {
        let is_chosen = move || state.current.with(|scenario| (kinds.current)(scenario) == *kind);
        body.when(is_chosen, || dials.iter().map(|dial| control(dial)).collect::<Vec<El>>())
    })
}

fn arrivals_group() -> El {
    Fold {
        id: "arrivals",
        name: strings::ARRIVALS,
        summary: |scenario| {
            let pattern = settings::ARRIVALS.name(scenario);
            let profile =
                settings::PROFILE.is_changed(scenario).then(|| settings::PROFILE.name(scenario));
            strings::arrivals_summary(pattern, profile)
        },
        is_changed: |scenario| differs(scenario, &["arrivals", "profile"]),
        begins_open: false,
        furnish: |body| {
            let body = body.child(Choice::of_kinds(&settings::ARRIVALS, Look::Wide).el());
            let body =
                of_kind(body, &settings::ARRIVALS, PATTERNS).when(is_closed(true), pacing_choice);
            let profile = Choice::of_kinds(&settings::PROFILE, Look::List).el();
            let body = body.child(profile.flag_of("hidden", is_closed(true)));
            of_kind(body, &settings::PROFILE, PROFILES)
        },
    }
    .el()
}

const PATTERNS: KindDials = &[
    ("bursty", &[&settings::BURSTINESS]),
    ("closed", &[&settings::THINK]),
    ("onoff", &[&settings::BURST, &settings::LULL, &settings::LULL_SHARE]),
];

const PROFILES: KindDials = &[
    ("step", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT]),
    ("ramp", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT, &settings::PROFILE_TO]),
    ("spike", &[&settings::PROFILE_FACTOR, &settings::PROFILE_AT, &settings::PROFILE_LENGTH]),
    ("daily", &[&settings::TROUGH, &settings::PEAK_HOUR]),
    ("hours", &[&settings::HOURS]),
    ("points", &[&settings::POINTS]),
];

fn lengths_group() -> El {
    Fold {
        id: "lengths",
        name: strings::LENGTHS,
        summary: |scenario| {
            let name = |kinds: &Kinds| kinds.name(scenario);
            strings::lengths_summary(name(&settings::IN_LENGTHS), name(&settings::OUT_LENGTHS))
        },
        is_changed: |scenario| {
            settings::IN_LENGTHS.is_changed(scenario) || settings::OUT_LENGTHS.is_changed(scenario)
        },
        begins_open: false,
        furnish: |body| {
            let body = lengths(body, &settings::IN_LENGTHS, IN_DIALS);
            lengths(body, &settings::OUT_LENGTHS, OUT_DIALS)
        },
    }
    .el()
}

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

fn mix_group() -> El {
    Fold {
        id: "mix",
        name: strings::MIX,
        summary: |scenario| {
            let names: Vec<&str> = scenario.classes.iter().map(|class| &*class.name).collect();
            strings::mix_summary(&names)
        },
        is_changed: |scenario| !scenario.classes.is_empty(),
        begins_open: false,
        furnish: |body| body.child(class_list()),
    }
    .el()
}

fn engine_group(begins_open: bool) -> El {
    Fold {
        id: "engine",
        name: strings::ENGINE,
        summary: |scenario| {
            strings::engine_summary(settings::RULES.name(scenario), scenario.sched.max_num_seqs)
        },
        is_changed: |scenario| {
            let keys = [
                "sched.max_num_batched_tokens",
                "sched.max_num_seqs",
                "sched.rules",
                "kv.capacity_tokens",
                "spec.tokens",
            ];
            differs(scenario, &keys) || (is_vllm(scenario) && differs(scenario, &VLLM_KEYS))
        },
        begins_open,
        furnish: |body| {
            let body = body.child(Choice::of_kinds(&settings::RULES, Look::List).el());
            let state = expect_context::<State>();
            let note = el("p").class("control-help").text_of(move || rules_note(state));
            let body = of_kind(body.child(note), &settings::RULES, RULE_DIALS)
                .child([
                    control(&settings::BUDGET),
                    control(&settings::SEQUENCES),
                    control(&settings::CACHE),
                ])
                .when(move || state.current.with(may_draft), || control(&settings::DRAFTED));
            let drafts = move || state.current.with(|scenario| scenario.spec.tokens > 0);
            let body = body
                .when(drafts, || settings::DRAFT_DETAILS.iter().map(control).collect::<Vec<_>>())
                .when(move || state.current.with(is_vllm), vllm_choices)
                .when(
                    move || state.current.with(settings::caches_prefixes),
                    || control(&settings::PREFIX),
                );
            of_kind(body, &settings::RULES, VLLM_DIALS)
        },
    }
    .el()
}

const VLLM_KEYS: [&str; 6] = [
    "sched.policy",
    "sched.async",
    "sched.prefix_caching",
    "prefix",
    "sched.long_prefill_token_threshold",
    "sched.watermark",
];

const fn is_vllm(scenario: &Scenario) -> bool {
    matches!(scenario.rules, SchedRules::Vllm { .. })
}

/// Whether drafts suit the rules, or are asked for all the same.
const fn may_draft(scenario: &Scenario) -> bool {
    matches!(scenario.rules, SchedRules::Reference) || scenario.spec.tokens > 0
}

/// What only vLLM's rules can be told, in words.
fn vllm_choices() -> Vec<El> {
    [("policy", VLLM_KEYS[0]), ("async", VLLM_KEYS[1]), ("prefix-cache", VLLM_KEYS[2])]
        .map(|(id, key)| word_choice(id, key))
        .into()
}

/// A choice among the words of a setting.
fn word_choice(id: &'static str, key: &'static str) -> El {
    // A long row of words would not fit.
    let is_long = key == "overload.policy";
    let (label, words) = field(key).map_or(("", &[][..]), |field| (field.label, field.choices));
    let options = words.iter().map(|word| (strings::word(word).to_owned(), *word)).collect();
    Choice {
        id,
        label,
        options,
        current: Box::new(move |scenario| scenario.get(key).unwrap_or_default()),
        put: Rc::new(move |scenario, word| scenario.set(key, word)),
        look: if is_long { Look::List } else { Look::Wide },
    }
    .el()
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

fn overload_group() -> El {
    Fold {
        id: "overload",
        name: strings::OVERLOAD,
        summary: strings::overload_summary,
        is_changed: |scenario| {
            let ours = FIELDS.iter().filter(|field| field.group == Group::Overload);
            ours.into_iter().any(|field| differs(scenario, &[field.key]))
        },
        begins_open: false,
        furnish: |body| {
            let body = body
                .child(word_choice("queue-policy", "overload.policy"))
                .child([control(&settings::QUEUE_LIMIT), control(&settings::DEADLINE)]);
            let body = details(body, &settings::LINE_DETAILS).child(control(&settings::PATIENCE));
            let body = details(choices(body, PATIENCE_CHOICES), &settings::PATIENCE_DETAILS)
                .when(is_shown("clients.retries"), || control(&settings::RETRIES));
            let body = details(body, &settings::RETRY_DETAILS);
            details(choices(body, THROTTLE_CHOICES), &settings::THROTTLE_DETAILS)
        },
    }
    .el()
}

const PATIENCE_CHOICES: &[(&str, &str)] = &[
    ("awaits", "clients.awaits"),
    ("abandoned", "clients.abandoned"),
    ("patience-spread", "clients.patience_spread"),
];

const THROTTLE_CHOICES: &[(&str, &str)] = &[("throttle", "clients.throttle")];

const RULE_DIALS: KindDials = &[("dynamic", &[&settings::DELAY])];

const VLLM_DIALS: KindDials = &[
    ("vllm-0.33", &[&settings::LONG_PREFILL, &settings::WATERMARK]),
    ("vllm-0.11", &[&settings::LONG_PREFILL, &settings::WATERMARK]),
];

/// What the rules in force do, in a sentence.
fn rules_note(state: State) -> &'static str {
    strings::rules_note(state.current.with(|scenario| (settings::RULES.current)(scenario)))
}

fn accuracy_group() -> El {
    Fold {
        id: "accuracy",
        name: strings::ACCURACY,
        summary: |scenario| strings::accuracy_summary(scenario.sim.replications),
        is_changed: |scenario| {
            let keys = ["step.mfu", "step.overhead_s", "sim.requests", "sim.replications", "seed"];
            differs(scenario, &keys)
        },
        begins_open: false,
        furnish: |body| {
            body.child([
                control(&settings::EFFICIENCY),
                control(&settings::OVERHEAD),
                control(&settings::REQUESTS),
                control(&settings::RUNS),
                control(&settings::SEED),
            ])
        },
    }
    .el()
}
