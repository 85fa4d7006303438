//! The catalogue as JSON: SI units, all digits, and of each figure where it comes from.

use catalog::{Checkpoint, Citation, Device, Engine, Fact, Figure, FigureKind, Files, Source};
use serde_json::{Map, Value, json};

use super::{CatalogTelling, gpu_facts, layers, unit_of};
use crate::json::SCHEMA;

/// Entries as JSON.
#[must_use]
pub fn catalog_json(telling: &CatalogTelling<'_>) -> String {
    let document = json!({
        "schema": SCHEMA,
        "kind": "catalog",
        "revision": catalog::REVISION,
        "models": telling.models.iter().map(model).collect::<Vec<_>>(),
        "gpus": telling.gpus.iter().map(gpu).collect::<Vec<_>>(),
        "engines": telling.engines.iter().map(engine).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn model(model: &Checkpoint) -> Value {
    let architecture = &model.config.architecture;
    let parameters = architecture.parameters();
    let short = catalog::builtin().ok();
    let short = short.and_then(|it| it.models().iter().find(|known| known.slug == model.slug));
    let figures: Map<String, Value> =
        short.map(|it| it.figures().iter().map(figure).collect()).unwrap_or_default();
    json!({
        "slug": model.slug,
        "name": model.name,
        "maker": model.maker,
        "repository": model.repository,
        "date": model.date,
        "aliases": model.aliases,
        "facts": citation(&model.facts),
        "hidden_size": architecture.hidden_size,
        "vocab_size": architecture.vocab_size,
        "tied_embeddings": architecture.tied_embeddings,
        "context_tokens": model.config.context_tokens,
        "layers": layers::kinds(architecture).into_iter().map(|(count, words)| json!({
            "count": count,
            "are": words,
        })).collect::<Vec<_>>(),
        "tower_params": architecture.tower_params,
        "params": parameters.total,
        "active_params": parameters.active,
        "published_params": model.params.as_ref().map(|params| fact("params", &params.total)),
        "published_active_params": model.params.as_ref().and_then(|params| params.active),
        "files": model.files.iter().map(|it| files(model, it)).collect::<Vec<_>>(),
        // With these it is planned where no deployment is asked for.
        "figures": figures,
    })
}

fn files(model: &Checkpoint, files: &Files) -> Value {
    json!({
        "format": files.format.word(),
        "repository": files.repository,
        "computed_bytes": model.computed_file_bytes(files).ok(),
        "bytes": files.bytes.as_ref().map(|bytes| fact("weight_bytes", bytes)),
        "seen": source(&files.seen),
        "note": files.note,
    })
}

fn gpu(gpu: &Device) -> Value {
    let facts: Map<String, Value> =
        gpu_facts(gpu).into_iter().map(|(name, it)| (name.to_owned(), fact(name, it))).collect();
    json!({
        "slug": gpu.slug,
        "name": gpu.name,
        "short_name": gpu.short_name,
        "maker": gpu.maker,
        "aliases": gpu.aliases,
        "interconnect": gpu.interconnect,
        "total_bytes": gpu.total_bytes,
        "total_bytes_from": gpu.total_source.as_ref().map(citation),
        "figures": facts,
    })
}

fn engine(engine: &Engine) -> Value {
    let rules = &engine.rules;
    json!({
        "name": engine.name,
        "releases": engine.releases,
        "releases_from": source(&engine.releases_source),
        "gpu_memory_utilization": rules.utilization,
        "reserves_cuda_graphs": rules.reserves_graphs,
        "logs_tokens_by_concurrency": rules.logs_tokens_by_concurrency,
        "caches_states": rules.caches_states,
        "non_torch_alone_bytes": rules.non_torch_alone_bytes,
        "non_torch_linked_bytes": rules.non_torch_linked_bytes,
        "is_measured": rules.is_measured,
        "changes": engine.changes.iter().map(|(text, from)| json!({
            "text": text,
            "source": source(from),
        })).collect::<Vec<_>>(),
    })
}

fn fact(name: &str, fact: &Fact) -> Value {
    let mut value = citation(&fact.citation);
    if let Value::Object(fields) = &mut value {
        fields.insert("value".to_owned(), json!(fact.value));
        fields.insert("unit".to_owned(), json!(unit_of(name)));
    }
    value
}

fn citation(citation: &Citation) -> Value {
    json!({
        "kind": citation.kind.word(),
        "source": citation.source.title,
        "address": citation.source.address,
        "date": citation.source.date,
        "read": citation.source.read,
        "at": citation.at,
        "note": citation.note,
    })
}

fn source(source: &Source) -> Value {
    json!({
        "title": source.title,
        "address": source.address,
        "date": source.date,
        "read": source.read,
    })
}

fn figure((name, figure): &(&'static str, &Figure)) -> (String, Value) {
    let kind = match figure.kind {
        FigureKind::Published => "published",
        FigureKind::Derived => "derived",
    };
    let value = json!({
        "value": figure.value,
        "unit": unit_of(name),
        "kind": kind,
        "source": figure.source,
        "date": figure.date,
        "note": figure.note,
    });
    ((*name).to_owned(), value)
}
