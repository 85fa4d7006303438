//! Files in and out: recordings, requests, charts, broken pipes.

use std::process::{Command, Stdio};

use super::{file, headroom, json, printed, recording};

/// The settings of the published recording with little memory.
const TIGHT: [&str; 2] = ["kv.capacity_tokens=40000", "sched.max_num_seqs=64"];

fn columns(csv: &str, names: [&str; 2]) -> Vec<[f64; 2]> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let places = names.map(|n| header.iter().position(|h| *h == n).expect("the column is there"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            places.map(|place| cells[place].parse().expect("a number"))
        })
        .collect()
}

#[test]
fn a_replay_writes_the_published_outcomes_by_both_engines() {
    const TIMES: [&str; 2] = ["first_token_s", "finish_s"];
    let trace = recording("kv_tight");
    let published = columns(&std::fs::read_to_string(&trace).expect("it is there"), TIMES);
    for (engine, out) in [(&[][..], "fast.csv"), (&["--oracle"][..], "slow.csv")] {
        let out = file(out, "");
        let fixed = ["simulate", "--trace", &trace, "--requests-out", &out];
        printed(&[&fixed[..], &TIGHT, engine].concat());
        let ours = columns(&std::fs::read_to_string(&out).expect("it was written"), TIMES);
        assert_eq!(ours.len(), published.len());
        for (ours, published) in ours.iter().flatten().zip(published.iter().flatten()) {
            assert!((ours - published).abs() <= 1e-9 * published, "{ours}, published {published}");
        }
    }
}

#[test]
fn columns_may_stand_anywhere_and_others_are_passed_over() {
    let plain =
        file("plain.csv", "arrival_s,input_tokens,output_tokens\n0,100,10\n0.5,0,1\n0.5,2000,20\n");
    let shuffled = file(
        "shuffled.csv",
        "\u{feff}user,output_tokens, Arrival_s ,note,input_tokens\r\na,10,0,\"x, y\",100\r\nb,1,5e-1,,0.0\r\nc,20,0.50,z,2000\r\n",
    );
    let outcome = |path: &str| printed(&["simulate", "--trace", path, "--csv"]);
    assert_eq!(outcome(&plain), outcome(&shuffled));
}

#[test]
fn what_a_run_writes_can_be_replayed_to_the_same_bits() {
    let out = file("again.csv", "");
    let scenario = ["rate=18", "sim.requests=400", "in=lognormal(600,0.9)"];
    let first = printed(&[&["simulate", "--csv"][..], &scenario].concat());
    std::fs::write(&out, &first).expect("it can be written");
    assert_eq!(printed(&["simulate", "--csv", "--trace", &out]), first);
}

#[test]
fn a_faster_replay_is_the_same_recording_compressed() {
    let trace = recording("rate1");
    let replay = ["simulate", "--trace", &trace, "--trace-speed", "20", "--exact", "--json"];
    let run = json(&replay);
    let p99_ms = run["ttft"]["p99_s"].as_f64().expect("a latency") * 1e3;
    assert_eq!(format!("{p99_ms:.0}"), "242");
    assert_eq!(run["itl"]["is_exact"], true);
    assert_eq!(run["kind"], "run");
}

#[test]
fn a_request_that_can_never_fit_is_told_apart() {
    let trace = file("large.csv", "arrival_s,input_tokens,output_tokens\n0,10,5\n1,5000,5\n");
    let arguments = ["simulate", "--trace", &trace, "kv.capacity_tokens=2000", "in=100", "out=10"];
    assert!(printed(&arguments).contains("1 turned away"));
    let csv = printed(&[&arguments[..], &["--csv"]].concat());
    assert_eq!(csv.lines().nth(2), Some("1,5000,5,,,rejected"));
}

#[test]
fn charts_are_svg_in_both_themes() {
    let (light, dark) = (file("light.svg", ""), file("dark.svg", ""));
    let small = ["sim.requests=300", "sim.replications=2"];
    printed(&[&["chart", "--out", &light][..], &small].concat());
    let answer =
        json(&[&["chart", "--out", &dark, "--theme", "dark", "--json"][..], &small].concat());
    assert_eq!(answer["kind"], "plan");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    let (light, dark) = (read(&light), read(&dark));
    assert!(light.starts_with("<svg") && light.trim_end().ends_with("</svg>"));
    assert!(dark.starts_with("<svg") && light != dark);
    assert_eq!(printed(&[&["chart"][..], &small].concat()), light);
}

/// `headroom … | head -1`: the reader goes away, and nothing is said of it.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("headroom"))
        .args(["simulate", "--csv", "rate=20", "sim.requests=20000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn files_that_cannot_be_opened_or_written_exit_with_three() {
    for arguments in [
        &["simulate", "--trace", "not_there.csv"][..],
        &["plan", "--json-file", "not_there.json"],
        &["plan", "not_there.json"],
        &["simulate", "rate=5", "sim.requests=10", "--requests-out", "no/such/folder/out.csv"],
    ] {
        let output = headroom(arguments).assert().code(3).get_output().stderr.clone();
        let text = String::from_utf8_lossy(&output);
        assert!(text.contains("no/such/folder") || text.contains("not_there"), "{text}");
    }
}
