//! What is said of prefill and decode pools.

use quantity::{count, counted};

pub(crate) const POOLS_TITLE: &str = "Prefill and decode apart";
pub(crate) const POOLS_TABLE: &str = "Pools beside replicas that do both";
pub(crate) const POOLS_COLUMNS: [&str; 3] = ["Measure", "In pools", "Doing both"];
pub(crate) const TPOT_P50: &str = "TPOT P50";
pub(crate) const ITL_P99: &str = "ITL P99";
pub(crate) const WITHIN_TARGET: &str = "Within target";

/// “2 prefill and 3 decode replicas, beside 5 that do both”.
pub(crate) fn pools_subtitle(prefill: u64, decode: u64) -> String {
    format!(
        "{} prefill and {}, beside {} that do both",
        count(prefill),
        counted(decode, "decode replica", "decode replicas"),
        count(prefill + decode)
    )
}

/// That these are single runs.
pub(crate) fn pools_finite(requests: u64) -> String {
    format!(
        "One run each of {} at the whole request rate, warm-up included; the plan above is about replicas that do both.",
        counted(requests, "request", "requests")
    )
}
