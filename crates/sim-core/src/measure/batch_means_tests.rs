//! Textbook samples, and how often the intervals cover the truth on M/M/1.

use super::*;
use crate::{
    random::{Purpose, Stream},
    theory::Mmc,
};

/// Seeds of a coverage experiment, and how many intervals may cover: 92 % to 98 %.
const SEEDS: u64 = 400;
const COVERING: std::ops::RangeInclusive<usize> = 368..=392;

/// Times in the system of consecutive requests at an M/M/1 queue with mean service 1, by Lindley's
/// recursion, starting in the steady state.
fn responses(seed: u64, load: f64, number: usize) -> Vec<f64> {
    let mut arrivals = Stream::new(seed, Purpose::Arrivals);
    let mut services = Stream::new(seed, Purpose::OutputTokens);
    // The steady state of the wait: none with probability 1 − ρ, else exponential.
    let mut wait = 0.0;
    if services.uniform() <= load {
        wait = services.exponential() / (1.0 - load);
    }
    (0..number)
        .map(|_| {
            let response = wait + services.exponential();
            wait = greater(0.0, response - arrivals.exponential() / load);
            response
        })
        .collect()
}

/// How many of 400 intervals at 95 % cover the true mean, the true P90, and the true share of 95 %
/// that meet a target.
///
/// The run must be long enough for 20 batches of many relaxation times, each about
/// `(1 + √ρ)² / (1 − ρ)²` services (Cohen; Abate and Whitt).
fn covering(load: f64, number: usize) -> [usize; 3] {
    let queue = Mmc::new(load, 1.0, 1).unwrap();
    let mean = queue.mean_response_s();
    let p90 = queue.response_exceeded_s(0.1).unwrap();
    let target = queue.response_exceeded_s(0.05).unwrap();
    let mut hits = [0; 3];
    for seed in 0..SEEDS {
        let run = responses(seed, load, number);
        let met: Vec<bool> = run.iter().map(|&response| response <= target).collect();
        let intervals = [
            (mean_interval(&run, 0.95), mean),
            (percentile_interval(&run, 90.0, 0.95), p90),
            (share_interval(&met, 0.95), 0.95),
        ];
        for (hit, (interval, truth)) in hits.iter_mut().zip(intervals) {
            let interval = interval.unwrap();
            *hit += usize::from((interval.low..=interval.high).contains(&truth));
        }
    }
    println!("load {load}: mean, P90, share covered in {hits:?} of {SEEDS}");
    hits
}

#[test]
fn intervals_cover_at_half_load() {
    for hits in covering(0.5, 10_000) {
        assert!(COVERING.contains(&hits), "{hits} of {SEEDS}");
    }
}

#[test]
fn intervals_cover_at_high_load() {
    for hits in covering(0.8, 40_000) {
        assert!(COVERING.contains(&hits), "{hits} of {SEEDS}");
    }
}

/// Far too short for its correlation: most runs must say so.
#[test]
fn runs_too_short_for_their_correlation_say_so() {
    let unreliable = (0..100)
        .filter(|&seed| !mean_interval(&responses(seed, 0.98, 1_000), 0.95).unwrap().reliable)
        .count();
    assert!(unreliable > 70, "{unreliable}");
}

/// Independent values: 600 normals, so the half-width is t(29) · s / √600 but for noise.
#[test]
fn independent_values_give_the_textbook_width() {
    let mut stream = Stream::new(9, Purpose::Arrivals);
    let values: Vec<f64> = (0..600).map(|_| 5.0 + stream.normal()).collect();
    let interval = mean_interval(&values, 0.95).unwrap();
    assert!(interval.reliable && interval.batches == 30);
    let half = 0.5 * (interval.high - interval.low);
    assert!((half / (2.045 / 600_f64.sqrt()) - 1.0).abs() < 0.3, "{half}");
}

/// Thirty batches with means 0, 1, 0, 1, …: mean ½, variance of the means 30/29 · ¼, so the
/// half-width is t(29) · √(30/29 · ¼ / 30) = 2.0452 / (2 √29).
#[test]
fn a_textbook_series() {
    let values: Vec<f64> = (0..600).map(|index| f64::from(index / 20 % 2)).collect();
    let interval = mean_interval(&values, 0.95).unwrap();
    assert_eq!(interval.value, 0.5);
    assert!((interval.high - 0.5 - 2.045_229_6 / (2.0 * 29_f64.sqrt())).abs() < 1e-6);
}

#[test]
fn all_alike_is_certain_for_a_mean_but_not_for_a_share() {
    let interval = mean_interval(&[3.0; 200], 0.95).unwrap();
    assert_eq!((interval.low, interval.high), (3.0, 3.0));
    let interval = share_interval(&[true; 1_000], 0.95).unwrap();
    assert_eq!(interval.high, 1.0);
    // Wilson: n / (n + t²), with t(29) = 2.045.
    assert!((interval.low - 1_000.0 / 1_004.183).abs() < 1e-5, "{interval:?}");
    let interval = share_interval(&[false; 1_000], 0.95).unwrap();
    assert_eq!(interval.low, 0.0);
    assert!(interval.high > 0.003 && interval.high < 0.005);
}

#[test]
fn too_few_values_say_how_many_are_needed() {
    let values = vec![1.0; 2_400];
    let refusal = percentile_interval(&values, 99.0, 0.95).unwrap_err();
    assert_eq!(refusal, SampleError::TooFew { have: 2_400, needed: 10_000 });
    assert!(refusal.to_string().contains("at least 10000"), "{refusal}");
    assert!(percentile_interval(&vec![1.0; 10_000], 99.0, 0.95).is_ok());
    assert!(percentile_interval(&values, 100.0, 0.95).is_err());
    assert!(percentile_interval(&values, 100.0 - 1e-13, 0.95).is_err());
    assert!(mean_interval(&values, 1.0).is_err() && mean_interval(&values[..199], 0.9).is_err());
    assert!(share_interval(&[true; 10], 0.95).is_err());
}
