//! Little's law on one server: the printed run is a likely run of ours, and both sides agree.

use sim_core::{
    ArrivalProcess, Keep, LengthSpec, Run, Slo, StepTimeSpec, Workload,
    engine::{BatchRule, BatchSetup, ServiceNoise, simulate_batches},
    workload::RequestSource,
};

use super::{assert_close, batching::prediction};

const SEEDS: u64 = 12;
const REQUESTS: u64 = 200_000;

/// One first-come-first-served server with lognormal service of mean 100 ms and sigma 0.5.
fn served(rate_per_s: f64, seed: u64) -> Run {
    let workload = Workload {
        source: RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            input: LengthSpec::Fixed { tokens: 0 },
            output: LengthSpec::Fixed { tokens: 1 },
        },
        requests: REQUESTS,
    };
    let setup = BatchSetup {
        workload,
        rule: BatchRule { max_batch: 1, max_delay_s: 0.0 },
        step_time: StepTimeSpec::Affine { fixed_s: 0.1, per_item_s: 0.0 },
        noise: ServiceNoise::LogNormal { sigma: 0.5 },
        slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
        seed,
    };
    simulate_batches(&setup, Keep::default()).expect("a valid set-up")
}

/// Observed rate per second, mean time in the system in milliseconds, and the time-average number
/// in the system by the engine's integral; the law's other side must be the same.
fn three_averages(run: &Run) -> [f64; 3] {
    let rate_per_s = run.completed as f64 / run.duration_s();
    let mean_s = run.e2e.mean().expect("latencies");
    let in_system = run.in_system_request_s / run.duration_s();
    assert_close(rate_per_s * mean_s, in_system, "rate times mean time in the system");
    [rate_per_s, mean_s * 1e3, in_system]
}

/// Means and half-widths, over our seeds, within which a further run falls 999 times in 1,000.
fn intervals(rate_per_s: f64) -> [(f64, f64); 3] {
    let rows: Vec<[f64; 3]> =
        (0..SEEDS).map(|seed| three_averages(&served(rate_per_s, seed))).collect();
    [0, 1, 2].map(|column| prediction(&rows.iter().map(|row| row[column]).collect::<Vec<f64>>()))
}

#[test]
fn the_printed_run_is_a_likely_run_of_ours() {
    // Observed rate, mean time in the system (ms) and number in the system, each with half of its
    // last printed digit.
    let printed = [(8.006, 0.0005), (356.7, 0.05), (2.856, 0.0005)];
    for ((mean, half), (figure, digit)) in intervals(8.0).into_iter().zip(printed) {
        assert!((mean - figure).abs() <= half + digit, "{mean} ± {half}, printed {figure}");
    }
    // The intervals can say no: with 5 % more requests every figure lies outside.
    for ((mean, half), (figure, digit)) in intervals(8.4).into_iter().zip(printed) {
        assert!((mean - figure).abs() > half + digit, "{mean} ± {half} takes {figure}");
    }
}
