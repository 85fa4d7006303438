//! The rate that an engine finishes while there is always more to do.
//!
//! An engine that is flooded starts as many requests at once as it has slots. Requests of equal
//! length then also end together, so that steps full of prompts alternate with steps that only
//! decode, for ever; a step takes the greater of arithmetic and memory traffic, so that such waves
//! finish up to 6 % less than the same load spread out. Traffic never starts like that. So a flood
//! gives the first guess, and the ceiling itself is measured a tenth above what was finished: the
//! slots then fill one by one. Where a flood finishes more (batches that are served whole are full
//! in it from the first), it counts.

use sim_core::{
    Rules, Run, Setup,
    clients::Population,
    engine::{Attendance, VllmRules},
    float::lesser,
};

use crate::{
    answer::Estimate,
    job::{Job, job_at},
    steady::unbroken,
};

/// How many times faster than its closed form an engine is flooded.
const FLOOD: f64 = 50.0;

/// How many times faster than it finished an engine is driven next.
const OVERLOAD: f64 = 1.1;

/// An engine that finishes this share of what it is sent is not overloaded.
const KEEPS_UP: f64 = 0.98;

/// Most rates that are tried; each is at most a tenth above the last.
const MOST_PROBES: u32 = 12;

/// How often every slot turns over in a run, the least requests of one, and the most.
const TURNOVERS: u64 = 60;
const LEAST_REQUESTS: u64 = 8_000;
const MOST_REQUESTS: u64 = 100_000;

/// The search for the ceiling in the first replication, and its measure in the others.
#[derive(Clone, Debug)]
pub(crate) struct Ceiling {
    /// The engine under a load without lulls.
    setup: Setup,
    /// Its clients, who wait for nothing but where the cache knows their sessions.
    attendance: Attendance,
    /// What the closed form says, per second.
    closed_form_per_s: f64,
    /// Requests that fill every slot once.
    turnover: u64,
    probes: u32,
    /// The rate at which most was finished, and how much, per second.
    best: Option<(f64, f64)>,
    /// What was finished a tenth above what the engine had finished before, per second.
    overloaded_per_s: Option<f64>,
    is_found: bool,
    /// What each replication finished, per second.
    finished_per_s: Vec<f64>,
}

impl Ceiling {
    /// Ask for the ceiling of an engine whose closed form has one.
    pub(crate) fn new(setup: &Setup, closed_form_per_s: f64) -> Self {
        let engine = &setup.engine;
        let (input_tokens, output_tokens) = setup.workload.source.mean_tokens();
        // A float beyond the range of u64 saturates.
        let tokens = (input_tokens + output_tokens) as u64;
        let in_memory = engine.kv_capacity_tokens / tokens.max(1);
        let turnover = engine.max_num_seqs.min(in_memory.max(1));
        let mut setup = unbroken(setup);
        setup.workload.requests =
            turnover.saturating_mul(TURNOVERS).clamp(LEAST_REQUESTS, MOST_REQUESTS);
        Self {
            setup,
            attendance: Attendance::OPEN,
            closed_form_per_s,
            turnover,
            probes: 0,
            best: None,
            overloaded_per_s: None,
            is_found: false,
            finished_per_s: Vec::new(),
        }
    }

    /// The same for turns of sessions that a prefix cache finds again: it can only where each is sent
    /// after the one before. Elsewhere turns count as requests with their lengths, since under overload
    /// those of sessions that have just begun would be too many among the first.
    pub(crate) fn of_sessions(mut self, attendance: &Attendance) -> Self {
        let caches =
            matches!(self.setup.rules, Rules::VllmV1(VllmRules { prefix_caching: true, .. }));
        if caches && attendance.clients.population == Population::Sessions {
            self.attendance.clients.population = Population::Sessions;
        }
        self
    }

    /// Requests of mean length that the engine holds at once.
    pub(crate) const fn slots(&self) -> u64 {
        self.turnover
    }

    /// Replication and rate of the runs wanted next, for a round of so many replications; none once
    /// they are all known.
    pub(crate) fn wanted(&self, replications: usize) -> Vec<(usize, f64)> {
        let flooded_per_s = FLOOD * self.closed_form_per_s;
        match self.best {
            Some((rate_per_s, _)) if self.is_found => {
                (self.finished_per_s.len()..replications).map(|k| (k, rate_per_s)).collect()
            }
            Some((_, finished_per_s)) => vec![(0, OVERLOAD * finished_per_s)],
            None if self.is_found => Vec::new(),
            None => vec![(0, flooded_per_s)],
        }
    }

    /// The run at a rate in a replication.
    pub(crate) fn job(&self, rate_per_s: f64, replication: usize) -> Job {
        let mut job = job_at(&self.setup, rate_per_s, replication as u32);
        job.attendance = self.attendance;
        job
    }

    /// Take a run in.
    pub(crate) fn learn(&mut self, rate_per_s: f64, run: &Run) {
        // A recording too short to fill the engine a few times over measures no ceiling.
        let is_settled = run.completed >= self.turnover.saturating_mul(TURNOVERS / 2);
        let measured = run.settled_throughput_per_s().filter(|_| is_settled);
        let Some(finished_per_s) = measured else {
            self.is_found = true;
            return;
        };
        if self.is_found {
            self.finished_per_s.push(finished_per_s);
            return;
        }
        self.probes += 1;
        if self.best.is_none_or(|(_, most)| finished_per_s > most) {
            self.best = Some((rate_per_s, finished_per_s));
        }
        let is_overloaded = finished_per_s < KEEPS_UP * rate_per_s;
        if self.probes > 1 && is_overloaded {
            self.overloaded_per_s = Some(finished_per_s);
        }
        self.is_found = (self.probes > 1 && is_overloaded) || self.probes == MOST_PROBES;
        if self.is_found {
            self.finished_per_s.extend(self.best.map(|(_, most)| most));
        }
    }

    /// The ceiling with the interval of its replications, per second; the closed form's without an
    /// interval where nothing was measured.
    pub(crate) fn estimate(&self) -> Estimate {
        if self.finished_per_s.is_empty() {
            return Estimate::exactly(self.closed_form_per_s);
        }
        Estimate::of_mean(&self.finished_per_s).not_negative()
    }

    /// The largest rate that may be called a capacity, by so many requests in all. Its lower end is
    /// what one run with so many settled requests can tell from the ceiling: closer to it all runs alike
    /// may still be settling, which no number of them shows. Nor does it lie above what is finished under
    /// overload where a flood finishes more: an engine with a queue then serves less than without, and
    /// once it has one, sooner or later, it keeps it. The upper end is as far above the ceiling's as the
    /// value is below: runs that hold the target there cannot tell it from the ceiling either.
    pub(crate) fn limit(&self, requests: u64, settled_of_run: u64) -> Estimate {
        let Estimate { value, low, high } = self.estimate();
        let value = value * (1.0 - limit_margin(requests));
        let under_overload = self.overloaded_per_s.map_or(low, |finished| lesser(low, finished));
        let low = under_overload * (1.0 - 2.0 * limit_margin(settled_of_run));
        let high = high * (1.0 + limit_margin(requests));
        Estimate { value, low: lesser(low, value), high }
    }
}

/// How far below the ceiling a rate has to lie to be told from it by so many requests, as a part of
/// it.
///
/// At the ceiling itself the queue grows without bound, however slowly: no target holds for long.
/// But the number of Poisson arrivals in a given time is known to one part in `√n` only, so that
/// runs of `n` requests in all see no difference between a rate and one that much higher. The margin
/// is held below a twentieth: so few requests say little in any case.
pub(crate) fn limit_margin(requests: u64) -> f64 {
    lesser(0.05, 1.0 / (requests.max(1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_shrinks_with_the_runs() {
        assert_eq!(limit_margin(16_000), 1.0 / 16_000_f64.sqrt());
        assert_eq!((limit_margin(0), limit_margin(3)), (0.05, 0.05));
        assert!(limit_margin(u64::MAX) < 1e-9);
    }
}
