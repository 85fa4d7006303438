//! The controls of the view: what comes, who decides, how long a start takes, and what goes wrong.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{Group, Notice, Profile, Scenario, field};

use crate::{
    controls::{Choice, Fold, Look, control, gpu_picker, model_picker},
    dom::{El, Nodes, el, svg},
    settings,
    state::State,
    strings,
    views::plan::{PROFILES, control_set, differs, of_kind, recording_group, share_choice},
};

/// Size of the picture of the traffic, in units of its own.
const SHAPE: (f64, f64) = (260.0, 44.0);
/// Longer runs are days.
const DAY_S: f64 = 21_600.0;

/// All controls; not inlined into the door.
#[inline(never)]
pub(super) fn settings_panel(state: State) -> Nodes {
    let is_policy = move |words: &'static [&'static str]| {
        move || state.current.with(|now| words.contains(&now.fleet.policy_word()))
    };
    let is_recorded = move || state.recording.with(Option::is_some);
    let note = el("p")
        .class("control-help")
        .text_of(move || strings::policy_note(state.current.with(|now| now.fleet.policy_word())));
    let scaling = titled(strings::SCALING)
        .child([choice("fleet-policy", "fleet.policy", Look::List), note])
        .when(is_policy(&["hpa", "keda", "trend"]), || {
            choice("fleet-signal", "fleet.signal", Look::List)
        })
        .when(is_policy(&["hpa", "keda", "knative", "trend"]), || control(&settings::FLEET_TARGET))
        .child(control(&settings::FLEET_MIN))
        .when(is_policy(&["hpa", "keda", "knative", "trend", "wva-v1", "wva-v2"]), || {
            control(&settings::FLEET_MAX)
        })
        .when(is_policy(&["hpa", "wva-v1", "wva-v2"]), || control(&settings::FLEET_SCALE_DOWN));
    let panel = el("div").class("controls").child([
        control_set(Group::ModelAndGpu).child([model_picker(), gpu_picker()]),
        traffic(state).flag_of("data-recorded", is_recorded),
        scaling,
        titled(strings::COLD_START).child(control(&settings::FLEET_START)),
        el("div").class("folds").child([recording_group(), faults(), routing(), target()]),
    ]);
    panel.into()
}

fn titled(title: &str) -> El {
    el("section").class("control-set").child(el("h2").class("control-set-title").text(title))
}

/// A choice among the words of a setting.
fn choice(id: &'static str, key: &'static str, look: Look) -> El {
    let (label, words) = field(key).map_or(("", &[][..]), |field| (field.label, field.choices));
    let options = words.iter().map(|word| (strings::fleet_word(word).to_owned(), *word)).collect();
    Choice {
        id,
        label,
        options,
        current: Box::new(move |scenario| scenario.get(key).unwrap_or_default()),
        put: Rc::new(move |scenario, word| scenario.set(key, word)),
        look,
    }
    .el()
}

fn traffic(state: State) -> El {
    let others = move || {
        state.current.with(|now| {
            let is_other = shape_of(&now.profile).is_empty();
            if is_other {
                strings::other_shape(&now.get("profile").unwrap_or_default())
            } else {
                String::new()
            }
        })
    };
    let set = titled(strings::TRAFFIC).child([
        control(&settings::RATE),
        shape_choice(),
        picture(state),
        el("p").class("control-help").text_of(others),
    ]);
    of_kind(set, &settings::PROFILE, PROFILES).child(control(&settings::FLEET_DURATION))
}

/// The name of a shape, if it is one of those that are offered.
const fn shape_of(profile: &Profile) -> &'static str {
    match profile {
        Profile::Constant => "steady",
        Profile::Step { .. } => "step",
        Profile::Spike { .. } => "spike",
        Profile::Day { .. } => "day",
        _ => "",
    }
}

/// The shape, with a length of the run that shows it.
fn put_shape(scenario: &mut Scenario, shape: &str) -> Result<Vec<Notice>, Notice> {
    let (profile, is_day) = match shape {
        "step" => ("step(300s,2)", false),
        "spike" => ("spike(300s,600s,2)", false),
        "day" => ("daily(0.3)", true),
        _ => ("constant", false),
    };
    let was_day = scenario.fleet.duration_s >= DAY_S;
    if is_day != was_day {
        scenario.set("fleet.duration", if is_day { "24h" } else { "1500s" })?;
    }
    scenario.set("profile", profile)
}

fn shape_choice() -> El {
    let options = [
        (strings::SHAPE_STEADY, "steady"),
        (strings::SHAPE_STEP, "step"),
        (strings::SHAPE_SPIKE, "spike"),
        (strings::SHAPE_DAY, "day"),
    ];
    Choice {
        id: "fleet-shape",
        label: strings::SHAPE,
        options: options.map(|(name, value)| (name.to_owned(), value)).into(),
        current: Box::new(|scenario| shape_of(&scenario.profile).to_owned()),
        put: Rc::new(put_shape),
        look: Look::Wide,
    }
    .el()
}

/// The requested rate from the beginning of the run to its end.
fn picture(state: State) -> El {
    let path = move |closed: bool| {
        move || {
            state.current.with(|now| {
                let end_s = now.fleet.duration_s;
                let corners = now.rate_corners(end_s);
                let most = corners.iter().map(|corner| corner.factor);
                let most = most.fold(1.0, |most, factor| if factor > most { factor } else { most });
                let mut path = String::new();
                for corner in &corners {
                    let x = SHAPE.0 * corner.time_s / end_s;
                    let y = SHAPE.1 * (1.0 - corner.factor / most * 0.86);
                    path.push_str(if path.is_empty() { "M" } else { "L" });
                    path.push_str(&quantity::plain((x * 10.0).round() / 10.0, 0));
                    path.push(' ');
                    path.push_str(&quantity::plain((y * 10.0).round() / 10.0, 0));
                }
                if closed {
                    path.push_str("L260 44L0 44z");
                }
                path
            })
        }
    };
    let peak = move || {
        state.current.with(|now| {
            let most = now.profile.to_rate_profile().peak_factor();
            strings::up_to_rate(now.rate_per_s * most)
        })
    };
    let drawing = svg("svg")
        .attr("viewBox", "0 0 260 44")
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true")
        .child([
            svg("path").attr("class", "fleet-shape-area").attr_of("d", path(true)),
            svg("path").attr("class", "fleet-shape-line").attr_of("d", path(false)),
        ]);
    el("div")
        .class("fleet-shape")
        .child([drawing, el("span").class("fleet-shape-peak").text_of(peak)])
}

fn faults() -> El {
    Fold {
        id: "fleet-faults",
        name: strings::FAULTS,
        summary: |now| strings::fleet_word(now.fleet.fault_word()).to_owned(),
        is_changed: |now| differs(now, &["fleet.fault"]),
        begins_open: false,
        furnish: |body, _| {
            let state = expect_context::<State>();
            let is_set = move || state.current.with(|now| now.fleet.fault_word() != "none");
            body.child(choice("fleet-fault", "fleet.fault", Look::List))
                .when(is_set, || control(&settings::FLEET_FAULT_AT))
        },
    }
    .el()
}

fn routing() -> El {
    Fold {
        id: "fleet-routing",
        name: strings::ROUTING,
        summary: |now| strings::fleet_word(&now.get("fleet.router").unwrap_or_default()).to_owned(),
        is_changed: |now| differs(now, &["fleet.router", "fleet.initial"]),
        begins_open: false,
        furnish: |body, _| {
            body.child([
                choice("fleet-router", "fleet.router", Look::List),
                control(&settings::FLEET_INITIAL),
            ])
        },
    }
    .el()
}

fn target() -> El {
    Fold {
        id: "fleet-slo",
        name: strings::FLEET_TARGET,
        summary: strings::chip_target,
        is_changed: |now| differs(now, &["ttft", "tpot", "share"]),
        begins_open: false,
        furnish: |body, _| {
            body.child([control(&settings::TTFT), control(&settings::TPOT), share_choice()])
        },
    }
    .el()
}
