//! What mixes tokens in a layer.

use serde_json::{Map, Value};
use sim_core::memory::{Attention, Indexer, LatentAttention, Mixer, Reach, Recurrent};

use super::{
    ConfigError,
    fields::{Fields, missing, whole},
    kinds::Kind,
};

/// The mixers of layer `index`.
pub(super) fn of(
    fields: &Fields<'_>,
    kind: Kind,
    index: usize,
    kinds: &[Kind],
) -> Result<Vec<Mixer>, ConfigError> {
    Ok(match kind {
        Kind::FeedForward | Kind::Experts => Vec::new(),
        Kind::Recurrent => vec![Mixer::Recurrent(recurrent(fields)?)],
        Kind::Both => vec![
            Mixer::Attention(attention(fields, Kind::Full, false)?),
            Mixer::Recurrent(recurrent(fields)?),
        ],
        Kind::Full | Kind::Sliding | Kind::Chunked => {
            if fields.whole(&["kv_lora_rank"])?.is_some_and(|rank| rank > 0) {
                return Ok(vec![Mixer::Latent(latent(fields)?)]);
            }
            // The last so many layers read the cache of an earlier one.
            let shared = fields.whole(&["num_kv_shared_layers"])?.unwrap_or(0);
            let shares = index as u64 + shared >= kinds.len() as u64 && shared > 0;
            vec![Mixer::Attention(attention(fields, kind, shares)?)]
        }
    })
}

fn heads(fields: &Fields<'_>) -> Result<u64, ConfigError> {
    fields.required(&["num_attention_heads", "n_head", "n_heads", "num_heads"])
}

fn attention(
    fields: &Fields<'_>,
    kind: Kind,
    shares_cache: bool,
) -> Result<Attention, ConfigError> {
    let family = fields.family();
    let mut heads = heads(fields)?;
    let mut kv_heads = kv_heads(fields, heads)?;
    let hidden = fields.required(&["hidden_size", "n_embd", "d_model", "dim"])?;
    let names = ["head_dim", "attention_head_dim", "kv_channels", "d_head"];
    let mut key_dim = match fields.whole(&names)? {
        Some(dim) => dim,
        None => hidden.checked_div(heads).ok_or_else(|| missing("head_dim"))?,
    };
    let mut value_dim = fields.whole(&["v_head_dim"])?.unwrap_or(key_dim);
    match kind {
        // Full layers of Gemma 4 have wider and fewer heads than those with windows.
        Kind::Full if fields.has("global_head_dim") => {
            key_dim = fields.required(&["global_head_dim"])?;
            value_dim = key_dim;
            kv_heads = fields.whole(&["num_global_key_value_heads"])?.unwrap_or(kv_heads);
        }
        Kind::Sliding => {
            heads = fields.whole(&["swa_num_attention_heads"])?.unwrap_or(heads);
            kv_heads = fields.whole(&["swa_num_key_value_heads"])?.unwrap_or(kv_heads);
            key_dim = fields.whole(&["swa_head_dim"])?.unwrap_or(key_dim);
            value_dim = fields.whole(&["swa_v_head_dim"])?.unwrap_or(value_dim);
        }
        _ => {}
    }
    let reach = match kind {
        Kind::Sliding => {
            Reach::Window(fields.required(&["sliding_window", "sliding_window_size"])?)
        }
        Kind::Chunked => Reach::Chunk(fields.required(&["attention_chunk_size"])?),
        _ => Reach::Full,
    };
    let gated = family.starts_with("qwen3_next") || family.starts_with("qwen3_5");
    let is_gated = fields.flag("attn_output_gate")?.unwrap_or(gated);
    Ok(Attention { heads, kv_heads, key_dim, value_dim, reach, is_gated, shares_cache })
}

fn kv_heads(fields: &Fields<'_>, heads: u64) -> Result<u64, ConfigError> {
    // Falcon: one head for all, unless the newer layout gives a number.
    let is_multi_query = fields.flag("multi_query")?.unwrap_or(false);
    let is_new = fields.flag("new_decoder_architecture")?.unwrap_or(false);
    if is_multi_query && !is_new && fields.family() != "chatglm" {
        return Ok(1);
    }
    let names =
        ["num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "n_kv_heads"];
    Ok(fields.whole(&names)?.unwrap_or(heads))
}

fn latent(fields: &Fields<'_>) -> Result<LatentAttention, ConfigError> {
    let indexer = match (fields.whole(&["index_head_dim"])?, fields.has("index_topk")) {
        (Some(dim), true) => {
            Some(Indexer { heads: fields.whole(&["index_n_heads"])?.unwrap_or(64), dim })
        }
        _ => None,
    };
    Ok(LatentAttention {
        heads: heads(fields)?,
        q_rank: fields.whole(&["q_lora_rank"])?.unwrap_or(0),
        kv_rank: fields.required(&["kv_lora_rank"])?,
        rope_dim: fields.required(&["qk_rope_head_dim"])?,
        nope_dim: fields.required(&["qk_nope_head_dim"])?,
        value_dim: fields.required(&["v_head_dim"])?,
        indexer,
    })
}

fn recurrent(fields: &Fields<'_>) -> Result<Recurrent, ConfigError> {
    if let Some(config) = fields.object("linear_attn_config") {
        return kimi_delta(config);
    }
    if fields.has("linear_num_value_heads") {
        return Ok(Recurrent::GatedDelta {
            key_heads: fields.required(&["linear_num_key_heads"])?,
            value_heads: fields.required(&["linear_num_value_heads"])?,
            key_dim: fields.required(&["linear_key_head_dim"])?,
            value_dim: fields.required(&["linear_value_head_dim"])?,
            taps: fields.whole(&["linear_conv_kernel_dim"])?.unwrap_or(4),
        });
    }
    let hidden = fields.required(&["hidden_size", "d_model", "n_embd"])?;
    if fields.has("conv_L_cache") {
        let channels = fields.whole(&["conv_dim"])?.unwrap_or(hidden);
        return Ok(Recurrent::ShortConvolution {
            channels,
            taps: fields.required(&["conv_L_cache"])?,
        });
    }
    if fields.has("attn_type_list") || fields.family().starts_with("minimax") {
        let heads = heads(fields)?;
        let head_dim = match fields.whole(&["head_dim"])? {
            Some(dim) => dim,
            None => hidden.checked_div(heads).ok_or_else(|| missing("head_dim"))?,
        };
        return Ok(Recurrent::Linear { heads, head_dim });
    }
    mamba(fields, hidden)
}

fn kimi_delta(config: &Map<String, Value>) -> Result<Recurrent, ConfigError> {
    let number = |name: &str| {
        let value = config.get(name).ok_or_else(|| missing(&format!("linear_attn_config.{name}")));
        value.and_then(|value| whole(name, value))
    };
    Ok(Recurrent::KimiDelta {
        heads: number("num_heads")?,
        head_dim: number("head_dim")?,
        taps: number("short_conv_kernel_size")?,
    })
}

fn mamba(fields: &Fields<'_>, hidden: u64) -> Result<Recurrent, ConfigError> {
    let state = fields.required(&["mamba_d_state", "ssm_state_size", "state_size"])?;
    let taps = fields.whole(&["mamba_d_conv", "conv_kernel", "mamba_conv_kernel"])?.unwrap_or(4);
    let expand = fields.whole(&["mamba_expand", "expand"])?.unwrap_or(2);
    let is_pure = fields.family().starts_with("mamba2");
    let names: &[&str] = if is_pure {
        &["num_heads", "mamba_n_heads"]
    } else {
        &["mamba_n_heads", "mamba_num_heads", "n_mamba_heads"]
    };
    let Some(heads) = fields.whole(names)? else {
        let inner = match fields.whole(&["mamba_d_inner"])? {
            Some(inner) => inner,
            None if fields.family().contains("mamba") => {
                fields.whole(&["intermediate_size"])?.unwrap_or(expand.saturating_mul(hidden))
            }
            None => expand.saturating_mul(hidden),
        };
        let step_rank = match fields.whole(&["mamba_dt_rank", "time_step_rank"]) {
            Ok(Some(rank)) => rank,
            // “auto” is a sixteenth of the width.
            _ => hidden.div_ceil(16),
        };
        return Ok(Recurrent::Mamba1 { inner, state, taps, step_rank });
    };
    let head_dim = match fields.whole(&["mamba_d_head", "mamba_head_dim", "mamba_headdim"]) {
        Ok(Some(dim)) => dim,
        _ if is_pure => fields.required(&["head_dim"])?,
        // “auto”: what the heads make of the expanded width.
        _ => expand.saturating_mul(hidden).checked_div(heads).unwrap_or(0),
    };
    Ok(Recurrent::Mamba2 {
        heads,
        head_dim,
        state,
        groups: fields.whole(&["mamba_n_groups", "n_groups", "mamba_ngroups"])?.unwrap_or(1),
        taps,
        chunk: fields.whole(&["mamba_chunk_size", "chunk_size"])?.unwrap_or(256),
    })
}
