//! Questions: sweep, knee, capacity and fleet size, each a state machine that hands out runs.
//!
//! A question hands out independent jobs and takes their runs back in job order. The same code runs
//! inline, on threads and on a pool of workers, and never reads a clock.

mod answer;

pub use answer::{Estimate, FleetSize, LoadPoint, PlanAnswer, Remedy, Verdict};
