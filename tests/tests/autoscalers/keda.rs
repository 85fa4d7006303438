//! KEDA.

use serde::Deserialize;
use serde_json::Value;
use sim_core::fleet::autoscale::keda::{
    Fallback, FallbackBehaviour, Memory, POLLING_INTERVAL_S, Pause, ScaledObject, Triggers,
    hpa_bounds, is_active, metric_with_fallback, scale,
};

use super::{CASES, Case, ago, cases};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    current: i32,
    #[serde(default)]
    min: i32,
    idle: Option<i32>,
    active: bool,
    #[serde(default)]
    error: bool,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    pause_scale_in: bool,
    #[serde(default)]
    pause_scale_out: bool,
    #[serde(default)]
    force_activation: bool,
    last_active_age_s: Option<f64>,
    created_age_s: Option<f64>,
    cooldown_s: Option<f64>,
    initial_cooldown_s: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    replicas: i32,
}

#[test]
fn executor() {
    for case in cases::<Case<Input, Expected>>(&["keda", "executor"]) {
        let input = case.input;
        let default = ScaledObject::default();
        let object = ScaledObject {
            min_replicas: input.min,
            idle_replicas: input.idle,
            cooldown_s: input.cooldown_s.unwrap_or(default.cooldown_s),
            initial_cooldown_s: input.initial_cooldown_s.unwrap_or(default.initial_cooldown_s),
            pause: Pause {
                is_paused: input.paused,
                at_replicas: None,
                is_scale_in_paused: input.pause_scale_in,
                is_scale_out_paused: input.pause_scale_out,
            },
            is_activation_forced: input.force_activation,
            ..default
        };
        let mut memory = Memory {
            created_s: ago(input.created_age_s.unwrap_or(1e9)),
            last_active_s: input.last_active_age_s.map(ago),
        };
        let triggers = Triggers { is_active: input.active, is_error: input.error };
        let replicas = scale(&object, &mut memory, input.current, triggers, 0.0);
        assert_eq!(replicas, case.expected.replicas, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FallbackInput {
    failures_before: u32,
    failure_threshold: u32,
    fallback_replicas: i32,
    behavior: String,
    current_replicas: i32,
    target_average_value: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FallbackExpected {
    /// A number, or `"error"`.
    metric_value: Value,
    failures_after: u32,
}

#[test]
fn fallback() {
    for case in cases::<Case<FallbackInput, FallbackExpected>>(&["keda", "fallback"]) {
        let input = case.input;
        let behaviour = match input.behavior.as_str() {
            "static" => FallbackBehaviour::Static,
            "currentReplicas" => FallbackBehaviour::CurrentReplicas,
            "currentReplicasIfHigher" => FallbackBehaviour::CurrentReplicasIfHigher,
            "currentReplicasIfLower" => FallbackBehaviour::CurrentReplicasIfLower,
            other => panic!("behaviour {other}"),
        };
        let fallback = Fallback {
            failure_threshold: input.failure_threshold,
            replicas: input.fallback_replicas,
            behaviour,
        };
        let mut failures = input.failures_before;
        let against = (input.target_average_value, input.current_replicas);
        let metric = metric_with_fallback(Some(&fallback), &mut failures, None, against);
        assert_eq!(failures, case.expected.failures_after, "{}", case.id);
        match case.expected.metric_value {
            Value::String(text) => assert_eq!((text.as_str(), metric), ("error", None)),
            value => assert_eq!(metric, value.as_f64(), "{}", case.id),
        }
    }
}

#[test]
fn defaults() {
    let theirs = &CASES["keda"]["defaults"];
    let ours = ScaledObject::default();
    assert_eq!(theirs["polling_interval_s"], POLLING_INTERVAL_S as u64);
    assert_eq!(theirs["cooldown_s"], ours.cooldown_s as u64);
    assert_eq!(theirs["initial_cooldown_s"], ours.initial_cooldown_s as u64);
    assert_eq!(theirs["min_replicas"], ours.min_replicas);
    assert_eq!(theirs["max_replicas"], hpa_bounds(&ours).max);
    assert_eq!(theirs["hpa_min_replicas"], hpa_bounds(&ours).min);
    assert!(!is_active(5.0, 5.0), "strict");
}
