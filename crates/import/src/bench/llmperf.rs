//! llmperf: summaries, and lists of single answers. All times in seconds.
//!
//! Its “inter token latency” is the whole request by its tokens, the first included; TPOT is worked out from
//! the whole request and its first token instead.

use serde_json::Value;

use crate::{
    error::ImportError,
    json::{Object, count_at, number_at, positive_at, text_at},
};

use super::{BenchmarkFormat, Gathered, Load, MeasuredPoint, Times};

const RECOMPUTED: &str = "TPOT is worked out as (end to end − TTFT) ÷ (output − 1): this tool’s inter-token \
                          latency includes the first token.";

pub(super) fn is_summary(object: &Object) -> bool {
    object.contains_key("results_ttft_s_mean")
        || object.contains_key("results_end_to_end_latency_s_mean")
}

pub(super) fn is_response(object: &Object) -> bool {
    object.contains_key("ttft_s") && object.contains_key("end_to_end_latency_s")
}

pub(super) fn summaries(items: &[(u64, &Object)]) -> Gathered {
    let mut gathered = Gathered::new(BenchmarkFormat::Llmperf, "item");
    gathered.note(RECOMPUTED);
    for (line, object) in items {
        gathered.points.push((*line, summary(object)));
    }
    gathered
}

fn summary(object: &Object) -> MeasuredPoint {
    let of = |what: &str, statistic: &str| {
        positive_at(object, &[&["results_", what, "_", statistic].concat()])
    };
    let times = |what: &str| Times {
        mean_s: of(what, "mean"),
        p50_s: of(what, "quantiles_p50"),
        p90_s: of(what, "quantiles_p90"),
        p99_s: of(what, "quantiles_p99"),
    };
    let load = count_at(object, &["num_concurrent_requests"])
        .filter(|count| *count > 0)
        .map_or(Load::Untold, Load::InFlight);
    let mut point = MeasuredPoint {
        name: super::load_name(load),
        load,
        completed: count_at(object, &["results_num_completed_requests"]),
        failed: count_at(object, &["results_number_errors"]).unwrap_or(0),
        input_tokens: of("number_input_tokens", "mean"),
        output_tokens: of("number_output_tokens", "mean"),
        ttft: times("ttft_s"),
        e2e: times("end_to_end_latency_s"),
        requests_per_s: positive_at(object, &["results_num_completed_requests_per_min"])
            .map(|per_minute| per_minute / 60.0),
        output_tokens_per_s: positive_at(object, &["results_mean_output_throughput_token_per_s"]),
        ..MeasuredPoint::default()
    };
    if let Some(model) = text_at(object, &["model"]) {
        point.set("model", model);
    }
    point
}

/// The means of single answers. How many were in flight is not told.
pub(super) fn responses(file: &str, items: &[(u64, &Object)]) -> Result<Gathered, ImportError> {
    let is_answered = |object: &&Object| {
        object.get("error_code").is_none_or(Value::is_null)
            && positive_at(object, &["end_to_end_latency_s"]).is_some()
    };
    let answered: Vec<&Object> = items.iter().map(|it| it.1).filter(is_answered).collect();
    let failed = (items.len() - answered.len()) as u64;
    if answered.is_empty() {
        return Err(ImportError::AllFailed { file: file.to_owned(), failed });
    }
    let values = |key: &str| -> Vec<f64> {
        answered.iter().filter_map(|it| number_at(it, &[key])).collect()
    };
    let mean = |key: &str| {
        let found = values(key);
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    };
    let times = |key: &str| {
        let mut found = values(key);
        found.sort_unstable_by(f64::total_cmp);
        let rank = |percent: usize| {
            found.get((percent * found.len()).div_ceil(100).saturating_sub(1)).copied()
        };
        Times { mean_s: mean(key), p50_s: rank(50), p90_s: rank(90), p99_s: rank(99) }
    };
    let point = MeasuredPoint {
        name: super::load_name(Load::Untold),
        completed: Some(answered.len() as u64),
        failed,
        input_tokens: mean("number_input_tokens"),
        output_tokens: mean("number_output_tokens"),
        ttft: times("ttft_s"),
        e2e: times("end_to_end_latency_s"),
        ..MeasuredPoint::default()
    };
    let mut gathered = Gathered::new(BenchmarkFormat::Llmperf, "item");
    gathered.note(RECOMPUTED);
    gathered.points.push((1, point));
    Ok(gathered)
}
