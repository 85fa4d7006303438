//! Smallest changes that make an impossible scenario possible, each tried before it is offered.

use std::hint::black_box;

use catalog::{Catalog, Gpu, Model};
use sim_core::LengthSpec;

use crate::{
    class::{CLASS_PREFIX, ClassSpec},
    context::{TypedLength, shortened},
    field::field,
    lengths,
    schema::Scenario,
    setting::AUTO,
    wide::{Changes, is_deployed, wide},
    writing,
};

use super::{Remedy, Resolved, error::ResolveError, numbers};

/// Who looks for changes.
pub(super) trait Search {
    /// The smallest changes with which the scenario resolves and the numbers suit.
    fn that_help(
        &self,
        scenario: &Scenario,
        error: &ResolveError,
        suits: &dyn Fn(&Resolved) -> bool,
    ) -> Vec<Remedy>;
}

/// The only way to the search: few scenarios are impossible, so that a page may have it in a part that
/// comes later.
#[inline(never)]
pub(super) fn door() -> &'static dyn Search {
    black_box(&Smallest as &dyn Search)
}

struct Smallest;

impl Search for Smallest {
    fn that_help(
        &self,
        scenario: &Scenario,
        error: &ResolveError,
        suits: &dyn Fn(&Resolved) -> bool,
    ) -> Vec<Remedy> {
        let Ok(catalog) = catalog::builtin() else { return Vec::new() };
        let wanted = Wanted { scenario, suits };
        let mut remedies = single_changes(&wanted, catalog, error);
        if remedies.is_empty() {
            remedies.extend(together(&wanted, catalog));
        }
        remedies
    }
}

/// What is to become possible, and what else is asked of it.
struct Wanted<'a> {
    scenario: &'a Scenario,
    suits: &'a dyn Fn(&Resolved) -> bool,
}

impl Wanted<'_> {
    /// Whether a changed scenario resolves and suits.
    fn is_given_by(&self, changed: &Scenario) -> bool {
        numbers::resolve(changed).is_ok_and(|resolved| (self.suits)(&resolved))
    }

    /// The change, if it does what is wanted.
    fn tried(&self, key: &str, value: &str, effect: String) -> Option<Remedy> {
        let mut changed = self.scenario.clone();
        changed.set(key, value).ok()?;
        self.is_given_by(&changed).then(|| Remedy::new(key, value.to_owned(), effect))
    }
}

/// Changes of one setting each.
fn single_changes(wanted: &Wanted<'_>, catalog: &Catalog, error: &ResolveError) -> Vec<Remedy> {
    let scenario = wanted.scenario;
    let mut remedies = Vec::new();
    match error {
        ResolveError::DoesNotFit { .. } => {
            remedies.extend(computed_weights(wanted));
            remedies.extend(deployed_otherwise(wanted));
            remedies.extend(larger_gpu(wanted, catalog));
            remedies.extend(shared_out(wanted));
            remedies.extend(lighter_models(wanted, catalog));
        }
        ResolveError::NoRoom { capacity_tokens, .. } => {
            remedies.extend(computed_cache(wanted));
            let room = capacity_tokens.saturating_sub(scenario.spec.tokens);
            remedies.extend(shorter(wanted, room));
            remedies.extend(deployed_otherwise(wanted));
            remedies.extend(larger_gpu(wanted, catalog));
            remedies.extend(lighter_models(wanted, catalog));
            remedies.extend(shared_out(wanted));
            remedies.truncate(3);
        }
        ResolveError::TooLong { context_tokens, .. } => {
            remedies.extend(within_context(wanted, *context_tokens));
            remedies.extend(longer_context(wanted, catalog));
        }
        ResolveError::Uneven { tp, .. } => remedies.extend(even(wanted, *tp)),
        ResolveError::NoSpeculation { .. } => {
            let drafts = "with drafts".to_owned();
            remedies.extend(wanted.tried("sched.rules", "reference", drafts));
            remedies.extend(wanted.tried("spec.tokens", "0", "without drafts".to_owned()));
        }
        _ => {}
    }
    remedies
}

/// Of a deployment: more GPUs per engine, lighter weights, a lighter cache, a larger GPU; the smallest
/// change of each kind that works.
fn deployed_otherwise(wanted: &Wanted<'_>) -> Vec<Remedy> {
    if is_deployed(wanted.scenario) { roomier(wanted, |_| true) } else { Vec::new() }
}

/// Of what is no deployment yet: the fewest GPUs per engine that make it possible.
fn shared_out(wanted: &Wanted<'_>) -> Vec<Remedy> {
    if is_deployed(wanted.scenario) {
        Vec::new()
    } else {
        roomier(wanted, |key| key == "deploy.tp")
    }
}

/// Most GPUs per engine that are tried.
const MOST_GPUS_EACH: u64 = 16;

/// The next larger number of GPUs per engine that works, and the next smaller.
fn even(wanted: &Wanted<'_>, tp: u64) -> Vec<Remedy> {
    let tried = |gpus: u64| {
        let effect = match gpus {
            1 => "each GPU by itself".to_owned(),
            _ => format!("weights and KV cache shared by {gpus} GPUs"),
        };
        wanted.tried("deploy.tp", &gpus.to_string(), effect)
    };
    let larger = (tp + 1..=MOST_GPUS_EACH).find_map(tried);
    let smaller = (1..tp).rev().find_map(tried);
    larger.into_iter().chain(smaller).collect()
}

/// The smallest change of each of these settings that works.
fn roomier(wanted: &Wanted<'_>, asked: fn(&str) -> bool) -> Vec<Remedy> {
    let Some(wide) = wide() else { return Vec::new() };
    let first_that_works = |(key, values): Changes| {
        values.into_iter().find_map(|(value, effect)| wanted.tried(key, &value, effect))
    };
    let changes = wide.roomier(wanted.scenario).into_iter();
    changes.filter(|(key, _)| asked(key)).filter_map(first_that_works).collect()
}

/// Most changes that are tried one after the other.
const MOST_STEPS: usize = 6;

/// One change for what is in the way, one for what is in the way then, and so on, until nothing is.
fn together(wanted: &Wanted<'_>, catalog: &Catalog) -> Option<Remedy> {
    let mut changed = wanted.scenario.clone();
    let mut keys: Vec<String> = Vec::new();
    for _ in 0..MOST_STEPS {
        let Err(cause) = numbers::resolve(&changed) else { break };
        let (key, value) = step_towards(&changed, catalog, &cause)?;
        changed.set(&key, &value).ok()?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if !wanted.is_given_by(&changed) {
        return None;
    }
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
            if scenario.gpu == *slug {
                return enough_gpus(scenario);
            }
            Some(("gpu".to_owned(), slug.clone()))
        }
        _ => None,
    }
}

/// The fewest GPUs per engine with which the weights fit.
fn enough_gpus(scenario: &Scenario) -> Option<(String, String)> {
    let (key, values) =
        wide()?.roomier(scenario).into_iter().find(|(key, _)| *key == "deploy.tp")?;
    let fits = |value: &String| {
        let mut changed = scenario.clone();
        changed.set(key, value).is_ok()
            && !matches!(numbers::resolve(&changed), Err(ResolveError::DoesNotFit { .. }))
    };
    let enough = values.into_iter().map(|(value, _)| value).find(fits)?;
    Some((key.to_owned(), enough))
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
fn computed_weights(wanted: &Wanted<'_>) -> Option<Remedy> {
    wanted.scenario.step.weight_bytes?;
    wanted.tried("step.weight_bytes", AUTO, "as the catalogue has them".to_owned())
}

/// The GPU with the least memory that makes the scenario possible.
fn larger_gpu(wanted: &Wanted<'_>, catalog: &Catalog) -> Option<Remedy> {
    if is_deployed(wanted.scenario) && wide().is_some() {
        // It is among those that are tried from the wide catalogue.
        return None;
    }
    let gpus: Vec<&Gpu> = catalog.gpus().iter().collect();
    ascending(&gpus, |gpu| gpu.memory_bytes.value).into_iter().find_map(|index| {
        let gpu = gpus[index];
        let effect = format!("{} of memory", writing::gigabytes(gpu.memory_bytes.value));
        wanted.tried("gpu", &gpu.slug, effect)
    })
}

/// The heaviest lighter checkpoint of the same network, and of the others of the same family, the
/// heavier of the two first. A larger network in fewer bits is lighter, too, and is no smaller change.
fn lighter_models(wanted: &Wanted<'_>, catalog: &Catalog) -> Vec<Remedy> {
    let Ok(current) = catalog.model(&wanted.scenario.model) else { return Vec::new() };
    let lighter: Vec<&Model> = catalog
        .models()
        .iter()
        .filter(|model| model.family == current.family)
        .filter(|model| model.weight_bytes.value < current.weight_bytes.value)
        .filter(|model| model.params.value <= current.params.value)
        .collect();
    let mut found: [bool; 2] = [false, false];
    let mut remedies = Vec::new();
    for index in ascending(&lighter, |model| -model.weight_bytes.value) {
        let model = lighter[index];
        let kind = usize::from(model.network == current.network);
        if !found[kind] {
            let effect = format!("{} of weights", quantity::memory(model.weight_bytes.value));
            let remedy = wanted.tried("model", &model.slug, effect);
            found[kind] = remedy.is_some();
            remedies.extend(remedy);
        }
    }
    remedies
}

/// The cache that the memory has room for, in place of one that a person gave.
fn computed_cache(wanted: &Wanted<'_>) -> Option<Remedy> {
    wanted.scenario.kv_capacity_tokens?;
    wanted.tried("kv.capacity_tokens", AUTO, "as many tokens as fit".to_owned())
}

/// The longest prompt that leaves room for the answer, or the longest answer.
fn shorter(wanted: &Wanted<'_>, capacity_tokens: u64) -> Option<Remedy> {
    wanted.scenario.lengths().iter().find_map(|typed| {
        let others = longest_beside(wanted.scenario, &typed.key);
        shorter_length(wanted, typed, capacity_tokens.checked_sub(others)?)
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

fn within_context(wanted: &Wanted<'_>, context_tokens: u64) -> Option<Remedy> {
    wanted.scenario.lengths().iter().find_map(|typed| shorter_length(wanted, typed, context_tokens))
}

fn shorter_length(wanted: &Wanted<'_>, typed: &TypedLength, longest: u64) -> Option<Remedy> {
    if longest == 0 || typed.length.longest_tokens() <= longest {
        return None;
    }
    let field = field(if typed.key.ends_with("in") { "in" } else { "out" })?;
    let value = lengths::write_length(field, shortened(typed.length, longest));
    let noun = if longest == 1 { "token" } else { "tokens" };
    let effect = format!("at most {} {noun}", quantity::count(longest));
    wanted.tried(&typed.key, &value, effect)
}

/// The model of the same family, or else of any, that takes the length with the least weights.
fn longer_context(wanted: &Wanted<'_>, catalog: &Catalog) -> Option<Remedy> {
    let family = catalog.model(&wanted.scenario.model).ok().map(|model| model.family.clone());
    let models: Vec<&Model> = catalog.models().iter().collect();
    let lightest_first: Vec<&Model> = ascending(&models, |model| model.weight_bytes.value)
        .into_iter()
        .map(|index| models[index])
        .collect();
    let (same, other): (Vec<&Model>, Vec<&Model>) =
        lightest_first.into_iter().partition(|model| Some(&model.family) == family.as_ref());
    same.into_iter().chain(other).find_map(|model| {
        let context = quantity::editable(model.context_tokens.value);
        wanted.tried("model", &model.slug, format!("takes {context} tokens"))
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
