//! Manifests: the engines, two ways to scale them, and alerts on what users notice.
//!
//! Alerts look at preemptions and at how fast the allowance of missed targets is used up (multi-window
//! burn rates; Beyer et al., "The Site Reliability Workbook", 2018, chapter 5), not at the level of the
//! KV cache: a full cache is what one pays for, and says nothing of waiting.

use scenario::Scenario;
use serde_json::{Value, json};

use super::{Deployment, vllm::serve_options, yaml::yaml};

/// Upper ends of the buckets of vLLM's histograms, seconds (`vllm/v1/metrics/loggers.py`).
const TTFT_S: [f64; 22] = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];
const TPOT_S: [f64; 19] = [
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];
/// How many times faster than allowed the allowance may be used up over an hour: a fiftieth of a month's
/// in that hour.
const FAST_BURN: f64 = 14.4;
/// The same over six hours: a twentieth of a month's.
const SLOW_BURN: f64 = 6.0;
const PORT: u32 = 8000;

/// All manifests as one YAML file.
#[must_use]
pub fn kubernetes(scenario: &Scenario, deployment: &Deployment) -> String {
    let documents = [
        ("The engines.", engines(scenario, deployment)),
        ("Where they are reached.", service(deployment)),
        (
            "Scaling by requests in flight, as an adapter for custom metrics shows them. Apply this or the ScaledObject, not both.",
            autoscaler(deployment),
        ),
        ("The same by KEDA, straight from Prometheus.", scaled_object(deployment)),
        ("Alerts on what users notice.", alerts(scenario, deployment)),
    ];
    let told = documents.map(|(what, document)| format!("# {what}\n{}", yaml(&document)));
    told.join("---\n")
}

fn labels(deployment: &Deployment) -> Value {
    json!({ "app.kubernetes.io/name": deployment.name })
}

fn metadata(deployment: &Deployment) -> Value {
    json!({ "name": deployment.name, "labels": labels(deployment) })
}

fn engines(scenario: &Scenario, deployment: &Deployment) -> Value {
    let mut arguments = vec!["--model".to_owned(), deployment.repository.clone()];
    for option in serve_options(scenario, deployment) {
        arguments.extend(option.split_whitespace().map(str::to_owned));
    }
    let probe = json!({ "httpGet": { "path": "/health", "port": PORT } });
    let mut start = probe.clone();
    start["periodSeconds"] = json!(10);
    start["failureThreshold"] = json!(deployment.start_s / 10);
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(deployment),
        "spec": {
            "replicas": deployment.engines,
            "selector": { "matchLabels": labels(deployment) },
            // One more while an update rolls, and none fewer: the plan has no room for fewer.
            "strategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
            "template": {
                "metadata": { "labels": labels(deployment) },
                "spec": {
                    "containers": [{
                        "name": "vllm",
                        "image": "vllm/vllm-openai:latest",
                        "args": arguments,
                        "ports": [{ "name": "http", "containerPort": PORT }],
                        "resources": {
                            "limits": { "nvidia.com/gpu": deployment.gpus_each },
                        },
                        "startupProbe": start,
                        "readinessProbe": probe,
                        "volumeMounts": [{ "name": "shm", "mountPath": "/dev/shm" }],
                    }],
                    "volumes": [{ "name": "shm", "emptyDir": { "medium": "Memory" } }],
                },
            },
        },
    })
}

fn service(deployment: &Deployment) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(deployment),
        "spec": {
            "selector": labels(deployment),
            "ports": [{ "name": "http", "port": PORT, "targetPort": "http" }],
        },
    })
}

/// Requests in flight on an engine at which one more is wanted: what it has at the plan.
fn target(deployment: &Deployment) -> f64 {
    sim_core::float::greater(1.0, deployment.in_flight.round())
}

fn autoscaler(deployment: &Deployment) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(deployment),
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "apps/v1", "kind": "Deployment", "name": deployment.name,
            },
            "minReplicas": deployment.least_engines,
            "maxReplicas": deployment.engines.max(deployment.least_engines + 1),
            "metrics": [{
                "type": "Pods",
                "pods": {
                    "metric": { "name": "vllm_requests_in_flight" },
                    "target": {
                        "type": "AverageValue",
                        "averageValue": quantity::plain(target(deployment), 0),
                    },
                },
            }],
        },
    })
}

fn scaled_object(deployment: &Deployment) -> Value {
    let of = format!("{{pod=~\"{}-.*\"}}", deployment.name);
    json!({
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata(deployment),
        "spec": {
            "scaleTargetRef": { "name": deployment.name },
            "minReplicaCount": deployment.least_engines,
            "maxReplicaCount": deployment.engines.max(deployment.least_engines + 1),
            "triggers": [{
                "type": "prometheus",
                "metadata": {
                    "serverAddress": "http://prometheus.monitoring.svc:9090",
                    "query": format!(
                        "sum(vllm:num_requests_running{of}) + sum(vllm:num_requests_waiting{of})"
                    ),
                    "threshold": quantity::plain(target(deployment), 0),
                },
            }],
        },
    })
}

fn alerts(scenario: &Scenario, deployment: &Deployment) -> Value {
    let of = format!("pod=~\"{}-.*\"", deployment.name);
    let allowed = 1.0 - scenario.slo.share;
    let late = |metric: &str, bound_s: f64, window: &str| {
        let bound = quantity::plain(bound_s, 0);
        // Prometheus writes whole bounds with a decimal.
        let bound = if bound.contains('.') { bound } else { bound + ".0" };
        format!(
            "(1 - sum(rate({metric}_bucket{{{of},le=\"{bound}\"}}[{window}])) / \
             sum(rate({metric}_count{{{of}}}[{window}])))"
        )
    };
    let burn = |name: &str, metric: &str, bound_s: f64, (times, long, short): (f64, &str, &str)| {
        let most = quantity::plain(quantity::rounded_to(times * allowed, 6), 0);
        let (long_expr, short_expr) = (late(metric, bound_s, long), late(metric, bound_s, short));
        json!({
            "alert": name,
            "expr": format!("{long_expr} > {most} and {short_expr} > {most}"),
            "labels": { "severity": if times == FAST_BURN { "page" } else { "ticket" } },
            "annotations": {
                "summary": format!(
                    "Requests miss the target {} times as often as {} may, over {long} and {short}",
                    quantity::plain(times, 0), quantity::share(allowed)
                ),
            },
        })
    };
    let (ttft, tpot) =
        ("vllm:time_to_first_token_seconds", "vllm:request_time_per_output_token_seconds");
    let (ttft_s, tpot_s) =
        (bucket(&TTFT_S, scenario.slo.ttft_s), bucket(&TPOT_S, scenario.slo.tpot_s));
    let (fast, slow) = ((FAST_BURN, "1h", "5m"), (SLOW_BURN, "6h", "30m"));
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": metadata(deployment),
        "spec": {
            "groups": [{
                "name": deployment.name,
                "rules": [
                    burn("TtftBurnsFast", ttft, ttft_s, fast),
                    burn("TtftBurnsSlowly", ttft, ttft_s, slow),
                    burn("TpotBurnsFast", tpot, tpot_s, fast),
                    burn("TpotBurnsSlowly", tpot, tpot_s, slow),
                    {
                        "alert": "RequestsArePreempted",
                        "expr": format!(
                            "sum(rate(vllm:num_preemptions_total{{{of}}}[10m])) / \
                             sum(rate(vllm:request_success_total{{{of}}}[10m])) > 0.01"
                        ),
                        "for": "10m",
                        "labels": { "severity": "ticket" },
                        "annotations": {
                            "summary": "More than one preemption for a hundred requests: the KV cache is too small for the load",
                        },
                    },
                ],
            }],
        },
    })
}

/// The largest bound that does not let more pass than the target; the least one where none does.
fn bucket(bounds: &[f64], target_s: f64) -> f64 {
    let within = bounds.iter().copied().filter(|bound| *bound <= target_s * (1.0 + 1e-9));
    within.fold(bounds[0], sim_core::float::greater)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_are_no_laxer_than_the_target() {
        assert_eq!(bucket(&TTFT_S, 1.0), 1.0);
        assert_eq!(bucket(&TTFT_S, 0.9), 0.75);
        assert_eq!(bucket(&TPOT_S, 0.04), 0.025);
        assert_eq!(bucket(&TPOT_S, 0.001), 0.01);
    }
}
