//! What happened to a fleet over time.

use crate::measure::{Distribution, Precision, Run};

use crate::float::{greater, lesser};

use super::{
    life::Provisioned,
    live::{Fault, Samples},
};

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
    /// Those of them that wait for one another, whatever replicas there are.
    pub deferred: u64,
    /// Requests that run at its end.
    pub running: u64,
    /// Share of the KV cache reserved at its end: mean and maximum over the ready replicas.
    pub kv_usage: (f64, f64),
    /// Replicas at its end: without a node, starting, ready, draining.
    pub replicas: [u32; 4],
    /// Replicas that were asked for last.
    pub desired: i32,
}

/// What clients saw of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Aftermath {
    /// Requests that began again because of it.
    pub restarted: u64,
    /// Requests that got their last token meanwhile.
    pub served: u64,
    /// Those of them that met the target.
    pub slo_met: u64,
    /// Their time to first token, in seconds.
    pub ttft: Distribution,
    /// As [`LiveRun::recovery_s`].
    pub recovery_s: Option<f64>,
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
    /// What went wrong, and when, in order of time.
    pub faults: Vec<(f64, Fault)>,
    /// Of each of them that came before the end, whether there was anything for it to strike.
    pub faults_struck: Vec<bool>,
    /// Of each of them, how many requests began again because of it.
    pub faults_restarted: Vec<u64>,
    /// Requests that a lost replica gave back to another pool.
    pub returned: u64,
    /// What was scraped, where that was kept.
    pub samples: Samples,
    /// Events that it took.
    pub events: u64,
}

impl LiveRun {
    /// GPU-hours of the nodes that were there.
    #[must_use]
    pub fn gpu_hours(&self) -> f64 {
        self.node_s * f64::from(self.gpus_per_node) / 3600.0
    }

    /// GPU-hours of the replicas that were on a node, whether serving or not.
    #[must_use]
    pub fn held_gpu_hours(&self) -> f64 {
        self.replica_s * f64::from(self.gpus_per_replica) / 3600.0
    }

    /// Those of them in which no step ran: replicas started, drained, or had nothing to do.
    #[must_use]
    pub fn wasted_gpu_hours(&self) -> f64 {
        let idle_s = self.replica_s - self.total.step_times.busy_s;
        idle_s * f64::from(self.gpus_per_replica) / 3600.0
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
        let violated = self.windows.iter().filter(|window| window.is_violated(share));
        violated.count() as f64 * window_s / 60.0
    }

    /// How long after a fault of [`faults`](Self::faults) the fleet holds its target again, in
    /// seconds: until the first of three windows in a row that do, or of those that are left. 0 where
    /// no window missed it until the next fault, or five windows after the fault was over; `None`
    /// where it never holds it again, or the run was over before.
    #[must_use]
    pub fn recovery_s(&self, fault: usize) -> Option<f64> {
        let &(at_s, what) = self.faults.get(fault).filter(|&&(at_s, _)| at_s <= self.end_s)?;
        let end_s = self.faults.get(fault + 1).map_or(f64::INFINITY, |&(next_s, _)| next_s);
        let width_s = self.windows.get(1).map_or(f64::INFINITY, |window| window.start_s);
        let felt_until_s = lesser(end_s, at_s + what.lasts_s() + 5.0 * width_s);
        let begins = self.windows.partition_point(|window| window.start_s + width_s <= at_s);
        let windows = &self.windows[begins..];
        let is_bad = |window: &FleetWindow| window.is_violated(self.total.slo.share);
        let Some(first) =
            windows.iter().position(|window| is_bad(window) && window.start_s <= felt_until_s)
        else {
            return Some(0.0);
        };
        let holds = |&at: &usize| windows[at..].iter().take(3).all(|window| !is_bad(window));
        let back = (first..windows.len()).find(holds)?;
        Some(windows[back].start_s - at_s)
    }

    /// What clients saw of a fault of [`faults`](Self::faults): from when it came until the target was
    /// held again, and for at least five windows after it was over, or until the next one. `None`
    /// where the run was over before.
    #[must_use]
    pub fn aftermath(&self, fault: usize) -> Option<Aftermath> {
        let &(at_s, what) = self.faults.get(fault).filter(|&&(at_s, _)| at_s <= self.end_s)?;
        let next_s = self.faults.get(fault + 1).map_or(self.end_s, |&(next_s, _)| next_s);
        let width_s = self.windows.get(1).map_or(self.end_s, |window| window.start_s);
        let felt_s = what.lasts_s() + 5.0 * width_s;
        let recovery_s = self.recovery_s(fault);
        let until_s = lesser(next_s, at_s + greater(recovery_s.unwrap_or(self.end_s), felt_s));
        let is_in =
            |window: &&FleetWindow| window.start_s + width_s > at_s && window.start_s < until_s;
        let mut seen = Aftermath {
            restarted: self.faults_restarted.get(fault).copied().unwrap_or(0),
            served: 0,
            slo_met: 0,
            ttft: Distribution::new(Precision::default()),
            recovery_s,
        };
        for window in self.windows.iter().filter(is_in) {
            seen.served += window.served;
            seen.slo_met += window.slo_met;
            seen.ttft.merge(&window.ttft);
        }
        Some(seen)
    }

    /// Whether nobody was lost or counted twice, in requests and in time.
    ///
    /// # Errors
    /// Says which law is broken.
    pub fn verify(&self) -> Result<(), String> {
        let run = &self.total;
        let accounted = run.completed + run.rejected + run.in_flight + self.returned;
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
    /// Whether fewer than this share of those served met the target, or somebody waits and nobody was
    /// served.
    #[must_use]
    pub fn is_violated(&self, share: f64) -> bool {
        let waits = self.served == 0 && self.waiting > 0;
        waits || (self.slo_met as f64) < share * self.served as f64
    }

    /// Add the replicas of a pool, and those that wait and run there.
    pub(super) fn add_replicas(&mut self, pool: &Self) {
        self.waiting += pool.waiting;
        self.running += pool.running;
        let ready = f64::from(self.replicas[2]);
        let others = f64::from(pool.replicas[2]);
        let all = greater(ready + others, 1.0);
        let mean = (self.kv_usage.0 * ready + pool.kv_usage.0 * others) / all;
        self.kv_usage = (mean, greater(self.kv_usage.1, pool.kv_usage.1));
        for (mine, theirs) in self.replicas.iter_mut().zip(pool.replicas) {
            *mine += theirs;
        }
        self.desired += pool.desired;
    }

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
            deferred: 0,
            running: 0,
            kv_usage: (0.0, 0.0),
            replicas: [0; 4],
            desired: 0,
        }
    }
}
