//! Several engines behind a router.

mod disaggregated;
mod round_robin;

pub use disaggregated::{Disaggregated, DisaggregatedRun, Link, Transfers};
pub use round_robin::{FleetRun, RoundRobin, simulate_fleet};
