//! The settings of how an engine is set up on its GPUs.

use quantity::Unit;

use crate::setting::AUTO;

use super::{
    Access::{OptionalWhole, Word},
    Field, Group,
    table::word,
};

/// Engines and their versions. The first stands for the last version.
pub static ENGINES: &[&str] = &[
    AUTO,
    "vllm-0.11",
    "vllm-0.12",
    "vllm-0.13",
    "vllm-0.14",
    "vllm-0.15",
    "vllm-0.16",
    "vllm-0.17",
    "vllm-0.18",
    "vllm-0.19",
    "vllm-0.20",
    "vllm-0.21",
    "vllm-0.22",
    "vllm-0.23",
    "vllm-0.24",
    "vllm-0.25",
    "vllm-0.26",
    "vllm-0.27",
    "vllm-0.28",
    "vllm-0.29",
    "vllm-0.30",
    "vllm-0.31",
    "vllm-0.32",
    "vllm-0.33",
];

/// Formats of weights. The first stands for the checkpoint's own.
pub static WEIGHTS: &[&str] = &[AUTO, "fp32", "bf16", "fp8", "int8", "int4", "mxfp4", "nvfp4"];

/// Formats of keys and values. The first stands for the checkpoint's own.
pub static KV_DTYPES: &[&str] = &[AUTO, "fp32", "bf16", "fp8", "fp8_per_token_head", "nvfp4"];

/// The word at a place.
pub(crate) fn word_at(words: &'static [&'static str], place: u8) -> &'static str {
    words.get(usize::from(place)).copied().unwrap_or(AUTO)
}

/// The place of a word.
pub(super) fn place_of(words: &[&str], word: &str) -> u8 {
    words.iter().position(|known| *known == word).unwrap_or(0) as u8
}

/// Not `tp`: a link that must work for ever has that as a key without meaning.
pub(super) const TP: Field = Field {
    help: "GPUs that share each layer of one engine (tensor parallelism). Together with the memory of the engine’s version this replaces the rule of thumb for memory.",
    example: "4",
    min: 1.0,
    max: 64.0,
    quantity: Unit::Count,
    ..word(
        "deploy.tp",
        "GPUs per engine",
        Group::Memory,
        OptionalWhole { get: |s| s.deploy.tp, put: |s, v| s.deploy.tp = v },
    )
};

pub(super) const ENGINE: Field = Field {
    help: "Version of the engine, by whose rules memory is shared out; auto is the last one known.",
    example: "vllm@0.19",
    choices: ENGINES,
    default: AUTO,
    ..word(
        "engine",
        "Engine version",
        Group::Memory,
        Word {
            get: |s| word_at(ENGINES, s.deploy.engine),
            put: |s, v| s.deploy.engine = place_of(ENGINES, v),
        },
    )
};

pub(super) const WEIGHT_FORMAT: Field = Field {
    help: "Format of the weights; auto is the checkpoint’s own.",
    example: "fp8",
    choices: WEIGHTS,
    default: AUTO,
    ..word(
        "weights",
        "Weight format",
        Group::Memory,
        Word {
            get: |s| word_at(WEIGHTS, s.deploy.weights),
            put: |s, v| s.deploy.weights = place_of(WEIGHTS, v),
        },
    )
};

pub(super) const KV_DTYPE: Field = Field {
    help: "Format of keys and values; auto is the checkpoint’s own.",
    example: "fp8",
    choices: KV_DTYPES,
    default: AUTO,
    ..word(
        "kv_dtype",
        "KV cache format",
        Group::Memory,
        Word {
            get: |s| word_at(KV_DTYPES, s.deploy.kv_dtype),
            put: |s, v| s.deploy.kv_dtype = place_of(KV_DTYPES, v),
        },
    )
};

pub(super) const NUM_GPU_BLOCKS: Field = Field {
    quantity: Unit::Count,
    help: "Blocks of KV cache as the engine logged them (num_gpu_blocks); computed if absent.",
    example: "27000",
    min: 1.0,
    max: 1e9,
    ..word(
        "kv.num_gpu_blocks",
        "KV cache blocks",
        Group::Memory,
        OptionalWhole { get: |s| s.deploy.num_gpu_blocks, put: |s, v| s.deploy.num_gpu_blocks = v },
    )
};
