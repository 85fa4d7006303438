//! What goes wrong in a fleet.

use crate::{
    fleet::life::{Slowdown, Stage},
    float::{greater, lesser},
    setup::SetupError,
    workload::Request,
};

use super::{FleetSimulation, breakdowns::Struck};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The oldest ready replica is lost.
    ReplicaLoss,
    /// The node of the oldest ready replica is lost, with everybody on it.
    NodeLoss,
    /// The replica of this number breaks down, by itself.
    ReplicaBreakdown(u64),
    /// The node of this number breaks down, by itself.
    NodeBreakdown(u64),
    /// No metric can be had for so many seconds.
    MetricOutage(f64),
    /// No replica takes a step for so many seconds: a disk, a network or a power supply hangs.
    Stall(f64),
    /// Stages of starts that begin in the next seconds take so many times as long.
    SlowStart {
        /// How many times, 1 or more.
        factor: f64,
        /// For how many seconds.
        for_s: f64,
    },
    /// The clock of the traffic runs so many times as fast, so that as many more requests come in the
    /// next seconds. What comes after them comes so much earlier.
    Surge {
        /// How many times, 1 or more.
        factor: f64,
        /// For how many seconds.
        for_s: f64,
    },
}

impl Fault {
    /// How long it lasts by itself, in seconds; 0 for what is over at once.
    #[must_use]
    pub const fn lasts_s(self) -> f64 {
        match self {
            Self::ReplicaLoss
            | Self::NodeLoss
            | Self::ReplicaBreakdown(_)
            | Self::NodeBreakdown(_) => 0.0,
            Self::MetricOutage(for_s) | Self::Stall(for_s) => for_s,
            Self::SlowStart { for_s, .. } | Self::Surge { for_s, .. } => for_s,
        }
    }

    /// # Errors
    /// A time or a factor outside its domain.
    pub(super) fn check(self, at_s: f64) -> Result<(), SetupError> {
        let factor = match self {
            Self::SlowStart { factor, .. } | Self::Surge { factor, .. } => factor,
            _ => 1.0,
        };
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        for (field, value) in [("fault.at", at_s), ("fault.for", self.lasts_s())] {
            if !(0.0..f64::INFINITY).contains(&value) {
                return bad(field, value, "0 seconds or more, and finite");
            }
        }
        if !(1.0..=1000.0).contains(&factor) {
            return bad("fault.factor", factor, "between 1 and 1,000");
        }
        Ok(())
    }
}

/// How long replicas and nodes last. Infinite where they do not break down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reliability {
    /// Mean time from a replica's being ready to its breaking down, in seconds.
    pub replica_mtbf_s: f64,
    /// Mean time from a node's first replica to its breaking down, in seconds.
    pub node_mtbf_s: f64,
}

impl Default for Reliability {
    fn default() -> Self {
        Self { replica_mtbf_s: f64::INFINITY, node_mtbf_s: f64::INFINITY }
    }
}

impl Reliability {
    /// # Errors
    /// A time that is not above 0; the least is a second, so that a fleet can do anything at all.
    pub(super) fn check(self) -> Result<(), SetupError> {
        for (field, value) in
            [("fleet.replica_mtbf", self.replica_mtbf_s), ("fleet.node_mtbf", self.node_mtbf_s)]
        {
            if value.is_nan() || value < 1.0 {
                let requirement = "1 second or more";
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        Ok(())
    }
}

/// The clock of the traffic: faster than the fleet's while there is a surge.
#[derive(Clone, Debug)]
pub(in crate::fleet) struct TrafficClock {
    /// From when to when, in seconds of the fleet's clock, and how many times as fast; in order, and
    /// apart.
    surges: Vec<(f64, f64, f64)>,
}

impl TrafficClock {
    /// Surges that overlap follow one another: each begins when the one before is over.
    pub(in crate::fleet) fn new(faults: &[(f64, Fault)]) -> Self {
        let mut surges: Vec<(f64, f64, f64)> = Vec::new();
        for &(at_s, fault) in faults {
            if let Fault::Surge { factor, for_s } = fault {
                let start_s = surges.last().map_or(at_s, |&(_, end_s, _)| greater(at_s, end_s));
                surges.push((start_s, start_s + for_s, factor));
            }
        }
        Self { surges }
    }

    /// A request at the time at which it comes.
    pub(in crate::fleet) fn moved(&self, request: Request) -> Request {
        let mut at_s = request.arrival_s;
        for &(start_s, end_s, factor) in &self.surges {
            if at_s <= start_s {
                break;
            }
            // So much of the traffic's own time passes in the surge.
            let passes_s = (end_s - start_s) * factor;
            let inside_s = lesser(at_s - start_s, passes_s);
            at_s -= inside_s - inside_s / factor;
        }
        Request { arrival_s: at_s, ..request }
    }
}

impl FleetSimulation {
    pub(super) fn break_something(&mut self, now_s: f64) {
        let scheduled_s = self.faults.front().map_or(f64::INFINITY, |&(at_s, _)| at_s);
        let (fault, is_scheduled) = if scheduled_s <= now_s {
            (self.faults.pop_front().map(|(_, fault)| fault), true)
        } else {
            (self.breakdowns.pop(), false)
        };
        let Some(fault) = fault else { return };
        let before = self.restarted;
        let has_struck = self.strike(fault, now_s);
        // What was no more breaks down for nobody.
        if is_scheduled || has_struck {
            let restarted = self.restarted - before;
            self.struck.push(Struck { at_s: now_s, fault, has_struck, restarted });
        }
    }

    /// When something goes wrong next, in seconds.
    pub(super) fn fault_s(&self) -> f64 {
        let scheduled_s = self.faults.front().map_or(f64::INFINITY, |&(at_s, _)| at_s);
        lesser(scheduled_s, self.breakdowns.next_s())
    }

    /// Whether there was anything to strike.
    fn strike(&mut self, fault: Fault, now_s: f64) -> bool {
        let oldest = self.lives.replicas().iter().find(|replica| replica.stage == Stage::Ready);
        let changes = match (fault, oldest.copied()) {
            (Fault::MetricOutage(for_s), _) => {
                self.blind_until_s = greater(self.blind_until_s, now_s + for_s);
                return true;
            }
            (Fault::Stall(for_s), _) => {
                for at in 0..self.servers.len() {
                    self.servers[at].engine.stall(now_s, for_s);
                    self.plan(at);
                }
                return !self.servers.is_empty();
            }
            (Fault::SlowStart { factor, for_s }, _) => {
                self.lives.slow_down(Slowdown { factor, until_s: now_s + for_s });
                return true;
            }
            // The traffic knows of it.
            (Fault::Surge { .. }, _) => return true,
            (Fault::ReplicaBreakdown(id), _) => match self.server(id) {
                Some(_) => self.lives.remove(id, now_s),
                None => return false,
            },
            (Fault::NodeBreakdown(node), _) if self.lives.nodes().has(node) => {
                self.lives.lose_node(node, now_s)
            }
            (Fault::NodeBreakdown(_), _) => return false,
            (Fault::ReplicaLoss, Some(replica)) => self.lives.remove(replica.id, now_s),
            (Fault::NodeLoss, Some(replica)) => match replica.node {
                Some(node) => self.lives.lose_node(node, now_s),
                None => return false,
            },
            (_, None) => return false,
        };
        self.follow(&changes, now_s);
        true
    }
}
