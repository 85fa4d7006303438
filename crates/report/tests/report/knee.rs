//! The knee as a chart's data, a table and CSV; answers as JSON.

use planner::Estimate;
use report::{knee_csv, knee_data, knee_table, plan_json, requests_csv, sweep_json};
use scenario::Scenario;
use sim_core::{Outcome, RequestRecord};

use super::sized;

#[test]
fn the_chart_gets_targets_points_and_marks() {
    let answer = sized(Estimate::exactly(22.6));
    let data = knee_data(&answer, &Scenario::preset(), vec![(1.0, 0.03)]);
    assert_eq!((data.ttft_target_s, data.tpot_target_s), (1.0, 0.04));
    assert_eq!(data.points.len(), 3);
    assert_eq!(data.points[0].ttft_p99_s.high, 1.1 * 0.09);
    assert!(!data.points[2].stable);
    assert_eq!(data.ceiling_per_s, Some(24.2));
    assert_eq!(data.planned_rate_per_s, Some(100.0 / 6.0));
    assert_eq!(data.capacity_per_s.map(|capacity| capacity.value), Some(22.6));
    assert_eq!(data.closed_form, [(1.0, 0.03)]);
}

#[test]
fn the_table_withholds_what_cannot_be_stood_behind() {
    let table = knee_table(&sized(Estimate::exactly(22.6)).knee);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1].split_whitespace().next(), Some("5"));
    assert_eq!(lines[3].matches("withheld").count(), 5);
    assert!(!lines[3].contains('2') || lines[3].trim_start().starts_with("25"), "{}", lines[3]);
    assert!(lines[4].starts_with("Withheld:"));
}

#[test]
fn csv_reads_back_to_the_same_bits() {
    let third = 1.0 / 3.0;
    let mut point = super::point(third, true, 0.1 + 0.2, 1e-7);
    point.mean_running = f64::MAX;
    let csv = knee_csv(&[point, super::point(30.0, false, 2.0, 0.04)]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, first, second) =
        (lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap());
    let cell = |row: &[&str], name: &str| -> Option<f64> {
        row[header.iter().position(|title| *title == name).unwrap()].parse().ok()
    };
    assert_eq!(cell(&first, "rate_per_s"), Some(third));
    assert_eq!(cell(&first, "ttft_p99_s"), Some(0.1 + 0.2));
    assert_eq!(cell(&first, "tpot_p99_low_s"), Some(1e-7));
    assert_eq!(cell(&first, "mean_running"), Some(f64::MAX));
    assert_eq!(cell(&second, "ttft_p99_s"), None);
    assert_eq!(cell(&second, "itl_max_s"), None);
    assert_eq!(cell(&second, "goodput_per_s"), Some(30.0));
}

#[test]
fn json_has_a_schema_units_and_no_withheld_latency() {
    let answer = sized(Estimate::exactly(22.6));
    let scenario = Scenario::preset();
    let value: serde_json::Value =
        serde_json::from_str(&plan_json(&answer, &scenario, None, None)).unwrap();
    assert_eq!(value["schema"], report::SCHEMA);
    assert_eq!(value["verdict"]["gpus"], 6);
    assert_eq!(value["scenario"]["model"], "qwen2.5-7b");
    assert_eq!(value["knee"][0]["ttft_p99_s"]["value"], 0.09);
    assert!(value["knee"][2]["ttft_p99_s"].is_null());
    let swept: serde_json::Value =
        serde_json::from_str(&sweep_json(&answer.knee, &scenario)).unwrap();
    assert_eq!(swept["points"], value["knee"]);
    // The link in the document is the scenario.
    let link = value["link"].as_str().unwrap();
    assert_eq!(Scenario::from_link(link).scenario, scenario);
}

#[test]
fn requests_keep_their_digits_and_show_what_did_not_happen() {
    let record = |first_token_s, finish_s, outcome| RequestRecord {
        arrival_s: 0.1 + 0.2,
        input_tokens: 5,
        output_tokens: 7,
        first_token_s,
        finish_s,
        outcome,
    };
    let csv = requests_csv(&[
        record(1.0 / 3.0, 2.5, Outcome::Completed),
        record(f64::NAN, f64::NAN, Outcome::Rejected),
    ]);
    assert_eq!(
        csv,
        "arrival_s,input_tokens,output_tokens,first_token_s,finish_s,outcome\n\
         0.30000000000000004,5,7,0.3333333333333333,2.5,completed\n\
         0.30000000000000004,5,7,,,rejected\n"
    );
}

/// A full engine finishes no more with further users: in the table they keep their order all the same.
#[test]
fn a_closed_loop_is_told_by_its_users() {
    let at = |users: f64, rate_per_s: f64| {
        let mut point = super::point(rate_per_s, true, 0.1, 0.02);
        point.users = Some(users);
        point
    };
    let points = [at(100.0, 8.0), at(300.0, 22.1), at(250.0, 22.2)];
    let table = knee_table(&points);
    let cells = |line: usize| {
        let line = table.lines().nth(line).expect("a line");
        line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(cells(0), ["users", "req/s"]);
    assert_eq!(cells(1), ["100", "8"]);
    assert_eq!(cells(2), ["250", "22.2"]);
    assert_eq!(cells(3), ["300", "22.1"]);
    let plain = knee_table(&[super::point(8.0, true, 0.1, 0.02)]);
    assert!(plain.trim_start().starts_with("req/s"), "{plain}");
}
