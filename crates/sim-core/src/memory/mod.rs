//! The memory of one GPU: what weights and the engine take, and how much KV cache is left.
//!
//! ```text
//!   Architecture ──▶ LayerCache per layer ──▶ groups ──▶ bytes of one block
//!   Architecture ──▶ weights of a rank ──┐
//!   EngineRules, GPU ────────────────────┴─▶ Budget ──▶ blocks ──▶ tokens, concurrency
//! ```
//!
//! Numbers only: bytes, tokens, counts. Names of models, GPUs and engines belong to the catalogue.
//! The rules are those of vLLM's V1 engine, whose log lines “GPU KV cache size” and “Maximum
//! concurrency” come out to the printed digit.

mod architecture;
mod budget;
mod cache;
mod engine;
mod error;
mod groups;
mod plan;
mod recurrent;
mod weights;

pub use architecture::{
    Architecture, Attention, FeedForward, Indexer, LatentAttention, Layer, Mixer, Reach,
};
pub use budget::{
    ActivationFeatures, ActivationModel, Basis, Budget, Given, PLAIN_ACTIVATION, Term,
};
pub use cache::{CacheShape, Hold, KvElement, LayerCache, StatePages};
pub use engine::{EngineRules, EngineVersion, PagePolicy};
pub use error::MemoryError;
pub use groups::{CacheGroup, KvLayout};
pub use plan::{Deployment, Gpu, MemoryPlan, Parallelism, StagePlan, plan};
pub use recurrent::Recurrent;
pub use weights::{Parameters, RankWeights, WeightBytes};

/// Bytes of one GiB, the unit of engines' logs.
pub const GIB: f64 = 1_073_741_824.0;
