//! Several engines behind a router.

pub mod autoscale;
mod disaggregated;
mod round_robin;
pub mod slots;

pub use disaggregated::{Disaggregated, DisaggregatedRun, Link, Transfers};
pub use round_robin::{FleetRun, RoundRobin, simulate_fleet};
