//! The engine at given rates.

use std::sync::Arc;

use scenario::Resolved;
use sim_core::{RequestSource, Run, Setup, Trace, engine::Attendance};

use crate::{
    answer::LoadPoint,
    ceiling::Ceiling,
    closed_form::ceiling_of,
    demand::{Demand, open_loop, recorded},
    job::Job,
    load::Load,
    steady::{evenly_spaced, steady},
};

/// The question "what happens at these rates?". First comes the rate that the engine finishes at
/// all, from which on nothing is stable; the jobs at the rates are independent of each other.
#[derive(Clone, Debug)]
pub struct Sweep {
    setup: Setup,
    /// How clients and the line behave before an open loop.
    attendance: Attendance,
    ceiling: Ceiling,
    rates: Vec<f64>,
    replications: usize,
    loads: Vec<Load>,
    pending: Vec<Asked>,
}

/// A run that was handed out.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// For the ceiling, at this rate.
    Ceiling(f64),
    /// For the rate at this place.
    Point(usize),
}

impl Sweep {
    /// Ask about each of `rates`, requests per second on one GPU, each held throughout its runs.
    #[must_use]
    pub fn new(resolved: &Resolved, rates: Vec<f64>) -> Self {
        let replications = resolved.replications.max(1) as usize;
        let sweep = Self::of(steady(&resolved.setup), rates, replications);
        let attendance = open_loop(&resolved.attendance);
        let ceiling = sweep.ceiling.clone().of_sessions(&attendance);
        Self { attendance, ceiling, ..sweep }
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
        let ceiling = Ceiling::new(&evenly_spaced(&setup), ceiling_of(&setup));
        let attendance = recorded(&resolved.attendance);
        Self { attendance, ceiling, ..Self::of(setup, rates, 1) }
    }

    fn of(setup: Setup, rates: Vec<f64>, replications: usize) -> Self {
        let ceiling = Ceiling::new(&setup, ceiling_of(&setup));
        let loads = vec![Load::default(); rates.len()];
        let attendance = Attendance::OPEN;
        Self { setup, attendance, ceiling, rates, replications, loads, pending: Vec::new() }
    }

    /// Runs that can be made now, independent of each other; none when the question is answered.
    /// Their runs must be [accepted](Self::accept) before more are asked for.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (replication, rate_per_s) in self.ceiling.wanted(self.replications) {
            self.pending.push(Asked::Ceiling(rate_per_s));
            jobs.push(self.ceiling.job(rate_per_s, replication));
        }
        if !jobs.is_empty() {
            return jobs;
        }
        for (place, &rate_per_s) in self.rates.iter().enumerate() {
            for replication in self.loads[place].replications()..self.replications {
                self.pending.push(Asked::Point(place));
                let base = (&self.setup, &self.attendance);
                jobs.push(Demand::Rate.job(base, rate_per_s, replication as u32));
            }
        }
        jobs
    }

    /// Take the runs in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        for (asked, run) in std::mem::take(&mut self.pending).into_iter().zip(runs) {
            match asked {
                Asked::Ceiling(rate_per_s) => self.ceiling.learn(rate_per_s, run),
                Asked::Point(place) => self.loads[place].add(run),
            }
        }
    }

    /// The engine at each rate. A point counts as stable below the ceiling, unless more came than
    /// left in most of its runs.
    #[must_use]
    pub fn points(&self) -> Vec<LoadPoint> {
        let ceiling = self.ceiling.estimate().value;
        let kv_capacity_tokens = self.setup.engine.kv_capacity_tokens;
        self.rates
            .iter()
            .zip(&self.loads)
            .map(|(&rate, load)| load.point((Demand::Rate, rate), kv_capacity_tokens, ceiling))
            .collect()
    }
}
