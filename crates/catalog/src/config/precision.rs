//! How the checkpoint stores its weights, and wants keys and values stored.

use serde_json::{Map, Value};
use sim_core::memory::{KvElement, WeightBytes};

use super::{
    ConfigError,
    fields::{Fields, wrong},
};

/// Precision of a checkpoint.
pub(super) struct Precision {
    pub(super) name: String,
    pub(super) weight_bytes: WeightBytes,
    pub(super) kv_element: Option<KvElement>,
}

/// Engines compute in 16 bits, whatever the checkpoint.
const PLAIN_BYTES: f64 = 2.0;

/// How weights of one kind are stored.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    bytes: f64,
}

pub(super) fn of(fields: &Fields<'_>) -> Result<Precision, ConfigError> {
    let config =
        ["quantization_config", "compression_config"].iter().find_map(|name| fields.object(name));
    let Some(config) = config else {
        let is_half = fields.text("torch_dtype")?.or(fields.text("dtype")?) == Some("float16");
        return Ok(Precision {
            name: if is_half { "FP16" } else { "BF16" }.to_owned(),
            weight_bytes: WeightBytes::plain(PLAIN_BYTES),
            kv_element: None,
        });
    };
    let format = format(config)?;
    let mut weight_bytes = WeightBytes::quantised(format.bytes, PLAIN_BYTES);
    if method(config) == "mxfp4" {
        // OpenAI's own: experts alone.
        weight_bytes = WeightBytes {
            experts: format.bytes,
            pads_experts: true,
            ..WeightBytes::plain(PLAIN_BYTES)
        };
    }
    let spared = spared(config);
    if spares(&spared, &["self_attn", "attention", "linear_attn"]) {
        weight_bytes.mixing = PLAIN_BYTES;
    }
    if spares(&spared, &["shared_expert"]) {
        weight_bytes.dense = PLAIN_BYTES;
    }
    let kv_element = wants_fp8_cache(config).then_some(KvElement::Bytes(1));
    Ok(Precision { name: format.name.to_owned(), weight_bytes, kv_element })
}

fn method(config: &Map<String, Value>) -> String {
    let text = config.get("quant_method").and_then(Value::as_str).unwrap_or_default();
    text.to_ascii_lowercase()
}

fn format(config: &Map<String, Value>) -> Result<Format, ConfigError> {
    let whole = |map: &Map<String, Value>, name: &str| map.get(name).and_then(Value::as_u64);
    match method(config).as_str() {
        "fp8" | "fbgemm_fp8" | "modelopt_fp8" => Ok(fp8(config.get("weight_block_size"))),
        "mxfp4" | "gpt_oss_mxfp4" => Ok(MXFP4),
        "bitsandbytes" => {
            let is_eight = config.get("load_in_8bit").and_then(Value::as_bool) == Some(true);
            Ok(if is_eight { INT8 } else { integer(4, 64) })
        }
        "compressed-tensors" | "compressed_tensors" => compressed(config),
        "modelopt" | "modelopt_fp4" | "nvfp4" | "modelopt_mixed" => modelopt(config),
        "awq" | "gptq" | "auto-round" | "autoround" | "awq_marlin" | "gptq_marlin"
        | "intel/auto-round" => {
            let bits = whole(config, "bits").or(whole(config, "w_bit")).unwrap_or(4);
            let group = whole(config, "group_size").or(whole(config, "q_group_size"));
            bits_in_reach(bits)?;
            Ok(integer(bits, group.unwrap_or(128)))
        }
        other => {
            let must_be =
                "fp8, awq, gptq, compressed-tensors, modelopt, mxfp4, bitsandbytes or auto-round";
            Err(wrong("quantization_config.quant_method", &Value::from(other), must_be))
        }
    }
}

const INT8: Format = Format { name: "INT8", bytes: 1.0 };
/// Four bits, and eight for the scale of every 32.
const MXFP4: Format = Format { name: "MXFP4", bytes: 0.5 + 1.0 / 32.0 };
/// Four bits, and eight for the scale of every 16.
const NVFP4: Format = Format { name: "NVFP4", bytes: 0.5 + 1.0 / 16.0 };

/// One byte, and 32 bits for the scale of each block where there are blocks.
fn fp8(block: Option<&Value>) -> Format {
    let size = block
        .and_then(Value::as_array)
        .map(|block| block.iter().filter_map(Value::as_f64).product::<f64>())
        .filter(|size| *size >= 1.0);
    Format { name: "FP8", bytes: 1.0 + size.map_or(0.0, |size| 4.0 / size) }
}

/// Integers of so many bits, with a 16-bit scale and a zero point for each group.
fn integer(bits: u64, group: u64) -> Format {
    integer_with(bits, group, bits as f64 / 8.0)
}

/// The same with so many bytes for each zero point; a symmetric format has none.
fn integer_with(bits: u64, group: u64, zero_bytes: f64) -> Format {
    let bytes = bits as f64 / 8.0;
    // A group of −1 or none is a whole column.
    let of_group = if group == 0 { 0.0 } else { (2.0 + zero_bytes) / group as f64 };
    let name = match bits {
        4 => "INT4",
        8 => "INT8",
        3 => "INT3",
        2 => "INT2",
        _ => "integers",
    };
    Format { name, bytes: bytes + of_group }
}

fn bits_in_reach(bits: u64) -> Result<(), ConfigError> {
    if (1..=16).contains(&bits) {
        return Ok(());
    }
    Err(wrong("quantization_config.bits", &Value::from(bits), "from 1 to 16"))
}

/// The first group of weights stands for all.
fn compressed(config: &Map<String, Value>) -> Result<Format, ConfigError> {
    let groups = config.get("config_groups").and_then(Value::as_object);
    let weights = groups
        .and_then(|groups| groups.values().find_map(|group| group.get("weights")?.as_object()));
    let Some(weights) = weights else {
        // Only keys and values are quantised.
        return Ok(Format { name: "BF16", bytes: PLAIN_BYTES });
    };
    let bits = weights.get("num_bits").and_then(Value::as_u64).unwrap_or(8);
    bits_in_reach(bits)?;
    let group = weights.get("group_size").and_then(Value::as_u64).unwrap_or(0);
    let is_symmetric = weights.get("symmetric").and_then(Value::as_bool).unwrap_or(true);
    let is_float = weights.get("type").and_then(Value::as_str) == Some("float");
    Ok(match (is_float, bits, group) {
        (true, 8, _) => fp8(weights.get("block_structure")),
        (true, 4, 32) => MXFP4,
        (true, 4, _) => NVFP4,
        (_, bits, group) if is_symmetric => integer_with(bits, group, 0.0),
        (_, bits, group) => integer(bits, group),
    })
}

fn modelopt(config: &Map<String, Value>) -> Result<Format, ConfigError> {
    let inner = config.get("quantization").and_then(Value::as_object).unwrap_or(config);
    let algorithm = inner.get("quant_algo").and_then(Value::as_str).unwrap_or_default();
    match algorithm.to_ascii_uppercase().as_str() {
        "FP8" | "FP8_PER_CHANNEL_PER_TOKEN" | "FP8_PB_WO" => Ok(fp8(None)),
        "NVFP4" | "NVFP4_AWQ" | "MIXED_PRECISION" | "" => Ok(NVFP4),
        "W4A16_AWQ" | "W4A8_AWQ" => Ok(integer(4, 128)),
        "MXFP4" | "W4A8_MXFP4_FP8" => Ok(MXFP4),
        _ => Err(wrong(
            "quantization_config.quant_algo",
            &Value::from(algorithm),
            "FP8, NVFP4, MXFP4 or W4A16_AWQ",
        )),
    }
}

/// Names of modules that are left in 16 bits.
fn spared(config: &Map<String, Value>) -> Vec<&str> {
    const LISTS: [&str; 4] =
        ["modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"];
    let lists = LISTS.iter().filter_map(|name| config.get(*name)?.as_array());
    lists.flatten().filter_map(Value::as_str).collect()
}

/// Whether a part is spared in all layers: by a pattern, or in so many that they are listed one by one.
/// A name of one layer, for example the first, says nothing of the others.
fn spares(spared: &[&str], parts: &[&str]) -> bool {
    let of_part = |name: &&&str| parts.iter().any(|part| name.contains(part));
    let is_pattern = |name: &str| name.starts_with("re:") || name.contains('*');
    let mut found = spared.iter().filter(of_part);
    found.clone().any(|name| is_pattern(name)) || found.nth(8).is_some()
}

fn wants_fp8_cache(config: &Map<String, Value>) -> bool {
    let inner = config.get("quantization").and_then(Value::as_object).unwrap_or(config);
    let scheme = config.get("kv_cache_scheme").and_then(Value::as_object);
    let is_eight_bits =
        scheme.is_some_and(|scheme| scheme.get("num_bits").and_then(Value::as_u64) == Some(8));
    let algorithm = inner.get("kv_cache_quant_algo").and_then(Value::as_str);
    is_eight_bits || algorithm.is_some_and(|name| name.eq_ignore_ascii_case("fp8"))
}
