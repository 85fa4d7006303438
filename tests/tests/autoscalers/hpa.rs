//! Kubernetes' horizontal pod autoscaler.

use std::collections::BTreeMap;

use serde::Deserialize;
use sim_core::fleet::autoscale::hpa::{
    Behaviour, Bounds, Condition, History, Hpa, Initialization, Limited, MetricError, Phase, Pod,
    PodMetrics, Policy, Proposal, Recommendation, Resource, Rules, Sample, ScaleEvent, Select,
    Stabilised, Tolerance, change_within, decide, down_limit, external_average, external_value,
    group_pods, limit_rate, limit_without_behaviour, object_average, object_value, pods_average,
    stabilise, stabilise_with_behaviour, store_event, up_limit, utilization,
};

use super::{CASES, Case, ago, cases};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PodInput {
    ready: Option<bool>,
    start_age_s: Option<f64>,
    last_transition_age_s: Option<f64>,
    phase: String,
    deleted: bool,
    request_milli: Option<i64>,
}

impl PodInput {
    fn pod(&self) -> Pod {
        let phase = match self.phase.as_str() {
            "Pending" => Phase::Pending,
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            other => panic!("phase {other}"),
        };
        // The age of Go's zero time stands for none.
        let since_s = ago(self.last_transition_age_s.unwrap_or(1e9));
        Pod {
            phase,
            is_deleted: self.deleted,
            condition: self.ready.map(|is_ready| Condition { is_ready, since_s }),
            start_s: self.start_age_s.map(ago),
            request_milli: self.request_milli,
        }
    }
}

fn resource(name: &str) -> Resource {
    if name == "cpu" { Resource::Cpu } else { Resource::Other }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupInput {
    resource: String,
    pods: Vec<PodInput>,
    pods_with_metrics: Vec<usize>,
    metric_age_s: f64,
    metric_window_s: f64,
    cpu_initialization_period_s: f64,
    initial_readiness_delay_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupExpected {
    ready_count: usize,
    unready: Vec<usize>,
    missing: Vec<usize>,
    ignored: Vec<usize>,
}

#[test]
fn group_pods_() {
    for case in cases::<Case<GroupInput, GroupExpected>>(&["hpa", "group_pods"]) {
        let input = case.input;
        let pods: Vec<Pod> = input.pods.iter().map(PodInput::pod).collect();
        let sample = Sample {
            value_milli: 1,
            at_s: ago(input.metric_age_s),
            window_s: input.metric_window_s,
        };
        let samples: Vec<Option<Sample>> = (0..pods.len())
            .map(|pod| input.pods_with_metrics.contains(&pod).then_some(sample))
            .collect();
        let initialization = Initialization {
            cpu_period_s: input.cpu_initialization_period_s,
            readiness_delay_s: input.initial_readiness_delay_s,
        };
        let groups = group_pods(&pods, &samples, resource(&input.resource), &initialization, 0.0);
        let expected = case.expected;
        assert_eq!(groups.ready, expected.ready_count, "{}", case.id);
        assert_eq!(groups.unready, expected.unready, "{}", case.id);
        assert_eq!(groups.missing, expected.missing, "{}", case.id);
        assert_eq!(groups.ignored, expected.ignored, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalculatorInput {
    current: i32,
    target: i64,
    tolerance: Option<[f64; 2]>,
    cpu_initialization_period_s: Option<f64>,
    initial_readiness_delay_s: Option<f64>,
    metric_age_s: Option<f64>,
    metric_window_s: Option<f64>,
    pods: Option<Vec<PodInput>>,
    usage_milli: Option<BTreeMap<usize, i64>>,
    usage_of_unknown_pod_milli: Option<i64>,
    #[serde(default, rename = "request_milli")]
    _request_milli: Option<i64>,
    values_milli: Option<Vec<i64>>,
    ready_running_pods: Option<u32>,
}

impl CalculatorInput {
    fn tolerance(&self) -> Tolerance {
        self.tolerance.map_or_else(Tolerance::default, |[down, up]| Tolerance { down, up })
    }

    /// Pods, their samples, and the samples of pods that are not there.
    fn pods(&self) -> (Vec<Pod>, Vec<Option<Sample>>, Vec<i64>) {
        // The two failures name no pods: one that runs, without a request unless it has one.
        let bare = Pod {
            phase: Phase::Running,
            is_deleted: false,
            condition: Some(Condition { is_ready: true, since_s: ago(1e9) }),
            start_s: Some(ago(1e9)),
            request_milli: self.usage_of_unknown_pod_milli.map(|_| 1000),
        };
        let pods: Vec<Pod> = match &self.pods {
            Some(pods) => pods.iter().map(PodInput::pod).collect(),
            None => vec![bare; self.current as usize],
        };
        let sample = |&value_milli: &i64| Sample {
            value_milli,
            at_s: ago(self.metric_age_s.unwrap_or(1e9)),
            window_s: self.metric_window_s.unwrap_or(60.0),
        };
        let none = BTreeMap::new();
        let usage = self.usage_milli.as_ref().unwrap_or(&none);
        let samples = (0..pods.len()).map(|pod| usage.get(&pod).map(sample)).collect();
        let beyond = usage.range(pods.len()..).map(|(_, &milli)| milli);
        let strangers = beyond.chain(self.usage_of_unknown_pod_milli).collect();
        (pods, samples, strangers)
    }

    fn propose(&self, kind: &str) -> Result<Proposal, MetricError> {
        let tolerance = self.tolerance();
        let initialization = Initialization {
            cpu_period_s: self.cpu_initialization_period_s.unwrap_or(120.0),
            readiness_delay_s: self.initial_readiness_delay_s.unwrap_or(10.0),
        };
        let (pods, samples, strangers) = self.pods();
        let metrics = PodMetrics { of_pods: &samples, of_strangers_milli: &strangers };
        let series = self.values_milli.as_deref().unwrap_or_default();
        let counts = (self.current, self.ready_running_pods.unwrap_or(0));
        match kind {
            "resource" => {
                let target = i32::try_from(self.target).expect("per cent");
                let of = (pods.as_slice(), Resource::Cpu);
                utilization(of, &metrics, (self.current, target), &tolerance, &initialization, 0.0)
            }
            "resource_raw" | "pods" => {
                let resource = if kind == "pods" { Resource::Other } else { Resource::Cpu };
                let of = (pods.as_slice(), resource);
                let against = (self.current, self.target);
                pods_average(of, &metrics, against, &tolerance, &initialization, 0.0)
            }
            "object_value" => object_value(counts, series[0], self.target, &tolerance),
            "object_average" => object_average(self.current, series[0], self.target, &tolerance),
            "external_value" => external_value(counts, series, self.target, &tolerance),
            "external_average" => external_average(self.current, series, self.target, &tolerance),
            other => panic!("kind {other}"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalculatorExpected {
    replicas: Option<i32>,
    utilization_percent: Option<i32>,
    raw_average_milli: Option<i64>,
    usage_milli: Option<i64>,
    error: Option<String>,
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

#[derive(Deserialize)]
struct CalculatorCase {
    id: String,
    kind: String,
    input: CalculatorInput,
    expected: CalculatorExpected,
}

#[test]
fn replica_calculator() {
    for CalculatorCase { id, kind, input, expected } in cases(&["hpa", "replica_calculator"]) {
        match input.propose(&kind) {
            Err(error) => {
                let text = expected.error.as_deref().unwrap_or_else(|| panic!("{id}: {error}"));
                assert!(error.to_string().contains(text), "{id}: {error}");
            }
            Ok(proposal) => {
                assert_eq!(Some(proposal.replicas), expected.replicas, "{id}");
                let usage_milli = expected.usage_milli.or(expected.raw_average_milli);
                if let Some(usage_milli) = usage_milli {
                    assert_eq!(proposal.usage_milli, usage_milli, "{id}");
                }
                assert_eq!(proposal.utilization_percent, expected.utilization_percent, "{id}");
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesInput {
    stabilization_s: f64,
    select: String,
    policies: Vec<PolicyInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyInput {
    r#type: String,
    value: i32,
    period_s: f64,
}

impl RulesInput {
    fn rules(&self) -> Rules {
        let select = match self.select.as_str() {
            "Max" => Select::Max,
            "Min" => Select::Min,
            "Disabled" => Select::Disabled,
            other => panic!("select {other}"),
        };
        let policy = |policy: &PolicyInput| {
            let (value, period_s) = (policy.value, policy.period_s);
            match policy.r#type.as_str() {
                "Pods" => Policy::Pods { value, period_s },
                "Percent" => Policy::Percent { value, period_s },
                other => panic!("policy {other}"),
            }
        };
        let policies = self.policies.iter().map(policy).collect();
        Rules { stabilization_s: self.stabilization_s, select, policies }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventInput {
    change: i32,
    age_s: f64,
}

fn events(inputs: &[EventInput]) -> Vec<ScaleEvent> {
    let event = |event: &EventInput| ScaleEvent {
        change: event.change,
        at_s: ago(event.age_s),
        is_outdated: false,
    };
    inputs.iter().map(event).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateInput {
    current: i32,
    desired: i32,
    min: i32,
    max: i32,
    scale_up_rules: Option<RulesInput>,
    scale_down_rules: Option<RulesInput>,
    scale_up_events: Vec<EventInput>,
    scale_down_events: Vec<EventInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitedExpected {
    replicas: i32,
    condition: String,
}

impl LimitedExpected {
    fn assert(&self, (replicas, limited): (i32, Limited), id: &str) {
        assert_eq!(replicas, self.replicas, "{id}");
        assert_eq!(format!("{limited:?}"), self.condition, "{id}");
    }
}

#[test]
fn scaling_rules() {
    for case in cases::<Case<RateInput, LimitedExpected>>(&["hpa", "scaling_rules"]) {
        let input = case.input;
        let default = Behaviour::default();
        let behaviour = Behaviour {
            up: input.scale_up_rules.map_or(default.up, |rules| rules.rules()),
            down: input.scale_down_rules.map_or(default.down, |rules| rules.rules()),
        };
        let (ups, downs) = (events(&input.scale_up_events), events(&input.scale_down_events));
        let bounds = Bounds { min: input.min, max: input.max };
        let wanted = (input.current, input.desired);
        let limited = limit_rate(wanted, bounds, &behaviour, (&ups, &downs), 0.0);
        case.expected.assert(limited, &case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitInput {
    current: i32,
    rules: RulesInput,
    direction: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitExpected {
    limit: i32,
}

#[test]
fn rate_limits() {
    for case in cases::<Case<LimitInput, LimitExpected>>(&["hpa", "rate_limits"]) {
        let limit = if case.input.direction == "up" { up_limit } else { down_limit };
        let limit = limit(case.input.current, (&[], &[]), &case.input.rules.rules(), 0.0);
        assert_eq!(limit, case.expected.limit, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoBehaviourInput {
    current: i32,
    desired: i32,
    min: i32,
    max: i32,
}

#[test]
fn no_behavior_limits() {
    for case in cases::<Case<NoBehaviourInput, LimitedExpected>>(&["hpa", "no_behavior_limits"]) {
        let NoBehaviourInput { current, desired, min, max } = case.input;
        let limited = limit_without_behaviour(current, desired, Bounds { min, max });
        case.expected.assert(limited, &case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecommendationInput {
    replicas: i32,
    age_s: f64,
}

fn recommendations(inputs: &[RecommendationInput]) -> Vec<Recommendation> {
    let read = |input: &RecommendationInput| Recommendation {
        replicas: input.replicas,
        at_s: ago(input.age_s),
    };
    inputs.iter().map(read).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StabiliseInput {
    window_s: f64,
    recommendations: Vec<RecommendationInput>,
    desired: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StabiliseExpected {
    replicas: i32,
    log_length: usize,
}

#[test]
fn stabilization() {
    for case in cases::<Case<StabiliseInput, StabiliseExpected>>(&["hpa", "stabilization"]) {
        let mut log = recommendations(&case.input.recommendations);
        let replicas = stabilise(&mut log, case.input.desired, case.input.window_s, 0.0);
        assert_eq!(replicas, case.expected.replicas, "{}", case.id);
        assert_eq!(log.len(), case.expected.log_length, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BehaviourInput {
    scale_up_window_s: f64,
    scale_down_window_s: f64,
    current: i32,
    desired: i32,
    recommendations: Vec<RecommendationInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BehaviourExpected {
    replicas: i32,
    stored_recommendations: Vec<i32>,
}

#[test]
fn stabilization_behavior() {
    let all = cases::<Case<BehaviourInput, BehaviourExpected>>(&["hpa", "stabilization_behavior"]);
    for case in all {
        let input = case.input;
        let mut log = recommendations(&input.recommendations);
        let windows_s = (input.scale_up_window_s, input.scale_down_window_s);
        let wanted = (input.current, input.desired);
        let replicas = stabilise_with_behaviour(&mut log, wanted, windows_s, 0.0);
        assert_eq!(replicas, case.expected.replicas, "{}", case.id);
        let stored: Vec<i32> = log.iter().map(|stored| stored.replicas).collect();
        assert_eq!(stored, case.expected.stored_recommendations, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreInput {
    previous_events: Vec<EventInput>,
    longest_policy_period_s: Option<f64>,
    replica_change: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreExpected {
    change_in_last_60s: i32,
    events_after: Vec<EventExpected>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct EventExpected {
    change: i32,
    outdated: bool,
}

#[test]
fn scale_events() {
    for case in cases::<Case<StoreInput, StoreExpected>>(&["hpa", "scale_events"]) {
        let mut events = events(&case.input.previous_events);
        let change = change_within(&events, 60.0, 0.0);
        assert_eq!(change, case.expected.change_in_last_60s, "{}", case.id);
        // Without a behaviour there is no period, and nothing is remembered.
        if let Some(period_s) = case.input.longest_policy_period_s {
            store_event(&mut events, case.input.replica_change, period_s, 0.0);
        }
        let after: Vec<EventExpected> = events
            .iter()
            .map(|event| EventExpected { change: event.change, outdated: event.is_outdated })
            .collect();
        assert_eq!(after, case.expected.events_after, "{}", case.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControllerInput {
    min: i32,
    max: i32,
    current: i32,
    cpu_target: i32,
    cpu_levels: Vec<i64>,
    cpu_requests_milli: i64,
    /// In words; every one of them is a metric that cannot be read.
    other_metric: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControllerExpected {
    desired: i32,
    condition: Option<String>,
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

#[test]
fn controller() {
    for case in cases::<Case<ControllerInput, ControllerExpected>>(&["hpa", "controller"]) {
        let input = case.input;
        assert!(["external errors", "unknown type"].contains(&input.other_metric.as_str()));
        let pod = Pod {
            phase: Phase::Running,
            is_deleted: false,
            condition: Some(Condition { is_ready: true, since_s: ago(600.0) }),
            start_s: Some(ago(600.0)),
            request_milli: Some(input.cpu_requests_milli),
        };
        let pods = vec![pod; input.cpu_levels.len()];
        let samples: Vec<Option<Sample>> = input
            .cpu_levels
            .iter()
            .map(|&value_milli| Some(Sample { value_milli, at_s: 0.0, window_s: 60.0 }))
            .collect();
        let metrics = PodMetrics { of_pods: &samples, of_strangers_milli: &[] };
        let cpu = utilization(
            (&pods, Resource::Cpu),
            &metrics,
            (input.current, input.cpu_target),
            &Tolerance::default(),
            &Initialization::default(),
            0.0,
        )
        .map(|proposal| proposal.replicas);
        let hpa = Hpa { behaviour: None, ..Hpa::new(Bounds { min: input.min, max: input.max }) };
        let asked = [cpu, Err(MetricError::Unavailable)];
        let decision = decide(&hpa, &mut History::default(), input.current, &asked, 0.0);
        assert_eq!(decision.replicas, case.expected.desired, "{}", case.id);
        // The window would have held the count as well, had the other metric not: this is what the
        // reason that is given comes from.
        if let Some(condition) = case.expected.condition {
            let alone = decide(&hpa, &mut History::default(), input.current, &[cpu], 0.0);
            assert_eq!(alone.replicas, case.expected.desired, "{}", case.id);
            assert_eq!(format!("{:?}", alone.stabilised), condition, "{}", case.id);
            assert_eq!(alone.stabilised, Stabilised::ScaleDownStabilized, "{}", case.id);
        }
    }
}

#[test]
fn defaults() {
    let theirs = &CASES["hpa"]["defaults"];
    let number = |key: &str| theirs[key].as_f64().expect("a number");
    let initialization = Initialization::default();
    assert_eq!(initialization.cpu_period_s, number("cpu_initialization_period_s"));
    assert_eq!(initialization.readiness_delay_s, number("initial_readiness_delay_s"));
    let tolerance = number("tolerance");
    assert_eq!(Tolerance::default(), Tolerance { down: tolerance, up: tolerance });
    use sim_core::fleet::autoscale::hpa as ours;
    assert_eq!(ours::SYNC_PERIOD_S, number("sync_period_s"));
    assert_eq!(ours::DOWNSCALE_STABILIZATION_S, number("downscale_stabilization_s"));
    assert_eq!(ours::SCALE_UP_LIMIT_FACTOR, number("scale_up_limit_factor"));
    assert_eq!(ours::SCALE_UP_LIMIT_MINIMUM, number("scale_up_limit_minimum"));
    let rules = |key: &str| {
        let rules: RulesInput = serde_json::from_value(theirs[key].clone()).expect("rules");
        rules.rules()
    };
    let (up, down) = (rules("v2_default_scale_up"), rules("v2_default_scale_down"));
    assert_eq!(Behaviour::default(), Behaviour { up, down });
}
