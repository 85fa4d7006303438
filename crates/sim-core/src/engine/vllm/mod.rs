//! The `vllm-v1` scheduling rules: the decisions of vLLM's V1 scheduler, step by step.
//!
//! [`Scheduler`] knows no time: [`Scheduler::schedule`] composes a step, [`Scheduler::complete`]
//! takes its outputs back, and whoever drives it says when. It agrees with vLLM 0.33.0 on recorded
//! decision traces. In each step, in this order:
//! 1. Running requests, in the order of their admission, get the tokens they lack (one for a
//!    decode, a chunk for a prompt) while the token budget lasts. Memory is taken in blocks as
//!    tokens come. When no block is free, the last running request (under `priority`: the least
//!    important) is preempted: it loses its blocks, keeps its output, and goes back to the front of
//!    the queue.
//! 2. If nothing was preempted, waiting requests are admitted in order while budget, slots and
//!    blocks last; the first that cannot be admitted blocks those behind it. A resumed request
//!    computes its prompt and its output again, but for what the prefix cache still holds.
//!
//! ```text
//!   Scheduler ──▶ WaitingQueue   who comes next
//!       │
//!       └───────▶ KvCache ──▶ BlockPool ──▶ FreeList     which block is reused first
//!                 tables      sharing  └──▶ PrefixCache  which block holds what
//! ```
//!
//! [`simulate_vllm_by_oracle`] drives the scheduler through time. [`simulate_vllm`] gives the same
//! run; where the settings allow ([`VllmSpec::is_countable`]) it only counts blocks and crosses many
//! steps at once.
//!
//! A request that can never run (its prompt fills the model's context, or its last token needs
//! more blocks than there are) is turned away with a [`Refusal`] when it is added; the engine
//! itself would keep it, and everybody behind it, waiting for ever.

mod block_pool;
mod completion;
mod decision;
mod driver;
mod free_list;
mod kv_cache;
mod prefix_cache;
mod queue;
mod request;
mod residues;
mod running;
mod running_list;
mod scheduler;
mod simulation;
mod spec;
mod truths;

pub use decision::{Completion, Decision, Refusal, Scheduled};
pub use driver::{VllmCounts, VllmRun, VllmSetup, simulate_vllm_by_oracle};
pub use request::{Content, Request, RequestId};
pub use scheduler::Scheduler;
pub use simulation::simulate_vllm;
pub use spec::{Policy, Version, VllmSpec};
