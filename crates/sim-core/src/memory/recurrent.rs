//! Recurrences: layers that keep a state of fixed size per request in place of keys and values.
//!
//! Shapes are those of vLLM's `MambaStateShapeCalculator`: a state is a window of the last inputs of a
//! short convolution, and the recurrent state itself. Both are divided among tensor-parallel ranks.

use super::{MemoryError, architecture::in_reach};

const MOST: u64 = 1 << 20;

/// A recurrence and its dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recurrent {
    /// Mamba (selective state space, one state per channel).
    Mamba1 {
        /// Channels.
        inner: u64,
        /// Elements of the state of one channel.
        state: u64,
        /// Taps of the convolution.
        taps: u64,
        /// Rank of the time step.
        step_rank: u64,
    },
    /// Mamba-2 (one state matrix per head).
    Mamba2 {
        /// Heads.
        heads: u64,
        /// Elements of one head.
        head_dim: u64,
        /// Elements of the state of one channel.
        state: u64,
        /// Groups that share input and output projections of the state.
        groups: u64,
        /// Taps of the convolution.
        taps: u64,
        /// Tokens that the kernel takes at once.
        chunk: u64,
    },
    /// Gated delta net (Qwen3-Next, Qwen3.5).
    GatedDelta {
        /// Heads of queries and keys.
        key_heads: u64,
        /// Heads of values.
        value_heads: u64,
        /// Elements of a key.
        key_dim: u64,
        /// Elements of a value.
        value_dim: u64,
        /// Taps of the convolution.
        taps: u64,
    },
    /// Kimi delta attention: a gated delta net with a decay per channel, state in 32 bits.
    KimiDelta {
        /// Heads.
        heads: u64,
        /// Elements of one head.
        head_dim: u64,
        /// Taps of the three convolutions.
        taps: u64,
    },
    /// Lightning attention (MiniMax-01): a plain linear attention.
    Linear {
        /// Heads.
        heads: u64,
        /// Elements of one head.
        head_dim: u64,
    },
    /// A short convolution alone (LFM2).
    ShortConvolution {
        /// Channels.
        channels: u64,
        /// Taps.
        taps: u64,
    },
}

impl Recurrent {
    /// Bytes of the state of one request in one layer on one of `tp` ranks.
    ///
    /// `model_bytes` is the size of an element of the model's activations and of the convolution's
    /// window, `element` that of the recurrent state, and `drafted` the tokens of speculative decoding,
    /// whose convolution inputs are kept, too.
    pub fn state_bytes(&self, tp: u64, model_bytes: u64, element: u64, drafted: u64) -> u64 {
        let window = |taps: u64| (taps.saturating_sub(1) + drafted) * model_bytes;
        match *self {
            Self::Mamba1 { inner, state, taps, .. } => {
                (inner / tp) * (window(taps) + state * element)
            }
            Self::Mamba2 { heads, head_dim, state, groups, taps, .. } => {
                // Groups that do not divide among ranks are replicated until they do.
                let groups = if groups % tp == 0 { groups } else { groups.max(tp) };
                let channels = heads * head_dim + 2 * groups * state;
                (channels / tp) * window(taps) + heads.div_ceil(tp) * head_dim * state * element
            }
            Self::GatedDelta { key_heads, value_heads, key_dim, value_dim, taps } => {
                let channels = 2 * key_heads * key_dim + value_heads * value_dim;
                (channels / tp) * window(taps)
                    + value_heads.div_ceil(tp) * value_dim * key_dim * element
            }
            Self::KimiDelta { heads, head_dim, taps } => {
                let heads = heads.div_ceil(tp);
                3 * heads * head_dim * window(taps) + heads * head_dim * head_dim * 4
            }
            Self::Linear { heads, head_dim } => heads.div_ceil(tp) * head_dim * head_dim * element,
            Self::ShortConvolution { channels, taps } => (channels / tp) * window(taps),
        }
    }

    /// Parameters of the layer's projections, all of which are divided among ranks.
    pub fn params(&self, hidden: u64) -> f64 {
        let h = hidden as f64;
        match *self {
            Self::Mamba1 { inner, state, taps, step_rank } => {
                let (inner, state, rank) = (inner as f64, state as f64, step_rank as f64);
                3.0 * h * inner + inner * (taps as f64 + rank + 2.0 * state + rank + state)
            }
            Self::Mamba2 { heads, head_dim, state, groups, taps, .. } => {
                let inner = (heads * head_dim) as f64;
                let channels = inner + (2 * groups * state) as f64;
                h * (2.0 * inner + channels - inner + heads as f64)
                    + channels * taps as f64
                    + inner * h
            }
            Self::GatedDelta { key_heads, value_heads, key_dim, value_dim, taps } => {
                let (keys, values) =
                    ((key_heads * key_dim) as f64, (value_heads * value_dim) as f64);
                let channels = 2.0 * keys + values;
                h * (channels + values + 2.0 * value_heads as f64)
                    + channels * taps as f64
                    + values * h
            }
            Self::KimiDelta { heads, head_dim, taps } => {
                let inner = (heads * head_dim) as f64;
                4.0 * h * inner + 3.0 * inner * taps as f64 + 2.0 * head_dim as f64 * (h + inner)
            }
            Self::Linear { heads, head_dim } => 5.0 * h * (heads * head_dim) as f64,
            Self::ShortConvolution { channels, taps } => {
                4.0 * h * channels as f64 + (channels * taps) as f64
            }
        }
    }

    /// Tokens that the kernel takes at once, where blocks of cached states must be whole numbers of
    /// it.
    pub const fn chunk_tokens(&self) -> Option<u64> {
        match self {
            Self::Mamba2 { chunk, .. } => Some(*chunk),
            _ => None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), MemoryError> {
        let dims: [(&'static str, u64); 5] = match *self {
            Self::Mamba1 { inner, state, taps, step_rank } => [
                ("d_inner", inner),
                ("state_size", state),
                ("conv_kernel", taps),
                ("time_step_rank", step_rank),
                ("", 1),
            ],
            Self::Mamba2 { heads, head_dim, state, groups, taps, chunk } => {
                in_reach("chunk_size", chunk, MOST)?;
                [
                    ("mamba_num_heads", heads),
                    ("mamba_head_dim", head_dim),
                    ("ssm_state_size", state),
                    ("n_groups", groups),
                    ("conv_kernel", taps),
                ]
            }
            Self::GatedDelta { key_heads, value_heads, key_dim, value_dim, taps } => [
                ("linear_num_key_heads", key_heads),
                ("linear_num_value_heads", value_heads),
                ("linear_key_head_dim", key_dim),
                ("linear_value_head_dim", value_dim),
                ("linear_conv_kernel_dim", taps),
            ],
            Self::KimiDelta { heads, head_dim, taps } => [
                ("num_heads", heads),
                ("head_dim", head_dim),
                ("short_conv_kernel_size", taps),
                ("", 1),
                ("", 1),
            ],
            Self::Linear { heads, head_dim } => {
                [("num_attention_heads", heads), ("head_dim", head_dim), ("", 1), ("", 1), ("", 1)]
            }
            Self::ShortConvolution { channels, taps } => {
                [("conv_dim", channels), ("conv_L_cache", taps), ("", 1), ("", 1), ("", 1)]
            }
        };
        dims.iter().try_for_each(|&(field, value)| in_reach(field, value, MOST))?;
        // A state of 16 TiB is nobody's, and keeps sums of products within 64 bits.
        let product = dims.iter().try_fold(8_u64, |all, &(_, value)| all.checked_mul(value));
        if product.is_none_or(|product| product > 1 << 50) {
            let fix = "no model keeps so much for one request";
            return Err(MemoryError::new("the size of a recurrent state", &"too large", fix));
        }
        Ok(())
    }
}
