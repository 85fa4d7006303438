//! `vllm bench serve`, its sweeps, and SGLang's `bench_serving`: one flat object a run.

use serde_json::Value;

use crate::json::{Object, count_at, number_at, positive_at, text_at};

use super::{BenchmarkFormat, Gaps, Gathered, Load, MeasuredPoint, Times};

/// Keys that every run has; what a user added beside them are settings.
const OWN: [&str; 48] = [
    "date",
    "backend",
    "endpoint_type",
    "label",
    "model_id",
    "tokenizer_id",
    "num_prompts",
    "request_rate",
    "burstiness",
    "max_concurrency",
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "request_goodput:",
    "output_throughput",
    "input_throughput",
    "total_token_throughput",
    "total_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "rtfx",
    "best_of",
    "use_beam_search",
    "run_number",
    "tag",
    "dataset_name",
    "sharegpt_output_len",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
    "server_info",
    "total_input_text_tokens",
    "total_input_vision_tokens",
    "total_output_tokens_retokenized",
    "concurrency",
    "accept_length",
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "start_times",
    "generated_texts",
    "errors",
    "request_samples",
];
/// Settings that are kept.
const MOST_SETTINGS: usize = 40;

pub(super) fn is_run(object: &Object) -> bool {
    let has = |key: &str| object.contains_key(key);
    (has("mean_ttft_ms") || has("mean_ttft") || has("mean_tpot_ms"))
        && (has("total_output_tokens") || has("completed"))
}

pub(super) fn read(items: &[(u64, &Object)], place: &'static str) -> Gathered {
    let is_sglang = items.iter().any(|(_, it)| it.contains_key("mean_e2e_latency_ms"));
    let format = if is_sglang { BenchmarkFormat::SglangBench } else { BenchmarkFormat::VllmBench };
    let mut gathered = Gathered::new(format, place);
    // With the unit in their names, some clients still write seconds.
    gathered.may_be_seconds = items.iter().all(|(_, it)| it.contains_key("mean_ttft_ms"));
    for (at, object) in items {
        if !is_run(object) {
            gathered.skip(*at, "it has no mean_ttft_ms".to_owned());
            continue;
        }
        let point = point(object, &mut gathered);
        gathered.points.push((*at, point));
    }
    gathered
}

fn point(object: &Object, gathered: &mut Gathered) -> MeasuredPoint {
    let completed = count_at(object, &["completed"]);
    let per_request = |key: &str| {
        let total = positive_at(object, &[key])?;
        completed.filter(|count| *count > 0).map(|count| total / count as f64)
    };
    let mut point = MeasuredPoint {
        load: load(object),
        gaps: number_at(object, &["burstiness"])
            .filter(|shape| *shape > 0.0)
            .map(|shape| if shape == 1.0 { Gaps::Poisson } else { Gaps::Gamma(shape) }),
        completed,
        failed: failed(object, completed),
        duration_s: positive_at(object, &["duration"]),
        input_tokens: per_request("total_input_tokens"),
        output_tokens: per_request("total_output_tokens"),
        ttft: times(object, "ttft"),
        tpot: times(object, "tpot"),
        e2e: times(object, "e2el").or(times(object, "e2e_latency")),
        requests_per_s: positive_at(object, &["request_throughput"]),
        output_tokens_per_s: positive_at(object, &["output_throughput"]),
        ..MeasuredPoint::default()
    };
    if point.gaps.is_none() && gathered.format == BenchmarkFormat::SglangBench {
        point.gaps = Some(Gaps::Poisson);
    }
    settings(object, &mut point);
    point.name = name(&point, object);
    if let (Load::PerSecond(_), Some(most)) = (point.load, count_at(object, &["max_concurrency"])) {
        gathered.note(format!(
            "{}: the client held back requests beyond {most} in flight; the rate is taken as sent.",
            point.name
        ));
    }
    if number_at(object, &["accept_length"]).is_some_and(|length| length > 1.05) {
        gathered.note(format!(
            "{}: the server decoded speculatively; constants that are fitted to it hold for that.",
            point.name
        ));
    }
    point
}

fn load(object: &Object) -> Load {
    let is_unthrottled = match object.get("request_rate") {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("inf"),
        Some(_) => false,
    };
    if !is_unthrottled {
        return number_at(object, &["request_rate"]).map_or(Load::Untold, Load::PerSecond);
    }
    match (count_at(object, &["max_concurrency"]), count_at(object, &["num_prompts"])) {
        (Some(most), _) if most > 0 => Load::InFlight(most),
        (_, Some(all)) => Load::AtOnce(all),
        (_, None) => count_at(object, &["completed"]).map_or(Load::Untold, Load::AtOnce),
    }
}

/// Older clients do not count failures, but prompts.
fn failed(object: &Object, completed: Option<u64>) -> u64 {
    count_at(object, &["failed"]).unwrap_or_else(|| {
        let sent = count_at(object, &["num_prompts"]).unwrap_or(0);
        completed.map_or(0, |completed| sent.saturating_sub(completed))
    })
}

/// `mean_ttft_ms` in milliseconds, or `mean_ttft` in seconds.
fn times(object: &Object, what: &str) -> Times {
    let of = |statistic: &str| {
        let seconds = [statistic, "_", what].concat();
        let in_ms = positive_at(object, &[&[&seconds, "_ms"].concat()]).map(|ms| ms * 1e-3);
        in_ms.or_else(|| positive_at(object, &[&seconds]))
    };
    Times {
        mean_s: of("mean"),
        p50_s: of("median").or_else(|| of("p50")),
        p90_s: of("p90"),
        p99_s: of("p99"),
    }
}

impl Times {
    /// The other where this has nothing.
    fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }
}

/// What was swept and what was noted, beside what every run has.
fn settings(object: &Object, point: &mut MeasuredPoint) {
    if let Some(model) = text_at(object, &["model_id"]) {
        point.set("model", model);
    }
    for (key, value) in object {
        let is_own = OWN.contains(&key.as_str()) || is_time(key);
        let told = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            Value::Bool(is_on) => is_on.to_string(),
            _ => continue,
        };
        if !is_own && point.settings.len() < MOST_SETTINGS {
            point.set(key, told);
        }
    }
}

/// `mean_ttft_ms`, `p99.9_e2el_ms` and their like.
fn is_time(key: &str) -> bool {
    let bare = key.strip_suffix("_ms").unwrap_or(key);
    ["_ttft", "_tpot", "_itl", "_e2el", "_e2e_latency"].iter().any(|end| bare.ends_with(end))
}

fn name(point: &MeasuredPoint, object: &Object) -> String {
    let load = super::load_name(point.load);
    match count_at(object, &["run_number"]) {
        Some(run) => format!("{load}, run {run}"),
        None => load,
    }
}
