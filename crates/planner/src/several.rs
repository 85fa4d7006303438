//! Several plans that are asked at once: their jobs together, their runs to each its own.

use sim_core::Run;

use crate::{answer::PlanAnswer, job::Job, plan::Plan};

/// Plans in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Several {
    plans: Vec<Plan>,
    /// How many jobs each plan has handed out.
    handed_out: Vec<usize>,
}

impl Several {
    pub(crate) const fn new(plans: Vec<Plan>) -> Self {
        Self { plans, handed_out: Vec::new() }
    }

    /// Jobs of all plans that are not done; none when all are.
    pub(crate) fn next_jobs(&mut self) -> Vec<Job> {
        let mut jobs = Vec::new();
        self.handed_out.clear();
        for plan in &mut self.plans {
            let before = jobs.len();
            jobs.extend(plan.next_jobs());
            self.handed_out.push(jobs.len() - before);
        }
        jobs
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub(crate) fn accept(&mut self, runs: &[Run]) {
        let mut rest = runs;
        for (plan, &count) in self.plans.iter_mut().zip(&self.handed_out) {
            let (own, others) = rest.split_at(count.min(rest.len()));
            if !own.is_empty() {
                plan.accept(own);
            }
            rest = others;
        }
    }

    /// The answer of each, in order.
    pub(crate) fn answers(&self) -> impl Iterator<Item = Option<&PlanAnswer>> {
        self.plans.iter().map(Plan::answer)
    }

    /// Runs that all together will have made, about.
    pub(crate) fn about(&self) -> u32 {
        self.plans.iter().map(|plan| plan.progress().1).sum()
    }
}
