//! A run in words and a table of its latencies.

use quantity::{count, duration};
use scenario::Scenario;
use sim_core::{Distribution, Run};

use crate::{
    attempts::{self, Attempts},
    steadiness, table, windows, words,
};

/// What happened in a run of a scenario, for a terminal. `class_names` in the order of the run's
/// classes; `attempts` where clients or the line react. A recording has no classes.
#[must_use]
pub fn run_text(
    run: &Run,
    replicas: u64,
    scenario: &Scenario,
    (class_names, attempts): (&[String], Option<&Attempts>),
    is_recording: bool,
) -> String {
    let has_classes = !scenario.classes.is_empty() && !is_recording;
    let mut lines = vec![words::run_counts(run.offered, run.completed, run.duration_s())];
    match attempts {
        Some(attempts) => {
            lines.extend(attempts::unanswered(run));
            lines.extend(attempts::sentences(attempts, scenario));
        }
        None if run.rejected > 0 => lines.push(words::run_rejected(run.rejected)),
        None => {}
    }
    lines.push(words::run_rates(
        run.throughput_per_s(),
        run.goodput_per_s(),
        (!has_classes).then_some((run.slo.ttft_s, run.slo.tpot_s)),
        run.output_tokens_per_s(),
    ));
    lines.push(words::run_share(run.slo_met, run.offered));
    lines.extend(windows::targets(run));
    if replicas > 1 {
        let by_session = attempts.is_some_and(|attempts| attempts.sessions.is_some());
        lines.push(words::run_replicas(replicas, by_session));
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
    let from_send = attempts
        .filter(|_| attempts::has_two_views(scenario))
        .map(|attempts| (attempts::FROM_SEND, &attempts.ttft_from_send));
    let mut parts = vec![lines.join("\n") + "\n", latencies(run, from_send)];
    if has_classes {
        parts.push(steadiness::classes(run, class_names));
    }
    parts.push(steadiness::intervals(run, is_recording));
    format!("{}\n{}\n", parts.join("\n"), words::FINITE_RUN)
}

/// The latencies of a run, a line each.
pub(crate) fn latencies(run: &Run, from_send: Option<(&str, &Distribution)>) -> String {
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
    let rows = [
        Some(("TTFT", &run.ttft)),
        from_send,
        Some(("TPOT", &run.tpot)),
        Some(("ITL", &run.itl)),
        Some(("end to end", &run.e2e)),
        Some(("queue wait", &run.queue_wait)),
    ];
    let rows: Vec<_> = rows.into_iter().flatten().map(|(name, values)| row(name, values)).collect();
    table::aligned(&HEADER, &rows)
}
