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
    for policy in
        ["fixed", "hpa", "keda", "knative", "wva-v1", "wva-v2", "wva-queueing", "trend", "seasonal"]
    {
        let run = json(&[&small[..], &["--policy", policy]].concat());
        assert_eq!(run["completed"], 1500, "{policy}");
    }
    for router in [
        "shared-queue",
        "round-robin",
        "random",
        "least-in-flight",
        "power-of-two",
        "least-kv",
        "prefix-affinity",
    ] {
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
fn faults_are_told_with_the_time_that_they_are_felt() {
    let args = with(&[
        "--policy",
        "fixed",
        "--min",
        "6",
        "--fault",
        "surge:2.5:20@150",
        "--window",
        "15",
        "--fault",
        "stall:1@5000",
    ]);
    let text = printed(&args);
    assert!(text.contains("everything stalled: that was after the end"), "{text}");
    assert!(text.contains("traffic surged: the target was held again after"), "{text}");
    let run = json(&[&args[..], &["--json"]].concat());
    let fault = &run["faults"][0];
    assert_eq!((&fault["at_s"], &fault["lasts_s"]), (&150.0.into(), &20.0.into()));
    assert!(fault["recovery_s"].as_f64() > Some(15.0), "{fault}");
}

#[test]
fn a_cached_beginning_is_found_where_it_was_used() {
    let of = |router| {
        let run = json(&[
            "fleet",
            "rate=30",
            "in=1000",
            "prefix=800",
            "class.other=share:50%,prefix:700",
            "--requests",
            "4000",
            "--policy",
            "fixed",
            "--min",
            "4",
            "--prefix-cache",
            "1",
            "--router",
            router,
            "--json",
        ]);
        run["cached_tokens"].as_u64().expect("a count")
    };
    assert!(of("prefix-affinity") > of("least-in-flight"));
}

#[test]
fn an_adapter_is_no_matter_of_replicas() {
    let of = |signal| {
        json(&[
            "fleet",
            "rate=20",
            "class.lora=share:40%",
            "--requests",
            "8000",
            "--policy",
            "keda",
            "--signal",
            signal,
            "--target",
            "4",
            "--min",
            "2",
            "--max",
            "20",
            "--defer",
            "lora:4",
            "--json",
        ])
    };
    let (all, capacity) = (of("queue"), of("capacity-queue"));
    assert!(all["peak_ready"].as_u64() > capacity["peak_ready"].as_u64());
    assert_eq!(capacity["peak_ready"], 2);
}

#[test]
fn policies_stand_side_by_side_with_their_front() {
    let args = with(&["--compare", "hpa:target=8/24", "keda:min=0", "fixed:min=2", "fixed:min=8"]);
    let priced = [&args[..], &["--price", "3", "--json"]].concat();
    let told = json(&priced);
    let policies = told["policies"].as_array().expect("policies");
    let names: Vec<&str> = policies.iter().filter_map(|each| each["policy"].as_str()).collect();
    assert_eq!(
        names,
        ["hpa:target=8", "hpa:target=24", "keda:min=0", "fixed:min=2", "fixed:min=8"]
    );
    let number = |each: &serde_json::Value, key: &str| each[key].as_f64().expect("a number");
    for each in policies {
        let beats = |other: &&serde_json::Value| {
            number(other, "gpu_hours") <= number(each, "gpu_hours")
                && number(other, "slo_share") >= number(each, "slo_share")
                && (number(other, "gpu_hours"), number(other, "slo_share"))
                    != (number(each, "gpu_hours"), number(each, "slo_share"))
        };
        let is_beaten = policies.iter().any(|other| beats(&other));
        assert_eq!(each["is_on_front"], !is_beaten, "{each}");
        assert!(number(each, "wasted_gpu_hours") < number(each, "gpu_hours"));
        let cost = 3.0 * number(each, "node_gpu_hours");
        assert!((number(each, "cost") - cost).abs() < 1e-9 * cost);
    }
    // Alone it is what it is beside others.
    let alone = json(&with(&["--policy", "hpa", "--target", "8", "--json"]));
    assert_eq!(alone["slo_share"], policies[0]["slo_share"]);
    let cheapest = policies.iter().filter(|each| each["is_cheapest"] == true);
    assert_eq!(cheapest.count(), 1);
    let csv = printed(&[&args[..], &["--csv"]].concat());
    assert_eq!(csv.lines().count(), 6);
    let text = printed(&args);
    assert!(text.contains("holds the target for the fewest GPU-hours"), "{text}");
    assert_eq!(text, printed(&[&args[..], &["--threads", "1"]].concat()));
}

#[test]
fn a_run_is_drawn() {
    let args = with(&["--target", "16", "--fault", "replica@150", "--svg", "fleet.svg"]);
    printed(&args);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fleet.svg");
    let svg = std::fs::read_to_string(&path).expect("the drawing");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for word in ["Arrivals", "Replicas", "Queue", "KV cache", "P99 TTFT", "a replica was lost"] {
        assert!(svg.contains(&format!("{word}\n</text>")), "{word}");
    }
    let dark = with(&["--target", "16", "--svg", "dark.svg", "--theme", "dark"]);
    printed(&dark);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("dark.svg");
    assert_ne!(std::fs::read_to_string(path).expect("the drawing"), svg);
    headroom(&with(&["--svg", "fleet.png"])).assert().code(2);
}

#[test]
fn keys_that_the_analyzer_does_not_read_are_named() {
    let noted = |policy| {
        let keys = ["--policy", policy, "--wva", "kvSpareTrigger=0.3", "--json"];
        let output = headroom(&with(&keys)).assert().success().get_output().stderr.clone();
        String::from_utf8_lossy(&output).contains("kvSpareTrigger has no effect")
    };
    assert!(noted("wva-v2"));
    assert!(!noted("wva-v1"));
    assert!(noted("hpa"));
}

#[test]
fn what_cannot_be_used_is_named_with_a_way_out() {
    for (more, why) in [
        (&["--cold-start", "nothing"][..], "there is no such start-up"),
        (&["--fault", "fire@3"], "surge:TIMES:SECONDS"),
        (&["--fault", "stall:x@3"], "stall:SECONDS"),
        (&["--fault", "surge:0.5:60@3"], "fault.factor is 0.5"),
        (&["--compare", "hpb"], "hpb is none of fixed, hpa"),
        (&["--compare", "hpa:aim=3"], "there is no setting aim"),
        (&["--compare", "hpa:target=x"], "target: it must be a number"),
        (&["--defer", "lora:8"], "class.lora=share:20%"),
        (&["--wva", "kvSpare=0.1"], "is no key"),
        (&["--wva", "kvCacheThreshold"], "KEY=NUMBER"),
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
