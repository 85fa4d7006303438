//! The engine at given rates.

use std::sync::Arc;

use scenario::Resolved;
use sim_core::{RequestSource, Run, Setup, Trace};

use crate::{
    answer::LoadPoint,
    closed_form::fluid_of,
    job::{Job, job_at},
    load::Load,
    steady::steady,
};

/// The question "what happens at these rates?". All its jobs are independent.
#[derive(Clone, Debug)]
pub struct Sweep {
    setup: Setup,
    rates: Vec<f64>,
    replications: u32,
    loads: Vec<Load>,
    asked: bool,
}

impl Sweep {
    /// Ask about each of `rates`, requests per second on one GPU, each held throughout its runs.
    #[must_use]
    pub fn new(resolved: &Resolved, rates: Vec<f64>) -> Self {
        Self::of(steady(&resolved.setup), rates, resolved.replications.max(1))
    }

    /// Ask under recorded arrivals and lengths; see [`Plan::replaying`](crate::Plan::replaying).
    #[must_use]
    pub fn replaying(
        resolved: &Resolved,
        rates: Vec<f64>,
        trace: Arc<Trace>,
        trace_rate_per_s: f64,
    ) -> Self {
        let mut setup = resolved.setup.clone();
        setup.workload.requests = trace.rows().len() as u64;
        setup.workload.source = RequestSource::Replay { trace, speed: 1.0 / trace_rate_per_s };
        setup.step_time = setup.step_time.for_workload(&setup.workload.source);
        Self::of(setup, rates, 1)
    }

    fn of(setup: Setup, rates: Vec<f64>, replications: u32) -> Self {
        let loads = vec![Load::default(); rates.len()];
        Self { setup, rates, replications, loads, asked: false }
    }

    /// All runs, rate by rate; none the second time.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        if std::mem::replace(&mut self.asked, true) {
            return Vec::new();
        }
        let jobs_at =
            |&rate: &f64| (0..self.replications).map(move |replication| (rate, replication));
        self.rates
            .iter()
            .flat_map(jobs_at)
            .map(|(rate, replication)| job_at(&self.setup, rate, replication))
            .collect()
    }

    /// Take the runs in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        for (load, runs) in self.loads.iter_mut().zip(runs.chunks(self.replications as usize)) {
            runs.iter().for_each(|run| load.add(run));
        }
    }

    /// The engine at each rate. A point counts as stable below the closed form's ceiling, unless
    /// more came than left in most of its runs.
    #[must_use]
    pub fn points(&self) -> Vec<LoadPoint> {
        let ceiling = fluid_of(&self.setup).ceiling_per_s();
        let kv_capacity_tokens = self.setup.engine.kv_capacity_tokens;
        self.rates
            .iter()
            .zip(&self.loads)
            .map(|(&rate, load)| load.point(rate, kv_capacity_tokens, ceiling))
            .collect()
    }
}
