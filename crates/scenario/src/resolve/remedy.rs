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

/// A change that makes the scenario possible: of one setting, or of several together where none
/// alone does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// Key of the setting to change, for example `gpu`.
    pub key: String,
    /// Its new value, as links write it.
    pub value: String,
    /// What it does, in a few words.
    pub effect: String,
    /// Further settings to change with it, as a link writes them: `tpot=6.4ms&share=95`. Empty where
    /// one change does.
    pub also: String,
}

impl Remedy {
    /// A change of one setting.
    #[must_use]
    pub fn new(key: &str, value: String, effect: String) -> Self {
        Self { key: key.to_owned(), value, effect, also: String::new() }
    }

    /// The same with another setting changed with it.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        if !self.also.is_empty() {
            self.also.push('&');
        }
        self.also.push_str(&[key, "=", value].concat());
        self
    }

    /// Every setting to change, with its new value.
    pub fn changes(&self) -> impl Iterator<Item = (&str, &str)> {
        let also = self.also.split('&').filter_map(|setting| setting.split_once('='));
        std::iter::once((self.key.as_str(), self.value.as_str())).chain(also)
    }

    /// As one would type it: `ttft=40ms tpot=6.4ms`.
    #[must_use]
    pub fn typed(&self) -> String {
        let mut text = [&self.key, "=", &self.value].concat();
        if !self.also.is_empty() {
            text.push(' ');
            text.push_str(&self.also.replace('&', " "));
        }
        text
    }
}

/// Fill the remedies of an error in.
pub(crate) fn suggest(scenario: &Scenario, mut error: ResolveError) -> ResolveError {
    let Ok(catalog) = catalog::builtin() else { return error };
    match &mut error {
        ResolveError::DoesNotFit { remedies, .. } => {
            remedies.extend(computed_weights(scenario));
            remedies.extend(wider(scenario));
            remedies.extend(larger_gpu(scenario, catalog));
            remedies.extend(lighter_models(scenario, catalog));
        }
        ResolveError::NoRoom { remedies, capacity_tokens, .. } => {
            remedies.extend(computed_cache(scenario));
            let room = capacity_tokens.saturating_sub(scenario.spec.tokens);
            remedies.extend(shorter(scenario, room));
            remedies.extend(wider(scenario));
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
        ResolveError::NoSpeculation { remedies, .. } => {
            let drafts = "with drafts".to_owned();
            remedies.extend(tried(scenario, "sched.rules", "reference", drafts));
            remedies.extend(tried(scenario, "spec.tokens", "0", "without drafts".to_owned()));
        }
        _ => return error,
    }
    if let ResolveError::DoesNotFit { remedies, .. }
    | ResolveError::NoRoom { remedies, .. }
    | ResolveError::TooLong { remedies, .. }
    | ResolveError::NoSpeculation { remedies, .. } = &mut error
        && remedies.is_empty()
    {
        remedies.extend(together(scenario, catalog));
    }
    error
}

/// Of a deployment: more GPUs per engine, lighter weights, a lighter cache, a larger GPU; the smallest
/// change of each kind that works.
#[cfg(feature = "networks")]
fn wider(scenario: &Scenario) -> Vec<Remedy> {
    if !super::deployed::is_deployed(scenario) {
        return Vec::new();
    }
    let first_that_works = |(key, values): (&str, Vec<(String, String)>)| {
        values.into_iter().find_map(|(value, effect)| tried(scenario, key, &value, effect))
    };
    super::deployed::wider(scenario).into_iter().filter_map(first_that_works).collect()
}

#[cfg(not(feature = "networks"))]
const fn wider(_: &Scenario) -> Vec<Remedy> {
    Vec::new()
}

/// Most changes that are tried one after the other.
const MOST_STEPS: usize = 6;

/// One change for what is in the way, one for what is in the way then, and so on, until nothing is.
fn together(scenario: &Scenario, catalog: &Catalog) -> Option<Remedy> {
    let mut changed = scenario.clone();
    let mut keys: Vec<String> = Vec::new();
    for _ in 0..MOST_STEPS {
        let Err(cause) = numbers::resolve(&changed) else { break };
        let (key, value) = step_towards(&changed, catalog, &cause)?;
        changed.set(&key, &value).ok()?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    numbers::resolve(&changed).ok()?;
    let mut remedy: Option<Remedy> = None;
    for key in &keys {
        // What is computed has no text of its own.
        let value = changed.get(key).unwrap_or_else(|| AUTO.to_owned());
        remedy = Some(match remedy {
            None => Remedy::new(key, value, "only together".to_owned()),
            Some(remedy) => remedy.with(key, &value),
        });
    }
    remedy
}

/// A change that removes a cause or brings the scenario as near as it can.
fn step_towards(
    scenario: &Scenario,
    catalog: &Catalog,
    cause: &ResolveError,
) -> Option<(String, String)> {
    let auto = |key: &str| Some((key.to_owned(), AUTO.to_owned()));
    match cause {
        ResolveError::TooLong { context_tokens, .. } => cut(scenario, *context_tokens),
        ResolveError::NoRoom { .. } if scenario.kv_capacity_tokens.is_some() => {
            auto("kv.capacity_tokens")
        }
        // Prompt and answer get half of the room each.
        ResolveError::NoRoom { capacity_tokens, .. } => {
            cut(scenario, capacity_tokens.saturating_sub(scenario.spec.tokens) / 2)
        }
        ResolveError::NoSpeculation { .. } => Some(("spec.tokens".to_owned(), "0".to_owned())),
        ResolveError::DoesNotFit { .. } if scenario.step.weight_bytes.is_some() => {
            auto("step.weight_bytes")
        }
        ResolveError::DoesNotFit { .. } => {
            let gpus: Vec<&Gpu> = catalog.gpus().iter().collect();
            let largest = *ascending(&gpus, |gpu| gpu.memory_bytes.value).last()?;
            let slug = &gpus[largest].slug;
            (scenario.gpu != *slug).then(|| ("gpu".to_owned(), slug.clone()))
        }
        _ => None,
    }
}

/// The first length that is longer, cut.
fn cut(scenario: &Scenario, longest: u64) -> Option<(String, String)> {
    let lengths = scenario.lengths();
    let typed =
        lengths.iter().find(|typed| longest > 0 && typed.length.longest_tokens() > longest)?;
    let field = field(if typed.key.ends_with("in") { "in" } else { "out" })?;
    Some((typed.key.clone(), lengths::write_length(field, shortened(typed.length, longest))))
}

/// The weights of the checkpoint, in place of some that a person gave.
fn computed_weights(scenario: &Scenario) -> Option<Remedy> {
    scenario.step.weight_bytes?;
    tried(scenario, "step.weight_bytes", AUTO, "as the catalogue has them".to_owned())
}

/// The GPU with the least memory that makes the scenario possible.
fn larger_gpu(scenario: &Scenario, catalog: &Catalog) -> Option<Remedy> {
    #[cfg(feature = "networks")]
    if super::deployed::is_deployed(scenario) {
        // It is among those that are tried from the wide catalogue.
        return None;
    }
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
    Some(Remedy::new(key, value.to_owned(), effect))
}
