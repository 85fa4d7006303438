//! llm-d's Workload Variant Autoscaler (WVA): one model on several variants (hardware, parallelism),
//! each with a cost, scaled together.
//!
//! | analyzer | how it measures | file |
//! |---|---|---|
//! | saturation V1 | spare KV cache and queue of the replicas that are not saturated; one step at a time | `saturation_v1.rs` |
//! | saturation V2 | tokens in use and due, against what a replica has been seen to hold; the default | `saturation_v2.rs` |
//! | queueing model | the rate at which an M/M/1 queue with a batch meets the SLO | `queueing.rs`, its parameters learned by `kalman.rs` |
//!
//! V2 and the queueing model say how much capacity is required or spare; `optimizer.rs` turns that
//! into replicas, cheapest first. None of them stabilises or limits rates: the HPA or KEDA that acts
//! on the number does.
//!
//! Source of the semantics: `internal/{saturationv1,engines,queueing}` of the workload variant
//! autoscaler, and `llm-inferno/{queue-analysis,kalman-filter}` (Apache-2.0). The queueing model is
//! there but parked: that version of the engine refuses to dispatch it. Its numbers are 32-bit floats
//! where theirs are.

mod config_map;
mod kalman;
mod optimizer;
mod queueing;
mod saturation_v1;
mod saturation_v2;

pub use config_map::{ConfigError, ConfigMap, Version};
pub use kalman::{DEFAULT_STATE, Environment, ParameterFilter, TunedParameters, initial_guess};
pub use optimizer::{CapacityVariant, cost_aware};
pub use queueing::{
    Analysis, QueueAnalyzer, QueueConfig, QueueError, RequestSize, ServiceParameters, TargetRates,
    Targets, inferred_targets, observed_targets,
};
pub use saturation_v1::{Load, Saturation, SaturationConfig, Variant, analyse, targets};
pub use saturation_v2::{
    Capacity, CapacityRecord, CapacitySource, Demand, EngineLimits, History, Learned, QueuedWork,
    ReplicaLoad, Role, TokenConfig, Workload, capacity_without_size, estimated_capacity,
    ignored_keys, required_and_spare, scheduler_queue_demand, stored_capacity, variant_capacity,
    waiting_queue_demand,
};
