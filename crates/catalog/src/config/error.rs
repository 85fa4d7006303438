//! Why a `config.json` cannot be used.

use sim_core::memory::MemoryError;

/// Why a `config.json` cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is no JSON.
    #[error("it is not JSON: {message}; take the file config.json of the model’s repository")]
    Json {
        /// What the parser says, with line and column.
        message: String,
    },
    /// The JSON is no object.
    #[error(
        "it holds {found} instead of an object; take the file config.json of the model’s repository"
    )]
    NotAnObject {
        /// What it holds.
        found: &'static str,
    },
    /// A fact is missing.
    #[error(
        "it lacks {field}, which memory depends on; add it, or take the file config.json of the model’s repository"
    )]
    Missing {
        /// The usual name of the field.
        field: String,
    },
    /// A value is of another kind than the field has.
    #[error("{field} is {value}; it must be {must_be}")]
    Value {
        /// The field.
        field: String,
        /// Its value, shortened.
        value: String,
        /// What it must be.
        must_be: String,
    },
    /// The family's cache is not modelled.
    #[error(
        "the family “{family}” has {what}, whose memory is not modelled; give the terms of the engine’s log instead: kv_cache_gib and num_gpu_blocks"
    )]
    NotModelled {
        /// The family.
        family: String,
        /// What is not modelled.
        what: &'static str,
    },
    /// A number is out of range.
    #[error(transparent)]
    Range(#[from] MemoryError),
}
