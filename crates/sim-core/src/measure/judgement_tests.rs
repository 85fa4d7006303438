//! Verdicts on runs whose nature is known, and windows against the requests themselves.

use std::sync::Arc;

use super::*;
use crate::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Trace, TraceRow, Workload,
    fleet::{RoundRobin, simulate_fleet},
    simulate,
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
};

const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

/// 1,024 tokens in, 256 out, under a profile of the rate.
fn mixed(rate_per_s: f64, profile: RateProfile) -> RequestSource {
    let fixed = |tokens| LengthSpec::Fixed { tokens };
    RequestSource::Mixed(Arc::new(Mix {
        arrivals: Arrivals { process: ArrivalProcess::Poisson, rate_per_s, bursts: None, profile },
        classes: vec![RequestClass {
            weight: 1.0,
            lengths: RequestLengths::Independent { input: fixed(1_024), output: fixed(256) },
            slo: SLO,
            priority: 0,
            shared_prefix: None,
            sessions: None,
            patience: None,
        }],
    }))
}

/// Qwen2.5-7B on one H100, which finishes about 25 of these requests per second.
fn setup(source: RequestSource, requests: u64, seed: u64) -> Setup {
    Setup {
        workload: Workload { source, requests },
        engine: EngineSpec {
            max_num_batched_tokens: 2_048,
            max_num_seqs: 256,
            kv_capacity_tokens: 972_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Roofline {
            params: 7.6e9,
            weight_bytes: 15.2e9,
            kv_bytes_per_token: 57_344.0,
            peak_flops: 989e12,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.5e-3,
        },
        slo: SLO,
        seed,
    }
}

fn run(source: RequestSource, requests: u64, seed: u64) -> Run {
    simulate(&setup(source, requests, seed), Keep::default()).unwrap()
}

/// How many of 100 seeds get each verdict.
fn verdicts(rate_per_s: f64, profile: &RateProfile, requests: u64) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in 0..100 {
        let run = run(mixed(rate_per_s, profile.clone()), requests, seed);
        counts[run.judgement().verdict as usize] += 1;
    }
    println!("{rate_per_s} req/s, {requests} requests: {counts:?}");
    counts
}

#[test]
fn steady_rates_below_the_ceiling_are_stable() {
    for (rate_per_s, requests) in [(2.0, 2_000), (10.0, 4_000), (20.0, 10_000)] {
        let [stable, _, overloaded] = verdicts(rate_per_s, &RateProfile::Constant, requests);
        assert!(stable >= 94 && overloaded <= 1, "{rate_per_s}: {stable} {overloaded}");
    }
}

/// However short the run, and however long it then takes to drain.
#[test]
fn rates_above_the_ceiling_are_overloaded() {
    for (rate_per_s, requests) in [(40.0, 8_000), (100.0, 2_000), (1_000.0, 2_000)] {
        let [stable, _, overloaded] = verdicts(rate_per_s, &RateProfile::Constant, requests);
        assert!(stable == 0 && overloaded >= 95, "{rate_per_s}: {overloaded}");
    }
}

/// A run too short to be sure of the overload is at least not called stable.
#[test]
fn a_short_run_above_the_ceiling_is_not_stable() {
    let [stable, ..] = verdicts(30.0, &RateProfile::Constant, 2_000);
    assert_eq!(stable, 0);
    let [stable, ..] = verdicts(27.0, &RateProfile::Constant, 4_000);
    assert_eq!(stable, 0);
}

#[test]
fn a_run_too_short_to_tell_says_so() {
    for (rate_per_s, requests) in [(10.0, 40), (18.0, 120)] {
        let run = run(mixed(rate_per_s, RateProfile::Constant), requests, 1);
        assert_eq!(run.judgement().verdict, Verdict::Transient);
    }
}

/// Two days between a quarter of the load and all of it, scaled to minutes; and a ramp from idle to
/// nearly full. What runs follows the rate; nothing piles up.
#[test]
fn waves_are_no_overload() {
    let points = [(0.0, 0.25), (300.0, 1.0), (600.0, 0.25)];
    let points = points.map(|(time_s, factor)| crate::workload::RatePoint { time_s, factor });
    let wave = RateProfile::Periodic { points: points.to_vec(), period_s: 600.0 };
    let ramp = RateProfile::ramp(0.0, 300.0, 10.0);
    for (rate_per_s, profile, requests) in
        [(20.0, &wave, 15_000), (20.0, &wave, 3_000), (2.0, &ramp, 3_300)]
    {
        let [stable, _, overloaded] = verdicts(rate_per_s, profile, requests);
        assert!(stable >= 99 && overloaded <= 1, "{stable} {overloaded}");
        let run = run(mixed(rate_per_s, profile.clone()), requests, 0);
        assert_eq!(run.judgement().reason, Reason::KeepsUp);
        assert_eq!((run.warm_up(), run.intervals()), (None, None));
    }
}

/// A rate that ends up beyond the ceiling is overload, planned or not.
#[test]
fn a_step_beyond_the_ceiling_is_overload() {
    let step = RateProfile::step(60.0, 8.0);
    let [stable, _, overloaded] = verdicts(5.0, &step, 6_000);
    assert!(stable == 0 && overloaded >= 95, "{overloaded}");
    let rows = (0..6_000_u32).map(|i| TraceRow {
        arrival_s: f64::from(i) / 40.0,
        input_tokens: 1_024,
        output_tokens: 256,
    });
    let trace = Arc::new(Trace::new(rows.collect()).unwrap());
    let replayed = run(RequestSource::Replay { trace, speed: 1.0 }, 6_000, 0);
    assert_eq!(replayed.judgement().verdict, Verdict::Overloaded);
}

/// A fleet under a source, its requests dealt out in turn.
fn fleet(source: RequestSource, requests: u64, replicas: u64, seed: u64) -> Run {
    let fleet = RoundRobin::new(&setup(source, requests, seed), replicas).unwrap();
    simulate_fleet(&fleet, Keep::default()).unwrap().unwrap().total
}

/// What runs on eight engines is no line before one of them.
#[test]
fn a_fleet_is_judged_by_all_of_its_engines() {
    let steady = || mixed(160.0, RateProfile::Constant);
    let points = [(0.0, 0.25), (30.0, 1.0), (60.0, 0.25)];
    let points = points.map(|(time_s, factor)| crate::workload::RatePoint { time_s, factor });
    let wave = RateProfile::Periodic { points: points.to_vec(), period_s: 60.0 };
    let mut stable = 0;
    for seed in 0..20 {
        let run = fleet(steady(), 24_000, 8, seed);
        stable += usize::from(run.judgement().verdict == Verdict::Stable);
        assert_ne!(run.judgement().verdict, Verdict::Overloaded);
        let run = fleet(mixed(160.0, wave.clone()), 24_000, 8, seed);
        assert_eq!(run.judgement().reason, Reason::KeepsUp);
        let run = fleet(mixed(320.0, RateProfile::Constant), 24_000, 8, seed);
        assert_eq!(run.judgement().verdict, Verdict::Overloaded);
        let run = fleet(mixed(40.0, RateProfile::step(60.0, 8.0)), 24_000, 8, seed);
        assert_eq!(run.judgement().verdict, Verdict::Overloaded);
    }
    assert!(stable >= 18, "{stable} of 20");
}

/// A request comes, waits, runs and leaves; the windows count each of them where it happened.
fn assert_counted(run: &Run) {
    let requests = run.requests.as_deref().unwrap();
    let (mut came, mut left) = (0, 0);
    for window in run.windows.iter() {
        let inside = |time_s: f64| (window.start_s..window.end_s).contains(&time_s);
        let arrivals = requests.iter().filter(|r| inside(r.arrival_s)).count() as u64;
        let done: Vec<_> = requests.iter().filter(|r| inside(r.finish_s)).collect();
        assert_eq!((window.arrivals, window.completed), (arrivals, done.len() as u64));
        came += arrivals;
        left += window.completed + window.unanswered;
        assert_eq!(window.in_flight, came - left);
        let output: u64 = done.iter().map(|r| r.output_tokens).sum();
        assert_eq!(window.output_tokens, output);
        let there: f64 = requests
            .iter()
            .filter(|r| r.finish_s.is_finite())
            .map(|r| {
                let end_s = crate::float::lesser(r.finish_s, window.end_s);
                crate::float::greater(
                    0.0,
                    end_s - crate::float::greater(r.arrival_s, window.start_s),
                )
            })
            .sum();
        let mean = there / (window.end_s - window.start_s);
        assert!((window.mean_in_flight - mean).abs() <= 1e-6 * (1.0 + mean), "{window:?} {mean}");
        if let Some(ttft_mean_s) = window.ttft_mean_s {
            let sum: f64 = done.iter().map(|r| r.first_token_s - r.arrival_s).sum();
            assert!((ttft_mean_s - sum / done.len() as f64).abs() <= 1e-6);
        }
    }
    assert_eq!(came, run.offered);
    let ended = run.completed + run.rejected + run.dropped + run.abandoned + run.throttled;
    assert_eq!(left, ended);
}

#[test]
fn windows_count_what_happened() {
    let keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
    for (rate_per_s, requests) in [(0.5, 60), (18.0, 3_000), (200.0, 3_000)] {
        let setup = setup(mixed(rate_per_s, RateProfile::Constant), requests, 3);
        let run = simulate(&setup, keep).unwrap();
        assert!(run.windows.arriving() <= 256 && run.windows.len() <= 1_025);
        assert_counted(&run);
        let fleet = RoundRobin::new(&setup, 7).unwrap();
        let total = simulate_fleet(&fleet, keep).unwrap().unwrap().total;
        assert_counted(&total);
        assert_eq!(total.classes[0].offered, requests);
    }
}

/// A trace of some that can never fit, with a gap of a day in it.
#[test]
fn gaps_and_refusals_are_counted() {
    let rows = (0..400_u32).map(|i| TraceRow {
        arrival_s: 5_000.5 + f64::from(i) * 0.01 + if i < 200 { 0.0 } else { 86_400.0 },
        input_tokens: if i % 3 == 0 { 2_000_000 } else { 500 },
        output_tokens: 20,
    });
    let trace = Arc::new(Trace::new(rows.collect()).unwrap());
    let keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
    let setup = setup(RequestSource::Replay { trace, speed: 1.0 }, 400, 0);
    let run = simulate(&setup, keep).unwrap();
    assert_eq!(run.rejected, 134);
    assert_counted(&run);
}
