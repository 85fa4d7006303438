//! Smallest changes that make an impossible scenario possible, each tried before it is offered.

use catalog::{Catalog, Gpu, Model};
use serde::{Deserialize, Serialize};
use sim_core::LengthSpec;

use crate::{
    class::{CLASS_PREFIX, ClassSpec},
    context::{TypedLength, shortened},
    field::field,
    lengths,
    schema::Scenario,
    setting::AUTO,
    writing,
};

use super::{error::ResolveError, numbers};

/// A change of one setting that makes the scenario possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// Key of the setting to change, for example `gpu`.
    pub key: String,
    /// Its new value, as links write it.
    pub value: String,
    /// What it does, in a few words.
    pub effect: String,
}

/// Fill the remedies of an error in.
pub(crate) fn suggest(scenario: &Scenario, mut error: ResolveError) -> ResolveError {
    let Ok(catalog) = catalog::builtin() else { return error };
    match &mut error {
        ResolveError::DoesNotFit { remedies, .. } => {
            remedies.extend(larger_gpu(scenario, catalog));
            remedies.extend(lighter_models(scenario, catalog));
        }
        ResolveError::NoRoom { remedies, capacity_tokens, .. } => {
            remedies.extend(computed_cache(scenario));
            remedies.extend(shorter(scenario, *capacity_tokens));
            remedies.extend(larger_gpu(scenario, catalog));
            remedies.extend(lighter_models(scenario, catalog));
            remedies.truncate(3);
        }
        ResolveError::TooLong { remedies, context_tokens, .. } => {
            remedies.extend(within_context(scenario, *context_tokens));
            remedies.extend(longer_context(scenario, catalog));
        }
        ResolveError::NoReaction { remedies, .. } => {
            let effect = "rules with clients that react".to_owned();
            remedies.extend(tried(scenario, "sched.rules", "reference", effect));
        }
        _ => {}
    }
    error
}

/// The GPU with the least memory that makes the scenario possible.
fn larger_gpu(scenario: &Scenario, catalog: &Catalog) -> Option<Remedy> {
    let gpus: Vec<&Gpu> = catalog.gpus().iter().collect();
    ascending(&gpus, |gpu| gpu.memory_bytes.value).into_iter().find_map(|index| {
        let gpu = gpus[index];
        let effect = format!("{} of memory", writing::gigabytes(gpu.memory_bytes.value));
        tried(scenario, "gpu", &gpu.slug, effect)
    })
}

/// The heaviest lighter checkpoint of the same network, and of the same family.
fn lighter_models(scenario: &Scenario, catalog: &Catalog) -> Vec<Remedy> {
    let Ok(current) = catalog.model(&scenario.model) else { return Vec::new() };
    let lighter: Vec<&Model> = catalog
        .models()
        .iter()
        .filter(|model| model.family == current.family)
        .filter(|model| model.weight_bytes.value < current.weight_bytes.value)
        .collect();
    let heaviest_first = ascending(&lighter, |model| -model.weight_bytes.value);
    let (same, other): (Vec<&Model>, Vec<&Model>) = heaviest_first
        .into_iter()
        .map(|index| lighter[index])
        .partition(|model| model.network == current.network);
    let first_that_fits = |models: Vec<&Model>| {
        models.into_iter().find_map(|model| {
            let weights = quantity::memory(model.weight_bytes.value);
            tried(scenario, "model", &model.slug, format!("{weights} of weights"))
        })
    };
    [same, other].into_iter().filter_map(first_that_fits).collect()
}

/// The cache that the memory has room for, in place of one that a person gave.
fn computed_cache(scenario: &Scenario) -> Option<Remedy> {
    scenario.kv_capacity_tokens?;
    tried(scenario, "kv.capacity_tokens", AUTO, "as many tokens as fit".to_owned())
}

/// The longest prompt that leaves room for the answer, or the longest answer.
fn shorter(scenario: &Scenario, capacity_tokens: u64) -> Option<Remedy> {
    scenario.lengths().iter().find_map(|typed| {
        let others = longest_beside(scenario, &typed.key);
        shorter_length(scenario, typed, capacity_tokens.checked_sub(others)?)
    })
}

/// The longest answer of the requests whose prompt has that key, or the longest prompt.
fn longest_beside(scenario: &Scenario, key: &str) -> u64 {
    let class = key
        .strip_prefix(CLASS_PREFIX)
        .and_then(|rest| rest.split('.').next())
        .and_then(|name| scenario.classes.iter().find(|class| class.name == name));
    let own = |length: fn(&ClassSpec) -> Option<LengthSpec>| class.and_then(length);
    let beside = if key.ends_with("in") {
        own(|class| class.output).unwrap_or(scenario.output)
    } else {
        own(|class| class.input).unwrap_or(scenario.input)
    };
    beside.longest_tokens()
}

fn within_context(scenario: &Scenario, context_tokens: u64) -> Option<Remedy> {
    scenario.lengths().iter().find_map(|typed| shorter_length(scenario, typed, context_tokens))
}

fn shorter_length(scenario: &Scenario, typed: &TypedLength, longest: u64) -> Option<Remedy> {
    if longest == 0 || typed.length.longest_tokens() <= longest {
        return None;
    }
    let field = field(if typed.key.ends_with("in") { "in" } else { "out" })?;
    let value = lengths::write_length(field, shortened(typed.length, longest));
    let noun = if longest == 1 { "token" } else { "tokens" };
    let effect = format!("at most {} {noun}", quantity::count(longest));
    tried(scenario, &typed.key, &value, effect)
}

/// The model of the same family, or else of any, that takes the length with the least weights.
fn longer_context(scenario: &Scenario, catalog: &Catalog) -> Option<Remedy> {
    let family = catalog.model(&scenario.model).ok().map(|model| model.family.clone());
    let models: Vec<&Model> = catalog.models().iter().collect();
    let lightest_first: Vec<&Model> = ascending(&models, |model| model.weight_bytes.value)
        .into_iter()
        .map(|index| models[index])
        .collect();
    let (same, other): (Vec<&Model>, Vec<&Model>) =
        lightest_first.into_iter().partition(|model| Some(&model.family) == family.as_ref());
    same.into_iter().chain(other).find_map(|model| {
        let context = quantity::editable(model.context_tokens.value);
        tried(scenario, "model", &model.slug, format!("takes {context} tokens"))
    })
}

/// Indices of `entries` in ascending order of a figure. Sorting pairs of numbers, here as elsewhere,
/// keeps the page to one copy of the sort.
fn ascending<T>(entries: &[&T], figure: impl Fn(&T) -> f64) -> Vec<usize> {
    by_figure(entries.iter().map(|entry| figure(entry)).collect())
}

fn by_figure(figures: Vec<f64>) -> Vec<usize> {
    let mut indexed: Vec<(f64, f64)> =
        figures.into_iter().enumerate().map(|(index, figure)| (figure, index as f64)).collect();
    sim_core::sort::by_first(&mut indexed);
    indexed.into_iter().map(|(_, index)| index as usize).collect()
}

/// The change, if the scenario resolves with it.
fn tried(scenario: &Scenario, key: &str, value: &str, effect: String) -> Option<Remedy> {
    let mut changed = scenario.clone();
    changed.set(key, value).ok()?;
    numbers::resolve(&changed).ok()?;
    Some(Remedy { key: key.to_owned(), value: value.to_owned(), effect })
}
