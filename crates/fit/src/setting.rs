//! What stands behind a measured run: its engine, its place, its client, and what was measured.

use std::collections::BTreeMap;

use catalog::kernel::{Deployment, Engine, KernelGpu, Precision, VersionClass, formats};
use sim_core::{
    memory::{Architecture, FeedForward},
    step_time::kernel::{GpuRates, Spread},
};

use crate::{
    client::{Client, client},
    errors::Predicted,
    kv::kv_tokens,
    networks::{bare_name, network},
    replay::{Replayed, Rules},
    rows::Row,
};

/// GPUs that one engine of these runs has at most: rows of more nodes were not understood.
const MOST_RANKS: u64 = 8;
/// Requests in flight that one engine of these runs has at most.
const MOST_IN_FLIGHT: f64 = 2048.0;
/// Weight of a run whose speculative decoding is not told.
const UNTOLD_WEIGHT: f64 = 0.4;

/// A measured run with all that it takes to predict it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The network.
    pub architecture: Architecture,
    /// The GPU.
    pub gpu: GpuRates,
    /// How the replica is spread.
    pub spread: Spread,
    /// Engine, GPU and checkpoint as far as constants depend on them.
    pub deployment: Deployment,
    /// The engine's rules.
    pub rules: Rules,
    /// The client.
    pub client: Client,
    /// Prompt of a request, tokens.
    pub prompt_tokens: f64,
    /// Network, GPU, ranks, engine and precision: what is left out together.
    pub group: String,
    /// The same whatever the ranks.
    pub family: String,
    /// Runs that differ only in their load.
    pub curve: String,
    /// What was measured.
    pub measured: Measured,
    /// Whether constants are fitted on it.
    pub is_fitted: bool,
    /// Whether it counts in the errors.
    pub counts: bool,
    /// Its weight in a fit.
    pub weight: f64,
    /// Weight of its TTFT beside that of its TPOT.
    pub ttft_weight: f64,
    /// Output per second beside the largest of its curve.
    pub utilisation: f64,
}

/// What a client measured, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Time to the first token.
    pub ttft_s: Option<f64>,
    /// Whether that is a median, not a mean.
    pub is_median: bool,
    /// Mean time per further token.
    pub tpot_s: f64,
    /// Mean time to the last token.
    pub e2e_s: Option<f64>,
    /// Whether that was derived as `TTFT + (output − 1) · TPOT`.
    pub is_derived: bool,
    /// Tokens of output per second.
    pub output_per_s: f64,
}

/// Runs that can be predicted, and why others cannot.
#[derive(Debug, Default)]
pub struct Settings {
    /// In the order of the file.
    pub all: Vec<Setting>,
    /// How many were left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
}

impl Settings {
    /// Understand rows as far as possible.
    #[must_use]
    pub fn of(rows: &[Row], gpus: &[KernelGpu]) -> Self {
        let mut settings = Self::default();
        let mut seen = std::collections::BTreeSet::new();
        for row in rows {
            let reason = match Setting::of(row, gpus) {
                Ok(setting) => {
                    let Measured { ttft_s, tpot_s, .. } = setting.measured;
                    let bits = (ttft_s.map(f64::to_bits), tpot_s.to_bits());
                    if seen.insert((setting.curve.clone(), row.load.clone(), bits)) {
                        settings.all.push(setting);
                        continue;
                    }
                    "the same row again"
                }
                Err(reason) => reason,
            };
            *settings.left_out.entry(reason).or_default() += 1;
        }
        settings.set_utilisations();
        settings
    }

    fn set_utilisations(&mut self) {
        let mut largest: BTreeMap<String, f64> = BTreeMap::new();
        for setting in &self.all {
            let most = largest.entry(setting.curve.clone()).or_insert(0.0);
            if setting.measured.output_per_s > *most {
                *most = setting.measured.output_per_s;
            }
        }
        for setting in &mut self.all {
            let most = largest.get(&setting.curve).copied().unwrap_or(f64::INFINITY);
            setting.utilisation = setting.measured.output_per_s / most;
        }
    }
}

/// Where a row comes from, as far as that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// InferenceX: lengths of 80 to 100 % of the nominal ones, launchers of its own.
    pub is_inferencex: bool,
    /// The gap analysis of AIConfigurator: fixed lengths, client untold.
    pub is_gap: bool,
    /// GuideLLM: lengths of half to one and a half.
    pub is_guidellm: bool,
    /// inference-perf with few prompts again and again.
    pub is_inference_perf: bool,
    /// `blis_training`: prompts were all seen before.
    pub is_blis: bool,
}

impl Origin {
    fn of(source: &str) -> Self {
        Self {
            is_inferencex: source == "inferencex_aic",
            is_gap: source == "aic_gap",
            is_guidellm: source.starts_with("inferno_guidellm"),
            is_inference_perf: source.starts_with("k8s_inference_perf"),
            is_blis: source == "blis_training",
        }
    }

    const fn client(self) -> &'static str {
        if self.is_inferencex {
            "inferencex"
        } else if self.is_gap {
            "aiconfigurator"
        } else if self.is_guidellm {
            "guidellm"
        } else if self.is_inference_perf || self.is_blis {
            "inference-perf"
        } else {
            ""
        }
    }
}

impl Setting {
    /// What stands behind a row, or why that is not known.
    fn of(row: &Row, gpus: &[KernelGpu]) -> Result<Self, &'static str> {
        let origin = Origin::of(&row.source);
        let engine = Engine::read(&row.engine).ok_or("an engine without rules")?;
        let precision = Precision::read(&row.weight_dtype).ok_or("precision untold")?;
        let gpu = gpus.iter().find(|gpu| gpu.names.contains(&row.gpu)).ok_or("a GPU untimed")?;
        let tp = row.tp.ok_or("parallelism untold")?;
        let ranks = row.n_gpus.ok_or("parallelism untold")?;
        if ranks > MOST_RANKS {
            return Err("more than one node");
        }
        let load: f64 = row.load.parse().map_err(|_| "load untold")?;
        if load > MOST_IN_FLIGHT {
            return Err("more in flight than one engine takes");
        }
        let (input, output) = (row.isl.ok_or("lengths untold")?, row.osl.ok_or("lengths untold")?);
        let tpot_s = row.tpot_mean_ms.ok_or("no TPOT")? * 1e-3;
        let ttft_s = row.ttft_mean_ms.or(row.ttft_p50_ms).map(|ms| ms * 1e-3);
        refuse_what_is_odd(row, origin, engine, ttft_s)?;
        let architecture = network(&row.model).ok_or("a network without facts")?;
        let groups = row.dp.unwrap_or(1).clamp(1, ranks);
        let whole = row.ep.as_deref().and_then(|it| it.parse::<u64>().ok()).unwrap_or(1);
        let spread = Spread {
            ranks,
            attention_groups: groups,
            expert_ranks: whole.clamp(1, ranks),
            stages: 1,
        };
        let is_experts = |it: &FeedForward| matches!(it, FeedForward::Experts { .. });
        let deployment = Deployment {
            engine,
            version: VersionClass::of(engine, &row.engine_version, &row.date),
            generation: gpu.generation,
            precision,
            has_experts: architecture.layers.iter().any(|layer| is_experts(&layer.feed_forward)),
            has_ranks: ranks > 1,
            client: origin.client().to_owned(),
            kv_bytes: None,
        };
        let rates = gpu.rates();
        let kv_tokens =
            kv_tokens(&architecture, &formats(&deployment, &rates), &spread, gpu.memory_gb * 1e9);
        if kv_tokens < input + output {
            return Err("does not fit by the model's memory");
        }
        let rules = Rules::of(row, origin, engine, gpu, (load, kv_tokens));
        let client = client(row, origin, load)?;
        let name = bare_name(&row.model);
        let may_speculate =
            ["deepseek", "qwen3.5", "glm-5"].iter().any(|known| name.starts_with(known));
        let is_fitted = gpu.generation >= 9 && !deployment.client.is_empty();
        let (dtype, place) = (precision.name(), &gpu.slug);
        let group = format!("{name} {place} tp{tp}x{groups} {} {dtype}", engine.name());
        let curve = format!("{group} {}", row.curve());
        let mut setting = Self {
            architecture,
            gpu: rates,
            spread,
            rules,
            prompt_tokens: input,
            family: format!("{name} {place} {} {dtype}", engine.name()),
            curve,
            group,
            measured: Measured {
                ttft_s,
                is_median: row.ttft_mean_ms.is_none(),
                tpot_s,
                e2e_s: row.e2e_mean_ms.map(|ms| ms * 1e-3),
                is_derived: row.e2e_mean_ms.is_none(),
                output_per_s: 0.0,
            },
            is_fitted,
            counts: is_fitted && !may_speculate,
            weight: if may_speculate { UNTOLD_WEIGHT } else { 1.0 },
            ttft_weight: ttft_weight(origin, engine, &name, may_speculate),
            utilisation: 0.0,
            deployment,
            client,
        };
        setting.derive(row);
        Ok(setting)
    }

    /// What a replay says of the run, by the statistics that were measured.
    pub(crate) fn predicted(&self, run: &Replayed) -> Predicted {
        let ttft_s = if self.measured.is_median { run.ttft_median_s } else { run.ttft_mean_s };
        let e2e_s = if self.measured.is_derived {
            ttft_s + (self.client.mean_output() - 1.0) * run.tpot_mean_s
        } else {
            run.e2e_mean_s
        };
        Predicted { ttft_s, tpot_s: run.tpot_mean_s, e2e_s }
    }

    /// What the row leaves to be derived.
    fn derive(&mut self, row: &Row) {
        let output = self.client.mean_output();
        let measured = &mut self.measured;
        if measured.is_derived {
            measured.e2e_s = measured.ttft_s.map(|it| it + (output - 1.0) * measured.tpot_s);
        }
        measured.output_per_s = row.output_tok_s.unwrap_or_else(|| {
            self.client.requests_per_s(measured.e2e_s.unwrap_or(f64::INFINITY)) * output
        });
    }
}

/// How much a TTFT counts beside a TPOT: little or nothing where launch flags or drafts are guessed.
fn ttft_weight(origin: Origin, engine: Engine, name: &str, may_speculate: bool) -> f64 {
    match engine {
        Engine::TensorRt if origin.is_gap && name == "llama-3.1-8b" => 0.0,
        _ if may_speculate => 0.2,
        Engine::Sglang if origin.is_inferencex => 0.2,
        _ => 0.5,
    }
}

fn refuse_what_is_odd(
    row: &Row,
    origin: Origin,
    engine: Engine,
    ttft_s: Option<f64>,
) -> Result<(), &'static str> {
    if !matches!(row.spec_decode.as_str(), "" | "none") {
        Err("speculative decoding")
    } else if row.quality == "C" {
        Err("suspect by its source's own notes")
    } else if row.engine_version.contains("V0") {
        Err("an engine without rules")
    } else if origin.is_gap && engine == Engine::Vllm && row.gpu == "H200-SXM" {
        Err("beyond the roofline, or the same at every load")
    } else if row.model == "nvidia/Qwen3-32B-NVFP4" {
        Err("parallelism wrong by a factor of five")
    } else if origin.is_inferencex
        && row.isl.is_some_and(|tokens| tokens < 2000.0)
        && ttft_s.is_some_and(|ttft_s| ttft_s > 7.0)
    {
        Err("a cold start within the run")
    } else {
        Ok(())
    }
}
