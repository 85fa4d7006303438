//! A fleet over time as it crosses between page and worker. Times are seconds.

use scenario::FleetSpec;
use serde::{Deserialize, Serialize};

use crate::Question;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetAsked {
    /// The traffic, and each replica.
    pub question: Question,
    /// The fleet.
    pub spec: FleetSpec,
    /// GPUs of one replica.
    pub gpus_per_replica: u64,
    /// Whether to go on with other policies on the same traffic.
    pub compares: bool,
}

/// What a worker tells of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FleetNews {
    /// Requests simulated, of how many.
    Progress(u64, u64),
    /// What came of it.
    Answer(Box<FleetAnswer>),
    /// What came of another policy on the same traffic.
    Row(Box<FleetRow>),
    /// There is nothing to simulate; why.
    Refused(String),
}

/// What came of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetAnswer {
    /// The whole run.
    pub sums: FleetSums,
    /// Width of its windows.
    pub window_s: f64,
    /// When traffic ended: its last arrival came before.
    pub end_s: f64,
    /// GPUs of one replica.
    pub gpus_per_replica: u64,
    /// The windows in order.
    pub slices: Vec<FleetSlice>,
}

/// What the whole run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSums {
    /// Requests that came.
    pub offered: u64,
    /// Those that got every token.
    pub completed: u64,
    /// Those that were turned away, being larger than the memory.
    pub rejected: u64,
    /// Those still there at the end.
    pub in_flight: u64,
    /// Those that met the target.
    pub slo_met: u64,
    /// Time to first token: median, and 99 of 100.
    pub ttft_s: (Option<f64>, Option<f64>),
    /// Time per output token: 99 of 100.
    pub tpot_p99_s: Option<f64>,
    /// GPU-hours of the replicas, from their start to their end.
    pub gpu_hours: f64,
    /// Share of them in which a step ran, 0 to 1.
    pub busy: f64,
    /// Most replicas that were ready at once.
    pub peak_ready: u32,
    /// Replicas that were started, those of the beginning included.
    pub started: u64,
    /// Requests that began again because their replica was lost.
    pub restarted: u64,
}

/// One window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSlice {
    /// When it begins.
    pub start_s: f64,
    /// Requests that came in it.
    pub offered: u64,
    /// Requests that ended in it with every token.
    pub served: u64,
    /// Those of them that met the target.
    pub slo_met: u64,
    /// Requests that were turned away in it.
    pub rejected: u64,
    /// Time to first token of those served: median, and 99 of 100.
    pub ttft_s: (Option<f64>, Option<f64>),
    /// Requests that wait at its end.
    pub waiting: u64,
    /// Those of them that wait for one another, whatever replicas there are.
    pub deferred: u64,
    /// Requests that run at its end.
    pub running: u64,
    /// Share of the KV cache in use at its end: mean and maximum over the ready replicas.
    pub kv: (f64, f64),
    /// Replicas at its end: without a node, starting, ready, draining.
    pub replicas: [u32; 4],
    /// Replicas asked for last.
    pub asked: u32,
}

/// Another policy on the same traffic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetRow {
    /// The fleet.
    pub spec: FleetSpec,
    /// The whole run.
    pub sums: FleetSums,
}

impl FleetSums {
    /// Share of the requests that met the target, 0 to 1.
    #[must_use]
    pub fn met_share(&self) -> f64 {
        if self.offered == 0 { 1.0 } else { self.slo_met as f64 / self.offered as f64 }
    }

    /// Requests that did not meet the target.
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.offered - self.slo_met
    }
}
