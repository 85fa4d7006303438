//! Telling a measured curve beside the model's.

use planner::{MeasuredKnee, PlanAnswer, SeenLoad, Verdict};
use scenario::Scenario;
use serde_json::{Value, json};
use sim_core::{Distribution, Run};

use crate::{json::document, table};

/// A measured curve with what the model says of it.
#[derive(Clone, Copy, Debug)]
pub struct CurveTelling<'a> {
    /// The deployment, the traffic and the target.
    pub scenario: &'a Scenario,
    /// What was read, one sentence a file.
    pub read: &'a [String],
    /// Names of the points.
    pub names: &'a [&'a str],
    /// The points.
    pub seen: &'a [SeenLoad],
    /// Which statistic of a time is held against the target.
    pub statistic: &'static str,
    /// Where the points cross the target; none where the least load misses it.
    pub knee: Option<MeasuredKnee>,
    /// The model's run of each point.
    pub runs: &'a [Run],
    /// The model's own answer.
    pub plan: &'a PlanAnswer,
}

impl CurveTelling<'_> {
    /// GPUs for the asked rate with headroom, at a capacity of one engine.
    fn gpus(&self, capacity_per_s: f64) -> f64 {
        let engines = self.scenario.rate_per_s * (1.0 + self.scenario.headroom) / capacity_per_s;
        // A quotient that is whole but for rounding is whole.
        (engines - 1e-9).ceil() * self.scenario.gpus_per_engine() as f64
    }

    fn model_gpus(&self) -> Option<f64> {
        match &self.plan.verdict {
            Verdict::Sized(size) => {
                Some((size.with_headroom * self.scenario.gpus_per_engine()) as f64)
            }
            _ => None,
        }
    }

    /// The same statistic of a run.
    fn of_run(&self, times: &Distribution) -> Option<f64> {
        match self.statistic {
            "P99" => times.percentile(99.0),
            "P90" => times.percentile(90.0),
            "median" => times.percentile(50.0),
            _ => times.mean(),
        }
    }
}

/// All of it as text.
#[must_use]
pub fn curve_text(telling: &CurveTelling<'_>) -> String {
    let rows: Vec<Vec<String>> = telling
        .names
        .iter()
        .zip(telling.seen)
        .zip(telling.runs)
        .map(|((name, seen), run)| {
            let time =
                |time_s: Option<f64>| time_s.map_or_else(|| "–".to_owned(), quantity::duration);
            vec![
                (*name).to_owned(),
                quantity::rate(seen.rate_per_s),
                time(seen.ttft_s),
                time(telling.of_run(&run.ttft)),
                time(seen.tpot_s),
                time(telling.of_run(&run.tpot)),
                if seen.is_overloaded { "overloaded" } else { "" }.to_owned(),
            ]
        })
        .collect();
    let statistic = telling.statistic;
    let header = ["Load", "answered", "TTFT measured", "model", "TPOT measured", "model", ""];
    format!(
        "{}\n\nTimes are the {statistic} of all requests.\n{}\n{}\n{}\n",
        telling.read.join("\n"),
        table::aligned(&header, &rows),
        measured_sentence(telling),
        model_sentence(telling)
    )
}

fn target(scenario: &Scenario) -> String {
    format!(
        "TTFT {} and TPOT {}",
        quantity::duration(scenario.slo.ttft_s),
        quantity::duration(scenario.slo.tpot_s)
    )
}

fn measured_sentence(telling: &CurveTelling<'_>) -> String {
    let scenario = telling.scenario;
    let Some(knee) = telling.knee else {
        return format!(
            "Measured: even the least load misses {} ({}).",
            target(scenario),
            telling.statistic
        );
    };
    let gpus = |rate: f64| quantity::count(telling.gpus(rate) as u64);
    let asked = format!(
        "{} with {} headroom",
        quantity::rate(scenario.rate_per_s),
        quantity::share(scenario.headroom)
    );
    match knee.misses_per_s {
        Some(misses) => format!(
            "Measured: one engine holds {} ({}) up to {}, between {}, which meets it, and {}, which does not: \
             {} GPUs for {asked} ({} to {}).",
            target(scenario),
            telling.statistic,
            quantity::rate(knee.capacity_per_s),
            quantity::rate(knee.meets_per_s),
            quantity::rate(misses),
            gpus(knee.capacity_per_s),
            gpus(misses),
            gpus(knee.meets_per_s),
        ),
        None => format!(
            "Measured: one engine holds {} ({}) at {}, the largest load that was measured: at most {} GPUs for \
             {asked}. Measure at higher loads to find the knee.",
            target(scenario),
            telling.statistic,
            quantity::rate(knee.capacity_per_s),
            gpus(knee.capacity_per_s),
        ),
    }
}

fn model_sentence(telling: &CurveTelling<'_>) -> String {
    let share = quantity::share(telling.scenario.slo.share);
    match (telling.plan.capacity_per_s, telling.model_gpus()) {
        (Some(capacity), Some(gpus)) => format!(
            "Model: one engine holds it for {share} of requests up to {}: {} GPUs.",
            quantity::rate(capacity.value),
            quantity::count(gpus as u64)
        ),
        _ => "Model: the target cannot be met; headroom plan says why.".to_owned(),
    }
}

/// All of it as JSON, in SI units.
#[must_use]
pub fn curve_json(telling: &CurveTelling<'_>) -> String {
    let points: Vec<Value> = telling
        .names
        .iter()
        .zip(telling.seen)
        .zip(telling.runs)
        .map(|((name, seen), run)| {
            json!({
                "name": name,
                "rate_per_s": seen.rate_per_s,
                "is_overloaded": seen.is_overloaded,
                "ttft_s": { "measured": seen.ttft_s, "model": telling.of_run(&run.ttft) },
                "tpot_s": { "measured": seen.tpot_s, "model": telling.of_run(&run.tpot) },
            })
        })
        .collect();
    document(&json!({
        "schema": crate::SCHEMA,
        "kind": "curve",
        "read": telling.read,
        "statistic": telling.statistic,
        "points": points,
        "measured": telling.knee.map(|knee| json!({
            "capacity_per_s": knee.capacity_per_s,
            "meets_per_s": knee.meets_per_s,
            "misses_per_s": knee.misses_per_s,
            "gpus": telling.gpus(knee.capacity_per_s),
        })),
        "model": {
            "capacity_per_s": telling.plan.capacity_per_s.map(|it| it.value),
            "gpus": telling.model_gpus(),
        },
        "link": telling.scenario.to_link(),
    }))
}
