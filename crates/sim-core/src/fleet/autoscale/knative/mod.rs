//! Knative's Pod Autoscaler (KPA): concurrency or request rate over two windows.
//!
//! ```text
//!   requests ──▶ windows (windows.rs) ──▶ decider, every 2 s (decider.rs) ──▶ scale to zero
//!               stable 60 s, panic 6 s                                       (scale_to_zero.rs)
//! ```
//!
//! Source of the semantics: `pkg/autoscaler/{scaling/autoscaler.go,aggregation/bucketing.go,
//! aggregation/max}`, `pkg/reconciler/autoscaling/kpa/scaler.go` and
//! `config/core/configmaps/autoscaler.yaml` of Knative Serving (Apache-2.0).

mod decider;
mod scale_to_zero;
mod windows;

pub use decider::{Decider, DeciderSpec, MaxWindow, ScaleResult};
pub use scale_to_zero::{Activity, Outcome, Revision, ScaleToZero, scale};
pub use windows::{BucketWindow, smoothing_coefficient};

/// How often the autoscaler decides, in seconds (`tick-interval`).
pub const TICK_S: f64 = 2.0;
/// Width of a bucket of the windows, in seconds.
pub const GRANULARITY_S: f64 = 1.0;
/// Length of the stable window in seconds (`stable-window`).
pub const STABLE_WINDOW_S: f64 = 60.0;
/// The panic window in per cent of the stable one (`panic-window-percentage`).
pub const PANIC_WINDOW_PERCENT: f64 = 10.0;
/// Requests in flight per replica without a limit of the container
/// (`container-concurrency-target-default`).
pub const CONCURRENCY_TARGET: f64 = 100.0;
/// Requests per second per replica (`requests-per-second-target-default`).
pub const RPS_TARGET: f64 = 200.0;
/// How much of the target to use (`container-concurrency-target-percentage`).
pub const TARGET_UTILIZATION: f64 = 0.7;
/// Requests that one activator takes at once.
pub const ACTIVATOR_CAPACITY: f64 = 100.0;

/// Length in seconds of the panic window that goes with a stable one.
#[must_use]
pub fn panic_window_s(stable_window_s: f64) -> f64 {
    crate::float::greater(stable_window_s * PANIC_WINDOW_PERCENT / 100.0, GRANULARITY_S)
}

/// How many activators share a revision's traffic while they are in its path: enough for what its
/// `ready` replicas can have in flight and for the burst that it has to be ready for, and at least
/// two. With no burst to be ready for they are there to bring it from zero alone.
#[must_use]
pub fn activators(spec: &DeciderSpec, ready: i32) -> i32 {
    let burst = spec.target_burst_capacity;
    let capacity = if burst == 0.0 {
        0.0
    } else {
        f64::from(ready) * spec.total + crate::float::greater(burst, 0.0)
    };
    super::replicas_of((capacity / ACTIVATOR_CAPACITY).ceil()).max(2)
}
