//! A fleet of replicas with slots behind one queue, under the teaching rule: what start-up time does.
//!
//! Each replica serves so many requests at once, first come, first served, whatever they cost. The
//! metric is the mean number of requests in flight, waiting ones included, over the last samples, per
//! slot of all replicas, starting ones included. At equal times a replica comes up first, then the
//! rule ticks, then the load is sampled; arrivals and ends come before them all.
//!
//! A replica that goes takes no request from then on; those that it serves are served to the end.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, VecDeque},
};

use super::autoscale::teaching::TeachingRule;
use crate::{float::from_count, setup::SetupError};

/// The fleet, its rule and its clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotFleet {
    /// Requests that one replica serves at once.
    pub slots: u32,
    /// The rule.
    pub rule: TeachingRule,
    /// Time between two ticks of the rule in seconds.
    pub tick_s: f64,
    /// Time between two samples of the load in seconds.
    pub sample_period_s: f64,
    /// How many samples the metric is the mean of, at most.
    pub samples: usize,
    /// Time from the decision to the replica being ready, in seconds.
    pub start_delay_s: f64,
    /// When it ends, in seconds; what happens at that very time still counts.
    pub horizon_s: f64,
}

impl Default for SlotFleet {
    /// 4 slots, ticks of 15 s, a minute of samples by the second, ready at once, 25 minutes.
    fn default() -> Self {
        Self {
            slots: 4,
            rule: TeachingRule::default(),
            tick_s: 15.0,
            sample_period_s: 1.0,
            samples: 60,
            start_delay_s: 0.0,
            horizon_s: 1500.0,
        }
    }
}

/// A request: when it comes and how long it is served, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotRequest {
    /// Arrival.
    pub arrival_s: f64,
    /// Time in a slot.
    pub service_s: f64,
}

/// The fleet after one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// When, in seconds.
    pub time_s: f64,
    /// Mean load per slot.
    pub metric: f64,
    /// What the rule desired.
    pub desired: i32,
    /// Replicas that serve.
    pub ready: i32,
    /// Replicas that start.
    pub starting: i32,
    /// Requests that wait.
    pub queue: usize,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotFleetRun {
    /// Every tick.
    pub ticks: Vec<Tick>,
    /// Time in the queue of each request that was begun, in order of arrival, in seconds.
    pub waits_s: Vec<f64>,
    /// Requests that were still waiting at the end.
    pub waiting: usize,
}

impl SlotFleetRun {
    /// Replicas, ready and starting, over the ticks' intervals; in replica-seconds.
    #[must_use]
    pub fn replica_s(&self, tick_s: f64) -> f64 {
        self.ticks.iter().map(|tick| f64::from(tick.ready + tick.starting)).sum::<f64>() * tick_s
    }

    /// Requests begun that waited longer than `limit_s`.
    #[must_use]
    pub fn waited_longer_than(&self, limit_s: f64) -> usize {
        self.waits_s.iter().filter(|&&wait_s| wait_s > limit_s).count()
    }
}

/// What happens, in the order in which it does at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Arrival,
    End,
    Up,
    Tick,
    Sample,
}

/// Times are ordered as numbers; none of them is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    at_s: f64,
    kind: Kind,
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.kind.cmp(&other.kind))
    }
}

struct Simulation<'a> {
    fleet: &'a SlotFleet,
    requests: &'a [SlotRequest],
    events: BinaryHeap<Reverse<Event>>,
    arrived: usize,
    begun: usize,
    busy: i64,
    ready: i32,
    starting: i32,
    samples: VecDeque<u64>,
    desired_log: Vec<(f64, i32)>,
    run: SlotFleetRun,
}

/// Simulate requests in order of arrival.
///
/// # Errors
/// A period that is not above 0, a time that is not finite, no slot or no sample, or requests out of
/// order.
pub fn simulate_slot_fleet(
    fleet: &SlotFleet,
    requests: &[SlotRequest],
) -> Result<SlotFleetRun, SetupError> {
    check(fleet, requests)?;
    let mut simulation = Simulation {
        fleet,
        requests,
        events: BinaryHeap::new(),
        arrived: 0,
        begun: 0,
        busy: 0,
        ready: fleet.rule.min_replicas,
        starting: 0,
        samples: VecDeque::new(),
        desired_log: Vec::new(),
        run: SlotFleetRun { ticks: Vec::new(), waits_s: Vec::new(), waiting: 0 },
    };
    simulation.push(fleet.tick_s, Kind::Tick);
    simulation.push(fleet.sample_period_s, Kind::Sample);
    if let Some(first) = requests.first() {
        simulation.push(first.arrival_s, Kind::Arrival);
    }
    simulation.run();
    simulation.run.waiting = simulation.arrived - simulation.begun;
    Ok(simulation.run)
}

fn check(fleet: &SlotFleet, requests: &[SlotRequest]) -> Result<(), SetupError> {
    let counts = [
        ("fleet.slots", f64::from(fleet.slots)),
        ("fleet.samples", from_count(fleet.samples as u64)),
        ("fleet.tick_s", fleet.tick_s),
        ("fleet.sample_period_s", fleet.sample_period_s),
        ("fleet.target", fleet.rule.target),
    ];
    for (field, value) in counts {
        if !(value > 0.0 && value.is_finite()) {
            return Err(SetupError::OutOfDomain { field, value, requirement: "above 0" });
        }
    }
    let times =
        [("fleet.start_delay_s", fleet.start_delay_s), ("fleet.horizon_s", fleet.horizon_s)];
    for (field, value) in times {
        if !(0.0..f64::INFINITY).contains(&value) {
            let requirement = "0 or more, and finite";
            return Err(SetupError::OutOfDomain { field, value, requirement });
        }
    }
    if fleet.rule.min_replicas < 1 || fleet.rule.max_replicas < fleet.rule.min_replicas {
        return Err(SetupError::OutOfDomain {
            field: "fleet.min_replicas",
            value: f64::from(fleet.rule.min_replicas),
            requirement: "1 or more, and at most max_replicas",
        });
    }
    let mut last_s = 0.0;
    for (index, request) in requests.iter().enumerate() {
        let is_good = request.arrival_s >= last_s
            && request.arrival_s.is_finite()
            && (0.0..f64::INFINITY).contains(&request.service_s);
        if !is_good {
            let problem = "arrivals must be in order, and times finite and 0 or more";
            return Err(SetupError::BadTraceRow { row: index + 1, problem });
        }
        last_s = request.arrival_s;
    }
    Ok(())
}

impl Simulation<'_> {
    fn push(&mut self, at_s: f64, kind: Kind) {
        self.events.push(Reverse(Event { at_s, kind }));
    }

    fn run(&mut self) {
        while let Some(Reverse(Event { at_s, kind })) = self.events.pop() {
            if at_s > self.fleet.horizon_s {
                return;
            }
            match kind {
                Kind::Arrival => {
                    self.arrived += 1;
                    if let Some(next) = self.requests.get(self.arrived) {
                        self.push(next.arrival_s, Kind::Arrival);
                    }
                    self.begin(at_s);
                }
                Kind::End => {
                    self.busy -= 1;
                    self.begin(at_s);
                }
                Kind::Up => {
                    self.ready += 1;
                    self.starting -= 1;
                    self.begin(at_s);
                }
                Kind::Tick => self.tick(at_s),
                Kind::Sample => {
                    if self.samples.len() == self.fleet.samples {
                        self.samples.pop_front();
                    }
                    self.samples.push_back((self.busy + self.queue() as i64).unsigned_abs());
                    self.push(at_s + self.fleet.sample_period_s, Kind::Sample);
                }
            }
        }
    }

    const fn queue(&self) -> usize {
        self.arrived - self.begun
    }

    fn begin(&mut self, now_s: f64) {
        let slots = i64::from(self.ready) * i64::from(self.fleet.slots);
        while self.busy < slots && self.begun < self.arrived {
            let request = self.requests[self.begun];
            self.begun += 1;
            self.busy += 1;
            self.run.waits_s.push(now_s - request.arrival_s);
            self.push(now_s + request.service_s, Kind::End);
        }
    }

    fn tick(&mut self, now_s: f64) {
        let rule = &self.fleet.rule;
        let current = self.ready + self.starting;
        let sum: u64 = self.samples.iter().sum();
        let mean = from_count(sum) / from_count(self.samples.len().max(1) as u64);
        let metric = mean / from_count(current.unsigned_abs() as u64 * u64::from(self.fleet.slots));
        let wanted = rule.decide(&mut self.desired_log, current, metric, now_s);
        if wanted.replicas > current {
            for _ in current..wanted.replicas {
                self.starting += 1;
                self.push(now_s + self.fleet.start_delay_s, Kind::Up);
            }
        } else if wanted.replicas < current {
            // Starting replicas are not called off, so that more may have to stay than are wanted.
            self.ready = (self.ready - (current - wanted.replicas)).max(rule.min_replicas);
        }
        self.run.ticks.push(Tick {
            time_s: now_s,
            metric,
            desired: wanted.desired,
            ready: self.ready,
            starting: self.starting,
            queue: self.queue(),
        });
        self.push(now_s + self.fleet.tick_s, Kind::Tick);
    }
}
