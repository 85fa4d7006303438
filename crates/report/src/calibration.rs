//! Telling a calibration: each point before and after, the constants, and the scenario that keeps them.

use planner::{CalibrationAnswer, Measured, PointAnswer, Predicted};
use scenario::Scenario;
use serde_json::{Value, json};

use crate::{json::document, table};

/// A calibration with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationTelling<'a> {
    /// What came out.
    pub answer: &'a CalibrationAnswer,
    /// The scenario with the new constants in it.
    pub scenario: &'a Scenario,
    /// What was read, one sentence a file.
    pub read: &'a [String],
}

/// Median and greatest absolute error of a set of points, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    median: f64,
    most: f64,
}

/// All of it as text.
#[must_use]
pub fn calibration_text(telling: &CalibrationTelling<'_>) -> String {
    let CalibrationTelling { answer, scenario, read } = *telling;
    let mut parts = vec![read.join("\n") + "\n", points_table(answer), errors_table(answer)];
    parts.push(constants_table(answer));
    let settings: Vec<String> = answer
        .constants
        .iter()
        .map(|it| it.key)
        .chain(["step.calibrated_on"])
        .filter_map(|key| Some(format!("{key}={}", scenario.get(key)?)))
        .collect();
    parts.push(format!("Settings that keep it:\n  {}\n", settings.join(" ")));
    parts.push(format!("Link:\n  #{}\n", scenario.to_link()));
    parts.join("\n")
}

fn points_table(answer: &CalibrationAnswer) -> String {
    let rows: Vec<Vec<String>> = answer
        .points
        .iter()
        .map(|point| {
            let mut row = vec![point.name.clone()];
            for is_ttft in [true, false] {
                let measured_s = measured(&point.measured, is_ttft);
                row.push(measured_s.map_or_else(|| "–".to_owned(), quantity::duration));
                for predicted in [&point.before, &point.after] {
                    row.push(with_error(of(predicted, is_ttft), measured_s));
                }
            }
            row.push(if point.is_fitted { "fitted" } else { "left out" }.to_owned());
            row
        })
        .collect();
    table::aligned(&["Load", "TTFT", "before", "after", "TPOT", "before", "after", ""], &rows)
}

/// “12 ms (−3.1 %)”.
fn with_error(predicted_s: Option<f64>, measured_s: Option<f64>) -> String {
    match (predicted_s, measured_s) {
        (Some(predicted_s), Some(measured_s)) => format!(
            "{} ({})",
            quantity::duration(predicted_s),
            quantity::change(predicted_s / measured_s)
        ),
        (Some(predicted_s), None) => quantity::duration(predicted_s),
        (None, _) => "–".to_owned(),
    }
}

fn errors_table(answer: &CalibrationAnswer) -> String {
    let mut rows = Vec::new();
    for (name, is_fitted) in [("fitted points", true), ("points left out", false)] {
        let points: Vec<&PointAnswer> =
            answer.points.iter().filter(|point| point.is_fitted == is_fitted).collect();
        if points.is_empty() {
            continue;
        }
        let mut row = vec![name.to_owned(), quantity::count(points.len() as u64)];
        for is_ttft in [true, false] {
            for is_after in [false, true] {
                row.push(spread(&points, is_ttft, is_after).map_or_else(
                    || "–".to_owned(),
                    |it| format!("{} / {}", percent(it.median), percent(it.most)),
                ));
            }
        }
        rows.push(row);
    }
    table::aligned(
        &["Absolute error, median / most", "", "TTFT before", "after", "TPOT before", "after"],
        &rows,
    )
}

fn percent(value: f64) -> String {
    quantity::with_unit(&quantity::number_fixed(value, 1), "%")
}

fn constants_table(answer: &CalibrationAnswer) -> String {
    let rows: Vec<Vec<String>> = answer
        .constants
        .iter()
        .map(|it| {
            let label = scenario::field(it.key).map_or(it.key, |field| field.label);
            vec![
                it.key.to_owned(),
                quantity::editable(it.before),
                quantity::editable(it.after),
                label.to_owned(),
            ]
        })
        .collect();
    table::aligned(&["Constant", "before", "after", ""], &rows)
}

const fn measured(measured: &Measured, is_ttft: bool) -> Option<f64> {
    if is_ttft { measured.ttft_s } else { measured.tpot_s }
}

const fn of(predicted: &Predicted, is_ttft: bool) -> Option<f64> {
    if is_ttft { predicted.ttft_s } else { predicted.tpot_s }
}

fn error(point: &PointAnswer, is_ttft: bool, is_after: bool) -> Option<f64> {
    let predicted = if is_after { &point.after } else { &point.before };
    Some(100.0 * (of(predicted, is_ttft)? / measured(&point.measured, is_ttft)? - 1.0))
}

fn spread(points: &[&PointAnswer], is_ttft: bool, is_after: bool) -> Option<Spread> {
    let mut errors: Vec<f64> =
        points.iter().filter_map(|it| error(it, is_ttft, is_after)).map(f64::abs).collect();
    errors.sort_unstable_by(f64::total_cmp);
    // The lower of two in the middle.
    let median = *errors.get(errors.len().div_ceil(2).checked_sub(1)?)?;
    Some(Spread { median, most: *errors.last()? })
}

/// All of it as JSON, in SI units.
#[must_use]
pub fn calibration_json(telling: &CalibrationTelling<'_>) -> String {
    let CalibrationTelling { answer, scenario, read } = *telling;
    let errors = |is_fitted: bool| -> Value {
        let points: Vec<&PointAnswer> =
            answer.points.iter().filter(|point| point.is_fitted == is_fitted).collect();
        let pair = |is_ttft, is_after| {
            spread(&points, is_ttft, is_after)
                .map(|it| json!({ "median_percent": it.median, "most_percent": it.most }))
        };
        json!({
            "points": points.len(),
            "ttft": { "before": pair(true, false), "after": pair(true, true) },
            "tpot": { "before": pair(false, false), "after": pair(false, true) },
        })
    };
    document(&json!({
        "schema": crate::SCHEMA,
        "kind": "calibration",
        "read": read,
        "points": answer.points.iter().map(point_json).collect::<Vec<_>>(),
        "fitted": errors(true),
        "left_out": errors(false),
        "constants": answer.constants.iter().map(|it| json!({
            "key": it.key, "before": it.before, "after": it.after,
        })).collect::<Vec<_>>(),
        "scenario": serde_json::from_str::<Value>(&scenario.to_json()).unwrap_or(Value::Null),
        "link": scenario.to_link(),
    }))
}

fn point_json(point: &PointAnswer) -> Value {
    let of_time = |is_ttft: bool| {
        json!({
            "measured_s": measured(&point.measured, is_ttft),
            "is_median": if is_ttft { point.measured.ttft_is_median } else { point.measured.tpot_is_median },
            "before_s": of(&point.before, is_ttft),
            "after_s": of(&point.after, is_ttft),
            "error_before_percent": error(point, is_ttft, false),
            "error_after_percent": error(point, is_ttft, true),
        })
    };
    json!({
        "name": point.name,
        "is_fitted": point.is_fitted,
        "ttft": of_time(true),
        "tpot": of_time(false),
    })
}
