//! Traffic that is more than one kind of request at a steady rate.

use super::{headroom, json, printed};

const SMALL: [&str; 2] = ["sim.requests=500", "sim.replications=3"];

fn plan(settings: &[&str]) -> serde_json::Value {
    json(&[&["plan", "--json"], settings, &SMALL].concat())
}

#[test]
fn a_changing_rate_is_planned_for_at_its_peak() {
    let steady = plan(&["rate=60"]);
    let spike = plan(&["rate=20", "profile=spike(60s,30s,3)"]);
    // The capacity is that of a steady load, to the last bit, and so is the fleet for the peak.
    for part in ["capacity_per_s", "ceiling_per_s", "verdict", "knee", "rate_per_s"] {
        assert_eq!(spike[part], steady[part], "{part}");
    }
    let words = spike["telling"]["sentences"].to_string();
    assert!(words.contains("sized for its peak, 60") && words.contains("3 × 20"), "{words}");
    assert!(!steady["telling"]["sentences"].to_string().contains("peak"));
}

#[test]
fn a_simulated_rate_changes_over_time() {
    let text =
        printed(&["simulate", "--csv", "rate=10", "profile=step(30s,4)", "sim.requests=900"]);
    let arrivals: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().and_then(|cell| cell.parse().ok()).expect("a time"))
        .collect();
    let before = arrivals.iter().filter(|&&s| s < 30.0).count() as f64;
    let after = arrivals.iter().filter(|&&s| (30.0..45.0).contains(&s)).count() as f64;
    // Means of 300 and 600; four standard deviations.
    assert!((before - 300.0).abs() < 70.0, "{before}");
    assert!((after - 600.0).abs() < 100.0, "{after}");
}

#[test]
fn classes_are_held_to_their_own_targets() {
    // Both halves are the same requests; one half may take its time.
    let one = plan(&["rate=40", "ttft=300ms"]);
    let half = plan(&["rate=40", "ttft=300ms", "class.slow=share:50%,ttft:60s,tpot:1s"]);
    let capacity = |answer: &serde_json::Value| answer["capacity_per_s"]["value"].as_f64();
    assert!(capacity(&half) > capacity(&one), "{half} {one}");
    let words = half["telling"]["sentences"].to_string();
    assert!(words.contains("target of its class"), "{words}");
    assert!(words.contains("slow, 50") && words.contains("rest, 50"), "{words}");
    // All requests in one class is the scenario with that class’s words.
    let all = plan(&["rate=40", "ttft=300ms", "class.all=share:100,ttft:900ms,in:700"]);
    let plain = plan(&["rate=40", "ttft=900ms", "in=700"]);
    assert_eq!(all["capacity_per_s"], plain["capacity_per_s"]);
    assert_eq!(all["verdict"], plain["verdict"]);
}

#[test]
fn a_class_out_of_reach_is_named_and_its_remedies_work() {
    let settings = ["class.rag=share:30%,in:8000,ttft:50ms"];
    let output = headroom(&[&["plan", "--json"], &settings[..], &SMALL].concat()).assert().code(1);
    let answer: serde_json::Value =
        serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    assert_eq!(answer["verdict"]["class"], "rag");
    let words = answer["telling"]["sentences"].to_string();
    assert!(words.contains("In class rag"), "{words}");
    let remedies = answer["verdict"]["remedies"].as_array().expect("remedies");
    assert_eq!(remedies[0]["key"], "class.rag.ttft");
    let change: Vec<String> = remedies
        .iter()
        .map(|remedy| {
            let text = |part: &str| remedy[part].as_str().unwrap_or_default().to_owned();
            format!("{}={}", text("key"), text("value"))
        })
        .collect();
    let change: Vec<&str> = change.iter().map(String::as_str).collect();
    assert_eq!(plan(&[&settings[..], &change].concat())["verdict"]["kind"], "sized");
}

#[test]
fn a_class_too_large_for_the_memory_gets_a_change_that_works() {
    let arguments =
        ["plan", "kv.capacity_tokens=5000", "class.rag=share:30,in:8000,out:uniform(1,500)"];
    let output = headroom(&arguments).args(SMALL).assert().code(1).get_output().stdout.clone();
    let text = String::from_utf8_lossy(&output).into_owned();
    assert!(text.contains("Try class.rag.in=4500 (at most 4,500 tokens)"), "{text}");
    printed(&[&arguments[..], &["class.rag.in=4500"], &SMALL].concat());
}

#[test]
fn bursts_cost_capacity_and_short_runs_say_so() {
    let bursty = plan(&["rate=40", "arrivals=onoff(5s,5s,0.2)"]);
    let smooth = plan(&["rate=40"]);
    let capacity = |answer: &serde_json::Value| answer["capacity_per_s"]["value"].as_f64();
    assert!(capacity(&bursty) < capacity(&smooth));
    // The engine under permanent overload has no lulls.
    assert_eq!(bursty["ceiling_per_s"], smooth["ceiling_per_s"]);
    let words = bursty["telling"]["sentences"].to_string();
    assert!(words.contains("rounds of burst and lull"), "{words}");
}

#[test]
fn the_queue_model_is_planned_like_any_other() {
    let answer = plan(&[
        "rate=20",
        "step.kind=queue-model",
        "step.alpha_s=5ms",
        "step.beta_s=50us",
        "step.gamma_s=50e-9",
        "in=512",
    ]);
    assert_eq!(answer["verdict"]["kind"], "sized");
    let ledger = answer["ledger"].as_array().expect("a ledger");
    let delta = ledger.iter().find(|entry| entry["key"] == "step.delta_s").expect("δ");
    // 50 µs · 768 / 257 + 50 ns · 640.
    let each_s = 50e-6 * 768.0 / 257.0 + 50e-9 * 640.0;
    assert!((delta["value"].as_f64().expect("a number") - each_s).abs() < 1e-15);
    // Under the paged rules, whose blocks are counted one by one, too.
    let run = ["simulate", "rate=10", "step.kind=queue-model", "sched.rules=vllm-0.33"];
    printed(&[&run[..], &["sim.requests=200"]].concat());
}

#[test]
fn links_hold_classes_and_give_them_back() {
    let settings = [
        "rate=40",
        "profile=daily(0.3)",
        "class.rag=share:20%,in:4000",
        "class.chat=share:60,in:quantiles(0:5,50:300,100:2000)",
    ];
    let link = printed(&[&["link"][..], &settings].concat());
    assert_eq!(
        link,
        "#v=1&rev=1&rate=40&profile=daily(0.3)\
         &class.chat=share:60,in:quantiles(0:5,50:300,100:2000)&class.rag=share:20,in:4000\n"
    );
    assert_eq!(printed(&["link", link.trim(), "rate=40"]), link);
    let explained = printed(&["link", link.trim()]);
    assert!(explained.lines().any(|line| line.starts_with("* class.rag ")), "{explained}");
    let file = super::file("classes.json", &printed(&["link", "--json", link.trim(), "rate=40"]));
    assert_eq!(printed(&["link", &file]), link);
    let object = super::file("object.json", "{\"class.rag\": {\"share\": \"20%\", \"in\": 4000}}");
    assert_eq!(printed(&["link", &object]), "#v=1&rev=1&class.rag=share:20,in:4000\n");
}

#[test]
fn a_shared_prefix_is_computed_once_where_it_is_cached() {
    let mean = |settings: &[&str]| {
        let base = ["simulate", "--json", "rate=25", "sched.rules=vllm-0.33", "sim.requests=500"];
        json(&[&base, settings].concat())["ttft"]["mean_s"].as_f64().expect("a mean")
    };
    let plain = mean(&[]);
    assert_eq!(mean(&["prefix=800"]), plain);
    assert!(mean(&["prefix=800", "sched.prefix_caching=on"]) < 0.8 * plain);
}

/// A fleet is sized for the peak; what becomes of it under the profile itself is told beside.
#[test]
fn a_plan_tells_how_its_fleet_does_over_time() {
    let plan = ["plan", "rate=20", "profile=spike(60s,30s,3)", "sim.requests=600", "--quick"];
    let text = printed(&plan);
    let line = text.lines().find(|line| line.starts_with("Over ")).expect("a sentence");
    assert!(line.contains("of the profile, on one engine of that fleet: In windows of "), "{line}");
    assert!(line.contains(" met the target; the worst, from "), "{line}");
    let value = json(&[&plan[..], &["--json"]].concat());
    let over_time = &value["over_time"];
    // 60 s before the spike, 30 s of three times the rate, and 90 s after it, shared by the fleet.
    let gpus = value["verdict"]["gpus"].as_f64().expect("a number");
    let expected = 20.0 * (60.0 + 90.0 + 90.0) / gpus;
    assert!(expected > 600.0, "{gpus}");
    let requests = over_time["requests"].as_f64().expect("a number");
    assert!((requests - expected).abs() <= 1.0, "{over_time}");
    let by_window = &over_time["by_window"];
    let number = |key: &str| by_window[key].as_u64().expect("a number");
    assert!(number("windows") >= 2 && number("meeting") <= number("windows"), "{by_window}");
    assert!(by_window["worst"]["slo_share"].as_f64().expect("a share") <= 1.0);
    for steady in [&["plan", "rate=20"][..], &["plan", "arrivals=closed(50,5s)"]] {
        let steady = json(&[steady, &["sim.requests=400", "--quick", "--json"]].concat());
        assert_eq!(steady["over_time"], serde_json::Value::Null);
    }
}
