//! What a run says of itself: verdict, warm-up, intervals, classes, and its course over time.

use super::{headroom, json, printed};

#[test]
fn a_steady_run_has_a_verdict_and_intervals_beside_its_values() {
    let arguments = ["simulate", "rate=15", "sim.requests=20000"];
    let text = printed(&arguments);
    assert!(text.contains("Stable: "), "{text}");
    assert!(text.contains("In steady state") && text.contains("TTFT P99"), "{text}");
    let run = json(&[&arguments[..], &["--json"]].concat());
    let steadiness = &run["steadiness"];
    assert_eq!(steadiness["verdict"], "stable");
    for name in ["TPOT P90", "ITL P99", "end to end P90"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    for name in [
        "ttft_mean_s",
        "ttft_p50_s",
        "ttft_p99_s",
        "tpot_p50_s",
        "tpot_p90_s",
        "itl_p50_s",
        "itl_p99_s",
        "e2e_p50_s",
        "e2e_p90_s",
        "slo_share",
        "throughput_per_s",
    ] {
        let interval = &steadiness["intervals"][name];
        let end = |end: &str| interval[end].as_f64().expect("a number");
        assert!(end("low") <= end("value") && end("value") <= end("high"), "{name}: {interval}");
    }
    let throughput = &steadiness["intervals"]["throughput_per_s"];
    assert!(throughput["low"].as_f64() < throughput["high"].as_f64(), "{throughput}");
    assert_eq!(run["windows"], serde_json::Value::Null);
}

/// One row for each figure that can be told; where none can, there is no table.
#[test]
fn intervals_are_printed_as_csv() {
    let arguments = ["simulate", "rate=15", "sim.requests=20000"];
    let csv = printed(&[&arguments[..], &["--intervals"]].concat());
    let run = json(&[&arguments[..], &["--json"]].concat());
    let intervals = &run["steadiness"]["intervals"];
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    assert_eq!(rows.next().expect("a header")[..4], ["figure", "value", "low", "high"]);
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 12, "{csv}");
    for row in rows {
        let number = |place: usize| row[place].parse::<f64>().expect("a number");
        let told = &intervals[row[0]];
        for (place, key) in [(1, "value"), (2, "low"), (3, "high")] {
            assert_eq!(Some(number(place)), told[key].as_f64(), "{row:?}");
        }
    }
    let over = ["simulate", "rate=40", "sim.requests=3000", "--intervals"];
    let refused = headroom(&over).assert().failure();
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("no steady state"), "{text}");
}

/// What runs on all replicas is no line before one of them; percentiles are of all requests.
#[test]
fn a_fleet_has_a_verdict_and_intervals() {
    let arguments = ["simulate", "rate=105", "--replicas", "5", "--requests", "40000"];
    let text = printed(&arguments);
    assert!(text.contains("5 replicas got the requests in turn"), "{text}");
    assert!(text.contains("Stable: ") && text.contains("In steady state"), "{text}");
    let run = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(run["steadiness"]["verdict"], "stable");
    let p99 = &run["steadiness"]["intervals"]["ttft_p99_s"];
    let end = |end: &str| p99[end].as_f64().expect("a number");
    assert!(end("low") < end("value") && end("value") < end("high"), "{p99}");
    let over = json(&["simulate", "rate=150", "--replicas", "5", "--requests", "20000", "--json"]);
    assert_eq!(over["steadiness"]["reason"], "piles_up");
}

#[test]
fn a_run_of_one_request_is_told_in_the_singular() {
    let text = printed(&["simulate", "--requests", "1", "rate=5"]);
    assert!(text.contains("1 request ran at once on average, 1 at most"), "{text}");
    assert!(!text.contains("1 requests"), "{text}");
}

#[test]
fn an_overloaded_run_says_so_and_has_no_intervals() {
    let arguments = ["simulate", "rate=40", "sim.requests=3000"];
    let text = printed(&arguments);
    assert!(text.contains("Overloaded: in the second half"), "{text}");
    assert!(text.contains("no steady state"), "{text}");
    let run = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(run["steadiness"]["reason"], "piles_up");
    assert_eq!(run["steadiness"]["intervals"], serde_json::Value::Null);
}

#[test]
fn a_daily_wave_keeps_up() {
    let wave = "profile=points(0s:0.3,2min:1,4min:0.3,every:4min)";
    let text = printed(&["simulate", "rate=20", wave, "sim.requests=6000"]);
    assert!(text.contains("It keeps up: "), "{text}");
    assert!(text.contains("the rate changes over time, so no two parts"), "{text}");
}

#[test]
fn few_requests_are_called_few() {
    let text = printed(&["simulate", "rate=15", "sim.requests=240"]);
    assert!(text.contains("P99 from 240 requests is its third-largest value"), "{text}");
    assert!(text.contains("it takes about 1,800 requests"), "{text}");
    let many = printed(&["simulate", "rate=15", "sim.requests=2000"]);
    assert!(!many.contains("largest value"), "{many}");
}

#[test]
fn each_class_has_its_own_figures() {
    let class = "class.rag=share:20%,in:4000,out:300,ttft:3s";
    let run = ["simulate", "rate=8", class, "sim.requests=3000"];
    let text = printed(&run);
    let row = text.lines().find(|line| line.trim_start().starts_with("rag ")).expect("a row");
    assert!(row.contains('%'), "{row}");
    let value = json(&[&run[..], &["--json"]].concat());
    let classes = value["classes"].as_array().expect("a list");
    let sum = |name: &str| classes.iter().filter_map(|class| class[name].as_u64()).sum::<u64>();
    assert_eq!((classes.len(), sum("offered"), sum("completed")), (2, 3000, 3000));
    assert_eq!(Some(sum("slo_met")), value["slo_met"].as_u64());
    let rag = classes.iter().find(|class| class["name"] == "rag").expect("the class");
    // A fifth, within four standard deviations of 22.
    assert!(rag["offered"].as_u64().is_some_and(|n| (512..=688).contains(&n)), "{rag}");
    assert_eq!(rag["ttft_target_s"], 3.0);
    let plan = json(&["plan", "rate=8", class, "sim.requests=500", "sim.replications=2", "--json"]);
    assert_eq!(plan["classes"].as_array().map(Vec::len), Some(2));
    assert!(plan["telling"]["sentences"].to_string().contains("At the planned load: "));
}

/// The windows add up to the run.
#[test]
fn the_run_over_time_is_printed_as_csv_or_json() {
    let arguments = ["simulate", "rate=12", "sim.requests=900", "--windows"];
    let text = printed(&arguments);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = |name| header.iter().position(|title| *title == name).expect("a column");
    let (arrivals, completed) = (place("arrivals"), place("completed"));
    let rows: Vec<_> = lines.collect();
    let sum = |column: usize| -> u64 {
        rows.iter().map(|row| row[column].parse::<u64>().expect("a count")).sum()
    };
    assert!(rows.len() >= 80);
    assert_eq!((sum(arrivals), sum(completed)), (900, 900));
    let run = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(run["windows"].as_array().map(Vec::len), Some(rows.len()));
    headroom(&["simulate", "--windows", "--csv"]).assert().failure();
}

/// The knee's table has the half-widths of its intervals.
#[test]
fn the_knee_has_bands() {
    let sweep = ["sweep", "--rates", "5,15", "sim.requests=500"];
    let text = printed(&[&sweep[..], &["sim.replications=3"]].concat());
    let row = text.lines().nth(2).expect("a row");
    assert!(row.contains('±'), "{row}");
}

/// Twenty seconds of thrice the rate in two minutes.
#[test]
fn the_worst_window_is_told_beside_the_whole() {
    let run =
        ["simulate", "rate=12", "profile=spike(60s,20s,4)", "sim.requests=3000", "ttft=500ms"];
    let text = printed(&run);
    let line = text.lines().find(|line| line.starts_with("In windows of ")).expect("a line");
    assert!(line.contains(" met the target; the worst, from "), "{line}");
    let value = json(&[&run[..], &["--json"]].concat());
    let by_window = &value["steadiness"]["by_window"];
    let number = |key: &str| by_window[key].as_u64().expect("a number");
    assert!(number("meeting") < number("windows"), "{by_window}");
    let worst = &by_window["worst"];
    let start_s = worst["start_s"].as_f64().expect("a number");
    assert!((40.0..100.0).contains(&start_s), "{worst}");
    assert!(worst["slo_share"].as_f64() < value["slo_share"].as_f64(), "{worst}");
    let csv = printed(&[&run[..], &["--windows"]].concat());
    assert!(csv.lines().next().expect("a header").ends_with(",slo_share"), "{csv}");
    let few = json(&["simulate", "rate=12", "sim.requests=100", "--json"]);
    assert_eq!(few["steadiness"]["by_window"], serde_json::Value::Null);
}
