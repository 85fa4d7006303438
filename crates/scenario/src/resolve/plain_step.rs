//! Step times that know no GPU: given by constants alone.

use sim_core::{RequestSource, StepTimeSpec};

use crate::{rules::SchedRules, schema::Scenario};

use super::{
    ledger::{Ledger, LedgerEntry, Provenance},
    memory::Memory,
    numbers::{TYPED, assumed, capacity},
};

const AFFINE: &str = "example of an affine step: 20 ms and 0.5 ms for each sequence";
/// Affine step time, seconds: the constant, and the part of each sequence.
const FIXED_S: f64 = 20e-3;
const PER_ITEM_S: f64 = 0.5e-3;

const QUEUE_MODEL: &str = "example of the llm-d autoscaler’s own analyzer: 5 ms, 50 µs and 50 ns";
/// Queue model, seconds: the constant, the part of a token, the part of a token of context.
const ALPHA_S: f64 = 5e-3;
const BETA_S: f64 = 50e-6;
const GAMMA_S: f64 = 50e-9;

/// KV cache where no GPU limits it, tokens; less where the rules count blocks one by one.
const UNLIMITED_TOKENS: u64 = 1_000_000_000_000;
const UNLIMITED_PAGED_TOKENS: u64 = 200_000_000;

type Resolution = (StepTimeSpec, Memory, u64);

/// A constant and a time per sequence.
pub(super) fn affine(scenario: &Scenario, ledger: &mut Ledger) -> Resolution {
    let step = &scenario.step;
    let fixed = assumed(("step.fixed_s", "Fixed step time", "s"), step.fixed_s, (FIXED_S, AFFINE));
    let per_item = assumed(
        ("step.per_item_s", "Time per sequence", "s"),
        step.per_item_s,
        (PER_ITEM_S, AFFINE),
    );
    let spec = StepTimeSpec::Affine { fixed_s: fixed.value, per_item_s: per_item.value };
    ledger.push(fixed);
    ledger.push(per_item);
    let tokens = push_capacity(scenario, "an affine step time", ledger);
    (spec, Memory::default(), tokens)
}

/// A constant and a request's mean work per sequence.
pub(super) fn queue_model(
    scenario: &Scenario,
    source: &RequestSource,
    ledger: &mut Ledger,
) -> Resolution {
    let step = &scenario.step;
    let entry = |key: &'static str, typed, constant| {
        let label = crate::field(key).map_or(key, |field| field.label);
        assumed((key, label, "s"), typed, (constant, QUEUE_MODEL))
    };
    let alpha = entry("step.alpha_s", step.alpha_s, ALPHA_S);
    let beta = entry("step.beta_s", step.beta_s, BETA_S);
    let gamma = entry("step.gamma_s", step.gamma_s, GAMMA_S);
    let (i, o) = source.mean_tokens();
    let each_s = beta.value * (i + o) / (o + 1.0) + gamma.value * (i + 0.5 * o);
    let number = quantity::editable;
    let formula = format!(
        "{b} × ({i} + {o}) ÷ ({o} + 1) + {g} × ({i} + {o} ÷ 2)",
        b = number(beta.value),
        g = number(gamma.value),
        i = number(i),
        o = number(o),
    );
    let each = LedgerEntry::new(
        ("step.delta_s", "Time that a request adds to a step", "s"),
        each_s,
        Provenance::Derived,
        "queueing model of the llm-d workload variant autoscaler, from the mean lengths",
    );
    let spec = StepTimeSpec::QueueModel {
        alpha_s: alpha.value,
        beta_s: beta.value,
        gamma_s: gamma.value,
        input_tokens: i,
        output_tokens: o,
    };
    [alpha, beta, gamma, each.with_formula(formula)].into_iter().for_each(|e| ledger.push(e));
    let tokens = push_capacity(scenario, "a queueing model", ledger);
    (spec, Memory::default(), tokens)
}

fn push_capacity(scenario: &Scenario, what: &str, ledger: &mut Ledger) -> u64 {
    let unlimited = match scenario.rules {
        SchedRules::Vllm { .. } => UNLIMITED_PAGED_TOKENS,
        _ => UNLIMITED_TOKENS,
    };
    let (tokens, entry) = match scenario.kv_capacity_tokens {
        Some(tokens) => (tokens, capacity(tokens, Provenance::Given, TYPED)),
        None => {
            let source =
                format!("{what} knows no memory, so that the KV cache is larger than any load");
            (unlimited, capacity(unlimited, Provenance::Assumed, &source))
        }
    };
    ledger.push(entry);
    tokens
}
