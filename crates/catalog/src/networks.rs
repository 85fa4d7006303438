//! Checkpoints by name with all facts of their architecture, and GPUs with the memory that their driver
//! reports: what the memory of an engine is computed from.
//!
//! The data lie in `assets/catalog/architectures.json`, in the words of each model's `config.json`, and in
//! `devices.json`. They are read when they are asked for, so that a page which does not ask carries none
//! of it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    ModelConfig, NotFound, builtin,
    config::{ConfigError, from_object},
    suggest::{nearest, normalised},
};

const CHECKPOINTS: &str = include_str!("../../../assets/catalog/architectures.json");
const DEVICES: &str = include_str!("../../../assets/catalog/devices.json");
/// Of nominal memory in GiB, what drivers report of it: between 0.979 (RTX 4090) and 0.991 (H200).
const REPORTED_SHARE: f64 = 0.985;

/// A checkpoint with all facts of its architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Stable name.
    pub slug: String,
    /// Where its `config.json` is, or what differs from that.
    pub source: String,
    /// When it was published; may be empty.
    pub date: String,
    /// What the `config.json` says.
    pub config: ModelConfig,
}

/// A GPU as an engine sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Stable name.
    pub slug: String,
    /// Name in sentences.
    pub name: String,
    /// Memory that the driver reports, bytes.
    pub total_bytes: f64,
    /// Where that is said; empty where it follows from the nominal memory.
    pub source: String,
    /// Whether GPUs of a node reduce over NVLink or its like.
    pub has_fast_links: bool,
    /// The most tokens of a step that vLLM's server chooses.
    pub max_num_batched_tokens: u64,
    /// The most requests at once that it chooses.
    pub max_num_seqs: u64,
    /// Whether the engine's fixed costs were measured on it.
    pub is_measured: bool,
}

#[derive(Deserialize)]
struct RawCheckpoints {
    checkpoints: Vec<RawCheckpoint>,
}

#[derive(Deserialize)]
struct RawCheckpoint {
    slug: String,
    repository: String,
    date: String,
    aliases: Vec<String>,
    /// The checkpoint whose fields hold where this one has none.
    base: Option<String>,
    config: Map<String, Value>,
}

#[derive(Deserialize)]
struct RawDevices {
    devices: Vec<RawDevice>,
}

#[derive(Deserialize)]
struct RawDevice {
    slug: String,
    aliases: Vec<String>,
    name: String,
    device_gib: f64,
    has_fast_links: bool,
    max_num_batched_tokens: u64,
    max_num_seqs: u64,
    is_measured: bool,
    source: String,
    date: String,
}

/// Why there is no such checkpoint or GPU.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LookUpError {
    /// Nothing has that name.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The compiled-in data are broken.
    #[error("the catalogue’s own data are broken: {0}")]
    Broken(String),
    /// A checkpoint's facts cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Slugs of all checkpoints whose architecture is known, in the order of the data.
///
/// # Errors
///
/// If the compiled-in data are broken.
pub fn checkpoint_slugs() -> Result<Vec<String>, LookUpError> {
    Ok(raw_checkpoints()?.into_iter().map(|checkpoint| checkpoint.slug).collect())
}

/// Find a checkpoint by its slug, an alias or its repository, whatever the case.
///
/// # Errors
///
/// If there is none; the error holds the nearest slugs.
pub fn checkpoint(name: &str) -> Result<Checkpoint, LookUpError> {
    let all = raw_checkpoints()?;
    let wanted = normalised(name);
    let tail = wanted.rsplit('/').next().unwrap_or_default();
    let is_named = |it: &&RawCheckpoint, name: &str| {
        it.slug == name || it.aliases.iter().any(|alias| alias == name)
    };
    let found = all
        .iter()
        .find(|it| is_named(it, &wanted) || normalised(&it.repository) == wanted)
        .or_else(|| all.iter().find(|it| is_named(it, tail)));
    let Some(found) = found else {
        let names = all.iter().map(|it| it.slug.as_str());
        let suggestions = nearest(tail, names, 3).into_iter().map(str::to_owned).collect();
        return Err(NotFound { what: "model", name: name.to_owned(), suggestions }.into());
    };
    let mut fields = Map::new();
    if let Some(base) = &found.base {
        let base = all.iter().find(|it| it.slug == *base);
        fields.clone_from(&base.ok_or_else(|| LookUpError::Broken(found.slug.clone()))?.config);
    }
    fields.extend(found.config.clone());
    Ok(Checkpoint {
        slug: found.slug.clone(),
        source: found.repository.clone(),
        date: found.date.clone(),
        config: from_object(&fields)?,
    })
}

/// Find a GPU by its slug or an alias, whatever the case. One whose reported memory is not known has
/// what others report of theirs.
///
/// # Errors
///
/// If there is none; the error holds the nearest slugs.
pub fn device(name: &str) -> Result<Device, LookUpError> {
    let broken = |error: &dyn std::fmt::Display| LookUpError::Broken(error.to_string());
    let all: RawDevices = serde_json::from_str(DEVICES).map_err(|error| broken(&error))?;
    let wanted = normalised(name);
    let found =
        all.devices.into_iter().find(|it| it.slug == wanted || it.aliases.contains(&wanted));
    if let Some(found) = found {
        return Ok(Device {
            slug: found.slug,
            name: found.name,
            total_bytes: found.device_gib * sim_core::memory::GIB,
            source: format!("{}, {}", found.source, found.date),
            has_fast_links: found.has_fast_links,
            max_num_batched_tokens: found.max_num_batched_tokens,
            max_num_seqs: found.max_num_seqs,
            is_measured: found.is_measured,
        });
    }
    let gpu = builtin().map_err(|error| broken(&error))?.gpu(name)?;
    let nominal_gb = gpu.memory_bytes.value / 1e9;
    let is_large = nominal_gb >= 70.0;
    Ok(Device {
        slug: gpu.slug.clone(),
        name: gpu.name.clone(),
        total_bytes: nominal_gb * sim_core::memory::GIB * REPORTED_SHARE,
        source: String::new(),
        has_fast_links: is_large,
        max_num_batched_tokens: match nominal_gb {
            gb if gb >= 160.0 => 16_384,
            _ if is_large => 8192,
            _ => 2048,
        },
        max_num_seqs: if is_large { 1024 } else { 256 },
        is_measured: false,
    })
}

fn raw_checkpoints() -> Result<Vec<RawCheckpoint>, LookUpError> {
    let raw: RawCheckpoints = serde_json::from_str(CHECKPOINTS)
        .map_err(|error| LookUpError::Broken(error.to_string()))?;
    Ok(raw.checkpoints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checkpoint_can_be_read_and_every_name_finds_one() {
        let slugs = checkpoint_slugs().expect("the data are whole");
        assert!(slugs.len() >= 40, "{}", slugs.len());
        for slug in &slugs {
            let found = checkpoint(slug).unwrap_or_else(|error| panic!("{slug}: {error}"));
            assert_eq!(&found.slug, slug);
        }
        for name in
            ["meta-llama/Llama-3.1-8B-Instruct", "Llama 3.1 8B", "someone/Llama-3.1-8B-Instruct"]
        {
            assert_eq!(checkpoint(name).map(|it| it.slug).as_deref(), Ok("llama-3.1-8b"), "{name}");
        }
        let mut names: Vec<String> = raw_checkpoints()
            .expect("the data are whole")
            .into_iter()
            .flat_map(|it| it.aliases.into_iter().chain([it.slug]))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "a name stands for two");
    }

    #[test]
    fn every_model_of_the_page_has_its_architecture() {
        let catalog = builtin().expect("the catalogue is whole");
        for model in catalog.models() {
            let found = checkpoint(&model.slug).unwrap_or_else(|error| panic!("{error}"));
            let layers = &found.config.architecture.layers;
            assert_eq!(layers.len() as f64, model.layers.value, "{}", model.slug);
            let sim_core::memory::Mixer::Attention(attention) = &layers[0].mixers[0] else {
                panic!("{} has attention", model.slug);
            };
            assert_eq!(attention.kv_heads as f64, model.kv_heads.value, "{}", model.slug);
            assert_eq!(attention.key_dim as f64, model.head_dim.value, "{}", model.slug);
        }
    }

    #[test]
    fn memory_is_what_drivers_report() {
        let h100 = device("H100").expect("it is known");
        assert_eq!(h100.total_bytes, 79.19 * sim_core::memory::GIB);
        assert!(h100.is_measured && !h100.source.is_empty());
        // Known by its nominal memory alone.
        let other = device("mi300x").expect("it is in the catalogue");
        let gib = other.total_bytes / sim_core::memory::GIB;
        assert!((185.0..192.0).contains(&gib) && other.source.is_empty(), "{gib}");
        for gpu in builtin().expect("the catalogue is whole").gpus() {
            let found = device(&gpu.slug).expect("it is in the catalogue");
            let nominal = gpu.memory_bytes.value / 1e9 * sim_core::memory::GIB;
            let share = found.total_bytes / nominal;
            assert!((0.9..1.0).contains(&share), "{}: {share}", gpu.slug);
        }
    }

    #[test]
    fn an_unknown_name_gets_suggestions() {
        let Err(LookUpError::NotFound(error)) = checkpoint("llama-3.1-9b") else {
            panic!("there is none");
        };
        assert!(error.suggestions.iter().any(|slug| slug == "llama-3.1-8b"), "{error}");
        assert!(matches!(device("h1000-ultra-max"), Err(LookUpError::NotFound(_))));
    }
}
