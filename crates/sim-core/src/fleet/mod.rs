//! Several engines behind a router.

pub mod autoscale;
mod disaggregated;
pub mod life;
pub mod live;
pub mod nodes;
pub mod outcome;
pub mod policy;
pub mod pooled;
mod reclaiming;
mod round_robin;
pub mod router;
pub mod shared;
pub mod slots;
pub mod start_up;

pub use disaggregated::{Disaggregated, DisaggregatedRun, Link, Transfers};
pub use round_robin::{FleetRun, RoundRobin, simulate_fleet};
