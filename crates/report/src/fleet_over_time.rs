//! A fleet over time, as text, JSON and CSV.

use std::fmt::Write as _;

use charts::{FleetBin, FleetData, FleetEvent};
use quantity::{count, count_of, counted, duration, number_fixed, share};
use scenario::Scenario;
use serde_json::{Value, json};
use sim_core::fleet::{
    live::Fault,
    outcome::{FleetWindow, LiveRun},
};

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
        "GPU-hours: {} held by replicas, on nodes of {}; {} with a replica that was ready. The rest went to \
         starting, draining and free nodes. Minutes below the target: {}.",
        number_fixed(run.held_gpu_hours(), 2),
        number_fixed(run.gpu_hours(), 2),
        number_fixed(run.gpu_hours() - run.idle_gpu_hours(), 2),
        number_fixed(run.violation_min(window_s), 1)
    ));
    for (index, &(at_s, fault)) in run.faults.iter().enumerate() {
        let told = match run.recovery_s(index) {
            _ if at_s > run.end_s => "that was after the end".to_owned(),
            Some(0.0) => "the target was held all along".to_owned(),
            Some(after_s) => format!("the target was held again after {}", duration(after_s)),
            None => "the target was not held again".to_owned(),
        };
        let seen = run.aftermath(index).filter(|seen| seen.served > 0).map(|seen| {
            format!(
                "; {} began again, and {} of those answered meanwhile were in time, with a time to first token \
                 of {} at the 99th percentile",
                counted(seen.restarted, "request", "requests"),
                share(seen.slo_met as f64 / seen.served as f64),
                quantity::duration_or_unknown(seen.ttft.percentile(99.0)),
            )
        });
        let seen = seen.unwrap_or_default();
        lines.push(format!("At {}, {}: {told}{seen}.", duration(at_s), fault_name(fault)));
    }
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

/// A run as the chart draws it, of a scenario whose traffic it served.
#[must_use]
pub fn fleet_data(run: &LiveRun, scenario: &Scenario) -> FleetData {
    let starts = run.windows.iter().skip(1).map(|window| window.start_s);
    let ends = starts.chain(std::iter::once(run.end_s));
    let bins = run.windows.iter().zip(ends).filter(|(window, end_s)| *end_s > window.start_s);
    let event =
        |&(at_s, fault): &(f64, Fault)| FleetEvent { at_s, name: fault_name(fault).to_owned() };
    FleetData {
        asked_rate: scenario
            .rate_corners(run.end_s)
            .iter()
            .map(|point| (point.time_s, point.factor * scenario.rate_per_s))
            .collect(),
        end_s: run.end_s,
        bins: bins.map(|(window, end_s)| bin(window, end_s, run.gpus_per_replica)).collect(),
        ttft_target_s: scenario.slo.ttft_s,
        events: run.faults.iter().filter(|(at_s, _)| *at_s < run.end_s).map(event).collect(),
        surge: None,
        start: None,
    }
}

fn bin(window: &FleetWindow, end_s: f64, gpus_each: u32) -> FleetBin {
    let length_s = end_s - window.start_s;
    let [pending, starting, ready, draining] = window.replicas;
    FleetBin {
        start_s: window.start_s,
        end_s,
        arrived_per_s: window.offered as f64 / length_s,
        rejected_per_s: window.rejected as f64 / length_s,
        ready,
        starting: pending + starting,
        draining,
        asked: window.desired.max(0).unsigned_abs(),
        waiting: window.waiting,
        kv: window.kv_usage,
        // Of fewer there is no such percentile to stand behind.
        ttft_p99_s: window.ttft.percentile(99.0).filter(|_| window.served >= FEWEST_SERVED),
        served: window.served,
        gpus: u64::from(starting + ready + draining) * u64::from(gpus_each),
    }
}

/// Windows with fewer answers have no 99th percentile.
const FEWEST_SERVED: u64 = 100;

/// What a fault is called.
fn fault_name(fault: Fault) -> &'static str {
    match fault {
        Fault::ReplicaLoss => "a replica was lost",
        Fault::NodeLoss => "a node was lost",
        Fault::ReplicaBreakdown(_) => "a replica broke down",
        Fault::NodeBreakdown(_) => "a node broke down",
        Fault::MetricOutage(_) => "metrics were lost",
        Fault::Stall(_) => "everything stalled",
        Fault::SlowStart { .. } => "starts were slow",
        Fault::Surge { .. } => "traffic surged",
    }
}

/// One row per window of time, SI units in the header, all digits. Percentiles are empty where no
/// request got its last token.
#[must_use]
pub fn fleet_csv(run: &LiveRun) -> String {
    let mut text = String::from(
        "start_s,offered,served,slo_met,rejected,ttft_p50_s,ttft_p99_s,waiting,deferred,running,\
         kv_usage_mean,kv_usage_max,pending,starting,ready,draining,desired\n",
    );
    for window in &run.windows {
        let FleetWindow { start_s, offered, served, slo_met, rejected, .. } = window;
        let FleetWindow {
            waiting, deferred, running, kv_usage: (kv_mean, kv_max), desired, ..
        } = window;
        let [pending, starting, ready, draining] = window.replicas;
        let [p50, p99] = [50.0, 99.0].map(|percent| {
            window.ttft.percentile(percent).map(|at| at.to_string()).unwrap_or_default()
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{start_s},{offered},{served},{slo_met},{rejected},{p50},{p99},{waiting},{deferred},{running},\
             {kv_mean},{kv_max},{pending},{starting},{ready},{draining},{desired}"
        );
    }
    text
}

/// What happened to a fleet, in SI units, with its windows.
#[must_use]
pub fn fleet_json(run: &LiveRun, window_s: f64) -> String {
    format!("{:#}\n", fleet_value(run, window_s))
}

/// The same as a part of something.
pub(crate) fn fleet_value(run: &LiveRun, window_s: f64) -> Value {
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
            "deferred": window.deferred,
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
    let fault = |(index, &(at_s, fault)): (usize, &(f64, Fault))| {
        let seen = run.aftermath(index);
        let seen = seen.as_ref();
        json!({
            "restarted_requests": seen.map(|seen| seen.restarted),
            "served_meanwhile": seen.map(|seen| seen.served),
            "slo_met_meanwhile": seen.map(|seen| seen.slo_met),
            "ttft_p99_meanwhile_s": seen.and_then(|seen| seen.ttft.percentile(99.0)),
            "what": fault_name(fault),
            "at_s": at_s,
            "lasts_s": fault.lasts_s(),
            "happened": at_s <= run.end_s,
            "recovery_s": run.recovery_s(index),
        })
    };
    let faults: Value = run.faults.iter().enumerate().map(fault).collect();
    json!({
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
        "held_gpu_hours": run.held_gpu_hours(),
        "cached_tokens": total.cached_tokens,
        "faults": faults,
        "violation_min": run.violation_min(window_s),
        "peak_ready": run.peak_ready,
        "replicas_started": run.decided,
        "restarted_requests": run.restarted,
        "nodes_came": run.provisioned.came,
        "nodes_timed_out": run.provisioned.timed_out,
        "nodes_went": run.provisioned.went,
        "window_s": window_s,
        "windows": windows,
    })
}
