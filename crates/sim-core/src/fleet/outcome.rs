//! What happened to a fleet over time.

use crate::measure::{Distribution, Precision, Run};

use super::life::Provisioned;

/// The fleet in one window of time.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetWindow {
    /// When it begins, in seconds.
    pub start_s: f64,
    /// Requests that came in it.
    pub offered: u64,
    /// Requests that ended in it with every token.
    pub served: u64,
    /// Those of them that met the target.
    pub slo_met: u64,
    /// Requests that were turned away in it.
    pub rejected: u64,
    /// Time to first token of those served, in seconds.
    pub ttft: Distribution,
    /// Requests that wait at its end, before the replicas and on them.
    pub waiting: u64,
    /// Requests that run at its end.
    pub running: u64,
    /// Share of the KV cache reserved at its end: mean and maximum over the ready replicas.
    pub kv_usage: (f64, f64),
    /// Replicas at its end: without a node, starting, ready, draining.
    pub replicas: [u32; 4],
    /// Replicas that were asked for last.
    pub desired: i32,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRun {
    /// Users' measures and the engines' sums.
    pub total: Run,
    /// Over time.
    pub windows: Vec<FleetWindow>,
    /// When it ended, in seconds.
    pub end_s: f64,
    /// Replica-seconds on a node, whether serving or not.
    pub replica_s: f64,
    /// Those of replicas that were not ready, or draining.
    pub unready_s: f64,
    /// Node-seconds.
    pub node_s: f64,
    /// GPUs per node.
    pub gpus_per_node: u32,
    /// GPUs per replica.
    pub gpus_per_replica: u32,
    /// Replicas decided on.
    pub decided: u64,
    /// Most replicas that were ready at once.
    pub peak_ready: u32,
    /// Requests that began again on another replica.
    pub restarted: u64,
    /// What the cloud did.
    pub provisioned: Provisioned,
}

impl LiveRun {
    /// GPU-hours of the nodes that were there.
    #[must_use]
    pub fn gpu_hours(&self) -> f64 {
        self.node_s * f64::from(self.gpus_per_node) / 3600.0
    }

    /// GPU-hours of replicas on a node, from their start to their end.
    #[must_use]
    pub fn replica_gpu_hours(&self) -> f64 {
        self.replica_s * f64::from(self.gpus_per_replica) / 3600.0
    }

    /// GPU-hours in which no ready replica held the GPU.
    #[must_use]
    pub fn idle_gpu_hours(&self) -> f64 {
        let serving_s = self.replica_s - self.unready_s;
        self.gpu_hours() - serving_s * f64::from(self.gpus_per_replica) / 3600.0
    }

    /// Windows in which fewer than the target's share of those served met the target, or requests
    /// came and none was served; in minutes.
    #[must_use]
    pub fn violation_min(&self, window_s: f64) -> f64 {
        let share = self.total.slo.share;
        let is_violated = |window: &&FleetWindow| {
            let waits = window.served == 0 && window.waiting > 0;
            waits || (window.slo_met as f64) < share * window.served as f64
        };
        self.windows.iter().filter(is_violated).count() as f64 * window_s / 60.0
    }

    /// Whether nobody was lost or counted twice, in requests and in time.
    ///
    /// # Errors
    /// Says which law is broken.
    pub fn verify(&self) -> Result<(), String> {
        let run = &self.total;
        let accounted = run.completed + run.rejected + run.in_flight;
        if run.offered != accounted {
            return Err(format!("conservation: {} offered, {accounted} found", run.offered));
        }
        let served: u64 = self.windows.iter().map(|window| window.served).sum();
        let offered: u64 = self.windows.iter().map(|window| window.offered).sum();
        let met: u64 = self.windows.iter().map(|window| window.slo_met).sum();
        if (served, offered, met) != (run.completed, run.offered, run.slo_met) {
            return Err(format!("windows: {served} of {offered} served, {met} of them in time"));
        }
        let (engines, users) = (run.in_system_request_s, run.sojourn_request_s);
        if run.in_flight == 0 && (engines - users).abs() > 1e-6 * (1.0 + users) {
            return Err(format!(
                "Little's law: {engines} from the engines, {users} from the users"
            ));
        }
        if run.peak_running > run.bounds.max_num_seqs
            || run.peak_kv_tokens > run.bounds.kv_capacity_tokens
        {
            return Err("an engine held more than it can".to_owned());
        }
        if run.step_times.busy_s > self.replica_s * (1.0 + 1e-9) + 1e-9 {
            return Err(format!(
                "utilisation: busy for {} s of {} s",
                run.step_times.busy_s, self.replica_s
            ));
        }
        Ok(())
    }
}

impl FleetWindow {
    /// A window in which nothing has happened yet.
    pub(super) fn empty(start_s: f64) -> Self {
        Self {
            start_s,
            offered: 0,
            served: 0,
            slo_met: 0,
            rejected: 0,
            ttft: Distribution::new(Precision::default()),
            waiting: 0,
            running: 0,
            kv_usage: (0.0, 0.0),
            replicas: [0; 4],
            desired: 0,
        }
    }
}
