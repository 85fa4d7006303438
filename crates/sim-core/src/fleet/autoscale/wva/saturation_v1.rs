//! Saturation, version 1: how much is spare on the replicas that still have some.

/// Thresholds of version 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaturationConfig {
    /// KV cache usage (0 to 1) at which a replica is saturated (`kvCacheThreshold`).
    pub kv_cache_threshold: f64,
    /// Waiting requests at which a replica is saturated (`queueLengthThreshold`).
    pub queue_length_threshold: f64,
    /// Mean spare KV cache usage below which a replica is added (`kvSpareTrigger`).
    pub kv_spare_trigger: f64,
    /// Mean spare queue below which a replica is added (`queueSpareTrigger`).
    pub queue_spare_trigger: f64,
}

impl Default for SaturationConfig {
    fn default() -> Self {
        Self {
            kv_cache_threshold: 0.8,
            queue_length_threshold: 5.0,
            kv_spare_trigger: 0.1,
            queue_spare_trigger: 3.0,
        }
    }
}

/// One replica's load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Which variant it belongs to.
    pub variant: usize,
    /// Share of its KV cache in use, 0 to 1.
    pub kv_usage: f64,
    /// Requests that wait on it.
    pub queue: i64,
}

/// What the loads of one model's replicas come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saturation {
    /// Replicas below both thresholds.
    pub non_saturated: usize,
    /// Mean distance of those from the KV cache threshold; 0 without any.
    pub mean_spare_kv: f64,
    /// Mean distance of those from the queue threshold; 0 without any.
    pub mean_spare_queue: f64,
    /// Whether a replica should be added.
    pub should_scale_up: bool,
    /// Whether one could go, and what it has be shared among the others.
    pub is_scale_down_safe: bool,
}

/// Replicas below both thresholds that have to be there before one may go.
const LEAST_NON_SATURATED: usize = 2;

/// Analyse the replicas of one model. No replica, no signal.
///
/// Means are taken per variant and weighted together, in the order in which variants appear (theirs
/// come in no order).
#[must_use]
pub fn analyse(replicas: &[Load], config: &SaturationConfig) -> Saturation {
    if replicas.is_empty() {
        return Saturation::default();
    }
    let is_saturated = |load: &Load| {
        load.kv_usage >= config.kv_cache_threshold
            || load.queue as f64 >= config.queue_length_threshold
    };
    let spare: Vec<&Load> = replicas.iter().filter(|load| !is_saturated(load)).collect();
    let mut variants: Vec<usize> = Vec::new();
    for load in &spare {
        if !variants.contains(&load.variant) {
            variants.push(load.variant);
        }
    }
    let (mut kv, mut queue) = (0.0, 0.0);
    for variant in variants {
        let (mut spare_kv, mut spare_queue, mut count) = (0.0, 0.0, 0.0);
        for load in spare.iter().filter(|load| load.variant == variant) {
            spare_kv += config.kv_cache_threshold - load.kv_usage;
            spare_queue += config.queue_length_threshold - load.queue as f64;
            count += 1.0;
        }
        kv += spare_kv / count * count;
        queue += spare_queue / count * count;
    }
    let non_saturated = spare.len();
    let (mean_spare_kv, mean_spare_queue) = if non_saturated > 0 {
        (kv / non_saturated as f64, queue / non_saturated as f64)
    } else {
        (0.0, 0.0)
    };
    Saturation {
        non_saturated,
        mean_spare_kv,
        mean_spare_queue,
        should_scale_up: mean_spare_kv < config.kv_spare_trigger
            || mean_spare_queue < config.queue_spare_trigger,
        is_scale_down_safe: is_scale_down_safe(&spare, config),
    }
}

fn is_scale_down_safe(spare: &[&Load], config: &SaturationConfig) -> bool {
    if spare.len() < LEAST_NON_SATURATED {
        return false;
    }
    let kv: f64 = spare.iter().map(|load| load.kv_usage).sum();
    let queue: i64 = spare.iter().map(|load| load.queue).sum();
    let remaining = (spare.len() - 1) as f64;
    config.kv_cache_threshold - kv / remaining >= config.kv_spare_trigger
        && config.queue_length_threshold - queue as f64 / remaining >= config.queue_spare_trigger
}

/// One variant's count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant<'a> {
    /// Its name, which breaks ties of cost.
    pub name: &'a str,
    /// Its cost, in any unit.
    pub cost: f64,
    /// Replicas that there are.
    pub current: i32,
    /// Replicas that were asked for last; 0 for not yet.
    pub desired: i32,
    /// Replicas that are not ready.
    pub pending: i32,
}

/// Replicas of each variant: one more of the cheapest, one fewer of the most expensive that has more
/// than one, or as they are.
///
/// A variant in transition (what was asked for is not there, or a replica is pending) freezes the
/// whole model: long starts make for slow ramps, one replica per start-up time.
#[must_use]
pub fn targets(saturation: &Saturation, variants: &[Variant<'_>]) -> Vec<i32> {
    let awaits = |variant: &Variant<'_>| variant.desired != 0 && variant.desired != variant.current;
    if variants.iter().any(|variant| awaits(variant) || variant.pending > 0) {
        let kept = |variant| if awaits(variant) { variant.desired } else { variant.current };
        return variants.iter().map(kept).collect();
    }
    let mut targets: Vec<i32> = variants.iter().map(|variant| variant.current).collect();
    let order = |&a: &usize, &b: &usize| {
        let (a, b) = (&variants[a], &variants[b]);
        a.cost.total_cmp(&b.cost).then(a.name.cmp(b.name))
    };
    if saturation.should_scale_up {
        if let Some(cheapest) = (0..variants.len()).min_by(order) {
            targets[cheapest] += 1;
        }
    } else if saturation.is_scale_down_safe {
        let removable = (0..variants.len()).filter(|&variant| variants[variant].current > 1);
        if let Some(dearest) = removable.max_by(order) {
            targets[dearest] -= 1;
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_replica_freezes_the_model() {
        let variant = |name, pending| Variant { name, cost: 5.0, current: 2, desired: 2, pending };
        let hungry = Saturation { should_scale_up: true, ..Saturation::default() };
        assert_eq!(targets(&hungry, &[variant("a", 0), variant("b", 1)]), [2, 2]);
        assert_eq!(targets(&hungry, &[variant("b", 0), variant("a", 0)]), [2, 3]);
    }

    #[test]
    fn no_replica_is_no_signal() {
        let nothing = analyse(&[], &SaturationConfig::default());
        assert!(!nothing.should_scale_up && !nothing.is_scale_down_safe);
    }

    #[test]
    fn idle_replicas_may_go_down_to_one() {
        let load = Load { variant: 0, kv_usage: 0.1, queue: 0 };
        let idle = analyse(&[load; 3], &SaturationConfig::default());
        let of = |current| Variant { name: "a", cost: 1.0, current, desired: 0, pending: 0 };
        assert_eq!(targets(&idle, &[of(3)]), [2]);
        assert_eq!(targets(&idle, &[of(1)]), [1]);
    }
}
