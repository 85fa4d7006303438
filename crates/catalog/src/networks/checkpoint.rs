//! Checkpoints by name, with all facts of their architecture.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use sim_core::memory::{Deployment, EngineVersion, Gpu, MemoryError, WeightBytes, plan};

use super::{
    Citation, Fact, FactKind, LookUpError, Source, WeightFormat,
    source::{RawFact, source},
};
use crate::{
    ModelConfig, NotFound,
    config::from_object,
    suggest::{nearest_slugs, normalised, ranked},
};

const CHECKPOINTS: &str = include_str!("../../../../assets/catalog/architectures.json");

/// A checkpoint with all facts of its architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Stable name of the model.
    pub slug: String,
    /// Name that people read.
    pub name: String,
    /// Who makes it.
    pub maker: String,
    /// Where its files are.
    pub repository: String,
    /// When the model was published.
    pub date: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// Where the facts of the architecture come from.
    pub facts: Citation,
    /// Parameters as published, where they are.
    pub params: Option<Params>,
    /// Files of the same network in several formats; the first is the model's own.
    pub files: Vec<Files>,
    /// The files in question; none where the weights are made up of another format.
    pub chosen: Option<usize>,
    /// What the `config.json` says, of the files in question.
    pub config: ModelConfig,
    raw: Map<String, Value>,
}

/// How many parameters a model is said to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// All of them.
    pub total: Fact,
    /// Those a token visits, in a mixture of experts.
    pub active: Option<f64>,
}

/// Published weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Files {
    /// How they are stored.
    pub format: WeightFormat,
    /// Where they are; empty where they are made by whoever serves them.
    pub repository: String,
    /// Their bytes as published, or as an engine logged them; computed where they are absent.
    pub bytes: Option<Fact>,
    /// Layers for multi-token prediction that the published bytes hold, too.
    pub speculative_layers: u64,
    /// Who says that there are such files.
    pub seen: Source,
    /// A remark; may be empty.
    pub note: String,
    quantization: Option<Value>,
}

#[derive(Deserialize)]
struct RawCheckpoints {
    checkpoints: Vec<RawCheckpoint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCheckpoint {
    slug: String,
    name: String,
    maker: String,
    repository: String,
    date: String,
    aliases: Vec<String>,
    facts: RawCitation,
    params: Option<RawParams>,
    config: Map<String, Value>,
    files: Vec<RawFiles>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCitation {
    source: String,
    #[serde(default)]
    at: String,
    #[serde(default)]
    kind: FactKind,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParams {
    total: f64,
    active: Option<f64>,
    source: String,
    #[serde(default)]
    kind: FactKind,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFiles {
    format: WeightFormat,
    #[serde(default)]
    repository: String,
    quantization: Option<Value>,
    bytes: Option<RawFact>,
    #[serde(default)]
    speculative_layers: u64,
    seen: String,
    #[serde(default)]
    note: String,
}

impl RawCheckpoint {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.slug.as_str()).chain(self.aliases.iter().map(String::as_str))
    }

    fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The files that a name ends with the format of: `qwen3-8b-fp8`.
    fn named_files(&self, name: &str) -> Option<usize> {
        let (stem, format) = name.rsplit_once('-')?;
        let is_format = |files: &RawFiles| files.format.word() == format;
        self.is_named(stem).then(|| self.files.iter().position(is_format))?
    }

    fn search_text(&self) -> String {
        let formats: Vec<&str> = self.files.iter().map(|files| files.format.word()).collect();
        let family = self.config.get("model_type").and_then(Value::as_str).unwrap_or_default();
        format!(
            "{} {} {} {} {} {family} {}",
            self.slug,
            self.name,
            self.maker,
            self.repository,
            self.aliases.join(" "),
            formats.join(" ")
        )
    }

    fn build(&self, chosen: usize) -> Result<Checkpoint, LookUpError> {
        let facts = Citation {
            kind: self.facts.kind,
            source: source(&self.facts.source, &self.slug)?,
            at: self.facts.at.clone(),
            note: self.facts.note.clone(),
        };
        let params = self.params.as_ref().map(|raw| raw.build(&self.slug)).transpose()?;
        let files: Vec<Files> =
            self.files.iter().map(|raw| raw.build(self)).collect::<Result<_, _>>()?;
        let config = configured(&self.config, files.get(chosen))?;
        Ok(Checkpoint {
            slug: self.slug.clone(),
            name: self.name.clone(),
            maker: self.maker.clone(),
            repository: self.repository.clone(),
            date: self.date.clone(),
            aliases: self.aliases.clone(),
            facts,
            params,
            files,
            chosen: Some(chosen),
            config,
            raw: self.config.clone(),
        })
    }
}

impl RawParams {
    fn build(&self, entry: &str) -> Result<Params, LookUpError> {
        let (source, note) = (self.source.clone(), self.note.clone());
        let total = RawFact { value: self.total, source, kind: self.kind, note };
        Ok(Params { total: total.build(entry)?, active: self.active })
    }
}

impl RawFiles {
    fn build(&self, of: &RawCheckpoint) -> Result<Files, LookUpError> {
        let is_own = self.repository.is_empty() && self.quantization.is_none();
        Ok(Files {
            format: self.format,
            repository: if is_own { of.repository.clone() } else { self.repository.clone() },
            bytes: self.bytes.as_ref().map(|bytes| bytes.build(&of.slug)).transpose()?,
            speculative_layers: self.speculative_layers,
            seen: source(&self.seen, &of.slug)?,
            note: self.note.clone(),
            quantization: self.quantization.clone(),
        })
    }
}

/// The configuration of a network with that of its files.
fn configured(
    network: &Map<String, Value>,
    files: Option<&Files>,
) -> Result<ModelConfig, LookUpError> {
    let mut fields = network.clone();
    if let Some(quantization) = files.and_then(|files| files.quantization.clone()) {
        fields.insert("quantization_config".to_owned(), quantization);
    }
    Ok(from_object(&fields)?)
}

impl Checkpoint {
    /// How the weights in question are stored, where that is one of the formats.
    #[must_use]
    pub fn format(&self) -> Option<WeightFormat> {
        self.chosen.and_then(|index| self.files.get(index)).map(|files| files.format)
    }

    /// The same network in another format: in published files, or else made up of all projections in
    /// that format.
    ///
    /// # Errors
    ///
    /// If the facts of those files cannot be used.
    pub fn in_format(&self, format: WeightFormat) -> Result<Self, LookUpError> {
        let chosen = self.files.iter().position(|files| files.format == format);
        let files = chosen.and_then(|index| self.files.get(index));
        let mut config = configured(&self.raw, files)?;
        if files.is_none() {
            config.precision = format.name();
            config.weight_bytes = format.bytes();
        }
        Ok(Self { chosen, config, ..self.clone() })
    }

    /// Where the format of the weights in question is known from.
    #[must_use]
    pub fn files_line(&self) -> String {
        let Some(files) = self.chosen.and_then(|index| self.files.get(index)) else {
            return format!("made up: all projections in {}", self.config.precision);
        };
        let made = "made by whoever serves it";
        let repository = if files.repository.is_empty() { made } else { &files.repository };
        format!("{repository}; {}", files.seen.title)
    }

    /// Bytes of all weights in question on one GPU, without tables that an engine makes for itself.
    ///
    /// # Errors
    ///
    /// If a dimension is out of range.
    pub fn computed_bytes(&self) -> Result<f64, MemoryError> {
        self.bytes_with(&self.config, 0)
    }

    /// The same as files hold it: experts without padding, layers for multi-token prediction counted.
    ///
    /// # Errors
    ///
    /// If a dimension is out of range, or the facts of the files cannot be used.
    pub fn computed_file_bytes(&self, files: &Files) -> Result<f64, LookUpError> {
        let mut config = configured(&self.raw, Some(files))?;
        config.weight_bytes.pads_experts = false;
        let bytes = self.bytes_with(&config, files.speculative_layers);
        bytes.map_err(|error| LookUpError::Broken(error.to_string()))
    }

    fn bytes_with(&self, config: &ModelConfig, more_layers: u64) -> Result<f64, MemoryError> {
        let mut architecture = config.architecture.clone();
        let last = architecture.layers.last().cloned();
        architecture.layers.extend(last.into_iter().cycle().take(more_layers as usize));
        let gpu = Gpu { total_bytes: 1e12, has_fast_links: true, is_measured: false };
        let mut alone = Deployment::on(gpu, EngineVersion::LAST, 16);
        let bytes: WeightBytes = config.weight_bytes;
        alone.weight_bytes = bytes;
        let found = plan(&architecture, &alone)?;
        let of =
            |weights: &sim_core::memory::RankWeights| weights.total_bytes() - weights.rotary_bytes;
        Ok(found.stages.iter().map(|stage| of(&stage.weights)).sum())
    }
}

/// Slugs of all models whose architecture is known, in the order of the data.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn checkpoint_slugs() -> Result<Vec<String>, LookUpError> {
    Ok(raw_checkpoints()?.iter().map(|checkpoint| checkpoint.slug.clone()).collect())
}

/// Models that match what was typed, best first; all of them for an empty query.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn search_checkpoints(query: &str) -> Result<Vec<Checkpoint>, LookUpError> {
    let found = ranked(query, raw_checkpoints()?, RawCheckpoint::search_text);
    found.into_iter().map(|raw| raw.build(0)).collect()
}

/// Slugs of the models that match what was typed, best first; all of them for an empty query.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn search_checkpoint_slugs(query: &str) -> Result<Vec<String>, LookUpError> {
    let found = ranked(query, raw_checkpoints()?, RawCheckpoint::search_text);
    Ok(found.into_iter().map(|raw| raw.slug.clone()).collect())
}

/// Find a checkpoint by its slug, an alias or a repository, whatever the case; the format may stand
/// behind a slug or an alias: `qwen3-8b-fp8`.
///
/// # Errors
///
/// If there is none; the error holds the nearest slugs.
pub fn checkpoint(name: &str) -> Result<Checkpoint, LookUpError> {
    let all = raw_checkpoints()?;
    let wanted = normalised(name);
    let tail = wanted.rsplit('/').next().unwrap_or_default();
    for raw in all {
        if raw.is_named(&wanted) || normalised(&raw.repository) == wanted {
            return raw.build(0);
        }
        let is_repository = |files: &RawFiles| {
            !files.repository.is_empty() && normalised(&files.repository) == wanted
        };
        if let Some(files) = raw.files.iter().position(is_repository) {
            return raw.build(files);
        }
    }
    for raw in all {
        if let Some(files) = raw.named_files(tail) {
            return raw.build(files);
        }
        if raw.is_named(tail) {
            return raw.build(0);
        }
    }
    let names = all.iter().flat_map(|raw| raw.names().map(|name| (name, raw.slug.as_str())));
    let suggestions = nearest_slugs(tail, names, 3);
    Err(NotFound { what: "model", name: name.to_owned(), suggestions }.into())
}

fn raw_checkpoints() -> Result<&'static [RawCheckpoint], LookUpError> {
    static ALL: OnceLock<Result<RawCheckpoints, String>> = OnceLock::new();
    let read = || {
        serde_json::from_str(CHECKPOINTS).map_err(|error| format!("architectures.json: {error}"))
    };
    match ALL.get_or_init(read) {
        Ok(raw) => Ok(&raw.checkpoints),
        Err(error) => Err(LookUpError::Broken(error.clone())),
    }
}
