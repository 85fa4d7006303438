//! Parameters of vision and audio towers.

use serde_json::{Map, Value};

use super::{ConfigError, fields::whole};

const TOWERS: [&str; 4] = ["vision_config", "vit_config", "audio_config", "vision_tower_config"];

/// Parameters of all towers with their projections to the language model's width, and whether every
/// rank holds all of them.
///
/// A transformer has `4h² + 2hw` parameters a layer. What is not named is left out, as patch embeddings
/// and norms are: towers are a small part of a model.
pub(super) fn params(
    root: &Map<String, Value>,
    text_hidden: u64,
) -> Result<(f64, bool), ConfigError> {
    let text_hidden = text_hidden as f64;
    let mut params = 0.0;
    let mut are_replicated = false;
    for name in TOWERS {
        let Some(tower) = root.get(name).and_then(Value::as_object) else { continue };
        let number = |names: &[&str]| {
            let found = names.iter().find_map(|name| Some((*name, tower.get(*name)?)));
            let found = found.filter(|(_, value)| !value.is_null());
            found.map(|(name, value)| whole(name, value)).transpose()
        };
        let width = number(&["embed_dim", "hidden_size", "d_model", "width", "vt_hidden_size"])?;
        let layers = number(&[
            "num_hidden_layers",
            "depth",
            "layers",
            "encoder_layers",
            "vt_num_hidden_layers",
        ])?;
        let (Some(width), Some(layers)) = (width, layers) else { continue };
        let inner = number(&["intermediate_size", "encoder_ffn_dim", "vt_intermediate_size"])?;
        let (width, layers) = (width as f64, layers as f64);
        let inner = inner.map_or(4.0 * width, |inner| inner as f64);
        let is_pixtral = tower.get("model_type").and_then(Value::as_str) == Some("pixtral");
        let matrices = if is_pixtral { 3.0 } else { 2.0 };
        params += layers * (4.0 * width * width + matrices * width * inner);
        params += width * text_hidden + text_hidden * text_hidden;
        are_replicated |= is_pixtral;
    }
    Ok((params, are_replicated))
}
