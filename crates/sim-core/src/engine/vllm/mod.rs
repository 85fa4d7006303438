//! The `vllm-v1` scheduling rules: the decisions of vLLM's V1 scheduler, step by step.
//!
//! They agree with vLLM 0.33.0 on recorded decision traces. In each step, in this order:
//! 1. Running requests, in the order of their admission, get the tokens they lack (one for a
//!    decode, a chunk for a prompt) while the token budget lasts. Memory is taken in blocks as
//!    tokens come. When no block is free, the last running request (under `priority`: the least
//!    important) is preempted: it loses its blocks, keeps its output, and goes back to the front of
//!    the queue.
//! 2. If nothing was preempted, waiting requests are admitted in order while budget, slots and
//!    blocks last; the first that cannot be admitted blocks those behind it. A resumed request
//!    computes its prompt and its output again, but for what the prefix cache still holds.
//!
//! Two implementations share nothing but the settings, the workload, the step-time formula and the
//! recorder. [`VllmSimulation`] counts (see `counting`): it covers every setting, a step costs
//! O(1 + requests that change state), and it crosses many steps at once while nothing changes. The
//! oracle, built for tests and with the feature `oracle`, touches every request in every step.
//!
//! A request that can never run (its prompt fills the model's context, or its last token needs
//! more blocks than there are) is turned away with a [`Refusal`] when it comes; the engine
//! itself would keep it, and everybody behind it, waiting for ever.

mod content;
mod counting;
mod front;
#[cfg(any(test, feature = "oracle"))]
mod oracle;
mod refusal;
mod setup;
mod simulation;
mod spec;

pub(in crate::engine) use content::{Answered, Before, Prompt};
pub use content::{Content, Said, Standing, Standings};
#[cfg(any(test, feature = "oracle"))]
pub(in crate::engine) use oracle::Line;
#[cfg(any(test, feature = "oracle"))]
pub use oracle::{
    Completion, CountedScheduler, Decision, Request, RequestId, Scheduled, Scheduler,
    simulate_vllm_by_oracle,
};
pub use refusal::Refusal;
pub(in crate::engine) use refusal::refusal_of;
pub use setup::{VllmCounts, VllmRun, VllmSetup};
pub(in crate::engine) use simulation::VllmEngine;
pub use simulation::{VllmSimulation, simulate_vllm};
pub(super) use spec::MOST_BLOCKS;
pub use spec::{Policy, Version, VllmSpec};
