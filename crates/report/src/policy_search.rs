//! The cheapest settings of policies that hold the target, as text and JSON.

use std::fmt::Write as _;

use planner::{PolicySearchAnswer, Trial};
use quantity::{counted, number_fixed, share};
use serde_json::{Value, json};

use crate::experiments::aligned;

/// What was found of each policy, and how.
#[must_use]
pub fn policy_search_text(found: &[(String, PolicySearchAnswer)]) -> String {
    let header = ["policy", "cheapest settings", "in time", "GPU-hours", "other users", "tried"];
    let row = |(name, answer): &(String, PolicySearchAnswer)| {
        let (settings, in_time, hours) = match &answer.best {
            Some(best) => {
                (told(answer, best), share(best.slo_share), number_fixed(best.gpu_hours, 2))
            }
            None => ("none holds the target".to_owned(), "–".to_owned(), "–".to_owned()),
        };
        let others = answer.checked.iter().map(|trial| trial.slo_share);
        let worst = others.reduce(sim_core::float::lesser).map_or("–".to_owned(), share);
        vec![name.clone(), settings, in_time, hours, worst, answer.trials.len().to_string()]
    };
    let header = header.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(found.iter().map(row)).collect();
    let mut text = aligned(&rows);
    text.push('\n');
    let best = found
        .iter()
        .filter_map(|(name, answer)| Some((name, answer, answer.best.as_ref()?)))
        .min_by(|a, b| a.2.gpu_hours.total_cmp(&b.2.gpu_hours));
    if let Some((name, answer, best)) = best {
        let _ = writeln!(
            text,
            "Cheapest of all: --compare '{name}:{}' with {} GPU-hours.",
            told(answer, best),
            number_fixed(best.gpu_hours, 2)
        );
    }
    let tried: usize = found.iter().map(|(_, answer)| answer.trials.len()).sum();
    let checks = found.iter().map(|(_, answer)| answer.checked.len()).max().unwrap_or(0);
    let _ = writeln!(
        text,
        "Simulated: {} on the same users, step by step from the first ones, so that others may be cheaper still; \
         “other users” is the least share in time with {}.",
        counted(tried as u64, "setting was tried", "settings were tried"),
        counted(checks as u64, "other stream of users", "other streams of users"),
    );
    text
}

fn told(answer: &PolicySearchAnswer, trial: &Trial) -> String {
    let pairs = answer.names.iter().zip(&trial.settings);
    let pairs: Vec<String> =
        pairs.map(|(name, value)| format!("{name}={}", quantity::plain(*value, 0))).collect();
    pairs.join(",")
}

/// Everything that was tried, in SI units and GPU-hours.
#[must_use]
pub fn policy_search_json(found: &[(String, PolicySearchAnswer)]) -> String {
    let trial = |answer: &PolicySearchAnswer, trial: &Trial| {
        let settings = answer.names.iter().zip(&trial.settings);
        let settings: serde_json::Map<String, Value> =
            settings.map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        json!({
            "settings": settings,
            "slo_share": trial.slo_share,
            "gpu_hours": trial.gpu_hours,
            "violation_min": trial.violation_min,
            "holds": trial.holds,
        })
    };
    let policy = |(name, answer): &(String, PolicySearchAnswer)| {
        let all = |trials: &[Trial]| trials.iter().map(|each| trial(answer, each)).collect();
        let (tried, checked): (Value, Value) = (all(&answer.trials), all(&answer.checked));
        json!({
            "policy": name,
            "best": answer.best.as_ref().map(|best| trial(answer, best)),
            "tried": tried,
            "other_users": checked,
        })
    };
    let policies: Value = found.iter().map(policy).collect();
    format!("{:#}\n", json!({ "basis": "simulated", "policies": policies }))
}
