//! Why a scenario gives no set-up.

use crate::writing;

use super::remedy::Remedy;

/// A scenario that cannot be simulated, with what would help.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The catalogue has no such model.
    #[error("No model called “{name}”.{}", did_you_mean(suggestions))]
    UnknownModel {
        /// The name.
        name: String,
        /// Slugs close to it, best first.
        suggestions: Vec<String>,
    },
    /// The catalogue has no such GPU.
    #[error("No GPU called “{name}”.{}", did_you_mean(suggestions))]
    UnknownGpu {
        /// The name.
        name: String,
        /// Slugs close to it, best first.
        suggestions: Vec<String>,
    },
    /// The weights leave no memory for a KV cache.
    #[error(
        "{model} has {} of weights. One {gpu} leaves {} for weights and KV cache after the engine’s own {} and {} kept free.{}",
        writing::gigabytes(*weight_bytes), writing::gigabytes(*available_bytes),
        writing::gigabytes(*reserve_bytes), writing::gigabytes(*kept_free_bytes), in_words(remedies)
    )]
    DoesNotFit {
        /// Name of the model.
        model: String,
        /// Name of the GPU.
        gpu: String,
        /// Bytes of weights on one GPU.
        weight_bytes: f64,
        /// Bytes one GPU has for weights and KV cache.
        available_bytes: f64,
        /// Bytes that the engine takes for activations, graphs and other.
        reserve_bytes: f64,
        /// Bytes that the engine leaves alone.
        kept_free_bytes: f64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The KV cache cannot hold the largest request.
    #[error(
        "Weights fit. What is left holds {} tokens of KV; the largest request needs {}.{}",
        writing::spoken(*capacity_tokens as f64), writing::spoken(*needed_tokens as f64), in_words(remedies)
    )]
    NoRoom {
        /// Tokens the cache holds.
        capacity_tokens: u64,
        /// Tokens that the largest request needs.
        needed_tokens: u64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The model cannot take prompts or answers of that length.
    #[error("{sentence}{}", in_words(remedies))]
    TooLong {
        /// “Prompt 200,000 is longer than this model’s 131,072 tokens.”
        sentence: String,
        /// The longest that is asked for, tokens.
        asked_tokens: u64,
        /// Longest context of the model, tokens.
        context_tokens: u64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// A number is outside its domain.
    #[error("{0}")]
    Setup(#[from] sim_core::SetupError),
    /// The catalogue's own data are broken.
    #[error("The catalogue is broken: {0}")]
    Catalog(#[from] catalog::CatalogError),
}

impl ResolveError {
    /// Smallest changes that work; empty where none is known.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::DoesNotFit { remedies, .. }
            | Self::NoRoom { remedies, .. }
            | Self::TooLong { remedies, .. } => remedies,
            _ => &[],
        }
    }
}

fn did_you_mean(suggestions: &[String]) -> String {
    match suggestions {
        [] => " Choose one from the catalogue, or give its numbers.".to_owned(),
        [only] => format!(" Did you mean “{only}”?"),
        [first, second, ..] => format!(" Did you mean “{first}” or “{second}”?"),
    }
}

fn in_words(remedies: &[Remedy]) -> String {
    let mut words = String::new();
    for (index, remedy) in remedies.iter().enumerate() {
        words.push_str(if index == 0 { " Try " } else { ", or " });
        words.push_str(&format!("{}={} ({})", remedy.key, remedy.value, remedy.effect));
    }
    if !remedies.is_empty() {
        words.push('.');
    }
    words
}
