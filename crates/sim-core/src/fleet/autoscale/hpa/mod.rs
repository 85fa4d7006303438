//! Kubernetes' Horizontal Pod Autoscaler, `autoscaling/v2`.
//!
//! ```text
//!   pods, samples ──▶ metrics ──▶ one proposal per metric ──▶ combine ──▶ stabilise ──▶ limit
//!   (pods.rs)         (metrics.rs)                            (controller.rs) (behaviour.rs)
//! ```
//!
//! Source of the semantics: `pkg/controller/podautoscaler/{replica_calculator,horizontal}.go` of
//! Kubernetes (Apache-2.0), with the per-direction tolerance of 1.33.
//!
//! Quantities are Kubernetes' own: thousandths in an `i64` (a CPU core is 1,000), utilisation in
//! whole per cent, counts of replicas in an `i32`. The rounding of each step depends on it.

mod behaviour;
mod controller;
mod metrics;
mod pods;

pub use behaviour::{
    Behaviour, Bounds, Limited, Policy, Recommendation, Rules, ScaleEvent, Select, change_within,
    down_limit, limit_rate, limit_without_behaviour, longest_period_s, stabilise,
    stabilise_with_behaviour, store_event, up_limit,
};
pub use controller::{Combined, Decision, History, Hpa, Stabilised, combine, decide};
pub use metrics::{
    MetricError, PodMetrics, Proposal, Tolerance, external_average, external_value, object_average,
    object_value, pods_average, utilization,
};
pub use pods::{Condition, Groups, Initialization, Phase, Pod, Resource, Sample, group_pods};

/// How often the controller looks, in seconds (`--horizontal-pod-autoscaler-sync-period`).
pub const SYNC_PERIOD_S: f64 = 15.0;
/// How long recommendations of fewer replicas have to last without a behaviour of their own, in
/// seconds (`--horizontal-pod-autoscaler-downscale-stabilization`).
pub const DOWNSCALE_STABILIZATION_S: f64 = 300.0;
/// Without a behaviour the replicas at most double in one step, …
pub const SCALE_UP_LIMIT_FACTOR: f64 = 2.0;
/// … or grow to this many.
pub const SCALE_UP_LIMIT_MINIMUM: f64 = 4.0;
