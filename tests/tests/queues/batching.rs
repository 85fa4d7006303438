//! Dynamic batching: recorded runs exactly, printed tables within their sampling error.

use sim_core::{
    ArrivalProcess, Keep, LengthSpec, Precision, Slo, StepTimeSpec, Workload,
    engine::{BatchRule, BatchSetup, ServiceNoise, simulate_batches},
    workload::RequestSource,
};

use super::{Table, assert_close, replay};

const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 };
const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn assert_reproduces(name: &str, rule: BatchRule, step_time: StepTimeSpec, mean_batch: f64) {
    let table = Table::read(&format!("{name}.csv"));
    let factors = Table::read(&format!("{name}_jitter.csv")).numbers("jitter_factor");
    let arrivals_s = table.numbers("arrival_s");
    let setup = BatchSetup {
        workload: replay(&arrivals_s, std::iter::repeat(1)),
        rule,
        step_time,
        noise: ServiceNoise::Recorded(factors.into()),
        slo: SLO,
        seed: 0,
    };
    let run = simulate_batches(&setup, KEEP_ALL).expect("a valid set-up");
    let records = run.requests.as_ref().expect("kept");
    assert_eq!(records.len(), arrivals_s.len());
    for (record, done_s) in records.iter().zip(table.numbers("done_s")) {
        assert_close(record.finish_s, done_s, name);
    }
    let mut waits_s: Vec<f64> =
        table.numbers("start_s").iter().zip(&arrivals_s).map(|(start, at)| start - at).collect();
    waits_s.sort_by(f64::total_cmp);
    let median_s = waits_s[waits_s.len().div_ceil(2) - 1];
    let ours_s = run.queue_wait.percentile(50.0).expect("waits");
    assert!((ours_s - median_s).abs() <= 1e-9, "{ours_s} {median_s}");
    assert_close(run.completed as f64 / run.steps as f64, mean_batch, "mean batch");
}

const PASS: StepTimeSpec = StepTimeSpec::Affine { fixed_s: 0.04, per_item_s: 0.005 };

#[test]
fn recorded_batches_are_reproduced() {
    let rule = |max_batch, max_delay_s| BatchRule { max_batch, max_delay_s };
    let single = StepTimeSpec::Affine { fixed_s: 0.1, per_item_s: 0.0 };
    assert_reproduces("batch_b1_rho80", rule(1, 0.0), single, 1.0);
    assert_reproduces("batch_b8_t20", rule(8, 0.02), PASS, 3.6101083032490973);
    assert_reproduces("batch_b32_t50", rule(32, 0.05), PASS, 18.099547511312217);
}

struct Measured {
    p50_ms: f64,
    p99_ms: f64,
    mean_batch: f64,
    mean_wait_ms: f64,
}

fn measured(
    rule: BatchRule,
    step_time: StepTimeSpec,
    sigma: f64,
    rate: f64,
    seed: u64,
) -> Measured {
    let workload = Workload {
        source: RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s: rate,
            input: LengthSpec::Fixed { tokens: 0 },
            output: LengthSpec::Fixed { tokens: 1 },
        },
        requests: 150_000,
    };
    let noise = ServiceNoise::LogNormal { sigma };
    let setup = BatchSetup { workload, rule, step_time, noise, slo: SLO, seed };
    let run = simulate_batches(&setup, Keep::default()).expect("a valid set-up");
    let ms = |percent| run.e2e.percentile(percent).expect("latencies") * 1e3;
    Measured {
        p50_ms: ms(50.0),
        p99_ms: ms(99.0),
        mean_batch: run.completed as f64 / run.steps as f64,
        mean_wait_ms: run.queue_wait.mean().expect("waits") * 1e3,
    }
}

/// Seeds behind each mean.
pub(super) const SEEDS: u64 = 12;

/// Mean over the seeds and the half-width within which a further run falls 999 times in 1,000: a
/// printed figure is one such run, and some eighty are compared. 4.437 is the 99.95 % quantile of t
/// with 11 degrees of freedom.
pub(super) fn prediction(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, 4.437 * (variance * (1.0 + 1.0 / n)).sqrt())
}

pub(super) fn assert_predicted(values: &[f64], printed: f64, last_digit: f64, what: &str) {
    let (mean, half) = prediction(values);
    assert!(
        (mean - printed).abs() <= half + last_digit,
        "{what}: {mean} ± {half}, printed {printed}"
    );
}

/// (rate, p50 ms, p99 ms, mean batch) for each policy, as printed; over-capacity cells are absent.
type Row = (u64, f64, &'static [(f64, f64, f64, f64)]);
const PRINTED: [Row; 5] = [
    (1, 0.0, &[(10.0, 54.0, 196.0, 1.0), (20.0, 197.0, 1191.0, 1.0)]),
    (
        8,
        0.0,
        &[
            (10.0, 52.0, 125.0, 1.1),
            (20.0, 63.0, 141.0, 1.3),
            (60.0, 92.0, 211.0, 3.5),
            (90.0, 152.0, 578.0, 6.6),
        ],
    ),
    (
        8,
        0.02,
        &[
            (10.0, 66.0, 127.0, 1.2),
            (20.0, 70.0, 141.0, 1.6),
            (60.0, 92.0, 215.0, 3.7),
            (90.0, 153.0, 534.0, 6.6),
        ],
    ),
    (
        32,
        0.0,
        &[
            (10.0, 52.0, 125.0, 1.1),
            (20.0, 63.0, 141.0, 1.3),
            (60.0, 91.0, 208.0, 3.5),
            (90.0, 117.0, 299.0, 6.6),
            (140.0, 228.0, 730.0, 18.7),
        ],
    ),
    (
        32,
        0.05,
        &[
            (10.0, 92.0, 144.0, 1.5),
            (20.0, 91.0, 152.0, 2.0),
            (60.0, 101.0, 214.0, 4.5),
            (90.0, 121.0, 303.0, 7.4),
            (140.0, 227.0, 765.0, 18.9),
        ],
    ),
];

#[test]
fn the_five_policies_by_five_rates_are_within_sampling_error() {
    for (max_batch, max_delay_s, cells) in PRINTED {
        let rule = BatchRule { max_batch, max_delay_s };
        for &(rate, p50_ms, p99_ms, mean_batch) in cells {
            let runs: Vec<Measured> =
                (0..SEEDS).map(|seed| measured(rule, PASS, 0.3, rate, seed)).collect();
            let what = format!("batch {max_batch}, delay {max_delay_s} s, {rate} req/s");
            let column = |of: fn(&Measured) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
            assert_predicted(&column(|m| m.p50_ms), p50_ms, 0.5, &format!("{what}: P50"));
            assert_predicted(&column(|m| m.p99_ms), p99_ms, 0.5, &format!("{what}: P99"));
            assert_predicted(
                &column(|m| m.mean_batch),
                mean_batch,
                0.05,
                &format!("{what}: batch"),
            );
        }
    }
}

/// (utilisation, simulated mean wait, P50, P99) as printed, all in milliseconds.
const UTILISATION: [(f64, f64, f64, f64); 6] = [
    (0.30, 27.4, 106.0, 420.0),
    (0.50, 64.0, 130.0, 588.0),
    (0.70, 148.7, 187.0, 964.0),
    (0.80, 252.3, 260.0, 1425.0),
    (0.90, 558.8, 477.0, 2733.0),
    (0.95, 1171.5, 891.0, 5479.0),
];

#[test]
fn the_utilisation_table_and_pollaczek_khinchine() {
    // e^(σ²) for the σ of the published runs.
    const E_TO_A_QUARTER: f64 = 1.284_025_416_687_741_4;
    let (mean_s, sigma) = (0.1, 0.5);
    let single = StepTimeSpec::Affine { fixed_s: mean_s, per_item_s: 0.0 };
    for (load, wait_ms, p50_ms, p99_ms) in UTILISATION {
        let rule = BatchRule { max_batch: 1, max_delay_s: 0.0 };
        let rate = load / mean_s;
        let runs: Vec<Measured> =
            (0..SEEDS).map(|seed| measured(rule, single, sigma, rate, seed)).collect();
        let column = |of: fn(&Measured) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
        let what = format!("load {load}");
        assert_predicted(&column(|m| m.mean_wait_ms), wait_ms, 0.05, &format!("{what}: wait"));
        assert_predicted(&column(|m| m.p50_ms), p50_ms, 0.5, &format!("{what}: P50"));
        assert_predicted(&column(|m| m.p99_ms), p99_ms, 0.5, &format!("{what}: P99"));
        // λ E[S²] / (2 (1 − ρ)), with E[S²] = m² e^(σ²) of the lognormal.
        let second_moment = mean_s * mean_s * E_TO_A_QUARTER;
        let formula_ms = rate * second_moment / (2.0 * (1.0 - load)) * 1e3;
        let (mean, half) = prediction(&column(|m| m.mean_wait_ms));
        assert!((mean - formula_ms).abs() <= half, "{what}: {mean} ± {half}, formula {formula_ms}");
    }
}
