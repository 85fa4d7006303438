//! Which rules an engine forms its steps by, and the one door to all of them.

use serde::{Deserialize, Serialize};

use crate::{
    measure::Run,
    setup::{EngineSpec, Setup, SetupError},
    workload::Requests,
};

use super::{
    Attendance, Keep, Progress, ServiceNoise, Speculation,
    inbox::OpenLoop,
    seldom::{self, Seldom},
    simulation::ReferenceSimulation,
    vllm::{MOST_BLOCKS, Policy, Version},
};
#[cfg(any(test, feature = "oracle"))]
use super::{
    batches_by_oracle, reference_by_oracle,
    seldom::{batch_setup, vllm_setup},
    vllm::simulate_vllm_by_oracle,
};

/// How an engine forms its steps. Its limits (token budget, sequences, KV cache) stand in
/// [`EngineSpec`](crate::EngineSpec) and hold under all rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rules {
    /// Continuous batching by the published reference rules; see [the engine](crate::engine).
    Reference,
    /// The same with speculative decoding.
    Speculative(Speculation),
    /// Continuous batching by vLLM's V1 scheduler; see [`vllm`](super::vllm).
    VllmV1(VllmRules),
    /// Batches that are formed whole and served whole, of at most as many requests as there are
    /// sequences: static batching, with a delay dynamic batching, with one sequence M/G/1.
    WholeBatches {
        /// Longest time in seconds that the oldest waiting request is held back for company.
        max_delay_s: f64,
        /// By what factor the time of a batch differs from its model.
        noise: ServiceNoise,
    },
}

/// What a vLLM scheduler can be told, beside its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VllmRules {
    /// Which release.
    pub version: Version,
    /// Whether the next step is scheduled while the last one runs.
    pub asynchronous: bool,
    /// Who goes first; the priorities are those of the workload's classes.
    pub policy: Policy,
    /// Whether blocks are found again by what they hold: the prefixes that classes share, and what
    /// preempted requests had computed.
    pub prefix_caching: bool,
    /// Most tokens of one prompt in a step while there are other requests; 0 for no limit.
    pub long_prefill_token_threshold: u64,
    /// Share of the blocks kept free when a request is admitted beside running ones.
    pub watermark: f64,
}

/// Tokens per block of vLLM's KV cache.
pub const BLOCK_SIZE: u64 = 16;

impl VllmRules {
    /// First come, first served, and nothing else turned on.
    #[must_use]
    pub const fn plain(version: Version) -> Self {
        Self {
            version,
            asynchronous: false,
            policy: Policy::Fcfs,
            prefix_caching: false,
            long_prefill_token_threshold: 0,
            watermark: 0.0,
        }
    }

    fn check(self, engine: &EngineSpec) -> Result<(), SetupError> {
        let capacity_tokens = engine.kv_capacity_tokens;
        if !(BLOCK_SIZE..BLOCK_SIZE * MOST_BLOCKS).contains(&capacity_tokens) {
            return Err(SetupError::OutOfDomain {
                field: "kv.capacity_tokens",
                value: capacity_tokens as f64,
                requirement: "at least one block of 16 tokens and below 2^24 blocks under vLLM’s rules",
            });
        }
        let requirement = if self.version.has_watermark() {
            "at least 0 and below 1"
        } else {
            "0 under the rules of 0.11, which know no watermark"
        };
        let most = if self.version.has_watermark() { 1.0 } else { f64::MIN_POSITIVE };
        if self.watermark >= 0.0 && self.watermark < most {
            return Ok(());
        }
        Err(SetupError::OutOfDomain {
            field: "sched.watermark",
            value: self.watermark,
            requirement,
        })
    }
}

impl Rules {
    /// Check every number, and that the limits of the engine suit the rules.
    pub(crate) fn check(&self, engine: &EngineSpec) -> Result<(), SetupError> {
        match self {
            Self::VllmV1(rules) => rules.check(engine),
            Self::Speculative(speculation) => speculation.check(),
            Self::Reference | Self::WholeBatches { .. } => Ok(()),
        }
    }

    /// Whether few ask for these rules: a page need not have their engines before somebody does.
    #[must_use]
    pub const fn are_seldom(&self) -> bool {
        !matches!(self, Self::Reference)
    }
}

/// Simulate `setup` to its last token.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate(setup: &Setup, keep: Keep) -> Result<Run, SetupError> {
    let mut simulation = Simulation::new(setup, keep)?;
    while simulation.advance(u64::MAX) != Progress::Done {}
    Ok(simulation.finish())
}

/// Simulate `setup` step by step and request by request, by the obvious implementation of its
/// rules.
///
/// # Errors
/// The set-up holds a number outside its domain.
#[cfg(any(test, feature = "oracle"))]
pub fn simulate_by_oracle(setup: &Setup, keep: Keep) -> Result<Run, SetupError> {
    setup.check()?;
    match &setup.rules {
        Rules::Reference => reference_by_oracle(setup, Speculation::NONE, keep),
        Rules::Speculative(speculation) => reference_by_oracle(setup, *speculation, keep),
        Rules::VllmV1(rules) => {
            simulate_vllm_by_oracle(&vllm_setup(setup, *rules), keep).map(|vllm| vllm.run)
        }
        Rules::WholeBatches { max_delay_s, noise } => {
            batches_by_oracle(&batch_setup(setup, *max_delay_s, noise), keep)
        }
    }
}

/// One engine under one workload, advanced piece by piece.
pub struct Simulation {
    state: State,
}

enum State {
    Reference(Box<ReferenceSimulation<OpenLoop>>),
    Seldom(Box<dyn Seldom>),
}

impl Simulation {
    /// Prepare a run. Whole batches are not advanced piece by piece: their run is made here.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn new(setup: &Setup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let state = if setup.rules.are_seldom() {
            State::Seldom(seldom::start(setup, &Attendance::OPEN, keep)?)
        } else {
            let total = Requests::new(&setup.workload, setup.seed).total();
            let open = |recorder: &mut _| OpenLoop::new(setup, recorder);
            State::Reference(Box::new(ReferenceSimulation::new(setup, keep, total, open)))
        };
        Ok(Self { state })
    }

    /// Prepare a run with clients and a line that may react. Where they do not, it is the run of
    /// [`new`](Self::new).
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn attended(
        setup: &Setup,
        attendance: &Attendance,
        keep: Keep,
    ) -> Result<Self, SetupError> {
        if attendance.is_open() {
            return Self::new(setup, keep);
        }
        Ok(Self { state: State::Seldom(seldom::start(setup, attendance, keep)?) })
    }

    /// Take up to `most` jumps.
    pub fn advance(&mut self, most: u64) -> Progress {
        match &mut self.state {
            State::Reference(simulation) => simulation.advance(most),
            State::Seldom(simulation) => simulation.advance(most),
        }
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub fn finish(self) -> Run {
        match self.state {
            State::Reference(simulation) => simulation.finish().0,
            State::Seldom(simulation) => simulation.finish(),
        }
    }
}
