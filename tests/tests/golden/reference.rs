//! The published outcomes, read from `golden/roofline`, and runs over them.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::Deserialize;
use sim_core::{
    EngineSpec, Keep, Precision, RequestSource, Rules, Run, Setup, Slo, StepTimeSpec, Trace,
    TraceRow, Workload, simulate,
};

/// Exact percentiles and every request.
pub(crate) const KEEP_ALL: Keep =
    Keep { precision: Precision::Exact, requests: true, intervals: false };

/// The target behind the published summaries: 1 s to the first token, 40 ms per token after it,
/// for 99 of 100 requests.
pub(crate) const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

/// The settings of one published run, in SI units.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Settings {
    params: f64,
    weight_bytes: f64,
    kv_bytes_per_token: f64,
    kv_capacity_tokens: u64,
    peak_flops: f64,
    bandwidth: f64,
    mfu: f64,
    step_overhead: f64,
    max_num_batched_tokens: u64,
    max_num_seqs: u64,
}

/// The published summary of one run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Summary {
    pub(crate) ttft_p50: f64,
    pub(crate) ttft_p99: f64,
    pub(crate) tpot_p50: f64,
    pub(crate) tpot_p99: f64,
    pub(crate) output_tps: f64,
    pub(crate) goodput: f64,
    pub(crate) slo_ok: f64,
}

/// What `meta.json` says of one file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Published {
    pub(crate) setup: Settings,
    pub(crate) itl_p50: f64,
    pub(crate) itl_p99: f64,
    pub(crate) itl_max: f64,
    pub(crate) itl_count: u64,
    #[serde(rename = "summary_slo_1s_40ms")]
    pub(crate) summary: Summary,
}

/// One row of a file.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) arrival_s: f64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) first_token_s: f64,
    pub(crate) finish_s: f64,
}

/// A published run: its settings, figures and rows.
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) published: Published,
    pub(crate) rows: Vec<Row>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/roofline")
}

impl Reference {
    /// Every published run, by name.
    pub(crate) fn all() -> Vec<Self> {
        let text = std::fs::read_to_string(folder().join("meta.json")).expect("meta.json is there");
        let meta: BTreeMap<String, Published> = serde_json::from_str(&text).expect("it is JSON");
        meta.into_iter()
            .map(|(name, published)| {
                let rows = csv::Reader::from_path(folder().join(format!("{name}.csv")))
                    .expect("the file is there")
                    .deserialize()
                    .collect::<Result<Vec<Row>, _>>()
                    .expect("its rows are numbers");
                Self { name, published, rows }
            })
            .collect()
    }

    /// The run called `roofline_{name}`.
    pub(crate) fn named(name: &str) -> Self {
        let wanted = format!("roofline_{name}");
        Self::all().into_iter().find(|r| r.name == wanted).expect("a published run of this name")
    }

    /// Its arrivals and lengths.
    pub(crate) fn trace(&self) -> Arc<Trace> {
        let rows = self
            .rows
            .iter()
            .map(|row| TraceRow {
                arrival_s: row.arrival_s,
                input_tokens: row.input_tokens,
                output_tokens: row.output_tokens,
            })
            .collect();
        Arc::new(Trace::new(rows).expect("published rows are in order"))
    }

    /// The set-up that replays it `speed` times as fast as recorded.
    pub(crate) fn setup(&self, speed: f64) -> Setup {
        let settings = &self.published.setup;
        Setup {
            workload: Workload {
                source: RequestSource::Replay { trace: self.trace(), speed },
                requests: self.rows.len() as u64,
            },
            engine: EngineSpec {
                max_num_batched_tokens: settings.max_num_batched_tokens,
                max_num_seqs: settings.max_num_seqs,
                kv_capacity_tokens: settings.kv_capacity_tokens,
            },
            rules: Rules::Reference,
            step_time: StepTimeSpec::Roofline {
                params: settings.params,
                weight_bytes: settings.weight_bytes,
                kv_bytes_per_token: settings.kv_bytes_per_token,
                peak_flops: settings.peak_flops,
                bandwidth_bytes_per_s: settings.bandwidth,
                mfu: settings.mfu,
                overhead_s: settings.step_overhead,
            },
            slo: SLO,
            seed: 0,
        }
    }
}

/// The set-up with other weights to read per step.
pub(crate) fn with_weight_bytes(mut setup: Setup, bytes: f64) -> Setup {
    if let StepTimeSpec::Roofline { weight_bytes, .. } = &mut setup.step_time {
        *weight_bytes = bytes;
    }
    setup
}

/// The set-up with another rate: another speed of the replay, or another rate of the generator.
pub(crate) fn with_rate(mut setup: Setup, rate: f64) -> Setup {
    match &mut setup.workload.source {
        RequestSource::Replay { speed, .. } => *speed = rate,
        RequestSource::Generated { rate_per_s, .. } => *rate_per_s = rate,
        RequestSource::Mixed(_) | RequestSource::Dealt(_) => panic!("no reference has a mix"),
    }
    setup
}

/// Simulate, and hold the run to its truths.
pub(crate) fn run(setup: &Setup) -> Run {
    let run = simulate(setup, KEEP_ALL).expect("a valid set-up");
    assert_eq!(run.verify(), Ok(()));
    run
}

/// A percentile of a distribution that is known to hold values.
pub(crate) fn percentile(distribution: &sim_core::Distribution, percent: f64) -> f64 {
    distribution.percentile(percent).expect("there are values")
}

/// The figures that the published summary has, from a run.
pub(crate) fn summary(run: &Run) -> Summary {
    Summary {
        ttft_p50: percentile(&run.ttft, 50.0),
        ttft_p99: percentile(&run.ttft, 99.0),
        tpot_p50: percentile(&run.tpot, 50.0),
        tpot_p99: percentile(&run.tpot, 99.0),
        output_tps: run.output_tokens_per_s(),
        goodput: run.goodput_per_s(),
        slo_ok: run.slo_share(),
    }
}
