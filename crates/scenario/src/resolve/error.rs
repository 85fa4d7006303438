//! Why a scenario gives no set-up.

use crate::setting::or_choose;

use super::remedy::Remedy;

/// A scenario that cannot be simulated, with what would help.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The catalogue has no such model.
    #[error("No model called “{name}”{}", or_choose("model", suggestions))]
    UnknownModel {
        /// The name.
        name: String,
        /// Slugs close to it, best first.
        suggestions: Vec<String>,
    },
    /// The catalogue has no such GPU.
    #[error("No GPU called “{name}”{}", or_choose("GPU", suggestions))]
    UnknownGpu {
        /// The name.
        name: String,
        /// Slugs close to it, best first.
        suggestions: Vec<String>,
    },
    /// The weights leave no memory for a KV cache.
    #[error(
        "{model} has {} of weights. One {gpu} leaves {} for weights and KV cache after the engine’s \
         own {} and {} kept free.{}",
        quantity::memory(*weight_bytes),
        quantity::memory(*available_bytes),
        quantity::memory(*reserve_bytes),
        quantity::share(*kept_free_share),
        in_words(remedies)
    )]
    DoesNotFit {
        /// Name and precision of the model: “Llama-3.1-70B in BF16”.
        model: String,
        /// Short name of the GPU.
        gpu: String,
        /// Bytes of weights on one GPU.
        weight_bytes: f64,
        /// Bytes one GPU has for weights and KV cache; negative if the engine alone needs more.
        available_bytes: f64,
        /// Bytes that the engine takes for activations, graphs and other.
        reserve_bytes: f64,
        /// Share of the memory that the engine leaves alone, 0 to 1.
        kept_free_share: f64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The KV cache cannot hold the largest request.
    #[error("{}{}", no_room(*capacity_tokens, *needed_tokens, *kv_bytes, class.as_deref()), in_words(remedies))]
    NoRoom {
        /// Tokens the cache holds.
        capacity_tokens: u64,
        /// Tokens that the largest request needs: its longest prompt and its longest answer.
        needed_tokens: u64,
        /// The class of the largest request, where it is not one of the scenario's own.
        class: Option<String>,
        /// Bytes of the cache, where the GPU's memory decides them.
        kv_bytes: Option<f64>,
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
    /// Speculative decoding beside settings that have none.
    #[error("{}{}", no_speculation(*tokens, beside), in_words(remedies))]
    NoSpeculation {
        /// Tokens to be drafted in a step.
        tokens: u64,
        /// What there are no drafts beside, as links write it.
        beside: String,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// The classes take more than all requests.
    #[error(
        "The shares of the classes ({shares}) add up to {}. Make them {} or less{change}.",
        quantity::share(*taken),
        quantity::with_unit("100", "%")
    )]
    Shares {
        /// What they add up to, 1 for all.
        taken: f64,
        /// Each class with its share, in words.
        shares: String,
        /// A change that works, in words; may be empty.
        change: String,
    },
    /// Heads that cannot be shared out evenly among so many GPUs.
    #[error("{sentence}{}", in_words(remedies))]
    Uneven {
        /// What is uneven, and what would be even.
        sentence: String,
        /// GPUs per engine.
        tp: u64,
        /// Smallest changes that work.
        remedies: Vec<Remedy>,
    },
    /// What was said of the engine's set-up cannot be had.
    #[error("{0}")]
    Deployment(String),
    /// A number is outside its domain.
    #[error("{0}")]
    Setup(#[from] sim_core::SetupError),
    /// The catalogue's own data are broken.
    #[error("The catalogue is broken: {0}")]
    Catalog(#[from] catalog::CatalogError),
}

impl ResolveError {
    /// What is wrong, in words without the remedies.
    #[must_use]
    pub fn without_remedies(&self) -> String {
        match self {
            Self::NoSpeculation { tokens, beside, .. } => no_speculation(*tokens, beside),
            Self::Uneven { sentence, .. } => sentence.clone(),
            other => other.to_string(),
        }
    }

    /// Smallest changes that work; empty where none is known.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::DoesNotFit { remedies, .. }
            | Self::NoRoom { remedies, .. }
            | Self::TooLong { remedies, .. }
            | Self::Uneven { remedies, .. }
            | Self::NoSpeculation { remedies, .. } => remedies,
            _ => &[],
        }
    }

    pub(super) const fn remedies_mut(&mut self) -> Option<&mut Vec<Remedy>> {
        match self {
            Self::DoesNotFit { remedies, .. }
            | Self::NoRoom { remedies, .. }
            | Self::TooLong { remedies, .. }
            | Self::Uneven { remedies, .. }
            | Self::NoSpeculation { remedies, .. } => Some(remedies),
            _ => None,
        }
    }
}

fn no_speculation(tokens: u64, beside: &str) -> String {
    format!(
        "spec.tokens={tokens} beside {beside}: only sched.rules=reference has speculative decoding."
    )
}

fn no_room(
    capacity_tokens: u64,
    needed_tokens: u64,
    kv_bytes: Option<f64>,
    class: Option<&str>,
) -> String {
    let capacity = quantity::count(capacity_tokens);
    let tokens = if capacity_tokens == 1 { "token" } else { "tokens" };
    let needed = quantity::count(needed_tokens);
    let whose = class.map_or_else(String::new, |class| format!(" of class {class}"));
    match kv_bytes {
        Some(bytes) => format!(
            "Weights fit. The {} left hold {capacity} {tokens} of KV; one request{whose} needs {needed}.",
            quantity::memory(bytes)
        ),
        None => {
            format!("The KV cache holds {capacity} {tokens}; one request{whose} needs {needed}.")
        }
    }
}

fn in_words(remedies: &[Remedy]) -> String {
    let mut words = String::new();
    for (index, remedy) in remedies.iter().enumerate() {
        words.push_str(if index == 0 { " Try " } else { ", or " });
        words.push_str(&format!("{} ({})", remedy.typed(), remedy.effect));
    }
    if !remedies.is_empty() {
        words.push('.');
    }
    words
}
