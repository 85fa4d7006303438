//! A fleet over time.

use super::{headroom, json, printed};

/// A burst that one replica cannot carry.
const BURST: [&str; 5] = ["fleet", "rate=20", "profile=spike(120s,180s,4)", "--requests", "16000"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&BURST[..], more].concat()
}

#[test]
fn faults_that_change_nothing_are_told() {
    let fleet = ["fleet", "rate=10", "--requests", "50", "--policy", "keda"];
    let notes = |more: &[&str]| {
        let output = headroom(&[&fleet[..], more].concat()).assert().success();
        String::from_utf8_lossy(&output.get_output().stderr).into_owned()
    };
    let late = notes(&["--fault", "node@99999"]);
    assert!(late.contains("--fault node@99999 has no effect: the last request was done"), "{late}");
    let early = notes(&["--min", "0", "--fault", "replica@0", "--start", "5"]);
    assert!(early.contains("--fault replica@0 has no effect: no replica was ready"), "{early}");
    assert_eq!(notes(&["--fault", "replica@1"]), "");
}

#[test]
fn an_autoscaler_meets_a_burst_late() {
    let of = |start| json(&with(&["--json", "--target", "16", "--start", start]));
    let (quick, slow) = (of("10"), of("150"));
    for run in [&quick, &slow] {
        assert_eq!(run["offered"], 16_000);
        assert_eq!(run["completed"], 16_000);
        assert!(run["peak_ready"].as_u64() > Some(2), "{run}");
    }
    let share = |run: &serde_json::Value| run["slo_share"].as_f64().expect("a share");
    assert!(share(&quick) > share(&slow), "{} {}", share(&quick), share(&slow));
}

#[test]
fn text_csv_and_json_tell_the_same_run() {
    let fixed = with(&["--policy", "fixed", "--min", "3"]);
    let run = json(&[&fixed[..], &["--json"]].concat());
    let windows = run["windows"].as_array().expect("windows");
    let csv = printed(&[&fixed[..], &["--csv"]].concat());
    assert_eq!(csv.lines().count(), windows.len() + 1);
    let served: u64 = windows.iter().filter_map(|window| window["served"].as_u64()).sum();
    assert_eq!(served, 16_000);
    let text = printed(&fixed);
    assert!(text.starts_with("16,000 requests in "), "{text}");
    assert!(text.contains("Replicas: 3 ready at most, 3 started in all"), "{text}");
    assert_eq!(text, printed(&fixed), "the same again");
}

#[test]
fn a_lost_node_is_replaced_and_its_requests_begin_again() {
    let run = json(&with(&[
        "--policy",
        "fixed",
        "--min",
        "3",
        "--fault",
        "node@200",
        "--provision",
        "100",
        "--json",
    ]));
    assert_eq!((&run["completed"], &run["replicas_started"]), (&16_000.into(), &4.into()));
    assert_eq!(run["nodes_came"], 0, "a free one was there");
    assert!(run["restarted_requests"].as_u64() > Some(0));
    let tight = json(&with(&[
        "--policy",
        "fixed",
        "--min",
        "3",
        "--max",
        "3",
        "--fault",
        "node@200",
        "--provision",
        "100",
        "--json",
    ]));
    assert_eq!(tight["nodes_came"], 1);
}

#[test]
fn every_policy_and_router_runs() {
    let small = ["fleet", "rate=15", "--requests", "1500", "--json"];
    for policy in ["fixed", "hpa", "keda", "knative", "wva-v1", "wva-v2", "trend"] {
        let run = json(&[&small[..], &["--policy", policy]].concat());
        assert_eq!(run["completed"], 1500, "{policy}");
    }
    for router in
        ["shared-queue", "round-robin", "random", "least-in-flight", "power-of-two", "least-kv"]
    {
        let run =
            json(&[&small[..], &["--policy", "fixed", "--min", "2", "--router", router]].concat());
        assert_eq!(run["completed"], 1500, "{router}");
    }
}

#[test]
fn measured_starts_are_listed_and_used() {
    let list = printed(&["fleet", "--cold-start", "list"]);
    assert!(list.contains("qwen3-32b-h100-cold\n"), "{list}");
    let run =
        json(&with(&["--cold-start", "gpt-oss-120b-h200-tp2", "--start-cv", "0.3", "--json"]));
    assert_eq!(run["completed"], 16_000);
}

#[test]
fn what_cannot_be_used_is_named_with_a_way_out() {
    for (more, why) in [
        (&["--cold-start", "nothing"][..], "there is no such start-up"),
        (&["--fault", "fire@3"], "replica@S, node@S or metrics@S"),
        (&["--max", "0"], "at least --min"),
        (&["--floor", "6 at 8"], "“from” is missing"),
        (&["--begin", "noon"], "'mon 07:30'"),
        (&["--window", "0"], "a time of 0.1 to"),
        (&["sched.rules=vllm-0.33"], "sched.rules=reference"),
        (&["overload.queue_limit=5"], "no queue limits"),
    ] {
        let output = headroom(&with(more)).assert().code(2).get_output().stderr.clone();
        let message = String::from_utf8_lossy(&output);
        assert!(message.contains(why), "{more:?}: {message}");
    }
}
