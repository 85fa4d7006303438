//! Static against continuous batching and the five overload policies from our own seeds: what was
//! printed has to be a likely run of ours.

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, RequestSource, Rules, Run, Setup, Slo, StepTimeSpec,
    Workload,
    engine::{
        BatchRule, BatchSetup, OverloadPolicy, ServiceNoise, ServiceTime, SlotsRun, SlotsSetup,
        simulate_batches, simulate_slots,
    },
    quantile::normal_quantile,
    simulate,
    workload::{Arrivals, LengthPair, Mix, RateProfile, RequestClass, RequestLengths},
};

use super::batching::{SEEDS, assert_predicted};

const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 };
const STEP: StepTimeSpec = StepTimeSpec::Affine { fixed_s: 0.02, per_item_s: 0.0005 };

fn poisson(rate_per_s: f64, profile: RateProfile, lengths: RequestLengths) -> RequestSource {
    let class = RequestClass {
        weight: 1.0,
        lengths,
        slo: SLO,
        priority: 0,
        shared_prefix: None,
        sessions: None,
        patience: None,
    };
    let process = ArrivalProcess::Poisson;
    let arrivals = Arrivals { process, rate_per_s, bursts: None, profile };
    RequestSource::Mixed(Arc::new(Mix { arrivals, classes: vec![class] }))
}

/// Outputs of 4 to 512 tokens, the whole part of a lognormal with median 40 and σ 0.9.
fn outputs() -> RequestLengths {
    const POINTS: u64 = 20_000;
    let pair = |point: u64| {
        let z = normal_quantile((point as f64 + 0.5) / POINTS as f64).expect("a probability");
        let tokens = libm::floor(40.0 * libm::exp(0.9 * z)) as u64;
        LengthPair { input_tokens: 0, output_tokens: tokens.clamp(4, 512) }
    };
    RequestLengths::Pairs((0..POINTS).map(pair).collect())
}

fn static_run(workload: &Workload, seed: u64) -> Run {
    let setup = BatchSetup {
        workload: workload.clone(),
        rule: BatchRule { max_batch: 16, max_delay_s: 0.0 },
        step_time: STEP,
        noise: ServiceNoise::None,
        slo: SLO,
        seed,
    };
    simulate_batches(&setup, Keep::default()).expect("a valid set-up")
}

fn continuous_run(workload: &Workload, seed: u64) -> Run {
    let engine = EngineSpec {
        max_num_batched_tokens: 1_000_000,
        max_num_seqs: 16,
        kv_capacity_tokens: 1_000_000,
    };
    let setup = Setup {
        workload: workload.clone(),
        engine,
        rules: Rules::Reference,
        step_time: STEP,
        slo: SLO,
        seed,
    };
    simulate(&setup, Keep::default()).expect("a valid set-up")
}

/// TTFT P50 and P99 and end-to-end P50 and P99, in seconds, as printed.
type Row = [f64; 4];

/// By rate: static batching, its share of useful slot-iterations, and continuous batching.
const PRINTED: [(f64, Row, f64, Row); 4] = [
    (1.0, [0.84, 8.93, 2.95, 15.31], 0.54, [0.03, 0.04, 0.83, 7.40]),
    (2.0, [3.07, 25.48, 8.12, 35.65], 0.32, [0.03, 0.04, 0.86, 7.75]),
    (4.0, [626.50, 1154.36, 630.88, 1160.27], 0.26, [0.03, 0.05, 0.92, 8.23]),
    (8.0, [1119.34, 2120.89, 1123.57, 2127.28], 0.26, [0.05, 2.16, 1.24, 9.57]),
];

#[test]
fn static_and_continuous_batching_are_within_sampling_error() {
    for (rate_per_s, of_static, useful, of_continuous) in PRINTED {
        let source = poisson(rate_per_s, RateProfile::Constant, outputs());
        let workload = Workload { source, requests: 8_000 };
        let fixed: Vec<Run> = (0..SEEDS).map(|seed| static_run(&workload, seed)).collect();
        let going: Vec<Run> = (0..SEEDS).map(|seed| continuous_run(&workload, seed)).collect();
        for (name, runs, printed) in
            [("static", &fixed, of_static), ("continuous", &going, of_continuous)]
        {
            let figures =
                [("TTFT", 50.0), ("TTFT", 99.0), ("end to end", 50.0), ("end to end", 99.0)];
            for ((figure, percent), printed_s) in figures.into_iter().zip(printed) {
                let of = |run: &Run| {
                    let values = if figure == "TTFT" { &run.ttft } else { &run.e2e };
                    values.percentile(percent).expect("latencies")
                };
                let values: Vec<f64> = runs.iter().map(of).collect();
                let what = format!("{name} at {rate_per_s} req/s: {figure} P{percent}");
                assert_predicted(&values, printed_s, 0.005, &what);
            }
        }
        let shares: Vec<f64> = fixed.iter().map(Run::useful_slot_share).collect();
        let what = format!("useful slot-iterations at {rate_per_s} req/s");
        assert_predicted(&shares, useful, 0.005, &what);
        assert!(going.iter().all(|run| run.useful_slot_share() > 1.0 - 1e-12));
    }
}

/// Two minutes at 130 % of what 8 slots of 0.4 s can serve, and three at 70 %.
fn overloaded(overload: OverloadPolicy, seed: u64) -> SlotsRun {
    let one = RequestLengths::Pairs([LengthPair { input_tokens: 0, output_tokens: 1 }].into());
    let profile = RateProfile::step(120.0, 14.0 / 26.0);
    let setup = SlotsSetup {
        workload: Workload { source: poisson(26.0, profile, one), requests: 8_000 },
        slots: 8,
        service: ServiceTime::Exponential { mean_s: 0.4 },
        overload,
        useful_within_s: 2.0,
        horizon_s: Some(300.0),
        seed,
    };
    let run = simulate_slots(&setup).expect("a valid set-up");
    assert!(run.counts.is_conserved(), "{:?}", run.counts);
    run
}

#[test]
fn the_five_overload_policies_are_within_sampling_error() {
    let open = OverloadPolicy::UNBOUNDED;
    let bounded = |limit| OverloadPolicy { queue_limit: Some(limit), ..open };
    // In time per second, late, rejected, dropped, and the P99 of waits in seconds, as printed.
    let printed = [
        (open, 3.5, 4679.0, 0.0, 0.0, 36.9),
        (bounded(40), 11.4, 1583.0, 718.0, 0.0, 2.5),
        (bounded(20), 16.1, 172.0, 738.0, 0.0, 1.4),
        (bounded(10), 16.3, 66.0, 785.0, 0.0, 0.8),
        (OverloadPolicy { max_wait_s: Some(1.0), ..open }, 16.2, 150.0, 0.0, 733.0, 1.0),
    ];
    for (policy, in_time_per_s, late, rejected, dropped, p99_wait_s) in printed {
        let runs: Vec<SlotsRun> = (0..SEEDS).map(|seed| overloaded(policy, seed)).collect();
        let column = |of: fn(&SlotsRun) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
        let told = |what: &str| format!("{policy:?}: {what}");
        let in_time = column(|run| run.counts.in_time as f64 / 300.0);
        assert_predicted(&in_time, in_time_per_s, 0.05, &told("in time"));
        assert_predicted(&column(|run| run.counts.late as f64), late, 0.5, &told("late"));
        let turned_away = column(|run| run.counts.rejected as f64);
        assert_predicted(&turned_away, rejected, 0.5, &told("rejected"));
        assert_predicted(&column(|run| run.counts.dropped as f64), dropped, 0.5, &told("dropped"));
        let waits = column(|run| run.wait.percentile(99.0).expect("waits"));
        assert_predicted(&waits, p99_wait_s, 0.05, &told("P99 wait"));
        assert_predicted(&column(|run| run.counts.offered as f64), 5741.0, 0.5, &told("offered"));
    }
}
