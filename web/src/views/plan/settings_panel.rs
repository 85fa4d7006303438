//! The side panel: what is always visible, then the folded groups.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{Group, Scenario};

use crate::{
    controls::{Choice, Fold, control, gpu_picker, model_picker},
    dom::{El, el},
    settings::{self, Dial},
    state::State,
    strings,
};

/// All controls of Plan, in order. `engine_open` tells whether the engine's group begins open.
pub(crate) fn settings_panel(engine_open: bool) -> El {
    el("div").class("controls").child([
        control_set(Group::ModelAndGpu).child([model_picker(), gpu_picker()]),
        control_set(Group::Traffic).child([
            control(&settings::RATE),
            control(&settings::PROMPT),
            control(&settings::ANSWER),
        ]),
        control_set(Group::Target).child([
            control(&settings::TTFT),
            control(&settings::TPOT),
            share_choice(),
            control(&settings::HEADROOM),
        ]),
        el("div").class("folds").child([
            arrivals_group(),
            engine_group(engine_open),
            accuracy_group(),
        ]),
    ])
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
        is_wide: false,
    }
    .el()
}

fn arrivals_group() -> El {
    Fold {
        id: "arrivals",
        name: strings::ARRIVALS,
        summary: |scenario| {
            let varies = [&settings::PROMPT_SPREAD, &settings::ANSWER_SPREAD]
                .iter()
                .any(|dial| settings::has_spread(dial, scenario));
            let pattern = settings::pattern(scenario);
            let named = settings::PATTERNS.iter().find(|(_, value)| *value == pattern);
            strings::arrivals_summary(named.map_or("", |(name, _)| name), varies)
        },
        is_changed: |scenario| {
            scenario.arrivals != Scenario::preset().arrivals
                || settings::PROMPT_SPREAD.is_changed(scenario)
                || settings::ANSWER_SPREAD.is_changed(scenario)
        },
        begins_open: false,
        furnish: |body| {
            let state = expect_context::<State>();
            let is_bursty = move || state.current.with(|s| settings::BURSTINESS.value(s).is_some());
            let body =
                body.child(pattern_choice()).when(is_bursty, || control(&settings::BURSTINESS));
            let body =
                with_spread(body, "in-lengths", strings::PROMPT_LENGTHS, &settings::PROMPT_SPREAD);
            with_spread(body, "out-lengths", strings::ANSWER_LENGTHS, &settings::ANSWER_SPREAD)
        },
    }
    .el()
}

fn pattern_choice() -> El {
    Choice {
        id: "pattern",
        label: strings::PATTERN,
        options: named(&settings::PATTERNS),
        current: Box::new(|scenario| settings::pattern(scenario).to_owned()),
        put: Rc::new(|scenario, value| scenario.set("arrivals", value)),
        is_wide: true,
    }
    .el()
}

fn named(options: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    options.iter().map(|(text, value)| ((*text).to_owned(), *value)).collect()
}

/// Fixed or lognormal, and then the sigma.
fn with_spread(body: El, id: &'static str, label: &'static str, dial: &'static Dial) -> El {
    let state = expect_context::<State>();
    let options = [(strings::FIXED, strings::FIXED), (strings::LOGNORMAL, strings::LOGNORMAL)];
    let choice = Choice {
        id,
        label,
        options: named(&options),
        current: Box::new(move |scenario| {
            let spread = settings::has_spread(dial, scenario);
            (if spread { strings::LOGNORMAL } else { strings::FIXED }).to_owned()
        }),
        put: Rc::new(move |scenario, value| {
            settings::switch_spread(dial, scenario, value == strings::LOGNORMAL);
            Ok(Vec::new())
        }),
        is_wide: true,
    };
    body.child(choice.el()).when(
        move || state.current.with(|scenario| settings::has_spread(dial, scenario)),
        move || control(dial),
    )
}

fn engine_group(begins_open: bool) -> El {
    Fold {
        id: "engine",
        name: strings::ENGINE,
        summary: |scenario| {
            let sched = &scenario.sched;
            strings::engine_summary(sched.max_num_batched_tokens, sched.max_num_seqs)
        },
        is_changed: |scenario| {
            let keys = ["sched.max_num_batched_tokens", "sched.max_num_seqs", "sched.rules"];
            differs(scenario, &keys)
        },
        begins_open,
        furnish: |body| {
            body.child([control(&settings::BUDGET), control(&settings::SEQUENCES), rules_choice()])
        },
    }
    .el()
}

fn rules_choice() -> El {
    Choice {
        id: "rules",
        label: strings::RULES,
        options: named(&settings::RULES),
        current: Box::new(|scenario| scenario.get("sched.rules").unwrap_or_default()),
        put: Rc::new(|scenario, value| scenario.set("sched.rules", value)),
        is_wide: true,
    }
    .el()
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
