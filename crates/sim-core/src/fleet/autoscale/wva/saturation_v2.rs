//! Saturation, version 2: tokens in use and due, against the tokens that a replica can hold.

use std::collections::VecDeque;

use crate::float::greater;

/// Thresholds of version 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenConfig {
    /// Share of the KV cache that counts as capacity (`kvCacheThreshold`).
    pub kv_cache_threshold: f64,
    /// Waiting requests from which on the tokens in use are taken for all that a replica can hold
    /// (`queueLengthThreshold`).
    pub queue_length_threshold: f64,
    /// Demand over supply above which capacity is required (`scaleUpThreshold`).
    pub scale_up_threshold: f64,
    /// Demand over supply below which capacity is spare (`scaleDownBoundary`).
    pub scale_down_boundary: f64,
}

impl Default for TokenConfig {
    fn default() -> Self {
        Self {
            kv_cache_threshold: 0.8,
            queue_length_threshold: 5.0,
            scale_up_threshold: 0.85,
            scale_down_boundary: 0.7,
        }
    }
}

/// Which of the keys of a saturation configuration the analyzer of version 2 does not read.
///
/// *Oddity*: V1's spare triggers stay valid keys and are ignored without a word; who carries them
/// over believes in thresholds that are not there.
#[must_use]
pub fn ignored_keys<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let is_ignored = |key: &&&str| ["kvSpareTrigger", "queueSpareTrigger"].contains(*key);
    keys.iter().filter(is_ignored).copied().collect()
}

/// What a variant's replicas are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Prompts alone.
    Prefill,
    /// Outputs alone; prompts come with their cache.
    Decode,
    /// Both.
    Both,
}

/// An engine's limits, from the arguments of its deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineLimits {
    /// Tokens of one step (`--max-num-batched-tokens`).
    pub max_batched_tokens: i64,
    /// Requests at once (`--max-num-seqs`).
    pub max_num_seqs: i64,
}

/// Mean lengths of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Workload {
    /// Mean prompt tokens.
    pub avg_input: f64,
    /// Mean output tokens.
    pub avg_output: f64,
}

/// One replica's load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaLoad {
    /// KV tokens in use.
    pub tokens_in_use: i64,
    /// KV tokens that there are; 0 where the engine does not say.
    pub total_kv_tokens: i64,
    /// Share of the KV cache in use, for an engine that does not say how large it is.
    pub kv_usage: f64,
    /// Requests that wait on it.
    pub queue: i64,
    /// Lengths of its requests.
    pub workload: Workload,
}

/// Observations that the mean of the compute-bound capacity is taken over.
const HISTORY_LENGTH: usize = 10;
/// Mean outputs below this are short, …
const SHORT_OUTPUT: f64 = 100.0;
/// … and from this on long.
const LONG_OUTPUT: f64 = 500.0;
/// Bytes of a queued request's text per token.
const BYTES_PER_TOKEN: f64 = 4.0;

/// Compute-bound capacities seen on one kind of replica (one model, accelerator and number of GPUs),
/// for short, medium and long outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    seen: [VecDeque<f64>; 3],
}

impl History {
    fn of(&mut self, avg_output: f64) -> &mut VecDeque<f64> {
        let bucket = if avg_output < SHORT_OUTPUT {
            0
        } else if avg_output < LONG_OUTPUT {
            1
        } else {
            2
        };
        &mut self.seen[bucket]
    }
}

/// What a replica's compute-bound capacity is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacitySource {
    /// The tokens in use, with a queue.
    Observed,
    /// Their mean when there last was one.
    Historical,
    /// The engine's limits.
    Derived,
    /// Nothing: memory alone counts.
    MemoryBound,
}

/// One replica's capacity and demand, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// What memory allows: k1.
    pub memory_bound: i64,
    /// What compute allows: k2.
    pub compute_bound: i64,
    /// The lesser of both.
    pub effective: i64,
    /// Where k2 is from.
    pub source: CapacitySource,
    /// Tokens in use and due for what waits.
    pub demand: i64,
    /// Whether the demand reaches the capacity.
    pub is_saturated: bool,
}

impl History {
    /// The capacity of one replica under its load, which is remembered if it queues.
    pub fn capacity(
        &mut self,
        load: &ReplicaLoad,
        role: Role,
        limits: Option<&EngineLimits>,
        config: &TokenConfig,
    ) -> Capacity {
        let memory_bound = (load.total_kv_tokens as f64 * config.kv_cache_threshold) as i64;
        let (compute_bound, source) = self.compute_bound(load, limits, config, memory_bound);
        let effective = memory_bound.min(compute_bound);
        let due = waiting_queue_demand(load.queue, load.workload, role);
        let demand = load.tokens_in_use.saturating_add(due);
        let is_saturated = demand >= effective;
        Capacity { memory_bound, compute_bound, effective, source, demand, is_saturated }
    }

    fn compute_bound(
        &mut self,
        load: &ReplicaLoad,
        limits: Option<&EngineLimits>,
        config: &TokenConfig,
        memory_bound: i64,
    ) -> (i64, CapacitySource) {
        let seen = self.of(load.workload.avg_output);
        if load.queue >= config.queue_length_threshold as i64 && load.tokens_in_use > 0 {
            if seen.len() == HISTORY_LENGTH {
                seen.pop_front();
            }
            seen.push_back(load.tokens_in_use as f64);
            return (load.tokens_in_use, CapacitySource::Observed);
        }
        if !seen.is_empty() {
            let mean = seen.iter().sum::<f64>() / seen.len() as f64;
            return (mean as i64, CapacitySource::Historical);
        }
        match estimated_capacity(limits, load.workload) {
            derived if derived > 0 => (derived, CapacitySource::Derived),
            _ => (memory_bound, CapacitySource::MemoryBound),
        }
    }
}

/// The capacity of a replica whose engine does not say how large its cache is: the threshold's share
/// of what is known of its variant, and as demand the share of that in use. `None` for a replica of
/// which nothing is known; it does not count.
#[must_use]
pub fn capacity_without_size(
    load: &ReplicaLoad,
    role: Role,
    record: &CapacityRecord,
    config: &TokenConfig,
) -> Option<Capacity> {
    let effective = (record.effective as f64 * config.kv_cache_threshold) as i64;
    if effective <= 0 {
        return None;
    }
    let in_use = (load.kv_usage * effective as f64) as i64;
    let demand = in_use.saturating_add(waiting_queue_demand(load.queue, load.workload, role));
    Some(Capacity {
        memory_bound: effective,
        compute_bound: effective,
        effective,
        source: CapacitySource::MemoryBound,
        demand,
        is_saturated: demand >= effective,
    })
}

/// Tokens that an engine's limits let it hold: `N · (I + O/2)` with `N = min(B·O / (I + O), S)`
/// requests at once, those whose prompts and outputs fill steps of `B` tokens. 0 for unknown.
#[must_use]
pub fn estimated_capacity(limits: Option<&EngineLimits>, workload: Workload) -> i64 {
    let Some(limits) = limits.filter(|limits| limits.max_batched_tokens > 0) else {
        return 0;
    };
    let Workload { avg_input, avg_output } = workload;
    if avg_output <= 0.0 {
        return 0;
    }
    let steady = limits.max_batched_tokens as f64 * avg_output / (avg_input + avg_output);
    let most = limits.max_num_seqs as f64;
    let at_once = if steady > most { most } else { steady };
    ((at_once * (avg_input + avg_output / 2.0)) as i64).max(0)
}

/// Tokens due for what waits on a replica: prompts, and outputs unless it only prefills. Nothing for
/// what is not a number.
///
/// *Oddity*: a waiting request is charged its whole length, a running one half its output, so that
/// demand falls when it is admitted.
#[must_use]
pub fn waiting_queue_demand(queue: i64, workload: Workload, role: Role) -> i64 {
    if queue <= 0 {
        return 0;
    }
    let output = if role == Role::Prefill { 0.0 } else { workload.avg_output };
    let tokens = queue as f64 * (workload.avg_input + output);
    // Above 2⁶³ a count of tokens is an error of the metric, too.
    if tokens > 0.0 && tokens < 9.2e18 { tokens as i64 } else { 0 }
}

/// What waits before the replicas, in the inference scheduler's flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueuedWork {
    /// Requests.
    pub requests: i64,
    /// Bytes of their bodies.
    pub bytes: i64,
    /// Share of prompt tokens that replicas find in their prefix caches, 0 to 1.
    pub prefix_hit_rate: f64,
}

/// Demand of what waits before the replicas, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// On the model, and on replicas that decode.
    pub total: f64,
    /// On replicas that only prefill.
    pub prefill: f64,
}

/// Tokens due for what waits before the replicas: the greater of bytes ÷ 4 and the mean prompt, less
/// what is cached, and the mean output.
#[must_use]
pub fn scheduler_queue_demand(queued: &QueuedWork, workload: Workload) -> Demand {
    if queued.requests == 0 && queued.bytes == 0 {
        return Demand::default();
    }
    let requests = queued.requests as f64;
    let input = greater(queued.bytes as f64 / BYTES_PER_TOKEN, requests * workload.avg_input);
    let prefill = input * (1.0 - queued.prefix_hit_rate);
    Demand { total: prefill + requests * workload.avg_output, prefill }
}

/// How a capacity was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// From a replica that ran.
    Live,
    /// From the arguments of a deployment.
    Deployment,
}

/// What is known of a variant without replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityRecord {
    /// How it was learned.
    pub learned: Learned,
    /// The capacity, or the batched tokens of the deployment in its place.
    pub effective: i64,
    /// KV tokens where the deployment sets them; otherwise 0.
    pub total_kv_tokens: i64,
    /// The engine's limits, if its deployment was read.
    pub limits: Option<EngineLimits>,
}

/// Capacity per replica of a variant that has none: as it was live; or by its engine's limits, but no
/// more than its memory or a compatible variant's live capacity; or what the record holds.
#[must_use]
pub fn stored_capacity(
    record: &CapacityRecord,
    workload: Workload,
    compatible_live: Option<i64>,
    config: &TokenConfig,
) -> f64 {
    let derived = match record.learned {
        Learned::Live => 0,
        Learned::Deployment => estimated_capacity(record.limits.as_ref(), workload),
    };
    if derived <= 0 {
        return record.effective as f64;
    }
    let memory_bound = (record.total_kv_tokens as f64 * config.kv_cache_threshold) as i64;
    let bounds = [Some(memory_bound), compatible_live];
    let bounds = bounds.into_iter().flatten().filter(|&bound| bound > 0);
    bounds.fold(derived, i64::min) as f64
}

/// Capacity per replica of a variant: the median of its replicas, of an even number the mean of the
/// middle two, cut; 0 without any.
#[must_use]
pub fn variant_capacity(replicas: &[Capacity]) -> i64 {
    let mut effective: Vec<i64> = replicas.iter().map(|replica| replica.effective).collect();
    effective.sort_unstable();
    let middle = effective.len() / 2;
    match effective.len() {
        0 => 0,
        length if length % 2 == 0 => (effective[middle - 1] + effective[middle]) / 2,
        _ => effective[middle],
    }
}

/// Capacity that is required and that is spare, in tokens (or requests per second).
///
/// Required counts replicas that are still starting as there; spare does not. Between the two
/// thresholds both are 0. A threshold of 0 or less leaves its own at 0.
#[must_use]
pub fn required_and_spare(
    demand: f64,
    (supply, anticipated_supply): (f64, f64),
    config: &TokenConfig,
) -> (f64, f64) {
    let required = demand / config.scale_up_threshold - anticipated_supply;
    let spare = supply - demand / config.scale_down_boundary;
    (
        if config.scale_up_threshold > 0.0 && required > 0.0 { required } else { 0.0 },
        if config.scale_down_boundary > 0.0 && spare > 0.0 { spare } else { 0.0 },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: TokenConfig = TokenConfig {
        kv_cache_threshold: 0.8,
        queue_length_threshold: 5.0,
        scale_up_threshold: 0.85,
        scale_down_boundary: 0.7,
    };

    fn load(tokens_in_use: i64, queue: i64) -> ReplicaLoad {
        let workload = Workload { avg_input: 100.0, avg_output: 50.0 };
        ReplicaLoad { tokens_in_use, total_kv_tokens: 16_000, kv_usage: 0.0, queue, workload }
    }

    #[test]
    fn a_queue_is_remembered_as_a_mean_of_ten() {
        let mut history = History::default();
        for tokens in 1..=12 {
            let capacity = history.capacity(&load(tokens * 1000, 6), Role::Both, None, &CONFIG);
            assert_eq!(capacity.source, CapacitySource::Observed);
        }
        let quiet = history.capacity(&load(100, 0), Role::Both, None, &CONFIG);
        assert_eq!((quiet.compute_bound, quiet.source), (7500, CapacitySource::Historical));
        assert_eq!((quiet.effective, quiet.demand, quiet.is_saturated), (7500, 100, false));
    }

    #[test]
    fn the_median_is_cut_between_two() {
        let of = |effective| Capacity {
            memory_bound: effective,
            compute_bound: effective,
            effective,
            source: CapacitySource::MemoryBound,
            demand: 0,
            is_saturated: false,
        };
        assert_eq!(variant_capacity(&[]), 0);
        assert_eq!(variant_capacity(&[of(9), of(2), of(4)]), 4);
        assert_eq!(variant_capacity(&[of(9), of(2), of(4), of(5)]), 4);
    }

    #[test]
    fn an_engine_that_hides_its_size_is_measured_by_its_usage() {
        let record = CapacityRecord {
            learned: Learned::Deployment,
            effective: 10_000,
            total_kv_tokens: 0,
            limits: None,
        };
        let load = ReplicaLoad { kv_usage: 0.5, ..load(0, 2) };
        let capacity = capacity_without_size(&load, Role::Both, &record, &CONFIG).unwrap();
        assert_eq!((capacity.effective, capacity.demand), (8000, 4300));
        let unknown = CapacityRecord { effective: 0, ..record };
        assert_eq!(capacity_without_size(&load, Role::Both, &unknown, &CONFIG), None);
    }

    #[test]
    fn v1s_triggers_are_not_read() {
        let keys = ["kvCacheThreshold", "kvSpareTrigger", "queueSpareTrigger"];
        assert_eq!(ignored_keys(&keys), ["kvSpareTrigger", "queueSpareTrigger"]);
    }

    #[test]
    fn broken_metrics_are_no_demand() {
        let workload = Workload { avg_input: f64::NAN, avg_output: 1.0 };
        assert_eq!(waiting_queue_demand(3, workload, Role::Both), 0);
        let workload = Workload { avg_input: 1e300, avg_output: 1.0 };
        assert_eq!(waiting_queue_demand(3, workload, Role::Both), 0);
    }
}
