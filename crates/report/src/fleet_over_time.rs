//! A fleet over time, as text, JSON and CSV.

use std::fmt::Write as _;

use quantity::{count, count_of, counted, duration, number_fixed, share};
use serde_json::{Value, json};
use sim_core::fleet::outcome::{FleetWindow, LiveRun};

/// What happened to a fleet, in sentences. `window_s` is the width of its windows.
#[must_use]
pub fn fleet_text(run: &LiveRun, window_s: f64) -> String {
    let total = &run.total;
    let mut lines = vec![format!(
        "{} in {}: {} answered, {} turned away, {} still there at the end.",
        counted(total.offered, "request", "requests"),
        duration(run.end_s),
        count(total.completed),
        count(total.rejected),
        count(total.in_flight)
    )];
    lines.push(format!(
        "{} met the target ({}); time to first token {} at the median, {} at the 99th percentile.",
        count_of(total.slo_met, total.offered),
        share(total.slo_share()),
        quantity::duration_or_unknown(total.ttft.percentile(50.0)),
        quantity::duration_or_unknown(total.ttft.percentile(99.0)),
    ));
    lines.push(format!(
        "Replicas: {} ready at most, {} started in all; {} began again on another.",
        run.peak_ready,
        count(run.decided),
        counted(run.restarted, "request", "requests")
    ));
    lines.push(format!(
        "GPU-hours: {}, of which {} without a ready replica. Minutes below the target: {}.",
        number_fixed(run.gpu_hours(), 2),
        number_fixed(run.idle_gpu_hours(), 2),
        number_fixed(run.violation_min(window_s), 1)
    ));
    let cloud = run.provisioned;
    if cloud.came + cloud.timed_out > 0 {
        lines.push(format!(
            "Nodes: {} came, {} did not come in time, {} went unused.",
            count(cloud.came),
            count(cloud.timed_out),
            count(cloud.went)
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// One row per window of time, SI units in the header, all digits. Percentiles are empty where no
/// request got its last token.
#[must_use]
pub fn fleet_csv(run: &LiveRun) -> String {
    let mut text = String::from(
        "start_s,offered,served,slo_met,rejected,ttft_p50_s,ttft_p99_s,waiting,running,\
         kv_usage_mean,kv_usage_max,pending,starting,ready,draining,desired\n",
    );
    for window in &run.windows {
        let FleetWindow { start_s, offered, served, slo_met, rejected, .. } = window;
        let FleetWindow { waiting, running, kv_usage: (kv_mean, kv_max), desired, .. } = window;
        let [pending, starting, ready, draining] = window.replicas;
        let [p50, p99] = [50.0, 99.0].map(|percent| {
            window.ttft.percentile(percent).map(|at| at.to_string()).unwrap_or_default()
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{start_s},{offered},{served},{slo_met},{rejected},{p50},{p99},{waiting},{running},\
             {kv_mean},{kv_max},{pending},{starting},{ready},{draining},{desired}"
        );
    }
    text
}

/// What happened to a fleet, in SI units, with its windows.
#[must_use]
pub fn fleet_json(run: &LiveRun, window_s: f64) -> String {
    let total = &run.total;
    let window = |window: &FleetWindow| {
        let [pending, starting, ready, draining] = window.replicas;
        json!({
            "start_s": window.start_s,
            "offered": window.offered,
            "served": window.served,
            "slo_met": window.slo_met,
            "rejected": window.rejected,
            "ttft_p50_s": window.ttft.percentile(50.0),
            "ttft_p99_s": window.ttft.percentile(99.0),
            "waiting": window.waiting,
            "running": window.running,
            "kv_usage_mean": window.kv_usage.0,
            "kv_usage_max": window.kv_usage.1,
            "pending": pending,
            "starting": starting,
            "ready": ready,
            "draining": draining,
            "desired": window.desired,
        })
    };
    let windows: Value = run.windows.iter().map(window).collect();
    let value = json!({
        "offered": total.offered,
        "completed": total.completed,
        "rejected": total.rejected,
        "in_flight": total.in_flight,
        "slo_met": total.slo_met,
        "slo_share": total.slo_share(),
        "ttft_p50_s": total.ttft.percentile(50.0),
        "ttft_p99_s": total.ttft.percentile(99.0),
        "tpot_p50_s": total.tpot.percentile(50.0),
        "tpot_p99_s": total.tpot.percentile(99.0),
        "output_tokens": total.output_tokens,
        "end_s": run.end_s,
        "gpu_hours": run.gpu_hours(),
        "idle_gpu_hours": run.idle_gpu_hours(),
        "replica_gpu_hours": run.replica_gpu_hours(),
        "violation_min": run.violation_min(window_s),
        "peak_ready": run.peak_ready,
        "replicas_started": run.decided,
        "restarted_requests": run.restarted,
        "nodes_came": run.provisioned.came,
        "nodes_timed_out": run.provisioned.timed_out,
        "nodes_went": run.provisioned.went,
        "window_s": window_s,
        "windows": windows,
    });
    format!("{value:#}\n")
}
