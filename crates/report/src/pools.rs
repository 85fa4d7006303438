//! A run of prefill and decode pools, beside the same replicas doing both.

use quantity::{counted, duration_or_unknown, rate, share};
use scenario::Scenario;
use serde_json::{Value, json};
use sim_core::{
    Run,
    fleet::{DisaggregatedRun, FleetRun, Transfers},
    measure::Verdict,
};

use crate::{
    json::{distribution, document, run_json},
    run_text::latencies,
    steadiness, table, words,
};

/// What happened in two pools, for a terminal; `together` is the same load on as many replicas that
/// do both.
#[must_use]
pub fn pools_text(
    pools: &DisaggregatedRun,
    together: &FleetRun,
    scenario: &Scenario,
    is_recording: bool,
) -> String {
    let run = &pools.total;
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
    let busy = |runs: &[Run]| busy_share(runs, run.duration_s());
    lines.push(words::run_pools(
        (pools.prefill.len(), busy(&pools.prefill)),
        (pools.decode.len(), busy(&pools.decode)),
    ));
    if let Some(mean_s) = pools.transfers.times.mean() {
        let Transfers { bytes, ref times, ref waits, .. } = pools.transfers;
        lines.push(words::run_transfers(
            times.count(),
            bytes / times.count() as f64,
            (mean_s, waits.mean().unwrap_or(0.0)),
            links_share(pools),
        ));
    }
    lines.push(steadiness::verdict(run));
    lines.extend(steadiness::sample_advice(run.completed));
    let are_overloaded = (is_overloaded(run), is_overloaded(&together.total));
    let told = match are_overloaded {
        (true, _) => {
            words::pools_overloaded(are_overloaded).to_owned() + " " + words::POOLS_KEPT + "\n"
        }
        (false, true) => {
            words::pools_overloaded(are_overloaded).to_owned() + "\n\n" + &latencies(run, None)
        }
        (false, false) => latencies(run, None),
    };
    format!(
        "{}\n\n{}\n{}\n{}\n{}\n",
        lines.join("\n"),
        told,
        comparison(run, together),
        steadiness::intervals(run, is_recording),
        words::FINITE_RUN
    )
}

/// The same as JSON: the run, and beside it `pools`.
#[must_use]
pub fn pools_json(
    pools: &DisaggregatedRun,
    together: &FleetRun,
    scenario: &Scenario,
    class_names: &[String],
    with_windows: bool,
) -> String {
    let run = &pools.total;
    let replicas = (pools.prefill.len() + pools.decode.len()) as u64;
    let text = run_json(run, replicas, scenario, (class_names, None), (false, with_windows));
    let mut value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let pool = |runs: &[Run]| {
        json!({
            "replicas": runs.len(),
            "busy_share": busy_share(runs, run.duration_s()),
            "steps": runs.iter().map(|run| run.steps).sum::<u64>(),
            "peak_running": runs.iter().map(|run| run.peak_running).max(),
            "peak_kv_tokens": runs.iter().map(|run| run.peak_kv_tokens).max(),
        })
    };
    value["pools"] = json!({
        "prefill": pool(&pools.prefill),
        "decode": pool(&pools.decode),
        "transfers": {
            "bytes": pools.transfers.bytes,
            "times": distribution(&pools.transfers.times),
            "waits": distribution(&pools.transfers.waits),
            "links_busy_share": links_share(pools),
        },
        "together": {
            "replicas": together.replicas,
            "ttft": distribution(&together.total.ttft),
            "tpot": distribution(&together.total.tpot),
            "itl": distribution(&together.total.itl),
            "e2e": distribution(&together.total.e2e),
            "throughput_per_s": together.total.throughput_per_s(),
            "goodput_per_s": together.total.goodput_per_s(),
            "slo_share": together.total.slo_share(),
        },
    });
    document(&value)
}

/// Share of the time that the replicas were at work, 0 to 1.
fn busy_share(runs: &[Run], duration_s: f64) -> f64 {
    let busy_s: f64 = runs.iter().map(|run| run.step_times.busy_s).sum();
    part(busy_s, duration_s * runs.len() as f64)
}

/// Share of the time that the links were sending, 0 to 1.
fn links_share(pools: &DisaggregatedRun) -> f64 {
    part(pools.transfers.busy_s, pools.total.duration_s() * pools.prefill.len() as f64)
}

fn is_overloaded(run: &Run) -> bool {
    run.judgement().verdict == Verdict::Overloaded
}

fn part(some: f64, whole: f64) -> f64 {
    if whole > 0.0 { some / whole } else { 0.0 }
}

fn comparison(pools: &Run, together: &FleetRun) -> String {
    let each = counted(together.replicas, "replica doing both", "replicas doing both");
    let row = |name: &str, of: &dyn Fn(&Run) -> String| {
        vec![name.to_owned(), of(pools), of(&together.total)]
    };
    // Under overload a latency only tells how long one watched.
    let latency = |run: &Run, value_s: Option<f64>| {
        if is_overloaded(run) { words::WITHHELD.to_owned() } else { duration_or_unknown(value_s) }
    };
    let rows = [
        row("TTFT P50", &|run| latency(run, run.ttft.percentile(50.0))),
        row("TTFT P99", &|run| latency(run, run.ttft.percentile(99.0))),
        row("TPOT P50", &|run| latency(run, run.tpot.percentile(50.0))),
        row("TPOT P99", &|run| latency(run, run.tpot.percentile(99.0))),
        row("ITL P99", &|run| latency(run, run.itl.percentile(99.0))),
        row("goodput", &|run| rate(run.goodput_per_s())),
        row("met the target", &|run| share(run.slo_share())),
    ];
    table::aligned(&["", words::IN_POOLS, &each], &rows)
}
