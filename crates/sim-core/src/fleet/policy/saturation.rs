//! WVA's saturation analyzers over what is scraped, and the HPA that follows what they publish.

use crate::fleet::autoscale::{
    hpa::{self, Bounds, History, Hpa, MetricError},
    wva,
};

use super::{Gauges, Observed};

/// An HPA on the number that another autoscaler publishes.
pub(super) fn follow(
    hpa: &Hpa,
    history: &mut History,
    (current, desired): (i32, i32),
    now_s: f64,
) -> i32 {
    // Before the first computation there is no such metric.
    let proposal = if desired > 0 { Ok(desired) } else { Err(MetricError::Unavailable) };
    hpa::decide(hpa, history, current, &[proposal], now_s).replicas
}

pub(super) fn saturation_v1(
    observed: &Observed,
    config: &wva::SaturationConfig,
    desired: i32,
) -> i32 {
    let load = |gauges: Gauges| wva::Load {
        variant: 0,
        kv_usage: gauges.kv_usage(),
        queue: gauges.waiting as i64,
    };
    let loads: Vec<wva::Load> = observed.ready().filter_map(|pod| pod.gauges).map(load).collect();
    let saturation = wva::analyse(&loads, config);
    let variant = wva::Variant {
        name: "",
        cost: 1.0,
        current: observed.replicas,
        desired,
        pending: observed.replicas - observed.ready_count(),
    };
    wva::targets(&saturation, &[variant]).first().copied().unwrap_or(observed.replicas)
}

pub(super) fn saturation_v2(
    observed: &Observed,
    config: &wva::TokenConfig,
    limits: &wva::EngineLimits,
    seen: &mut wva::History,
    bounds: Bounds,
) -> i32 {
    let (avg_input, avg_output) = observed.mean_tokens();
    let workload = wva::Workload { avg_input, avg_output };
    let mut capacity = |gauges: Gauges| {
        let load = wva::ReplicaLoad {
            tokens_in_use: gauges.kv_tokens as i64,
            total_kv_tokens: gauges.kv_capacity as i64,
            kv_usage: gauges.kv_usage(),
            queue: gauges.waiting as i64,
            workload,
        };
        seen.capacity(&load, wva::Role::Both, Some(limits), config)
    };
    let capacities: Vec<wva::Capacity> =
        observed.ready().filter_map(|pod| pod.gauges).map(&mut capacity).collect();
    if capacities.is_empty() {
        return observed.replicas;
    }
    let each = wva::variant_capacity(&capacities) as f64;
    let queued =
        wva::QueuedWork { requests: observed.queued as i64, bytes: 0, prefix_hit_rate: 0.0 };
    let due = wva::scheduler_queue_demand(&queued, workload).total;
    let demand = capacities.iter().map(|capacity| capacity.demand as f64).sum::<f64>() + due;
    let supply = (f64::from(observed.ready_count()) * each, f64::from(observed.replicas) * each);
    let (required, spare) = wva::required_and_spare(demand, supply, config);
    let variant = wva::CapacityVariant {
        cost: 1.0,
        capacity: each,
        current: observed.replicas.into(),
        min: Some(bounds.min.into()),
        max: Some(bounds.max.into()),
    };
    let targets = wva::cost_aware(required, spare, &[variant]);
    targets.first().and_then(|&target| i32::try_from(target).ok()).unwrap_or(observed.replicas)
}
