//! The knee: what a chart draws, a table for people, a table for machines.

use charts::{Interval, KneeData, KneePoint};
use planner::{Estimate, LoadPoint, PlanAnswer};
use quantity::{Unit, duration, number, share, whole};
use scenario::Scenario;
use sim_core::{float::from_count, sort};

use crate::{table, words};

/// What the knee chart draws: the measured points of an answer, and the closed form beside them
/// (request rate per second, time to first token in seconds).
#[must_use]
pub fn knee_data(
    answer: &PlanAnswer,
    scenario: &Scenario,
    closed_form: Vec<(f64, f64)>,
) -> KneeData {
    KneeData {
        points: rising(&answer.knee).map(point).collect(),
        capacity_per_s: answer.capacity_per_s.map(interval),
        planned_rate_per_s: answer.planned.map(|planned| planned.rate_per_s),
        ceiling_per_s: answer.ceiling_per_s.map(|ceiling| ceiling.value),
        ..knee_frame(scenario, closed_form)
    }
}

/// What the knee chart draws before anything is measured: the targets and the closed form.
#[must_use]
pub fn knee_frame(scenario: &Scenario, closed_form: Vec<(f64, f64)>) -> KneeData {
    KneeData {
        points: Vec::new(),
        closed_form,
        ttft_target_s: scenario.slo.ttft_s,
        tpot_target_s: scenario.slo.tpot_s,
        capacity_per_s: None,
        planned_rate_per_s: None,
        ceiling_per_s: None,
        server: words::one_server(scenario.gpus_per_engine()),
        is_estimate: false,
    }
}

/// The points whose users rise with the rate. A full engine gets no more to do from further users,
/// so that there rates differ by chance alone, and a curve would turn back.
fn rising(points: &[LoadPoint]) -> impl Iterator<Item = &LoadPoint> {
    let mut most = 0.0;
    points.iter().filter(move |point| {
        let Some(users) = point.users else { return true };
        let rises = users > most;
        most = sim_core::float::greater(most, users);
        rises
    })
}

fn point(point: &LoadPoint) -> KneePoint {
    // A percentile without enough answers is no number, which no curve goes through.
    let percentile = |percent: f64, estimate: Estimate| {
        let is_known = !point.stable || point.has_percentile(percent);
        if is_known { interval(estimate) } else { Interval::exact(f64::NAN) }
    };
    KneePoint {
        rate_per_s: point.rate_per_s,
        ttft_p50_s: percentile(50.0, point.ttft_p50_s).value,
        ttft_p99_s: percentile(99.0, point.ttft_p99_s),
        tpot_p99_s: percentile(99.0, point.tpot_p99_s),
        goodput_per_s: interval(point.goodput_per_s),
        stable: point.stable,
    }
}

fn interval(estimate: Estimate) -> Interval {
    Interval::new(estimate.value, estimate.low, estimate.high)
}

/// The points in the order of a table: of a closed loop by its users, whatever rates they came to.
#[must_use]
pub fn by_load(points: &[LoadPoint]) -> Vec<&LoadPoint> {
    let place = |(index, point): (usize, &LoadPoint)| {
        (point.users.unwrap_or(point.rate_per_s), from_count(index as u64))
    };
    let mut places: Vec<(f64, f64)> = points.iter().enumerate().map(place).collect();
    sort::by_first(&mut places);
    places.iter().filter_map(|&(_, index)| points.get(index as usize)).collect()
}

/// The points as a table for a terminal; of a closed loop with its users, who are what was asked
/// about. Latencies of unstable points are withheld, with the reason.
#[must_use]
pub fn knee_table(points: &[LoadPoint]) -> String {
    const HEADER: [&str; 10] = [
        "users",
        "req/s",
        "TTFT P50",
        "TTFT P99",
        "TPOT P50",
        "TPOT P99",
        "ITL P99",
        "tok/s",
        "goodput",
        "in target",
    ];
    let has_users = points.iter().any(|point| point.users.is_some());
    let points = by_load(points);
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s).collect();
    let rows: Vec<Vec<String>> = points
        .iter()
        .zip(quantity::distinct(&rates))
        .map(|(&point, rate)| {
            let latency = |percent: f64, estimate: &Estimate| {
                let is_known = point.has_percentile(percent);
                if is_known { banded(estimate) } else { words::WITHHELD.to_owned() }
            };
            let users = has_users.then(|| point.users.map_or_else(String::new, whole));
            let cells = vec![
                marked(point, &rate),
                latency(50.0, &point.ttft_p50_s),
                latency(99.0, &point.ttft_p99_s),
                latency(50.0, &point.tpot_p50_s),
                latency(99.0, &point.tpot_p99_s),
                latency(99.0, &point.itl_p99_s),
                whole(point.output_tokens_per_s.value),
                number(point.goodput_per_s.value),
                share(point.slo_share.value),
            ];
            users.into_iter().chain(cells).collect()
        })
        .collect();
    let mut text = table::aligned(&HEADER[usize::from(!has_users)..], &rows);
    let note = |is_due: fn(&LoadPoint) -> bool, words: &str| {
        if points.iter().any(|&point| is_due(point)) {
            [words, "\n"].concat()
        } else {
            String::new()
        }
    };
    text.push_str(&note(|point| point.stable && !point.settled, words::UNSETTLED_NOTE));
    text.push_str(&note(|point| !point.stable, words::WITHHELD_NOTE));
    let lacks_answers = |point: &LoadPoint| point.stable && !point.has_percentile(99.0);
    text.push_str(&note(lacks_answers, words::UNANSWERED_NOTE));
    text
}

/// The rate, with a mark where most runs had not settled.
fn marked(point: &LoadPoint, rate: &str) -> String {
    let mark = if point.stable && !point.settled { "*" } else { "" };
    format!("{mark}{rate}")
}

/// “181 ± 12 ms”: half the width of the 95 % interval beside the value; the value alone where there
/// is no interval but that of rounding.
fn banded(estimate: &Estimate) -> String {
    let half = 0.5 * (estimate.high - estimate.low);
    if half > 1e-9 * estimate.value {
        quantity::plus_minus(estimate.value, half, Unit::Seconds)
    } else {
        duration(estimate.value)
    }
}

/// One column of the CSV file: its name, the estimate it shows, and of a latency the share of
/// requests, per cent, without whose answers it is withheld.
type Column = (&'static str, fn(&LoadPoint) -> Estimate, Option<f64>);

const COLUMNS: [Column; 13] = [
    ("ttft_p50_s", |p| p.ttft_p50_s, Some(50.0)),
    ("ttft_p99_s", |p| p.ttft_p99_s, Some(99.0)),
    ("tpot_p50_s", |p| p.tpot_p50_s, Some(50.0)),
    ("tpot_p99_s", |p| p.tpot_p99_s, Some(99.0)),
    ("itl_p50_s", |p| p.itl_p50_s, Some(50.0)),
    ("itl_p99_s", |p| p.itl_p99_s, Some(99.0)),
    ("e2e_p50_s", |p| p.e2e_p50_s, Some(50.0)),
    ("e2e_p99_s", |p| p.e2e_p99_s, Some(99.0)),
    ("queue_wait_mean_s", |p| p.queue_wait_mean_s, Some(0.0)),
    ("goodput_per_s", |p| p.goodput_per_s, None),
    ("throughput_per_s", |p| p.throughput_per_s, None),
    ("output_tokens_per_s", |p| p.output_tokens_per_s, None),
    ("slo_share", |p| p.slo_share, None),
];

/// The points as CSV: one row per rate, each measure with the ends of its 95 % interval, SI units
/// in the header, all digits. Latencies of unstable points are empty.
#[must_use]
pub fn knee_csv(points: &[LoadPoint]) -> String {
    let mut header = vec!["rate_per_s".to_owned(), "stable".to_owned()];
    for (name, ..) in COLUMNS {
        header.extend([name.to_owned(), end_name(name, "low"), end_name(name, "high")]);
    }
    let plain = [
        "itl_max_s",
        "mean_running",
        "kv_peak_share",
        "compute_bound_share",
        "busy_share",
        "answered_share",
        "users",
    ];
    header.extend(plain.map(str::to_owned));
    header.push("settled".to_owned());
    let mut text = header.join(",") + "\n";
    for point in points {
        let mut row = vec![point.rate_per_s.to_string(), point.stable.to_string()];
        for (_, estimate, percent) in COLUMNS {
            let Estimate { value, low, high } = estimate(point);
            let is_shown = percent.is_none_or(|percent| point.has_percentile(percent));
            row.extend([value, low, high].map(|v| if is_shown { cell(v) } else { String::new() }));
        }
        row.push(if point.stable { cell(point.itl_max_s) } else { String::new() });
        row.extend(
            [
                point.mean_running,
                point.kv_peak_share,
                point.compute_bound_share,
                point.busy_share,
                point.answered_share,
                point.users.unwrap_or(f64::NAN),
            ]
            .map(cell),
        );
        row.push(point.settled.to_string());
        text.push_str(&row.join(","));
        text.push('\n');
    }
    text
}

/// “ttft_p99_s” and “low” make “ttft_p99_low_s”: the unit stays last.
fn end_name(name: &str, end: &str) -> String {
    for unit in ["_per_s", "_s"] {
        if let Some(stem) = name.strip_suffix(unit) {
            return format!("{stem}_{end}{unit}");
        }
    }
    format!("{name}_{end}")
}

/// The shortest digits that read back to the same number; empty where there is none.
fn cell(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
