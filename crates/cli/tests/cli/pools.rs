//! Speculative decoding, and prefill and decode pools.

use super::{headroom, json, printed};

const POOLS: [&str; 2] = ["disagg.prefill=1", "disagg.decode=2"];
const LIGHT: [&str; 4] = ["rate=4", "in=256", "out=64", "sim.requests=300"];

fn simulated(settings: &[&str]) -> serde_json::Value {
    json(&[&["simulate", "--json"][..], &LIGHT[..], settings].concat())
}

/// Under overload a latency only tells how long one watched: the comparison has none, as on the page.
#[test]
fn overloaded_pools_have_no_latencies() {
    let text = printed(&["simulate", "rate=100", "disagg.prefill=2", "disagg.decode=2"]);
    assert!(text.contains("The pools are overloaded"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("TTFT P99")).expect("a row");
    assert!(row.contains("withheld") && row.contains("ms"), "{text}");
    assert!(!text.contains("queue wait"), "{text}");
}

#[test]
fn drafts_shorten_the_gaps_of_a_lightly_loaded_engine() {
    let tpot = |settings| simulated(settings)["tpot"]["p50_s"].as_f64().expect("a time");
    let gain = tpot(&[]) / tpot(&["spec.tokens=4", "spec.acceptance=80%"]);
    assert!((1.8..3.4).contains(&gain), "{gain}");
    // One token a step is what there is without drafts, too.
    assert_eq!(tpot(&["spec.tokens=0", "spec.acceptance=80%"]), tpot(&[]));
    let fast = simulated(&["spec.tokens=4"]);
    let slow = simulated(&["spec.tokens=4", "--oracle"]);
    assert_eq!(fast["steps"], slow["steps"]);
}

#[test]
fn pools_are_told_beside_the_same_replicas_together() {
    let run = simulated(&POOLS);
    assert_eq!((&run["replicas"], &run["completed"]), (&3.into(), &300.into()));
    let pools = &run["pools"];
    assert_eq!(pools["transfers"]["times"]["count"], 300);
    // 256 tokens of 57,344 bytes.
    assert_eq!(pools["transfers"]["bytes"], 300.0 * 256.0 * 57_344.0);
    assert_eq!(pools["together"]["replicas"], 3);
    let together = simulated(&["--replicas", "3"]);
    for part in ["ttft", "tpot", "itl", "slo_share"] {
        assert_eq!(pools["together"][part], together[part], "{part}");
    }
    let text = printed(&[&["simulate"][..], &LIGHT[..], &POOLS[..]].concat());
    assert!(text.contains("1 prefill replica was busy for"), "{text}");
    assert!(text.contains("300 KV caches of 14\u{202f}MiB on average"), "{text}");
    assert!(text.contains("in pools  3 replicas doing both"), "{text}");
    let pools = [&["simulate", "rate=40", "sim.requests=6000"][..], &POOLS[..]].concat();
    let overloaded = printed(&pools);
    assert!(overloaded.contains("Overloaded: "), "{overloaded}");
    let light =
        ["simulate", "rate=20", "sim.requests=10000", "disagg.prefill=2", "disagg.decode=2"];
    let text = printed(&light);
    assert!(text.contains("Stable: ") && text.contains("In steady state"), "{text}");
}

/// A plan has no pools, whether one is given or both; a single run has them where both are.
#[test]
fn what_plan_and_simulate_do_with_one_pool_is_said() {
    let notes = |arguments: &[&str]| {
        let output = headroom(arguments).assert().success().get_output().stderr.clone();
        String::from_utf8(output).expect("it prints UTF-8")
    };
    let few = ["rate=4", "sim.requests=100"];
    let of_plan = notes(&[&["plan", "--quick", "disagg.prefill=2"][..], &few].concat());
    assert!(of_plan.contains("the plan itself is about replicas that do both"), "{of_plan}");
    assert!(!of_plan.contains("set disagg"), "{of_plan}");
    let of_run = notes(&[&["simulate", "disagg.prefill=2"][..], &few].concat());
    assert!(of_run.contains("set disagg.decode=1 to use it"), "{of_run}");
    assert!(!of_run.contains("the plan itself"), "{of_run}");
    assert_eq!(notes(&[&["simulate"][..], &POOLS, &few].concat()), "");
}

#[test]
fn what_pools_cannot_do_is_refused_with_a_way_out() {
    for (settings, words) in [
        ("step.kind=affine", "step.kind=roofline"),
        ("sched.rules=static", "sched.rules=reference"),
        ("--replicas=2", "leave --gpus and --replicas out"),
        ("overload.queue_limit=5", "clients that react"),
    ] {
        let arguments = ["simulate", "disagg.prefill=1", "disagg.decode=1", settings];
        let output = headroom(&arguments).assert().code(2).get_output().stderr.clone();
        let error = String::from_utf8(output).expect("it prints UTF-8");
        assert!(error.contains(words), "{settings}: {error}");
    }
}
