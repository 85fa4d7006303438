//! An architecture in words: what its layers are.

use quantity::count;
use sim_core::memory::{Architecture, Attention, FeedForward, Layer, Mixer, Reach, Recurrent};

/// Layers of each kind, in the order in which kinds first appear: how many, and what they are.
pub(super) fn kinds(architecture: &Architecture) -> Vec<(u64, String)> {
    let mut kinds: Vec<(u64, String)> = Vec::new();
    for layer in &architecture.layers {
        let words = layer_words(layer);
        match kinds.iter_mut().find(|(_, known)| *known == words) {
            Some((layers, _)) => *layers += 1,
            None => kinds.push((1, words)),
        }
    }
    kinds
}

fn layer_words(layer: &Layer) -> String {
    let mut parts: Vec<String> = layer.mixers.iter().map(mixer_words).collect();
    match layer.feed_forward {
        FeedForward::None => {}
        FeedForward::Dense { width, .. } => parts.push(format!("dense {}", count(width))),
        FeedForward::Experts { count: experts, active, width, shared_width, .. } => {
            let mut words = format!("{active} of {} experts of {}", count(experts), count(width));
            if shared_width > 0 {
                words.push_str(&format!(", {} shared", count(shared_width)));
            }
            parts.push(words);
        }
    }
    parts.join("; ")
}

fn mixer_words(mixer: &Mixer) -> String {
    match mixer {
        Mixer::Attention(attention) => attention_words(attention),
        Mixer::Latent(latent) => {
            let queries = match latent.q_rank {
                0 => "queries uncompressed".to_owned(),
                rank => format!("q rank {}", count(rank)),
            };
            let indexer = latent.indexer.map_or(String::new(), |indexer| {
                format!(", indexer {} × {}", indexer.heads, indexer.dim)
            });
            format!(
                "latent attention: {} heads, {queries}, kv rank {} + {} rotary, keys {}, values {}{indexer}",
                latent.heads, latent.kv_rank, latent.rope_dim, latent.nope_dim, latent.value_dim
            )
        }
        Mixer::Recurrent(recurrent) => recurrent_words(recurrent),
    }
}

fn attention_words(attention: &Attention) -> String {
    let reach = match attention.reach {
        Reach::Full => "attention".to_owned(),
        Reach::Window(tokens) => format!("window of {}", count(tokens)),
        Reach::Chunk(tokens) => format!("chunks of {}", count(tokens)),
    };
    let gate = if attention.is_gated { ", gated" } else { "" };
    format!(
        "{reach}: {} heads, {} KV × {}{gate}",
        attention.heads, attention.kv_heads, attention.key_dim
    )
}

fn recurrent_words(recurrent: &Recurrent) -> String {
    match *recurrent {
        Recurrent::Mamba1 { inner, state, .. } => {
            format!("Mamba: {} channels × {state}", count(inner))
        }
        Recurrent::Mamba2 { heads, head_dim, state, groups, .. } => {
            format!("Mamba-2: {heads} heads × {head_dim} × {state}, {groups} groups")
        }
        Recurrent::GatedDelta { key_heads, value_heads, key_dim, value_dim, .. } => {
            format!(
                "gated delta net: {key_heads} × {key_dim} keys, {value_heads} × {value_dim} values"
            )
        }
        Recurrent::KimiDelta { heads, head_dim, .. } => {
            format!("Kimi delta attention: {heads} heads × {head_dim}")
        }
        Recurrent::Linear { heads, head_dim } => {
            format!("lightning attention: {heads} heads × {head_dim}")
        }
        Recurrent::ShortConvolution { channels, .. } => {
            format!("short convolution: {} channels", count(channels))
        }
    }
}
