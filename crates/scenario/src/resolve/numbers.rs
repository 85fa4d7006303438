//! The computation: catalogue figures, what a person typed in their place, and what follows.

use catalog::{Catalog, Figure, FigureKind, Gpu, Model};
use sim_core::{
    EngineSpec, Rules, Setup, StepTimeSpec, Workload,
    engine::{BLOCK_SIZE, Speculation},
};

use crate::{
    field::{Access, FIELDS},
    overload,
    rules::SchedRules,
    schema::{Scenario, Spec, StepKind},
    writing,
};

use super::{
    Resolved,
    error::ResolveError,
    ledger::{Ledger, LedgerEntry, Provenance},
    memory::{ENGINE_SHARE, Memory, RESERVE_BYTES},
    plain_step,
    traffic::Traffic,
};
#[cfg(feature = "networks")]
use super::{deployed, kernel_step};
#[cfg(not(feature = "networks"))]
use crate::setting::AUTO;

pub(super) const ROOFLINE: &str = "the published roofline’s documented constant";
pub(super) const TYPED: &str = "typed";

/// Share of the peak that prefill reaches, with the band that is usual for it.
pub(super) const MFU: (f64, f64, f64) = (0.5, 0.45, 0.55);
/// Fixed time of a step, seconds.
pub(super) const OVERHEAD_S: f64 = 0.5e-3;

/// Resolve without looking for remedies.
pub(crate) fn resolve(scenario: &Scenario) -> Result<Resolved, ResolveError> {
    let mut traffic = Traffic::of(scenario)?;
    let mut ledger = Ledger::default();
    let (step_time, memory, kv_capacity_tokens) = engine(scenario, &traffic, &mut ledger)?;
    let (capacity_tokens, unwritten_tokens) = room(scenario, kv_capacity_tokens);
    traffic.hold_within(capacity_tokens.saturating_add(unwritten_tokens));
    push_settings(scenario, &mut ledger);
    traffic.push(&mut ledger);
    let resolved = Resolved {
        setup: setup(scenario, &traffic, step_time, kv_capacity_tokens),
        attendance: scenario.attendance(),
        classes: traffic.names(),
        ledger,
        headroom: scenario.headroom,
        replications: scenario.sim.replications,
        memory,
        untyped: Vec::new(),
    };
    if let Some(long) = scenario.too_long().first() {
        return Err(ResolveError::TooLong {
            sentence: long.sentence(),
            asked_tokens: long.asked_tokens,
            context_tokens: long.context_tokens,
            remedies: Vec::new(),
        });
    }
    // Drafts are written before they are verified.
    let needed_tokens = traffic.largest_tokens() + scenario.spec.tokens;
    if capacity_tokens + unwritten_tokens < needed_tokens {
        let from_memory = scenario.kv_capacity_tokens.is_none() && memory.total_bytes > 0.0;
        return Err(ResolveError::NoRoom {
            capacity_tokens,
            needed_tokens,
            kv_bytes: from_memory.then_some(memory.kv_bytes),
            remedies: Vec::new(),
        });
    }
    if let Some(beside) = beside_drafts(scenario, resolved.attendance.is_open()) {
        let tokens = scenario.spec.tokens;
        return Err(ResolveError::NoSpeculation { tokens, beside, remedies: Vec::new() });
    }
    resolved.setup.check()?;
    Ok(resolved)
}

/// What is known of the engine, even where the scenario as a whole has no set-up.
pub(crate) fn figures(scenario: &Scenario) -> Ledger {
    let mut ledger = Ledger::default();
    if let Ok(traffic) = Traffic::of(scenario) {
        // What cannot be looked up or computed is not among them.
        let _ = engine(scenario, &traffic, &mut ledger);
    }
    ledger
}

/// Step time, memory and tokens of the KV cache. The ledger is filled as far as one comes.
fn engine(
    scenario: &Scenario,
    traffic: &Traffic<'_>,
    ledger: &mut Ledger,
) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
    Ok(match scenario.step.kind {
        Some(StepKind::Affine) => plain_step::affine(scenario, ledger),
        Some(StepKind::QueueModel) => plain_step::queue_model(scenario, &traffic.source(), ledger),
        Some(StepKind::Kernel) => kernel(scenario, traffic, ledger)?,
        Some(StepKind::Roofline) | None => roofline(scenario, ledger)?,
    })
}

/// The step time and the memory: by the rule of the short list where nothing more is said, and
/// otherwise as the engine's version does.
#[cfg(feature = "networks")]
fn roofline(
    scenario: &Scenario,
    ledger: &mut Ledger,
) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
    if deployed::is_deployed(scenario) {
        return deployed::resolve(scenario, ledger);
    }
    Roofline::new(scenario)?.resolve(ledger)
}

#[cfg(not(feature = "networks"))]
fn roofline(
    scenario: &Scenario,
    ledger: &mut Ledger,
) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
    if scenario.deploy.is_asked_for() {
        return Err(ResolveError::Deployment(for_the_command_line(scenario, &DEPLOYED)));
    }
    Roofline::new(scenario)?.resolve(ledger)
}

#[cfg(feature = "networks")]
fn kernel(
    scenario: &Scenario,
    traffic: &Traffic<'_>,
    ledger: &mut Ledger,
) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
    kernel_step::resolve(scenario, &traffic.source(), ledger)
}

#[cfg(not(feature = "networks"))]
fn kernel(
    scenario: &Scenario,
    _: &Traffic<'_>,
    _: &mut Ledger,
) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
    Err(ResolveError::Deployment(for_the_command_line(scenario, &["step.kind"])))
}

/// What only a build with the wide catalogue computes.
#[cfg(not(feature = "networks"))]
const DEPLOYED: [&str; 5] = ["deploy.tp", "engine", "weights", "kv_dtype", "kv.num_gpu_blocks"];

/// Which of these settings are given, and the command that computes them.
#[cfg(not(feature = "networks"))]
fn for_the_command_line(scenario: &Scenario, keys: &[&str]) -> String {
    let mut given = String::new();
    for key in keys {
        if let Some(value) = scenario.get(key).filter(|value| value != AUTO) {
            let beside = if given.is_empty() { "" } else { ", " };
            given = [&given, beside, key, "=", &value].concat();
        }
    }
    [
        "Only the command line computes ",
        &given,
        ". Run there: headroom plan '",
        &scenario.to_link(),
        "'. Or take it out of the link.",
    ]
    .concat()
}

/// What a request can have of the cache, and how many of its tokens are never written there. vLLM
/// hands out whole blocks, and ends a request before it writes its last token.
const fn room(scenario: &Scenario, kv_capacity_tokens: u64) -> (u64, u64) {
    match scenario.rules {
        SchedRules::Vllm { .. } => (kv_capacity_tokens - kv_capacity_tokens % BLOCK_SIZE, 1),
        _ => (kv_capacity_tokens, 0),
    }
}

/// What there are no drafts beside, where some are asked for.
fn beside_drafts(scenario: &Scenario, is_open: bool) -> Option<String> {
    if scenario.spec.tokens == 0 {
        None
    } else if scenario.rules != SchedRules::Reference {
        Some(["sched.rules=", &scenario.rules.text()].concat())
    } else {
        (!is_open).then(|| scenario.reacting_settings().join(", "))
    }
}

fn setup(
    scenario: &Scenario,
    traffic: &Traffic<'_>,
    step_time: StepTimeSpec,
    kv_capacity_tokens: u64,
) -> Setup {
    Setup {
        workload: Workload { source: traffic.source(), requests: scenario.sim.requests },
        engine: EngineSpec {
            max_num_batched_tokens: scenario.sched.max_num_batched_tokens,
            max_num_seqs: match scenario.rules {
                SchedRules::Sequential => 1,
                _ => scenario.sched.max_num_seqs,
            },
            kv_capacity_tokens,
        },
        rules: match scenario.spec {
            Spec { tokens: 0, .. } => {
                scenario.rules.to_rules(&scenario.vllm, scenario.vllm_by_priority())
            }
            Spec { tokens, acceptance, draft_cost } => {
                Rules::Speculative(Speculation { tokens, acceptance, draft_cost })
            }
        },
        step_time,
        slo: scenario.slo,
        seed: scenario.sim.seed,
    }
}

/// Names looked up, as far as the numbers typed leave something to look up.
struct Roofline<'a> {
    scenario: &'a Scenario,
    model: Option<&'a Model>,
    gpu: Option<&'a Gpu>,
}

impl<'a> Roofline<'a> {
    fn new(scenario: &'a Scenario) -> Result<Self, ResolveError> {
        let step = &scenario.step;
        let catalog: &Catalog = catalog::builtin()?;
        let model_given = step.params.is_some()
            && step.weight_bytes.is_some()
            && step.kv_bytes_per_token.is_some();
        let gpu_given = step.peak_flops.is_some()
            && step.bandwidth.is_some()
            && scenario.kv_capacity_tokens.is_some();
        let model = match catalog.model(&scenario.model) {
            Ok(model) => Some(model),
            Err(_) if model_given => None,
            Err(error) => {
                let (name, suggestions) = (error.name, error.suggestions);
                return Err(ResolveError::UnknownModel { name, suggestions });
            }
        };
        let gpu = match catalog.gpu(&scenario.gpu) {
            Ok(gpu) => Some(gpu),
            Err(_) if gpu_given => None,
            Err(error) => {
                let (name, suggestions) = (error.name, error.suggestions);
                return Err(ResolveError::UnknownGpu { name, suggestions });
            }
        };
        Ok(Self { scenario, model, gpu })
    }

    fn resolve(&self, ledger: &mut Ledger) -> Result<(StepTimeSpec, Memory, u64), ResolveError> {
        let step = &self.scenario.step;
        let (model, gpu) = (self.model, self.gpu);
        let params = named("step.params", "parameters", step.params, model.map(|m| &m.params));
        let weight =
            named("step.weight_bytes", "bytes", step.weight_bytes, model.map(|m| &m.weight_bytes));
        let kv = kv_per_token(step.kv_bytes_per_token, model);
        let peak = named("step.peak_flops", "FLOP/s", step.peak_flops, gpu.map(|g| &g.peak_flops));
        let bandwidth = named(
            "step.bandwidth",
            "bytes/s",
            step.bandwidth,
            gpu.map(|g| &g.bandwidth_bytes_per_s),
        );
        let mfu = assumed(("step.mfu", "Compute efficiency", ""), step.mfu, (MFU.0, ROOFLINE));
        let mfu = if step.mfu.is_none() { mfu.with_band(MFU.1, MFU.2) } else { mfu };
        let overhead = assumed(
            ("step.overhead_s", "Step overhead", "s"),
            step.overhead_s,
            (OVERHEAD_S, ROOFLINE),
        );
        let spec = StepTimeSpec::Roofline {
            params: params.value,
            weight_bytes: weight.value,
            kv_bytes_per_token: kv.value,
            peak_flops: peak.value,
            bandwidth_bytes_per_s: bandwidth.value,
            mfu: mfu.value,
            overhead_s: overhead.value,
        };
        let (weight_bytes, kv_bytes) = (weight.value, kv.value);
        [params, weight, kv, peak, bandwidth, mfu, overhead]
            .into_iter()
            .for_each(|entry| ledger.push(entry));
        let (memory, capacity) = self.memory(weight_bytes, kv_bytes, ledger)?;
        Ok((spec, memory, capacity))
    }

    /// Share out the memory, and count the tokens that its KV cache holds.
    fn memory(
        &self,
        weight_bytes: f64,
        kv_bytes_per_token: f64,
        ledger: &mut Ledger,
    ) -> Result<(Memory, u64), ResolveError> {
        let mut memory = self.gpu.map_or_else(Memory::default, |gpu| {
            push_memory(gpu, ledger);
            Memory::shared_out(gpu.memory_bytes.value, weight_bytes)
        });
        if let Some(tokens) = self.scenario.kv_capacity_tokens {
            ledger.push(capacity(tokens, Provenance::Given, TYPED));
            if self.gpu.is_some() {
                memory.kv_bytes = tokens as f64 * kv_bytes_per_token;
                memory.kept_free_bytes =
                    memory.total_bytes - weight_bytes - memory.reserve_bytes - memory.kv_bytes;
            }
            return Ok((memory, tokens));
        }
        if memory.kv_bytes <= 0.0 {
            return Err(self.does_not_fit(&memory));
        }
        // A float beyond the range of u64 saturates.
        let tokens = libm::floor(memory.kv_bytes / kv_bytes_per_token) as u64;
        let formula = format!(
            "({} × {} − {} weights − {} reserve) ÷ {} bytes = {} tokens, rounded down",
            writing::gigabytes(memory.total_bytes),
            quantity::editable(ENGINE_SHARE),
            writing::gigabytes(weight_bytes),
            writing::gigabytes(RESERVE_BYTES),
            quantity::editable(kv_bytes_per_token),
            quantity::editable(tokens as f64)
        );
        ledger
            .push(capacity(tokens, Provenance::Derived, "memory of one GPU").with_formula(formula));
        Ok((memory, tokens))
    }

    fn does_not_fit(&self, memory: &Memory) -> ResolveError {
        ResolveError::DoesNotFit {
            // Weights that a person typed are not those of the checkpoint.
            model: self.model.filter(|_| self.scenario.step.weight_bytes.is_none()).map_or_else(
                || "This model".to_owned(),
                |model| format!("{} in {}", model.network, model.precision),
            ),
            gpu: self.gpu.map_or_else(|| "GPU".to_owned(), |gpu| gpu.short_name.clone()),
            weight_bytes: memory.weight_bytes,
            available_bytes: memory.kv_bytes + memory.weight_bytes,
            reserve_bytes: memory.reserve_bytes,
            kept_free_share: 1.0 - memory.engine_share,
            remedies: Vec::new(),
        }
    }
}

/// What was typed, or else the catalogue's figure.
fn named(key: &str, unit: &str, typed: Option<f64>, figure: Option<&Figure>) -> LedgerEntry {
    let label = crate::field(key).map_or(key, |field| field.label);
    match (typed, figure) {
        (None, Some(figure)) => LedgerEntry::new(
            (key, label, unit),
            figure.value,
            match figure.kind {
                FigureKind::Published => Provenance::Published,
                FigureKind::Derived => Provenance::Derived,
            },
            figure.citation(),
        ),
        // Without a figure there is always a typed number: names are looked up where it lacks.
        (typed, _) => LedgerEntry::new(
            (key, label, unit),
            typed.unwrap_or(f64::NAN),
            Provenance::Given,
            TYPED,
        ),
    }
}

fn kv_per_token(typed: Option<f64>, model: Option<&Model>) -> LedgerEntry {
    let name = ("step.kv_bytes_per_token", "KV cache per token", "bytes");
    match (typed, model) {
        (None, Some(model)) => {
            let bytes = model.kv_bytes_per_token();
            let source = model.layers.citation();
            LedgerEntry::new(name, bytes, Provenance::Derived, source).with_formula(format!(
                "2 (keys and values) × {} layers × {} KV heads × {} × {} bytes = {} bytes",
                quantity::plain(model.layers.value, 0),
                quantity::plain(model.kv_heads.value, 0),
                quantity::plain(model.head_dim.value, 0),
                quantity::plain(model.kv_element_bytes.value, 0),
                quantity::editable(bytes)
            ))
        }
        (typed, _) => LedgerEntry::new(name, typed.unwrap_or(f64::NAN), Provenance::Given, TYPED),
    }
}

/// What was typed, or else a constant with its source.
pub(super) fn assumed(
    name: (&str, &str, &str),
    typed: Option<f64>,
    (constant, source): (f64, &str),
) -> LedgerEntry {
    match typed {
        Some(value) => LedgerEntry::new(name, value, Provenance::Given, TYPED),
        None => LedgerEntry::new(name, constant, Provenance::Assumed, source),
    }
}

pub(super) fn capacity(tokens: u64, kind: Provenance, source: &str) -> LedgerEntry {
    LedgerEntry::new(("kv.capacity_tokens", "KV cache", "tokens"), tokens as f64, kind, source)
}

fn push_memory(gpu: &Gpu, ledger: &mut Ledger) {
    let figure = &gpu.memory_bytes;
    ledger.push(LedgerEntry::new(
        ("memory.total_bytes", "GPU memory", "bytes"),
        figure.value,
        Provenance::Published,
        figure.citation(),
    ));
    ledger.push(LedgerEntry::new(
        ("memory.engine_share", "Share used by the engine", ""),
        ENGINE_SHARE,
        Provenance::Assumed,
        "usual default of engines",
    ));
    ledger.push(LedgerEntry::new(
        ("memory.reserve_bytes", "Activations, graphs and other", "bytes"),
        RESERVE_BYTES,
        Provenance::Assumed,
        "round number that leaves 55 GB for the KV cache of Qwen2.5-7B on an 80 GB GPU",
    ));
}

/// Numbers that only vLLM's rules use, and that are 0 where nobody says anything.
const VLLM_NUMBERS: [&str; 3] = ["prefix", "sched.long_prefill_token_threshold", "sched.watermark"];

impl Scenario {
    /// Whether a setting of speculative decoding or of pools has something to work on; others have.
    fn drafts_or_sends(&self, key: &str) -> bool {
        if key.starts_with("disagg.") {
            return self.disagg.is_asked_for();
        }
        self.spec.tokens > 0 || !key.starts_with("spec.")
    }
}

/// The settings that go into the answer as they are: typed, or Headroom's defaults.
fn push_settings(scenario: &Scenario, ledger: &mut Ledger) {
    for field in FIELDS {
        let settled = matches!(
            field.access,
            Access::Real { .. } | Access::Whole { .. } | Access::Length { .. }
        );
        let Some(value) = scenario.number(field.key).filter(|_| settled) else { continue };
        let is_default = scenario.get(field.key).as_deref() == Some(field.default);
        let is_vllms = VLLM_NUMBERS.contains(&field.key);
        let is_idle =
            !overload::is_in_force(scenario, field) || !scenario.drafts_or_sends(field.key);
        if is_default && (is_vllms || is_idle) {
            // Nothing is limited, kept free or shared; or nothing follows from it.
            continue;
        }
        let (kind, source) = if is_default {
            (Provenance::Assumed, "default of this program")
        } else if field.key == "prefix" {
            (Provenance::Given, scenario.prefix_source())
        } else if is_vllms && !scenario.rules.are_vllms() {
            (Provenance::Given, "typed; only vLLM’s rules have it")
        } else {
            (Provenance::Given, TYPED)
        };
        ledger.push(LedgerEntry::new((field.key, field.label, field.unit), value, kind, source));
    }
}
