//! Several models on one quota of GPUs, as text and JSON.

use quantity::{count, duration_or_unknown, number_fixed, share};
use serde_json::{Value, json};
use sim_core::fleet::{outcome::LiveRun, shared::SharedRun};

use crate::{experiments::aligned, fleet_over_time::fleet_value};

/// A model beside its run.
#[derive(Clone, Copy, Debug)]
pub struct NamedModel<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Who has more takes from who has less.
    pub priority: i32,
    /// Width of its windows in seconds.
    pub window_s: f64,
}

/// A row per model, and what they had of the quota.
#[must_use]
pub fn shared_text(models: &[NamedModel<'_>], run: &SharedRun, quota_gpus: u32) -> String {
    let header = [
        "model",
        "priority",
        "requests",
        "in time",
        "min below target",
        "TTFT P99",
        "GPU-hours",
        "ready at most",
        "taken",
        "began again",
    ];
    let row = |((model, live), reclaimed): ((&NamedModel<'_>, &LiveRun), &u64)| {
        vec![
            model.name.to_owned(),
            model.priority.to_string(),
            count(live.total.offered),
            share(live.total.slo_share()),
            number_fixed(live.violation_min(model.window_s), 1),
            duration_or_unknown(live.total.ttft.percentile(99.0)),
            number_fixed(live.held_gpu_hours(), 2),
            live.peak_ready.to_string(),
            count(*reclaimed),
            count(live.restarted),
        ]
    };
    let pairs = models.iter().zip(&run.runs).zip(&run.reclaimed);
    let header = header.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(pairs.map(row)).collect();
    format!(
        "{}\n{} of {quota_gpus} GPUs were in use or asked for at most. “Taken” are replicas whose GPUs went to a \
         more important model.\n",
        aligned(&rows),
        run.peak_gpus
    )
}

/// All of it in SI units, with the windows.
#[must_use]
pub fn shared_json(models: &[NamedModel<'_>], run: &SharedRun, quota_gpus: u32) -> String {
    let pairs = models.iter().zip(&run.runs).zip(&run.reclaimed);
    let model = |((model, live), reclaimed): ((&NamedModel<'_>, &LiveRun), &u64)| {
        json!({
            "name": model.name,
            "priority": model.priority,
            "replicas_reclaimed": reclaimed,
            "run": fleet_value(live, model.window_s),
        })
    };
    let models: Value = pairs.map(model).collect();
    let value = json!({ "quota_gpus": quota_gpus, "peak_gpus": run.peak_gpus, "models": models });
    format!("{value:#}\n")
}
