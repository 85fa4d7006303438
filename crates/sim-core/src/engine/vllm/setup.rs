//! What one run under the `vllm-v1` rules depends on, and what it counts.

use serde::{Deserialize, Serialize};

use crate::{
    engine::EngineBounds,
    measure::Run,
    setup::{SetupError, Slo},
    step_time::{StepModel, StepTimeSpec},
    workload::Workload,
};

use super::{content::Standings, refusal::Refusal, spec::VllmSpec};

/// Everything one run under the `vllm-v1` rules depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct VllmSetup {
    /// Who sends what, and when.
    pub workload: Workload,
    /// The scheduler and its memory.
    pub vllm: VllmSpec,
    /// Who is more important, and who shares what.
    pub standings: Standings,
    /// How long one step takes.
    pub step_time: StepTimeSpec,
    /// What counts as good enough.
    pub slo: Slo,
    /// Root of every random stream.
    pub seed: u64,
}

/// What only an engine that preempts and caches can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VllmCounts {
    /// How often a running request lost its blocks.
    pub preemptions: u64,
    /// Tokens that were computed again after that.
    pub recomputed_tokens: u64,
    /// Tokens that the prefix cache held when a request was admitted.
    pub cached_tokens: u64,
    /// Requests turned away because their prompt leaves no room for output within the model.
    pub refused_by_model_len: u64,
    /// Requests turned away because they need more blocks than there are.
    pub refused_by_blocks: u64,
}

impl VllmCounts {
    /// Count a request that was turned away.
    pub(super) const fn refuse(&mut self, refusal: &Refusal) {
        match refusal {
            Refusal::NeverFits { .. } => self.refused_by_blocks += 1,
            _ => self.refused_by_model_len += 1,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct VllmRun {
    /// The measures every engine takes.
    pub run: Run,
    /// Those of this one.
    pub counts: VllmCounts,
}

impl VllmSetup {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.workload.check()?;
        self.vllm.check()?;
        self.step_time.check()?;
        self.slo.check()
    }

    pub(in crate::engine) fn bounds(&self) -> EngineBounds {
        let model = StepModel::new(&self.step_time);
        EngineBounds {
            max_num_seqs: self.vllm.max_num_seqs,
            kv_capacity_tokens: self.vllm.kv_capacity_tokens(),
            least_s_per_token: model.least_s_per_token(),
            #[cfg(feature = "kernel")]
            api_s: model.api_s(),
        }
    }
}

impl VllmRun {
    /// A run with its counts; `is_over`: nothing runs any more.
    pub(in crate::engine) fn new(run: Run, counts: VllmCounts, is_over: bool) -> Self {
        let run = Run {
            preemptions: counts.preemptions,
            recomputed_tokens: counts.recomputed_tokens,
            cached_tokens: counts.cached_tokens,
            ..run
        };
        debug_assert!(!is_over || run.verify() == Ok(()), "{:?}", run.verify());
        Self { run, counts }
    }
}
