//! Pools, several models, breakdowns and the search for settings of a fleet over time.

use super::{headroom, json, printed};

fn refusal(args: &[&str]) -> String {
    let output = headroom(args).assert().failure().code(2);
    String::from_utf8_lossy(&output.get_output().stderr).into_owned()
}

const POOLS: [&str; 9] = [
    "fleet",
    "rate=15",
    "in=2000",
    "fleet.duration=300s",
    "--prefill",
    "hpa:target=3,max=5,initial=2",
    "--decode",
    "hpa:signal=running,target=20,max=4",
    "--policy=hpa",
];

#[test]
fn pools_are_put_beside_the_same_gpus_together() {
    let run = json(&[&POOLS[..], &["--json"]].concat());
    let (apart, together) = (&run["apart"], &run["together"]);
    assert_eq!(apart["offered"], together["offered"]);
    assert_eq!(apart["completed"], apart["offered"]);
    let caches = run["transfers"]["count"].as_u64().expect("a number");
    assert!(caches > 4000 && caches <= apart["offered"].as_u64().expect("a number"));
    let hours = |value: &serde_json::Value| value["held_gpu_hours"].as_f64().expect("hours");
    let sum = hours(&run["prefill"]) + hours(&run["decode"]);
    assert!((hours(apart) - sum).abs() < 1e-9);
    let text = printed(&POOLS);
    for part in ["apart", "together", "Prefill: ", "Decode: ", "Link: "] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn pools_can_be_scaled_as_one() {
    let run = json(&[&POOLS[..], &["--as-one", "prefill", "--json"]].concat());
    let windows = |pool: &str| run[pool]["windows"].as_array().expect("windows").clone();
    for (prefill, decode) in windows("prefill").iter().zip(windows("decode")) {
        let desired = |window: &serde_json::Value| window["desired"].as_u64().expect("a number");
        assert_eq!(desired(prefill), 2 * desired(&decode), "two to one, as at the beginning");
    }
}

#[test]
fn a_fault_of_one_pool_strikes_it_alone() {
    let run = json(&[&POOLS[..], &["--fault", "decode.replica@100", "--json"]].concat());
    assert_eq!(run["decode"]["faults"][0]["at_s"], 100.0);
    assert_eq!(run["prefill"]["faults"].as_array().map(Vec::len), Some(0));
    assert!(run["apart"]["restarted_requests"].as_u64() > Some(0), "{}", run["apart"]);
}

const MODELS: [&str; 7] = [
    "fleet",
    "--quota-gpus",
    "6",
    "--model",
    "chat:10=rate=10 profile=spike(100s,200s,6) fleet.duration=500s fleet.max=6",
    "--model",
    "batch:1=rate=60 fleet.duration=500s fleet.min=4 fleet.max=6",
];

#[test]
fn several_models_share_a_quota() {
    let run = json(&[&MODELS[..], &["--json"]].concat());
    assert!(run["peak_gpus"].as_u64() <= Some(6));
    let [chat, batch] = [0, 1].map(|at| run["models"][at].clone());
    assert_eq!((&chat["name"], &batch["name"]), (&"chat".into(), &"batch".into()));
    assert_eq!(chat["replicas_reclaimed"], 0);
    assert!(batch["replicas_reclaimed"].as_u64() > Some(0), "{batch}");
    for model in [&chat, &batch] {
        assert_eq!(model["run"]["completed"], model["run"]["offered"]);
    }
    let text = printed(&[&MODELS[..], &["--reclaim", "kill"]].concat());
    assert!(text.contains("chat") && text.contains("of 6 GPUs were in use"), "{text}");
}

#[test]
fn what_is_wrong_with_a_model_is_named() {
    for (model, why) in [
        ("chat=rate=10", "--model chat=rate=10: there is no priority"),
        ("chat:x=rate=10", "the priority is no whole number"),
        (":1=rate=10", "there is no name"),
        ("chat:1=rate=x", "--model chat: "),
        (
            "chat:1=rate=10 fleet.initial=3 fleet.max=4",
            "--quota-gpus 2: the models begin with 3 GPUs",
        ),
    ] {
        let message = refusal(&["fleet", "--quota-gpus", "2", "--model", model]);
        assert!(message.contains(why), "{message}");
    }
    let message = refusal(&["fleet", "rate=10", "--quota-gpus", "2", "--model", "a:1=rate=1"]);
    assert!(message.contains("every model has a scenario of its own"), "{message}");
}

#[test]
fn replicas_break_down_by_themselves() {
    let args = ["fleet", "rate=20", "fleet.duration=1h", "--policy", "fixed", "--min", "3"];
    let run = json(&[&args[..], &["--replica-mtbf", "1800", "--json"]].concat());
    let faults = run["faults"].as_array().expect("faults");
    // Three replicas for an hour break down six times, give or take four standard deviations.
    assert!((1..=16).contains(&faults.len()), "{}", faults.len());
    for fault in faults {
        assert_eq!(fault["what"], "a replica broke down");
        assert!(fault["served_meanwhile"].as_u64() > Some(0), "{fault}");
    }
    let restarted: u64 =
        faults.iter().filter_map(|fault| fault["restarted_requests"].as_u64()).sum();
    assert_eq!(run["restarted_requests"].as_u64(), Some(restarted));
    assert_eq!(run["completed"], run["offered"]);
    let text = printed(&[&args[..], &["--replica-mtbf", "1800"]].concat());
    assert!(text.contains("a replica broke down: ") && text.contains("began again, and"), "{text}");
}

#[test]
fn the_cheapest_settings_are_searched_for() {
    let args = ["fleet", "rate=30", "profile=spike(120s,240s,2)", "fleet.duration=10min"];
    let search = ["--max", "8", "--trials", "12", "--search", "hpa:min=1", "fixed"];
    let found = json(&[&args[..], &search[..], &["--json"]].concat());
    assert_eq!(found["basis"], "simulated");
    let [hpa, fixed] = [0, 1].map(|at| found["policies"][at].clone());
    assert!(hpa["tried"].as_array().map(Vec::len) <= Some(12));
    assert!(hpa["tried"][0]["settings"].get("min").is_none(), "it was given: {hpa}");
    let best = &fixed["best"];
    assert_eq!(best["holds"], true, "{fixed}");
    assert_eq!(fixed["other_users"].as_array().map(Vec::len), Some(3));
    let text = printed(&[&args[..], &search[..]].concat());
    assert!(
        text.contains("Simulated: ") && text.contains("Cheapest of all: --compare '"),
        "{text}"
    );
    let nothing = refusal(&["fleet", "rate=1", "--search", "fixed:min=1"]);
    assert!(nothing.contains("nothing is left to vary"), "{nothing}");
}
