//! False alarms and detections on M/M/1, and series whose verdict is plain.

use super::*;
use crate::random::{Purpose, Stream};

/// The number in an M/M/1 system at 400 equal steps of time, from the first arrival to the last, and
/// the arrivals and departures of the second half. Starts empty.
fn observed(seed: u64, load: f64, requests: usize) -> (Vec<f64>, u64, u64) {
    let mut gaps = Stream::new(seed, Purpose::Arrivals);
    let mut services = Stream::new(seed, Purpose::OutputTokens);
    let (mut now, mut free) = (0.0, 0.0);
    let (mut arrivals, mut departures) = (Vec::new(), Vec::new());
    for _ in 0..requests {
        now += gaps.exponential() / load;
        free = greater(now, free) + services.exponential();
        arrivals.push(now);
        departures.push(free);
    }
    let (first, last) = (arrivals[0], now);
    let up_to = |times: &[f64], time: f64| times.partition_point(|&t| t <= time);
    let at = |time: f64| (up_to(&arrivals, time) - up_to(&departures, time)) as f64;
    let series =
        (1..=400).map(|step| at(first + (last - first) * f64::from(step) / 400.0)).collect();
    let middle = 0.5 * (first + last);
    let between = |times: &[f64]| (up_to(times, last) - up_to(times, middle)) as u64;
    (series, between(&arrivals), between(&departures))
}

/// How many of 400 runs got each verdict.
fn verdicts(load: f64, requests: usize) -> (usize, usize, usize) {
    let mut counts = (0, 0, 0);
    for seed in 0..400 {
        let (series, came, left) = observed(seed, load, requests);
        match stability(&series, came, left).unwrap().verdict {
            Verdict::Stable => counts.0 += 1,
            Verdict::Transient => counts.1 += 1,
            Verdict::Overloaded => counts.2 += 1,
        }
    }
    println!("load {load}, {requests} requests: {counts:?}");
    counts
}

/// Settled runs: "stable" in 95 % or more, "overloaded" in 1 % or less.
#[test]
fn settled_runs_are_stable() {
    for (load, requests) in [(0.3, 2_000), (0.5, 2_000), (0.8, 10_000), (0.9, 40_000)] {
        let (stable, _, overloaded) = verdicts(load, requests);
        assert!(stable >= 380 && overloaded <= 4, "load {load}: {stable} {overloaded}");
    }
}

/// Runs too short to have settled may be called transient, but overloaded in 1 % at most.
#[test]
fn short_runs_near_capacity_are_not_called_overloaded() {
    for (load, requests) in [(0.9, 1_000), (0.95, 2_000), (0.99, 2_000)] {
        let (_, _, overloaded) = verdicts(load, requests);
        assert!(overloaded <= 4, "load {load}: {overloaded}");
    }
}

/// Overload beyond chance is found: 10 % too much in 10,000 requests, 50 % in 1,000.
#[test]
fn overload_is_found() {
    for (load, requests) in [(1.1, 10_000), (1.2, 4_000), (1.5, 1_000), (2.0, 1_000)] {
        let (stable, _, overloaded) = verdicts(load, requests);
        assert!(overloaded >= 360 && stable <= 4, "load {load}: {overloaded}");
    }
}

/// At the very edge the backlog is the worst that chance makes of a system that is not overloaded.
#[test]
fn the_edge_of_capacity_is_seldom_called_overloaded() {
    let (_, _, overloaded) = verdicts(1.0, 4_000);
    assert!(overloaded <= 8, "{overloaded} of 400, 4 expected at most");
}

#[test]
fn plain_series_have_plain_verdicts() {
    let constant = stability(&[7.0; 100], 500, 500).unwrap();
    assert_eq!(constant.verdict, Verdict::Stable);
    let growing: Vec<f64> = (0..100).map(f64::from).collect();
    let grown = stability(&growing, 500, 451).unwrap();
    assert_eq!(grown.verdict, Verdict::Overloaded);
    assert_eq!((grown.whole.growth, grown.late.growth), (99.0, 49.0));
    assert!(grown.trend.changes);
    // Growth of 49 among 10,000 arrivals is a system that fills, not one that drowns.
    assert_eq!(stability(&growing, 10_000, 9_951).unwrap().verdict, Verdict::Transient);
    let draining: Vec<f64> = (0..100).map(|step| f64::from(100 - step)).collect();
    assert_eq!(stability(&draining, 500, 550).unwrap().verdict, Verdict::Transient);
    // Filled in the first tenth and level since: stable.
    let filled: Vec<f64> = (0..200).map(|step| f64::from(step.min(20) + step % 3)).collect();
    assert_eq!(stability(&filled, 500, 500).unwrap().verdict, Verdict::Stable);
}

#[test]
fn the_trend_of_independent_noise_keeps_its_rate() {
    let mut stream = Stream::new(4, Purpose::Arrivals);
    let alarms = (0..2_000)
        .filter(|_| {
            let values: Vec<f64> = (0..100).map(|_| stream.normal()).collect();
            trend(&values, 0.05).unwrap().changes
        })
        .count();
    // 5 % of 2,000 are 100; the correction makes the test careful, never eager.
    println!("{alarms} alarms");
    assert!((20..=125).contains(&alarms), "{alarms}");
}

#[test]
fn broken_input_is_refused() {
    assert!(stability(&[1.0; 79], 1, 1).is_err());
    assert!(stability(&[f64::INFINITY; 100], 1, 1).is_err());
    assert!(trend(&[1.0; 100], 0.0).is_err() && drift(&[1.0; 100], f64::NAN).is_err());
    assert!(drift(&[1.0; 39], 0.01).is_err());
}
