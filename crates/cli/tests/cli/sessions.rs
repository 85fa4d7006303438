//! Sessions of several turns, as a person or a script meets them.

use super::{json, printed};

const CHAT: [&str; 6] =
    ["simulate", "rate=12", "turns=geometric(5)", "think=4s", "in=150", "sim.requests=4000"];

#[test]
fn a_run_tells_what_became_of_its_sessions() {
    let text = printed(&CHAT);
    for part in [" sessions, ", " of them found under way", "4,000 turns: ", "had been in the conv"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let run = json(&[&CHAT[..], &["--json"]].concat());
    let sessions = &run["attempts"]["sessions"];
    let count = |key: &str| sessions[key].as_u64().expect(key);
    assert_eq!(
        count("found_under_way") + count("begun"),
        count("completed") + count("broken_off") + count("under_way")
    );
    assert_eq!(count("turns"), 4_000);
    assert!(sessions["history_share"].as_f64() > Some(0.5), "{sessions}");
    let plain = json(&["simulate", "rate=12", "sim.requests=200", "--json"]);
    assert_eq!(plain["attempts"], serde_json::Value::Null);
}

#[test]
fn a_prefix_cache_finds_the_conversation() {
    let cached = |settings: &[&str]| {
        let run = json(&[&CHAT[..], &["sched.rules=vllm-0.33", "--json"], settings].concat());
        let tokens = |value: &serde_json::Value| value.as_f64().expect("a number");
        let ttft_s = tokens(&run["ttft"]["mean_s"]);
        (tokens(&run["cached_tokens"]) / tokens(&run["input_tokens"]), ttft_s)
    };
    let (without, slow_s) = cached(&[]);
    let (with, fast_s) = cached(&["sched.prefix_caching=on"]);
    assert_eq!(without, 0.0);
    assert!(with > 0.6, "{with}");
    assert!(fast_s < 0.7 * slow_s, "{fast_s} {slow_s}");
}

#[test]
fn the_obvious_engine_counts_the_same() {
    let short = ["simulate", "rate=12", "turns=uniform(1,6)", "think=2s", "sim.requests=150"];
    for rules in ["sched.rules=reference", "sched.rules=vllm-0.33"] {
        let arguments = [&short[..], &[rules, "sched.prefix_caching=on", "--json"]].concat();
        let fast = json(&arguments);
        let slow = json(&[&arguments[..], &["--oracle"]].concat());
        assert_eq!(fast["attempts"]["sessions"], slow["attempts"]["sessions"], "{rules}");
        assert_eq!(fast["cached_tokens"], slow["cached_tokens"], "{rules}");
        assert_eq!(fast["steps"], slow["steps"], "{rules}");
    }
}

/// Every session keeps to its replica, where its conversation is found again.
#[test]
fn sessions_are_dealt_out_among_replicas() {
    let chat =
        [&CHAT[..], &["sched.rules=vllm-0.33", "sched.prefix_caching=on", "--json"]].concat();
    let alone = json(&chat);
    let fleet = json(&[&chat[..], &["--replicas", "3"]].concat());
    assert_eq!(fleet["replicas"], 3);
    let sessions = &fleet["attempts"]["sessions"];
    let count = |key: &str| sessions[key].as_u64().expect(key);
    assert_eq!(
        count("found_under_way") + count("begun"),
        count("completed") + count("broken_off") + count("under_way")
    );
    assert_eq!((count("turns"), fleet["offered"].as_u64()), (4_000, Some(4_000)));
    let of_alone = alone["attempts"]["sessions"]["found_under_way"].as_u64();
    assert_eq!(Some(count("found_under_way")), of_alone);
    let cached = |run: &serde_json::Value| {
        let tokens = |key: &str| run[key].as_f64().expect("a number");
        tokens("cached_tokens") / tokens("input_tokens")
    };
    assert!(cached(&fleet) > cached(&alone) - 0.05, "{} {}", cached(&fleet), cached(&alone));
    let text = printed(&[&CHAT[..], &["--replicas", "3"]].concat());
    assert!(
        text.contains("3 replicas got the sessions, each with all its turns, in turn."),
        "{text}"
    );
    // Shared as a rate they can be simulated, too.
    let text = printed(&[&CHAT[..], &["--gpus", "2"]].concat());
    assert!(text.contains("4,000 turns: "), "{text}");
}

#[test]
fn a_plan_says_that_requests_are_turns() {
    let plan = ["plan", "rate=20", "turns=5", "think=5s", "in=100", "sim.requests=300"];
    let text = printed(&[&plan[..], &["sim.replications=2"]].concat());
    assert!(text.contains("Requests are turns of sessions"), "{text}");
}
