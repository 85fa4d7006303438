//! How many GPUs: the ceiling, the knee, the capacity and the fleet, as a state machine.
//!
//! The first round answers from one replication; the second adds the others and the intervals.
//! Each round asks, in this order: the rate that the engine finishes under permanent overload; the
//! knee at fixed shares of it; the capacity; the planned load and the capacity themselves.
//!
//! The capacity is the largest rate at which the target's share of all requests meets it. The first
//! round finds it by bisection between the knee's points, by runs of the asked length, their start
//! included. The second measures what holds in the long run: all replications together, by longer runs
//! whose first half is not counted ([`ShareCurve`]). The mean of each replication's own capacity would
//! be too high: a short run that happens to stay below the bend passes at rates that fail in the long
//! run.

use std::sync::Arc;

use scenario::{Resolved, Untyped};
use sim_core::{
    RequestSource, Run, Setup, Trace,
    engine::Attendance,
    float::{greater, lesser},
    measure::Verdict as Stability,
};

use crate::{
    answer::{Estimate, FleetSize, LoadPoint, PlanAnswer, UsersAnswer, Verdict},
    bisection::Bisection,
    ceiling::Ceiling,
    closed_form::{asked_rate, ceiling_of, kinds_of},
    curve::ShareCurve,
    demand::{Demand, recorded},
    job::Job,
    load::Load,
    out_of_reach,
    remedies::{self, Trial},
    steady::{evenly_spaced, steady},
};

/// Where the knee is looked at, as shares of the ceiling: few points far away, many near the bend.
const KNEE_SHARES: [f64; 12] =
    [0.04, 0.2, 0.36, 0.5, 0.62, 0.72, 0.8, 0.86, 0.905, 0.94, 0.965, 0.985];

/// How many times faster than recorded a replay is searched. Under one recording the share that
/// meets the target is not monotone from rate to rate, by a few requests in a thousand; halving the
/// span from once to forty times the recorded rate asks about the rates of the published search.
const REPLAY_SPAN: f64 = 40.0;

/// Relative width at which the search by one replication ends.
const TOLERANCE: f64 = 5e-4;

/// How many times as long as asked the runs are that tell the capacity in the long run, and the
/// requests from which on they are as long as asked.
const LONGER: u64 = 4;
const LONG_ENOUGH: u64 = 20_000;

/// How far below the knee's first point an engine counts as idle.
const IDLE_SHARE: f64 = 1e-3;

/// One run that was handed out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    what: What,
    replication: usize,
    /// In the unit of the demand; for the ceiling always a rate per second.
    load: f64,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Ceiling,
    Knee(usize),
    Idle,
    Trial(usize),
    Capacity,
    Curve,
    AtPlanned,
    AtCapacity,
}

/// The part of a round that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Ceiling,
    Knee,
    Idle,
    Remedies,
    Capacity,
    Points,
    Done,
}

/// Two loads that depend on the capacity found, and the engine there.
#[derive(Clone, Debug)]
struct AtAnswer {
    planned_load: Option<f64>,
    planned: Load,
    capacity_load: f64,
    capacity: Load,
}

/// Requests of the largest size that the KV cache holds at once.
pub(crate) fn requests_that_fit(setup: &Setup) -> u64 {
    setup.engine.kv_capacity_tokens / setup.largest_request_tokens().max(1)
}

/// The question "how many GPUs for this scenario?".
#[derive(Clone, Debug)]
pub struct Plan {
    setup: Setup,
    /// How clients and the line behave.
    attendance: Attendance,
    /// The unit of every load here.
    demand: Demand,
    /// Names of the classes of requests; none without classes.
    classes: Vec<String>,
    /// The step time without numbers that were typed.
    untyped: Vec<Untyped>,
    /// The load asked for, over all GPUs.
    asked: f64,
    headroom: f64,
    /// Rates between which a replay is searched.
    bracket: Option<(f64, f64)>,
    /// Replications wanted in the end.
    wanted: usize,
    /// Replications started.
    replications: usize,
    /// The rate per second that the engine finishes under overload.
    ceiling: Ceiling,
    /// Replications of the earlier round.
    settled: usize,
    stage: Stage,
    pending: Vec<Asked>,
    knee_loads: Vec<f64>,
    knee: Vec<Load>,
    idle: Option<Load>,
    /// Changes that may bring a target into reach, and how many of them have been tried.
    trials: Vec<Trial>,
    tried: usize,
    /// The capacity by one replication, and in the long run by all of them.
    search: Option<Bisection>,
    curve: Option<ShareCurve>,
    at_answer: Option<AtAnswer>,
    answer: Option<PlanAnswer>,
    runs_taken: u32,
    simulated_requests: u64,
    simulated_steps: u64,
}

impl Plan {
    /// Ask for a resolved scenario. Where its rate changes over time, each run holds one rate, and
    /// the fleet is sized for the peak.
    #[must_use]
    pub fn new(resolved: &Resolved) -> Self {
        let plan = Self::of(
            steady(&resolved.setup),
            asked_rate(&resolved.setup),
            resolved.headroom,
            resolved.replications.max(1) as usize,
        );
        let attendance = resolved.attendance;
        let (demand, asked) = match attendance.users() {
            Some(users) => (Demand::of(&attendance), users as f64),
            None => (Demand::Rate, plan.asked),
        };
        let (classes, untyped) = (resolved.classes.clone(), resolved.untyped.clone());
        let ceiling = plan.ceiling.clone().of_sessions(&attendance);
        Self { attendance, demand, asked, ceiling, classes, untyped, ..plan }
    }

    /// The same with one replication: an answer without intervals, while a slider moves.
    #[must_use]
    pub fn quick(resolved: &Resolved) -> Self {
        Self { wanted: 1, ..Self::new(resolved) }
    }

    /// Ask under recorded arrivals and lengths, compressed to each rate. `trace_rate_per_s` is the
    /// rate at which they count as recorded. There is one recording, so there is no interval.
    #[must_use]
    pub fn replaying(resolved: &Resolved, trace: Arc<Trace>, trace_rate_per_s: f64) -> Self {
        let rate_per_s = asked_rate(&resolved.setup);
        let mut setup = resolved.setup.clone();
        setup.workload.requests = trace.rows().len() as u64;
        setup.workload.source = RequestSource::Replay { trace, speed: 1.0 / trace_rate_per_s };
        setup.step_time = setup.step_time.for_workload(&setup.workload.source);
        let bracket = Some((trace_rate_per_s, REPLAY_SPAN * trace_rate_per_s));
        let ceiling = Ceiling::new(&evenly_spaced(&setup), ceiling_of(&setup));
        let attendance = recorded(&resolved.attendance);
        let plan = Self::of(setup, rate_per_s, resolved.headroom, 1);
        let untyped = resolved.untyped.clone();
        Self { attendance, bracket, ceiling, untyped, ..plan }
    }

    fn of(setup: Setup, rate_per_s: f64, headroom: f64, wanted: usize) -> Self {
        let ceiling = Ceiling::new(&setup, ceiling_of(&setup));
        Self {
            setup,
            ceiling,
            attendance: Attendance::OPEN,
            demand: Demand::Rate,
            classes: Vec::new(),
            untyped: Vec::new(),
            asked: rate_per_s,
            headroom,
            bracket: None,
            wanted,
            replications: 1,
            settled: 0,
            stage: Stage::Ceiling,
            pending: Vec::new(),
            knee_loads: Vec::new(),
            knee: Vec::new(),
            idle: None,
            trials: Vec::new(),
            tried: 0,
            search: None,
            curve: None,
            at_answer: None,
            answer: None,
            runs_taken: 0,
            simulated_requests: 0,
            simulated_steps: 0,
        }
    }

    /// Runs that can be made now, independent of each other; none when the question is answered.
    /// Their runs must be [accepted](Self::accept) before more are asked for.
    #[must_use]
    pub fn next_jobs(&mut self) -> Vec<Job> {
        while self.pending.is_empty() && self.stage != Stage::Done {
            self.pending = self.compose();
            if self.pending.is_empty() {
                self.next_stage();
            }
        }
        self.pending.iter().map(|asked| self.job(asked)).collect()
    }

    fn job(&self, asked: &Asked) -> Job {
        let base = match asked.what {
            What::Ceiling => return self.ceiling.job(asked.load, asked.replication),
            What::Trial(index) => self.trials[index].base(),
            _ => (&self.setup, &self.attendance),
        };
        let mut job = self.demand.job(base, asked.load, asked.replication as u32);
        if asked.what == What::Curve {
            job.setup.workload.requests = self.long_requests();
        }
        job
    }

    /// Requests of a run that tells the capacity in the long run.
    fn long_requests(&self) -> u64 {
        let requests = self.setup.workload.requests;
        requests.saturating_mul(LONGER).min(LONG_ENOUGH).max(requests)
    }

    /// Take the runs of the jobs handed out last, in job order.
    pub fn accept(&mut self, runs: &[Run]) {
        let pending = std::mem::take(&mut self.pending);
        for (asked, run) in pending.iter().zip(runs) {
            self.runs_taken += 1;
            self.simulated_requests += run.offered;
            self.simulated_steps += run.steps;
            self.learn(asked, run);
        }
    }

    /// Runs taken, and about how many there will be.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        // Two for the ceiling, the knee, two points at the answer, and about eight halvings for the
        // capacity and four for each end of its interval.
        let first = KNEE_SHARES.len() as u32 + 12;
        let others = if self.wanted > 1 { (first + 8) * self.wanted as u32 } else { 0 };
        let about = first + others;
        if self.stage == Stage::Done {
            (self.runs_taken, self.runs_taken)
        } else {
            (self.runs_taken, about.max(self.runs_taken + 1))
        }
    }

    /// The answer so far: from one replication after the first round, with intervals at the end.
    #[must_use]
    pub const fn answer(&self) -> Option<&PlanAnswer> {
        self.answer.as_ref()
    }

    /// Whether the answer is the last.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// The replications of the current round.
    fn round(&self) -> std::ops::Range<usize> {
        self.settled..self.replications
    }

    fn ask(&self, what: What, load: f64) -> impl Iterator<Item = Asked> + use<> {
        self.round().map(move |replication| Asked { what, replication, load })
    }

    /// The runs that the current stage still wants.
    fn compose(&self) -> Vec<Asked> {
        match self.stage {
            Stage::Ceiling => {
                let wanted = self.ceiling.wanted(self.replications);
                let asked = |(replication, rate_per_s)| Asked {
                    what: What::Ceiling,
                    replication,
                    load: rate_per_s,
                };
                wanted.into_iter().map(asked).collect()
            }
            Stage::Knee if self.knee.iter().any(|load| load.replications() == self.settled) => {
                let loads = self.knee_loads.iter().enumerate();
                loads.flat_map(|(index, &load)| self.ask(What::Knee(index), load)).collect()
            }
            Stage::Idle if self.idle.is_none() && !self.holds(&self.knee[0]) => {
                let load = self.idle_load();
                vec![Asked { what: What::Idle, replication: 0, load }]
            }
            Stage::Remedies => {
                let load = self.idle_load();
                let asked = |index| Asked { what: What::Trial(index), replication: 0, load };
                (self.tried..self.trials.len()).map(asked).collect()
            }
            Stage::Capacity => self.compose_capacity(),
            Stage::Points if self.at_answer.is_none() => self.compose_points(),
            _ => Vec::new(),
        }
    }

    /// The load that the search asks about, or every replication at those of the curve.
    fn compose_capacity(&self) -> Vec<Asked> {
        let Some(curve) = &self.curve else {
            let load = self.search.as_ref().and_then(Bisection::next_rate);
            let asked = |load| Asked { what: What::Capacity, replication: 0, load };
            return load.map(asked).into_iter().collect();
        };
        let everyone = 0..self.replications;
        let at = |&load: &f64| {
            everyone.clone().map(move |replication| Asked { what: What::Curve, replication, load })
        };
        curve.wanted().iter().flat_map(at).collect()
    }

    /// Every replication at the planned load and at the capacity: both may have moved since the
    /// earlier round.
    fn compose_points(&self) -> Vec<Asked> {
        let capacity = self.capacity();
        let everyone = 0..self.replications;
        let mut asked = Vec::new();
        let planned = self.planned_load(&capacity).map(|load| (What::AtPlanned, load));
        for (what, load) in planned.into_iter().chain([(What::AtCapacity, capacity.value)]) {
            if load > 0.0 {
                asked.extend(everyone.clone().map(|replication| Asked { what, replication, load }));
            }
        }
        asked
    }

    fn learn(&mut self, asked: &Asked, run: &Run) {
        match asked.what {
            What::Ceiling => self.ceiling.learn(asked.load, run),
            What::Knee(index) => self.knee[index].add(run),
            What::Idle => {
                let mut idle = Load::default();
                idle.add(run);
                self.idle = Some(idle);
            }
            What::Trial(index) => {
                self.trials[index].learn(run.slo_share());
                self.tried = index + 1;
            }
            What::Capacity => {
                let holds = run.slo_share() >= self.setup.slo.share;
                self.search.iter_mut().for_each(|search| search.accept(holds));
            }
            What::Curve => {
                let is_stable = run.judgement().verdict == Stability::Stable;
                let learnt = (run.settled_slo_share(), is_stable);
                self.curve.iter_mut().for_each(|curve| curve.learn(asked.load, learnt));
            }
            What::AtPlanned | What::AtCapacity => self.learn_point(asked, run),
        }
    }

    fn learn_point(&mut self, asked: &Asked, run: &Run) {
        let at = self.at_answer.get_or_insert_with(|| AtAnswer {
            planned_load: None,
            planned: Load::default(),
            capacity_load: 0.0,
            capacity: Load::default(),
        });
        if asked.what == What::AtPlanned {
            at.planned_load = Some(asked.load);
            at.planned.add(run);
            at.planned.add_classes(run);
        } else {
            at.capacity_load = asked.load;
            at.capacity.add(run);
        }
    }

    /// The current stage wants nothing more: draw its conclusion and go on.
    fn next_stage(&mut self) {
        self.stage = match self.stage {
            Stage::Ceiling => {
                if self.knee_loads.is_empty() {
                    let ceiling = self.ceiling.estimate().value;
                    let full = self.demand.full(ceiling, self.ceiling.slots());
                    let at = |share: &f64| self.demand.simulated(share * full);
                    self.knee_loads = KNEE_SHARES.iter().map(at).collect();
                    self.knee = vec![Load::default(); KNEE_SHARES.len()];
                }
                Stage::Knee
            }
            Stage::Knee => Stage::Idle,
            Stage::Idle if self.is_out_of_reach() => {
                let idle = self.idle.as_ref();
                let base = (&self.setup, &self.attendance);
                let trials = |idle| remedies::trials(base, &self.classes, &self.untyped, idle);
                self.trials = idle.map(trials).unwrap_or_default();
                Stage::Remedies
            }
            Stage::Remedies => {
                self.answer = Some(self.compose_answer());
                Stage::Done
            }
            Stage::Idle => {
                self.start_search();
                Stage::Capacity
            }
            Stage::Capacity => {
                self.at_answer = None;
                Stage::Points
            }
            Stage::Points => {
                self.answer = Some(self.compose_answer());
                self.next_round()
            }
            Stage::Done => Stage::Done,
        };
    }

    fn next_round(&mut self) -> Stage {
        self.settled = self.replications;
        if self.settled >= self.wanted {
            return Stage::Done;
        }
        self.replications = self.wanted;
        Stage::Ceiling
    }

    fn start_search(&mut self) {
        let limit = self.limit();
        if self.replications > 1 {
            let around = self.capacity().value;
            let within = (self.idle_load(), limit);
            let target = self.setup.slo.share;
            self.curve = Some(ShareCurve::new(around, within, target, self.replications));
            return;
        }
        let holds = self.knee.iter().map(|load| self.holds(load));
        let sweep: Vec<(f64, bool)> = self.knee_loads.iter().copied().zip(holds).collect();
        let spanning = |bracket| Bisection::spanning(&sweep, bracket, TOLERANCE);
        // An idle engine was looked at where the lowest rate fails, and passed.
        let between = (self.idle_load(), limit.value);
        self.search = self
            .bracket
            .and_then(spanning)
            .or_else(|| Some(Bisection::new(&sweep, between, TOLERANCE)));
    }

    fn holds(&self, load: &Load) -> bool {
        load.slo_share().value >= self.setup.slo.share
    }

    /// A load at which an engine counts as idle.
    fn idle_load(&self) -> f64 {
        self.demand.least(self.knee_loads[0] * IDLE_SHARE)
    }

    /// Whether even an idle engine misses the target.
    fn is_out_of_reach(&self) -> bool {
        self.idle.as_ref().is_some_and(|idle| !self.holds(idle))
    }

    /// The largest load found, none above what may be called a capacity.
    fn capacity(&self) -> Estimate {
        let simulated = |load: f64| if load > 0.0 { self.demand.simulated(load) } else { load };
        let Some(curve) = &self.curve else {
            let found = self.search.as_ref().map_or(0.0, Bisection::found);
            return Estimate::exactly(simulated(lesser(found, self.limit().value)));
        };
        let Estimate { value, low, high } = curve.capacity();
        Estimate { value: simulated(value), low: simulated(low), high: simulated(high) }
    }

    /// The largest load that may be called a capacity.
    fn limit(&self) -> Estimate {
        let requests = self.setup.workload.requests * self.replications as u64;
        // Half of a long run counts.
        let limit = self.ceiling.limit(requests, self.long_requests() / 2);
        let ttft_s =
            kinds_of(&self.setup).iter().fold(0.0, |ttft_s, kind| greater(ttft_s, kind.slo.ttft_s));
        let most = |rate_per_s| self.demand.most(rate_per_s, self.ceiling.slots(), ttft_s);
        Estimate { value: most(limit.value), low: most(limit.low), high: most(limit.high) }
    }

    fn planned_load(&self, capacity: &Estimate) -> Option<f64> {
        let size = FleetSize::divide(self.asked, self.headroom, capacity)?;
        Some(self.asked / size.with_headroom as f64)
    }

    fn compose_answer(&self) -> PlanAnswer {
        let kv_capacity_tokens = self.setup.engine.kv_capacity_tokens;
        let ceiling = self.ceiling.estimate();
        let point =
            |at: f64, load: &Load| load.point((self.demand, at), kv_capacity_tokens, ceiling.value);
        let mut knee = Vec::new();
        for (&at, load) in self.knee_loads.iter().zip(&self.knee) {
            insert_by_rate(&mut knee, point(at, load));
        }
        let mut planned = None;
        if let Some(at) = &self.at_answer {
            planned = at.planned_load.map(|load| point(load, &at.planned));
            let capacity = (at.capacity_load > 0.0).then(|| point(at.capacity_load, &at.capacity));
            for point in planned.into_iter().chain(capacity) {
                insert_by_rate(&mut knee, point);
            }
        }
        let capacity = (!self.is_out_of_reach()).then(|| self.capacity());
        let capacity_per_s = capacity.map(|capacity| self.rate_at_capacity(capacity));
        let size = capacity.and_then(|c| FleetSize::divide(self.asked, self.headroom, &c));
        let verdict = match (size, capacity_per_s) {
            (Some(size), Some(each)) => {
                let carried_per_s = each.value * size.with_headroom as f64;
                Verdict::Sized(FleetSize { carried_per_s, ..size })
            }
            _ => {
                let remedies = remedies::that_hold(&self.trials);
                out_of_reach::verdict(&self.setup, &self.classes, remedies)
            }
        };
        PlanAnswer {
            verdict,
            rate_per_s: self.asked_per_s(size.as_ref(), planned.as_ref()),
            users: match self.demand {
                Demand::Rate => None,
                Demand::Users { think_s, .. } => {
                    Some(UsersAnswer { asked: self.asked, think_s, capacity })
                }
            },
            headroom: self.headroom,
            capacity_per_s,
            ceiling_per_s: Some(ceiling),
            knee,
            planned,
            classes: self
                .at_answer
                .as_ref()
                .map_or_else(Vec::new, |at| at.planned.classes(&self.classes)),
            requests_that_fit: requests_that_fit(&self.setup),
            replications: self.replications as u32,
            requests: self.setup.workload.requests,
            simulated_requests: self.simulated_requests,
            simulated_steps: self.simulated_steps,
        }
    }

    /// The capacity as a rate per second.
    fn rate_at_capacity(&self, capacity: Estimate) -> Estimate {
        match &self.at_answer {
            Some(at) if self.demand != Demand::Rate => at.capacity.throughput_per_s(),
            _ => capacity,
        }
    }

    /// The asked load as a rate per second: of a closed loop what its users come to at the planned
    /// load, or else what they would if they were served as at the knee's first point.
    fn asked_per_s(&self, size: Option<&FleetSize>, planned: Option<&LoadPoint>) -> f64 {
        match (self.demand, size, planned) {
            (Demand::Rate, ..) => self.asked,
            (_, Some(size), Some(planned)) => planned.rate_per_s * size.with_headroom as f64,
            _ => self.asked * self.knee[0].throughput_per_s().value / self.knee_loads[0],
        }
    }
}

/// Adds a point in its place, unless there is one at its rate.
fn insert_by_rate(knee: &mut Vec<LoadPoint>, point: LoadPoint) {
    let place = knee.partition_point(|other| other.rate_per_s < point.rate_per_s);
    if knee.get(place).is_none_or(|other| other.rate_per_s != point.rate_per_s) {
        knee.insert(place, point);
    }
}
