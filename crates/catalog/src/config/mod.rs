//! Hugging Face `config.json` to architecture facts.
//!
//! Families say the same things in different words, and nest them in different places; what is not said
//! follows from the family's own defaults. What cannot be understood is refused, never guessed at in
//! silence.

mod error;
mod feed_forward;
mod fields;
mod kinds;
mod mixers;
mod precision;
mod towers;

use serde_json::{Map, Value};
use sim_core::memory::{Architecture, KvElement, Layer, Mixer, WeightBytes};

pub use error::ConfigError;
use fields::Fields;

/// What a `config.json` says.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// The family: `model_type`.
    pub family: String,
    /// The network.
    pub architecture: Architecture,
    /// Longest context, tokens.
    pub context_tokens: u64,
    /// Precision of most weights in words: “BF16”, “FP8”, “INT4”.
    pub precision: String,
    /// Bytes of the weights.
    pub weight_bytes: WeightBytes,
    /// How the checkpoint wants keys and values stored, where it says so.
    pub kv_element: Option<KvElement>,
}

/// Read a `config.json`.
///
/// # Errors
///
/// If the text is no JSON object, lacks a fact that memory depends on, has a value of the wrong kind or
/// out of range, or is of a family whose cache is not modelled.
pub fn read_config(text: &str) -> Result<ModelConfig, ConfigError> {
    let value: Value = serde_json::from_str(&without_bare_words(text))
        .map_err(|error| ConfigError::Json { message: error.to_string() })?;
    match value {
        Value::Object(root) => from_object(&root),
        other => Err(ConfigError::NotAnObject { found: kind_of(&other) }),
    }
}

/// The same from parsed JSON.
pub(crate) fn from_object(root: &Map<String, Value>) -> Result<ModelConfig, ConfigError> {
    let fields = Fields::of(root);
    refuse_what_is_not_modelled(&fields)?;
    let kinds = kinds::of(&fields)?;
    let mut layers = Vec::with_capacity(kinds.len());
    for (index, kind) in kinds.iter().enumerate() {
        layers.push(Layer {
            mixers: mixers::of(&fields, *kind, index, &kinds)?,
            feed_forward: feed_forward::of(&fields, *kind, index)?,
        });
    }
    let hidden_size = fields.required(&["hidden_size", "n_embd", "d_model", "dim"])?;
    let context_tokens = context(&fields)?;
    let (rotary_dim, rotary_tables) = rotary(&fields, &layers)?;
    let (tower_params, towers_are_replicated) = towers::params(root, hidden_size)?;
    let architecture = Architecture {
        hidden_size,
        vocab_size: fields.required(&["vocab_size", "padded_vocab_size"])?,
        tied_embeddings: fields.flag("tie_word_embeddings")?.unwrap_or(ties_by_default(&fields)),
        max_positions: context_tokens,
        rotary_dim,
        rotary_tables,
        state_element_bytes: state_element_bytes(&fields)?,
        layers,
        tower_params,
        towers_are_replicated,
    };
    architecture.check()?;
    let precision = precision::of(&fields)?;
    Ok(ModelConfig {
        family: fields.family().to_owned(),
        architecture,
        context_tokens,
        precision: precision.name,
        weight_bytes: precision.weight_bytes,
        kv_element: precision.kv_element,
    })
}

fn refuse_what_is_not_modelled(fields: &Fields<'_>) -> Result<(), ConfigError> {
    let family = fields.family();
    let reason = if fields.flag("is_encoder_decoder")?.unwrap_or(false) {
        "models with an encoder and a decoder"
    } else if fields.has("compress_ratios") || family == "deepseek_v4" {
        "compressed sparse attention"
    } else if family.starts_with("zamba") || family.starts_with("rwkv") {
        "this recurrence"
    } else {
        return Ok(());
    };
    Err(ConfigError::NotModelled { family: family.to_owned(), what: reason })
}

fn context(fields: &Fields<'_>) -> Result<u64, ConfigError> {
    const NAMES: [&str; 6] = [
        "max_position_embeddings",
        "n_positions",
        "max_sequence_length",
        "max_seq_len",
        "seq_length",
        "model_max_length",
    ];
    // A recurrence knows no longest context.
    Ok(fields.whole(&NAMES)?.unwrap_or(131_072))
}

/// Elements of a head that are rotated, and how many tables there are: layers with windows often have a
/// frequency of their own.
fn rotary(fields: &Fields<'_>, layers: &[Layer]) -> Result<(u64, u64), ConfigError> {
    const LEARNED: [&str; 6] = ["gpt2", "opt", "bloom", "mpt", "gpt_bigcode", "nemotron_h"];
    if LEARNED.contains(&fields.family()) {
        return Ok((0, 0));
    }
    let nested = fields.object("rope_parameters").and_then(|it| it.get("partial_rotary_factor"));
    let part = match fields.number(&["partial_rotary_factor", "rotary_pct"])? {
        Some(part) => part,
        None => nested.and_then(Value::as_f64).unwrap_or(1.0),
    };
    let of = |mixer: &Mixer| match mixer {
        Mixer::Attention(attention) => Some((attention.key_dim as f64 * part) as u64),
        Mixer::Latent(latent) => Some(latent.rope_dim),
        Mixer::Recurrent(_) => None,
    };
    let dim = layers.iter().flat_map(|layer| &layer.mixers).find_map(of).unwrap_or(0);
    let has_two = fields.has("rope_local_base_freq") || fields.family().starts_with("gemma3");
    Ok((dim, if dim == 0 { 0 } else { 1 + u64::from(has_two) }))
}

/// Families whose configuration leaves the key out where the tables are shared.
fn ties_by_default(fields: &Fields<'_>) -> bool {
    const SHARED: [&str; 9] =
        ["gemma", "cohere", "gpt2", "bloom", "falcon", "opt", "mpt", "gpt_bigcode", "lfm2"];
    SHARED.iter().any(|family| fields.family().starts_with(family))
}

fn state_element_bytes(fields: &Fields<'_>) -> Result<u64, ConfigError> {
    let name = fields.text("mamba_ssm_dtype")?.or(fields.text("mamba_ssm_cache_dtype")?);
    Ok(match name {
        Some("float32") => 4,
        Some("float16" | "bfloat16") => 2,
        _ => 0,
    })
}

/// Python writes `Infinity` and `NaN`, which JSON has not. They stand in fields that memory does not
/// depend on; as `null` they are as if they were not there.
fn without_bare_words(text: &str) -> std::borrow::Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut rest) = (false, text);
    while let Some(c) = rest.chars().next() {
        let word = WORDS.iter().find(|word| !in_string && rest.starts_with(**word));
        if let Some(word) = word {
            out.push_str("null");
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        // An escaped character ends no string.
        let length = match (c, in_string) {
            ('\\', true) => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            ('"', _) => {
                in_string = !in_string;
                1
            }
            _ => c.len_utf8(),
        };
        out.push_str(rest.get(..length).unwrap_or(rest));
        rest = rest.get(length..).unwrap_or_default();
    }
    out.into()
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
