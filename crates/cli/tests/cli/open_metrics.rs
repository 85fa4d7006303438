//! The OpenMetrics export against the format's own rules.

use std::collections::{BTreeMap, BTreeSet};

use super::{headroom, json};

/// One sample line, taken apart.
struct Line<'a> {
    name: &'a str,
    labels: BTreeMap<String, String>,
    value: f64,
    at_s: f64,
}

fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// `name{label="value",…} value timestamp`, as the format's grammar has it.
fn sample(line: &str) -> Line<'_> {
    let (name, rest) = line.split_once('{').expect("labels");
    let (inside, rest) = rest.rsplit_once("} ").expect("the end of the labels");
    let mut labels = BTreeMap::new();
    let mut left = inside;
    while !left.is_empty() {
        let (key, rest) = left.split_once("=\"").expect("a label");
        let end = rest.find('"').expect("the end of a value");
        assert!(is_name(key) && !key.contains(':'), "{line}");
        let value = rest[..end].to_owned();
        assert!(labels.insert(key.to_owned(), value).is_none(), "twice: {line}");
        left = rest[end + 1..].strip_prefix(',').unwrap_or(&rest[end + 1..]);
    }
    let (value, at_s) = rest.split_once(' ').expect("a value and a time");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    assert!(is_name(name), "{line}");
    Line { name, labels, value: number(value), at_s: number(at_s) }
}

/// What a family's samples may be called.
fn suffixes(kind: &str) -> &'static [&'static str] {
    match kind {
        "gauge" => &[""],
        "counter" => &["_total"],
        "histogram" => &["_bucket", "_count", "_sum"],
        _ => panic!("{kind}"),
    }
}

/// Check a whole exposition; the families with their kinds.
fn check(text: &str) -> BTreeMap<String, String> {
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    let (mut family, mut kind) = (String::new(), String::new());
    // Last time and value of each series, and series that are over.
    let mut last: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let mut metric = String::new();
    let mut over: BTreeSet<String> = BTreeSet::new();
    let mut below = 0.0;
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().expect("a name").to_owned();
            assert!(is_name(&family) && !kinds.contains_key(&family), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, of) = rest.split_once(' ').expect("a type");
            assert_eq!(name, family);
            of.clone_into(&mut kind);
            kinds.insert(family.clone(), kind.clone());
            continue;
        }
        let mut sample = sample(line);
        let suffix = sample.name.strip_prefix(&family).expect("a sample of its family");
        assert!(suffixes(&kind).contains(&suffix), "{line}");
        let bound = sample.labels.remove("le");
        assert_eq!(bound.is_some(), suffix == "_bucket", "{line}");
        // Series of a family do not interleave.
        let this = format!("{family}{:?}", sample.labels);
        if this != metric {
            assert!(
                over.insert(std::mem::replace(&mut metric, this.clone())),
                "interleaved: {line}"
            );
            assert!(!over.contains(&this), "interleaved: {line}");
        }
        let series = format!("{this}{suffix}{bound:?}");
        if let Some(&(at_s, value)) = last.get(&series) {
            assert!(sample.at_s > at_s, "time: {line}");
            assert!(kind == "gauge" || sample.value >= value, "a counter falls: {line}");
        }
        assert!(sample.value >= 0.0 && sample.value.is_finite(), "{line}");
        last.insert(series, (sample.at_s, sample.value));
        match suffix {
            "_bucket" => {
                assert!(sample.value >= below, "buckets are cumulative: {line}");
                below = sample.value;
            }
            "_count" => assert_eq!(sample.value, below, "+Inf is the count: {line}"),
            // The next point begins anew.
            _ => below = 0.0,
        }
    }
    kinds
}

#[test]
fn the_export_keeps_the_grammar_and_agrees_with_the_run() {
    let args = [
        "fleet",
        "rate=20",
        "profile=spike(120s,180s,4)",
        "--requests",
        "12000",
        "--target",
        "16",
        "--openmetrics",
        "fleet.om",
        "--fault",
        "replica@150",
        "--json",
    ];
    let run = json(&args);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fleet.om");
    let text = std::fs::read_to_string(path).expect("the export");
    let kinds = check(&text);
    for (name, kind) in [
        ("vllm:num_requests_running", "gauge"),
        ("vllm:num_requests_waiting", "gauge"),
        ("vllm:num_requests_waiting_by_reason", "gauge"),
        ("vllm:kv_cache_usage_perc", "gauge"),
        ("vllm:generation_tokens", "counter"),
        ("vllm:time_to_first_token_seconds", "histogram"),
        ("vllm:e2e_request_latency_seconds", "histogram"),
    ] {
        assert_eq!(kinds.get(name).map(String::as_str), Some(kind), "{name}");
    }
    // The last scrape of each replica has seen nearly all requests, and never more.
    let mut finished: BTreeMap<String, f64> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("vllm:request_success_total")) {
        let sample = sample(line);
        finished.insert(sample.labels["pod"].clone(), sample.value);
    }
    let total: f64 = finished.values().sum();
    let completed = run["completed"].as_f64().expect("a count");
    assert!(finished.len() > 2);
    assert!(total <= completed && total > 0.8 * completed, "{total} of {completed}");
    // Midnight of a Monday, and the first scrape.
    assert!(text.contains(" 1767571215.000\n"));
}

#[test]
fn an_export_of_a_comparison_is_refused() {
    headroom(&["fleet", "--compare", "hpa", "--openmetrics", "x.om"]).assert().code(2);
}
