//! How many tokens of keys and values a measured engine held, where no log tells.

use sim_core::{
    memory::{Architecture, FeedForward, Mixer, Reach},
    step_time::kernel::{Formats, Spread},
};

/// Share of the memory that an engine takes.
const ENGINE_SHARE: f64 = 0.9;
/// Activations, graphs and what else there is, bytes.
const RESERVE_BYTES: f64 = 5e9;

/// Tokens of the KV cache of a replica whose GPUs have so many bytes each: what weights and a reserve
/// leave of 90 %. Rough on purpose: these runs come from many versions of three engines.
pub(crate) fn kv_tokens(
    architecture: &Architecture,
    formats: &Formats,
    spread: &Spread,
    memory_bytes: f64,
) -> f64 {
    let ranks = spread.ranks as f64;
    let hidden = architecture.hidden_size as f64;
    let mut weights = 4.0 * hidden * architecture.vocab_size as f64 / ranks;
    let mut token_bytes = 0.0;
    for layer in &architecture.layers {
        for mixer in &layer.mixers {
            let (params, cached) = mixing(mixer, hidden, spread.attention_ranks() as f64);
            weights += formats.mixing.bytes * params;
            token_bytes += formats.kv_bytes * cached;
        }
        weights += feed_forward(layer.feed_forward, formats) * hidden / ranks;
    }
    (ENGINE_SHARE * memory_bytes - weights - RESERVE_BYTES) / token_bytes
        * spread.attention_groups as f64
}

/// Parameters and cached elements per token of one rank.
fn mixing(mixer: &Mixer, hidden: f64, ranks: f64) -> (f64, f64) {
    match mixer {
        Mixer::Attention(it) => {
            let kv_heads = it.kv_heads as f64;
            let params = 2.0 * hidden * (it.heads as f64 + kv_heads) * it.key_dim as f64 / ranks;
            let kept = if kv_heads > ranks { kv_heads / ranks } else { 1.0 };
            // Windows hold next to nothing beside full attention.
            let is_full = if it.reach == Reach::Full { 1.0 } else { 0.0 };
            (params, is_full * kept * (it.key_dim + it.value_dim) as f64)
        }
        Mixer::Latent(it) => {
            let heads = it.heads as f64 / ranks;
            let cached = (it.kv_rank + it.rope_dim) as f64;
            let queries = it.q_rank as f64 * (hidden + heads * (it.nope_dim + it.rope_dim) as f64);
            let keys = it.kv_rank as f64 * heads * (it.nope_dim + it.value_dim) as f64;
            let outputs = hidden * heads * it.value_dim as f64;
            (queries + cached * hidden + keys + outputs, cached)
        }
        Mixer::Recurrent(_) => (6.0 * hidden * hidden / ranks, 0.0),
    }
}

/// Bytes of a feed-forward part for each element of the width of the residual stream.
fn feed_forward(part: FeedForward, formats: &Formats) -> f64 {
    match part {
        FeedForward::None => 0.0,
        FeedForward::Dense { width, matrices } => formats.dense.bytes * (width * matrices) as f64,
        FeedForward::Experts { count, width, shared_width, matrices, .. } => {
            formats.experts.bytes * (count * width * matrices) as f64
                + formats.dense.bytes * (shared_width * matrices) as f64
        }
    }
}
