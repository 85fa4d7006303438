//! What the model needs beside the architecture: rates of a GPU, formats of numbers, and overheads.

use serde::{Deserialize, Serialize};

use crate::setup::SetupError;

/// A reduction over more than one node takes so much longer, seconds.
const NODE_LATENCY_S: f64 = 6e-6;

/// What a GPU and its links can do. Shares of peaks come from timings of single kernels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuRates {
    /// Dense peak in 16 bits, FLOP/s.
    pub flops_16: f64,
    /// Dense peak in 8 bits, FLOP/s; zero where there is none.
    pub flops_8: f64,
    /// Dense peak in 4 bits, FLOP/s; zero where there is none.
    pub flops_4: f64,
    /// Memory bandwidth, bytes per second.
    pub bandwidth_bytes_per_s: f64,
    /// Share of the 16-bit peak that large matrix products reach.
    pub share_16: f64,
    /// Share of the 8-bit peak.
    pub share_8: f64,
    /// Share of the 4-bit peak.
    pub share_4: f64,
    /// Share of the bandwidth that matrix products reach.
    pub bandwidth_share: f64,
    /// Share of the bandwidth at which attention reads the cache.
    pub cache_share: f64,
    /// Reduction over 2, 4 and 8 GPUs.
    pub reduce: [Reduction; 3],
}

/// Sizes of messages at which reductions are known, bytes.
pub const REDUCE_BYTES: [f64; 13] = [
    4096.0,
    16384.0,
    65536.0,
    131_072.0,
    262_144.0,
    524_288.0,
    1_048_576.0,
    2_097_152.0,
    4_194_304.0,
    8_388_608.0,
    16_777_216.0,
    67_108_864.0,
    268_435_456.0,
];

/// Times of an all-reduce over GPUs of a node, by the size of the message, seconds.
///
/// Algorithms change with size, so that measured times have steps that no latency and bandwidth describe:
/// in between they are interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// At the sizes [`REDUCE_BYTES`].
    pub times_s: [f64; 13],
}

impl Reduction {
    /// Time of one over so many bytes, seconds.
    #[must_use]
    pub fn time_s(&self, bytes: f64) -> f64 {
        let last = REDUCE_BYTES.len() - 1;
        if bytes >= REDUCE_BYTES[last] {
            return self.times_s[last] * bytes / REDUCE_BYTES[last];
        }
        let after = REDUCE_BYTES.iter().position(|&size| size > bytes).unwrap_or(last);
        if after == 0 {
            return self.times_s[0];
        }
        let (low, high) = (REDUCE_BYTES[after - 1], REDUCE_BYTES[after]);
        let part = (bytes - low) / (high - low);
        self.times_s[after - 1] + part * (self.times_s[after] - self.times_s[after - 1])
    }
}

/// How a matrix product's weights are stored and computed with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Format {
    /// Bytes of one weight, scales included.
    pub bytes: f64,
    /// Arithmetic rate that large products reach, FLOP/s.
    pub flops: f64,
}

/// Formats of the parts of a network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formats {
    /// Projections of attention and recurrences.
    pub mixing: Format,
    /// Dense feed-forward layers and shared experts.
    pub dense: Format,
    /// Routed experts.
    pub experts: Format,
    /// Output projection.
    pub head: Format,
    /// Bytes of one element of the KV cache.
    pub kv_bytes: f64,
}

/// What an engine spends beside the kernels: fitted, and known together better than apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overheads {
    /// Each layer of a step: norms, rotary embeddings, quantisation, gaps between kernels; seconds.
    pub layer_s: f64,
    /// Each layer with experts on top of that: routing, sorting, combining; seconds.
    pub expert_layer_s: f64,
    /// Each step: scheduling, preparing inputs; seconds.
    pub step_s: f64,
    /// Each sequence that gets a token: sampling, detokenising; seconds.
    pub sequence_s: f64,
    /// Each layer of a step with prompts on top: such steps run without recorded graphs; seconds.
    pub prompt_layer_s: f64,
    /// Each request, before its first token and outside the engine: server, tokeniser; seconds.
    pub api_s: f64,
}

/// How well kernels for mixtures of experts do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpertKernels {
    /// Share of a dense product's arithmetic rate.
    pub compute_share: f64,
    /// Share of a dense product's bandwidth.
    pub bandwidth_share: f64,
    /// Tokens that are computed for nothing for each expert that is visited: tiles are not full.
    pub padding_tokens: f64,
    /// `n` tokens choose experts as `n^exponent` independent ones would.
    pub routing_exponent: f64,
}

/// How a replica is spread over GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Ranks that share each layer's feed-forward weights.
    pub ranks: u64,
    /// Of these, groups that each attend to their own requests (attention data parallelism).
    pub attention_groups: u64,
    /// Ranks among which whole experts are spread, 1 where each expert is cut.
    pub expert_ranks: u64,
    /// Stages of a pipeline.
    pub stages: u64,
}

impl Spread {
    /// Tensor parallelism alone.
    #[must_use]
    pub const fn tensor(ranks: u64) -> Self {
        Self { ranks, attention_groups: 1, expert_ranks: 1, stages: 1 }
    }

    /// Ranks that share the heads of one request.
    #[must_use]
    pub const fn attention_ranks(&self) -> u64 {
        let ranks = self.ranks / self.attention_groups;
        if ranks == 0 { 1 } else { ranks }
    }

    pub(super) fn check(&self) -> Result<(), SetupError> {
        let fields = [
            ("step.ranks", self.ranks),
            ("step.attention_groups", self.attention_groups),
            ("step.expert_ranks", self.expert_ranks),
            ("step.stages", self.stages),
        ];
        for (field, value) in fields {
            if value == 0 || value > 1024 {
                let requirement = "from 1 to 1024";
                return Err(SetupError::OutOfDomain { field, value: value as f64, requirement });
            }
        }
        Ok(())
    }
}

impl GpuRates {
    /// The reduction over so many GPUs. Beyond one node of eight the latency is that of a network.
    pub(super) fn reduction(&self, ranks: u64) -> Reduction {
        match ranks {
            0..=2 => self.reduce[0],
            3..=4 => self.reduce[1],
            5..=8 => self.reduce[2],
            _ => {
                Reduction { times_s: self.reduce[2].times_s.map(|time_s| time_s + NODE_LATENCY_S) }
            }
        }
    }
}
