//! Autoscalers against the published behaviour of their products, case by case.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod hpa;
mod keda;
mod knative;
mod slots;
mod wva;
mod wva_queueing;

use std::{path::Path, sync::LazyLock};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

static CASES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&golden("cases.json")).expect("the cases are JSON"));

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/autoscalers").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One case: an input of which every field is known, and what is expected.
#[derive(Deserialize)]
struct Case<I, E> {
    id: String,
    input: I,
    expected: E,
}

/// The cases of a section; fields that nobody reads are an error.
fn cases<T: DeserializeOwned>(path: &[&str]) -> Vec<T> {
    let section = path.iter().fold(&*CASES, |value, key| &value[key]);
    let cases: Vec<Value> = section.as_array().expect("a section of cases").clone();
    assert!(!cases.is_empty(), "{path:?}");
    let read = |case: Value| {
        let text = case.to_string();
        serde_json::from_value(case).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    cases.into_iter().map(read).collect()
}

/// Times before now, as the cases give them; now is 0.
fn ago(age_s: f64) -> f64 {
    -age_s
}

#[track_caller]
fn assert_near(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    let is_near = (ours - theirs).abs() <= tolerance * theirs.abs();
    assert!(is_near, "{what}: {ours} against {theirs}");
}

/// Each section is run by the test of its name; a section that no test knows would be missed.
#[test]
fn every_section_is_run() {
    let run: [(&str, &[&str]); 4] = [
        (
            "hpa",
            &[
                "replica_calculator",
                "group_pods",
                "scaling_rules",
                "rate_limits",
                "no_behavior_limits",
                "stabilization",
                "stabilization_behavior",
                "scale_events",
                "controller",
            ],
        ),
        ("keda", &["executor", "fallback"]),
        ("knative", &["kpa", "panic_start", "windows", "scale_to_zero"]),
        (
            "wva",
            &[
                "saturation_v1/analyze",
                "saturation_v1/targets",
                "saturation_v2/per_replica_capacity",
                "saturation_v2/estimate_from_params",
                "saturation_v2/zero_replicas",
                "saturation_v2/scheduler_queue_demand",
                "saturation_v2/waiting_queue_demand",
                "saturation_v2/universal_threshold",
                "saturation_v2/cost_aware_optimizer",
                "queueing_model/service_times",
                "queueing_model/analyzer_oracle",
                "ekf/cases",
            ],
        ),
    ];
    for (product, sections) in run {
        let mut found = Vec::new();
        let mut count = 0;
        for (name, section) in CASES[product].as_object().expect("a product") {
            let inner = match section {
                Value::Array(cases) => vec![(name.clone(), cases)],
                Value::Object(parts) => parts
                    .iter()
                    .filter_map(|(part, cases)| Some((format!("{name}/{part}"), cases.as_array()?)))
                    .filter(|(path, _)| path != "ekf/defaults")
                    .collect(),
                _ => Vec::new(),
            };
            for (path, cases) in inner {
                // A list of numbers is a default, not cases.
                if !cases.first().is_some_and(Value::is_object) || name == "defaults" {
                    continue;
                }
                // The outputs of original code are not among the counted unit tests.
                let is_output = path.starts_with("ekf") || path.ends_with("analyzer_oracle");
                count += if is_output { 0 } else { cases.len() };
                found.push(path);
            }
        }
        found.sort();
        let mut known: Vec<String> = sections.iter().map(|&path| path.to_owned()).collect();
        known.sort();
        assert_eq!(found, known, "{product}");
        assert_eq!(CASES["_meta"]["case_counts"][product], count, "{product}");
    }
}
