//! Policies side by side, as text, JSON and CSV.

use std::fmt::Write as _;

use planner::PolicyFigures;
use quantity::{duration_or_unknown, number_fixed, share};
use serde_json::{Value, json};

use crate::experiments::aligned;

/// A row per policy. On the front are those that nobody beats in both cost and target.
#[must_use]
pub fn policies_text(policies: &[PolicyFigures]) -> String {
    let has_cost = policies.iter().any(|each| each.cost.is_some());
    let mut header: Vec<String> = [
        "policy",
        "in time",
        "min below target",
        "TTFT P99",
        "GPU-hours",
        "wasted",
        "ready at most",
        "started",
    ]
    .map(str::to_owned)
    .to_vec();
    if has_cost {
        header.push("cost of nodes".to_owned());
    }
    header.push("front".to_owned());
    let row = |each: &PolicyFigures| {
        let mut cells = vec![
            each.name.clone(),
            share(each.slo_share),
            number_fixed(each.violation_min, 1),
            duration_or_unknown(each.ttft_p99_s),
            number_fixed(each.gpu_hours, 2),
            number_fixed(each.wasted_gpu_hours, 2),
            each.peak_ready.to_string(),
            each.started.to_string(),
        ];
        if let Some(cost) = each.cost {
            cells.push(number_fixed(cost, 2));
        }
        cells.push(if each.is_on_front { "*" } else { "" }.to_owned());
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(policies.iter().map(row)).collect();
    let mut text = aligned(&rows);
    text.push('\n');
    match policies.iter().find(|each| each.is_cheapest) {
        Some(cheapest) => {
            let hours = number_fixed(cheapest.gpu_hours, 2);
            let _ = writeln!(
                text,
                "{} holds the target for the fewest GPU-hours: {hours}.",
                cheapest.name
            );
        }
        None => text.push_str("None of them holds the target.\n"),
    }
    text.push_str("* Nobody has more requests in time for as few GPU-hours.\n");
    text
}

/// A row per policy, SI units in the header, all digits.
#[must_use]
pub fn policies_csv(policies: &[PolicyFigures]) -> String {
    let mut text = String::from(
        "policy,slo_share,violation_min,ttft_p99_s,gpu_hours,wasted_gpu_hours,node_gpu_hours,cost,\
         peak_ready,replicas_started,holds,is_on_front,is_cheapest\n",
    );
    let or_empty = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for each in policies {
        // Names may hold commas, and no quotes.
        let _ = writeln!(
            text,
            "\"{}\",{},{},{},{},{},{},{},{},{},{},{},{}",
            each.name,
            each.slo_share,
            each.violation_min,
            or_empty(each.ttft_p99_s),
            each.gpu_hours,
            each.wasted_gpu_hours,
            each.node_gpu_hours,
            or_empty(each.cost),
            each.peak_ready,
            each.started,
            each.holds,
            each.is_on_front,
            each.is_cheapest
        );
    }
    text
}

/// All of it in SI units and GPU-hours.
#[must_use]
pub fn policies_json(policies: &[PolicyFigures]) -> String {
    let policy = |each: &PolicyFigures| {
        json!({
            "policy": each.name,
            "slo_share": each.slo_share,
            "violation_min": each.violation_min,
            "ttft_p99_s": each.ttft_p99_s,
            "gpu_hours": each.gpu_hours,
            "wasted_gpu_hours": each.wasted_gpu_hours,
            "node_gpu_hours": each.node_gpu_hours,
            "cost": each.cost,
            "peak_ready": each.peak_ready,
            "replicas_started": each.started,
            "holds": each.holds,
            "is_on_front": each.is_on_front,
            "is_cheapest": each.is_cheapest,
        })
    };
    let policies: Value = policies.iter().map(policy).collect();
    format!("{:#}\n", json!({ "policies": policies }))
}
