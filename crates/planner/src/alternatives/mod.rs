//! What else would do: every GPU, number of GPUs and published format that fits, by what it costs at
//! the target.
//!
//! Each deployment first has bounds, from the closed form: the most it sustains, so the least it
//! costs, and the least time that a lone request takes. In order of the least cost, deployments are
//! simulated, until those that are left can neither be among the cheapest nor cost less than a faster
//! one: what was only bounded says so. The cheapest is then tried with other limits of the scheduler, and
//! planned in full.
//!
//! ```text
//!   Candidates ──bounds──▶ Wave ──plans──▶ Wave … ──▶ Binding ──▶ Tuning ──▶ Full ──▶ answer
//! ```

mod candidate;
mod row;

use catalog::{Checkpoint, Device};
use scenario::{Resolved, Scenario};
use sim_core::Run;

use crate::{
    answer::{PlanAnswer, Verdict},
    closed_form::closed_form,
    cost::Dollars,
    job::Job,
    plan::Plan,
    several::Several,
    why::{Gain, Limit, LimitKind, binding_of},
};

pub use candidate::Lookup;
use candidate::{Bound, Candidate, Candidates};
use row::mark_front;
pub use row::{Alternative, AlternativesAnswer, Basis, Tuned};

/// Deployments that are simulated together. It does not depend on the number of threads, so that what
/// is left out does not either.
const WAVE: usize = 12;

/// How much more of a limit is given to see whether it binds.
const LITTLE: f64 = 1.1;

/// Limits that the cheapest deployment is tried with.
const SEQUENCES: [u64; 6] = [32, 64, 128, 256, 512, 1024];
const TOKENS: [u64; 4] = [2048, 4096, 8192, 16_384];

/// What is being asked.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// Deployments at these places are being planned.
    Wave(Vec<usize>),
    /// Rows at these places, each with a limit relaxed by a factor.
    Binding(Vec<(usize, Limit, f64)>),
    /// The cheapest row with these limits.
    Tuning(Vec<(u64, u64)>),
    /// The tuned one in full.
    Full(u64, u64),
    Done,
}

/// The question "what else would do?".
#[derive(Clone, Debug)]
pub struct Alternatives {
    candidates: Candidates,
    /// One for each candidate, in order of the least cost.
    rows: Vec<Alternative>,
    is_settled: Vec<bool>,
    /// How many rows are wanted in full.
    wanted: usize,
    max_per_hour: f64,
    stage: Stage,
    plans: Several,
    tuning: Vec<Resolved>,
    tuned: Option<Tuned>,
    runs_taken: u32,
    runs_before: u32,
}

impl Alternatives {
    /// Ask for a scenario among `devices`; `price` says what an hour of one costs. At least the
    /// `wanted` cheapest are simulated, and none that must cost more than `max_per_hour` dollars an
    /// hour.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        (devices, checkpoint): (&[Device], &Checkpoint),
        price: &dyn Fn(&Device) -> Option<Dollars>,
        wanted: usize,
        max_per_hour: Option<f64>,
    ) -> Self {
        let mut lookup = Lookup::new(scenario, (devices, checkpoint), price);
        while lookup.step() {}
        Self::among(lookup, wanted, max_per_hour)
    }

    /// The same among what was looked up.
    #[must_use]
    pub fn among(lookup: Lookup, wanted: usize, max_per_hour: Option<f64>) -> Self {
        let mut candidates = lookup.found;
        candidates.fit.sort_by(|a, b| {
            let of = |bound: &Bound| (bound.per_hour, bound.e2e_s);
            let ((a, a_s), (b, b_s)) = (of(&a.bound), of(&b.bound));
            a.total_cmp(&b).then(a_s.total_cmp(&b_s))
        });
        let bounded = |(place, candidate): (usize, &Candidate)| Alternative {
            place,
            ..candidate.row.clone()
        };
        let rows: Vec<Alternative> = candidates.fit.iter().enumerate().map(bounded).collect();
        let mut asked = Self {
            is_settled: vec![false; rows.len()],
            candidates,
            rows,
            wanted: wanted.max(1),
            max_per_hour: max_per_hour.unwrap_or(f64::INFINITY),
            stage: Stage::Done,
            plans: Several::default(),
            tuning: Vec::new(),
            tuned: None,
            runs_taken: 0,
            runs_before: 0,
        };
        asked.next_wave();
        asked
    }

    /// Runs that can be made now; none when the question is answered.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        while self.stage != Stage::Done {
            let jobs = self.plans.next_jobs();
            if !jobs.is_empty() {
                return jobs;
            }
            self.next_stage();
        }
        Vec::new()
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        self.runs_taken += runs.len() as u32;
        self.plans.accept(runs);
    }

    /// Runs taken, and about how many there will be in what is asked now.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        let about = self.runs_before + self.plans.about();
        (self.runs_taken, about.max(self.runs_taken + u32::from(self.stage != Stage::Done)))
    }

    /// The rows as far as they are known, the cheapest first, and in the end the tuned one.
    #[must_use]
    pub fn answer(&self) -> AlternativesAnswer {
        let mut rows: Vec<Alternative> = self
            .rows
            .iter()
            .filter(|row| row.per_hour.typical <= self.max_per_hour)
            .cloned()
            .collect();
        let dearer = (self.rows.len() - rows.len()) as u32;
        rows.sort_by(|a, b| {
            a.order().total_cmp(&b.order()).then(a.e2e_p99_s.total_cmp(&b.e2e_p99_s))
        });
        mark_front(&mut rows);
        AlternativesAnswer {
            rows,
            tuned: self.tuned.clone(),
            looked_at: self.candidates.looked_at,
            unfit: self.candidates.unfit,
            hopeless: self.candidates.hopeless + self.missed(),
            unpriced_gpus: self.candidates.unpriced,
            dearer,
            is_done: self.stage == Stage::Done,
        }
    }

    /// Deployments that miss the target when they are simulated.
    fn missed(&self) -> u32 {
        (self.candidates.fit.len() - self.rows.len()) as u32
    }

    fn set_stage(&mut self, stage: Stage, plans: Vec<Plan>) {
        self.runs_before = self.runs_taken;
        (self.stage, self.plans) = (stage, Several::new(plans));
    }

    fn next_stage(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Wave(places) => {
                self.end_wave(&places);
                self.next_wave();
            }
            Stage::Binding(asked) => {
                self.end_binding(&asked);
                self.start_tuning();
            }
            Stage::Tuning(limits) => self.end_tuning(&limits),
            Stage::Full(sequences, tokens) => self.end_full(sequences, tokens),
            Stage::Done => {}
        }
    }

    /// The next deployments that may matter; where there are none, what binds is asked.
    fn next_wave(&mut self) {
        let mut places = Vec::new();
        for place in 0..self.rows.len() {
            if places.len() < WAVE && !self.is_settled[place] && self.may_matter(place) {
                places.push(place);
            }
        }
        if places.is_empty() {
            self.start_binding();
            return;
        }
        let plans =
            places.iter().map(|&place| Plan::quick(&self.rows_of(place).resolved)).collect();
        self.set_stage(Stage::Wave(places), plans);
    }

    fn rows_of(&self, place: usize) -> &Candidate {
        &self.candidates.fit[self.rows[place].place]
    }

    /// Whether a deployment can be among the cheapest, or faster than whatever costs no more.
    fn may_matter(&self, place: usize) -> bool {
        let bound = self.rows_of(place).bound;
        if bound.per_hour > self.max_per_hour {
            return false;
        }
        let simulated = || self.rows.iter().filter(|row| row.basis == Basis::Simulated);
        let cheaper = simulated().filter(|row| row.per_hour.typical <= bound.per_hour);
        let as_good = |row: &Alternative| row.e2e_p99_s <= bound.e2e_s;
        cheaper.clone().count() < self.wanted || !cheaper.clone().any(as_good)
    }

    fn end_wave(&mut self, places: &[usize]) {
        let answers: Vec<Option<PlanAnswer>> =
            self.plans.answers().map(Option::<&_>::cloned).collect();
        let mut missed = Vec::new();
        for (&place, answer) in places.iter().zip(answers) {
            self.is_settled[place] = true;
            let candidate = &self.candidates.fit[self.rows[place].place];
            match answer.as_ref().and_then(|answer| self.rows[place].simulated(candidate, answer)) {
                Some(row) => self.rows[place] = row,
                None => missed.push(place),
            }
        }
        for place in missed.into_iter().rev() {
            self.rows.remove(place);
            self.is_settled.remove(place);
        }
    }

    /// The rows that are told first, cheapest first.
    fn cheapest(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.rows.len())
            .filter(|&place| {
                let row = &self.rows[place];
                row.basis == Basis::Simulated && row.per_hour.typical <= self.max_per_hour
            })
            .collect();
        places.sort_by(|&a, &b| {
            let (a, b) = (&self.rows[a], &self.rows[b]);
            a.order().total_cmp(&b.order()).then(a.e2e_p99_s.total_cmp(&b.e2e_p99_s))
        });
        places
    }

    /// The cheapest that are wanted, and those on the front: what is told.
    fn told(&self) -> Vec<usize> {
        let mut fastest_s = f64::INFINITY;
        let mut told = Vec::new();
        for (rank, place) in self.cheapest().into_iter().enumerate() {
            let is_on_front = self.rows[place].e2e_p99_s < fastest_s;
            if is_on_front {
                fastest_s = self.rows[place].e2e_p99_s;
            }
            if is_on_front || rank < self.wanted {
                told.push(place);
            }
        }
        told
    }

    /// What binds the rows that are told, by simulating a little more of each limit.
    fn start_binding(&mut self) {
        let (mut asked, mut plans) = (Vec::new(), Vec::new());
        for place in self.told() {
            let resolved = &self.rows_of(place).resolved;
            for (limit, factor, relaxed) in relaxed(resolved) {
                asked.push((place, limit, factor));
                plans.push(Plan::quick(&relaxed));
            }
        }
        self.set_stage(Stage::Binding(asked), plans);
    }

    fn end_binding(&mut self, asked: &[(usize, Limit, f64)]) {
        let load = |answer: Option<&PlanAnswer>| {
            answer.and_then(|answer| Some(answer.capacity_per_s?.value))
        };
        let found: Vec<Option<f64>> = self.plans.answers().map(load).collect();
        for place in self.told() {
            let row = &mut self.rows[place];
            let before = row.capacity_per_s;
            let gains: Vec<Gain> = asked
                .iter()
                .zip(&found)
                .filter(|((of, ..), _)| *of == place)
                .filter_map(|((_, limit, factor), after)| {
                    let gain = crate::answer::Estimate::exactly((*after)? / before - 1.0);
                    Some(Gain { limit: *limit, factor: *factor, gain })
                })
                .collect();
            row.binding = binding_of(gains.iter(), |kind| kind != LimitKind::Target);
            row.binding_basis = Basis::Simulated;
        }
    }

    /// The cheapest row with other limits.
    fn start_tuning(&mut self) {
        let Some(&best) = self.cheapest().first() else { return };
        let (mut limits, mut plans) = (Vec::new(), Vec::new());
        self.tuning.clear();
        for sequences in SEQUENCES {
            for tokens in TOKENS {
                let mut scenario = self.rows_of(best).scenario.clone();
                scenario.sched.max_num_seqs = sequences;
                scenario.sched.max_num_batched_tokens = tokens;
                if let Ok(resolved) = scenario.resolve() {
                    limits.push((sequences, tokens));
                    plans.push(Plan::quick(&resolved));
                    self.tuning.push(resolved);
                }
            }
        }
        self.set_stage(Stage::Tuning(limits), plans);
    }

    /// The limits with which an engine sustains most; of those that are as good to one part in two
    /// hundred, which runs cannot tell apart, the smallest.
    fn end_tuning(&mut self, limits: &[(u64, u64)]) {
        let found: Vec<f64> = self
            .plans
            .answers()
            .map(|answer| answer.and_then(|it| it.capacity_per_s).map_or(0.0, |it| it.value))
            .collect();
        let most = found.iter().copied().fold(0.0, sim_core::float::greater);
        let best = found.iter().position(|&capacity| capacity > 0.0 && capacity >= most * 0.995);
        let Some(index) = best else { return };
        let plan = Plan::new(&self.tuning[index]);
        let (sequences, tokens) = limits[index];
        self.set_stage(Stage::Full(sequences, tokens), vec![plan]);
    }

    fn end_full(&mut self, max_num_seqs: u64, max_num_batched_tokens: u64) {
        let Some(&best) = self.cheapest().first() else { return };
        let answer = self.plans.answers().next().flatten().cloned();
        let row = &self.rows[best];
        let mut scenario = self.rows_of(best).scenario.clone();
        scenario.sched.max_num_seqs = max_num_seqs;
        scenario.sched.max_num_batched_tokens = max_num_batched_tokens;
        self.tuned = answer.and_then(|answer| {
            let Verdict::Sized(fleet) = &answer.verdict else { return None };
            let gpus = fleet.with_headroom.saturating_mul(row.gpus_each);
            Some(Tuned {
                max_num_seqs,
                max_num_batched_tokens,
                untuned_capacity_per_s: row.capacity_per_s,
                gpus,
                per_hour: row.price_per_hour.times(gpus as f64),
                link: scenario.to_link(),
                answer: Box::new(answer),
            })
        });
    }
}

/// A scenario with a little more of each limit that it has, targets left out.
fn relaxed(resolved: &Resolved) -> Vec<(Limit, f64, Resolved)> {
    let base = (&resolved.setup, &resolved.attendance);
    let limits = Limit::ALL.into_iter().filter(|limit| limit.kind() != LimitKind::Target);
    let with_more = |limit: Limit| {
        let more = limit.relaxed(base, LITTLE)?;
        let own = Resolved { setup: more.setup, attendance: more.attendance, ..resolved.clone() };
        Some((limit, more.factor, own))
    };
    limits.filter_map(with_more).collect()
}

/// What binds by the closed form alone.
fn bound_by_form(resolved: &Resolved) -> Option<Limit> {
    let before = closed_form(resolved).capacity_per_s;
    let gain = |(limit, factor, more): (Limit, f64, Resolved)| {
        let after = closed_form(&more).capacity_per_s;
        Gain { limit, factor, gain: crate::answer::Estimate::exactly(after / before - 1.0) }
    };
    let gains: Vec<Gain> = relaxed(resolved).into_iter().map(gain).collect();
    binding_of(gains.iter(), |kind| kind != LimitKind::Target)
}
