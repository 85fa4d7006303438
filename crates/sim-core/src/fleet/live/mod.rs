//! A fleet over time: full engines behind a router, started and drained as an autoscaler asks.
//!
//! ```text
//!   requests ──▶ router ──▶ engines ──▶ recorder ──▶ LiveRun
//!                  ▲           │ gauges, scraped every so often
//!                replicas ◀── autoscaler
//! ```
//!
//! One clock for all, from event to event. At equal times: arrivals, ends of steps, replicas that come
//! up or go, faults, the autoscaler, the scrape, the end of a window. An engine is looked at when its
//! steps change something, and not in between, so that the cost of a fleet is that of its events.
//!
//! A request that was on a replica that is lost goes to another from its beginning; its user waits.

mod breakdowns;
mod faults;
mod observing;
mod part;
mod samples;
mod server;
mod simulation;

pub(in crate::fleet) use faults::TrafficClock;
pub use faults::{Fault, Reliability};
pub(in crate::fleet) use part::Part;
pub use samples::{Buckets, LineSample, ReplicaCounters, ReplicaSample, Samples};
pub use simulation::FleetSimulation;

use super::{
    autoscale::schedule::{Calendar, Floor},
    nodes::NodePool,
    outcome::LiveRun,
    policy::Policy,
    router::Router,
    start_up::StartUp,
};
use crate::{
    engine::{Keep, Rules},
    setup::{Setup, SetupError},
};

/// A fleet and all that acts on it.
#[derive(Clone, Debug)]
pub struct LiveFleet {
    /// The whole traffic, and each replica's engine.
    pub setup: Setup,
    /// Who gets which request.
    pub router: Router,
    /// How many replicas there should be.
    pub policy: Policy,
    /// Floors by the clock, whatever the policy says.
    pub floors: Vec<Floor>,
    /// When in the week it begins.
    pub calendar: Calendar,
    /// How replicas start.
    pub start_up: StartUp,
    /// Where they run.
    pub nodes: NodePool,
    /// Replicas that are ready at the beginning.
    pub initial_replicas: u32,
    /// Time between two scrapes of the replicas in seconds.
    pub scrape_s: f64,
    /// Whether replicas that start count as idle in what is scraped, and not at all otherwise.
    pub counts_warming: bool,
    /// How many shared beginnings of prompts each replica keeps in its cache, the latest used; 0 for
    /// none. A request that finds its own there computes the rest of its prompt. Its memory is
    /// reserved in full nevertheless.
    pub cached_prefixes: usize,
    /// Requests that wait for something that no replica has more of.
    pub deferral: Option<Deferral>,
    /// Whether what is scraped is kept; memory then grows with time and replicas.
    pub keeps_samples: bool,
    /// How long a draining replica may take, in seconds; what it then still has starts again.
    pub drain_grace_s: f64,
    /// Width of the windows of the results in seconds.
    pub window_s: f64,
    /// How long after the last arrival to go on for those that are not served, in seconds.
    pub patience_s: f64,
    /// What goes wrong, and when, in order of time.
    pub faults: Vec<(f64, Fault)>,
    /// How long replicas and nodes last before they break down by themselves.
    pub reliability: Reliability,
}

/// A class whose requests wait for one another, however many replicas there are: for a place among an
/// adapter's, a connector's or a tenant's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferral {
    /// Which class of the workload's mix.
    pub class: u32,
    /// How many of it may be on the replicas at once, 1 or more.
    pub at_once: u64,
}

impl LiveFleet {
    /// # Errors
    /// A number outside its domain, or rules other than the reference.
    pub fn check(&self) -> Result<(), SetupError> {
        self.setup.check()?;
        if !matches!(self.setup.rules, Rules::Reference) {
            return Err(SetupError::NoLiveRules);
        }
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        for (field, value) in [("fleet.scrape", self.scrape_s), ("fleet.window", self.window_s)] {
            if !(value > 0.0 && value.is_finite()) {
                return bad(field, value, "above 0 seconds");
            }
        }
        if !(0.0..f64::INFINITY).contains(&self.patience_s) {
            return bad("fleet.patience", self.patience_s, "0 seconds or more, and finite");
        }
        if self.deferral.is_some_and(|deferral| deferral.at_once == 0) {
            return bad("fleet.deferral", 0.0, "1 or more at once");
        }
        self.reliability.check()?;
        self.faults.iter().try_for_each(|(at_s, fault)| fault.check(*at_s))
    }
}

/// Simulate a fleet from its beginning to its end.
///
/// # Errors
/// As [`LiveFleet::check`], or more replicas at the beginning than have room.
pub fn simulate_live(fleet: &LiveFleet, keep: Keep) -> Result<LiveRun, SetupError> {
    let mut simulation = FleetSimulation::new(fleet.clone(), keep)?;
    while simulation.advance(u64::MAX) {}
    Ok(simulation.finish())
}
