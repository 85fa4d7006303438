//! Several engines behind a router.

mod round_robin;

pub use round_robin::{FleetRun, RoundRobin, simulate_fleet};
