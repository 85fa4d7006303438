//! What a measured run and a scenario have in common: an engine with a checkpoint on a GPU.

use serde::{Deserialize, Serialize};

/// Engines whose overheads are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Engine {
    /// vLLM, its V1 engine.
    Vllm,
    /// TensorRT-LLM.
    TensorRt,
    /// SGLang.
    Sglang,
}

impl Engine {
    /// Its name in files of measured runs and of constants.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::TensorRt => "trtllm",
            Self::Sglang => "sglang",
        }
    }

    /// The engine of that name.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        [Self::Vllm, Self::TensorRt, Self::Sglang].into_iter().find(|it| it.name() == name)
    }
}

/// Versions that were measured alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum VersionClass {
    /// vLLM up to 0.12, TensorRT-LLM up to 1.0, SGLang up to 0.5.6.
    Early,
    /// vLLM 0.13 to 0.17.
    Middle,
    /// Whatever came after.
    Late,
}

impl VersionClass {
    /// The class of a version such as `0.19.0`; where it is not told, a run's date, such as
    /// `2025-10-21`, tells vLLM's.
    #[must_use]
    pub fn of(engine: Engine, version: &str, date: &str) -> Self {
        let version = version.trim_start_matches('v');
        let is_told = version.starts_with(|c: char| c.is_ascii_digit());
        let mut parts = version.split('.').map(|part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit);
            digits.fold(0_u64, |number, digit| {
                number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
            })
        });
        let mut next = || parts.next().unwrap_or(0);
        let (major, minor, patch) = (next(), next(), next());
        match engine {
            Engine::Vllm => match if is_told { minor } else { vllm_of(date) } {
                0..=12 => Self::Early,
                13..=17 => Self::Middle,
                _ => Self::Late,
            },
            Engine::TensorRt if !is_told || (major, minor) <= (1, 0) => Self::Early,
            Engine::Sglang if is_told && (major, minor, patch) <= (0, 5, 6) => Self::Early,
            Engine::TensorRt | Engine::Sglang => Self::Late,
        }
    }

    /// Its name in the file of constants.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Middle => "middle",
            Self::Late => "late",
        }
    }
}

/// The minor version of vLLM that was usual on a day.
fn vllm_of(date: &str) -> u64 {
    match date {
        date if date >= "2026-02" => 16,
        date if date >= "2025-12" => 13,
        _ => 11,
    }
}

/// Precision of a checkpoint's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Precision {
    /// BF16 or FP16.
    Half,
    /// FP8.
    Fp8,
    /// NVFP4.
    Nvfp4,
    /// MXFP4.
    Mxfp4,
    /// Four bits that are computed with in sixteen.
    Int4,
}

impl Precision {
    /// Its name in the file of constants.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Half => "bf16",
            Self::Fp8 => "fp8",
            Self::Nvfp4 => "nvfp4",
            Self::Mxfp4 => "mxfp4",
            Self::Int4 => "int4",
        }
    }

    /// The precision that a word says, whatever its case: `bf16`, `fp8(native)`, `awq-int4`.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Some(match word.as_str() {
            "bf16" | "fp16/bf16" | "bfloat16" | "fp16" => Self::Half,
            "fp8" | "fp8(native)" => Self::Fp8,
            "nvfp4" => Self::Nvfp4,
            "mxfp4" => Self::Mxfp4,
            "int4" | "awq-int4" | "awq" => Self::Int4,
            _ => return None,
        })
    }
}

/// An engine with a checkpoint on a GPU, as far as constants depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// The engine.
    pub engine: Engine,
    /// Its versions.
    pub version: VersionClass,
    /// Generation of the GPU.
    pub generation: u64,
    /// Precision of the weights.
    pub precision: Precision,
    /// Whether some layers have experts.
    pub has_experts: bool,
    /// Whether layers are spread over several ranks.
    pub has_ranks: bool,
    /// Who measures or asks; empty for nobody in particular.
    pub client: String,
    /// Bytes of an element of the KV cache, where that is told.
    pub kv_bytes: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_fall_into_classes() {
        let of = |version, date| VersionClass::of(Engine::Vllm, version, date);
        assert_eq!(of("0.12.0", ""), VersionClass::Early);
        assert_eq!(of("v0.17.1", ""), VersionClass::Middle);
        assert_eq!(of("0.19.0", "2024-01"), VersionClass::Late);
        assert_eq!(of("", "2025-10-21"), VersionClass::Early);
        assert_eq!(of("nightly-5b8c", "2026-03-01"), VersionClass::Middle);
        assert_eq!(VersionClass::of(Engine::TensorRt, "1.0.0rc3", ""), VersionClass::Early);
        assert_eq!(VersionClass::of(Engine::TensorRt, "1.2.0rc6", ""), VersionClass::Late);
        assert_eq!(VersionClass::of(Engine::Sglang, "0.5.6.post2", ""), VersionClass::Early);
        assert_eq!(VersionClass::of(Engine::Sglang, "0.5.10", ""), VersionClass::Late);
    }

    #[test]
    fn precisions_are_read_from_the_words_of_files() {
        assert_eq!(Precision::read("FP8(native)"), Some(Precision::Fp8));
        assert_eq!(Precision::read("fp16/bf16"), Some(Precision::Half));
        assert_eq!(Precision::read("fp4/fp8 (closed division)"), None);
    }
}
