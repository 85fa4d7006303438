//! The fleet beside the division: replicas behind a router, some of them out, one of them lost.
//!
//! A plan divides the rate by what one engine sustains, as if each engine had its own even part of the
//! users. Behind a router it is otherwise: one that looks where there is room lets engines help each other,
//! one that does not sends some of them more than their part. So whole fleets are simulated, over several
//! numbers of replicas and several routers.

use scenario::Resolved;
use sim_core::{
    Keep, Run, Setup, SetupError,
    fleet::{
        autoscale::{fixed::Fixed, schedule::Calendar},
        live::{Fault, LiveFleet, Reliability, simulate_live},
        nodes::NodePool,
        policy::Policy,
        router::Router,
        start_up::StartUp,
    },
};

use crate::{
    answer::{Estimate, PlanAnswer, Verdict},
    job::seed_of,
    load::Load,
    steady::steady,
};

/// Routers that are tried, the one that plans are told by first.
pub const ROUTERS: [Router; 5] = [
    Router::LeastInFlight,
    Router::PowerOfTwo,
    Router::RoundRobin,
    Router::Random,
    Router::SharedQueue,
];

/// Most requests of a run, over all replicas.
const MOST_REQUESTS: u64 = 60_000;
/// Most replicas that are simulated.
const MOST_REPLICAS: u64 = 200;
/// Replications: fleets have many engines, so that few runs tell much.
const MOST_REPLICATIONS: u32 = 4;
/// When one is lost, as a part of the run.
const LOST_AT: f64 = 1.0 / 3.0;

/// One fleet to simulate.
#[derive(Clone, Debug)]
pub struct FleetJob(Box<LiveFleet>);

impl FleetJob {
    /// Simulate it.
    ///
    /// # Errors
    /// The set-up is not one of fleets: its rules are not the reference.
    pub fn run(&self) -> Result<Run, SetupError> {
        let keep = Keep::default();
        simulate_live(&self.0, keep).map(|run| run.total)
    }
}

/// What so many replicas do behind one router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetPoint {
    /// Who gets which request.
    pub router: Router,
    /// Replicas.
    pub replicas: u64,
    /// Share of requests that met the target.
    pub slo_share: Estimate,
    /// P99 of the time to first token, seconds.
    pub ttft_p99_s: f64,
    /// P99 of the time per output token, seconds.
    pub tpot_p99_s: f64,
    /// Whether more can be finished than comes: otherwise times only tell how long one watched.
    pub is_stable: bool,
    /// Whether the target's share of requests met it.
    pub holds: bool,
}

/// What fleets do.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicasAnswer {
    /// Replicas by the division, without and with headroom.
    pub by_division: (u64, u64),
    /// For each router the fewest replicas that hold the target at the asked rate, without headroom; `None`
    /// where none that were tried do.
    pub fewest: Vec<(Router, Option<u64>)>,
    /// Everything that was simulated, by router and then by replicas.
    pub points: Vec<FleetPoint>,
    /// With headroom's replicas and so many of them out, behind the first router.
    pub out: Vec<(u64, FleetPoint)>,
    /// Replicas that hold the target with one out: the fewest that do, and one more.
    pub n_plus_one: Option<u64>,
    /// One of headroom's replicas lost with its node, and back after the seconds told.
    pub lost: Option<(f64, FleetPoint)>,
}

/// The question "what do whole fleets do?". All its jobs are independent of each other.
#[derive(Clone, Debug)]
pub struct Replicas {
    setup: Setup,
    replications: u32,
    by_division: (u64, u64),
    restart_s: f64,
    most_out: u64,
    numbers: Vec<u64>,
}

impl Replicas {
    /// Ask about an answer's fleet at its whole rate; `most_out` replicas may be out, and one that is lost is
    /// back after `restart_s` seconds. `None` where the answer is no number of GPUs, or too many.
    #[must_use]
    pub fn new(
        resolved: &Resolved,
        answer: &PlanAnswer,
        most_out: u64,
        restart_s: f64,
    ) -> Option<Self> {
        let Verdict::Sized(fleet) = &answer.verdict else { return None };
        let by_division = (fleet.without_headroom, fleet.with_headroom);
        if by_division.1 > MOST_REPLICAS || answer.users.is_some() {
            return None;
        }
        let mut setup = steady(&resolved.setup);
        setup.workload.source.set_rate(answer.rate_per_s);
        let least = by_division.0.saturating_sub(1).min(by_division.1.saturating_sub(most_out));
        Some(Self {
            setup,
            replications: resolved.replications.clamp(1, MOST_REPLICATIONS),
            by_division,
            restart_s,
            most_out,
            numbers: (least.max(1)..=by_division.1 + 2).collect(),
        })
    }

    /// All runs, in any order.
    #[must_use]
    pub fn jobs(&self) -> Vec<FleetJob> {
        let mut jobs = Vec::new();
        for router in ROUTERS {
            for &replicas in &self.numbers {
                jobs.extend(
                    (0..self.replications).map(|run| self.job(router, replicas, run, false)),
                );
            }
        }
        let lost = |run| self.job(ROUTERS[0], self.by_division.1, run, true);
        jobs.extend((0..self.replications).map(lost));
        jobs
    }

    fn job(&self, router: Router, replicas: u64, replication: u32, loses_one: bool) -> FleetJob {
        let mut setup = self.setup.clone();
        setup.seed = seed_of(setup.seed, replication);
        let requests = setup.workload.requests.saturating_mul(self.by_division.1);
        setup.workload.requests = requests.min(MOST_REQUESTS);
        // A few hundred at most.
        let number = replicas as u32;
        let rate_per_s = setup.workload.source.rate_per_s().unwrap_or(1.0);
        let span_s = setup.workload.requests as f64 / rate_per_s;
        let faults = if loses_one { vec![(LOST_AT * span_s, Fault::NodeLoss)] } else { Vec::new() };
        FleetJob(Box::new(LiveFleet {
            setup,
            router,
            policy: Policy::Fixed(Fixed { replicas: number as i32 }),
            floors: Vec::new(),
            calendar: Calendar { weekday: 1, minute_of_day: 0 },
            start_up: StartUp::fixed(self.restart_s),
            nodes: NodePool { initial_nodes: number, max_nodes: number + 1, ..NodePool::default() },
            initial_replicas: number,
            scrape_s: 15.0,
            counts_warming: false,
            cached_prefixes: 0,
            deferral: None,
            keeps_samples: false,
            drain_grace_s: 30.0,
            window_s: 60.0,
            patience_s: 3600.0,
            faults,
            reliability: Reliability::default(),
        }))
    }

    /// What the runs say, in the order of the jobs; `None` where there are too few.
    #[must_use]
    pub fn answer(&self, runs: &[Run]) -> Option<ReplicasAnswer> {
        let mut groups = runs.chunks(self.replications as usize);
        let mut points = Vec::new();
        for router in ROUTERS {
            for &replicas in &self.numbers {
                points.push(self.point(router, replicas, groups.next()?));
            }
        }
        let lost = self.point(ROUTERS[0], self.by_division.1, groups.next()?);
        let fewest: Vec<(Router, Option<u64>)> = ROUTERS
            .into_iter()
            .map(|router| {
                let holds = |point: &&FleetPoint| point.router == router && point.holds;
                (router, points.iter().find(holds).map(|point| point.replicas))
            })
            .collect();
        let of = |replicas: u64| {
            points.iter().find(|point| point.router == ROUTERS[0] && point.replicas == replicas)
        };
        let out = (0..=self.most_out)
            .filter_map(|out| Some((out, *of(self.by_division.1.checked_sub(out)?)?)))
            .collect();
        Some(ReplicasAnswer {
            by_division: self.by_division,
            n_plus_one: fewest.first().and_then(|(_, least)| least.map(|least| least + 1)),
            fewest,
            points,
            out,
            lost: Some((self.restart_s, lost)),
        })
    }

    fn point(&self, router: Router, replicas: u64, runs: &[Run]) -> FleetPoint {
        let mut load = Load::default();
        for run in runs {
            load.add(run);
        }
        let slo_share = load.slo_share();
        FleetPoint {
            router,
            replicas,
            slo_share,
            ttft_p99_s: load.ttft_tail_s(0.99),
            tpot_p99_s: load.tpot_tail_s(0.99),
            is_stable: load.keeps_up(),
            holds: slo_share.value >= self.setup.slo.share && load.keeps_up(),
        }
    }
}
