//! Answers: their words, their numbers, their independence of threads.

use super::{headroom, json, printed, recording};

/// A scenario that answers within a moment.
const SMALL: [&str; 2] = ["sim.requests=500", "sim.replications=3"];

/// A change that works says what it costs, and the one that costs a hundred times as much comes last.
#[test]
fn changes_say_how_many_gpus_they_lead_to() {
    let told = |arguments: &[&str]| {
        let output = headroom(arguments).assert().code(1).get_output().stdout.clone();
        String::from_utf8(output).expect("it prints UTF-8")
    };
    let text = told(&["plan", "in=131072", "kv.capacity_tokens=1000"]);
    let changes: Vec<&str> = text.lines().filter(|line| line.starts_with("Try ")).collect();
    assert!(!changes.is_empty(), "{text}");
    assert!(changes.iter().all(|line| line.contains("hold the target.")), "{text}");
    let text = told(&["plan", "class.big=share:10,in:4000", "kv.capacity_tokens=1500"]);
    assert!(text.contains("one request of class big needs 4,256"), "{text}");
    let changes: Vec<&str> = text.lines().filter(|line| line.starts_with("Try ")).collect();
    assert!(changes[0].starts_with("Try kv.capacity_tokens=auto"), "{text}");
    assert!(
        changes[0].ends_with("(as many tokens as fit): then 8–9 GPUs hold the target."),
        "{text}"
    );
    assert!(changes[1].starts_with("Try class.big.in=1244"), "{text}");
    // A target just above what an idle engine takes needs engines that are nearly idle.
    let text = told(&["plan", "gpu=l4", "in=100000"]);
    let gpus = |line: &str| -> u64 {
        let (_, after) = line.rsplit_once("then ").expect("a number of GPUs");
        let most = after.split(' ').next().and_then(|range| range.split('–').next_back());
        most.expect("a number").replace(',', "").parse().expect("a number")
    };
    let changes: Vec<u64> =
        text.lines().filter(|line| line.starts_with("Try ")).map(gpus).collect();
    let least = *changes.iter().min().expect("changes");
    assert!(changes[0] < 10 * least, "{text}");
    assert!(text.contains("times that"), "{text}");
}

/// Whole batches at their defaults hold a target of a second only on engines that are nearly idle.
#[test]
fn whole_batches_say_why_they_need_so_many() {
    let text = printed(&["plan", "--quick", "rate=40", "sched.rules=static"]);
    assert!(text.contains("Batches are served whole"), "{text}");
    assert!(text.contains("Even a request alone takes 1.32\u{202f}s"), "{text}");
    let text = printed(&["plan", "--quick", "rate=40", "sched.rules=dynamic(20ms)"]);
    assert!(
        text.contains("A batch waits for 256 requests or until the first has waited 20"),
        "{text}"
    );
    let text = printed(&["plan", "--quick", "rate=40"]);
    assert!(!text.contains("served whole"), "{text}");
}

#[test]
fn the_published_recording_needs_five_gpus_and_six_with_headroom() {
    let trace = recording("rate1");
    let arguments = ["plan", "--trace", &trace, "--trace-rate", "1", "--json"];
    let answer = json(&arguments);
    assert_eq!(answer["schema"], 1);
    assert_eq!(answer["verdict"]["gpus_without_headroom"], 5);
    assert_eq!(answer["verdict"]["gpus"], 6);
    let capacity = answer["capacity_per_s"]["value"].as_f64().expect("a capacity");
    assert_eq!(format!("{capacity:.1}"), "22.6");
}

#[test]
fn a_plan_is_told_in_words() {
    let trace = recording("rate1");
    let text = printed(&["plan", "--trace", &trace, "--trace-rate", "1"]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("6 H100 GPUs for 100\u{202f}req/s"));
    assert_eq!(lines.next(), Some("with 25\u{202f}% headroom; 5 would do without"));
    assert!(text.contains("One GPU sustains about 22.6\u{202f}req/s at this target"), "{text}");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let answer = |threads| {
        let fixed = ["plan", "--json", "rate=60", "in=lognormal(700,0.8)", "--threads", threads];
        printed(&[&fixed[..], &SMALL].concat())
    };
    let alone = answer("1");
    for threads in ["2", "3", "16"] {
        assert_eq!(answer(threads), alone, "{threads} threads");
    }
}

#[test]
fn replicas_share_the_requests_in_turn_on_any_number_of_threads() {
    let day = |more: &[&str]| {
        let fixed =
            ["simulate", "rate=40", "out=lognormal(200,0.7)", "--requests", "2999", "--json"];
        printed(&[&fixed[..], more].concat())
    };
    let alone = day(&["--replicas", "2", "--threads", "1"]);
    assert_eq!(day(&["--replicas", "2", "--threads", "3"]), alone);
    let run: serde_json::Value = serde_json::from_str(&alone).expect("JSON");
    assert_eq!((&run["replicas"], &run["offered"]), (&2.into(), &2999.into()));
    assert_eq!(run["completed"], 2999);
    assert_eq!(run["ttft"]["count"], 2999);
    // Two replicas serve what one cannot.
    let one: serde_json::Value = serde_json::from_str(&day(&[])).expect("JSON");
    assert!(one["slo_share"].as_f64() < run["slo_share"].as_f64());
    assert!(one["settled_throughput_per_s"].is_f64());
    // In order of arrival, whoever served.
    let rows = printed(&["simulate", "rate=40", "--requests", "101", "--replicas", "5", "--csv"]);
    let arrivals: Vec<f64> =
        rows.lines().skip(1).filter_map(|row| row.split(',').next()?.parse().ok()).collect();
    assert_eq!(arrivals.len(), 101);
    assert!(arrivals.is_sorted());
}

#[test]
fn intervals_come_from_replications_and_none_from_one() {
    let answer = json(&[&["plan", "--json"][..], &SMALL].concat());
    let capacity = &answer["capacity_per_s"];
    assert!(capacity["low"].as_f64() < capacity["high"].as_f64(), "{capacity}");
    let quick = json(&[&["plan", "--json", "--quick"][..], &SMALL].concat());
    let capacity = &quick["capacity_per_s"];
    assert_eq!(capacity["low"], capacity["high"]);
}

#[test]
fn a_plan_lists_its_sources() {
    let text = printed(&[&["plan", "--sources", "--quick"][..], &SMALL].concat());
    assert!(text.contains("kv.capacity_tokens"), "{text}");
    assert!(text.contains("Published"), "{text}");
}

#[test]
fn latencies_of_unstable_rates_are_withheld() {
    let rates = ["sweep", "--rates", "10,60", "sim.requests=300", "sim.replications=2"];
    let table = printed(&rates);
    assert!(table.contains("withheld"), "{table}");
    let points = json(&[&rates[..], &["--json"]].concat());
    assert!(points["points"][0]["ttft_p99_s"]["value"].as_f64().is_some());
    assert!(points["points"][1]["ttft_p99_s"].is_null());
    assert_eq!(points["points"][1]["stable"], false);
    let csv = printed(&[&rates[..], &["--csv"]].concat());
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    assert_eq!(
        header[..5],
        ["rate_per_s", "stable", "ttft_p50_s", "ttft_p50_low_s", "ttft_p50_high_s"]
    );
    for line in csv.lines() {
        assert_eq!(line.split(',').count(), header.len(), "{line}");
    }
}

#[test]
fn a_sweep_of_the_published_recording_has_the_published_figures() {
    let trace = recording("rate1");
    let swept =
        json(&["sweep", "--trace", &trace, "--trace-rate", "1", "--rates", "5,20", "--json"]);
    let milliseconds = |point: usize, name: &str| {
        let seconds = swept["points"][point][name]["value"].as_f64().expect("a latency");
        format!("{:.0}", seconds * 1e3)
    };
    assert_eq!(milliseconds(0, "ttft_p99_s"), "90");
    assert_eq!(milliseconds(1, "ttft_p50_s"), "65");
    assert_eq!(milliseconds(1, "ttft_p99_s"), "242");
}

#[test]
fn a_sweep_without_rates_shows_the_knee_of_the_plan() {
    let swept = json(&[&["sweep", "--json"][..], &SMALL].concat());
    let plan = json(&[&["plan", "--json"][..], &SMALL].concat());
    assert_eq!(swept["points"], plan["knee"]);
}

#[test]
fn what_cannot_be_met_says_so_and_exits_with_one() {
    for (arguments, words) in [
        (&["plan", "ttft=5ms"][..], "Out of reach"),
        (&["plan", "model=llama-3.1-70b"], "Does not fit"),
        (&["plan", "kv.capacity_tokens=1000"], "No room"),
        (&["simulate", "kv.capacity_tokens=1000"], "No room"),
        (&["sweep", "--rates", "1", "model=llama-3.1-70b"], "Does not fit"),
    ] {
        let output = headroom(arguments).args(SMALL).assert().code(1).get_output().stdout.clone();
        let text = String::from_utf8_lossy(&output);
        assert!(text.starts_with(words), "{arguments:?}: {text}");
        assert!(text.contains("Try "), "{arguments:?} offers no remedy: {text}");
    }
    let chart = headroom(&["chart", "--out", "none.svg", "model=llama-3.1-70b"]).assert().code(1);
    assert!(chart.get_output().stdout.is_empty());
}

#[test]
fn every_number_of_a_scenario_can_be_set() {
    let affine = json(&[
        "simulate",
        "--json",
        "rate=3",
        "sim.requests=200",
        "step.kind=affine",
        "step.fixed_s=0.04",
        "step.per_item_s=0.005",
        "sched.max_num_seqs=1",
        "in=0",
        "out=1",
    ]);
    // A lone request of one token takes one step of 45 ms.
    let least = affine["ttft"]["min_s"].as_f64().expect("a latency");
    assert!((least - 0.045).abs() < 1e-12, "{least}");
    assert_eq!(affine["peak_running"], 1);
}

#[test]
fn a_rate_is_shared_by_the_gpus() {
    let shared = printed(&["simulate", "rate=60", "--gpus", "3", "sim.requests=300", "--csv"]);
    let alone = printed(&["simulate", "rate=20", "sim.requests=300", "--csv"]);
    assert_eq!(shared, alone);
}

#[test]
fn each_command_explains_itself() {
    for command in ["plan", "sweep", "simulate", "chart", "link"] {
        let help = printed(&[command, "--help"]);
        for part in ["Examples:", "Exit codes:", "sched.max_num_batched_tokens", "class.NAME"] {
            assert!(help.contains(part), "{command} --help has no {part}");
        }
    }
    let help = printed(&["catalog", "--help"]);
    assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{help}");
    let (short, long) = (printed(&["-h"]), printed(&["--help"]));
    assert!(long.contains("Exit codes:") && long.lines().count() > short.lines().count() + 8);
    // A line for each command, and little else.
    let commands = short.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands = commands.take_while(|line| !line.is_empty()).count();
    assert!(commands >= 20 && short.lines().count() <= commands + 12, "{short}");
    assert!(!short.contains("Exit codes:"), "{short}");
    assert!(printed(&["--version"]).starts_with("headroom "));
}
