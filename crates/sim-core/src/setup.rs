//! What the simulator needs: numbers in SI units, no names, no catalogue, no defaults.

use serde::{Deserialize, Serialize};

use crate::{step_time::StepTimeSpec, workload::Workload};

/// Everything one run depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Who sends what, and when.
    pub workload: Workload,
    /// Limits of the scheduler and of memory.
    pub engine: EngineSpec,
    /// How long one step takes.
    pub step_time: StepTimeSpec,
    /// What counts as good enough.
    pub slo: Slo,
    /// Root of every random stream.
    pub seed: u64,
}

/// Scheduler limits and KV memory of one engine (one replica).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineSpec {
    /// Tokens one step may process: the budget shared by decodes and prefill chunks.
    pub max_num_batched_tokens: u64,
    /// Requests that may run at once.
    pub max_num_seqs: u64,
    /// KV cache size in tokens.
    pub kv_capacity_tokens: u64,
}

/// A service-level objective per request, and the share of requests that must meet it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    /// Longest time to first token, in seconds.
    pub ttft_s: f64,
    /// Longest mean time per output token after the first, in seconds.
    pub tpot_s: f64,
    /// Share of requests (0 to 1) that must meet both.
    pub share: f64,
}

/// A set-up that cannot be simulated, with what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A number is outside its domain.
    #[error("{field} is {value}; it must be {requirement}")]
    OutOfDomain {
        /// Path of the field, for example `engine.max_num_seqs`.
        field: &'static str,
        /// The offending value.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The trace cannot be replayed.
    #[error("trace row {row}: {problem}")]
    BadTraceRow {
        /// One-based row number, not counting a header.
        row: usize,
        /// What is wrong and what would be right.
        problem: &'static str,
    },
    /// The trace holds no request.
    #[error("the trace holds no request; give at least one row")]
    EmptyTrace,
}
