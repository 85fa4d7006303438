//! What a page has to know of a recording; its requests stay with the worker.

use serde::{Deserialize, Serialize};

/// Lengths in a few numbers, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// Ninety-ninth percentile.
    pub p99: u64,
    /// Longest.
    pub max: u64,
}

/// What was understood of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Name of the file.
    pub name: String,
    /// What it was written as, in words.
    pub format: String,
    /// Requests in it.
    pub requests: u64,
    /// From the first arrival to the last, in seconds.
    pub span_s: f64,
    /// Mean rate of its arrivals, requests per second.
    pub mean_rate_per_s: f64,
    /// Standard deviation of the gaps between arrivals over their mean: 1 for independent users, more
    /// for bursts.
    pub gap_cv: f64,
    /// Prompt lengths.
    pub input: Lengths,
    /// Output lengths.
    pub output: Lengths,
    /// Tokens of the largest request, prompt and output together.
    pub largest_request_tokens: u64,
    /// Whole sentences on how the file was read.
    pub notes: Vec<String>,
    /// The first rows that are not used, each with its reason.
    pub skipped: Vec<String>,
    /// The link of the scenario that the file was saved with, if it was, and the rate in requests per
    /// second at which it counts as recorded.
    pub saved: Option<Saved>,
}

/// What a page wrote above a recording that it saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The link.
    pub link: String,
    /// Requests per second.
    pub recorded_per_s: f64,
}
