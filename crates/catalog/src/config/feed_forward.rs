//! What a layer does to each token alone.

use serde_json::Value;
use sim_core::memory::FeedForward;

use super::{ConfigError, fields::Fields, kinds::Kind};

/// Families whose feed-forward layers have no gate: two matrices instead of three.
const UNGATED: [&str; 12] = [
    "falcon",
    "gpt2",
    "opt",
    "phi",
    "bloom",
    "mpt",
    "gpt_bigcode",
    "starcoder2",
    "nemotron",
    "nemotron_h",
    "gpt_neox",
    "persimmon",
];

/// The feed-forward part of layer `index`.
pub(super) fn of(
    fields: &Fields<'_>,
    kind: Kind,
    index: usize,
) -> Result<FeedForward, ConfigError> {
    let matrices = if UNGATED.contains(&fields.family()) { 2 } else { 3 };
    match kind {
        // A layer of the pattern is either a mixer or a feed-forward part.
        Kind::Full | Kind::Recurrent if fields.has("hybrid_override_pattern") => {
            Ok(FeedForward::None)
        }
        Kind::FeedForward => dense(fields, matrices),
        Kind::Experts => experts(fields, matrices),
        Kind::Recurrent if is_bare_recurrence(fields) => Ok(FeedForward::None),
        _ if has_experts(fields, index as u64)? => experts(fields, matrices),
        _ => dense(fields, matrices),
    }
}

/// Mamba's own layers have nothing behind them.
fn is_bare_recurrence(fields: &Fields<'_>) -> bool {
    fields.family().starts_with("mamba") || fields.family() == "falcon_mamba"
}

fn expert_count(fields: &Fields<'_>) -> Result<u64, ConfigError> {
    let names = [
        "num_local_experts",
        "num_experts",
        "n_routed_experts",
        "moe_num_experts",
        "num_routed_experts",
    ];
    Ok(fields.whole(&names)?.unwrap_or(0))
}

/// Whether layer `at` is a mixture of experts.
fn has_experts(fields: &Fields<'_>, at: u64) -> Result<bool, ConfigError> {
    if expert_count(fields)? <= 1 {
        return Ok(false);
    }
    let lists = |name: &str| -> Result<Option<bool>, ConfigError> {
        let Some(list) = fields.list(name)? else { return Ok(None) };
        Ok(Some(list.iter().any(|value| value.as_u64() == Some(at))))
    };
    if lists("mlp_only_layers")? == Some(true) {
        return Ok(false);
    }
    if fields.list("moe_layers").is_ok_and(|list| list.is_some_and(|list| !list.is_empty())) {
        return Ok(lists("moe_layers")?.unwrap_or(true));
    }
    if at < fields.whole(&["first_k_dense_replace", "moe_layer_start_index"])?.unwrap_or(0) {
        return Ok(false);
    }
    // A list has one flag for each layer; a number, an interval.
    if let Ok(Some(list)) = fields.list("moe_layer_freq") {
        return Ok(list.get(at as usize).and_then(Value::as_u64) == Some(1));
    }
    if let Some(every) = fields.whole(&["expert_layer_period"])? {
        let offset = fields.whole(&["expert_layer_offset"])?.unwrap_or(0);
        return Ok(at.checked_rem(every) == Some(offset));
    }
    let counted_from_one = ["decoder_sparse_step", "interleave_moe_layer_step"];
    if let Some(every) = fields.whole(&counted_from_one)? {
        return Ok(every > 0 && (at + 1).is_multiple_of(every));
    }
    let every = fields.whole(&["moe_layer_freq", "moe_layer_interval"])?.unwrap_or(1);
    Ok(every > 0 && at.is_multiple_of(every))
}

fn dense(fields: &Fields<'_>, matrices: u64) -> Result<FeedForward, ConfigError> {
    // Gemma 3n gives a width for each layer, all alike.
    let first = |list: &Vec<Value>| list.first().and_then(Value::as_u64);
    if let Ok(Some(width)) = fields.list("intermediate_size").map(|list| list.and_then(first)) {
        return Ok(FeedForward::Dense { width, matrices });
    }
    let names = [
        "intermediate_size_mlp",
        "shared_intermediate_size",
        "intermediate_size",
        "ffn_hidden_size",
        "n_inner",
        "ffn_dim",
        "block_ff_dim",
    ];
    let width = match fields.whole(&names)? {
        Some(width) => width,
        None => {
            let hidden = fields.required(&["hidden_size", "n_embd", "d_model", "dim"])?;
            hidden.saturating_mul(4)
        }
    };
    Ok(FeedForward::Dense { width, matrices })
}

fn experts(fields: &Fields<'_>, matrices: u64) -> Result<FeedForward, ConfigError> {
    let active_names = [
        "num_experts_per_tok",
        "num_experts_per_token",
        "moe_topk",
        "moe_k",
        "experts_per_token",
        "top_k_experts",
        "moe_top_k",
    ];
    let width_names =
        ["moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size", "ffn_hidden_size"];
    let width = fields.required(&width_names)?;
    let count = expert_count(fields)?;
    Ok(FeedForward::Experts {
        count,
        active: fields.required(&active_names)?.min(count),
        width,
        shared_width: shared_width(fields, width)?,
        matrices,
    })
}

fn shared_width(fields: &Fields<'_>, width: u64) -> Result<u64, ConfigError> {
    let given = [
        "shared_expert_intermediate_size",
        "moe_shared_expert_intermediate_size",
        "shared_intermediate_size",
    ];
    if let Some(shared) = fields.whole(&given)? {
        return Ok(shared);
    }
    let counts = ["n_shared_experts", "num_shared_experts", "moe_num_shared_experts"];
    if let Some(count) = fields.whole(&counts)? {
        return Ok(count.saturating_mul(width));
    }
    // Llama 4 has one beside the routed ones, and no field for it.
    Ok(if fields.family().starts_with("llama4") { width } else { 0 })
}
