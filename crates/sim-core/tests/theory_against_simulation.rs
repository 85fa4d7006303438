//! Theory inside the intervals of a plain simulation of the same queue.
//!
//! The queues are simulated in the most obvious way, on the crate's own random streams, in constant
//! rates from light load to 95 %. Each comparison asks whether an exact number of theory lies in
//! the interval that the simulation gives itself. There are 85 comparisons, and right theory is to be
//! inside all of them with 99 % confidence: by Bonferroni's correction each interval has the level
//! 1 − 0.01/85. One by one right theory is outside a plain 99 % interval once in a hundred, so of the
//! comparisons of one kind of queue at most one may be.

// A panic is how a test reports.
#![allow(clippy::expect_used)]

use std::{cmp::Reverse, collections::BinaryHeap};

use sim_core::{
    measure::{Interval, mean_interval, share_interval},
    random::{Purpose, Stream},
    theory::{ErlangA, Md1, Mg1, Mmc, Service},
};

const LOADS: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
const TAILS: [f64; 2] = [0.1, 0.01];

/// Comparisons of one kind of queue, of the one with observed times, and of the one whose users give
/// up; all of them.
const OF_ONE_KIND: usize = LOADS.len() * (1 + TAILS.len());
const OF_OBSERVED: usize = 1 + 2 * TAILS.len();
const OF_IMPATIENT: usize = 2 * (2 + TAILS.len());
const COMPARISONS: usize = 4 * OF_ONE_KIND + OF_OBSERVED + OF_IMPATIENT;
const _: () = assert!(COMPARISONS == 85);

/// Wait and time in the system of each request, in order of arrival.
struct Simulated {
    waits: Vec<f64>,
    responses: Vec<f64>,
}

/// Times that order themselves; all are finite.
#[derive(Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Servers, first come first served: each request takes the server that is free first. A fifth more
/// than `count` requests are simulated; that fifth, at the start, warms the queue up and is left out.
fn simulate(
    seed: u64,
    rate: f64,
    servers: usize,
    count: usize,
    mut service: impl FnMut(&mut Stream) -> f64,
) -> Simulated {
    let mut gaps = Stream::new(seed, Purpose::Arrivals);
    let mut work = Stream::new(seed, Purpose::OutputTokens);
    let mut free: BinaryHeap<Reverse<Time>> = (0..servers).map(|_| Reverse(Time(0.0))).collect();
    let mut simulated =
        Simulated { waits: Vec::with_capacity(count), responses: Vec::with_capacity(count) };
    let mut now = 0.0;
    for index in 0..count + count / 5 {
        now += gaps.exponential() / rate;
        let Reverse(Time(first_free)) = free.pop().expect("there is a server");
        let start = if first_free > now { first_free } else { now };
        let finish = start + service(&mut work);
        free.push(Reverse(Time(finish)));
        if index >= count / 5 {
            simulated.waits.push(start - now);
            simulated.responses.push(finish - now);
        }
    }
    simulated
}

/// Requests for 30 batches of some 70 relaxation times, `(1 + √ρ)² / (1 − ρ)²` services each.
fn requests(load: f64) -> usize {
    let root = (1.0 + load.sqrt()) / (1.0 - load);
    ((2_000.0 * root * root) as usize).clamp(200_000, 3_000_000)
}

/// Counts the comparisons in which theory is outside the simulation's interval.
#[derive(Default)]
struct Tally {
    comparisons: usize,
    /// Intervals whose batches failed the test for correlation: one in ten at most does by chance.
    unreliable: usize,
    outside: Vec<String>,
}

impl Tally {
    fn compare(&mut self, name: &str, theory: f64, interval: impl Fn(f64) -> Interval) {
        let inside = |interval: &Interval| (interval.low..=interval.high).contains(&theory);
        let widest = interval(1.0 - 0.01 / COMPARISONS as f64);
        assert!(inside(&widest), "{name}: {theory} outside {widest:?}");
        self.comparisons += 1;
        self.unreliable += usize::from(!widest.reliable);
        let strict = interval(0.99);
        if !inside(&strict) {
            self.outside.push(format!("{name}: {theory} outside {strict:?}"));
        }
    }

    fn mean(&mut self, name: &str, theory: f64, values: &[f64]) {
        self.compare(name, theory, |level| mean_interval(values, level).expect("enough values"));
    }

    /// The share of values beyond theory's percentile is that percentile's tail.
    fn tail(&mut self, name: &str, theory_s: f64, tail: f64, values: &[f64]) {
        let beyond: Vec<bool> = values.iter().map(|&value| value > theory_s).collect();
        let name = format!("{name}, {theory_s} beyond");
        self.compare(&name, tail, |level| share_interval(&beyond, level).expect("enough values"));
    }

    /// At most one comparison outside 99 %, and runs long enough for their correlation.
    fn conclude(&self, comparisons: usize) {
        assert_eq!(self.comparisons, comparisons);
        assert!(self.outside.len() <= 1, "{:#?}", self.outside);
        // Comparisons come in threes from one run; more than one such run would be too short a run.
        assert!(self.unreliable <= 3, "{} of {}", self.unreliable, self.comparisons);
    }
}

#[test]
fn one_exponential_server() {
    let mut tally = Tally::default();
    for (seed, load) in (100..).zip(LOADS) {
        let run = simulate(seed, load, 1, requests(load), Stream::exponential);
        let theory = Mmc::new(load, 1.0, 1).expect("stable");
        tally.mean(&format!("M/M/1 at {load}"), theory.mean_wait_s(), &run.waits);
        for tail in TAILS {
            let response_s = theory.response_exceeded_s(tail).expect("a tail");
            tally.tail(&format!("M/M/1 response at {load}"), response_s, tail, &run.responses);
        }
    }
    tally.conclude(OF_ONE_KIND);
}

#[test]
fn one_constant_server() {
    let mut tally = Tally::default();
    for (seed, load) in (200..).zip(LOADS) {
        let run = simulate(seed, load, 1, requests(load), |_| 1.0);
        let theory = Md1::new(load, 1.0).expect("stable");
        tally.mean(&format!("M/D/1 at {load}"), theory.mean_wait_s(), &run.waits);
        for tail in TAILS {
            let wait_s = theory.wait_exceeded_s(tail).expect("a tail");
            tally.tail(&format!("M/D/1 wait at {load}"), wait_s, tail, &run.waits);
        }
    }
    tally.conclude(OF_ONE_KIND);
}

/// Lognormal service with mean 1 and sigma 0.5.
#[test]
fn one_lognormal_server() {
    let mut tally = Tally::default();
    let sigma = 0.5_f64;
    for (seed, load) in (300..).zip(LOADS) {
        let run = simulate(seed, load, 1, requests(load), |stream| {
            libm::exp(sigma * stream.normal() - 0.5 * sigma * sigma)
        });
        let scv = libm::expm1(sigma * sigma);
        let theory = Mg1::new(load, Service::lognormal(1.0, scv).expect("a law")).expect("stable");
        tally.mean(&format!("M/G/1 at {load}"), theory.mean_wait_s(), &run.waits);
        for tail in TAILS {
            let response_s = theory.response_exceeded_s(tail).expect("a tail");
            tally.tail(&format!("M/G/1 response at {load}"), response_s, tail, &run.responses);
        }
    }
    tally.conclude(OF_ONE_KIND);
}

#[test]
fn several_exponential_servers() {
    let mut tally = Tally::default();
    let servers = 4;
    for (seed, load) in (400..).zip(LOADS) {
        let rate = load * servers as f64;
        let run = simulate(seed, rate, servers, requests(load), Stream::exponential);
        let theory = Mmc::new(rate, 1.0, servers as u64).expect("stable");
        tally.mean(&format!("M/M/4 at {load}"), theory.mean_wait_s(), &run.waits);
        for tail in TAILS {
            let response_s = theory.response_exceeded_s(tail).expect("a tail");
            tally.tail(&format!("M/M/4 response at {load}"), response_s, tail, &run.responses);
        }
    }
    tally.conclude(OF_ONE_KIND);
}

/// Service times as observed, some of them equal, at 80 % load.
#[test]
fn one_server_with_observed_times() {
    let mut tally = Tally::default();
    let times = [0.2, 0.2, 0.5, 0.9, 3.2];
    let run = simulate(500, 0.8, 1, requests(0.9), |stream| {
        times[((stream.uniform() * times.len() as f64).ceil() as usize - 1).min(times.len() - 1)]
    });
    let theory = Mg1::new(0.8, Service::observed(&times).expect("times")).expect("stable");
    tally.mean("observed", theory.mean_wait_s(), &run.waits);
    for tail in TAILS {
        let wait_s = theory.wait_exceeded_s(tail).expect("a tail");
        tally.tail("observed wait", wait_s, tail, &run.waits);
        let response_s = theory.response_exceeded_s(tail).expect("a tail");
        tally.tail("observed response", response_s, tail, &run.responses);
    }
    tally.conclude(OF_OBSERVED);
}

/// Users give up after an exponential time of mean 2; below and above capacity.
#[test]
fn impatient_users() {
    let mut tally = Tally::default();
    for (seed, rate) in [(600, 2.7), (601, 3.6)] {
        let (servers, patience, count) = (3, 2.0, 400_000);
        let mut gaps = Stream::new(seed, Purpose::Arrivals);
        let mut work = Stream::new(seed, Purpose::OutputTokens);
        let mut patiences = Stream::new(seed, Purpose::InputTokens);
        let mut free: BinaryHeap<Reverse<Time>> =
            (0..servers).map(|_| Reverse(Time(0.0))).collect();
        let (mut now, mut waits, mut gone) = (0.0, Vec::new(), Vec::new());
        let mut waits_of_served = Vec::new();
        for _ in 0..count {
            now += gaps.exponential() / rate;
            let ready_in = free.peek().map_or(0.0, |Reverse(Time(first))| first - now);
            let (service, limit) = (work.exponential(), patience * patiences.exponential());
            gone.push(ready_in > limit);
            let wait =
                if ready_in > limit { limit } else { sim_core::float::greater(0.0, ready_in) };
            waits.push(wait);
            if ready_in <= limit {
                free.pop();
                free.push(Reverse(Time(now + wait + service)));
                waits_of_served.push(wait);
            }
        }
        let theory = ErlangA::new(rate, 1.0, patience, servers).expect("always stable");
        tally.mean(&format!("M/M/3+M at {rate}"), theory.mean_wait_s(), &waits);
        tally.compare("abandoning", theory.share_abandoning(), |level| {
            share_interval(&gone, level).expect("enough values")
        });
        for tail in TAILS {
            let wait_s = theory.wait_of_served_exceeded_s(tail).expect("a tail");
            tally.tail(&format!("M/M/3+M served at {rate}"), wait_s, tail, &waits_of_served);
        }
    }
    tally.conclude(OF_IMPATIENT);
}
