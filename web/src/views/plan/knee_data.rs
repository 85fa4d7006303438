//! From an answer to what the chart draws.

use std::sync::Arc;

use charts::KneeData;
use planner::{LoadPoint, Verdict};

use crate::answered::{Answered, Resolution, Stand};

/// What the chart shows: the closed form of the scenario now, the points of the last answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Knee {
    /// What is drawn.
    pub(crate) data: KneeData,
    /// The points as they were measured.
    pub(crate) points: Vec<LoadPoint>,
    /// Whether they are of an older scenario: then no number of theirs is told.
    pub(crate) is_stale: bool,
    /// Whether they are not from all runs: what is told is about right.
    pub(crate) is_estimate: bool,
    /// Whether a run of the present settings is in.
    pub(crate) is_simulated: bool,
    /// Replications behind the intervals; none before the first answer.
    pub(crate) replications: u32,
    /// When the person made the change that this answers.
    pub(crate) input_ms: Option<f64>,
}

/// The knee for what is known now; none if the scenario has no answer.
pub(crate) fn knee(resolution: &Resolution, answered: Option<&Arc<Answered>>) -> Option<Knee> {
    let form = &resolution.outcome.as_ref().as_ref().ok()?.1;
    let scenario = &resolution.scenario;
    let under = answered.and_then(|answered| answered.under(resolution));
    let fresh = under.as_deref();
    if let Some(answered) = fresh
        && !matches!(answered.answer.verdict, Verdict::Sized(_))
        && answered.answer.knee.is_empty()
    {
        return None;
    }
    let answer = fresh.or(answered.map(|answered| &**answered)).map(|answered| &answered.answer);
    let points = answer.map(|answer| answer.knee.clone()).unwrap_or_default();
    let planned = match fresh.map(|answered| &answered.answer.verdict) {
        Some(Verdict::Sized(fleet)) => answer.map(|a| a.rate_per_s / fleet.with_headroom as f64),
        Some(_) => None,
        None => form.gpus.map(|gpus| form.asked_per_s / gpus as f64),
    };
    let curve = form.curve.clone();
    let mut data = match answer {
        Some(answer) => report::knee_data(answer, scenario, curve),
        None => report::knee_frame(scenario, curve),
    };
    data.planned_rate_per_s = planned;
    if fresh.is_none() {
        data.capacity_per_s = None;
        data.ceiling_per_s = None;
    }
    data.ceiling_per_s = data.ceiling_per_s.or(Some(form.ceiling_per_s));
    let simulated = fresh.filter(|answered| answered.stand != Stand::Scaled);
    let is_estimate = fresh.is_none_or(|answered| !answered.is_complete());
    data.is_estimate = is_estimate;
    Some(Knee {
        data,
        points,
        is_stale: fresh.is_none() && answer.is_some(),
        is_estimate,
        is_simulated: simulated.is_some(),
        replications: simulated.map_or(0, |answered| answered.answer.replications),
        input_ms: simulated.map(|answered| answered.input_ms),
    })
}
