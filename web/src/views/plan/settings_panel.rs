//! The side panel: what is always visible, then the folded groups.

use std::rc::Rc;

use leptos::prelude::*;
use scenario::{Group, Scenario};

use crate::{
    controls::{Choice, Control, Fold, GpuPicker, ModelPicker},
    memo::{memo, when},
    settings::{self, Dial},
    state::State,
    strings,
};

/// All controls of Plan, in order.
#[component]
pub(crate) fn SettingsPanel(
    /// Whether the engine's group begins open.
    engine_open: bool,
) -> impl IntoView {
    view! {
        <div class="controls">
            <section class="control-set">
                <h2 class="control-set-title">{Group::ModelAndGpu.label()}</h2>
                <ModelPicker />
                <GpuPicker />
            </section>
            <section class="control-set">
                <h2 class="control-set-title">{Group::Traffic.label()}</h2>
                <Control dial=&settings::RATE />
                <Control dial=&settings::PROMPT />
                <Control dial=&settings::ANSWER />
            </section>
            <section class="control-set">
                <h2 class="control-set-title">{Group::Target.label()}</h2>
                <Control dial=&settings::TTFT />
                <Control dial=&settings::TPOT />
                <ShareChoice />
                <Control dial=&settings::HEADROOM />
            </section>
            <div class="folds">
                <ArrivalsGroup />
                <EngineGroup open=engine_open />
                <AccuracyGroup />
            </div>
        </div>
    }
}

/// Whether any of these keys differs from the default.
fn changed(keys: &'static [&'static str]) -> Memo<bool> {
    let state = expect_context::<State>();
    let preset = Scenario::preset();
    memo(move |_| state.current.with(|now| keys.iter().any(|key| now.get(key) != preset.get(key))))
}

#[component]
fn ShareChoice() -> impl IntoView {
    let options = ["95", "99", "99.9"]
        .map(|share| (strings::with_unit(share, "%"), share.to_owned()))
        .into_iter()
        .collect();
    view! {
        <Choice
            id="share"
            label=strings::MUST_HOLD_FOR
            options
            current=Box::new(|scenario: &Scenario| scenario.get("share").unwrap_or_default())
            put=Rc::new(|scenario: &mut Scenario, value: &str| scenario.set("share", value))
        />
    }
}

#[component]
fn ArrivalsGroup() -> impl IntoView {
    let state = expect_context::<State>();
    let patterns = settings::PATTERNS.map(|(text, value)| (text.to_owned(), value.to_owned()));
    let is_bursty = memo(move |_| state.current.with(|s| settings::BURSTINESS.value(s).is_some()));
    let summary = |scenario: &Scenario| {
        let varies = [&settings::PROMPT_SPREAD, &settings::ANSWER_SPREAD]
            .iter()
            .any(|dial| settings::has_spread(dial, scenario));
        let pattern = settings::pattern(scenario);
        let named = settings::PATTERNS.iter().find(|(_, value)| *value == pattern);
        strings::arrivals_summary(named.map_or("", |(name, _)| name), varies)
    };
    let differs = memo(move |_| {
        state.current.with(|s| s.arrivals != Scenario::preset().arrivals || spreads_differ(s))
    });
    view! {
        <Fold id="arrivals" name=strings::ARRIVALS summary changed=differs>
            <Choice
                id="pattern"
                label=strings::PATTERN
                options=patterns.into_iter().collect()
                current=Box::new(|scenario: &Scenario| settings::pattern(scenario).to_owned())
                put=Rc::new(|scenario: &mut Scenario, value: &str| scenario.set("arrivals", value))
                wide=true
            />
            <Show when=when(move || is_bursty.get())>
                <Control dial=&settings::BURSTINESS />
            </Show>
            <SpreadChoice id="in-lengths" label=strings::PROMPT_LENGTHS dial=&settings::PROMPT_SPREAD />
            <SpreadChoice id="out-lengths" label=strings::ANSWER_LENGTHS dial=&settings::ANSWER_SPREAD />
        </Fold>
    }
}

fn spreads_differ(scenario: &Scenario) -> bool {
    settings::PROMPT_SPREAD.is_changed(scenario) || settings::ANSWER_SPREAD.is_changed(scenario)
}

/// Fixed or lognormal, and then the sigma.
#[component]
fn SpreadChoice(id: &'static str, label: &'static str, dial: &'static Dial) -> impl IntoView {
    let state = expect_context::<State>();
    let has_spread = memo(move |_| state.current.with(|s| settings::has_spread(dial, s)));
    let options = [strings::FIXED, strings::LOGNORMAL]
        .map(|text| (text.to_owned(), text.to_owned()))
        .into_iter()
        .collect();
    let current = Box::new(move |scenario: &Scenario| {
        let spread = settings::has_spread(dial, scenario);
        (if spread { strings::LOGNORMAL } else { strings::FIXED }).to_owned()
    });
    let put = Rc::new(move |scenario: &mut Scenario, value: &str| {
        settings::switch_spread(dial, scenario, value == strings::LOGNORMAL);
        Ok(Vec::new())
    });
    view! {
        <Choice id label options current put wide=true />
        <Show when=when(move || has_spread.get())>
            <Control dial />
        </Show>
    }
}

#[component]
fn EngineGroup(open: bool) -> impl IntoView {
    let rules = settings::RULES.map(|(text, value)| (text.to_owned(), value.to_owned()));
    let summary = |scenario: &Scenario| {
        strings::engine_summary(scenario.sched.max_num_batched_tokens, scenario.sched.max_num_seqs)
    };
    view! {
        <Fold
            id="engine"
            name=strings::ENGINE
            summary
            changed=changed(&["sched.max_num_batched_tokens", "sched.max_num_seqs", "sched.rules"])
            open
        >
            <Control dial=&settings::BUDGET />
            <Control dial=&settings::SEQUENCES />
            <Choice
                id="rules"
                label=strings::RULES
                options=rules.into_iter().collect()
                current=Box::new(|scenario: &Scenario| {
                    scenario.get("sched.rules").unwrap_or_default()
                })
                put=Rc::new(|scenario: &mut Scenario, value: &str| {
                    scenario.set("sched.rules", value)
                })
                wide=true
            />
        </Fold>
    }
}

#[component]
fn AccuracyGroup() -> impl IntoView {
    let summary = |scenario: &Scenario| strings::accuracy_summary(scenario.sim.replications);
    let keys = &["step.mfu", "step.overhead_s", "sim.requests", "sim.replications", "seed"];
    view! {
        <Fold id="accuracy" name=strings::ACCURACY summary changed=changed(keys)>
            <Control dial=&settings::EFFICIENCY />
            <Control dial=&settings::OVERHEAD />
            <Control dial=&settings::REQUESTS />
            <Control dial=&settings::RUNS />
            <Control dial=&settings::SEED />
        </Fold>
    }
}
