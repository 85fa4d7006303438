//! How the memory of one GPU is shared out.

use serde::{Deserialize, Serialize};

/// Share of the memory that the engine takes, the usual default of engines.
pub(crate) const ENGINE_SHARE: f64 = 0.90;

/// What the engine keeps for activations, graphs and other, bytes.
pub(crate) const RESERVE_BYTES: f64 = 1.8e9;

/// How the memory of one GPU is shared out, in bytes. All zero where the scenario is given by
/// numbers alone, so that no GPU is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// All memory, nominal.
    pub total_bytes: f64,
    /// Share of it that the engine takes, 0 to 1.
    pub engine_share: f64,
    /// Weights.
    pub weight_bytes: f64,
    /// Activations, graphs and other.
    pub reserve_bytes: f64,
    /// KV cache.
    pub kv_bytes: f64,
    /// What the engine leaves alone; negative where a person gave a larger KV cache than fits.
    pub kept_free_bytes: f64,
}

impl Memory {
    /// Share out the memory of one GPU: what weights and reserve leave is KV cache, which is
    /// negative if they do not fit.
    pub(crate) fn shared_out(total_bytes: f64, weight_bytes: f64) -> Self {
        let engine_bytes = total_bytes * ENGINE_SHARE;
        Self {
            total_bytes,
            engine_share: ENGINE_SHARE,
            weight_bytes,
            reserve_bytes: RESERVE_BYTES,
            kv_bytes: engine_bytes - weight_bytes - RESERVE_BYTES,
            kept_free_bytes: total_bytes - engine_bytes,
        }
    }
}
