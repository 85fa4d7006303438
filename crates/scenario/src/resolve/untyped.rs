//! What the step time would be without numbers that a person typed.

use serde::{Deserialize, Serialize};
use sim_core::{EngineSpec, StepTimeSpec};

use crate::{field::FIELDS, schema::Scenario, setting::AUTO};

use super::{Remedy, Resolved, numbers};

/// What begins the keys of a step time.
const STEP: &str = "step.";

/// A step time in which something typed is computed instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Untyped {
    /// What is to be set back.
    pub remedy: Remedy,
    /// The step time then.
    pub step_time: StepTimeSpec,
    /// The engine then: weights decide how large its KV cache is.
    pub engine: EngineSpec,
}

/// Each typed number of the step time set back alone, and then all of them; only what changes
/// something and resolves.
pub(super) fn of(scenario: &Scenario, resolved: &Resolved) -> Vec<Untyped> {
    let mut all: Option<Remedy> = None;
    let mut found = Vec::new();
    let mut typed = 0;
    for field in FIELDS {
        if !field.key.starts_with(STEP) || scenario.text(field).is_none() {
            continue;
        }
        typed += 1;
        let effect = "as computed, not as typed".to_owned();
        let alone = Remedy::new(field.key, AUTO.to_owned(), effect);
        push(&mut found, scenario, resolved, &alone);
        all = Some(match all {
            None => alone,
            Some(remedy) => remedy.with(field.key, AUTO),
        });
    }
    if let Some(remedy) = all.filter(|_| typed > 1) {
        push(&mut found, scenario, resolved, &remedy);
    }
    found
}

fn push(found: &mut Vec<Untyped>, scenario: &Scenario, typed: &Resolved, remedy: &Remedy) {
    let mut changed = scenario.clone();
    for (key, value) in remedy.changes() {
        if changed.set(key, value).is_err() {
            return;
        }
    }
    if let Ok(Resolved { setup, .. }) = numbers::resolve(&changed)
        && setup.step_time != typed.setup.step_time
    {
        let (step_time, engine) = (setup.step_time, setup.engine);
        found.push(Untyped { remedy: remedy.clone(), step_time, engine });
    }
}
