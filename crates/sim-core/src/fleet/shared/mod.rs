//! Several models on one quota of GPUs.
//!
//! Each model is a fleet like any other ([`live`](super::live)), with traffic, target, autoscaler and
//! start-ups of its own. What they share is how many GPUs there are. Free ones go to whoever waits for
//! some, the most important first. Where there are none, they are taken from less important models, as
//! Kubernetes preempts pods of lower priority: first nodes that nobody uses, whosever they are, then
//! nodes that a less important model has asked for and not got, then replicas, of the least important
//! first, those that start before those that are ready, of equals the newest. A taken replica drains
//! within its grace, or is killed, and its node then goes to whom it was taken for; what it still had
//! begins again on another. Its deployment still wants it, so that another waits for room in its place.
//!
//! Among equals nobody takes from anybody. Each replica has a node of its own.

mod simulation;

pub use simulation::SharedSimulation;

use crate::{
    engine::Keep,
    fleet::{live::LiveFleet, outcome::LiveRun},
    setup::SetupError,
};

/// How GPUs are taken from a replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reclaim {
    /// It gets nothing more, and as long as its grace allows for what it has.
    #[default]
    Drain,
    /// At once.
    Kill,
}

/// One model of several.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// Its fleet. The greatest number of its nodes is its own limit within the quota.
    pub fleet: LiveFleet,
    /// Who has more takes from who has less.
    pub priority: i32,
}

/// Several models, and how many GPUs there are for them.
#[derive(Clone, Debug)]
pub struct SharedFleet {
    /// The models.
    pub tenants: Vec<Tenant>,
    /// GPUs on nodes that are there or asked for, at most, over all of them.
    pub quota_gpus: u32,
    /// How GPUs are taken.
    pub reclaim: Reclaim,
}

/// What happened to them.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedRun {
    /// To each model, in their order; all end at the same time.
    pub runs: Vec<LiveRun>,
    /// Replicas that were taken from each.
    pub reclaimed: Vec<u64>,
    /// The most GPUs that were in use or asked for at once.
    pub peak_gpus: u32,
}

impl SharedFleet {
    /// # Errors
    /// As [`LiveFleet::check`] of each; nodes of several replicas; or more GPUs at the beginning than
    /// the quota has.
    pub fn check(&self) -> Result<(), SetupError> {
        let bad = |field, value: u32, requirement| {
            Err(SetupError::OutOfDomain { field, value: f64::from(value), requirement })
        };
        let mut gpus = 0_u32;
        for Tenant { fleet, .. } in &self.tenants {
            fleet.check()?;
            fleet.nodes.check()?;
            let nodes = fleet.nodes;
            if nodes.gpus_per_node != nodes.gpus_per_replica {
                let requirement = "the GPUs of one replica where models share a quota";
                return bad("nodes.gpus_per_node", nodes.gpus_per_node, requirement);
            }
            gpus = gpus.saturating_add(nodes.initial_nodes.saturating_mul(nodes.gpus_per_node));
        }
        if gpus > self.quota_gpus {
            let requirement = "at least the GPUs of all models at the beginning";
            return bad("quota_gpus", self.quota_gpus, requirement);
        }
        Ok(())
    }
}

/// Simulate several models from their beginning to the end of all of them.
///
/// # Errors
/// As [`SharedFleet::check`], or more replicas at the beginning than have room.
pub fn simulate_shared(fleet: &SharedFleet, keep: Keep) -> Result<SharedRun, SetupError> {
    let mut simulation = SharedSimulation::new(fleet, keep)?;
    while simulation.advance(u64::MAX) {}
    Ok(simulation.finish())
}
