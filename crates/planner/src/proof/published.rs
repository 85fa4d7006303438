//! Figures that others printed, beside ours: the same settings under other arrivals.
//!
//! A printed figure is one run. Ours are several with other random numbers, so it should lie within
//! the prediction interval for one more run.

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Run, Setup, Slo,
    StepTimeSpec, Workload, engine::ServiceNoise, quantile::student_t_quantile, random::split_mix,
    simulate,
};

use super::{
    answer::{Printed, PublishedCell},
    check::Finding,
    records::mixed,
};

/// Limits of the published 7B model on one H100.
pub(super) const H100: EngineSpec =
    EngineSpec { max_num_batched_tokens: 8192, max_num_seqs: 256, kv_capacity_tokens: 959_123 };
/// Its step time.
pub(super) const H100_STEP: StepTimeSpec = StepTimeSpec::Roofline {
    params: 7.6e9,
    weight_bytes: 15.2e9,
    kv_bytes_per_token: 57_344.0,
    peak_flops: 989e12,
    bandwidth_bytes_per_s: 3.35e12,
    mfu: 0.5,
    overhead_s: 0.5e-3,
};

/// Runs behind each mean.
const RUNS: u64 = 12;
/// One in a thousand further runs falls outside.
const ONE_SIDED: f64 = 0.9995;
/// Requests of a run: as many as printed under continuous batching, fewer than printed of batches,
/// which makes the interval wider and the comparison milder.
const CONTINUOUS_REQUESTS: u64 = 2_000;
const BATCH_REQUESTS: u64 = 20_000;

/// A published setting: how it is run, its rate, and its printed figures with half of their last
/// digit.
struct Setting {
    kind: Kind,
    rate_per_s: f64,
    cells: &'static [(Printed, f64, f64)],
}

#[derive(Clone, Copy)]
enum Kind {
    /// 1,024 tokens in and 256 out on [`H100`].
    Continuous,
    /// Passes of 40 ms + 5 ms a request with lognormal noise.
    Batches { max_batch: u64, max_delay_s: f64 },
}

use Printed::{
    LatencyP50, LatencyP99, MeanBatch, OutputTokens, TpotP99, TtftP50, TtftP99, WithinTarget,
};

const PRINTED: [Setting; 6] = [
    Setting {
        kind: Kind::Continuous,
        rate_per_s: 1.0,
        cells: &[(TtftP50, 0.034, 5e-4), (TtftP99, 0.060, 5e-4), (TpotP99, 0.0056, 5e-5)],
    },
    Setting {
        kind: Kind::Continuous,
        rate_per_s: 10.0,
        cells: &[(TtftP50, 0.037, 5e-4), (TtftP99, 0.121, 5e-4), (TpotP99, 0.0089, 5e-5)],
    },
    Setting {
        kind: Kind::Continuous,
        rate_per_s: 20.0,
        cells: &[(TtftP50, 0.065, 5e-4), (TtftP99, 0.242, 5e-4), (TpotP99, 0.0229, 5e-5)],
    },
    Setting {
        kind: Kind::Continuous,
        rate_per_s: 40.0,
        cells: &[(TpotP99, 0.0412, 5e-5), (OutputTokens, 6187.0, 0.5), (WithinTarget, 0.01, 5e-3)],
    },
    Setting {
        kind: Kind::Batches { max_batch: 8, max_delay_s: 0.02 },
        rate_per_s: 60.0,
        cells: &[(LatencyP50, 0.092, 5e-4), (LatencyP99, 0.215, 5e-4), (MeanBatch, 3.7, 0.05)],
    },
    Setting {
        kind: Kind::Batches { max_batch: 32, max_delay_s: 0.05 },
        rate_per_s: 140.0,
        cells: &[(LatencyP50, 0.227, 5e-4), (LatencyP99, 0.765, 5e-4), (MeanBatch, 18.9, 0.05)],
    },
];
/// How many settings there are.
pub(super) const SETTINGS: usize = PRINTED.len();

/// Run one setting several times.
pub(super) fn check(seed: u64, index: usize) -> Result<Finding, String> {
    let setting = &PRINTED[index];
    let mut runs = Vec::new();
    for replication in 0..RUNS {
        let seed = split_mix(seed ^ ((index as u64 + 1) << 48) ^ (replication << 40));
        runs.push(simulate(&setup(setting, seed), Keep::default()).map_err(|e| e.to_string())?);
    }
    let cells = setting.cells.iter().map(|&(figure, printed, half_digit)| {
        let values: Vec<f64> = runs.iter().map(|run| measured(figure, run)).collect();
        let (ours, half) = prediction(&values);
        PublishedCell { setting: index as u32, figure, printed, ours, half: half + half_digit }
    });
    Ok(Finding {
        requests: runs.iter().map(|run| run.offered).sum(),
        bits: mixed(runs.iter().map(|run| run.last_finish_s.to_bits())),
        cells: cells.collect(),
        ..Finding::default()
    })
}

fn setup(setting: &Setting, seed: u64) -> Setup {
    let fixed = |tokens| LengthSpec::Fixed { tokens };
    let (input, output, requests, engine, rules, step_time) = match setting.kind {
        Kind::Continuous => {
            (fixed(1024), fixed(256), CONTINUOUS_REQUESTS, H100, Rules::Reference, H100_STEP)
        }
        Kind::Batches { max_batch, max_delay_s } => (
            fixed(0),
            fixed(1),
            BATCH_REQUESTS,
            EngineSpec { max_num_seqs: max_batch, ..H100 },
            Rules::WholeBatches { max_delay_s, noise: ServiceNoise::LogNormal { sigma: 0.3 } },
            StepTimeSpec::Affine { fixed_s: 0.04, per_item_s: 0.005 },
        ),
    };
    let source = RequestSource::Generated {
        process: ArrivalProcess::Poisson,
        rate_per_s: setting.rate_per_s,
        input,
        output,
    };
    Setup {
        workload: Workload { source, requests },
        engine,
        rules,
        step_time,
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed,
    }
}

fn measured(figure: Printed, run: &Run) -> f64 {
    let value = match figure {
        TtftP50 => run.ttft.percentile(50.0),
        TtftP99 => run.ttft.percentile(99.0),
        TpotP99 => run.tpot.percentile(99.0),
        LatencyP50 => run.e2e.percentile(50.0),
        LatencyP99 => run.e2e.percentile(99.0),
        OutputTokens => Some(run.output_tokens_per_s()),
        WithinTarget => Some(run.slo_share()),
        MeanBatch => Some(run.completed as f64 / run.steps as f64),
    };
    value.unwrap_or(0.0)
}

/// Mean, and half of the width within which one more run falls 999 times in 1,000.
fn prediction(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let t = student_t_quantile(ONE_SIDED, n - 1.0).unwrap_or(f64::INFINITY);
    (mean, t * (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt())
}
