//! How often the intervals of a run cover the truth: of a queue by theory, of batching by a run that
//! is hundreds of times longer.

use super::*;
use crate::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Workload,
    fleet::{RoundRobin, simulate_fleet},
    simulate,
    theory::Md1,
};

/// Seeds of a coverage experiment, and how many intervals may cover: 92 % to 98 %.
const SEEDS: u64 = 400;
const COVERING: std::ops::RangeInclusive<usize> = 368..=392;

fn poisson(rate_per_s: f64, input_tokens: u64, output_tokens: u64) -> RequestSource {
    RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s,
        input: LengthSpec::Fixed { tokens: input_tokens },
        output: LengthSpec::Fixed { tokens: output_tokens },
    }
}

/// One slot, and each request takes one step of a second: M/D/1.
fn queue(load: f64, requests: u64, target_s: f64) -> Setup {
    Setup {
        workload: Workload { source: poisson(load, 1, 1), requests },
        engine: EngineSpec {
            max_num_batched_tokens: 100,
            max_num_seqs: 1,
            kv_capacity_tokens: 1_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Affine { fixed_s: 1.0, per_item_s: 0.0 },
        slo: Slo { ttft_s: target_s, tpot_s: 1.0, share: 0.9 },
        seed: 0,
    }
}

/// Qwen2.5-7B on one H100.
fn batching(rate_per_s: f64, requests: u64) -> Setup {
    Setup {
        workload: Workload { source: poisson(rate_per_s, 1_024, 256), requests },
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
        slo: Slo { ttft_s: 0.1, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    }
}

/// The figures that are told, in this order.
const FIGURES: [&str; 15] = [
    "mean TTFT",
    "TTFT P50",
    "TTFT P90",
    "TTFT P99",
    "target share",
    "throughput",
    "E2E P50",
    "E2E P90",
    "E2E P99",
    "TPOT P50",
    "TPOT P90",
    "TPOT P99",
    "ITL P50",
    "ITL P90",
    "ITL P99",
];

fn figures(intervals: &Intervals) -> [Option<Interval>; 15] {
    let Intervals { ttft_mean_s, ttft_p50_s, ttft_p90_s, ttft_p99_s, slo_share, .. } = *intervals;
    let Intervals { throughput_per_s, .. } = *intervals;
    let first = [ttft_mean_s, ttft_p50_s, ttft_p90_s, ttft_p99_s, slo_share, throughput_per_s];
    let more = [intervals.e2e_s, intervals.tpot_s, intervals.itl_s].concat();
    std::array::from_fn(|index| first.get(index).copied().unwrap_or_else(|| more[index - 6]))
}

const KEEP: Keep = Keep { precision: Precision::Bounded, requests: false, intervals: true };

/// What a set-up does, alone or with its requests dealt out to so many replicas.
fn run_of(setup: &Setup, replicas: u64) -> Run {
    let fleet = RoundRobin::new(setup, replicas).unwrap();
    simulate_fleet(&fleet, KEEP).unwrap().unwrap().total
}

/// Of 400 seeds, the interval of each figure whose truth is given must cover it at 368 to 392; that
/// of the figures `cautious`, at 368 or more. Figures without a truth that is a number are not judged.
fn assert_covering(setup: &Setup, replicas: u64, truths: &[f64], cautious: &[&str]) {
    let mut hits = [0; 15];
    let mut told = [0_u64; 15];
    for seed in 0..SEEDS {
        let run = run_of(&Setup { seed, ..setup.clone() }, replicas);
        let intervals = figures(&run.intervals().unwrap());
        for (index, (interval, truth)) in intervals.iter().zip(truths).enumerate() {
            if let Some(Interval { low, high, .. }) = interval {
                told[index] += 1;
                hits[index] += usize::from((*low..=*high).contains(truth));
            }
        }
    }
    println!("{FIGURES:?}: {hits:?} of {told:?}");
    for ((name, truth), (hits, told)) in FIGURES.iter().zip(truths).zip(hits.iter().zip(told)) {
        if truth.is_nan() {
            continue;
        }
        let is_fair = *hits <= *COVERING.end() || cautious.contains(name);
        assert!(hits >= COVERING.start() && is_fair, "{name}: {hits} of {SEEDS}");
        // A percentile may be withheld where chance makes a run look too correlated.
        assert!(told + 4 >= SEEDS, "{name} told by {told}");
    }
}

fn assert_covers_md1(load: f64, requests: u64) {
    let theory = Md1::new(load, 1.0).unwrap();
    let response_s = |tail: f64| theory.response_exceeded_s(tail).unwrap();
    let setup = queue(load, requests, response_s(0.05));
    let truths = [
        theory.mean_wait_s() + 1.0,
        response_s(0.5),
        response_s(0.1),
        response_s(0.01),
        0.95,
        load,
        // The one token of an answer is its first.
        response_s(0.5),
        response_s(0.1),
        response_s(0.01),
    ];
    assert_covering(&setup, 1, &truths, &[]);
}

#[test]
fn a_queue_is_covered_at_a_moderate_load() {
    assert_covers_md1(0.6, 200_000);
}

#[test]
fn a_queue_is_covered_at_a_high_load() {
    assert_covers_md1(0.8, 400_000);
}

/// The truth from a run a hundred times as long. Of the figures `untold` there is too little in most
/// runs.
fn assert_covers_batching(setup: &Setup, replicas: u64, (cautious, untold): (&[&str], &[&str])) {
    let mut long = setup.clone();
    long.workload.requests = 8_000_000;
    long.seed = 99_999;
    let run = run_of(&long, replicas);
    let rate_per_s = setup.workload.source.rate_per_s().unwrap();
    let p = |of: &Distribution| PERCENTS.map(|percent| of.percentile(percent).unwrap());
    let [p50, p90, p99] = p(&run.ttft);
    let first = [run.ttft.mean().unwrap(), p50, p90, p99, run.slo_share(), rate_per_s];
    let judged =
        |(figure, truth): (&&str, f64)| if untold.contains(figure) { f64::NAN } else { truth };
    let truths = [&first[..], &p(&run.e2e), &p(&run.tpot), &p(&run.itl)].concat();
    let truths: Vec<f64> = FIGURES.iter().zip(truths).map(judged).collect();
    assert_covering(setup, replicas, &truths, cautious);
}

#[test]
fn batching_is_covered() {
    assert_covers_batching(&batching(15.0, 80_000), 1, (&NARROW, &FEW));
}

/// What spans few bins of a histogram, or steps that alternate: more doubt is told than there is.
const NARROW: [&str; 4] = ["E2E P50", "ITL P50", "ITL P90", "ITL P99"];
/// Where all outputs are of one length, a request is slow because its neighbours are: 80,000 requests
/// are worth about 2,000, which is where a P99 begins to be told, and 200, where a P90 does.
const FEW: [&str; 2] = ["E2E P99", "TPOT P99"];

#[test]
fn lengths_that_vary_are_covered() {
    let mut setup = batching(12.0, 80_000);
    let spread = |median_tokens| LengthSpec::LogNormal {
        median_tokens,
        sigma: 0.7,
        min_tokens: 1,
        max_tokens: 8_192,
    };
    setup.workload.source = RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s: 12.0,
        input: spread(900.0),
        output: spread(220.0),
    };
    assert_covers_batching(&setup, 1, (&["TPOT P50", "ITL P50", "ITL P90", "ITL P99"], &[]));
}

/// Percentiles are those of all requests, whichever replica served them. Requests that are dealt out
/// in turn come to each replica more evenly than by chance. Half of them share a bin with the median,
/// and the place within it is taken as that of independent draws: more doubt than there is.
#[test]
fn a_fleet_is_covered() {
    let cautious = [&["TTFT P50", "TPOT P50"], &NARROW[..]].concat();
    let few = [&["E2E P90", "TPOT P90"], &FEW[..]].concat();
    assert_covers_batching(&batching(60.0, 80_000), 4, (&cautious, &few));
}

/// What one engine's values by bins are worth is what the parts of a fleet are worth together, however
/// many windows each had; and nobody pays who did not ask.
#[test]
fn what_was_followed_is_all_values() {
    for replicas in [1, 3] {
        let setup = batching(20.0, 9_000);
        let run = run_of(&setup, replicas);
        let growth = run.windows.growth.as_ref().unwrap();
        assert_eq!(growth.len(), run.windows.len().div_ceil(ROW));
        for (latency, all) in
            [(Latency::Tpot, &run.tpot), (Latency::Itl, &run.itl), (Latency::E2e, &run.e2e)]
        {
            let number = |to| growth.below_bin(latency, Growth::BINS, 0, to);
            assert_eq!(number(growth.len()), all.count());
            assert!((1..growth.len()).all(|row| number(row) >= number(row - 1)));
            let middle = number(growth.len() / 2) as f64 / all.count() as f64;
            assert!((0.4..0.6).contains(&middle), "{latency:?}: {middle}");
        }
        let fleet = RoundRobin::new(&setup, replicas).unwrap();
        let mut plain = simulate_fleet(&fleet, Keep::default()).unwrap().unwrap().total;
        assert!(plain.windows.growth.is_none());
        assert_eq!(plain.intervals().unwrap().itl_s, [None; 3]);
        plain.windows.growth.clone_from(&run.windows.growth);
        assert_eq!(plain, run);
    }
}

/// What is not told: intervals of a run too short for them, of one whose rate changes.
#[test]
fn too_few_requests_tell_nothing() {
    let run = simulate(&queue(0.5, 150, 2.0), Keep::default()).unwrap();
    assert_eq!(run.intervals(), None);
    let run = simulate(&queue(0.5, 1_500, 2.0), Keep::default()).unwrap();
    let intervals = run.intervals().unwrap();
    assert!(intervals.ttft_p50_s.is_some());
    assert_eq!(intervals.ttft_p99_s, None);
}

/// Without a warm-up to cut, a percentile's value is the run's own.
#[test]
fn values_are_the_runs_own() {
    let run = simulate(&batching(15.0, 20_000), KEEP).unwrap();
    let settled = Settled { run: &run, from: 0, to: run.windows.len().div_ceil(ROW) };
    let found = [
        (settled.of_ttft(), &run.ttft),
        (settled.of(Latency::Tpot), &run.tpot),
        (settled.of(Latency::Itl), &run.itl),
        (settled.of(Latency::E2e), &run.e2e),
    ];
    for (intervals, all) in found {
        for (interval, percent) in intervals.iter().zip(PERCENTS) {
            // What varies slowly is worth too few independent values for its P99.
            let Some(Interval { value, low, high, .. }) = *interval else {
                assert!(percent > 50.0);
                continue;
            };
            assert_eq!(Some(value), all.percentile(percent));
            // Many gaps are one and the same.
            assert!(low <= value && value <= high, "{interval:?}");
            assert!(low < high || std::ptr::eq(all, &run.itl), "{interval:?}");
        }
    }
}
