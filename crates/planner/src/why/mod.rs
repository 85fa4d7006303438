//! Why no more: what holds the capacity down, found by giving a little more of each thing and
//! measuring.
//!
//! The plan's capacity is asked for as it is and with a tenth more of one thing, under the same users:
//! the gain is that of the two plans. Each replication is asked for its own capacity, too. Those gains
//! are paired, so that most of what chance does to a capacity cancels, and their spread gives the
//! interval. Then the limit that binds is doubled, and the question asked again: what would bind next.

mod limit;

use scenario::Resolved;
use serde::{Deserialize, Serialize};
use sim_core::{Run, Setup, engine::Attendance};

use crate::{
    answer::{Estimate, PlanAnswer},
    job::{Job, seed_of},
    plan::Plan,
};

pub use limit::{Limit, LimitKind};

/// How much more of a thing is given.
const LITTLE: f64 = 1.1;
/// How much more of what binds is given, to see what binds next.
const MUCH: f64 = 2.0;
/// A limit whose elasticity is below this holds nothing down that anyone would notice.
const LEAST_ELASTICITY: f64 = 0.05;
/// This part of the greatest elasticity is as good; the limit that stands first in [`Limit::ALL`], a
/// setting before the machine, is then named.
const AS_GOOD: f64 = 0.85;

/// What a little more of one thing gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// What there was more of.
    pub limit: Limit,
    /// How many times as much.
    pub factor: f64,
    /// Growth of the plan's capacity, 0.05 for 5 %, with the interval of the replications' own.
    pub gain: Estimate,
}

impl Gain {
    /// Growth of the capacity for each growth of the limit: 1 where the capacity is in proportion.
    #[must_use]
    pub fn elasticity(&self) -> f64 {
        libm::log1p(self.gain.value) / libm::log(self.factor)
    }

    fn is_noticed(&self) -> bool {
        self.elasticity() >= LEAST_ELASTICITY && self.gain.low > 0.0
    }
}

/// What would bind next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextLimit {
    /// What twice as much of the binding limit alone gives.
    pub doubled: Gain,
    /// What a little more of each thing gives then, in the order of [`Limit::ALL`].
    pub gains: Vec<Gain>,
    /// The limit that binds then; `None` where nothing does.
    pub binding: Option<Limit>,
}

/// The answer to "why no more?".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyAnswer {
    /// The capacity of one GPU as a plan has it: requests per second, or users in a closed loop.
    pub capacity: Estimate,
    /// Whether the capacity is in users.
    pub is_users: bool,
    /// What a little more of each thing gives, in the order of [`Limit::ALL`].
    pub gains: Vec<Gain>,
    /// What binds, of settings and machine; `None` where nothing does.
    pub binding: Option<Limit>,
    /// The target that binds; `None` where none does.
    pub binding_target: Option<Limit>,
    /// What would bind next, with twice as much of what binds.
    pub next: Option<NextLimit>,
}

/// One variant, asked in every replication.
#[derive(Clone, Debug)]
struct Variant {
    /// What there is more of; `None` for the set-up as it is.
    relaxed: Option<(Limit, f64)>,
    /// All replications together.
    whole: Plan,
    /// Each by itself.
    plans: Vec<Plan>,
}

/// What the first round found.
#[derive(Clone, Debug)]
struct First {
    answer: WhyAnswer,
    capacities: Capacities,
    /// What the second round has twice as much of, and how many times as much that is.
    doubled: (Limit, f64),
}

/// The question "why no more?", as a state machine.
#[derive(Clone, Debug)]
pub struct Why {
    resolved: Resolved,
    variants: Vec<Variant>,
    /// How many jobs each plan that is not done has handed out.
    handed_out: Vec<usize>,
    /// The first round, once it is over.
    first: Option<First>,
    answer: Option<Option<WhyAnswer>>,
    runs_taken: u32,
}

impl Why {
    /// Ask for a resolved scenario.
    #[must_use]
    pub fn new(resolved: &Resolved) -> Self {
        Self {
            resolved: resolved.clone(),
            variants: Variant::all(resolved, (&resolved.setup, &resolved.attendance)),
            handed_out: Vec::new(),
            first: None,
            answer: None,
            runs_taken: 0,
        }
    }

    /// Runs that can be made now; none when the question is answered.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        while self.answer.is_none() {
            let mut jobs = Vec::new();
            self.handed_out.clear();
            for plan in plans(&mut self.variants) {
                let before = jobs.len();
                jobs.extend(plan.next_jobs());
                self.handed_out.push(jobs.len() - before);
            }
            if !jobs.is_empty() {
                return jobs;
            }
            self.next_round();
        }
        Vec::new()
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        let mut rest = runs;
        let plans = plans(&mut self.variants);
        for (plan, &count) in plans.zip(&self.handed_out) {
            let (own, others) = rest.split_at(count.min(rest.len()));
            if !own.is_empty() {
                plan.accept(own);
            }
            rest = others;
        }
        self.runs_taken += runs.len() as u32;
    }

    /// Runs taken, and about how many there will be.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        let of_round =
            |variant: &Variant| variant.plans.iter().map(|plan| plan.progress().1).sum::<u32>();
        let round: u32 = self.variants.iter().map(of_round).sum();
        let about = if self.first.is_some() { self.runs_taken.max(round) } else { 2 * round };
        (self.runs_taken, about.max(self.runs_taken + u32::from(self.answer.is_none())))
    }

    /// The answer once it is there; inside, `None` where the target is out of reach, so that there
    /// is no capacity to ask about.
    #[must_use]
    pub const fn answer(&self) -> Option<Option<&WhyAnswer>> {
        match &self.answer {
            Some(answer) => Some(answer.as_ref()),
            None => None,
        }
    }

    /// All plans of a round are done.
    fn next_round(&mut self) {
        let gains = gains(&self.variants);
        self.answer = match (self.first.take(), gains) {
            (None, None) => Some(None),
            (None, Some(gains)) => self.end_first_round(gains).map(Some),
            (Some(first), gains) => Some(Some(self.end_second_round(first, gains))),
        };
    }

    /// The answer, where nothing binds; otherwise the binding limit is doubled, and a second round
    /// begins.
    fn end_first_round(&mut self, gains: Vec<Gain>) -> Option<WhyAnswer> {
        let binding = binding_of(gains.iter(), |kind| kind != LimitKind::Target);
        let capacities = self.variants[0].capacities().unwrap_or_default();
        let capacity = self.variants[0].whole.answer().and_then(capacity);
        let answer = WhyAnswer {
            capacity: capacity.unwrap_or(Estimate::exactly(0.0)),
            is_users: self.resolved.attendance.users().is_some(),
            binding_target: binding_of(gains.iter(), |kind| kind == LimitKind::Target),
            gains,
            binding,
            next: None,
        };
        let base = (&self.resolved.setup, &self.resolved.attendance);
        let doubled = binding.and_then(|limit| Some((limit, limit.relaxed(base, MUCH)?)));
        let Some((limit, doubled)) = doubled else { return Some(answer) };
        self.variants = Variant::all(&self.resolved, (&doubled.setup, &doubled.attendance));
        self.first = Some(First { answer, capacities, doubled: (limit, doubled.factor) });
        None
    }

    fn end_second_round(&self, first: First, gains: Option<Vec<Gain>>) -> WhyAnswer {
        let First { answer, capacities, doubled: (limit, factor) } = first;
        let next = gains.zip(self.variants[0].capacities()).map(|(gains, after)| {
            let others = gains.iter().filter(|gain| gain.limit != limit);
            let binding = binding_of(others, |kind| kind != LimitKind::Target);
            let doubled = Gain { limit, factor, gain: growth(&capacities, &after) };
            NextLimit { doubled, gains, binding }
        });
        WhyAnswer { next, ..answer }
    }
}

/// Every plan that jobs may come from, in their order.
fn plans(variants: &mut [Variant]) -> impl Iterator<Item = &mut Plan> {
    variants.iter_mut().flat_map(|Variant { whole, plans, .. }| std::iter::once(whole).chain(plans))
}

impl Variant {
    fn of(
        resolved: &Resolved,
        (setup, attendance): (&Setup, &Attendance),
        relaxed: Option<(Limit, f64)>,
    ) -> Self {
        let own = |replication| {
            let mut own = resolved.clone();
            own.setup = setup.clone();
            own.setup.seed = seed_of(setup.seed, replication);
            own.attendance = *attendance;
            own
        };
        let plans =
            (0..resolved.replications.max(1)).map(|replication| Plan::quick(&own(replication)));
        Self { relaxed, whole: Plan::new(&own(0)), plans: plans.collect() }
    }

    /// The set-up as it is, and with a little more of each limit that it has.
    fn all(resolved: &Resolved, base: (&Setup, &Attendance)) -> Vec<Self> {
        let with_more = |limit: Limit| {
            let relaxed = limit.relaxed(base, LITTLE)?;
            let setup = (&relaxed.setup, &relaxed.attendance);
            Some(Self::of(resolved, setup, Some((limit, relaxed.factor))))
        };
        let as_it_is = Self::of(resolved, base, None);
        let others = Limit::ALL.into_iter().filter_map(with_more);
        std::iter::once(as_it_is).chain(others).collect()
    }

    /// The capacity of all replications together and of each; `None` where one has none.
    fn capacities(&self) -> Option<Capacities> {
        let of_plan = |plan: &Plan| plan.answer().and_then(capacity).map(|found| found.value);
        let each = self.plans.iter().map(of_plan).collect::<Option<Vec<f64>>>()?;
        Some(Capacities { whole: of_plan(&self.whole)?, each })
    }
}

/// Capacities of one variant.
#[derive(Clone, Debug, Default)]
struct Capacities {
    /// Over all replications together.
    whole: f64,
    /// Of each by itself.
    each: Vec<f64>,
}

/// Users of a closed loop, or requests per second.
fn capacity(answer: &PlanAnswer) -> Option<Estimate> {
    let found = match answer.users {
        Some(users) => users.capacity,
        None => answer.capacity_per_s,
    };
    found.filter(|capacity| capacity.value > 0.0)
}

/// Each variant against the first; `None` where the first has no capacity.
fn gains(variants: &[Variant]) -> Option<Vec<Gain>> {
    let (base, others) = variants.split_first()?;
    let base = base.capacities()?;
    let gain = |variant: &Variant| {
        let (limit, factor) = variant.relaxed?;
        Some(Gain { limit, factor, gain: growth(&base, &variant.capacities()?) })
    };
    Some(others.iter().filter_map(gain).collect())
}

/// The interval is that of the ratio's logarithm: ratios scatter evenly about their product's root, not
/// about their mean, and none is below 0.
fn growth(before: &Capacities, after: &Capacities) -> Estimate {
    let pairs = before.each.iter().zip(&after.each);
    let each: Vec<f64> = pairs.map(|(before, after)| libm::log(after / before)).collect();
    let ratio = after.whole / before.whole;
    let Estimate { low, high, .. } = Estimate::around(libm::log(ratio), &each);
    Estimate { value: ratio - 1.0, low: libm::exp(low) - 1.0, high: libm::exp(high) - 1.0 }
}

/// The limit with the greatest elasticity, or one before it that is as good.
pub(crate) fn binding_of<'a>(
    gains: impl Iterator<Item = &'a Gain>,
    counts: impl Fn(LimitKind) -> bool,
) -> Option<Limit> {
    let noticed: Vec<&Gain> =
        gains.filter(|gain| counts(gain.limit.kind()) && gain.is_noticed()).collect();
    let most =
        noticed.iter().fold(0.0, |most, gain| sim_core::float::greater(most, gain.elasticity()));
    noticed.iter().find(|gain| gain.elasticity() >= AS_GOOD * most).map(|gain| gain.limit)
}
