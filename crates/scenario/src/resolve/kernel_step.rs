//! The kernel model's step time of a deployment.

use catalog::{
    WeightFormat,
    kernel::{Constants, Deployment, Engine, Precision, Role, VersionClass, kernel_gpu},
};
use sim_core::{
    RequestSource, StepTimeSpec,
    memory::{FeedForward, KvElement},
    step_time::kernel::{KernelShape, Spread},
};

use crate::{schema::Scenario, wide::EngineNumbers};

use super::{
    deployed::{Deployed, sentence},
    error::ResolveError,
    ledger::{Ledger, LedgerEntry, Provenance},
    numbers::TYPED,
};

/// The deployment's step time and memory.
pub(super) fn resolve(
    scenario: &Scenario,
    source: &RequestSource,
    ledger: &mut Ledger,
) -> Result<EngineNumbers, ResolveError> {
    let found = Deployed::new(scenario)?;
    let spec = step_time(&found, source, ledger)?;
    let (memory, tokens) = found.memory(ledger)?;
    Ok((spec, memory, tokens))
}

fn step_time(
    found: &Deployed<'_>,
    source: &RequestSource,
    ledger: &mut Ledger,
) -> Result<StepTimeSpec, ResolveError> {
    let refused = |error: &dyn std::fmt::Display| ResolveError::Deployment(sentence(error));
    let gpu = kernel_gpu(&found.device.slug).map_err(|error| refused(&error))?;
    let constants = Constants::builtin().map_err(|error| refused(&error))?;
    let architecture = &found.checkpoint.config.architecture;
    let version = found.version.to_string();
    let has_experts = |it: &FeedForward| matches!(it, FeedForward::Experts { .. });
    let deployment = Deployment {
        engine: Engine::Vllm,
        version: VersionClass::of(Engine::Vllm, version.trim_start_matches("vllm@"), ""),
        generation: gpu.generation,
        precision: precision(found.format())?,
        has_experts: architecture.layers.iter().any(|layer| has_experts(&layer.feed_forward)),
        has_ranks: found.tp() > 1,
        client: String::new(),
        kv_bytes: Some(kv_bytes(found.deployment.kv_element)),
    };
    let (input, output) = source.mean_tokens();
    let step = &found.scenario.step;
    let kernel = constants
        .kernel(architecture, &deployment, &gpu.rates(), Spread::tensor(found.tp()), input)
        .map_err(|error| refused(&error))?
        .for_lengths(input, output)
        .scaled(step.memory_factor.unwrap_or(1.0), step.compute_factor.unwrap_or(1.0));
    let kernel = step.api_s.map_or(kernel, |api_s| kernel.with_api_s(api_s));
    let context = input + 0.5 * output;
    let lone = kernel.engine_step_s(1.0, 1.0, context);
    let prompt = kernel.step_s(&KernelShape {
        prompt_tokens: input,
        prompt_pairs: 0.5 * input * input,
        ending_prompts: 1.0,
        ..KernelShape::default()
    });
    let by = format!(
        "kernel model; {}, {}; rates of {}: {}",
        constants.source, constants.date, gpu.slug, gpu.evidence
    );
    let entry = |key: &str, label: &str, value: f64| {
        LedgerEntry::new((key, label, "s"), value, Provenance::Derived, by.clone())
    };
    ledger.push(entry("step.lone_decode_s", "A lone request’s step", lone));
    ledger.push(entry("step.lone_prefill_s", "A lone prompt’s step", prompt));
    ledger.push(entry(
        "step.context_s",
        "Each token of context, in each step",
        kernel.lines(1.0, 1.0).slope_s,
    ));
    for (key, label, role) in [
        ("step.layer_s", "Each layer, beside its kernels", Role::Layer),
        ("step.engine_s", "Each step, beside its layers", Role::Step),
        ("step.sequence_s", "Each token sampled", Role::Sequence),
    ] {
        let (value, is_fitted) = constants.value(role, &deployment);
        let kind = if is_fitted { Provenance::Derived } else { Provenance::Assumed };
        let source = format!("fitted: {}, {}", constants.source, constants.date);
        ledger.push(LedgerEntry::new((key, label, "s"), value, kind, source));
    }
    for (key, label, factor) in [
        ("step.memory_factor", "Memory and overhead factor", step.memory_factor),
        ("step.compute_factor", "Compute factor", step.compute_factor),
    ] {
        if let Some(factor) = factor {
            ledger.push(LedgerEntry::new((key, label, ""), factor, Provenance::Given, TYPED));
        }
    }
    let (kind, source) = match step.api_s {
        Some(_) => (Provenance::Given, TYPED),
        None => (
            Provenance::Assumed,
            "measured clients differ by a factor of three; this is none of them in particular",
        ),
    };
    ledger.push(LedgerEntry::new(
        ("step.api_s", "Server and tokeniser, before the first token", "s"),
        kernel.api_s(),
        kind,
        source,
    ));
    Ok(StepTimeSpec::Kernel(kernel))
}

fn precision(format: Option<WeightFormat>) -> Result<Precision, ResolveError> {
    Ok(match format {
        Some(WeightFormat::Bf16) => Precision::Half,
        Some(WeightFormat::Fp8) => Precision::Fp8,
        Some(WeightFormat::Nvfp4) => Precision::Nvfp4,
        Some(WeightFormat::Mxfp4) => Precision::Mxfp4,
        Some(WeightFormat::Int4) => Precision::Int4,
        Some(WeightFormat::Fp32 | WeightFormat::Int8) | None => {
            return Err(ResolveError::Deployment(
                "The kernel model knows weights in bf16, fp8, nvfp4, mxfp4 and int4. Give one of \
                 them as weights, or step.kind=roofline."
                    .to_owned(),
            ));
        }
    })
}

/// Bytes of one element of the cache that attention reads.
const fn kv_bytes(element: KvElement) -> f64 {
    match element {
        KvElement::Bytes(bytes) => bytes as f64,
        KvElement::ScaledPerTokenHead | KvElement::SparseLatentFp8 => 1.0,
        KvElement::Nvfp4 => 0.5625,
    }
}
