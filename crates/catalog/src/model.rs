//! What is known of one model checkpoint.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;

/// A checkpoint of a dense model with multi-head or grouped-query attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Stable name in links, lower case.
    pub slug: String,
    /// Name in pickers and sentences.
    pub name: String,
    /// Models of the same make and generation: “Qwen2.5”.
    pub family: String,
    /// Checkpoints of the same network, in whatever precision: “Qwen2.5-7B”.
    pub network: String,
    /// Who makes it.
    pub maker: String,
    /// Precision of the weights: “BF16”.
    pub precision: String,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// Parameters each token computes with.
    pub params: Figure,
    /// Weights in memory, all of them read in every step, bytes.
    pub weight_bytes: Figure,
    /// Attention layers.
    pub layers: Figure,
    /// Key-value heads.
    pub kv_heads: Figure,
    /// Elements in one head.
    pub head_dim: Figure,
    /// Bytes of one element of the KV cache.
    pub kv_element_bytes: Figure,
    /// Longest context, tokens.
    pub context_tokens: Figure,
}

impl Model {
    /// Bytes of KV cache that one token takes: keys and values of every layer.
    pub fn kv_bytes_per_token(&self) -> f64 {
        2.0 * self.layers.value
            * self.kv_heads.value
            * self.head_dim.value
            * self.kv_element_bytes.value
    }

    /// The slug and all aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.slug.as_str()).chain(self.aliases.iter().map(String::as_str))
    }

    /// All figures, with the names of their fields.
    pub fn figures(&self) -> [(&'static str, &Figure); 7] {
        [
            ("params", &self.params),
            ("weight_bytes", &self.weight_bytes),
            ("layers", &self.layers),
            ("kv_heads", &self.kv_heads),
            ("head_dim", &self.head_dim),
            ("kv_element_bytes", &self.kv_element_bytes),
            ("context_tokens", &self.context_tokens),
        ]
    }

    pub(crate) fn search_text(&self) -> String {
        format!(
            "{} {} {} {} {}",
            self.slug,
            self.name,
            self.maker,
            self.precision,
            self.aliases.join(" ")
        )
    }
}
