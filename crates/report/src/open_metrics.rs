//! A fleet's scrapes as OpenMetrics 1.0 text, under vLLM's own metric names.
//!
//! Each metric family is whole, each series in it is whole, and its points are in order of time, as the
//! format asks for. What waits before the replicas goes under the name that the Gateway API's inference
//! extension has for it.

use std::fmt::Write as _;

use sim_core::fleet::live::{Buckets, ReplicaSample, Samples};

/// A family with one value per point.
struct Plain {
    name: &'static str,
    /// What the samples' names end in, with labels of their own.
    suffix: &'static str,
    labels: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&ReplicaSample) -> f64,
}

const PLAIN: [Plain; 9] = [
    Plain {
        name: "vllm:num_requests_running",
        suffix: "",
        labels: "",
        kind: "gauge",
        help: "Number of requests in model execution batches.",
        value: |sample| sample.running as f64,
    },
    Plain {
        name: "vllm:num_requests_waiting",
        suffix: "",
        labels: "",
        kind: "gauge",
        help: "Number of requests waiting to be processed.",
        value: |sample| sample.waiting as f64,
    },
    Plain {
        name: "vllm:num_requests_waiting_by_reason",
        suffix: "",
        labels: ",reason=\"capacity\"",
        kind: "gauge",
        help: "Number of requests waiting, by reason.",
        value: |sample| sample.waiting as f64,
    },
    Plain {
        name: "vllm:kv_cache_usage_perc",
        suffix: "",
        labels: "",
        kind: "gauge",
        help: "KV-cache usage. 1 means 100 percent usage.",
        value: |sample| sample.kv_usage,
    },
    Plain {
        name: "vllm:prompt_tokens",
        suffix: "_total",
        labels: "",
        kind: "counter",
        help: "Number of prefill tokens processed.",
        value: |sample| sample.counters.prompt_tokens as f64,
    },
    Plain {
        name: "vllm:generation_tokens",
        suffix: "_total",
        labels: "",
        kind: "counter",
        help: "Number of generation tokens processed.",
        value: |sample| sample.generated_tokens as f64,
    },
    Plain {
        name: "vllm:prefix_cache_hits",
        suffix: "_total",
        labels: "",
        kind: "counter",
        help: "Prefix cache hits, in terms of number of cached tokens.",
        value: |sample| sample.cached_tokens as f64,
    },
    Plain {
        name: "vllm:request_success",
        suffix: "_total",
        labels: ",finished_reason=\"length\"",
        kind: "counter",
        help: "Count of successfully processed requests.",
        value: |sample| sample.counters.finished as f64,
    },
    Plain {
        name: "vllm:num_preemptions",
        suffix: "_total",
        labels: "",
        kind: "counter",
        help: "Cumulative number of preemptions from the engine.",
        // The reference rules reserve memory for the whole request.
        value: |_| 0.0,
    },
];

/// A family of histograms: name, help, and where it is.
type Histogram = (&'static str, &'static str, fn(&ReplicaSample) -> &Buckets);

const HISTOGRAMS: [Histogram; 4] = [
    (
        "vllm:time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        |sample| &sample.counters.ttft,
    ),
    (
        "vllm:request_time_per_output_token_seconds",
        "Histogram of time per output token of requests in seconds.",
        |sample| &sample.counters.tpot,
    ),
    (
        "vllm:e2e_request_latency_seconds",
        "Histogram of end to end request latency in seconds.",
        |sample| &sample.counters.e2e,
    ),
    (
        "vllm:request_queue_time_seconds",
        "Histogram of time spent in WAITING phase for request.",
        |sample| &sample.counters.queue,
    ),
];

/// The scrapes of a run. `epoch_s` is the Unix time of its beginning, `model` what stands in
/// `model_name`.
#[must_use]
pub fn open_metrics(samples: &Samples, model: &str, epoch_s: f64) -> String {
    let series = by_replica(samples);
    let model = escaped(model);
    let labels =
        |replica: u64| format!("model_name=\"{model}\",engine=\"0\",pod=\"replica-{replica}\"");
    let mut text = String::new();
    for family in &PLAIN {
        begin(&mut text, family.name, family.kind, family.help);
        for points in &series {
            let Some(first) = points.first() else { continue };
            let labels = labels(first.replica) + family.labels;
            for sample in points {
                let (value, at_s) = ((family.value)(sample), epoch_s + sample.at_s);
                let (name, suffix) = (family.name, family.suffix);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name}{suffix}{{{labels}}} {value} {at_s:.3}");
            }
        }
        if family.name == "vllm:num_requests_waiting_by_reason" {
            for sample in &samples.line {
                let (value, at_s) = (sample.deferred, epoch_s + sample.at_s);
                let _ = writeln!(
                    text,
                    "{}{{model_name=\"{model}\",engine=\"0\",pod=\"\",reason=\"deferred\"}} {value} {at_s:.3}",
                    family.name
                );
            }
        }
    }
    for (name, help, buckets) in HISTOGRAMS {
        begin(&mut text, name, "histogram", help);
        for points in &series {
            let Some(first) = points.first() else { continue };
            let labels = labels(first.replica);
            for sample in points {
                histogram(&mut text, name, &labels, buckets(sample), epoch_s + sample.at_s);
            }
        }
    }
    let name = "inference_extension_flow_control_queue_size";
    begin(&mut text, name, "gauge", "Requests that wait before the replicas.");
    for sample in &samples.line {
        let (value, at_s) = (sample.queued, epoch_s + sample.at_s);
        let _ = writeln!(text, "{name}{{model_name=\"{model}\"}} {value} {at_s:.3}");
    }
    text.push_str("# EOF\n");
    text
}

/// The scrapes of each replica, replicas in order of their numbers.
fn by_replica(samples: &Samples) -> Vec<Vec<&ReplicaSample>> {
    let mut sorted: Vec<&ReplicaSample> = samples.replicas.iter().collect();
    sorted.sort_by(|a, b| a.replica.cmp(&b.replica).then(a.at_s.total_cmp(&b.at_s)));
    sorted.chunk_by(|a, b| a.replica == b.replica).map(<[_]>::to_vec).collect()
}

fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}");
    let _ = writeln!(text, "# TYPE {name} {kind}");
}

fn histogram(text: &mut String, name: &str, labels: &str, buckets: &Buckets, at_s: f64) {
    let mut below = 0;
    for (index, count) in buckets.counts.iter().enumerate() {
        below += count;
        let bound =
            buckets.bounds_s.get(index).map_or("+Inf".to_owned(), |bound| format!("{bound:?}"));
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {below} {at_s:.3}");
    }
    let _ = writeln!(text, "{name}_count{{{labels}}} {below} {at_s:.3}");
    let _ = writeln!(text, "{name}_sum{{{labels}}} {} {at_s:.3}", buckets.sum_s);
}

/// A label's value.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
