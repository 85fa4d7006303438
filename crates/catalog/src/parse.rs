//! JSON to entries. Whatever is wrong is said with the entry and the field.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    figure::{Figure, FigureKind},
    gpu::Gpu,
    model::Model,
    suggest::normalised,
};

/// The data of the catalogue are broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// Not JSON of the documented shape.
    #[error("{file}: {message}; correct the file")]
    Json {
        /// Which of the two texts.
        file: &'static str,
        /// What the parser says, with line and column.
        message: String,
    },
    /// The compiled-in form cannot be decoded.
    #[error("the compiled-in catalogue: {message}; build again")]
    Encoded {
        /// What the decoder says.
        message: String,
    },
    /// One entry is wrong.
    #[error("{slug}: {problem}")]
    Entry {
        /// The entry.
        slug: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}

pub(crate) fn models(text: &str) -> Result<Vec<Model>, CatalogError> {
    let file: ModelFile = serde_json::from_str(text).map_err(|e| json_error("models", &e))?;
    let mut names = BTreeSet::new();
    file.models.into_iter().map(|raw| raw.build(&file.sources, &mut names)).collect()
}

pub(crate) fn gpus(text: &str) -> Result<Vec<Gpu>, CatalogError> {
    let file: GpuFile = serde_json::from_str(text).map_err(|e| json_error("GPUs", &e))?;
    let mut names = BTreeSet::new();
    file.gpus.into_iter().map(|raw| raw.build(&file.sources, &mut names)).collect()
}

type Sources = BTreeMap<String, RawSource>;

#[derive(Deserialize)]
struct ModelFile {
    sources: Sources,
    models: Vec<RawModel>,
}

#[derive(Deserialize)]
struct GpuFile {
    sources: Sources,
    gpus: Vec<RawGpu>,
}

#[derive(Deserialize)]
struct RawSource {
    title: String,
    date: String,
}

#[derive(Deserialize)]
struct RawFigure {
    value: f64,
    source: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
struct RawModel {
    slug: String,
    name: String,
    family: String,
    network: String,
    maker: String,
    precision: String,
    aliases: Vec<String>,
    params: RawFigure,
    weight_bytes: RawFigure,
    layers: RawFigure,
    kv_heads: RawFigure,
    head_dim: RawFigure,
    kv_element_bytes: RawFigure,
    context_tokens: RawFigure,
}

#[derive(Deserialize)]
struct RawGpu {
    slug: String,
    name: String,
    short_name: String,
    maker: String,
    aliases: Vec<String>,
    peak_flops: RawFigure,
    bandwidth_bytes_per_s: RawFigure,
    memory_bytes: RawFigure,
}

impl RawModel {
    fn build(self, sources: &Sources, names: &mut BTreeSet<String>) -> Result<Model, CatalogError> {
        claim_names(&self.slug, &self.aliases, names)?;
        let figure = |field, raw| figure(&self.slug, field, raw, sources);
        Ok(Model {
            params: figure("params", self.params)?,
            weight_bytes: figure("weight_bytes", self.weight_bytes)?,
            layers: figure("layers", self.layers)?,
            kv_heads: figure("kv_heads", self.kv_heads)?,
            head_dim: figure("head_dim", self.head_dim)?,
            kv_element_bytes: figure("kv_element_bytes", self.kv_element_bytes)?,
            context_tokens: figure("context_tokens", self.context_tokens)?,
            slug: self.slug,
            name: self.name,
            family: self.family,
            network: self.network,
            maker: self.maker,
            precision: self.precision,
            aliases: self.aliases,
        })
    }
}

impl RawGpu {
    fn build(self, sources: &Sources, names: &mut BTreeSet<String>) -> Result<Gpu, CatalogError> {
        claim_names(&self.slug, &self.aliases, names)?;
        let figure = |field, raw| figure(&self.slug, field, raw, sources);
        Ok(Gpu {
            peak_flops: figure("peak_flops", self.peak_flops)?,
            bandwidth_bytes_per_s: figure("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s)?,
            memory_bytes: figure("memory_bytes", self.memory_bytes)?,
            slug: self.slug,
            name: self.name,
            short_name: self.short_name,
            maker: self.maker,
            aliases: self.aliases,
        })
    }
}

fn figure(
    slug: &str,
    field: &str,
    raw: RawFigure,
    sources: &Sources,
) -> Result<Figure, CatalogError> {
    if !(raw.value.is_finite() && raw.value > 0.0) {
        return Err(entry_error(slug, format!("{field} is {}; give a positive number", raw.value)));
    }
    let Some(source) = sources.get(&raw.source) else {
        let problem = format!("{field} names the source “{}”; list it in sources", raw.source);
        return Err(entry_error(slug, problem));
    };
    if source.title.trim().is_empty() || source.date.trim().is_empty() {
        let problem = format!("the source “{}” needs a title and a date", raw.source);
        return Err(entry_error(slug, problem));
    }
    let kind = match raw.kind.as_str() {
        "" | "published" => FigureKind::Published,
        "derived" => FigureKind::Derived,
        other => {
            let problem = format!("{field} is of the kind “{other}”; give published or derived");
            return Err(entry_error(slug, problem));
        }
    };
    Ok(Figure {
        value: raw.value,
        kind,
        source: source.title.clone(),
        date: source.date.clone(),
        note: raw.note,
    })
}

/// Slugs and aliases find an entry, so none may stand for two.
fn claim_names(
    slug: &str,
    aliases: &[String],
    taken: &mut BTreeSet<String>,
) -> Result<(), CatalogError> {
    for name in std::iter::once(slug).chain(aliases.iter().map(String::as_str)) {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        if name.is_empty() || !name.chars().all(plain) || normalised(name) != name {
            let problem = format!("“{name}” must be lower-case letters, digits, - and .");
            return Err(entry_error(slug, problem));
        }
        if !taken.insert(name.to_owned()) {
            return Err(entry_error(slug, format!("the name “{name}” is taken; choose another")));
        }
    }
    Ok(())
}

fn entry_error(slug: &str, problem: String) -> CatalogError {
    CatalogError::Entry { slug: slug.to_owned(), problem }
}

fn json_error(file: &'static str, error: &serde_json::Error) -> CatalogError {
    CatalogError::Json { file, message: error.to_string() }
}
