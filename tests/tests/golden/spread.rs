//! The published tables against our own arrivals: another sample of the same world.
//!
//! The published table is one run per rate. Over `SEEDS` runs of ours with mean `m` and standard
//! deviation `s`, one further run lies within `m ± t · s · √(1 + 1/n)` with 99.9 % probability
//! (`t` is Student's quantile with n − 1 degrees of freedom). Every printed figure must, give or
//! take half of its last digit. Near saturation the single run is widely spread; below it the
//! interval is narrow, and the test proves that it tells neighbouring rates apart.

use sim_core::ArrivalProcess;

use super::{
    reference::{run, summary},
    tables::BY_RATE,
    traffic::generated,
};

const SEEDS: u64 = 32;
/// Student's t, 31 degrees of freedom, 99.95th percentile.
const T: f64 = 3.633;

/// An interval for one further run.
#[derive(Clone, Copy, Debug)]
struct Interval {
    mean: f64,
    half_width: f64,
}

impl Interval {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        Self { mean, half_width: T * (variance * (1.0 + 1.0 / n)).sqrt() }
    }

    /// Whether it holds a printed figure, whose last digit may have been rounded by half.
    fn holds(&self, printed: &str) -> bool {
        let value: f64 = printed.parse().expect("a printed number");
        let half_digit = if printed.contains('.') { 0.05 } else { 0.5 };
        (value - self.mean).abs() <= self.half_width + half_digit
    }
}

/// Each printed figure over our own runs at `rate`, in the printed units.
fn intervals(rate: f64) -> [Interval; 7] {
    let mut columns: [Vec<f64>; 7] = Default::default();
    for seed in 0..SEEDS {
        let figures = summary(&run(&generated(ArrivalProcess::Poisson, rate, 2_000, seed)));
        let row = [
            figures.ttft_p50 * 1e3,
            figures.ttft_p99 * 1e3,
            figures.tpot_p50 * 1e3,
            figures.tpot_p99 * 1e3,
            figures.output_tps,
            figures.goodput,
            figures.slo_ok * 100.0,
        ];
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns.map(|column| Interval::of(&column))
}

#[test]
fn published_figures_are_likely_runs_of_ours() {
    const TPOT_P50: usize = 2;
    const OUTPUT_TPS: usize = 4;
    let rows: Vec<[Interval; 7]> = BY_RATE.iter().map(|&(rate, _)| intervals(rate)).collect();
    for ((rate, printed), intervals) in BY_RATE.iter().zip(&rows) {
        for (figure, interval) in printed.iter().zip(intervals) {
            assert!(interval.holds(figure), "at {rate}: printed {figure}, ours {interval:?}");
        }
    }
    // The intervals must also be able to say no: below saturation the neighbouring rate's figure
    // lies outside.
    for index in 0..4 {
        for column in [TPOT_P50, OUTPUT_TPS] {
            let other = BY_RATE[index + 1].1[column];
            let interval = rows[index][column];
            assert!(!interval.holds(other), "at {}: {interval:?} takes {other}", BY_RATE[index].0);
        }
    }
}
