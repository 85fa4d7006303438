//! AIPerf and GenAI-Perf: metrics by name, each with its unit.

use serde_json::Value;

use crate::json::{Object, at, count_at, number_at, positive_at, text_at};

use super::{BenchmarkFormat, Gaps, Gathered, Load, MeasuredPoint, Times};

pub(super) fn is_profile(object: &Object) -> bool {
    let has_unit = |key: &str| object.get(key).and_then(|it| it.get("unit")).is_some();
    has_unit("request_latency") || has_unit("time_to_first_token") || has_unit("request_throughput")
}

pub(super) fn read(items: &[(u64, &Object)]) -> Gathered {
    let mut gathered = Gathered::new(BenchmarkFormat::Aiperf, "item");
    for (line, object) in items {
        let point = point(object);
        if object.get("was_cancelled").and_then(Value::as_bool) == Some(true) {
            gathered.note(format!(
                "{}: the test was broken off; it is used as far as it came.",
                point.name
            ));
        }
        gathered.points.push((*line, point));
    }
    gathered
}

fn point(object: &Object) -> MeasuredPoint {
    let mean = |key: &str| positive_at(object, &[key, "avg"]);
    let (load, gaps) = load(object);
    let mut point = MeasuredPoint {
        name: super::load_name(load),
        load,
        gaps,
        completed: count_at(object, &["request_count", "avg"]),
        failed: count_at(object, &["error_request_count", "avg"]).unwrap_or(0),
        duration_s: times(object, "benchmark_duration").mean_s,
        input_tokens: mean("input_sequence_length"),
        output_tokens: mean("output_sequence_length"),
        ttft: times(object, "time_to_first_token"),
        // Per request: (end − first token) ÷ (output − 1).
        tpot: times(object, "inter_token_latency"),
        e2e: times(object, "request_latency"),
        requests_per_s: mean("request_throughput"),
        output_tokens_per_s: mean("output_token_throughput"),
        ..MeasuredPoint::default()
    };
    let models = at(object, &["input_config", "endpoint", "model_names"])
        .or_else(|| at(object, &["input_config", "model_names"]));
    if let Some(model) = models.and_then(|it| it.get(0)).and_then(Value::as_str) {
        point.set("model", model);
    }
    point
}

/// Under AIPerf's names or under GenAI-Perf's.
fn load(object: &Object) -> (Load, Option<Gaps>) {
    let config = |path: &[&str]| {
        let whole: Vec<&str> = ["input_config"].iter().chain(path).copied().collect();
        number_at(object, &whole).filter(|it| *it > 0.0)
    };
    let rate = config(&["loadgen", "request_rate"])
        .or_else(|| config(&["perf_analyzer", "stimulus", "request_rate"]));
    if let Some(rate) = rate {
        let mode = ["request_rate_mode", "arrival_pattern"]
            .iter()
            .find_map(|key| text_at(object, &["input_config", "loadgen", key]));
        let gaps = match mode {
            Some("constant") => Some(Gaps::Even),
            Some("poisson") => Some(Gaps::Poisson),
            _ => None,
        };
        return (Load::PerSecond(rate), gaps);
    }
    let count = config(&["loadgen", "concurrency"])
        .or_else(|| config(&["perf_analyzer", "stimulus", "concurrency"]));
    (count.map_or(Load::Untold, |it| Load::InFlight(it as u64)), None)
}

fn times(object: &Object, key: &str) -> Times {
    let unit_s = match text_at(object, &[key, "unit"]).unwrap_or("ms") {
        "s" | "sec" | "seconds" => 1.0,
        "us" | "microseconds" => 1e-6,
        "ns" | "nanoseconds" => 1e-9,
        _ => 1e-3,
    };
    let of = |statistic: &str| positive_at(object, &[key, statistic]).map(|value| value * unit_s);
    Times { mean_s: of("avg"), p50_s: of("p50"), p90_s: of("p90"), p99_s: of("p99") }
}
