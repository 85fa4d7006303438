//! Which layer is of which kind.

use serde_json::Value;

use super::{
    ConfigError,
    fields::{Fields, missing, whole, wrong},
};

/// Layers beyond this are no model's; a list or a number may claim any.
const MOST_LAYERS: u64 = 4096;

/// The kind of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Attention over all tokens.
    Full,
    /// Attention over a sliding window.
    Sliding,
    /// Attention within chunks.
    Chunked,
    /// A recurrence.
    Recurrent,
    /// Attention and a recurrence side by side.
    Both,
    /// Only a feed-forward part.
    FeedForward,
    /// Only experts, which count as a layer of their own.
    Experts,
}

/// The kinds of all layers.
pub(super) fn of(fields: &Fields<'_>) -> Result<Vec<Kind>, ConfigError> {
    if let Some(pattern) = fields.text("hybrid_override_pattern")? {
        return pattern.chars().filter(|&c| c != '|').map(by_letter).collect();
    }
    let names = ["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
    let listed = listed(fields)?;
    let count = match (fields.whole(&names)?, &listed) {
        (Some(count), _) => count,
        (None, Some(kinds)) => kinds.len() as u64,
        (None, None) => return Err(missing("num_hidden_layers")),
    };
    if count == 0 || count > MOST_LAYERS {
        let must_be = format!("a whole number from 1 to {MOST_LAYERS}");
        return Err(wrong("num_hidden_layers", &Value::from(count), &must_be));
    }
    let count = count as usize;
    match listed {
        // A list may go on with the layers of speculative heads.
        Some(kinds) if kinds.len() >= count => Ok(kinds.into_iter().take(count).collect()),
        Some(kinds) => {
            let must_be = format!("a list of {count} layers");
            Err(wrong("layer_types", &Value::from(kinds.len()), &must_be))
        }
        None => (0..count).map(|index| by_rule(fields, index)).collect(),
    }
}

/// Kinds that stand in a list, one for each layer.
fn listed(fields: &Fields<'_>) -> Result<Option<Vec<Kind>>, ConfigError> {
    for name in ["layer_types", "layers_block_type"] {
        if let Some(list) = fields.list(name)? {
            let kind = |value: &Value| by_name(fields, name, value);
            return list.iter().map(kind).collect::<Result<_, _>>().map(Some);
        }
    }
    let by_number = |name: &str, one: Kind, zero: Kind| {
        let Some(list) = fields.list(name)? else { return Ok(None) };
        let kind = |value: &Value| whole(name, value).map(|n| if n == 1 { one } else { zero });
        list.iter().map(kind).collect::<Result<Vec<_>, _>>().map(Some)
    };
    if let Some(kinds) = by_number("attn_type_list", Kind::Full, Kind::Recurrent)? {
        return Ok(Some(kinds));
    }
    by_number("hybrid_layer_pattern", Kind::Sliding, Kind::Full)
}

fn by_name(fields: &Fields<'_>, list: &str, value: &Value) -> Result<Kind, ConfigError> {
    Ok(match value.as_str() {
        Some("full_attention" | "attention" | "global" | "global_attention" | "full") => Kind::Full,
        Some("sliding_attention" | "local_attention" | "sliding" | "local") => Kind::Sliding,
        Some("chunked_attention") => Kind::Chunked,
        Some("linear_attention" | "mamba" | "mamba2" | "conv" | "recurrent") => Kind::Recurrent,
        Some("hybrid") if fields.family().starts_with("falcon_h1") => Kind::Both,
        Some("mlp") => Kind::FeedForward,
        Some("moe") => Kind::Experts,
        _ => {
            let must_be =
                "full_attention, sliding_attention, chunked_attention, linear_attention or mamba";
            return Err(wrong(list, value, must_be));
        }
    })
}

/// The pattern of Nemotron-H: `M` a Mamba layer, `*` attention, `-` a feed-forward layer, `E` experts.
fn by_letter(letter: char) -> Result<Kind, ConfigError> {
    Ok(match letter {
        'M' => Kind::Recurrent,
        '*' => Kind::Full,
        '-' => Kind::FeedForward,
        'E' => Kind::Experts,
        other => {
            let value = Value::from(other.to_string());
            return Err(wrong("hybrid_override_pattern", &value, "made of M, *, - and E"));
        }
    })
}

/// The kind that follows from an interval, or from the family's own rule.
fn by_rule(fields: &Fields<'_>, index: usize) -> Result<Kind, ConfigError> {
    let at = index as u64;
    let family = fields.family();
    if let Some(config) = fields.object("linear_attn_config") {
        let full = config.get("full_attn_layers").and_then(Value::as_array);
        // Counted from one.
        let is_full = full.is_some_and(|full| full.iter().any(|v| v.as_u64() == Some(at + 1)));
        return Ok(if is_full { Kind::Full } else { Kind::Recurrent });
    }
    for name in ["full_attn_idxs", "attn_layer_indices"] {
        if let Some(list) = fields.list(name)? {
            let is_full = list.iter().any(|value| value.as_u64() == Some(at));
            return Ok(if is_full { Kind::Full } else { Kind::Recurrent });
        }
    }
    if let Some(every) = fields.whole(&["full_attention_interval"])? {
        return Ok(if is_multiple(at + 1, every) { Kind::Full } else { Kind::Recurrent });
    }
    if family.starts_with("qwen3_next") || family.starts_with("qwen3_5") {
        return Ok(if is_multiple(at + 1, 4) { Kind::Full } else { Kind::Recurrent });
    }
    if let Some(period) = fields.whole(&["attn_layer_period"])? {
        let offset = fields.whole(&["attn_layer_offset"])?.unwrap_or(0);
        let is_full = at.checked_rem(period) == Some(offset);
        return Ok(if is_full { Kind::Full } else { Kind::Recurrent });
    }
    if family.starts_with("falcon_h1") {
        return Ok(Kind::Both);
    }
    if family.starts_with("mamba") || family == "falcon_mamba" {
        return Ok(Kind::Recurrent);
    }
    windowed(fields, at)
}

/// Full, within a window or within a chunk.
fn windowed(fields: &Fields<'_>, at: u64) -> Result<Kind, ConfigError> {
    let family = fields.family();
    let sliding_unless = |is_full: bool| if is_full { Kind::Full } else { Kind::Sliding };
    if fields.whole(&["attention_chunk_size"])?.is_some_and(|chunk| chunk > 0) {
        // Layers without rotary positions see all tokens.
        let is_chunked = match fields.list("no_rope_layers")? {
            Some(list) if !list.is_empty() => {
                list.get(at as usize).and_then(Value::as_u64).unwrap_or(0) != 0
            }
            _ => !is_multiple(at + 1, fields.whole(&["no_rope_layer_interval"])?.unwrap_or(4)),
        };
        return Ok(if is_chunked { Kind::Chunked } else { Kind::Full });
    }
    // The family's own interval of full layers goes before a window for all.
    if !slides(fields)? {
        return Ok(Kind::Full);
    }
    match fields.text("sliding_window_pattern") {
        Ok(Some(pattern)) if !pattern.is_empty() => {
            let letter = pattern.chars().nth(at as usize % pattern.chars().count());
            return Ok(sliding_unless(letter == Some('G')));
        }
        _ => {}
    }
    let names = ["sliding_window_pattern", "_sliding_window_pattern"];
    let every = match fields.whole(&names)? {
        Some(every) => every,
        None if family.starts_with("gemma3n") => 5,
        None if family.starts_with("gemma3") || family.starts_with("gemma4") => 6,
        None if family.starts_with("cohere2") => 4,
        None if family.starts_with("gemma2") || family.starts_with("gpt_oss") => 2,
        None => 0,
    };
    Ok(sliding_unless(every > 0 && is_multiple(at + 1, every)))
}

/// Whether there is a window at all. Qwen's configurations name one that is off unless switched on.
fn slides(fields: &Fields<'_>) -> Result<bool, ConfigError> {
    let has_window =
        fields.whole(&["sliding_window", "sliding_window_size"])?.is_some_and(|w| w > 0);
    let is_on = fields.flag("use_sliding_window")?;
    Ok(has_window && is_on.unwrap_or(!fields.family().starts_with("qwen")))
}

fn is_multiple(number: u64, of: u64) -> bool {
    of > 0 && number.is_multiple_of(of)
}
