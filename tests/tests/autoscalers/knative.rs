//! Knative's pod autoscaler.

use serde::Deserialize;
use sim_core::fleet::autoscale::knative::{
    ACTIVATOR_CAPACITY, Activity, BucketWindow, CONCURRENCY_TARGET, Decider, DeciderSpec,
    GRANULARITY_S, PANIC_WINDOW_PERCENT, RPS_TARGET, Revision, STABLE_WINDOW_S, ScaleToZero,
    TARGET_UTILIZATION, TICK_S, scale, smoothing_coefficient,
};

use super::{CASES, Case, cases};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecInput {
    target: f64,
    total: f64,
    tbc: f64,
    panic_threshold: f64,
    max_up: f64,
    max_down: f64,
    stable_window_s: f64,
    reachable: bool,
    #[serde(default)]
    activation_scale: i32,
    #[serde(default)]
    scale_down_delay_s: f64,
}

impl SpecInput {
    fn spec(&self) -> DeciderSpec {
        DeciderSpec {
            target: self.target,
            total: self.total,
            target_burst_capacity: self.tbc,
            panic_threshold: self.panic_threshold,
            max_scale_up_rate: self.max_up,
            max_scale_down_rate: self.max_down,
            stable_window_s: self.stable_window_s,
            scale_down_delay_s: self.scale_down_delay_s,
            activation_scale: self.activation_scale,
            is_reachable: self.reachable,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KpaCase {
    id: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "test")]
    _test: String,
    #[serde(default, rename = "note")]
    _note: String,
    spec: SpecInput,
    ready_at_creation: i32,
    initial_state: Option<InitialState>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InitialState {
    panic_time_s: f64,
    max_panic_pods: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    t_s: f64,
    ready: i32,
    stable: f64,
    panic: f64,
    expected: StepExpected,
    /// A new specification from this step on.
    spec: Option<SpecInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepExpected {
    desired: i32,
    excess_burst_capacity: Option<i32>,
    /// `Some(None)` for calm; absent for either.
    #[serde(default, deserialize_with = "present")]
    panic_time_s: Option<Option<f64>>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

#[test]
fn kpa() {
    for case in cases::<KpaCase>(&["knative", "kpa"]) {
        let mut spec = case.spec.spec();
        let mut decider = Decider::new(&spec, case.ready_at_creation, 0.0);
        if let Some(state) = case.initial_state {
            decider.panic_since_s = Some(state.panic_time_s);
            decider.max_panic_pods = state.max_panic_pods;
        }
        for (index, step) in case.steps.iter().enumerate() {
            if let Some(new) = &step.spec {
                spec = new.spec();
            }
            let observed = (step.stable, step.panic);
            let result = decider.scale(&spec, step.ready, observed, step.t_s);
            assert_eq!(result.desired, step.expected.desired, "{} step {index}", case.id);
            if let Some(excess) = step.expected.excess_burst_capacity {
                assert_eq!(result.excess_burst_capacity, excess, "{} step {index}", case.id);
            }
            if let Some(panic_since_s) = step.expected.panic_time_s {
                assert_eq!(decider.panic_since_s, panic_since_s, "{} step {index}", case.id);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartInput {
    ready_at_creation: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartExpected {
    in_panic: bool,
    max_panic_pods: i32,
}

#[test]
fn panic_start() {
    for case in cases::<Case<StartInput, StartExpected>>(&["knative", "panic_start"]) {
        let decider = Decider::new(&DeciderSpec::default(), case.input.ready_at_creation, 7.0);
        assert_eq!(decider.is_in_panic(), case.expected.in_panic, "{}", case.id);
        assert_eq!(decider.max_panic_pods, case.expected.max_panic_pods, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum WindowInput {
    Coefficient { buckets: f64 },
    Window { window_s: f64, granularity_s: f64, smoothing_coefficient: Option<f64>, ops: Vec<Op> },
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    Record { t_s: f64, value: f64 },
    Average { t_s: f64, expected: f64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoefficientExpected {
    smoothing_coefficient: f64,
}

#[derive(Deserialize)]
struct WindowCase {
    id: String,
    input: WindowInput,
    expected: Option<CoefficientExpected>,
}

#[test]
fn windows() {
    for case in cases::<WindowCase>(&["knative", "windows"]) {
        match (case.input, case.expected) {
            (WindowInput::Coefficient { buckets }, Some(expected)) => {
                // Given to five digits.
                let difference = smoothing_coefficient(buckets) - expected.smoothing_coefficient;
                assert!(difference.abs() <= 0.5e-5, "{}: {difference}", case.id);
            }
            (WindowInput::Window { window_s, granularity_s, smoothing_coefficient, ops }, None) => {
                let mut window = BucketWindow::new(window_s, granularity_s);
                for (index, op) in ops.into_iter().enumerate() {
                    match op {
                        Op::Record { t_s, value } => window.record(t_s, value),
                        Op::Average { t_s, expected } => {
                            let (average, tolerance) = match smoothing_coefficient {
                                // libm's power is not Go's, to the last bit.
                                Some(weight) => (window.weighted_average(t_s, weight), 1e-12),
                                None => (window.average(t_s), 0.0),
                            };
                            let what = format!("{} op {index}", case.id);
                            super::assert_near(average, expected, tolerance, &what);
                        }
                    }
                }
            }
            _ => panic!("{}: neither a coefficient nor a window", case.id),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZeroInput {
    desired: i32,
    start_replicas: i32,
    state: String,
    state_age_s: f64,
    stable_window_s: Option<f64>,
    pod_retention_s: Option<f64>,
    progress_deadline_s: Option<f64>,
    proxy_for_s: Option<f64>,
    initial_scale: Option<i32>,
    min_scale: Option<i32>,
    max_scale: Option<i32>,
    enable_scale_to_zero: Option<bool>,
    probe: Option<bool>,
    reachability: Option<String>,
    tbc: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZeroExpected {
    returned_scale: i32,
    scale_applied: bool,
}

#[test]
fn scale_to_zero() {
    let constants = &CASES["knative"]["scale_to_zero_test_constants"];
    let constant = |key: &str| constants[key].as_f64().expect("a number");
    for case in cases::<Case<ZeroInput, ZeroExpected>>(&["knative", "scale_to_zero"]) {
        let input = case.input;
        let default = ScaleToZero::default();
        let spec = ScaleToZero {
            is_enabled: input.enable_scale_to_zero.unwrap_or(true),
            stable_window_s: input.stable_window_s.unwrap_or(constant("stable_window_s")),
            grace_s: constant("grace_period_s"),
            pod_retention_s: input.pod_retention_s.unwrap_or(default.pod_retention_s),
            progress_deadline_s: input
                .progress_deadline_s
                .unwrap_or(constant("progress_deadline_s")),
            min_scale: input.min_scale.unwrap_or(default.min_scale),
            max_scale: input.max_scale.unwrap_or(default.max_scale),
            initial_scale: input.initial_scale.unwrap_or(default.initial_scale),
            target_burst_capacity: input.tbc.unwrap_or(default.target_burst_capacity),
        };
        let activity = match input.state.as_str() {
            "activating" => Activity::Activating,
            "active" => Activity::Active,
            "inactive" => Activity::Inactive,
            other => panic!("state {other}"),
        };
        let revision = Revision {
            activity,
            for_s: input.state_age_s,
            is_initialized: activity != Activity::Activating,
            proxy_for_s: input.proxy_for_s.unwrap_or(0.0),
            is_activator_in_path: input.probe.unwrap_or(true),
            is_reachable: input.reachability.as_deref() != Some("unreachable"),
        };
        let outcome = scale(&spec, &revision, input.start_replicas, input.desired);
        assert_eq!(outcome.scale, case.expected.returned_scale, "{}", case.id);
        assert_eq!(outcome.is_applied, case.expected.scale_applied, "{}", case.id);
    }
}

#[test]
fn defaults() {
    let theirs = &CASES["knative"]["defaults"];
    let number = |key: &str| theirs[key].as_f64().expect("a number");
    let (decider, zero) = (DeciderSpec::default(), ScaleToZero::default());
    for (ours, key) in [
        (TICK_S, "tick_s"),
        (GRANULARITY_S, "granularity_s"),
        (STABLE_WINDOW_S, "stable_window_s"),
        (PANIC_WINDOW_PERCENT, "panic_window_percent"),
        (decider.panic_threshold * 100.0, "panic_threshold_percent"),
        (TARGET_UTILIZATION * 100.0, "target_utilization_percent"),
        (CONCURRENCY_TARGET, "container_concurrency_target"),
        (RPS_TARGET, "rps_target"),
        (decider.max_scale_up_rate, "max_scale_up_rate"),
        (decider.max_scale_down_rate, "max_scale_down_rate"),
        (decider.target_burst_capacity, "target_burst_capacity"),
        (ACTIVATOR_CAPACITY, "activator_capacity"),
        (zero.grace_s, "scale_to_zero_grace_s"),
        (zero.pod_retention_s, "pod_retention_s"),
        (decider.scale_down_delay_s, "scale_down_delay_s"),
        (f64::from(zero.initial_scale), "initial_scale"),
    ] {
        assert_eq!(ours, number(key), "{key}");
    }
}
