//! What one layer keeps of a request, page by page.

use super::{Attention, LatentAttention, MemoryError, Mixer, Reach};

/// How one element of a key or value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvElement {
    /// In so many whole bytes: 4, 2, or 1 for FP8 with a scale per tensor.
    Bytes(u64),
    /// In one byte, with a 32-bit scale per token and head for keys and one for values.
    ScaledPerTokenHead,
    /// In four bits, with an 8-bit scale for every 16 elements.
    Nvfp4,
    /// Sparse latent attention's own layout: 656 bytes a token (512 in FP8, four 32-bit scales, and
    /// 64 rotary elements in BF16). Elsewhere one byte an element.
    SparseLatentFp8,
}

impl KvElement {
    /// Bytes of `elements` elements of one head, without scales that are kept apart.
    const fn bytes(self, elements: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => elements * bytes,
            Self::ScaledPerTokenHead | Self::SparseLatentFp8 => elements,
            Self::Nvfp4 => elements / 2 + elements / 16,
        }
    }

    /// Bytes of the scales of one head's key and value.
    const fn scale_bytes(self) -> u64 {
        match self {
            Self::ScaledPerTokenHead => 2 * 4,
            Self::Bytes(_) | Self::Nvfp4 | Self::SparseLatentFp8 => 0,
        }
    }
}

/// What a layer holds of a request of so many tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// All of them.
    All,
    /// Those within a sliding window.
    Window(u64),
    /// Those of the current chunk.
    Chunk(u64),
    /// A state of fixed size.
    State(StatePages),
}

/// How many copies of a recurrent state a request holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatePages {
    /// So many, whatever its length.
    Fixed(u64),
    /// One for each block of tokens, so that a prefix can be found again anywhere.
    PerBlock,
}

/// Heads and sizes behind a page: layers that differ in them are not of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Key-value heads of one rank.
    pub heads: u64,
    /// Elements of a key.
    pub key_dim: u64,
    /// Elements of a value.
    pub value_dim: u64,
}

/// The cache of one layer on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerCache {
    /// Tokens of one block.
    pub block_tokens: u64,
    /// Bytes of one page: what a block takes in this layer.
    pub page_bytes: u64,
    /// What is in a page.
    pub shape: CacheShape,
    /// What is held of a request.
    pub hold: Hold,
}

impl LayerCache {
    /// Blocks that a request of `tokens` holds at most, while it is prefilled in steps of up to
    /// `step_tokens`.
    ///
    /// vLLM, `kv_cache_interface.py`: a window of `w` tokens needs the last `w − 1` and the step's own,
    /// and one block more, because it need not begin at a block boundary; a chunk needs its own
    /// tokens and the step's. Context parallelism deals the tokens of full attention to `dcp` ranks.
    pub fn blocks(&self, tokens: u64, step_tokens: u64, dcp: u64) -> u64 {
        match self.hold {
            Hold::All => tokens.div_ceil(dcp).div_ceil(self.block_tokens),
            Hold::Window(window) => {
                let held = (window.saturating_sub(1)).saturating_add(step_tokens);
                held.min(tokens).div_ceil(self.block_tokens) + 1
            }
            Hold::Chunk(chunk) => {
                chunk.saturating_add(step_tokens).min(tokens).div_ceil(self.block_tokens)
            }
            Hold::State(StatePages::Fixed(pages)) => pages,
            Hold::State(StatePages::PerBlock) => tokens.div_ceil(self.block_tokens),
        }
    }

    /// The cache of a layer with attention, or `None` where it keeps none of its own. Recurrences are
    /// not among them: their pages follow from those of attention.
    pub(crate) fn of_attention(
        mixer: &Mixer,
        element: KvElement,
        tp: u64,
        block_tokens: u64,
    ) -> Option<Self> {
        match mixer {
            Mixer::Attention(attention) if attention.shares_cache => None,
            Mixer::Attention(attention) => {
                Some(Self::of_heads(attention, element, tp, block_tokens))
            }
            Mixer::Latent(latent) => Some(Self::of_latent(latent, element, block_tokens)),
            Mixer::Recurrent(_) => None,
        }
    }

    fn of_heads(attention: &Attention, element: KvElement, tp: u64, block_tokens: u64) -> Self {
        let heads = attention.kv_heads_per_rank(tp);
        let shape =
            CacheShape { heads, key_dim: attention.key_dim, value_dim: attention.value_dim };
        let of_head = element.bytes(shape.key_dim) + element.bytes(shape.value_dim);
        Self {
            block_tokens,
            page_bytes: block_tokens * heads * (of_head + element.scale_bytes()),
            shape,
            hold: match attention.reach {
                Reach::Full => Hold::All,
                Reach::Window(tokens) => Hold::Window(tokens),
                Reach::Chunk(tokens) => Hold::Chunk(tokens),
            },
        }
    }

    fn of_latent(latent: &LatentAttention, element: KvElement, block_tokens: u64) -> Self {
        let dim = latent.kv_rank + latent.rope_dim;
        let bytes = match element {
            KvElement::SparseLatentFp8 => 656,
            other => other.bytes(dim),
        };
        Self {
            block_tokens,
            page_bytes: block_tokens * bytes,
            shape: CacheShape { heads: 1, key_dim: dim, value_dim: 0 },
            hold: Hold::All,
        }
    }

    /// The cache of a sparse latent layer's indexer: its key in FP8, with a 32-bit scale for every 128
    /// elements.
    pub(crate) fn of_indexer(latent: &LatentAttention, block_tokens: u64) -> Option<Self> {
        let indexer = latent.indexer?;
        let bytes = indexer.dim + indexer.dim.div_ceil(128) * 4;
        Some(Self {
            block_tokens,
            page_bytes: block_tokens * bytes,
            shape: CacheShape { heads: 1, key_dim: bytes, value_dim: 0 },
            hold: Hold::All,
        })
    }

    /// The same layer with blocks of other length.
    ///
    /// # Errors
    ///
    /// If the page would not be a whole multiple.
    pub(crate) fn scaled(&self, page_bytes: u64) -> Result<Self, MemoryError> {
        if !page_bytes.is_multiple_of(self.page_bytes) {
            return Err(MemoryError::new(
                "the page of a layer",
                &format!("{} bytes", self.page_bytes),
                format!(
                    "the engine cannot share memory between pages of it and of {page_bytes} bytes; choose another kv_cache_dtype, tp or engine version"
                ),
            ));
        }
        let ratio = page_bytes / self.page_bytes;
        Ok(Self { block_tokens: self.block_tokens * ratio, page_bytes, ..*self })
    }
}
