//! One engine: continuous batching, iteration by iteration.
//!
//! [`Rules`] says how steps are formed. The `reference` rules, in each step, in this order:
//! 1. Every decoding request gets one token, whatever is left of the token budget (a quirk of the
//!    published simulator, kept: the budget can go below zero).
//! 2. A prompt that was begun in an earlier step continues with what is left of the budget.
//! 3. While budget, a slot and KV memory for the final length are left, waiting requests are
//!    admitted in order of arrival; the last one may get only a part of its prompt.
//!
//! A request gets its first token in the step that completes its prompt. An empty prompt costs the
//! step that admits it. KV memory is reserved for the final length at admission and freed at the
//! end. A request whose final length exceeds the whole cache is turned away on arrival.
//!
//! With speculative decoding ([`Speculation`]) the same rules hold, but that a decode computes, and
//! takes of the budget, the drafted tokens and one more, and yields some of them; so many more are
//! reserved.
//!
//! Two implementations share nothing but the workload, the step-time formula and the recorder:
//! [`Simulation`] takes O(1) per step and crosses many steps at once while nothing changes; the
//! oracle (`simulate_by_oracle`, with the feature `oracle`) loops over every running request in
//! every step.

mod attended;
#[cfg(any(test, feature = "oracle"))]
mod batch_oracle;
mod batcher;
mod by_number;
mod fed;
mod finish_queue;
mod inbox;
mod jobs;
mod jump;
#[cfg(any(test, feature = "oracle"))]
mod oracle;
mod rules;
mod running;
mod seldom;
mod sessions;
#[cfg(any(test, feature = "oracle"))]
mod sessions_oracle;
mod simulation;
mod slots;
mod speculation;
mod stepwise;
pub mod vllm;
mod waiting_line;

#[cfg(any(test, feature = "oracle"))]
pub use attended::simulate_attended_by_oracle;
pub use attended::{Attendance, AttendedRun, AttendedSetup, AttendedSimulation, simulate_attended};
pub use batcher::{BatchRule, BatchSetup, ServiceNoise, simulate_batches};
pub(crate) use fed::{Fed, Waiting};
pub(crate) use jobs::{Job, Jobs};
#[cfg(any(test, feature = "oracle"))]
pub use rules::simulate_by_oracle;
pub use rules::{BLOCK_SIZE, Rules, Simulation, VllmRules, simulate};
pub use simulation::Progress;
pub use slots::{
    ServiceTime, SlotCounts, SlotOutcome, SlotRecord, SlotsRun, SlotsSetup, simulate_slots,
};
pub use speculation::Speculation;
pub(crate) use stepwise::Stepwise;
pub use waiting_line::{Codel, OverloadPolicy, ServiceOrder};

use crate::{measure::Precision, setup::EngineSpec, step_time::StepModel};
#[cfg(any(test, feature = "oracle"))]
use batch_oracle::batches_by_oracle;
#[cfg(any(test, feature = "oracle"))]
pub(crate) use oracle::jobs_by_oracle;
#[cfg(any(test, feature = "oracle"))]
use oracle::reference_by_oracle;

/// What a run keeps beside its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Keep {
    /// How percentiles are kept.
    pub precision: Precision,
    /// Whether every request's times are kept; memory then grows with their number.
    pub requests: bool,
    /// Whether intervals of the percentiles of TPOT, ITL and end-to-end time can be told; memory
    /// then grows with the number of windows. Without the feature `growth` they cannot.
    pub intervals: bool,
}

/// Limits that a run proves it kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineBounds {
    /// Requests that may run at once.
    pub max_num_seqs: u64,
    /// KV cache size in tokens.
    pub kv_capacity_tokens: u64,
    /// The least time a token can take, in seconds.
    pub least_s_per_token: f64,
    /// Time outside the engine before a request's first token, in seconds.
    #[cfg(feature = "kernel")]
    pub api_s: f64,
}

impl EngineBounds {
    pub(crate) fn new(engine: &EngineSpec, model: &StepModel) -> Self {
        Self {
            max_num_seqs: engine.max_num_seqs,
            kv_capacity_tokens: engine.kv_capacity_tokens,
            least_s_per_token: model.least_s_per_token(),
            #[cfg(feature = "kernel")]
            api_s: model.api_s(),
        }
    }
}

/// Whether an arrival is seen by a step that starts at `now_s`.
#[inline]
fn has_arrived(arrival_s: f64, now_s: f64) -> bool {
    arrival_s <= seen_until_s(now_s)
}

/// The latest arrival that is seen by a step that starts at `now_s`. The tolerance keeps a rounding
/// error from moving a tie by a whole step.
#[inline]
pub(crate) fn seen_until_s(now_s: f64) -> f64 {
    // The product rounds monotonically, so this is 1e-12 · max(1, now).
    now_s + crate::float::greater(1e-12, 1e-12 * now_s)
}
