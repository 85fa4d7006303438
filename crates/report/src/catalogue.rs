//! The catalogue as tables with their sources, as figures one by one, and as JSON.

use std::fmt::Write as _;

use catalog::{Figure, FigureKind, Gpu, Model};
use quantity::{Unit, memory};
use serde_json::{Value, json};

use crate::{json::SCHEMA, table};

/// So few entries are told figure by figure.
const FEW: usize = 2;

/// Entries for a terminal: a few with each figure and its source, more as tables with their sources
/// below.
#[must_use]
pub fn catalog_text(models: &[&Model], gpus: &[&Gpu]) -> String {
    if models.len() + gpus.len() <= FEW {
        let models = models.iter().map(|model| model_details(model));
        let gpus = gpus.iter().map(|gpu| gpu_details(gpu));
        return models.chain(gpus).collect::<Vec<_>>().join("\n");
    }
    let mut parts = Vec::new();
    if !models.is_empty() {
        parts.push(model_table(models));
    }
    if !gpus.is_empty() {
        parts.push(gpu_table(gpus));
    }
    let figures = models
        .iter()
        .flat_map(|model| model.figures().map(|(_, figure)| figure))
        .chain(gpus.iter().flat_map(|gpu| gpu.figures().map(|(_, figure)| figure)));
    parts.push(sources(figures));
    parts.join("\n")
}

fn model_table(models: &[&Model]) -> String {
    const HEADER: [&str; 6] = ["model", "parameters", "weights", "KV per token", "context", "name"];
    let row = |model: &&Model| {
        [
            model.slug.clone(),
            quantity::format(model.params.value, Unit::Parameters),
            memory(model.weight_bytes.value),
            memory(model.kv_bytes_per_token()),
            quantity::tokens(model.context_tokens.value),
            name(model),
        ]
    };
    table::ragged(&HEADER, &models.iter().map(row).collect::<Vec<_>>())
}

fn gpu_table(gpus: &[&Gpu]) -> String {
    const HEADER: [&str; 5] = ["gpu", "memory", "bandwidth", "peak, dense BF16", "name"];
    let row = |gpu: &&Gpu| {
        [
            gpu.slug.clone(),
            quantity::format(gpu.memory_bytes.value / 1e9, Unit::Gigabytes),
            quantity::format(gpu.bandwidth_bytes_per_s.value, Unit::BytesPerSecond),
            quantity::format(gpu.peak_flops.value, Unit::FlopsPerSecond),
            gpu.name.clone(),
        ]
    };
    table::ragged(&HEADER, &gpus.iter().map(row).collect::<Vec<_>>())
}

/// The name with its precision, which some names have already.
fn name(model: &Model) -> String {
    if model.name.ends_with(&model.precision) {
        return model.name.clone();
    }
    format!("{}, {}", model.name, model.precision)
}

/// Each document once, in the order of its first figure.
fn sources<'a>(figures: impl Iterator<Item = &'a Figure>) -> String {
    let mut documents: Vec<String> = Vec::new();
    for figure in figures {
        let document = format!("{}, {}", figure.source, figure.date);
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    let mut text = String::from("Sources (search for one entry to see which figure is whose):\n");
    for document in documents {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {document}");
    }
    text
}

fn model_details(model: &Model) -> String {
    let head = format!("{}: {}, by {}", model.slug, name(model), model.maker);
    details(&head, model.names().skip(1), &model.figures())
}

fn gpu_details(gpu: &Gpu) -> String {
    let head = format!("{}: {}, by {}", gpu.slug, gpu.name, gpu.maker);
    details(&head, gpu.names().skip(1), &gpu.figures())
}

fn details<'a>(
    head: &str,
    aliases: impl Iterator<Item = &'a str>,
    figures: &[(&'static str, &Figure)],
) -> String {
    let aliases: Vec<&str> = aliases.collect();
    let mut text = format!("{head}\n");
    if !aliases.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "also found as {}", aliases.join(", "));
    }
    let row = |(name, figure): &(&'static str, &Figure)| {
        [
            (*name).to_owned(),
            quantity::editable(figure.value),
            unit_of(name).to_owned(),
            kind(figure.kind).to_owned(),
            figure.citation(),
        ]
    };
    let rows: Vec<[String; 5]> = figures.iter().map(row).collect();
    text + &table::ragged(&["figure", "value", "unit", "kind", "source"], &rows)
}

/// Entries as JSON: SI units, all digits, and of each figure where it comes from.
#[must_use]
pub fn catalog_json(models: &[&Model], gpus: &[&Gpu]) -> String {
    let model = |model: &&Model| {
        json!({
            "slug": model.slug,
            "name": model.name,
            "family": model.family,
            "network": model.network,
            "maker": model.maker,
            "precision": model.precision,
            "aliases": model.aliases,
            "kv_bytes_per_token": model.kv_bytes_per_token(),
            "figures": figures(&model.figures()),
        })
    };
    let gpu = |gpu: &&Gpu| {
        json!({
            "slug": gpu.slug,
            "name": gpu.name,
            "short_name": gpu.short_name,
            "maker": gpu.maker,
            "aliases": gpu.aliases,
            "figures": figures(&gpu.figures()),
        })
    };
    let document = json!({
        "schema": SCHEMA,
        "kind": "catalog",
        "revision": catalog::REVISION,
        "models": models.iter().map(model).collect::<Vec<_>>(),
        "gpus": gpus.iter().map(gpu).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn figures(figures: &[(&'static str, &Figure)]) -> Value {
    let entry = |(name, figure): &(&'static str, &Figure)| {
        let value = json!({
            "value": figure.value,
            "unit": unit_of(name),
            "kind": kind(figure.kind).to_ascii_lowercase(),
            "source": figure.source,
            "date": figure.date,
            "note": figure.note,
        });
        ((*name).to_owned(), value)
    };
    Value::Object(figures.iter().map(entry).collect())
}

const fn kind(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Published => "Published",
        FigureKind::Derived => "Derived",
    }
}

/// The unit of a figure, by the name of its field.
fn unit_of(name: &str) -> &'static str {
    match name {
        "params" => "parameters",
        "peak_flops" => "FLOP/s",
        "bandwidth_bytes_per_s" => "bytes/s",
        name if name.ends_with("bytes") => "bytes",
        name if name.ends_with("tokens") => "tokens",
        _ => "",
    }
}
