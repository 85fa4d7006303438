//! A server with slots: each request holds one for its service time (M/G/c and its relatives).
//!
//! The simplest server that can be overloaded, for teaching and for the closed forms: it knows
//! nothing of tokens, and every effect of queueing is there.

use std::{cmp::Ordering, collections::BinaryHeap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    float::greater,
    measure::{Distribution, Precision},
    random::{Purpose, Stream},
    setup::SetupError,
    workload::{Request, Requests, Workload},
};

use super::waiting_line::{OverloadPolicy, Taken, Waiting, WaitingLine};

/// How long a request holds its slot.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceTime {
    /// Always the same.
    Constant {
        /// The time, in seconds.
        mean_s: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Lognormal.
    LogNormal {
        /// Mean in seconds.
        mean_s: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// The k-th request to start has the k-th recorded time in seconds; beyond the recording, the
    /// last one.
    Recorded(Arc<[f64]>),
}

/// Everything one run of a slot server depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotsSetup {
    /// Who arrives when; lengths play no part.
    pub workload: Workload,
    /// Requests served at once.
    pub slots: u64,
    /// How long each holds its slot.
    pub service: ServiceTime,
    /// What happens to those who cannot be served at once.
    pub overload: OverloadPolicy,
    /// Longest time in seconds from arrival to answer that is still of use.
    pub useful_within_s: f64,
    /// When the run stops, in seconds; `None` serves everybody.
    pub horizon_s: Option<f64>,
    /// Root of every random stream.
    pub seed: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlotOutcome {
    /// Answered in time.
    InTime,
    /// Answered too late to be of use.
    Late,
    /// Turned away on arrival.
    Rejected,
    /// Dropped after waiting.
    Dropped,
    /// In a slot when the run stopped.
    Running,
    /// Waiting when the run stopped.
    Queued,
}

/// One request at a slot server. Times in seconds; NaN where the event did not happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotRecord {
    /// When it arrived.
    pub arrival_s: f64,
    /// When it got a slot.
    pub start_s: f64,
    /// When it left the slot, or will.
    pub done_s: f64,
    /// What became of it.
    pub outcome: SlotOutcome,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotsRun {
    /// Requests by outcome.
    pub counts: SlotCounts,
    /// Waits of those that got a slot, in seconds.
    pub wait: Distribution,
    /// Times from arrival to answer of those answered, in seconds.
    pub sojourn: Distribution,
    /// Integral of the number in the system over time, from events, request-seconds.
    pub in_system_request_s: f64,
    /// Sum of the times spent in the system, request-seconds.
    pub sojourn_request_s: f64,
    /// From the first arrival to the last event, in seconds.
    pub duration_s: f64,
    /// Every request in order of arrival.
    pub requests: Vec<SlotRecord>,
}

/// Requests by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SlotCounts {
    /// Sent.
    pub offered: u64,
    /// Answered in time.
    pub in_time: u64,
    /// Answered too late.
    pub late: u64,
    /// Turned away on arrival.
    pub rejected: u64,
    /// Dropped after waiting.
    pub dropped: u64,
    /// In a slot at the end.
    pub running: u64,
    /// Waiting at the end.
    pub queued: u64,
}

impl SlotCounts {
    fn add(&mut self, outcome: SlotOutcome) {
        *match outcome {
            SlotOutcome::InTime => &mut self.in_time,
            SlotOutcome::Late => &mut self.late,
            SlotOutcome::Rejected => &mut self.rejected,
            SlotOutcome::Dropped => &mut self.dropped,
            SlotOutcome::Running => &mut self.running,
            SlotOutcome::Queued => &mut self.queued,
        } += 1;
    }

    /// Whether every request sent is accounted for.
    #[must_use]
    pub const fn is_conserved(&self) -> bool {
        let answered = self.in_time + self.late;
        self.offered == answered + self.rejected + self.dropped + self.running + self.queued
    }
}

/// Simulate a slot server.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_slots(setup: &SlotsSetup) -> Result<SlotsRun, SetupError> {
    setup.check()?;
    let mut server = Server::new(setup);
    server.run();
    Ok(server.finish())
}

impl SlotsSetup {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.workload.check()?;
        self.overload.check()?;
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        if self.slots == 0 {
            return bad("slots.slots", 0.0, "1 or more");
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        match &self.service {
            ServiceTime::Constant { mean_s }
            | ServiceTime::Exponential { mean_s }
            | ServiceTime::LogNormal { mean_s, .. }
                if !positive(*mean_s) =>
            {
                return bad("slots.service.mean_s", *mean_s, "finite and above 0 seconds");
            }
            ServiceTime::LogNormal { sigma, .. } if !(0.0..=10.0).contains(sigma) => {
                return bad("slots.service.sigma", *sigma, "between 0 and 10");
            }
            ServiceTime::Recorded(times_s) => {
                if times_s.is_empty() {
                    return bad("slots.service", 0.0, "a recording of at least one time");
                }
                if let Some(&time_s) = times_s.iter().find(|&&time_s| !positive(time_s)) {
                    return bad("slots.service", time_s, "finite and above 0 seconds");
                }
            }
            _ => {}
        }
        if self.useful_within_s.is_nan() || self.useful_within_s <= 0.0 {
            return bad("slots.useful_within_s", self.useful_within_s, "above 0 seconds");
        }
        match self.horizon_s {
            Some(horizon_s) if !positive(horizon_s) => {
                bad("slots.horizon_s", horizon_s, "finite and above 0 seconds")
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Arrived {
    index: usize,
    arrival_s: f64,
}

impl Waiting for Arrived {
    fn since_s(&self) -> f64 {
        self.arrival_s
    }
}

/// A slot that becomes free; the heap's greatest is the earliest, ties in order of start.
#[derive(Clone, Copy, Debug)]
struct Departure {
    done_s: f64,
    started: u64,
    index: usize,
}

impl PartialEq for Departure {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Departure {}

impl PartialOrd for Departure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Departure {
    fn cmp(&self, other: &Self) -> Ordering {
        other.done_s.total_cmp(&self.done_s).then(other.started.cmp(&self.started))
    }
}

struct Server<'a> {
    setup: &'a SlotsSetup,
    coming: std::iter::Peekable<Requests>,
    line: WaitingLine<Arrived>,
    serving: BinaryHeap<Departure>,
    started: u64,
    now_s: f64,
    first_s: f64,
    run: SlotsRun,
}

impl<'a> Server<'a> {
    fn new(setup: &'a SlotsSetup) -> Self {
        Self {
            setup,
            coming: Requests::new(&setup.workload, setup.seed).peekable(),
            line: WaitingLine::new(setup.overload),
            serving: BinaryHeap::new(),
            started: 0,
            now_s: 0.0,
            first_s: 0.0,
            run: SlotsRun {
                counts: SlotCounts::default(),
                wait: Distribution::new(Precision::Exact),
                sojourn: Distribution::new(Precision::Exact),
                in_system_request_s: 0.0,
                sojourn_request_s: 0.0,
                duration_s: 0.0,
                requests: Vec::new(),
            },
        }
    }

    /// Events in order of time until there are none or the horizon is reached. A departure and an
    /// arrival at the same moment: the departure first, so that its slot can be had.
    fn run(&mut self) {
        let horizon_s = self.setup.horizon_s.unwrap_or(f64::INFINITY);
        loop {
            let arrival_s = self.coming.peek().map_or(f64::INFINITY, |request| request.arrival_s);
            let done_s = self.serving.peek().map_or(f64::INFINITY, |departure| departure.done_s);
            let next_s = if done_s <= arrival_s { done_s } else { arrival_s };
            if next_s == f64::INFINITY || next_s > horizon_s {
                break;
            }
            if self.run.counts.offered > 0 {
                let in_system = self.serving.len() as u64 + self.line.len();
                self.run.in_system_request_s += in_system as f64 * (next_s - self.now_s);
            }
            self.now_s = next_s;
            if done_s <= arrival_s {
                self.depart();
            } else if let Some(request) = self.coming.next() {
                self.arrive(&request);
            }
            self.dispatch();
        }
    }

    fn arrive(&mut self, request: &Request) {
        let arrival_s = request.arrival_s;
        if self.run.counts.offered == 0 {
            self.first_s = arrival_s;
        }
        self.run.counts.offered += 1;
        let index = self.run.requests.len();
        self.run.requests.push(SlotRecord {
            arrival_s,
            start_s: f64::NAN,
            done_s: f64::NAN,
            outcome: SlotOutcome::Queued,
        });
        if self.line.join(Arrived { index, arrival_s }).is_err() {
            self.end(index, SlotOutcome::Rejected);
        }
    }

    /// Fill free slots from the line.
    fn dispatch(&mut self) {
        while (self.serving.len() as u64) < self.setup.slots {
            match self.line.take(self.now_s, |_| true) {
                None => break,
                Some(Taken::Dropped(arrived)) => {
                    self.run.sojourn_request_s += self.now_s - arrived.arrival_s;
                    self.end(arrived.index, SlotOutcome::Dropped);
                }
                Some(Taken::Served(arrived)) => self.start(arrived),
            }
        }
    }

    fn start(&mut self, arrived: Arrived) {
        let done_s = self.now_s + self.service_s(arrived.index);
        self.run.wait.record(self.now_s - arrived.arrival_s);
        let record = &mut self.run.requests[arrived.index];
        record.start_s = self.now_s;
        record.done_s = done_s;
        record.outcome = SlotOutcome::Running;
        self.serving.push(Departure { done_s, started: self.started, index: arrived.index });
        self.started += 1;
    }

    fn depart(&mut self) {
        let Some(Departure { done_s, index, .. }) = self.serving.pop() else { return };
        let sojourn_s = done_s - self.run.requests[index].arrival_s;
        self.run.sojourn.record(sojourn_s);
        self.run.sojourn_request_s += sojourn_s;
        let in_time = sojourn_s <= self.setup.useful_within_s;
        self.end(index, if in_time { SlotOutcome::InTime } else { SlotOutcome::Late });
    }

    fn end(&mut self, index: usize, outcome: SlotOutcome) {
        self.run.requests[index].outcome = outcome;
        self.run.counts.add(outcome);
    }

    fn service_s(&self, index: usize) -> f64 {
        let draw = || Stream::of_request(self.setup.seed, Purpose::Service, index as u64);
        match &self.setup.service {
            ServiceTime::Constant { mean_s } => *mean_s,
            ServiceTime::Exponential { mean_s } => mean_s * draw().exponential(),
            ServiceTime::LogNormal { mean_s, sigma } => {
                mean_s * libm::exp(sigma * draw().normal() - 0.5 * sigma * sigma)
            }
            ServiceTime::Recorded(times_s) => {
                let last = times_s.len() - 1;
                times_s[(self.started as usize).min(last)]
            }
        }
    }

    fn finish(mut self) -> SlotsRun {
        let end_s =
            self.setup.horizon_s.map_or(self.now_s, |horizon_s| greater(horizon_s, self.now_s));
        let in_system = self.serving.len() as u64 + self.line.len();
        self.run.in_system_request_s += in_system as f64 * (end_s - self.now_s);
        let running: Vec<usize> = self.serving.iter().map(|departure| departure.index).collect();
        let queued: Vec<usize> = self.line.iter().map(|arrived| arrived.index).collect();
        for (indices, outcome) in [(running, SlotOutcome::Running), (queued, SlotOutcome::Queued)] {
            for index in indices {
                self.run.sojourn_request_s += end_s - self.run.requests[index].arrival_s;
                self.end(index, outcome);
            }
        }
        self.run.duration_s = end_s - self.first_s;
        self.run
    }
}
