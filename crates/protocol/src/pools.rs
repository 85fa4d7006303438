//! Prefill and decode on replicas of their own, beside as many replicas that do both.

use serde::{Deserialize, Serialize};

/// What is asked beside the scenario's question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolsAsked {
    /// Replicas that only prefill.
    pub prefill: u64,
    /// Replicas that only decode.
    pub decode: u64,
    /// Bandwidth of the link of a prefill replica, Gbit/s.
    pub link_gbps: f64,
    /// Latency of a transfer, in seconds.
    pub latency_s: f64,
}

/// What requests saw of one of the two. Times in seconds; `None` where nothing has such a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolsSeen {
    /// Whether more came than left: then latencies only tell how long one watched.
    pub is_overloaded: bool,
    /// Median time to first token.
    pub ttft_p50_s: Option<f64>,
    /// 99th percentile of the time to first token.
    pub ttft_p99_s: Option<f64>,
    /// Median of the mean gaps between the tokens of a request.
    pub tpot_p50_s: Option<f64>,
    /// 99th percentile of these.
    pub tpot_p99_s: Option<f64>,
    /// 99th percentile of all gaps between tokens.
    pub itl_p99_s: Option<f64>,
    /// Requests per second that met their target.
    pub goodput_per_s: f64,
    /// Share of the requests that met it, 0 to 1.
    pub slo_share: f64,
}

/// What became of the KV caches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolsSent {
    /// How many were sent.
    pub caches: u64,
    /// Mean size, in bytes.
    pub mean_bytes: f64,
    /// Mean time from a first token to its cache being usable, in seconds.
    pub mean_s: f64,
    /// The part of it in which the cache waited for the link.
    pub wait_s: f64,
    /// Share of the time in which links were sending, 0 to 1.
    pub links_busy: f64,
}

/// A run of the two pools, and one of the same replicas doing both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolsAnswer {
    /// What was asked.
    pub asked: PoolsAsked,
    /// Requests in each of the two runs.
    pub requests: u64,
    /// Share of the time in which prefill and decode replicas were at work, 0 to 1.
    pub busy: (f64, f64),
    /// What went over the links; none where all requests wanted one token.
    pub sent: Option<PoolsSent>,
    /// In pools.
    pub apart: PoolsSeen,
    /// On replicas that do both.
    pub together: PoolsSeen,
}

/// What requests saw, or why there is nothing to see, in a sentence.
pub type PoolsOutcome = Result<PoolsAnswer, String>;
