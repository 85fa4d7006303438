//! The model of the world: workload, step time, one engine, a fleet, measures, theory.
//!
//! A [`Setup`] holds plain numbers in SI units: seconds, bytes, tokens, FLOP. [`simulate`] turns it
//! into a [`Run`]: what happened, with the bookkeeping that proves it. The same `Setup` gives the
//! same bits on every target.
//!
//! ```text
//!   Setup ──▶ Requests ──▶ Engine ──▶ Recorder ──▶ Run
//!             arrivals     steps      histograms
//!             lengths      jumps      counters
//! ```
//!
//! This crate has no I/O, clock, environment, thread or global state, and never panics on input.

pub mod clients;
pub mod engine;
pub mod fleet;
pub mod float;
pub mod least_squares;
pub mod measure;
pub mod memory;
pub mod quantile;
pub mod random;
pub mod setup;
pub mod sort;
pub mod step_time;
pub mod theory;
pub mod workload;

#[cfg(any(test, feature = "oracle"))]
pub use engine::simulate_by_oracle;
pub use engine::{Keep, Progress, Rules, Simulation, simulate};
pub use measure::{Distribution, Outcome, Precision, RequestRecord, Run};
pub use setup::{EngineSpec, Setup, SetupError, Slo};
pub use step_time::{StepShape, StepTimeSpec};
pub use workload::{
    ArrivalProcess, LengthSpec, PromptBlocks, RequestSource, Trace, TraceRow, Workload,
};
