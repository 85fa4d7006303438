//! What the simulator needs: numbers in SI units, no names, no catalogue, no defaults.

use serde::{Deserialize, Serialize};

use crate::{
    engine::Rules,
    step_time::StepTimeSpec,
    workload::{Request, RequestSource, Workload},
};

/// Everything one run depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Who sends what, and when.
    pub workload: Workload,
    /// Limits of the scheduler and of memory.
    pub engine: EngineSpec,
    /// How steps are formed within them.
    pub rules: Rules,
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
    #[error("{field} is {}; it must be {requirement}", quantity::plain(*value, 0))]
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
    /// Sessions are told apart by the classes of a workload.
    #[error("clients with sessions need a workload of classes that is not replayed")]
    NoSessions,
    /// Only one set of rules decodes what another replica has prefilled.
    #[error(
        "prefill and decode pools need sched.rules=reference; or leave disagg.prefill and \
         disagg.decode out"
    )]
    NoPooledRules,
    /// Only one set of rules can be handed its requests by a router that looks.
    #[error("a fleet over time needs sched.rules=reference")]
    NoLiveRules,
    /// The trace holds no request.
    #[error("the trace holds no request; give at least one row")]
    EmptyTrace,
}

impl Setup {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.workload.check()?;
        self.engine.check()?;
        self.rules.check(&self.engine)?;
        self.step_time.check()?;
        self.slo.check()
    }

    /// What counts as good enough for a request: a class has a target of its own.
    pub(crate) fn slo_of(&self, request: &Request) -> Slo {
        let class = match self.workload.source.whole() {
            RequestSource::Mixed(mix) => mix.classes.get(request.class as usize),
            _ => None,
        };
        class.map_or(self.slo, |class| class.slo)
    }

    /// Tokens of the largest request that can come, prompt and output together.
    #[must_use]
    pub fn largest_request_tokens(&self) -> u64 {
        self.workload.source.largest_request_tokens()
    }
}

impl EngineSpec {
    fn check(&self) -> Result<(), SetupError> {
        for (field, value) in [
            ("sched.max_num_batched_tokens", self.max_num_batched_tokens),
            ("sched.max_num_seqs", self.max_num_seqs),
            ("kv.capacity_tokens", self.kv_capacity_tokens),
        ] {
            if value == 0 {
                return Err(SetupError::OutOfDomain {
                    field,
                    value: 0.0,
                    requirement: "1 or more",
                });
            }
        }
        Ok(())
    }
}

impl Slo {
    /// Whether a request with these latencies meets both targets.
    #[must_use]
    pub fn is_met(&self, ttft_s: f64, tpot_s: f64) -> bool {
        (ttft_s <= self.ttft_s) & (tpot_s <= self.tpot_s)
    }

    pub(crate) fn check(&self) -> Result<(), SetupError> {
        for (field, value) in [("slo.ttft_s", self.ttft_s), ("slo.tpot_s", self.tpot_s)] {
            if value.is_nan() || value <= 0.0 {
                return Err(SetupError::OutOfDomain { field, value, requirement: "above 0" });
            }
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(SetupError::OutOfDomain {
                field: "slo.share",
                value: self.share,
                requirement: "above 0 and at most 1",
            });
        }
        Ok(())
    }
}
