//! Answers and runs as JSON: SI units, names that end in the unit, all digits.

use planner::{Estimate, LoadPoint, PlanAnswer, Verdict};
use scenario::{Ledger, Notice, Scenario};
use serde::Serialize;
use serde_json::{Value, json};
use sim_core::{Distribution, Run, measure::ClassRun};

use crate::{
    attempts::{self, Attempts},
    requests::outcome,
    steadiness::steadiness_json,
    telling::{Telling, tell},
    windows::{targets_json, windows_json},
};

/// Version of the documents' shape. Fields may be added under one version; none changes its
/// meaning.
pub const SCHEMA: u32 = 1;

/// An answer with its words, its knee and, where given, the ledger of its numbers and a run of one engine
/// of the planned fleet under the profile.
#[must_use]
pub fn plan_json(
    answer: &PlanAnswer,
    scenario: &Scenario,
    ledger: Option<&Ledger>,
    over_time: Option<&Run>,
) -> String {
    plan_json_with(answer, scenario, (ledger, over_time), Vec::new())
}

/// The same with more fields, by their names.
#[must_use]
pub fn plan_json_with(
    answer: &PlanAnswer,
    scenario: &Scenario,
    (ledger, over_time): (Option<&Ledger>, Option<&Run>),
    more: Vec<(&'static str, Value)>,
) -> String {
    let mut plan = json!({
        "schema": SCHEMA,
        "kind": "plan",
        "scenario": settings(scenario),
        "link": scenario.to_link(),
        "verdict": verdict(&answer.verdict, scenario.gpus_per_engine()),
        "telling": telling(&tell(answer, scenario)),
        "rate_per_s": answer.rate_per_s,
        "users": answer.users.map(|users| json!({
            "asked": users.asked,
            "think_s": users.think_s,
            "capacity": users.capacity.map(estimate),
        })),
        "headroom_share": answer.headroom,
        "capacity_per_s": answer.capacity_per_s.map(estimate),
        "ceiling_per_s": answer.ceiling_per_s.map(estimate),
        "planned": answer.planned.as_ref().map(load_point),
        "classes": answer.classes,
        "over_time": over_time.map(|run| json!({
            "requests": run.offered,
            "duration_s": run.duration_s(),
            "by_window": targets_json(run),
        })),
        "knee": answer.knee.iter().map(load_point).collect::<Vec<_>>(),
        "requests_that_fit": answer.requests_that_fit,
        "replications": answer.replications,
        "requests": answer.requests,
        "simulated_requests": answer.simulated_requests,
        "simulated_steps": answer.simulated_steps,
        "ledger": ledger,
    });
    for (name, value) in more {
        plan[name] = value;
    }
    document(&plan)
}

/// Load points by rate.
#[must_use]
pub fn sweep_json(points: &[LoadPoint], scenario: &Scenario) -> String {
    document(&json!({
        "schema": SCHEMA,
        "kind": "sweep",
        "scenario": settings(scenario),
        "link": scenario.to_link(),
        "points": points.iter().map(load_point).collect::<Vec<_>>(),
    }))
}

/// What happened in one run, or in all `replicas` together, as
/// [`FleetRun`](sim_core::fleet::FleetRun) puts them; every request where the run kept them and
/// `with_requests` asks, the run over time where `with_windows` asks. `class_names` in the order of the
/// run's classes; `attempts` where clients or the line react.
#[must_use]
pub fn run_json(
    run: &Run,
    replicas: u64,
    scenario: &Scenario,
    (class_names, attempts): (&[String], Option<&Attempts>),
    (with_requests, with_windows): (bool, bool),
) -> String {
    let requests = run.requests.as_deref().filter(|_| with_requests).map(|requests| {
        let row = |r: &sim_core::RequestRecord| {
            json!({
                "arrival_s": r.arrival_s,
                "input_tokens": r.input_tokens,
                "output_tokens": r.output_tokens,
                "first_token_s": r.first_token_s,
                "finish_s": r.finish_s,
                "outcome": outcome(r.outcome),
            })
        };
        requests.iter().map(row).collect::<Vec<_>>()
    });
    document(&json!({
        "schema": SCHEMA,
        "kind": "run",
        "scenario": settings(scenario),
        "link": scenario.to_link(),
        "replicas": replicas,
        "offered": run.offered,
        "completed": run.completed,
        "rejected": run.rejected,
        "dropped": run.dropped,
        "abandoned": run.abandoned,
        "throttled": run.throttled,
        "in_flight": run.in_flight,
        "attempts": attempts.map(attempts::json),
        "slo_met": run.slo_met,
        "slo_share": run.slo_share(),
        "duration_s": run.duration_s(),
        "throughput_per_s": run.throughput_per_s(),
        "goodput_per_s": run.goodput_per_s(),
        "settled_throughput_per_s": run.settled_throughput_per_s(),
        "output_tokens_per_s": run.output_tokens_per_s(),
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "ttft": distribution(&run.ttft),
        "tpot": distribution(&run.tpot),
        "itl": distribution(&run.itl),
        "e2e": distribution(&run.e2e),
        "queue_wait": distribution(&run.queue_wait),
        "steps": run.steps,
        "busy_s": run.step_times.busy_s,
        "compute_bound_s": run.step_times.compute_bound_s,
        "mean_running": run.mean_running(),
        "peak_running": run.peak_running,
        "peak_kv_tokens": run.peak_kv_tokens,
        "kv_capacity_tokens": run.bounds.kv_capacity_tokens,
        "preemptions": run.preemptions,
        "recomputed_tokens": run.recomputed_tokens,
        "cached_tokens": run.cached_tokens,
        "steadiness": steadiness_json(run),
        "classes": classes(run, class_names),
        "windows": with_windows.then(|| windows_json(&run.windows)),
        "requests": requests,
    }))
}

/// Each class of a run by its name; none where the scenario names none.
fn classes(run: &Run, names: &[String]) -> Vec<Value> {
    let class = |(class, name): (&ClassRun, &String)| {
        json!({
            "name": name,
            "ttft_target_s": class.slo.ttft_s,
            "tpot_target_s": class.slo.tpot_s,
            "offered": class.offered,
            "completed": class.completed,
            "slo_met": class.slo_met,
            "slo_share": class.slo_share(),
            "ttft": distribution(&class.ttft),
            "tpot": distribution(&class.tpot),
            "e2e": distribution(&class.e2e),
        })
    };
    run.classes.iter().zip(names).map(class).collect()
}

/// A document with `notices`: each departure from what was written, by key, value, kind and message.
/// None where there is none.
#[must_use]
pub fn json_with_notices(document_text: &str, notices: &[Notice]) -> String {
    let notice = |notice: &Notice| {
        json!({
            "key": notice.key,
            "value": notice.value,
            "kind": notice.kind.word(),
            "message": notice.message,
        })
    };
    match serde_json::from_str::<Value>(document_text) {
        Ok(mut value) if !notices.is_empty() => {
            value["notices"] = notices.iter().map(notice).collect();
            document(&value)
        }
        _ => document_text.to_owned(),
    }
}

pub(crate) fn document(value: &Value) -> String {
    // A value prints itself; `#` asks for one field a line.
    format!("{value:#}\n")
}

/// The scenario's own JSON as a value.
fn settings(scenario: &Scenario) -> Value {
    serde_json::from_str(&scenario.to_json()).unwrap_or(Value::Null)
}

pub(crate) fn estimate(estimate: Estimate) -> Value {
    json!({ "value": estimate.value, "low": estimate.low, "high": estimate.high })
}

fn verdict(verdict: &Verdict, each: u64) -> Value {
    let all = |engines: u64| engines.saturating_mul(each);
    match verdict {
        Verdict::Sized(fleet) => json!({
            "kind": "sized",
            "gpus": all(fleet.with_headroom),
            "gpus_per_engine": each,
            "gpus_low": all(fleet.with_headroom_low),
            // Without a bound where the capacity may be nothing at all.
            "gpus_high": (fleet.with_headroom_high != u64::MAX).then_some(all(fleet.with_headroom_high)),
            "gpus_without_headroom": all(fleet.without_headroom),
            "carried_per_s": fleet.carried_per_s,
        }),
        Verdict::DoesNotFit { weight_bytes, available_bytes, remedies } => json!({
            "kind": "does_not_fit",
            "weight_bytes": weight_bytes,
            "available_bytes": available_bytes,
            "remedies": remedies,
        }),
        Verdict::NoRoom { capacity_tokens, needed_tokens, remedies } => json!({
            "kind": "no_room",
            "capacity_tokens": capacity_tokens,
            "needed_tokens": needed_tokens,
            "remedies": remedies,
        }),
        Verdict::TooLong { sentence, remedies } => json!({
            "kind": "too_long",
            "sentence": sentence,
            "remedies": remedies,
        }),
        Verdict::OutOfReach { class, ttft_floor_s, tpot_floor_s, remedies } => json!({
            "kind": "out_of_reach",
            "class": class,
            "ttft_floor_s": ttft_floor_s,
            "tpot_floor_s": tpot_floor_s,
            "remedies": remedies,
        }),
    }
}

fn telling(telling: &Telling) -> Value {
    json!({
        "status": telling.status.label(),
        "hero": telling.hero,
        "headline": telling.headline,
        "line": telling.line,
        "sentences": telling.sentences,
    })
}

/// A load point. Latencies of an unstable one are `null`: they only tell how long one watched. So
/// are percentiles that more requests exceed by getting no answer.
fn load_point(point: &LoadPoint) -> Value {
    let latency =
        |percent: f64, value: Estimate| point.has_percentile(percent).then(|| estimate(value));
    json!({
        "rate_per_s": point.rate_per_s,
        "users": point.users,
        "stable": point.stable,
        "settled": point.settled,
        "ttft_p50_s": latency(50.0, point.ttft_p50_s),
        "ttft_p99_s": latency(99.0, point.ttft_p99_s),
        "tpot_p50_s": latency(50.0, point.tpot_p50_s),
        "tpot_p99_s": latency(99.0, point.tpot_p99_s),
        "itl_p50_s": latency(50.0, point.itl_p50_s),
        "itl_p99_s": latency(99.0, point.itl_p99_s),
        "itl_max_s": point.stable.then_some(point.itl_max_s),
        "e2e_p50_s": latency(50.0, point.e2e_p50_s),
        "e2e_p99_s": latency(99.0, point.e2e_p99_s),
        "queue_wait_mean_s": latency(0.0, point.queue_wait_mean_s),
        "goodput_per_s": estimate(point.goodput_per_s),
        "throughput_per_s": estimate(point.throughput_per_s),
        "output_tokens_per_s": estimate(point.output_tokens_per_s),
        "slo_share": estimate(point.slo_share),
        "answered_share": point.answered_share,
        "mean_running": point.mean_running,
        "kv_peak_share": point.kv_peak_share,
        "compute_bound_share": point.compute_bound_share,
        "busy_share": point.busy_share,
    })
}

/// A distribution in seconds; `null` where nothing was counted.
#[derive(Serialize)]
pub(crate) struct Figures {
    count: u64,
    is_exact: bool,
    min_s: Option<f64>,
    mean_s: Option<f64>,
    p50_s: Option<f64>,
    p90_s: Option<f64>,
    p95_s: Option<f64>,
    p99_s: Option<f64>,
    p999_s: Option<f64>,
    max_s: Option<f64>,
}

pub(crate) fn distribution(values: &Distribution) -> Figures {
    Figures {
        count: values.count(),
        is_exact: values.is_exact(),
        min_s: values.min(),
        mean_s: values.mean(),
        p50_s: values.percentile(50.0),
        p90_s: values.percentile(90.0),
        p95_s: values.percentile(95.0),
        p99_s: values.percentile(99.0),
        p999_s: values.percentile(99.9),
        max_s: values.max(),
    }
}
