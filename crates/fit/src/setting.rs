//! What stands behind a measured run: its engine, its client, its place.

use sim_core::{
    memory::{Architecture, FeedForward, Mixer, Reach},
    step_time::kernel::{Format, Formats, GpuRates, Spread},
};

use crate::{
    assets::{self, GpuFacts},
    replay::{Pace, Rules, Sent},
    rows::Row,
};

/// Engines whose loops are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineKind {
    /// vLLM, its V1 engine.
    Vllm,
    /// TensorRT-LLM.
    TensorRt,
    /// SGLang.
    Sglang,
}

/// Precision of a checkpoint's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// BF16 or FP16.
    Half,
    /// FP8.
    Fp8,
    /// NVFP4.
    Nvfp4,
    /// MXFP4.
    Mxfp4,
    /// Four bits with 16-bit arithmetic.
    Int4,
}

/// A measured run with all that it takes to predict it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The network.
    pub architecture: Architecture,
    /// The GPU.
    pub gpu: GpuRates,
    /// Generation of the GPU: 8 Ampere, 9 Hopper, 10 Blackwell.
    pub generation: u64,
    /// How it is spread.
    pub spread: Spread,
    /// The engine.
    pub engine: EngineKind,
    /// Precision.
    pub precision: Precision,
    /// Formats before any fitted factor.
    pub formats: Formats,
    /// Whether there are experts.
    pub has_experts: bool,
    /// The engine's rules.
    pub rules: Rules,
    /// The client's pace.
    pub pace: Pace,
    /// The client's requests.
    pub requests: Vec<Sent>,
    /// Model, GPU, TP, engine, precision.
    pub group: String,
    /// Model, GPU, engine, precision.
    pub family: String,
    /// The group and the lengths.
    pub curve: String,
    /// Measured TTFT, seconds.
    pub ttft_s: Option<f64>,
    /// Whether that is a median, not a mean.
    pub is_ttft_median: bool,
    /// Measured TPOT, seconds.
    pub tpot_s: f64,
    /// Measured E2E, or derived as `TTFT + (osl − 1)·TPOT`, seconds.
    pub e2e_s: Option<f64>,
    /// Whether E2E is derived.
    pub is_e2e_derived: bool,
    /// Mean output.
    pub osl: f64,
    /// Measured or derived output tokens per second.
    pub output_per_s: f64,
    /// Offered load: in flight or per second.
    pub load: f64,
    /// Weight of the row in a fit.
    pub weight: f64,
    /// Weight of its TTFT beside its TPOT.
    pub ttft_weight: f64,
    /// Whether constants are fitted on it.
    pub is_fitted: bool,
    /// Whether it counts in error figures.
    pub counts: bool,
    /// The run.
    pub run_id: String,
    /// Its source.
    pub source: String,
    /// The engine's version.
    pub version: String,
    /// The share of the largest throughput of its curve.
    pub utilisation: f64,
    /// prompt tokens
    pub isl: f64,
    /// client
    pub client: &'static str,
    /// class of versions
    pub version_class: &'static str,
    /// constants that matter
    pub terms: Vec<(crate::parameters::Role, usize)>,
}

fn client(source: &str) -> &'static str {
    match source {
        "inferencex_aic" => "inferencex",
        "aic_gap" => "aic",
        s if s.starts_with("inferno") => "guidellm",
        s if s.starts_with("k8s") || s.starts_with("blis") => "inference_perf",
        _ => "other",
    }
}

fn version_class(engine: EngineKind, version: &str, date: &str) -> &'static str {
    let v = version.trim_start_matches('v');
    let mut parts = v.split('.').map(|it| it.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u64>().unwrap_or(0));
    let (major, minor, patch) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let known = v.starts_with(|c: char| c.is_ascii_digit());
    match engine {
        EngineKind::Vllm => {
            let minor = if known { minor } else if date >= "2026-02" { 16 } else if date >= "2025-12" { 13 } else { 11 };
            if minor <= 12 { "early" } else if minor <= 17 { "middle" } else { "late" }
        }
        EngineKind::TensorRt => {
            let m = if known { 10 * major + minor } else { 10 };
            if m <= 10 { "early" } else { "late" }
        }
        EngineKind::Sglang => if known && patch <= 6 { "early" } else { "late" },
    }
}

/// Uniform numbers in [0, 1) that fill it evenly: the multiples of the golden section, a stream for each
/// purpose.
fn even(index: usize, stream: f64) -> f64 {
    let value = (index as f64 + 0.5) * 0.618_033_988_749_894_9 + stream;
    value - value.floor()
}

fn generation(gpu: &str) -> u64 {
    match gpu {
        "A100-SXM-80GB" | "RTX-4090" | "L40S" => 8,
        "H100-SXM" | "H200-SXM" | "H200-NVL" | "MI300X" => 9,
        _ => 10,
    }
}

fn precision(text: &str) -> Option<Precision> {
    Some(match text {
        "bf16" | "fp16/bf16" | "bfloat16" | "fp16" => Precision::Half,
        "fp8" | "fp8(native)" => Precision::Fp8,
        "nvfp4" => Precision::Nvfp4,
        "mxfp4" => Precision::Mxfp4,
        "int4" | "awq-int4" => Precision::Int4,
        _ => return None,
    })
}

/// Formats by precision, generation and whether there are experts.
fn formats(precision: Precision, gpu: &GpuRates, generation: u64, experts: bool, engine: EngineKind) -> Formats {
    let f16 = Format { bytes: 2.0, flops: gpu.flops_16 * gpu.share_16 };
    let f8 = if gpu.flops_8 > 0.0 && gpu.share_8 > 0.0 {
        Format { bytes: 1.0, flops: gpu.flops_8 * gpu.share_8 }
    } else {
        Format { bytes: 1.0, flops: 0.8 * f16.flops }
    };
    let f4 = if gpu.flops_4 > 0.0 {
        Format { bytes: 0.5625, flops: gpu.flops_4 * gpu.share_4 }
    } else {
        Format { bytes: 0.5625, flops: 0.8 * f16.flops }
    };
    let i4 = Format { bytes: 0.52, flops: 0.75 * f16.flops };
    let (mixing, dense, expert) = match precision {
        Precision::Half => (f16, f16, f16),
        Precision::Fp8 => (f8, f8, f8),
        Precision::Nvfp4 if experts => (f8, f4, f4),
        Precision::Nvfp4 => (f4, f4, f4),
        Precision::Mxfp4 => {
            let flops = if generation >= 10 { f8.flops } else { 0.75 * f16.flops };
            (f16, f16, Format { bytes: 0.531, flops })
        }
        Precision::Int4 if experts => (f16, i4, i4),
        Precision::Int4 => (i4, i4, i4),
    };
    let kv_bytes = match precision {
        Precision::Nvfp4 => 1.0,
        Precision::Fp8 if engine == EngineKind::TensorRt || generation >= 10 => 1.0,
        Precision::Mxfp4 if engine == EngineKind::TensorRt => 1.0,
        _ => 2.0,
    };
    Formats { mixing, dense, experts: expert, head: f16, kv_bytes }
}

/// Bytes of weights of one GPU and of one token of KV cache on it.
fn memory(architecture: &Architecture, formats: &Formats, spread: &Spread) -> (f64, f64) {
    let hidden = architecture.hidden_size as f64;
    let ranks = spread.ranks as f64;
    let at = spread.attention_ranks() as f64;
    let mut weights = 4.0 * hidden * architecture.vocab_size as f64 / ranks;
    let mut kv = 0.0;
    for layer in &architecture.layers {
        for mixer in &layer.mixers {
            match mixer {
                Mixer::Attention(a) => {
                    let (q, k) = ((a.heads * a.key_dim) as f64, (a.kv_heads * a.key_dim) as f64);
                    weights += formats.mixing.bytes * hidden * 2.0 * (q + k) / at;
                    if a.reach == Reach::Full {
                        let heads = if a.kv_heads as f64 / at > 1.0 { a.kv_heads as f64 / at } else { 1.0 };
                        kv += heads * (a.key_dim + a.value_dim) as f64 * formats.kv_bytes;
                    }
                }
                Mixer::Latent(l) => {
                    let q = l.q_rank as f64 * (hidden + (l.heads * (l.nope_dim + l.rope_dim)) as f64 / at);
                    let k = (l.kv_rank + l.rope_dim) as f64 * hidden
                        + l.kv_rank as f64 * (l.heads * (l.nope_dim + l.value_dim)) as f64 / at;
                    let o = hidden * (l.heads * l.value_dim) as f64 / at;
                    weights += formats.mixing.bytes * (q + k + o);
                    kv += (l.kv_rank + l.rope_dim) as f64 * formats.kv_bytes;
                }
                Mixer::Recurrent(_) => weights += formats.mixing.bytes * hidden * hidden * 6.0 / at,
            }
        }
        match layer.feed_forward {
            FeedForward::None => {}
            FeedForward::Dense { width, matrices } => {
                weights += formats.dense.bytes * hidden * (width * matrices) as f64 / ranks;
            }
            FeedForward::Experts { count, width, shared_width, matrices, .. } => {
                weights += formats.experts.bytes * hidden * (count * width * matrices) as f64 / ranks;
                weights += formats.dense.bytes * hidden * (shared_width * matrices) as f64 / ranks;
            }
        }
    }
    (weights, kv)
}

/// The setting of a run, or why it is left out.
pub fn setting(row: &Row, gpus: &[GpuFacts]) -> Result<Setting, &'static str> {
    let engine = match row.engine.as_str() {
        "vllm" => EngineKind::Vllm,
        "trtllm" => EngineKind::TensorRt,
        "sglang" => EngineKind::Sglang,
        _ => return Err("an engine without rules"),
    };
    let precision = precision(&row.weight_dtype).ok_or("an unknown precision")?;
    let facts = assets::gpu(gpus, &row.gpu).ok_or("a GPU without rates")?;
    let gpu = facts.rates();
    let generation = generation(&row.gpu);
    let architecture = assets::network(&row.model).ok_or("a network without facts")?;
    let tp = row.tp.ok_or("no parallelism")?;
    let dp = row.dp.unwrap_or(1).max(1);
    let ranks = row.n_gpus.ok_or("no number of GPUs")?;
    if ranks > 8 {
        return Err("more than one node");
    }
    let (isl, osl) = (row.isl.ok_or("no lengths")?, row.osl.ok_or("no lengths")?);
    let load: f64 = row.load.parse().map_err(|_| "no load")?;
    let tpot_s = row.tpot_mean_ms.ok_or("no TPOT")? * 1e-3;
    let ep = row.ep.as_deref().and_then(|it| it.parse::<u64>().ok()).unwrap_or(1).max(1);
    let attention_groups = if dp > 1 { dp.min(ranks) } else { 1 };
    let spread = Spread { ranks, attention_groups, expert_ranks: ep.min(ranks), stages: 1 };
    let has_experts = architecture
        .layers
        .iter()
        .any(|it| matches!(it.feed_forward, FeedForward::Experts { .. }));
    let formats = formats(precision, &gpu, generation, has_experts, engine);
    let is_family = row.source == "inferencex_aic";
    let is_gap = row.source == "aic_gap";
    let name = row.model.rsplit('/').next().unwrap_or(&row.model).to_owned();
    let name = name.strip_suffix("-Instruct").map_or(name.clone(), str::to_owned);
    if is_gap && engine == EngineKind::Vllm && (row.gpu == "H200-SXM") {
        return Err("anomalous: load-independent or beyond the roofline");
    }
    if name == "Qwen3-32B-NVFP4" || row.quality == "C" {
        return Err("anomalous or suspect");
    }
    if row.weight_dtype.contains("flag") || row.engine_version.contains("V0") {
        return Err("an engine or a flag that is not modelled");
    }
    if !matches!(row.spec_decode.as_str(), "" | "none") {
        return Err("speculative decoding");
    }
    let ttft_s = row.ttft_mean_ms.or(row.ttft_p50_ms).map(|it| it * 1e-3);
    if is_family && isl < 2000.0 && ttft_s.is_some_and(|it| it > 7.0) {
        return Err("a cold start within the run");
    }
    let may_speculate = ["DeepSeek", "Qwen3.5", "GLM-5"].iter().any(|it| name.contains(it));
    let (weights, kv) = memory(&architecture, &formats, &spread);
    let memory_bytes = facts.memory_gb * 1e9;
    let kv_tokens = (0.9 * memory_bytes - weights - 5e9) / kv * attention_groups as f64;
    if kv_tokens < isl + osl {
        return Err("does not fit");
    }
    let is_large = facts.memory_gb > 80.0 && generation >= 9;
    let mut rules = Rules {
        is_prompt_first: engine == EngineKind::Sglang,
        is_chunked: engine != EngineKind::TensorRt,
        reserved_share: match engine {
            EngineKind::Vllm => 0.0,
            EngineKind::TensorRt => 1.0,
            EngineKind::Sglang => 0.5,
        },
        budget_tokens: row.max_num_batched_tokens.unwrap_or(if is_large { 8192.0 } else { 2048.0 }),
        most_running: row.max_num_seqs.unwrap_or(if is_large { 1024 } else { 256 }) as usize,
        kv_tokens,
        receive_every: 1,
    };
    let batch = if row.load_mode == "concurrency" { load } else { 0.0 };
    if (engine == EngineKind::TensorRt && (is_family || is_gap)) || (engine == EngineKind::Vllm && is_gap) {
        rules.budget_tokens = isl + batch + 64.0;
    }
    let is_fitted = generation >= 9
        && (is_family || is_gap || row.source.starts_with("inferno") || row.source.starts_with("k8s") || row.source == "blis_training");
    let mut ttft_weight = if may_speculate { 0.2 } else { 0.5 };
    if engine == EngineKind::Sglang {
        if facts.memory_gb >= 160.0 {
            rules.budget_tokens = 16384.0;
        }
        if is_family {
            ttft_weight = 0.2;
            let slow = generation == 9 || name.contains("GLM-5");
            rules.receive_every = match (slow, load >= 16.0) {
                (true, false) => 20,
                (true, true) => 30,
                (false, false) => 40,
                (false, true) => 60,
            };
        }
    }
    if is_gap && engine == EngineKind::TensorRt && name.starts_with("Llama-3.1-8B") {
        ttft_weight = 0.0;
    }
    let is_prefix_kept = row.source == "blis_training" || row.run_id.contains("prefix_caching");
    let (pace, count) = match row.load_mode.as_str() {
        "concurrency" => {
            if load < 1.0 { return Err("no load"); }
            let concurrency = load as usize;
            let count = if row.source == "inferno_guidellm_exp1" {
                row.n_requests.unwrap_or(50.0) as usize
            } else {
                (10 * concurrency).min(1200.max(3 * concurrency))
            };
            (Pace::InFlight(concurrency), count.max(concurrency))
        }
        "rate" => {
            let count = row.n_requests.unwrap_or(600.0);
            (Pace::Every(1.0 / load), (count as usize).clamp(1, 3000))
        }
        _ => return Err("a burst"),
    };
    if load > 2048.0 {
        return Err("more in flight than one engine takes");
    }
    let spread_of_lengths = if is_family {
        (0.8, 1.0)
    } else if row.isl_dist.starts_with("uniform[0.5,1.5]") {
        (0.5, 1.5)
    } else {
        (1.0, 1.0)
    };
    let (low, high) = spread_of_lengths;
    let requests = (0..count)
        .map(|at| {
            let of = |nominal: f64, stream: f64| nominal * (low + (high - low) * even(at, stream));
            let output = of(osl, 0.37).round() as u64;
            let prompt = if low < high { of(isl, 0.11) * if at % 2 == 0 { 1.0 } else { 1.0 } } else { isl };
            let cached = if is_prefix_kept { (prompt - 16.0).floor() } else { 0.0 };
            Sent { prompt: (prompt - cached).round(), cached, output: output.max(1) }
        })
        .collect::<Vec<_>>();
    let mean_out = requests.iter().map(|it| it.output as f64).sum::<f64>() / count as f64;
    let derived = ttft_s.map(|it| it + (mean_out - 1.0) * tpot_s);
    let e2e_s = row.e2e_mean_ms.map(|it| it * 1e-3).or(derived);
    let output_per_s = row.output_tok_s.unwrap_or_else(|| match (pace, e2e_s) {
        (Pace::InFlight(most), Some(e2e_s)) => most as f64 * mean_out / e2e_s,
        (Pace::Every(gap_s), _) => mean_out / gap_s,
        _ => 0.0,
    });
    let dtype = &row.weight_dtype;
    let group = format!("{name}|{}|tp{tp}x{dp}|{}|{dtype}", row.gpu, row.engine);
    let family = format!("{name}|{}|{}|{dtype}", row.gpu, row.engine);
    let curve = format!("{group}|{}|{isl}|{osl}|{}|{}", ep, row.engine_version, row.source);
    let curve = if low == 0.5 { format!("{group}|{}", row.isl_dist) } else if row.source.starts_with("k8s") || row.source.starts_with("blis") { format!("{group}|{}", row.run_id.split("/stage").next().unwrap_or("")) } else { curve };
    Ok(Setting {
        architecture,
        gpu,
        generation,
        spread,
        engine,
        precision,
        formats,
        has_experts,
        rules,
        pace,
        requests,
        group,
        family,
        curve,
        ttft_s,
        is_ttft_median: row.ttft_mean_ms.is_none(),
        tpot_s,
        e2e_s,
        is_e2e_derived: row.e2e_mean_ms.is_none(),
        osl: mean_out,
        output_per_s,
        load,
        weight: if may_speculate { 0.4 } else { 1.0 },
        ttft_weight,
        is_fitted,
        counts: is_fitted && !may_speculate,
        run_id: row.run_id.clone(),
        source: row.source.clone(),
        version: row.engine_version.clone(),
        utilisation: 0.0,
        isl,
        client: client(&row.source),
        version_class: version_class(engine, &row.engine_version, &row.date),
        terms: Vec::new(),
    })
}
