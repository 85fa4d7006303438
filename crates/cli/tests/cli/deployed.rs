//! Engines on several GPUs, and names of the wide catalogue.

use super::{json, printed};

const LLAMA: [&str; 8] = [
    "model=llama-3.3-70b",
    "gpu=h100",
    "tp=4",
    "engine=vllm@0.19",
    "rate=20",
    "tpot=60ms",
    "sim.requests=200",
    "sim.replications=2",
];

fn with<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command], &LLAMA[..], more].concat()
}

#[test]
fn gpus_of_all_engines_are_counted() {
    let text = printed(&with("plan", &[]));
    assert!(text.starts_with("12–16 H100 for 20"), "{text}");
    assert!(text.contains("One engine of 4 GPUs sustains"), "{text}");
    assert!(!text.contains("ne GPU "), "{text}");
    let answer = json(&with("plan", &["--json"]));
    let verdict = &answer["verdict"];
    assert_eq!(verdict["gpus_per_engine"], 4);
    for key in ["gpus", "gpus_low", "gpus_high", "gpus_without_headroom"] {
        assert_eq!(verdict[key].as_u64().map(|gpus| gpus % 4), Some(0), "{key}: {verdict}");
    }
    let ledger = answer["ledger"].as_array().map_or(0, Vec::len);
    assert!(ledger > 20, "{ledger}");
    assert!(answer["link"].as_str().is_some_and(|link| link.contains("engine=vllm-0.19")));
}

#[test]
fn one_engine_is_simulated() {
    let all = printed(&with("simulate", &["--gpus", "8"]));
    let half =
        with("simulate", &[]).into_iter().map(|it| if it == "rate=20" { "rate=10" } else { it });
    let one = printed(&half.collect::<Vec<_>>());
    let figures = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(figures(&all), figures(&one));
}

#[test]
fn wide_names_plan_without_more() {
    let text = printed(&[
        "plan",
        "model=qwen3-30b-a3b-fp8",
        "gpu=h20",
        "rate=5",
        "tpot=100ms",
        "sim.requests=200",
        "sim.replications=2",
    ]);
    assert!(text.contains("H20"), "{text}");
}
