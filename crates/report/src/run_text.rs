//! A run in words and a table of its latencies.

use quantity::{count, duration};
use scenario::Scenario;
use sim_core::{Distribution, Run};

use crate::{steadiness, table, words};

/// What happened in a run of a scenario, for a terminal. `class_names` in the order of the run's
/// classes. A recording has no classes.
#[must_use]
pub fn run_text(
    run: &Run,
    replicas: u64,
    scenario: &Scenario,
    class_names: &[String],
    is_recording: bool,
) -> String {
    let has_classes = !scenario.classes.is_empty() && !is_recording;
    let mut lines = vec![words::run_counts(run.offered, run.completed, run.duration_s())];
    if run.rejected > 0 {
        lines.push(words::run_rejected(run.rejected));
    }
    lines.push(words::run_rates(
        run.throughput_per_s(),
        run.goodput_per_s(),
        (!has_classes).then_some((run.slo.ttft_s, run.slo.tpot_s)),
        run.output_tokens_per_s(),
    ));
    lines.push(words::run_share(run.slo_met, run.offered));
    if replicas > 1 {
        lines.push(words::run_replicas(replicas));
    }
    lines.push(words::run_load(
        run.mean_running() / replicas as f64,
        run.peak_running,
        run.peak_kv_tokens,
        run.bounds.kv_capacity_tokens,
    ));
    if run.preemptions > 0 {
        lines.push(words::run_preempted(run.preemptions, run.recomputed_tokens));
    }
    if run.cached_tokens > 0 {
        lines.push(words::run_cached(run.cached_tokens));
    }
    lines.push(steadiness::verdict(run));
    lines.extend(steadiness::sample_advice(run.completed));
    let mut parts = vec![lines.join("\n") + "\n", latencies(run)];
    if has_classes {
        parts.push(steadiness::classes(run, class_names));
    }
    parts.push(steadiness::intervals(run));
    format!("{}\n{}\n", parts.join("\n"), words::FINITE_RUN)
}

/// The latencies of a run, a line each.
pub(crate) fn latencies(run: &Run) -> String {
    const HEADER: [&str; 7] = ["", "P50", "P90", "P99", "longest", "mean", "values"];
    let row = |name: &str, values: &Distribution| {
        let percentile = |percent| quantity::duration_or_unknown(values.percentile(percent));
        vec![
            name.to_owned(),
            percentile(50.0),
            percentile(90.0),
            percentile(99.0),
            percentile(100.0),
            values.mean().map_or_else(|| quantity::duration_or_unknown(None), duration),
            count(values.count()),
        ]
    };
    table::aligned(
        &HEADER,
        &[
            row("TTFT", &run.ttft),
            row("TPOT", &run.tpot),
            row("ITL", &run.itl),
            row("end to end", &run.e2e),
            row("queue wait", &run.queue_wait),
        ],
    )
}
