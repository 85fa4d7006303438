//! The catalogue as tables, as figures one by one with their sources, and as JSON.

mod json;
mod layers;

use std::fmt::Write as _;

use catalog::{
    Checkpoint, Citation, Device, Engine, Fact, FactKind, Figure, FigureKind, Files, Model,
};
use quantity::{Unit, memory};
use sim_core::memory::EngineRules;

use crate::table;

pub use json::catalog_json;

/// So few entries are told figure by figure.
const FEW: usize = 2;

/// What is told of the catalogue.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatalogTelling<'a> {
    /// Models.
    pub models: &'a [Checkpoint],
    /// Accelerators.
    pub gpus: &'a [Device],
    /// Versions of engines.
    pub engines: &'a [Engine],
}

/// Entries for a terminal: a few with each figure and its source, more as tables.
#[must_use]
pub fn catalog_text(telling: &CatalogTelling<'_>) -> String {
    let CatalogTelling { models, gpus, engines } = *telling;
    if models.len() + gpus.len() + engines.len() <= FEW {
        let models = models.iter().map(model_details);
        let details = models.chain(gpus.iter().map(gpu_details));
        return details.chain(engines.iter().map(engine_details)).collect::<Vec<_>>().join("\n");
    }
    let mut parts = Vec::new();
    if !models.is_empty() {
        parts.push(model_table(models));
    }
    if !gpus.is_empty() {
        parts.push(gpu_table(gpus));
    }
    if !engines.is_empty() {
        parts.push(engine_table(engines));
    }
    parts.push(sources(telling));
    parts.join("\n")
}

/// Each document once, in the order of its first figure.
fn sources(telling: &CatalogTelling<'_>) -> String {
    let models = telling.models.iter().flat_map(|model| {
        let params = model.params.iter().map(|params| &params.total.citation.source);
        let files = model.files.iter().map(|files| &files.seen);
        std::iter::once(&model.facts.source).chain(params).chain(files)
    });
    let gpus = telling.gpus.iter().flat_map(|gpu| {
        let total = gpu.total_source.iter().map(|citation| &citation.source);
        gpu_facts(gpu).into_iter().map(|(_, fact)| &fact.citation.source).chain(total)
    });
    let engines = telling.engines.iter().flat_map(|engine| {
        std::iter::once(&engine.releases_source).chain(engine.changes.iter().map(|(_, it)| it))
    });
    let mut documents: Vec<String> = Vec::new();
    for source in models.chain(gpus).chain(engines) {
        let parts = [&source.title, &source.date, &source.address];
        let told: Vec<&str> =
            parts.iter().map(|part| part.as_str()).filter(|part| !part.is_empty()).collect();
        let document = told.join(", ");
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    let head = "Sources (search for one entry to see which figure is whose):\n  ";
    head.to_owned() + &documents.join("\n  ") + "\n"
}

fn model_table(models: &[Checkpoint]) -> String {
    const HEADER: [&str; 6] = ["model", "parameters", "active", "context", "formats", "name"];
    let row = |model: &Checkpoint| {
        let parameters = model.config.architecture.parameters();
        let active = if has_experts(model) { amount(parameters.active) } else { String::new() };
        let formats: Vec<&str> = model.files.iter().map(|files| files.format.word()).collect();
        [
            model.slug.clone(),
            amount(parameters.total),
            active,
            quantity::tokens(model.config.context_tokens as f64),
            formats.join(" "),
            format!("{}, {}", model.name, model.maker),
        ]
    };
    table::ragged(&HEADER, &models.iter().map(row).collect::<Vec<_>>())
}

fn has_experts(model: &Checkpoint) -> bool {
    model.config.architecture.most_active_experts().0 > 0
}

fn amount(parameters: f64) -> String {
    quantity::format(parameters, Unit::Parameters)
}

fn gpu_table(gpus: &[Device]) -> String {
    const HEADER: [&str; 7] = ["gpu", "memory", "bandwidth", "BF16", "FP8", "$ per hour", "name"];
    let flops = |value: f64| quantity::format(value, Unit::FlopsPerSecond);
    let row = |gpu: &Device| {
        [
            gpu.slug.clone(),
            quantity::format(gpu.memory_bytes.value / 1e9, Unit::Gigabytes),
            quantity::format(gpu.bandwidth_bytes_per_s.value, Unit::BytesPerSecond),
            flops(gpu.peaks.bf16.value),
            gpu.peaks.fp8.as_ref().map_or_else(String::new, |fact| flops(fact.value)),
            gpu.price_per_hour
                .as_ref()
                .map_or_else(String::new, |(low, high)| format!("{}–{}", price(low), price(high))),
            gpu.name.clone(),
        ]
    };
    table::ragged(&HEADER, &gpus.iter().map(row).collect::<Vec<_>>())
}

fn price(fact: &Fact) -> String {
    quantity::number_fixed(fact.value, 2)
}

fn engine_table(engines: &[Engine]) -> String {
    let row = |engine: &Engine| {
        let changes: Vec<&str> = engine.changes.iter().map(|(text, _)| text.as_str()).collect();
        [
            engine.name.clone(),
            quantity::number(engine.rules.utilization),
            if engine.rules.is_measured { "measured on H100" } else { "assumed" }.to_owned(),
            changes.join(" "),
        ]
    };
    let rows: Vec<[String; 4]> = engines.iter().map(row).collect();
    table::ragged(&["engine", "utilisation", "fixed costs", "what it changed"], &rows)
}

fn model_details(model: &Checkpoint) -> String {
    let mut text = format!("{}: {}, by {}\n", model.slug, model.name, model.maker);
    also_found_as(&mut text, &model.aliases);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}, {}", model.repository, model.date);
    let _ = writeln!(text, "architecture, {}", cited(&model.facts));
    for (layers, words) in layers::kinds(&model.config.architecture) {
        let _ = writeln!(text, "  {} {words}", quantity::counted(layers, "layer", "layers"));
    }
    let architecture = &model.config.architecture;
    let tied = if architecture.tied_embeddings { ", one table for input and output" } else { "" };
    let _ = writeln!(
        text,
        "  width {}, vocabulary {}{tied}",
        quantity::count(architecture.hidden_size),
        quantity::count(architecture.vocab_size)
    );
    let _ = writeln!(text, "context {}", quantity::tokens(model.config.context_tokens as f64));
    let _ = writeln!(text, "{}", parameters_line(model));
    let rows: Vec<[String; 4]> = model.files.iter().map(|files| files_row(model, files)).collect();
    text.push_str(&table::ragged(&["weights", "bytes", "how they are known", "files"], &rows));
    let short = catalog::builtin().ok().and_then(|short| {
        short.models().iter().find(|known| known.slug == model.slug).map(short_figures)
    });
    text + &short.unwrap_or_default()
}

/// The figures with which the model is planned where no deployment is asked for.
fn short_figures(model: &Model) -> String {
    let row = |(name, figure): &(&'static str, &Figure)| {
        let kind = match figure.kind {
            FigureKind::Published => "Published",
            FigureKind::Derived => "Derived",
        };
        [
            (*name).to_owned(),
            quantity::editable(figure.value),
            unit_of(name).to_owned(),
            kind.to_owned(),
            figure.citation(),
        ]
    };
    let rows: Vec<[String; 5]> = model.figures().iter().map(row).collect();
    let head = "Plans without tp, engine, weights or kv_dtype, on one GPU, take these:\n";
    head.to_owned() + &table::ragged(&["figure", "value", "unit", "kind", "source"], &rows)
}

fn parameters_line(model: &Checkpoint) -> String {
    let found = model.config.architecture.parameters();
    let active = if has_experts(model) {
        format!(", {} for each token", amount(found.active))
    } else {
        String::new()
    };
    let said = model.params.as_ref().map_or_else(String::new, |params| {
        format!("; {} {}", amount(params.total.value), cited(&params.total.citation))
    });
    format!("parameters: {}{active}, counted from the dimensions{said}", amount(found.total))
}

fn files_row(model: &Checkpoint, files: &Files) -> [String; 4] {
    let (bytes, how) = match &files.bytes {
        Some(fact) => (fact.value, cited(&fact.citation)),
        None => {
            let computed = model.computed_file_bytes(files).unwrap_or(f64::NAN);
            (computed, "derived from dimensions and format".to_owned())
        }
    };
    let made = "made by whoever serves it";
    let repository = if files.repository.is_empty() { made } else { &files.repository };
    let note = if files.note.is_empty() { String::new() } else { format!(", {}", files.note) };
    let seen = format!("{repository}; {}{note}", files.seen.title);
    [files.format.name(), memory(bytes), how, seen]
}

fn gpu_details(gpu: &Device) -> String {
    let mut text = format!("{}: {}, by {}\n", gpu.slug, gpu.name, gpu.maker);
    also_found_as(&mut text, &gpu.aliases);
    let _ = writeln!(text, "linked by {}", gpu.interconnect);
    let row = |(name, fact): (&'static str, &Fact)| {
        [
            name.to_owned(),
            quantity::editable(fact.value),
            unit_of(name).to_owned(),
            fact.citation.kind.label().to_owned(),
            fact.citation.line(),
        ]
    };
    let mut rows: Vec<[String; 5]> = gpu_facts(gpu).into_iter().map(row).collect();
    let (kind, source) = match &gpu.total_source {
        Some(citation) => (citation.kind, citation.line()),
        None => (FactKind::Assumed, "as others report of theirs".to_owned()),
    };
    let reported = quantity::editable(gpu.total_bytes);
    let cells = ["total_bytes", &reported, "bytes", kind.label(), &source];
    rows.insert(1, cells.map(str::to_owned));
    text + &table::ragged(&["figure", "value", "unit", "kind", "source"], &rows)
}

/// The figures of a GPU with the names of their fields.
fn gpu_facts(gpu: &Device) -> Vec<(&'static str, &Fact)> {
    let peaks = &gpu.peaks;
    let mut facts = vec![
        ("memory_bytes", &gpu.memory_bytes),
        ("bandwidth_bytes_per_s", &gpu.bandwidth_bytes_per_s),
        ("bf16_flops", &peaks.bf16),
    ];
    let (low, high) = match &gpu.price_per_hour {
        Some((low, high)) => (Some(low), Some(high)),
        None => (None, None),
    };
    for (name, fact) in [
        ("fp8_flops", peaks.fp8.as_ref()),
        ("fp4_flops", peaks.fp4.as_ref()),
        ("int8_ops", peaks.int8.as_ref()),
        ("link_bytes_per_s", gpu.link_bytes_per_s.as_ref()),
        ("price_low", low),
        ("price_high", high),
    ] {
        facts.extend(fact.map(|fact| (name, fact)));
    }
    facts
}

fn engine_details(engine: &Engine) -> String {
    let rules = &engine.rules;
    let mut text = format!(
        "{}: {}, by {}\n",
        engine.name,
        engine.releases.join(", "),
        engine.releases_source.title
    );
    for line in rule_lines(rules) {
        let _ = writeln!(text, "  {line}");
    }
    for (change, source) in &engine.changes {
        let date = if source.date.is_empty() { &source.read } else { &source.date };
        let _ = writeln!(text, "changed: {change} {}, {date}", source.title);
    }
    text
}

fn rule_lines(rules: &EngineRules) -> [String; 5] {
    let yes = |is: bool| if is { "yes" } else { "no" };
    [
        format!("gpu_memory_utilization {}", quantity::number(rules.utilization)),
        format!("takes an estimate of CUDA graphs off: {}", yes(rules.reserves_graphs)),
        format!("keeps states of recurrent layers for prefixes: {}", yes(rules.caches_states)),
        format!(
            "logs the size of the cache as concurrency × max_model_len: {}",
            yes(rules.logs_tokens_by_concurrency)
        ),
        format!(
            "outside the framework {} GiB on a rank alone, {} on one of several (measured: {})",
            quantity::number(rules.non_torch_alone_bytes / sim_core::memory::GIB),
            quantity::number(rules.non_torch_linked_bytes / sim_core::memory::GIB),
            yes(rules.is_measured)
        ),
    ]
}

fn also_found_as(text: &mut String, aliases: &[String]) {
    if !aliases.is_empty() {
        let _ = writeln!(text, "also found as {}", aliases.join(", "));
    }
}

/// “published: model card, 2024-09”.
fn cited(citation: &Citation) -> String {
    format!("{}: {}", citation.kind.word(), citation.line())
}

/// The unit of a figure, by the name of its field.
fn unit_of(name: &str) -> &'static str {
    match name {
        "params" => "parameters",
        "int8_ops" => "OP/s",
        name if name.starts_with("price") => "$ per hour",
        name if name.ends_with("flops") => "FLOP/s",
        name if name.ends_with("bytes_per_s") => "bytes/s",
        name if name.ends_with("bytes") => "bytes",
        name if name.ends_with("tokens") => "tokens",
        _ => "",
    }
}
