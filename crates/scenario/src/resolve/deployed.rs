//! A deployment: memory as the engine's version shares it out, and the step time of all GPUs of one
//! engine together.
//!
//! ```text
//!   architecture ─┬─▶ parameters, bytes of weights ─┐
//!                 └─▶ sim_core::memory ─▶ KV cache  ├─▶ roofline of the whole engine
//!   device ───────────▶ peak, bandwidth, memory ────┘
//! ```

use std::sync::Arc;

use catalog::{Checkpoint, Device, Fact, FactKind, LookUpError, WeightFormat};
use sim_core::{
    StepTimeSpec,
    float::greater,
    memory::{
        Basis, Budget, Deployment, EngineVersion, GIB, Gpu, Hold, KvElement, MemoryPlan, Mixer,
        Term, plan,
    },
};

use crate::{
    field::{ENGINES, KV_DTYPES, WEIGHTS, field, word_at},
    schema::Scenario,
    wide::{Changes, EngineNumbers, networks},
};

use super::{
    error::ResolveError,
    ledger::{Ledger, LedgerEntry, Provenance},
    memory::Memory,
    numbers::{MFU, OVERHEAD_S, ROOFLINE, TYPED, assumed, capacity},
    traffic::Traffic,
};

/// A node has no more GPUs, or two of them.
const MOST_GPUS: u64 = 16;

/// The step time of a deployment, its memory, and the tokens of its KV cache.
pub(crate) fn resolve(
    scenario: &Scenario,
    ledger: &mut Ledger,
) -> Result<EngineNumbers, ResolveError> {
    let found = Deployed::new(scenario)?;
    let spec = found.step_time(ledger);
    let (memory, tokens) = found.memory(ledger)?;
    Ok((spec, memory, tokens))
}

/// Changes of the set-up that may make room, the smallest of each kind first, with what they do.
pub(crate) fn wider(scenario: &Scenario) -> Vec<Changes> {
    let Ok(found) = Deployed::new(scenario) else { return Vec::new() };
    let now = found.tp();
    let more = [2, 4, 8, MOST_GPUS].into_iter().filter(|tp| *tp > now);
    let tp = more
        .map(|tp| (tp.to_string(), format!("weights and KV cache shared by {tp} GPUs")))
        .collect();
    let own = found.checkpoint.config.weight_bytes;
    let lighter = WeightFormat::ALL.into_iter().filter(|format| {
        let bytes = format.bytes();
        computes_in(&found.device, *format)
            && bytes.mixing + bytes.experts < own.mixing + own.experts
    });
    let weights =
        lighter.map(|it| (it.word().to_owned(), format!("weights in {}", it.name()))).collect();
    let mut larger = catalog::search_devices("").unwrap_or_default();
    larger.retain(|it| it.maker == found.device.maker && it.total_bytes > found.device.total_bytes);
    larger.sort_by(|a, b| a.total_bytes.total_cmp(&b.total_bytes));
    let told = |it: &Device| {
        (it.slug.clone(), format!("{} of memory", quantity::memory(it.memory_bytes.value)))
    };
    let half = KvElement::Bytes(2);
    let halved = ("fp8".to_owned(), "keys and values in FP8".to_owned());
    vec![
        ("deploy.tp", tp),
        ("weights", weights),
        ("kv_dtype", (found.deployment.kv_element == half).then_some(halved).into_iter().collect()),
        ("gpu", larger.iter().map(told).collect()),
    ]
}

/// Whether a GPU has arithmetic for a format; weights of integers are unpacked on any.
const fn computes_in(device: &Device, format: WeightFormat) -> bool {
    match format {
        WeightFormat::Fp8 => device.peaks.fp8.is_some(),
        WeightFormat::Mxfp4 | WeightFormat::Nvfp4 => device.peaks.fp4.is_some(),
        WeightFormat::Fp32 | WeightFormat::Bf16 | WeightFormat::Int8 | WeightFormat::Int4 => true,
    }
}

/// Names looked up, and the memory shared out.
pub(super) struct Deployed<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) checkpoint: Arc<Checkpoint>,
    pub(super) device: Device,
    pub(super) version: EngineVersion,
    pub(super) deployment: Deployment,
    plan: MemoryPlan,
    budget: Budget,
}

impl<'a> Deployed<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Result<Self, ResolveError> {
        let checkpoint = checkpoint(scenario)?;
        let device = catalog::device(&scenario.gpu).map_err(|error| match error {
            LookUpError::NotFound(it) => {
                ResolveError::UnknownGpu { name: it.name, suggestions: it.suggestions }
            }
            other => ResolveError::Deployment(sentence(&other)),
        })?;
        let version = version(scenario);
        let config = &checkpoint.config;
        let gpu = Gpu {
            total_bytes: device.total_bytes,
            has_fast_links: device.has_fast_links,
            is_measured: device.is_measured,
        };
        let mut deployment = Deployment::on(gpu, version, config.context_tokens);
        deployment.parallel.tp = scenario.deploy.tp.unwrap_or(1);
        deployment.max_num_batched_tokens = scenario.sched.max_num_batched_tokens;
        deployment.max_num_seqs = scenario.sched.max_num_seqs;
        deployment.weight_bytes = config.weight_bytes;
        deployment.kv_element = kv_element(scenario, &checkpoint);
        deployment.drafted_tokens = scenario.spec.tokens;
        deployment.num_blocks = scenario.deploy.num_gpu_blocks;
        deployment.given.weights_bytes =
            scenario.step.weight_bytes.map(|all| all / deployment.parallel.tp as f64);
        let plan = plan(&config.architecture, &deployment).map_err(|error| {
            let said = sentence(&error);
            match said.strip_prefix("Tp ") {
                // By the name that scenarios and the page have for it.
                Some(rest) => ResolveError::Uneven {
                    sentence: ["GPUs per engine (deploy.tp) ", rest].concat(),
                    tp: deployment.parallel.tp,
                    remedies: Vec::new(),
                },
                None => ResolveError::Deployment(said),
            }
        })?;
        let Some(budget) = plan.tightest().map(|stage| stage.budget) else {
            return Err(ResolveError::Deployment("The model has no layers.".to_owned()));
        };
        Ok(Self { scenario, checkpoint, device, version, deployment, plan, budget })
    }

    pub(super) const fn tp(&self) -> u64 {
        self.deployment.parallel.tp
    }

    /// “4 × ”; nothing for a single GPU.
    fn times(&self) -> String {
        if self.tp() == 1 { String::new() } else { format!("{} GPUs × ", self.tp()) }
    }

    /// What all GPUs of an engine do together: the numbers of one, as many times.
    fn step_time(&self, ledger: &mut Ledger) -> StepTimeSpec {
        let step = &self.scenario.step;
        let gpus = self.tp() as f64;
        let facts = format!("{}; {}", self.checkpoint.facts.line(), self.checkpoint.name);
        let parameters = self.checkpoint.config.architecture.parameters();
        let params = computed("step.params", step.params, parameters.active, &facts, || {
            format!(
                "{} of {} parameters, counted from the dimensions: those that a token is multiplied with",
                quantity::editable(parameters.active),
                quantity::editable(parameters.total)
            )
        });
        let rank_bytes = self.budget.weights.bytes;
        let weights = computed(
            "step.weight_bytes",
            step.weight_bytes,
            rank_bytes * gpus,
            &self.checkpoint.files_line(),
            || {
                format!(
                    "{}{} in {}, computed from the dimensions; all of it is read in each step",
                    self.times(),
                    gib(rank_bytes),
                    self.checkpoint.config.precision
                )
            },
        );
        let per_token = self.plan.layout.bytes_per_token();
        let kv = computed(
            "step.kv_bytes_per_token",
            step.kv_bytes_per_token,
            per_token * gpus,
            &facts,
            || {
                format!(
                    "{}{} bytes, by the layers that the engine keeps a cache of",
                    self.times(),
                    quantity::editable(per_token)
                )
            },
        );
        let (precision, peak) = self.peak();
        let peak = self.of_gpus("step.peak_flops", "FLOP/s", step.peak_flops, peak, precision);
        let bandwidth = self.of_gpus(
            "step.bandwidth",
            "bytes/s",
            step.bandwidth,
            &self.device.bandwidth_bytes_per_s,
            "",
        );
        let mut mfu = assumed(("step.mfu", "Compute efficiency", ""), step.mfu, (MFU.0, ROOFLINE));
        if step.mfu.is_none() {
            mfu = mfu.with_band(MFU.1, MFU.2);
        }
        let overhead = assumed(
            ("step.overhead_s", "Step overhead", "s"),
            step.overhead_s,
            (OVERHEAD_S, ROOFLINE),
        );
        let spec = StepTimeSpec::Roofline {
            params: params.value,
            weight_bytes: weights.value,
            kv_bytes_per_token: kv.value,
            peak_flops: peak.value,
            bandwidth_bytes_per_s: bandwidth.value,
            mfu: mfu.value,
            overhead_s: overhead.value,
        };
        for entry in [params, weights, kv, peak, bandwidth, mfu, overhead] {
            ledger.push(entry);
        }
        if self.tp() > 1 {
            ledger.push(LedgerEntry::new(
                ("step.exchange_s", "Exchange between GPUs", "s"),
                0.0,
                Provenance::Assumed,
                "left out of the roofline: each layer’s all-reduce takes time that grows with tp",
            ));
        }
        spec
    }

    /// The peak of the arithmetic that the weights' format is computed in.
    fn peak(&self) -> (&'static str, &Fact) {
        let peaks = &self.device.peaks;
        let bf16 = ("BF16", &peaks.bf16);
        match self.format() {
            Some(WeightFormat::Fp8) => peaks.fp8.as_ref().map_or(bf16, |peak| ("FP8", peak)),
            Some(WeightFormat::Nvfp4) => peaks.fp4.as_ref().map_or(bf16, |peak| ("FP4", peak)),
            Some(WeightFormat::Int8) => peaks.int8.as_ref().map_or(bf16, |peak| ("INT8", peak)),
            // Four-bit integers and MXFP4 weights are unpacked and multiplied in 16 bits.
            _ => bf16,
        }
    }

    pub(super) fn format(&self) -> Option<WeightFormat> {
        asked_format(self.scenario).or_else(|| self.checkpoint.format())
    }

    /// A figure of the GPU, as many times as there are GPUs.
    fn of_gpus(
        &self,
        key: &str,
        unit: &str,
        typed: Option<f64>,
        fact: &Fact,
        precision: &str,
    ) -> LedgerEntry {
        let name = (key, field(key).map_or(key, |field| field.label), unit);
        if let Some(value) = typed {
            return LedgerEntry::new(name, value, Provenance::Given, TYPED);
        }
        let total = fact.value * self.tp() as f64;
        let entry =
            LedgerEntry::new(name, total, kind_of(fact.citation.kind), fact.citation.line());
        let one = quantity::editable(fact.value);
        if self.tp() > 1 {
            let of = if precision.is_empty() { "" } else { " in " };
            return entry.with_formula([&self.times(), &one, " ", unit, of, precision].concat());
        }
        if precision.is_empty() {
            return entry;
        }
        entry.with_formula(format!("in {precision}"))
    }

    /// How the memory of each GPU is shared out, and how many tokens the cache holds.
    pub(super) fn memory(&self, ledger: &mut Ledger) -> Result<(Memory, u64), ResolveError> {
        let budget = &self.budget;
        self.push_budget(ledger);
        let reserve = budget.activation.bytes + budget.non_torch.bytes + budget.graphs.bytes;
        let blocks = self.plan.num_blocks as f64;
        let block_bytes = self.plan.tightest().map_or(0, |stage| stage.block_bytes);
        let is_given = self.deployment.num_blocks.is_some();
        let kv_bytes = if is_given { blocks * block_bytes as f64 } else { budget.kv_bytes };
        let mut memory = Memory {
            total_bytes: budget.total_bytes,
            engine_share: budget.utilization,
            weight_bytes: budget.weights.bytes,
            reserve_bytes: reserve,
            kv_bytes,
            kept_free_bytes: budget.total_bytes - budget.weights.bytes - reserve - kv_bytes,
        };
        if let Some(tokens) = self.scenario.kv_capacity_tokens {
            ledger.push(capacity(tokens, Provenance::Given, TYPED));
            memory.kv_bytes = tokens as f64 * self.plan.layout.bytes_per_token();
            memory.kept_free_bytes += kv_bytes - memory.kv_bytes;
            return Ok((memory, tokens));
        }
        if memory.kv_bytes <= 0.0 {
            return Err(self.does_not_fit(&memory));
        }
        self.push_blocks(block_bytes, ledger);
        let (tokens, formula) = self.tokens()?;
        let mut entry = capacity(tokens, Provenance::Derived, "memory of one GPU");
        entry = entry.with_formula(formula);
        if !is_given && budget.kv_half_width_bytes > 0.0 {
            let share = budget.kv_half_width_bytes / budget.kv_bytes;
            let most = tokens as f64;
            entry = entry.with_band(
                libm::floor(most * greater(1.0 - share, 0.0)),
                libm::floor(most * (1.0 + share)),
            );
        }
        ledger.push(entry);
        Ok((memory, tokens))
    }

    fn push_budget(&self, ledger: &mut Ledger) {
        let budget = &self.budget;
        let (kind, source) = match &self.device.total_source {
            Some(citation) => (kind_of(citation.kind), citation.line()),
            None => (Provenance::Assumed, "from the nominal memory".to_owned()),
        };
        let total = ("memory.total_bytes", "GPU memory", "bytes");
        ledger.push(LedgerEntry::new(total, budget.total_bytes, kind, source));
        ledger.push(LedgerEntry::new(
            ("memory.engine_share", "Share used by the engine", ""),
            budget.utilization,
            Provenance::Published,
            format!("default gpu_memory_utilization of {}", self.version),
        ));
        for (key, label, term) in [
            ("memory.activation_bytes", "Activations", &budget.activation),
            ("memory.non_torch_bytes", "Driver and libraries", &budget.non_torch),
            ("memory.graph_bytes", "CUDA graphs", &budget.graphs),
        ] {
            ledger.push(self.term(key, label, term));
        }
    }

    fn term(&self, key: &str, label: &str, term: &Term) -> LedgerEntry {
        let (kind, source) = match term.basis {
            Basis::Given => (Provenance::Given, TYPED.to_owned()),
            Basis::Derived => (Provenance::Derived, format!("rules of {}", self.version)),
            Basis::Fitted => (
                Provenance::Derived,
                "fitted to start-up logs of vLLM 0.19 on H100 (llm-d-planner, 2026-04)".to_owned(),
            ),
            Basis::Assumed => (
                Provenance::Assumed,
                "as fitted to logs of vLLM 0.19 on H100; none of this version on this GPU"
                    .to_owned(),
            ),
        };
        let entry = LedgerEntry::new((key, label, "bytes"), term.bytes, kind, source);
        if term.half_width_bytes > 0.0 {
            let low = greater(term.bytes - term.half_width_bytes, 0.0);
            return entry.with_band(low, term.bytes + term.half_width_bytes);
        }
        entry
    }

    fn push_blocks(&self, block_bytes: u64, ledger: &mut Ledger) {
        let budget = &self.budget;
        let (kind, source) = match self.deployment.num_blocks {
            Some(_) => (Provenance::Given, TYPED.to_owned()),
            None => {
                (Provenance::Derived, format!("memory of one GPU by the rules of {}", self.version))
            }
        };
        let name = ("kv.num_gpu_blocks", "KV cache blocks", "");
        let mut entry = LedgerEntry::new(name, self.plan.num_blocks as f64, kind, source);
        if self.deployment.num_blocks.is_none() {
            entry = entry.with_formula(format!(
                "({} × {} − {} weights − {} activations − {} driver and libraries − {} graphs) ÷ {} bytes",
                gib(budget.total_bytes),
                quantity::editable(budget.utilization),
                gib(budget.weights.bytes),
                gib(budget.activation.bytes),
                gib(budget.non_torch.bytes),
                gib(budget.graphs.bytes),
                quantity::count(block_bytes)
            ));
        }
        ledger.push(entry);
    }

    /// Tokens that the blocks hold. Where layers keep only a window, a chunk or a state, that depends on
    /// the length of requests: then as many as there are in requests of the mean length that fit.
    fn tokens(&self) -> Result<(u64, String), ResolveError> {
        let blocks = self.plan.num_blocks;
        let groups = &self.plan.layout.groups;
        let all_hold_all = groups.iter().all(|group| group.cache.hold == Hold::All);
        if let (true, Some(group)) = (all_hold_all, groups.first()) {
            let each = groups.iter().map(|it| it.cache.block_tokens).min().unwrap_or(1);
            let even = blocks / groups.len() as u64;
            let tokens = even.saturating_mul(each);
            let formula = format!(
                "{} blocks of {} tokens = {} tokens",
                quantity::count(even),
                group.cache.block_tokens,
                quantity::count(tokens)
            );
            return Ok((tokens, formula));
        }
        let (input, output) = Traffic::of(self.scenario)?.source().mean_tokens();
        let mean = greater(input + output, 1.0);
        let context = self.deployment.max_model_len;
        let length = (libm::ceil(mean) as u64).clamp(1, context.max(1));
        let step_tokens = self.deployment.max_num_batched_tokens;
        let needed = self.plan.layout.blocks_per_request(length, step_tokens, 1).max(1);
        let tokens = (blocks as f64 / needed as f64 * length as f64) as u64;
        let formula = format!(
            "{} blocks ÷ {} blocks of a request of {} tokens, the mean = {} tokens",
            quantity::count(blocks),
            quantity::count(needed),
            quantity::count(length),
            quantity::count(tokens)
        );
        Ok((tokens, formula))
    }

    fn does_not_fit(&self, memory: &Memory) -> ResolveError {
        let name = format!("{} in {}", self.checkpoint.name, self.checkpoint.config.precision);
        ResolveError::DoesNotFit {
            model: match self.tp() {
                1 => name,
                tp => format!("Each of {tp} parts of {name}"),
            },
            gpu: self.device.short_name.clone(),
            weight_bytes: memory.weight_bytes,
            available_bytes: memory.kv_bytes + memory.weight_bytes,
            reserve_bytes: memory.reserve_bytes,
            kept_free_share: 1.0 - memory.engine_share,
            remedies: Vec::new(),
        }
    }
}

fn checkpoint(scenario: &Scenario) -> Result<Arc<Checkpoint>, ResolveError> {
    let failed = |error| match error {
        LookUpError::NotFound(it) => {
            ResolveError::UnknownModel { name: it.name, suggestions: it.suggestions }
        }
        other => ResolveError::Deployment(sentence(&other)),
    };
    let found = networks::checkpoint(&scenario.model).map_err(failed)?;
    match asked_format(scenario) {
        Some(format) => found.in_format(format).map(Arc::new).map_err(failed),
        None => Ok(found),
    }
}

fn asked_format(scenario: &Scenario) -> Option<WeightFormat> {
    word_at(WEIGHTS, scenario.deploy.weights).parse().ok()
}

fn version(scenario: &Scenario) -> EngineVersion {
    let word = word_at(ENGINES, scenario.deploy.engine);
    word.replace('-', "@").parse().unwrap_or(EngineVersion::LAST)
}

/// How keys and values are stored. FP8 of sparse latent attention has a layout of its own.
fn kv_element(scenario: &Scenario, checkpoint: &Checkpoint) -> KvElement {
    let layers = &checkpoint.config.architecture.layers;
    let is_sparse = layers
        .iter()
        .flat_map(|layer| &layer.mixers)
        .any(|mixer| matches!(mixer, Mixer::Latent(latent) if latent.indexer.is_some()));
    match word_at(KV_DTYPES, scenario.deploy.kv_dtype) {
        "fp32" => KvElement::Bytes(4),
        "bf16" => KvElement::Bytes(2),
        "fp8" if is_sparse => KvElement::SparseLatentFp8,
        "fp8" => KvElement::Bytes(1),
        "fp8_per_token_head" => KvElement::ScaledPerTokenHead,
        "nvfp4" => KvElement::Nvfp4,
        _ => checkpoint.config.kv_element.unwrap_or(KvElement::Bytes(2)),
    }
}

/// What was typed, or else what was computed.
fn computed(
    key: &str,
    typed: Option<f64>,
    value: f64,
    source: &str,
    formula: impl Fn() -> String,
) -> LedgerEntry {
    let (label, unit) = field(key).map_or((key, ""), |field| (field.label, field.unit));
    match typed {
        Some(value) => LedgerEntry::new((key, label, unit), value, Provenance::Given, TYPED),
        None => LedgerEntry::new((key, label, unit), value, Provenance::Derived, source)
            .with_formula(formula()),
    }
}

const fn kind_of(kind: FactKind) -> Provenance {
    match kind {
        FactKind::Measured => Provenance::Measured,
        FactKind::Published => Provenance::Published,
        FactKind::Derived => Provenance::Derived,
        FactKind::Assumed => Provenance::Assumed,
    }
}

/// “13.9 GiB”: engines log memory so.
fn gib(bytes: f64) -> String {
    quantity::with_unit(&quantity::number_fixed(bytes / GIB, 2), "GiB")
}

/// An error as a sentence.
pub(super) fn sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
    let text = [&first.unwrap_or_default(), letters.as_str()].concat();
    if text.ends_with('.') { text } else { text + "." }
}
