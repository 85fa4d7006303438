//! llm-d's workload variant autoscaler.

use std::collections::BTreeMap;

use serde::Deserialize;
use sim_core::fleet::autoscale::wva::{
    CapacityRecord, CapacityVariant, EngineLimits, History, Learned, Load, QueuedWork, ReplicaLoad,
    Role, Saturation, SaturationConfig, TokenConfig, Variant, Workload, analyse, cost_aware,
    estimated_capacity, required_and_spare, scheduler_queue_demand, stored_capacity, targets,
    variant_capacity, waiting_queue_demand,
};

use super::{CASES, Case, assert_near, cases};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyseInput {
    kv_threshold: f64,
    queue_threshold: f64,
    kv_spare_trigger: f64,
    queue_spare_trigger: f64,
    replicas: Vec<LoadInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadInput {
    kv_usage: f64,
    queue: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyseExpected {
    scale_up: Option<bool>,
    scale_down_safe: Option<bool>,
    non_saturated: Option<usize>,
}

#[test]
fn saturation_v1_analyze() {
    let path = ["wva", "saturation_v1", "analyze"];
    for case in cases::<Case<AnalyseInput, AnalyseExpected>>(&path) {
        let input = case.input;
        let config = SaturationConfig {
            kv_cache_threshold: input.kv_threshold,
            queue_length_threshold: input.queue_threshold,
            kv_spare_trigger: input.kv_spare_trigger,
            queue_spare_trigger: input.queue_spare_trigger,
        };
        let load =
            |load: &LoadInput| Load { variant: 0, kv_usage: load.kv_usage, queue: load.queue };
        let loads: Vec<Load> = input.replicas.iter().map(load).collect();
        let saturation = analyse(&loads, &config);
        let AnalyseExpected { scale_up, scale_down_safe, non_saturated } = case.expected;
        assert!(scale_up.is_some() || scale_down_safe.is_some() || non_saturated.is_some());
        let ours = (
            scale_up.map(|_| saturation.should_scale_up),
            scale_down_safe.map(|_| saturation.is_scale_down_safe),
            non_saturated.map(|_| saturation.non_saturated),
        );
        assert_eq!(ours, (scale_up, scale_down_safe, non_saturated), "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetsInput {
    scale_up: bool,
    scale_down_safe: bool,
    variants: Vec<VariantInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantInput {
    name: String,
    cost: f64,
    current: i32,
    desired: i32,
    pending: i32,
}

#[test]
fn saturation_v1_targets() {
    let path = ["wva", "saturation_v1", "targets"];
    for case in cases::<Case<TargetsInput, BTreeMap<String, i32>>>(&path) {
        let variant = |variant: &'_ VariantInput| {
            let VariantInput { cost, current, desired, pending, .. } = *variant;
            (cost, current, desired, pending)
        };
        let variants: Vec<Variant<'_>> = case
            .input
            .variants
            .iter()
            .map(|input| {
                let (cost, current, desired, pending) = variant(input);
                Variant { name: &input.name, cost, current, desired, pending }
            })
            .collect();
        let saturation = Saturation {
            should_scale_up: case.input.scale_up,
            is_scale_down_safe: case.input.scale_down_safe,
            ..Saturation::default()
        };
        let names = variants.iter().map(|variant| variant.name.to_owned());
        let ours: BTreeMap<String, i32> = names.zip(targets(&saturation, &variants)).collect();
        assert_eq!(ours, case.expected, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityInput {
    kv_cache_threshold: f64,
    queue_length_threshold: f64,
    successive_analyses: Vec<ReplicaInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplicaInput {
    tokens_in_use: i64,
    total_kv_tokens: i64,
    queue: i64,
    avg_input: f64,
    avg_output: f64,
    params: Option<LimitsInput>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct LimitsInput {
    max_batched_tokens: i64,
    max_num_seqs: i64,
}

impl From<LimitsInput> for EngineLimits {
    fn from(LimitsInput { max_batched_tokens, max_num_seqs }: LimitsInput) -> Self {
        Self { max_batched_tokens, max_num_seqs }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityExpected {
    per_replica_capacity_tokens: i64,
}

#[test]
fn saturation_v2_per_replica_capacity() {
    let path = ["wva", "saturation_v2", "per_replica_capacity"];
    for case in cases::<Case<CapacityInput, CapacityExpected>>(&path) {
        let config = TokenConfig {
            kv_cache_threshold: case.input.kv_cache_threshold,
            queue_length_threshold: case.input.queue_length_threshold,
            ..TokenConfig::default()
        };
        let mut history = History::default();
        let mut last = None;
        for replica in &case.input.successive_analyses {
            let (avg_input, avg_output) = (replica.avg_input, replica.avg_output);
            let load = ReplicaLoad {
                tokens_in_use: replica.tokens_in_use,
                total_kv_tokens: replica.total_kv_tokens,
                kv_usage: 0.0,
                queue: replica.queue,
                workload: Workload { avg_input, avg_output },
            };
            let limits = replica.params.map(EngineLimits::from);
            let capacity = history.capacity(&load, Role::Both, limits.as_ref(), &config);
            last = Some(variant_capacity(&[capacity]));
        }
        assert_eq!(last, Some(case.expected.per_replica_capacity_tokens), "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateInput {
    max_batched_tokens: i64,
    max_num_seqs: i64,
    avg_input: f64,
    avg_output: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateExpected {
    k2: i64,
}

#[test]
fn saturation_v2_estimate_from_params() {
    let path = ["wva", "saturation_v2", "estimate_from_params"];
    for case in cases::<Case<EstimateInput, EstimateExpected>>(&path) {
        let EstimateInput { max_batched_tokens, max_num_seqs, avg_input, avg_output } = case.input;
        let limits = EngineLimits { max_batched_tokens, max_num_seqs };
        let estimate = estimated_capacity(Some(&limits), Workload { avg_input, avg_output });
        assert_eq!(estimate, case.expected.k2, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZeroInput {
    stored: String,
    #[serde(default)]
    effective_capacity: i64,
    #[serde(default)]
    total_kv_tokens: i64,
    kv_cache_threshold: Option<f64>,
    max_batched_tokens: Option<i64>,
    max_num_seqs: Option<i64>,
    workload: Option<WorkloadInput>,
    compatible_live_effective_capacity: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadInput {
    avg_input: f64,
    avg_output: f64,
}

#[test]
fn saturation_v2_zero_replicas() {
    let path = ["wva", "saturation_v2", "zero_replicas"];
    for case in cases::<Case<ZeroInput, CapacityExpected>>(&path) {
        let input = case.input;
        let limits = |max_batched_tokens| EngineLimits {
            max_batched_tokens,
            max_num_seqs: input.max_num_seqs.unwrap_or(0),
        };
        let record = CapacityRecord {
            learned: match input.stored.as_str() {
                "live" => Learned::Live,
                "deployment" => Learned::Deployment,
                other => panic!("stored {other}"),
            },
            effective: input.effective_capacity,
            total_kv_tokens: input.total_kv_tokens,
            limits: input.max_batched_tokens.map(limits),
        };
        let workload = input.workload.map_or_else(Workload::default, |workload| Workload {
            avg_input: workload.avg_input,
            avg_output: workload.avg_output,
        });
        let default = TokenConfig::default();
        let kv_cache_threshold = input.kv_cache_threshold.unwrap_or(default.kv_cache_threshold);
        let config = TokenConfig { kv_cache_threshold, ..default };
        let compatible = input.compatible_live_effective_capacity;
        let capacity = stored_capacity(&record, workload, compatible, &config);
        let expected = case.expected.per_replica_capacity_tokens as f64;
        assert_eq!(capacity, expected, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueInput {
    replica_demand_tokens: f64,
    scheduler_queue_size: i64,
    scheduler_queue_bytes: i64,
    avg_input: f64,
    avg_output: f64,
    prefix_hit_rate: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueExpected {
    total_demand_tokens: f64,
    prefill: Option<f64>,
    decode: Option<f64>,
}

#[test]
fn saturation_v2_scheduler_queue_demand() {
    let path = ["wva", "saturation_v2", "scheduler_queue_demand"];
    for case in cases::<Case<QueueInput, QueueExpected>>(&path) {
        let input = case.input;
        let queued = QueuedWork {
            requests: input.scheduler_queue_size,
            bytes: input.scheduler_queue_bytes,
            prefix_hit_rate: input.prefix_hit_rate,
        };
        let workload = Workload { avg_input: input.avg_input, avg_output: input.avg_output };
        let demand = scheduler_queue_demand(&queued, workload);
        let total = input.replica_demand_tokens + demand.total;
        assert_eq!(total, case.expected.total_demand_tokens, "{}", case.id);
        for (ours, theirs) in
            [(demand.prefill, case.expected.prefill), (demand.total, case.expected.decode)]
        {
            assert!(theirs.is_none_or(|theirs| theirs == ours), "{}: {ours}", case.id);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingInput {
    queue: i64,
    avg_input: f64,
    avg_output: f64,
    role: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingExpected {
    demand_tokens: i64,
}

#[test]
fn saturation_v2_waiting_queue_demand() {
    let path = ["wva", "saturation_v2", "waiting_queue_demand"];
    for case in cases::<Case<WaitingInput, WaitingExpected>>(&path) {
        let WaitingInput { queue, avg_input, avg_output, role } = case.input;
        let role = match role.as_str() {
            "prefill" => Role::Prefill,
            "decode" => Role::Decode,
            "both" => Role::Both,
            other => panic!("role {other}"),
        };
        let demand = waiting_queue_demand(queue, Workload { avg_input, avg_output }, role);
        assert_eq!(demand, case.expected.demand_tokens, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThresholdInput {
    scale_up_threshold: f64,
    scale_down_boundary: f64,
    demand: f64,
    supply: f64,
    anticipated_supply: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThresholdExpected {
    required_capacity: f64,
    spare_capacity: f64,
}

#[test]
fn saturation_v2_universal_threshold() {
    let path = ["wva", "saturation_v2", "universal_threshold"];
    for case in cases::<Case<ThresholdInput, ThresholdExpected>>(&path) {
        let input = case.input;
        let config = TokenConfig {
            scale_up_threshold: input.scale_up_threshold,
            scale_down_boundary: input.scale_down_boundary,
            ..TokenConfig::default()
        };
        let supply = (input.supply, input.anticipated_supply);
        let ours = required_and_spare(input.demand, supply, &config);
        let theirs = (case.expected.required_capacity, case.expected.spare_capacity);
        assert_near(ours.0, theirs.0, 1e-12, &case.id);
        assert_near(ours.1, theirs.1, 1e-12, &case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptimizerInput {
    #[serde(default)]
    required: f64,
    #[serde(default)]
    spare: f64,
    variants: Vec<OptimizerVariant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptimizerVariant {
    name: String,
    cost: f64,
    current: i64,
    prc: f64,
    /// Pending replicas do not keep a variant from growing.
    #[serde(default, rename = "pending")]
    _pending: i64,
    min: Option<i64>,
    max: Option<i64>,
}

#[test]
fn saturation_v2_cost_aware_optimizer() {
    let path = ["wva", "saturation_v2", "cost_aware_optimizer"];
    for case in cases::<Case<OptimizerInput, BTreeMap<String, i64>>>(&path) {
        let variant = |variant: &OptimizerVariant| CapacityVariant {
            cost: variant.cost,
            capacity: variant.prc,
            current: variant.current,
            min: variant.min,
            max: variant.max,
        };
        let variants: Vec<CapacityVariant> = case.input.variants.iter().map(variant).collect();
        let targets = cost_aware(case.input.required, case.input.spare, &variants);
        let names = case.input.variants.iter().map(|variant| variant.name.clone());
        let ours: BTreeMap<String, i64> = names.zip(targets).collect();
        assert_eq!(ours, case.expected, "{}", case.id);
    }
}

#[test]
fn defaults() {
    let number = |path: &[&str]| {
        let value = path.iter().fold(&CASES["wva"], |value, key| &value[key]);
        value.as_f64().expect("a number")
    };
    let (v1, v2) = (SaturationConfig::default(), TokenConfig::default());
    for (ours, analyzer, key) in [
        (v1.kv_cache_threshold, "saturation_v1", "kv_cache_threshold"),
        (v1.queue_length_threshold, "saturation_v1", "queue_length_threshold"),
        (v1.kv_spare_trigger, "saturation_v1", "kv_spare_trigger"),
        (v1.queue_spare_trigger, "saturation_v1", "queue_spare_trigger"),
        (v2.kv_cache_threshold, "saturation_v2", "kv_cache_threshold"),
        (v2.queue_length_threshold, "saturation_v2", "queue_length_threshold"),
        (v2.scale_up_threshold, "saturation_v2", "scale_up_threshold"),
        (v2.scale_down_boundary, "saturation_v2", "scale_down_boundary"),
    ] {
        assert_eq!(ours, number(&[analyzer, "defaults", key]), "{analyzer}: {key}");
    }
}
