//! GuideLLM's reports, versions 0.3 to 0.8.
//!
//! Its “time per output token” was that of the tokens after the first up to version 0.3 and includes the
//! first since 0.4. `inter_token_latency_ms` has always been (end − first token) ÷ (tokens − 1), which is
//! what others call TPOT; that is taken.

use serde_json::Value;

use crate::{
    error::ImportError,
    json::{Object, at, count_at, number, number_at, positive_at, text_at},
};

use super::{BenchmarkFormat, Gaps, Gathered, Load, MeasuredPoint, Times};

pub(super) fn is_report(object: &Object) -> bool {
    let first = object.get("benchmarks").and_then(Value::as_array).and_then(|all| all.first());
    first.and_then(|it| it.get("metrics")).is_some_and(Value::is_object)
}

/// A row of the older table, turned into an object.
pub(super) fn is_record(object: &Object) -> bool {
    object.contains_key("Successful Time to first token ms mean")
}

pub(super) fn read(file: &str, object: &Object) -> Result<Gathered, ImportError> {
    let mut gathered = Gathered::new(BenchmarkFormat::GuideLlm, "item");
    let benchmarks = object.get("benchmarks").and_then(Value::as_array);
    let model = ["args", "config"].iter().find_map(|part| {
        text_at(object, &[part, "model"])
            .or_else(|| text_at(object, &[part, "spec", "backend", "model"]))
    });
    for (index, benchmark) in benchmarks.into_iter().flatten().enumerate() {
        let line = index as u64 + 1;
        match benchmark.as_object() {
            Some(benchmark) => {
                let point = point(benchmark, model, &mut gathered);
                gathered.points.push((line, point));
            }
            None => gathered.skip(line, "it is no object".to_owned()),
        }
    }
    if gathered.points.is_empty() && gathered.skipped_total == 0 {
        return Err(ImportError::NoRows { file: file.to_owned() });
    }
    Ok(gathered)
}

fn point(benchmark: &Object, model: Option<&str>, gathered: &mut Gathered) -> MeasuredPoint {
    let metrics = |name: &'static str| Metric { benchmark, name };
    let totals = |what: &str| {
        count_at(benchmark, &["metrics", "request_totals", what])
            .or_else(|| count_at(benchmark, &["scheduler_metrics", "requests_made", what]))
            .or_else(|| count_at(benchmark, &["run_stats", "requests_made", what]))
            .or_else(|| count_at(benchmark, &["request_totals", what]))
    };
    let strategy = ["config", "args"]
        .iter()
        .find_map(|part| at(benchmark, &[part, "strategy"]).and_then(Value::as_object));
    let in_flight = metrics("request_concurrency").mean();
    let (load, gaps) = strategy.map_or((Load::Untold, None), |it| load(it, in_flight));
    let mut point = MeasuredPoint {
        load,
        gaps,
        completed: totals("successful"),
        failed: totals("errored").unwrap_or(0),
        duration_s: positive_at(benchmark, &["duration"]),
        input_tokens: metrics("prompt_token_count").mean(),
        output_tokens: metrics("output_token_count").mean(),
        ttft: metrics("time_to_first_token_ms").times(1e-3),
        tpot: metrics("inter_token_latency_ms").times(1e-3),
        e2e: metrics("request_latency").times(1.0),
        requests_per_s: metrics("requests_per_second").mean(),
        output_tokens_per_s: metrics("output_tokens_per_second").mean(),
        ..MeasuredPoint::default()
    };
    if let Some(model) = model {
        point.set("model", model);
    }
    point.name = super::load_name(point.load);
    cut_off(totals("incomplete"), &point.name, gathered);
    point
}

/// Requests that the end of a test cut off are neither answered nor failed.
fn cut_off(incomplete: Option<u64>, name: &str, gathered: &mut Gathered) {
    if let Some(count) = incomplete.filter(|count| *count > 0) {
        gathered.note(format!(
            "{name}: {} cut off by the end of the test are left out.",
            quantity::counted(count, "request", "requests")
        ));
    }
}

fn load(strategy: &Object, in_flight: Option<f64>) -> (Load, Option<Gaps>) {
    let rate = || positive_at(strategy, &["rate"]).map_or(Load::Untold, Load::PerSecond);
    let whole = |value: f64| value.round() as u64;
    match text_at(strategy, &["type_"]).or_else(|| text_at(strategy, &["kind"])).unwrap_or("") {
        "synchronous" => (Load::InFlight(1), None),
        "concurrent" => {
            let streams =
                ["streams", "max_concurrency"].iter().find_map(|it| positive_at(strategy, &[it]));
            (streams.map_or(Load::Untold, |it| Load::InFlight(whole(it))), None)
        }
        // As many as its workers hold: only how many there were is known.
        "throughput" => (in_flight.map_or(Load::Untold, |it| Load::AtOnce(whole(it).max(1))), None),
        "constant" | "async_constant" => (rate(), Some(Gaps::Even)),
        "poisson" => (rate(), Some(Gaps::Poisson)),
        _ => (Load::Untold, None),
    }
}

/// Statistics of requests that were answered.
#[derive(Clone, Copy)]
struct Metric<'a> {
    benchmark: &'a Object,
    name: &'static str,
}

impl Metric<'_> {
    fn statistics(&self) -> Option<&Object> {
        at(self.benchmark, &["metrics", self.name, "successful"])?.as_object()
    }

    fn mean(&self) -> Option<f64> {
        match self.statistics() {
            Some(statistics) => positive_at(statistics, &["mean"]),
            // Small fixtures have sums alone.
            None => {
                let of = |what| number_at(self.benchmark, &["metrics", self.name, what]);
                let (sum, count) = (of("total_sum")?, of("total_count")?);
                (count > 0.0 && sum > 0.0).then_some(sum / count)
            }
        }
    }

    fn times(&self, unit_s: f64) -> Times {
        let percentile = |key: &str| {
            let found = self.statistics().and_then(|it| number_at(it, &["percentiles", key]));
            found.map(|value| value * unit_s)
        };
        let median = self.statistics().and_then(|it| number_at(it, &["median"]));
        Times {
            mean_s: self.mean().map(|value| value * unit_s),
            p50_s: median.map(|value| value * unit_s).or_else(|| percentile("p50")),
            p90_s: percentile("p90"),
            p99_s: percentile("p99"),
        }
    }
}

/// The older table's rows, one object each.
pub(super) fn records(items: &[(u64, &Object)]) -> Gathered {
    let mut gathered = Gathered::new(BenchmarkFormat::GuideLlm, "item");
    for (line, object) in items {
        let point = record(object);
        cut_off(count_at(object, &["Incomplete Requests"]), &point.name, &mut gathered);
        gathered.points.push((*line, point));
    }
    gathered
}

fn record(object: &Object) -> MeasuredPoint {
    let of = |what: &str, statistic: &str| {
        positive_at(object, &[&["Successful ", what, " ", statistic].concat()])
    };
    let times = |what: &str, unit_s: f64| Times {
        mean_s: of(what, "mean").map(|value| value * unit_s),
        p50_s: of(what, "median").map(|value| value * unit_s),
        p90_s: listed_percentile(object, what, "90").map(|value| value * unit_s),
        p99_s: listed_percentile(object, what, "99").map(|value| value * unit_s),
    };
    let name = text_at(object, &["Name"]).unwrap_or_default();
    let (kind, number) = name.split_once('@').unwrap_or((name, ""));
    let (load, gaps) = match (kind, number.parse::<f64>().ok().filter(|it| *it > 0.0)) {
        ("constant", Some(rate)) => (Load::PerSecond(rate), Some(Gaps::Even)),
        ("poisson", Some(rate)) => (Load::PerSecond(rate), Some(Gaps::Poisson)),
        ("concurrent", Some(count)) => (Load::InFlight(count as u64), None),
        ("synchronous", _) => (Load::InFlight(1), None),
        ("throughput", _) => {
            let most = of("Request concurrency", "mean").map_or(1, |it| (it.round() as u64).max(1));
            (Load::AtOnce(most), None)
        }
        _ => (Load::Untold, None),
    };
    MeasuredPoint {
        name: super::load_name(load),
        load,
        gaps,
        completed: count_at(object, &["Successful Requests"]),
        failed: count_at(object, &["Errored Requests"]).unwrap_or(0),
        duration_s: positive_at(object, &["Duration"]),
        input_tokens: of("Prompt token count", "mean"),
        output_tokens: of("Output token count", "mean"),
        ttft: times("Time to first token ms", 1e-3),
        tpot: times("Inter token latency ms", 1e-3),
        e2e: times("Request latency", 1.0),
        requests_per_s: of("Requests per second", "mean"),
        output_tokens_per_s: of("Output tokens per second", "mean"),
        ..MeasuredPoint::default()
    }
}

/// A percentile out of a text such as `[0.1, 0.2]` under a key that lists which they are.
fn listed_percentile(object: &Object, what: &str, percent: &str) -> Option<f64> {
    let start = ["Successful ", what, " ["].concat();
    let (key, value) = object.iter().find(|(key, _)| key.starts_with(&start))?;
    let place =
        key[start.len()..].trim_end_matches(']').split(',').position(|it| it.trim() == percent)?;
    let values = value.as_str()?.trim().trim_start_matches('[').trim_end_matches(']');
    number(&Value::from(values.split(',').nth(place)?.trim()))
}
