//! The side panel: what is always visible, then the folded groups.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{FIELDS, Group, Scenario, SchedRules, field};

use super::{
    decisions::demand,
    recording_group::recording_group,
    settings_groups::{Folded, furnish},
};
use crate::{
    controls::{Choice, Fold, Look, control, gpu_picker, model_picker},
    dom::{El, Nodes, el},
    late::{Stage, note},
    recording::recording_in,
    settings::{self, Dial, Kinds},
    state::State,
    strings,
};

/// All controls of Plan, in order. `engine_open` tells whether the engine's group begins open.
pub(crate) fn settings_panel(engine_open: bool) -> El {
    let state = expect_context::<State>();
    let is_recorded = move || state.recording.with(Option::is_some);
    // A recording takes the place of what is drawn.
    let drawn = move |element: El| element.flag_of("hidden", is_recorded);
    let lengths = move || {
        state
            .recording
            .with(|kept| recording_in(kept).map_or_else(String::new, strings::recorded_lengths))
    };
    el("div").class("controls").child([
        control_set(Group::ModelAndGpu).child([model_picker(), gpu_picker(), gpus_per_engine()]),
        // Users of a closed loop take the place of the rate.
        control_set(Group::Traffic)
            .when(is_closed(false), || in_place_of(&settings::USERS, &settings::RATE))
            .when(is_closed(true), || in_place_of(&settings::RATE, &settings::USERS))
            .child(drawn(el("div").class("demand-place").region(move || late_demand(state))))
            .child([drawn(control(&settings::PROMPT)), drawn(control(&settings::ANSWER))])
            .when(is_recorded, move || el("p").class("control-help").text_of(lengths)),
        control_set(Group::Target).child([
            control(&settings::TTFT),
            control(&settings::TPOT),
            share_choice(),
            control(&settings::HEADROOM),
        ]),
        el("div").class("folds").child([
            recording_group(),
            drawn(arrivals_group()),
            drawn(lengths_group()),
            drawn(mix_group()),
            engine_group(engine_open),
            memory_group(),
            overload_group(),
            accuracy_group(),
        ]),
    ])
}

/// Other words for the rate, once there is what reads them.
fn late_demand(state: State) -> Nodes {
    if state.late.stage.get() == Stage::Here { demand(state) } else { Nodes::default() }
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
pub(super) fn is_closed(wanted: bool) -> impl Fn() -> bool + Clone + 'static {
    let state = expect_context::<State>();
    move || state.current.with(|scenario| scenario.closed.is_some() == wanted)
}

pub(crate) fn control_set(group: Group) -> El {
    el("section")
        .class("control-set")
        .child(el("h2").class("control-set-title").text(group.label()))
}

/// The controls of a group that few open, from the late part once it has been opened.
fn when_opened(body: El, opened: Memo<bool>, group: Folded) -> El {
    let state = expect_context::<State>();
    body.region(move || {
        if !opened.get() {
            return Nodes::default();
        }
        let build = || furnish(group, el("div").class("fold-rows")).into();
        state.late.view(strings::SETTINGS_NOT_LOADED, note, build)
    })
}

/// Whether any of these keys differs from the default.
pub(crate) fn differs(now: &Scenario, keys: &[&str]) -> bool {
    let preset = Scenario::preset();
    keys.iter().any(|key| now.get(key) != preset.get(key))
}

/// Over how many GPUs an engine is spread. One is what nobody needs to say.
fn gpus_per_engine() -> El {
    Choice {
        id: "tp",
        label: strings::GPUS_PER_ENGINE,
        options: settings::GPUS_PER_ENGINE.map(|gpus| (gpus.to_owned(), gpus)).into(),
        current: Box::new(|scenario| quantity::count(scenario.gpus_per_engine())),
        put: Rc::new(|scenario, gpus| {
            let is_one = gpus == settings::GPUS_PER_ENGINE[0];
            scenario.set(TP, if is_one { settings::AUTO } else { gpus })
        }),
        look: Look::Short,
    }
    .el()
}

const TP: &str = "deploy.tp";

pub(crate) fn share_choice() -> El {
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
pub(crate) type KindDials = &'static [(&'static str, &'static [&'static Dial])];

/// The controls of some kinds of a setting, each there while its kind is in force.
pub(crate) fn of_kind(body: El, kinds: &'static Kinds, dials: KindDials) -> El {
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
        is_changed: |scenario| differs(scenario, &["arrivals", "profile", "turns"]),
        begins_open: false,
        furnish: |body, opened| when_opened(body, opened, Folded::Arrivals),
    }
    .el()
}

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
        furnish: |body, opened| when_opened(body, opened, Folded::Lengths),
    }
    .el()
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
        furnish: |body, opened| when_opened(body, opened, Folded::Mix),
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
                "disagg.prefill",
                "disagg.decode",
            ];
            differs(scenario, &keys) || (is_vllm(scenario) && differs(scenario, &VLLM_KEYS))
        },
        begins_open,
        furnish: |body, _| {
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
            let has_pools = move || state.current.with(|now| now.disagg.is_asked_for());
            let drafts = move || state.current.with(|scenario| scenario.spec.tokens > 0);
            let body = body
                .when(drafts, || settings::DRAFT_DETAILS.iter().map(control).collect::<Vec<_>>())
                .when(
                    move || state.current.with(may_pool),
                    || settings::POOLS.iter().map(control).collect::<Vec<_>>(),
                )
                .when(has_pools, || settings::POOL_DETAILS.iter().map(control).collect::<Vec<_>>())
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

/// Whether pools suit the rules and the step time, or are asked for all the same.
const fn may_pool(scenario: &Scenario) -> bool {
    let suits = matches!(scenario.rules, SchedRules::Reference) && scenario.knows_memory();
    suits || scenario.disagg.is_asked_for()
}

/// What only vLLM's rules can be told, in words.
fn vllm_choices() -> Vec<El> {
    [("policy", VLLM_KEYS[0]), ("async", VLLM_KEYS[1]), ("prefix-cache", VLLM_KEYS[2])]
        .map(|(id, key)| word_choice(id, key))
        .into()
}

/// A choice among the words of a setting.
pub(super) fn word_choice(id: &'static str, key: &'static str) -> El {
    // A long row of words would not fit.
    let is_long = key == "overload.policy" || MEMORY_KEYS.contains(&key);
    let (label, words) = field(key).map_or(("", &[][..]), |field| (field.label, field.choices));
    let options = words.iter().map(|word| (strings::word(word), *word)).collect();
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

fn memory_group() -> El {
    Fold {
        id: "memory",
        name: strings::MEMORY,
        summary: strings::memory_summary,
        is_changed: |scenario| differs(scenario, &MEMORY_KEYS),
        begins_open: false,
        furnish: |body, opened| when_opened(body, opened, Folded::Memory),
    }
    .el()
}

/// What says how an engine is set up on its GPUs, besides their number.
const MEMORY_KEYS: [&str; 4] = ["engine", "weights", "kv_dtype", "kv.num_gpu_blocks"];

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
        furnish: |body, opened| when_opened(body, opened, Folded::Overload),
    }
    .el()
}

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
        furnish: |body, opened| when_opened(body, opened, Folded::Accuracy),
    }
    .el()
}
