//! inference-perf: one file a stage, all times in seconds.
//!
//! Its client counts the events of a stream, and versions of it counted each twice, so that its own time per
//! output token is half the truth. TPOT is worked out from the whole request instead.

use crate::{
    error::ImportError,
    json::{Object, count_at, number_at, positive_at},
};

use super::{BenchmarkFormat, Gaps, Gathered, Load, MeasuredPoint, Times};

pub(super) fn is_stage(object: &Object) -> bool {
    object.contains_key("load_summary") && object.contains_key("successes")
}

pub(super) fn read(file: &str, items: &[(u64, &Object)]) -> Result<Gathered, ImportError> {
    let mut gathered = Gathered::new(BenchmarkFormat::InferencePerf, "item");
    for (line, object) in items {
        let Some(rate) = positive_at(object, &["load_summary", "requested_rate"]) else {
            return Err(no_stage(file, object));
        };
        gathered.points.push((*line, point(object, rate)));
    }
    gathered.note(
        "TPOT is worked out as (end to end − TTFT) ÷ (output − 1): versions of this tool count each \
         token’s event twice.",
    );
    gathered
        .note("Requests are taken as sent at even gaps; give arrivals=poisson if they were not.");
    Ok(gathered)
}

/// Means over stages of different loads are of no load.
fn no_stage(file: &str, object: &Object) -> ImportError {
    let is_scraped = number_at(object, &["successes", "rate"]).is_some();
    let what = if is_scraped {
        "what inference-perf scraped of the server, not what its client measured"
    } else {
        "a summary over stages of different loads"
    };
    let remedy = "give the files stage_N_lifecycle_metrics.json beside it, one for each load";
    ImportError::AnotherKind { file: file.to_owned(), what, remedy }
}

fn point(object: &Object, rate: f64) -> MeasuredPoint {
    let latency = |what: &str| {
        let of = |it: &str| positive_at(object, &["successes", "latency", what, it]);
        Times { mean_s: of("mean"), p50_s: of("median"), p90_s: of("p90"), p99_s: of("p99") }
    };
    let load = Load::PerSecond(rate);
    MeasuredPoint {
        name: super::load_name(load),
        load,
        gaps: Some(Gaps::Even),
        completed: count_at(object, &["successes", "count"]),
        failed: count_at(object, &["failures", "count"]).unwrap_or(0),
        duration_s: positive_at(object, &["load_summary", "send_duration"]),
        input_tokens: positive_at(object, &["successes", "prompt_len", "mean"]),
        output_tokens: positive_at(object, &["successes", "output_len", "mean"]),
        ttft: latency("time_to_first_token"),
        tpot: Times::default(),
        e2e: latency("request_latency"),
        requests_per_s: positive_at(object, &["successes", "throughput", "requests_per_sec"]),
        output_tokens_per_s: positive_at(
            object,
            &["successes", "throughput", "output_tokens_per_sec"],
        ),
        ..MeasuredPoint::default()
    }
}
