//! Autoscalers: how many replicas each product would ask for, given what it has observed.
//!
//! Each product is a set of functions of observed signals and of its own memory, which the caller
//! keeps and hands in. None of them reads a clock: the time is an argument, in seconds from any
//! origin that the caller keeps to. Nor do they delay anything: scrapes, polls and sync periods are
//! those of whoever calls.
//!
//! | product | files | what it moves |
//! |---|---|---|
//! | Kubernetes HPA v2 | [`hpa`] | 1↔N on resources, pods, object and external metrics |
//! | KEDA | [`keda`] | 0↔1 (idle↔minimum) itself; 1↔N by an HPA on the metric that it serves |
//! | Knative KPA | [`knative`] | 0↔N on concurrency or request rate, with a panic window |
//! | llm-d WVA | [`wva`] | one model's variants by saturation (V1, V2) or by a queueing model |
//! | schedule | [`schedule`] | a floor by the clock |
//! | forecast | [`forecast`] | by where a trend or a season leads |
//! | fixed | [`fixed`] | nothing |
//! | teaching rule | [`teaching`] | the textbook's one-line loop, to put beside HPA v2 |
//!
//! Where a product does something odd that its users would see, so do these; each oddity is named
//! where it is, in a paragraph that begins with *Oddity*.

pub mod fixed;
pub mod forecast;
pub mod hpa;
pub mod keda;
pub mod knative;
pub mod schedule;
pub mod teaching;
pub mod wva;

/// A float as a count of replicas, as `int32(x)` in Go would be inside its range; saturated outside,
/// where Go leaves the result to the machine, and 0 for what is not a number.
fn replicas_of(value: f64) -> i32 {
    value as i32
}
