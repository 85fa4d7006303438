//! How weights are stored.

use std::{fmt, str::FromStr};

use serde::Deserialize;
use sim_core::memory::WeightBytes;

/// A format of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightFormat {
    /// 32 bits.
    Fp32,
    /// 16 bits.
    Bf16,
    /// Eight-bit floating point.
    Fp8,
    /// Eight-bit integers.
    Int8,
    /// Four-bit integers with a scale and a zero point for each 128.
    Int4,
    /// Four bits with a scale for each 32 (OCP microscaling).
    Mxfp4,
    /// Four bits with a scale for each 16.
    Nvfp4,
}

/// No format has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is no format of weights; give bf16, fp8, int8, int4, mxfp4, nvfp4 or fp32")]
pub struct UnknownFormat(pub String);

impl WeightFormat {
    /// All of them, the most bytes first.
    pub const ALL: [Self; 7] =
        [Self::Fp32, Self::Bf16, Self::Fp8, Self::Int8, Self::Nvfp4, Self::Mxfp4, Self::Int4];

    /// Its name, as settings write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::Mxfp4 => "mxfp4",
            Self::Nvfp4 => "nvfp4",
        }
    }

    /// Its name, as people read it.
    #[must_use]
    pub fn name(self) -> String {
        self.word().to_ascii_uppercase()
    }

    /// Bytes of each parameter where all projections are stored so, and embeddings in 16 bits.
    #[must_use]
    pub const fn bytes(self) -> WeightBytes {
        match self {
            Self::Fp32 => WeightBytes::plain(4.0),
            Self::Bf16 => WeightBytes::plain(2.0),
            Self::Fp8 | Self::Int8 => WeightBytes::quantised(1.0, 2.0),
            Self::Int4 => WeightBytes::quantised(0.5 + 2.5 / 128.0, 2.0),
            Self::Mxfp4 => WeightBytes::quantised(0.5 + 1.0 / 32.0, 2.0),
            Self::Nvfp4 => WeightBytes::quantised(0.5 + 1.0 / 16.0, 2.0),
        }
    }
}

impl fmt::Display for WeightFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for WeightFormat {
    type Err = UnknownFormat;

    /// Reads the names, whatever the case, and those of methods that make such weights.
    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Ok(match text.trim().to_ascii_lowercase().as_str() {
            "fp32" | "float32" => Self::Fp32,
            "bf16" | "fp16" | "float16" | "bfloat16" => Self::Bf16,
            "fp8" => Self::Fp8,
            "int8" | "w8a8" => Self::Int8,
            "int4" | "awq" | "gptq" | "w4a16" => Self::Int4,
            "mxfp4" => Self::Mxfp4,
            "nvfp4" | "fp4" => Self::Nvfp4,
            _ => return Err(UnknownFormat(text.trim().to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_read_by_its_own_name_and_they_are_in_order_of_their_bytes() {
        for format in WeightFormat::ALL {
            assert_eq!(format.word().parse(), Ok(format));
            assert_eq!(format.name().parse(), Ok(format));
        }
        let bytes = WeightFormat::ALL.map(|format| format.bytes().mixing);
        assert!(bytes.is_sorted_by(|a, b| a >= b), "{bytes:?}");
        let error = "q4_k_m".parse::<WeightFormat>().expect_err("it is none");
        assert!(error.to_string().contains("“q4_k_m”"));
    }
}
