//! The wide catalogue: models with all facts of their architecture and the formats their weights are
//! published in, accelerators with what their makers print and what their drivers report, and versions
//! of engines. What the memory of an engine is computed from, each figure with its source.
//!
//! The data lie in `assets/catalog`: `architectures.json` in the words of each model's `config.json`,
//! `devices.json`, `engines.json`, and `sources.json`, by whose ids the others cite. They are read when
//! they are asked for, so that a page which does not ask carries none of it.

mod checkpoint;
mod device;
mod engine;
mod format;
mod source;

pub use checkpoint::{
    Checkpoint, Files, Params, checkpoint, checkpoint_slugs, search_checkpoint_slugs,
    search_checkpoints,
};
pub use device::{Device, Peaks, device, search_devices};
pub use engine::{Engine, engines};
pub use format::{UnknownFormat, WeightFormat};
pub use source::{Citation, Fact, FactKind, Source};

use crate::{NotFound, config::ConfigError};

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

#[cfg(test)]
mod tests;
