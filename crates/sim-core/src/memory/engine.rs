//! What a version of vLLM does about memory.

use std::{fmt, str::FromStr};

use super::MemoryError;

/// A version of vLLM: 0.19 is `minor` 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineVersion {
    /// The number behind “0.”.
    pub minor: u32,
}

impl EngineVersion {
    /// The first version whose memory is modelled: the V1 engine with groups of layers.
    pub const FIRST: Self = Self { minor: 11 };
    /// The last version that was read.
    pub const LAST: Self = Self { minor: 33 };
    /// The version whose memory was measured, on H100.
    pub const MEASURED: Self = Self { minor: 19 };
}

impl fmt::Display for EngineVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vllm@0.{}", self.minor)
    }
}

impl FromStr for EngineVersion {
    type Err = MemoryError;

    /// Reads `vllm@0.19`, `vllm@0.19.1`, `0.19` and `vllm`, which is the last.
    fn from_str(text: &str) -> Result<Self, MemoryError> {
        let refused = || {
            let fix = format!(
                "give vllm@0.{} to vllm@0.{}, for example vllm@0.19",
                Self::FIRST.minor,
                Self::LAST.minor
            );
            MemoryError::new("engine", &format!("“{text}”"), fix)
        };
        let version = match text.trim().split_once('@') {
            Some((name, version)) if name.eq_ignore_ascii_case("vllm") => version,
            Some(_) => return Err(refused()),
            None if text.trim().eq_ignore_ascii_case("vllm") => return Ok(Self::LAST),
            None => text.trim(),
        };
        let mut parts = version.trim_start_matches('v').split('.');
        let major = parts.next();
        let minor = parts.next().and_then(|minor| minor.parse().ok());
        match (major, minor) {
            (Some("0"), Some(minor)) => {
                let version = Self { minor };
                let known = (Self::FIRST..=Self::LAST).contains(&version);
                known.then_some(version).ok_or_else(refused)
            }
            _ => Err(refused()),
        }
    }
}

/// What is done with layers whose pages have no common multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePolicy {
    /// The engine does not start.
    Refuse,
    /// The smaller page is padded to the greatest.
    Pad,
}

/// The rules of a version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineRules {
    /// The version.
    pub version: EngineVersion,
    /// Share of the GPU's memory that it takes unless told otherwise.
    pub utilization: f64,
    /// Bytes that sampling takes at its peak, for each sequence and token of the vocabulary.
    pub bytes_per_logit: f64,
    /// Whether an estimate of what CUDA graphs will take is taken off beforehand.
    pub reserves_graphs: bool,
    /// Whether the log's “GPU KV cache size” is concurrency × `max_model_len`, instead of an even share
    /// of the blocks to all groups.
    pub logs_tokens_by_concurrency: bool,
    /// Kinds of layers that are so many times as numerous as the fewest still make one group each.
    pub even_kinds: f64,
    /// What is done with pages that have no common multiple.
    pub pages: PagePolicy,
    /// Whether prefixes of models with recurrent layers are cached unless told otherwise.
    pub caches_states: bool,
    /// Bytes that the driver and libraries take on a rank that is alone.
    pub non_torch_alone_bytes: f64,
    /// Bytes that they take on one of several ranks that reduce over NVLink.
    pub non_torch_linked_bytes: f64,
    /// Whether the engine's fixed costs were measured in this version, not carried over.
    pub is_measured: bool,
}

impl EngineRules {
    /// The rules of a version.
    ///
    /// Sources: vLLM `v1/core/kv_cache_utils.py`, `v1/kv_cache_interface.py` and `v1/worker/gpu_worker.py` of
    /// several versions; issues 33155 (memory across 0.11 to 0.14), 40691 (the logged size), 45178 (CUDA
    /// graphs from 0.21), 45207 (padded pages); published start-up logs of 0.11, 0.15 and 0.19 for what
    /// is left after the known terms.
    pub fn of(version: EngineVersion) -> Self {
        let from = |minor: u32| version.minor >= minor;
        let bytes = |gib: f64| gib * super::GIB;
        Self {
            version,
            utilization: if from(21) { 0.92 } else { 0.90 },
            // Four bytes each for the copies that sorting needed, before the sampler was a kernel.
            bytes_per_logit: if from(17) { 14.52 } else { 38.5 },
            reserves_graphs: from(21),
            logs_tokens_by_concurrency: from(21),
            even_kinds: if from(20) { 1.5 } else { 1.25 },
            pages: if from(23) { PagePolicy::Pad } else { PagePolicy::Refuse },
            caches_states: from(20),
            non_torch_alone_bytes: bytes(if from(17) { 0.25 } else { 0.13 }),
            non_torch_linked_bytes: bytes(if from(17) { 2.1 } else { 0.54 }),
            is_measured: version == EngineVersion::MEASURED,
        }
    }
}
