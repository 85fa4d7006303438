//! A job: so many requests that are all there at the beginning, to be done by a time.
//!
//! No request of it has a target; only the last one's end counts. The requests are dealt out evenly
//! over the engines, and one engine is simulated with its part. The division by the closed form's
//! ceiling gives the first number of engines; what it leaves out is that an engine is not full while
//! its last requests end.

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{Run, Setup, float::greater};

use crate::{
    closed_form::ceiling_of,
    job::{Job, job_at},
    steady::unbroken,
};

/// How many times faster than it can finish requests come: all are there from the first.
const AT_ONCE: f64 = 1000.0;

/// Most requests of one engine that are simulated; what is beyond them goes on at the rate found.
const MOST_REQUESTS: u64 = 200_000;

/// Most numbers of engines that are tried.
const MOST_TRIALS: u32 = 60;

/// What a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchAnswer {
    /// Requests in all.
    pub requests: u64,
    /// Until when they are to be done, seconds from the beginning.
    pub within_s: f64,
    /// Requests divided by the time and by the closed form's ceiling, rounded up.
    pub engines_by_division: u64,
    /// The fewest engines that are done in time, simulated; `None` where no number is.
    pub engines: Option<u64>,
    /// When the last request of an engine ends, seconds; where none are in time, with one request on
    /// each.
    pub takes_s: f64,
    /// Whether an engine's part was too large to be simulated whole.
    pub is_extrapolated: bool,
    /// Requests that an engine finishes per second over the whole job.
    pub rate_per_s: f64,
}

/// The question "how many engines for a job?".
#[derive(Clone, Debug)]
pub struct BatchPlan {
    setup: Setup,
    requests: u64,
    within_s: f64,
    ceiling_per_s: f64,
    by_division: u64,
    /// Engines that are tried next.
    engines: u64,
    /// Most engines that are known not to do, and the fewest that are known to do.
    too_few: u64,
    enough: Option<Trial>,
    last: Option<Trial>,
    trials: u32,
    answer: Option<BatchAnswer>,
}

/// What so many engines took.
#[derive(Clone, Copy, Debug)]
struct Trial {
    engines: u64,
    takes_s: f64,
    is_extrapolated: bool,
}

impl BatchPlan {
    /// Ask how many engines do `requests` requests like a scenario's within `within_s` seconds.
    #[must_use]
    pub fn new(resolved: &Resolved, requests: u64, within_s: f64) -> Self {
        let setup = unbroken(&resolved.setup);
        let ceiling_per_s = ceiling_of(&setup);
        let requests = requests.max(1);
        let wanted = requests as f64 / (within_s * ceiling_per_s);
        // A float beyond the range of u64 saturates.
        let by_division = (wanted.ceil() as u64).clamp(1, requests);
        Self {
            setup,
            requests,
            within_s,
            ceiling_per_s,
            by_division,
            engines: by_division,
            too_few: 0,
            enough: None,
            last: None,
            trials: 0,
            answer: None,
        }
    }

    /// The run that can be made now; none when the question is answered.
    #[must_use]
    pub fn next_jobs(&self) -> Vec<Job> {
        if self.answer.is_some() {
            return Vec::new();
        }
        let mut setup = self.setup.clone();
        setup.workload.requests = self.part().min(MOST_REQUESTS);
        vec![job_at(&setup, AT_ONCE * self.ceiling_per_s, 0)]
    }

    /// Requests of the engine with the most of them.
    const fn part(&self) -> u64 {
        self.requests.div_ceil(self.engines)
    }

    /// Take the run of the job handed out last.
    pub fn accept(&mut self, runs: &[Run]) {
        let Some(run) = runs.first() else { return };
        let beyond = self.part().saturating_sub(MOST_REQUESTS);
        let per_s = greater(f64::MIN_POSITIVE, run.throughput_per_s());
        let more_s = if beyond > 0 { beyond as f64 / per_s } else { 0.0 };
        let trial = Trial {
            engines: self.engines,
            takes_s: run.duration_s() + more_s,
            is_extrapolated: beyond > 0,
        };
        self.trials += 1;
        self.last = Some(trial);
        if trial.takes_s <= self.within_s {
            self.enough = Some(trial);
        } else {
            self.too_few = self.engines;
        }
        self.go_on(trial);
    }

    /// Try another number, or conclude.
    fn go_on(&mut self, trial: Trial) {
        let is_out = self.too_few >= self.requests || self.trials >= MOST_TRIALS;
        self.engines = match self.enough {
            Some(enough) if enough.engines == self.too_few + 1 || is_out => return self.conclude(),
            None if is_out => return self.conclude(),
            // The time tells about how many would do; between what is known.
            _ => {
                let wanted = trial.engines as f64 * trial.takes_s / self.within_s;
                let most = self.enough.map_or(self.requests, |enough| enough.engines - 1);
                let least = self.too_few + 1;
                let near = (wanted.ceil() as u64).clamp(least, most);
                // Beside a number that is known, halving ends sooner where the guess does not move.
                if self.trials > 8 { least + (most - least) / 2 } else { near }
            }
        };
    }

    fn conclude(&mut self) {
        let Some(found) = self.enough.or(self.last) else { return };
        let part = self.requests.div_ceil(found.engines);
        self.answer = Some(BatchAnswer {
            requests: self.requests,
            within_s: self.within_s,
            engines_by_division: self.by_division,
            engines: self.enough.map(|enough| enough.engines),
            takes_s: found.takes_s,
            is_extrapolated: found.is_extrapolated,
            rate_per_s: part as f64 / found.takes_s,
        });
    }

    /// The answer, once it is there.
    #[must_use]
    pub const fn answer(&self) -> Option<&BatchAnswer> {
        self.answer.as_ref()
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use scenario::Scenario;

    use super::*;

    fn ask(requests: u64, within_s: f64) -> BatchAnswer {
        let resolved = Scenario::preset().resolve().expect("it resolves");
        let mut plan = BatchPlan::new(&resolved, requests, within_s);
        loop {
            let jobs = plan.next_jobs();
            if jobs.is_empty() {
                return *plan.answer().expect("an answer");
            }
            let runs: Vec<Run> = jobs.iter().map(|job| job.run().expect("it runs")).collect();
            plan.accept(&runs);
        }
    }

    fn takes_s(requests: u64) -> f64 {
        ask(requests, 1e7).takes_s
    }

    /// One engine more than needed would do, one fewer would not.
    #[test]
    fn it_is_the_fewest_engines_that_are_done_in_time() {
        for (requests, within_s) in [(10_000, 60.0), (10_000, 100.0), (3_000, 20.0)] {
            let answer = ask(requests, within_s);
            let engines = answer.engines.expect("enough engines");
            assert!(answer.takes_s <= within_s, "{answer:?}");
            assert!(engines >= answer.engines_by_division, "{answer:?}");
            assert!((takes_s(requests.div_ceil(engines)) - answer.takes_s).abs() < 1e-9);
            if engines > 1 {
                assert!(takes_s(requests.div_ceil(engines - 1)) > within_s, "{answer:?}");
            }
        }
    }

    #[test]
    fn what_no_number_of_engines_does_is_said() {
        // A lone request takes a second and a half.
        let answer = ask(50, 0.5);
        assert_eq!(answer.engines, None);
        assert!(answer.takes_s > 0.5, "{answer:?}");
    }

    #[test]
    fn a_large_part_goes_on_as_it_began() {
        let whole = ask(MOST_REQUESTS, 1e9);
        let twice = ask(2 * MOST_REQUESTS, 1e9);
        assert!(!whole.is_extrapolated && twice.is_extrapolated);
        assert!((twice.takes_s / whole.takes_s - 2.0).abs() < 0.01, "{whole:?} {twice:?}");
    }
}
