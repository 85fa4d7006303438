//! What versions of an engine change about memory.

use catalog::Engine;
use serde_json::{Value, json};
use sim_core::memory::{GIB, MemoryPlan};

use crate::{json::document, table};

/// A version with what fits under it; or why it does not start.
#[derive(Clone, Debug)]
pub struct VersionSeen {
    /// The version, and what it changed.
    pub engine: Engine,
    /// What fits.
    pub plan: Result<MemoryPlan, String>,
    /// Longest request, tokens.
    pub max_model_len: u64,
}

impl VersionSeen {
    /// Memory of the cache, its logged size and concurrency.
    fn figures(&self) -> Option<(f64, u64, f64)> {
        let plan = self.plan.as_ref().ok()?;
        let budget = &plan.tightest()?.budget;
        Some((budget.kv_bytes, plan.logged_tokens, plan.max_concurrency))
    }
}

/// All of it as text: a row a version that changes something, and the reasons under it.
#[must_use]
pub fn versions_text(title: &str, versions: &[VersionSeen]) -> String {
    let mut rows = Vec::new();
    let mut reasons = Vec::new();
    let mut before: Option<(f64, u64, f64)> = None;
    for version in versions {
        let figures = version.figures();
        let is_first = rows.is_empty();
        let changes = &version.engine.changes;
        if !is_first && figures == before && changes.is_empty() {
            continue;
        }
        rows.push(row(version, if is_first { None } else { before }));
        let name = &version.engine.name;
        for (text, source) in changes.iter().filter(|_| !is_first) {
            reasons.push(format!("{name}: {text} ({})", source.title));
        }
        if let Err(reason) = &version.plan {
            reasons.push(format!("{name} does not start: {reason}"));
        }
        before = figures;
    }
    let last = versions.last().map_or("", |it| it.engine.name.as_str());
    let header =
        ["version", "KV cache", "change", "logged size", "change", "max. concurrency", "known"];
    let reasons = if reasons.is_empty() {
        format!("Nothing changes up to {last}.")
    } else {
        reasons.join("\n")
    };
    format!("{title}\n\n{}\nWhy:\n{reasons}\n", table::aligned(&header, &rows))
}

fn row(version: &VersionSeen, before: Option<(f64, u64, f64)>) -> Vec<String> {
    let known = if version.engine.rules.is_measured { "measured" } else { "assumed" };
    let Some((kv_bytes, tokens, concurrency)) = version.figures() else {
        let none = || "–".to_owned();
        return vec![
            version.engine.name.clone(),
            none(),
            none(),
            none(),
            none(),
            none(),
            known.to_owned(),
        ];
    };
    let change = |now: f64, then: Option<f64>| match then {
        Some(then) if then > 0.0 && now != then => quantity::change(now / then),
        Some(_) => "=".to_owned(),
        None => String::new(),
    };
    vec![
        version.engine.name.clone(),
        quantity::with_unit(&quantity::number_fixed(kv_bytes / GIB, 2), "GiB"),
        change(kv_bytes, before.map(|it| it.0)),
        quantity::count(tokens),
        change(tokens as f64, before.map(|it| it.1 as f64)),
        [quantity::number_fixed(concurrency, 2), "x".to_owned()].concat(),
        known.to_owned(),
    ]
}

/// All of it as JSON, in SI units.
#[must_use]
pub fn versions_json(title: &str, versions: &[VersionSeen]) -> String {
    let version = |it: &VersionSeen| -> Value {
        let figures = it.figures();
        json!({
            "engine": it.engine.name,
            "is_measured": it.engine.rules.is_measured,
            "kv_bytes": figures.map(|it| it.0),
            "kv_cache_size_tokens": figures.map(|it| it.1),
            "max_concurrency": figures.map(|it| it.2),
            "max_model_len_tokens": it.max_model_len,
            "refused": it.plan.as_ref().err(),
            "changes": it.engine.changes.iter().map(|(text, source)| json!({
                "text": text,
                "source": source.title,
                "address": source.address,
            })).collect::<Vec<_>>(),
        })
    };
    document(&json!({
        "schema": crate::SCHEMA,
        "kind": "versions",
        "title": title,
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
    }))
}
