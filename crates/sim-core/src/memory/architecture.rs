//! What is built into a model, as far as memory and computing depend on it.

use super::{MemoryError, recurrent::Recurrent};

/// Dimensions beyond this are no model's, and products of a few of them would leave 64 bits.
const MOST_WIDTH: u64 = 1 << 24;
/// Heads, experts and the like.
const MOST_COUNT: u64 = 1 << 16;
/// Layers.
const MOST_LAYERS: usize = 4096;

/// The facts of one network. A fact that is not known is zero; what needs it then says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Architecture {
    /// Width of the residual stream, elements.
    pub hidden_size: u64,
    /// Tokens of the vocabulary.
    pub vocab_size: u64,
    /// Whether the input embedding is the output projection, too.
    pub tied_embeddings: bool,
    /// Positions that the rotary tables are made for.
    pub max_positions: u64,
    /// Elements of a head that are rotated.
    pub rotary_dim: u64,
    /// How many rotary tables of different frequencies there are.
    pub rotary_tables: u64,
    /// Bytes of one element of a recurrent state; zero for those of the activations.
    pub state_element_bytes: u64,
    /// The layers, in order. Layers of speculative heads that keep a cache come last.
    pub layers: Vec<Layer>,
    /// Parameters beside the language model: vision or audio towers and their projections.
    pub tower_params: f64,
    /// Whether each rank of a tensor-parallel group holds all of the towers.
    pub towers_are_replicated: bool,
}

/// One layer: what mixes tokens, and what follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What mixes tokens. Most layers have one; some run attention and a recurrence side by side.
    pub mixers: Vec<Mixer>,
    /// What is done to each token alone.
    pub feed_forward: FeedForward,
}

/// What mixes tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Mixer {
    /// Multi-head, grouped-query or multi-query attention.
    Attention(Attention),
    /// Multi-head latent attention (MLA): one compressed vector per token, for all heads.
    Latent(LatentAttention),
    /// A recurrence with a state of fixed size per request.
    Recurrent(Recurrent),
}

/// How far a token looks back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To the beginning.
    Full,
    /// Over so many tokens, itself included.
    Window(u64),
    /// To the beginning of its chunk of so many tokens.
    Chunk(u64),
}

/// Attention with keys and values per head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// Query heads; zero where they are not known.
    pub heads: u64,
    /// Key-value heads.
    pub kv_heads: u64,
    /// Elements of a key.
    pub key_dim: u64,
    /// Elements of a value.
    pub value_dim: u64,
    /// How far a token looks back.
    pub reach: Reach,
    /// Whether the query projection makes a gate of the same size.
    pub is_gated: bool,
    /// Whether the layer reads another layer's cache and keeps none.
    pub shares_cache: bool,
}

/// Multi-head latent attention, as DeepSeek-V2 and its descendants have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatentAttention {
    /// Query heads; zero where they are not known.
    pub heads: u64,
    /// Rank of the compressed queries; zero where queries are not compressed.
    pub q_rank: u64,
    /// Rank of the compressed keys and values, which are cached.
    pub kv_rank: u64,
    /// Elements of a key that carry the position, cached beside the rank.
    pub rope_dim: u64,
    /// Elements of a key that do not.
    pub nope_dim: u64,
    /// Elements of a value.
    pub value_dim: u64,
    /// What chooses the tokens to attend to, where attention is sparse.
    pub indexer: Option<Indexer>,
}

/// The indexer of sparse latent attention (DeepSeek-V3.2, GLM-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexer {
    /// Its heads.
    pub heads: u64,
    /// Elements of its one key, which is cached.
    pub dim: u64,
}

/// What is done to each token alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedForward {
    /// Nothing.
    None,
    /// Dense projections: three with a gate, two without.
    Dense {
        /// Width, elements.
        width: u64,
        /// How many matrices of `hidden × width`.
        matrices: u64,
    },
    /// A mixture of experts.
    Experts {
        /// Routed experts.
        count: u64,
        /// How many of them a token visits.
        active: u64,
        /// Width of one, elements.
        width: u64,
        /// Width of the experts that every token visits, all together; zero for none.
        shared_width: u64,
        /// How many matrices of `hidden × width` an expert has.
        matrices: u64,
    },
}

impl Attention {
    /// Full attention whose keys and values are of one size.
    pub const fn full(heads: u64, kv_heads: u64, head_dim: u64) -> Self {
        Self {
            heads,
            kv_heads,
            key_dim: head_dim,
            value_dim: head_dim,
            reach: Reach::Full,
            is_gated: false,
            shares_cache: false,
        }
    }

    /// Key-value heads of one rank: heads replicate once there are more ranks than heads.
    pub const fn kv_heads_per_rank(&self, tp: u64) -> u64 {
        self.kv_heads.div_ceil(tp)
    }
}

impl Architecture {
    /// Whether all numbers are within what any model has.
    ///
    /// # Errors
    ///
    /// If there are no layers or too many, or a dimension is zero or beyond reach.
    pub fn check(&self) -> Result<(), MemoryError> {
        if self.layers.is_empty() || self.layers.len() > MOST_LAYERS {
            let fix = format!("give from 1 to {MOST_LAYERS} layers");
            return Err(MemoryError::new("layers", &self.layers.len(), fix));
        }
        // Layers first: a rotary dimension, for example, follows from theirs.
        self.layers.iter().try_for_each(Layer::check)?;
        at_most("hidden_size", self.hidden_size, MOST_WIDTH)?;
        at_most("vocab_size", self.vocab_size, MOST_WIDTH)?;
        at_most("max_position_embeddings", self.max_positions, 1 << 32)?;
        at_most("rotary dimension", self.rotary_dim, MOST_COUNT)?;
        at_most("rotary tables", self.rotary_tables, 16)?;
        at_most("bytes of a state element", self.state_element_bytes, 8)?;
        if !(self.tower_params >= 0.0 && self.tower_params < 1e13) {
            let fix = "give from 0 to 10 trillion";
            return Err(MemoryError::new("parameters of towers", &self.tower_params, fix));
        }
        Ok(())
    }

    /// Experts that a token visits, and the width of one, where that makes the most; zeros for a
    /// dense model.
    pub fn most_active_experts(&self) -> (u64, u64) {
        let of = |layer: &Layer| match layer.feed_forward {
            FeedForward::Experts { active, width, .. } => (active, width),
            FeedForward::None | FeedForward::Dense { .. } => (0, 0),
        };
        self.layers.iter().map(of).max_by_key(|(active, width)| active * width).unwrap_or((0, 0))
    }
}

impl Layer {
    fn check(&self) -> Result<(), MemoryError> {
        if self.mixers.len() > 4 {
            let fix = "a layer has at most 4 kinds of mixing";
            return Err(MemoryError::new("mixers of a layer", &self.mixers.len(), fix));
        }
        match self.feed_forward {
            FeedForward::None => {}
            FeedForward::Dense { width, .. } => at_most("intermediate_size", width, MOST_WIDTH)?,
            FeedForward::Experts { count, active, width, shared_width, .. } => {
                in_reach("experts", count, MOST_COUNT)?;
                in_reach("experts per token", active, count)?;
                in_reach("width of an expert", width, MOST_WIDTH)?;
                at_most("width of the shared experts", shared_width, MOST_WIDTH)?;
            }
        }
        self.mixers.iter().try_for_each(|mixer| match mixer {
            Mixer::Attention(attention) => attention.check(),
            Mixer::Latent(latent) => latent.check(),
            Mixer::Recurrent(recurrent) => recurrent.check(),
        })
    }
}

impl Attention {
    fn check(&self) -> Result<(), MemoryError> {
        at_most("num_attention_heads", self.heads, MOST_COUNT)?;
        in_reach("num_key_value_heads", self.kv_heads, MOST_COUNT)?;
        in_reach("head_dim", self.key_dim, MOST_COUNT)?;
        in_reach("head_dim of values", self.value_dim, MOST_COUNT)?;
        match self.reach {
            Reach::Full => Ok(()),
            Reach::Window(tokens) => in_reach("sliding_window", tokens, 1 << 32),
            Reach::Chunk(tokens) => in_reach("attention_chunk_size", tokens, 1 << 32),
        }
    }
}

impl LatentAttention {
    fn check(&self) -> Result<(), MemoryError> {
        at_most("num_attention_heads", self.heads, MOST_COUNT)?;
        at_most("q_lora_rank", self.q_rank, MOST_WIDTH)?;
        in_reach("kv_lora_rank", self.kv_rank, MOST_COUNT)?;
        at_most("qk_rope_head_dim", self.rope_dim, MOST_COUNT)?;
        at_most("qk_nope_head_dim", self.nope_dim, MOST_COUNT)?;
        at_most("v_head_dim", self.value_dim, MOST_COUNT)?;
        let Some(indexer) = self.indexer else { return Ok(()) };
        at_most("index_n_heads", indexer.heads, MOST_COUNT)?;
        in_reach("index_head_dim", indexer.dim, MOST_COUNT)
    }
}

/// A number from 1 to `most`.
pub(crate) fn in_reach(field: &'static str, value: u64, most: u64) -> Result<(), MemoryError> {
    if value == 0 {
        return Err(MemoryError::new(field, &value, format!("give from 1 to {most}")));
    }
    at_most(field, value, most)
}

/// A number from 0 to `most`.
pub(crate) fn at_most(field: &'static str, value: u64, most: u64) -> Result<(), MemoryError> {
    if value > most {
        return Err(MemoryError::new(field, &value, format!("give at most {most}")));
    }
    Ok(())
}
