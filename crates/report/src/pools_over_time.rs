//! Prefill and decode pools over time beside the same GPUs used together, as text and JSON.

use planner::compare_policies;
use quantity::{counted, duration_or_unknown, number_fixed};
use serde_json::json;
use sim_core::fleet::{outcome::LiveRun, pooled::PooledRun};

use crate::{fleet_over_time::fleet_value, policies_text};

/// The pools, what went between them, and both beside as many GPUs that do both.
#[must_use]
pub fn pooled_text(apart: &PooledRun, together: &LiveRun, window_s: f64) -> String {
    let rows =
        [("apart".to_owned(), apart.users.clone()), ("together".to_owned(), together.clone())];
    let mut text = policies_text(&compare_policies(&rows, window_s, None));
    for (name, pool) in [("Prefill", &apart.prefill), ("Decode", &apart.decode)] {
        text += &format!(
            "{name}: {} ready at most, {} started; {} GPU-hours held, {} of them without a step running.\n",
            counted(pool.peak_ready.into(), "replica", "replicas"),
            pool.decided,
            number_fixed(pool.held_gpu_hours(), 2),
            number_fixed(pool.wasted_gpu_hours(), 2),
        );
    }
    let transfers = &apart.transfers;
    text += &format!(
        "Link: {} of {} GB in all; {} at the median, {} at the 99th percentile, of which {} in line for the link.\n",
        counted(transfers.times.count(), "cache", "caches"),
        number_fixed(transfers.bytes / 1e9, 1),
        duration_or_unknown(transfers.times.percentile(50.0)),
        duration_or_unknown(transfers.times.percentile(99.0)),
        duration_or_unknown(transfers.waits.percentile(99.0)),
    );
    if apart.users.restarted > 0 {
        text += &format!(
            "{} began again with the prompt; {} never came.\n",
            counted(apart.users.restarted, "request", "requests"),
            counted(apart.lost_transfers, "cache", "caches"),
        );
    }
    text
}

/// All of it in SI units, with the windows.
#[must_use]
pub fn pooled_json(apart: &PooledRun, together: &LiveRun, window_s: f64) -> String {
    let transfers = &apart.transfers;
    let value = json!({
        "apart": fleet_value(&apart.users, window_s),
        "prefill": fleet_value(&apart.prefill, window_s),
        "decode": fleet_value(&apart.decode, window_s),
        "transfers": {
            "count": transfers.times.count(),
            "lost": apart.lost_transfers,
            "bytes": transfers.bytes,
            "busy_s": transfers.busy_s,
            "time_p50_s": transfers.times.percentile(50.0),
            "time_p99_s": transfers.times.percentile(99.0),
            "wait_p99_s": transfers.waits.percentile(99.0),
        },
        "together": fleet_value(together, window_s),
    });
    format!("{value:#}\n")
}
