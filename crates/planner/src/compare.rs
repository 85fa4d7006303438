//! Two scenarios under the same users.
//!
//! Both are planned, and each replication of both by itself: a replication of one and the same of the
//! other see the same users, so that most of what chance does to their difference cancels, and the
//! spread of the paired differences gives its interval. Then both engines get the same requests at the
//! same rate, and each request is compared with itself.

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{Keep, Outcome, Progress, Run, SetupError, Simulation, float::lesser};

use crate::{
    answer::{Estimate, PlanAnswer},
    demand::Demand,
    job::{Job, seed_of},
    plan::Plan,
    several::Several,
};

/// How many requests are told that changed most.
const MOST_CHANGED: usize = 5;

/// One request under both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedRequest {
    /// Its place in the order of arrival, from 0.
    pub index: usize,
    /// When it arrives, seconds.
    pub arrival_s: f64,
    /// Its prompt and its answer under the first, tokens.
    pub tokens: (u64, u64),
    /// From sending to the first token, seconds, under both.
    pub ttft_s: (f64, f64),
    /// From sending to the last token, seconds, under both.
    pub e2e_s: (f64, f64),
}

/// The same requests under both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedRequests {
    /// At which load of one engine: requests per second, or users of a closed loop.
    pub load: f64,
    /// How many requests have an answer under both.
    pub requests: usize,
    /// Those that end sooner, and later, under the second; the others at the same time.
    pub sooner: usize,
    /// See `sooner`.
    pub later: usize,
    /// Mean change of the end-to-end latency from the first to the second, seconds.
    pub mean_change_s: f64,
    /// The 1st, 50th and 99th percentile of that change over requests, seconds.
    pub change_s: [f64; 3],
    /// Those whose end-to-end latency changed most.
    pub most_changed: Vec<ChangedRequest>,
}

/// Two scenarios, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareAnswer {
    /// Both plans.
    pub answers: [PlanAnswer; 2],
    /// The second's capacity of one engine over the first's, less 1; `None` where one has none.
    pub capacity_change: Option<Estimate>,
    /// The same requests under both; `None` where one has no capacity or they are not the same.
    pub requests: Option<PairedRequests>,
}

/// The question "what differs?".
#[derive(Clone, Debug)]
pub struct Compare {
    both: [Resolved; 2],
    /// The plans of both, and then each replication of both.
    plans: Several,
    replications: usize,
    runs_taken: u32,
}

impl Compare {
    /// Ask for two resolved scenarios. They are compared over as many replications as the one with
    /// fewer has.
    #[must_use]
    pub fn new(first: &Resolved, second: &Resolved) -> Self {
        let replications = first.replications.min(second.replications).max(1);
        let both = [first, second].map(|resolved| {
            let mut own = resolved.clone();
            own.replications = replications;
            // The same users.
            own.setup.seed = first.setup.seed;
            own
        });
        let mut plans: Vec<Plan> = both.iter().map(Plan::new).collect();
        for resolved in &both {
            plans.extend((0..replications).map(|replication| {
                let mut own = resolved.clone();
                own.setup.seed = seed_of(resolved.setup.seed, replication);
                Plan::quick(&own)
            }));
        }
        Self {
            both,
            plans: Several::new(plans),
            replications: replications as usize,
            runs_taken: 0,
        }
    }

    /// Runs that can be made now; none when both are planned.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        self.plans.next_jobs()
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        self.runs_taken += runs.len() as u32;
        self.plans.accept(runs);
    }

    /// Runs taken, and about how many there will be.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        (self.runs_taken, self.plans.about().max(self.runs_taken))
    }

    /// What differs, once both are planned; the requests are compared here, by one run of each.
    ///
    /// # Errors
    /// A set-up holds a number outside its domain; a resolved scenario does not.
    pub fn finish(&self) -> Result<Option<CompareAnswer>, SetupError> {
        let mut pair = self.pair()?;
        if let Some(pair) = &mut pair {
            while pair.advance(u64::MAX) != Progress::Done {}
        }
        Ok(self.finish_with(pair))
    }

    /// The same with the runs of [`Self::pair`], once they are done.
    #[must_use]
    pub fn finish_with(&self, pair: Option<Pair>) -> Option<CompareAnswer> {
        let all: Vec<Option<&PlanAnswer>> = self.plans.answers().collect();
        let answers = self.both_answers()?;
        let load = |answer: Option<&PlanAnswer>| answer.and_then(capacity);
        let each: Vec<Option<f64>> = all.iter().skip(2).map(|answer| load(*answer)).collect();
        let (of_first, of_second) = each.split_at(self.replications.min(each.len()));
        let changes: Option<Vec<f64>> = of_first
            .iter()
            .zip(of_second)
            .map(|(before, after)| Some(after.as_ref()? / before.as_ref()? - 1.0))
            .collect();
        let whole = capacity(&answers[1]).zip(capacity(&answers[0]));
        let capacity_change = changes
            .zip(whole)
            .map(|(each, (after, before))| Estimate::around(after / before - 1.0, &each));
        let requests = pair.and_then(Pair::paired);
        Some(CompareAnswer { answers, capacity_change, requests })
    }

    fn both_answers(&self) -> Option<[PlanAnswer; 2]> {
        let mut all = self.plans.answers();
        let (first, second) = (all.next()??, all.next()??);
        Some([first.clone(), second.clone()])
    }

    /// Both engines at the smaller of their planned loads, with the same requests, ready to run. None
    /// before both are planned, where one has no planned load, and where one has users and the other a
    /// rate.
    ///
    /// # Errors
    /// A set-up holds a number outside its domain; a resolved scenario does not.
    pub fn pair(&self) -> Result<Option<Pair>, SetupError> {
        let Some(answers) = self.both_answers() else { return Ok(None) };
        let planned = |answer: &PlanAnswer| {
            answer.planned.map(|point| point.users.unwrap_or(point.rate_per_s))
        };
        let [first, second] = &self.both;
        let demands = [first, second].map(|resolved| Demand::of(&resolved.attendance));
        let are_alike = (demands[0] == Demand::Rate) == (demands[1] == Demand::Rate);
        let loads = planned(&answers[0]).zip(planned(&answers[1])).filter(|_| are_alike);
        let Some((a, b)) = loads else { return Ok(None) };
        let load = lesser(a, b);
        let start = |resolved: &Resolved, demand: Demand| {
            let base = (&crate::steady::steady(&resolved.setup), &resolved.attendance);
            let job = demand.job(base, load, 0);
            let keep = Keep { requests: true, ..Keep::default() };
            Simulation::attended(&job.setup, &job.attendance, keep)
        };
        let simulations = [start(first, demands[0])?, start(second, demands[1])?];
        Ok(Some(Pair { load, simulations }))
    }
}

/// Both engines with the same requests, under way.
pub struct Pair {
    load: f64,
    simulations: [Simulation; 2],
}

impl Pair {
    /// Goes on by so many events of one of them, at most.
    pub fn advance(&mut self, events: u64) -> Progress {
        let [first, second] = &mut self.simulations;
        match first.advance(events) {
            Progress::Done => second.advance(events),
            running => running,
        }
    }

    fn paired(self) -> Option<PairedRequests> {
        let [first, second] = self.simulations;
        paired(self.load, &first.finish(), &second.finish())
    }
}

/// Users of a closed loop, or requests per second, of one engine.
fn capacity(answer: &PlanAnswer) -> Option<f64> {
    let found = match answer.users {
        Some(users) => users.capacity,
        None => answer.capacity_per_s,
    };
    found.map(|capacity| capacity.value).filter(|value| *value > 0.0)
}

/// Each request of two runs with itself.
fn paired(load: f64, first: &Run, second: &Run) -> Option<PairedRequests> {
    let (a, b) = (first.requests.as_ref()?, second.requests.as_ref()?);
    let pairs = a.iter().zip(b).enumerate().filter_map(|(index, (a, b))| {
        let times = |request: &sim_core::RequestRecord| {
            let has_answer = request.outcome == Outcome::Completed;
            let since = |time_s: f64| time_s - request.arrival_s;
            has_answer.then(|| (since(request.first_token_s), since(request.finish_s)))
        };
        let ((ttft_a, e2e_a), (ttft_b, e2e_b)) = (times(a)?, times(b)?);
        Some(ChangedRequest {
            index,
            arrival_s: a.arrival_s,
            tokens: (a.input_tokens, a.output_tokens),
            ttft_s: (ttft_a, ttft_b),
            e2e_s: (e2e_a, e2e_b),
        })
    });
    let mut pairs: Vec<ChangedRequest> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    let change = |pair: &ChangedRequest| pair.e2e_s.1 - pair.e2e_s.0;
    // Clocks are sums of many steps: what differs by their rounding does not differ.
    let is_more = |change_s: f64, pair: &ChangedRequest| change_s > 1e-9 * (pair.arrival_s + 1.0);
    let mut changes: Vec<f64> = pairs.iter().map(change).collect();
    changes.sort_by(f64::total_cmp);
    let rank = |part: f64| {
        let place = (part * changes.len() as f64).ceil() as usize;
        changes[place.clamp(1, changes.len()) - 1]
    };
    let answer = PairedRequests {
        load,
        requests: pairs.len(),
        sooner: pairs.iter().filter(|pair| is_more(-change(pair), pair)).count(),
        later: pairs.iter().filter(|pair| is_more(change(pair), pair)).count(),
        mean_change_s: changes.iter().sum::<f64>() / changes.len() as f64,
        change_s: [rank(0.01), rank(0.5), rank(0.99)],
        most_changed: Vec::new(),
    };
    pairs.sort_by(|a, b| change(b).abs().total_cmp(&change(a).abs()));
    pairs.truncate(MOST_CHANGED);
    Some(PairedRequests { most_changed: pairs, ..answer })
}
