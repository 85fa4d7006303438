//! How we know, as text for terminals and as JSON.

use planner::{Compared, ProofAnswer, State, Truth, TruthKind};
use serde_json::{Value, json};

use crate::{
    assumptions::{Assumption, assumption_columns},
    json::{SCHEMA, document},
    know::{
        cell_values, compared, engines, figure_name, know_extent, know_headline, listed,
        plateau_deviation, plateau_name, queue_name, setting_name, truth_figures, truth_title,
    },
    table,
};

/// Truths, comparisons and assumptions under one another.
#[must_use]
pub fn know_text(answer: &ProofAnswer, assumptions: &[Assumption]) -> String {
    let verdict = format!(
        "{}. {}.\nFingerprint of all runs: {:016x}\n",
        know_headline(answer),
        know_extent(answer),
        answer.fingerprint
    );
    [
        verdict,
        truths(answer),
        queues(answer),
        plateaus(answer),
        published(answer),
        assumed(assumptions),
    ]
    .join("\n")
}

fn mark(good: bool) -> &'static str {
    if good { "yes" } else { "NO" }
}

fn truths(answer: &ProofAnswer) -> String {
    let rows: Vec<[String; 3]> = listed(answer).map(truth_row).collect();
    let mut text = table::ragged(&["", "truth", "as found"], &rows);
    // A page would have to load the obvious engines for this alone.
    if let Some(truth) = engines(answer) {
        let [state, title, figures] = truth_row(truth);
        text.push_str(&format!("On the command line only: {title} {state}; {figures}.\n"));
    }
    text
}

fn truth_row(truth: &Truth) -> [String; 3] {
    let state = match truth.state {
        State::Open => "open",
        State::Holds => "holds",
        State::Fails => "FAILS",
    };
    let figures = match &truth.problem {
        Some(problem) => problem.clone(),
        None => truth_figures(truth),
    };
    [state.to_owned(), truth_title(truth.kind).to_owned(), figures]
}

fn queues(answer: &ProofAnswer) -> String {
    let rows: Vec<Vec<String>> = answer
        .queues
        .iter()
        .map(|point| {
            let name = queue_name(point.queue).to_owned();
            let of = |c: &Compared| {
                let mark = if c.is_inside() { "" } else { " *" };
                [quantity::number(c.theory), compared(c) + mark]
            };
            let numbers = [&point.mean, &point.p90, &point.p99].map(of);
            let load = quantity::number(point.load);
            [name, load].into_iter().chain(numbers.into_iter().flatten()).collect()
        })
        .collect();
    let header = ["queue", "load", "mean", "simulated", "P90", "simulated", "P99", "simulated"];
    let note =
        "Time in the system, in mean service times, with 99 % intervals; * theory outside.\n";
    table::aligned(&header, &rows) + note
}

fn plateaus(answer: &ProofAnswer) -> String {
    let rows: Vec<[String; 5]> = answer
        .plateaus
        .iter()
        .map(|plateau| {
            [
                plateau_name(plateau.kind),
                quantity::rate(plateau.theory_per_s),
                quantity::rate(plateau.simulated_per_s),
                plateau_deviation(plateau),
                mark(plateau.fits()).to_owned(),
            ]
        })
        .collect();
    table::ragged(&["full engine", "closed form", "simulated", "difference", "fits"], &rows)
}

fn published(answer: &ProofAnswer) -> String {
    let rows: Vec<[String; 5]> = answer
        .cells
        .iter()
        .map(|cell| {
            let [printed, ours] = cell_values(cell);
            let within = mark(cell.is_within()).to_owned();
            let (setting, figure) = (setting_name(cell.setting), figure_name(cell.figure));
            [setting.to_owned(), figure.to_owned(), printed, ours, within]
        })
        .collect();
    table::ragged(&["published setting", "figure", "printed", "one run of ours", "within"], &rows)
}

fn assumed(assumptions: &[Assumption]) -> String {
    let rows: Vec<[String; 4]> = assumptions
        .iter()
        .map(|row| [row.what.clone(), row.leans.clone(), row.size.clone(), row.basis.clone()])
        .collect();
    table::ragged(&assumption_columns(), &rows)
}

/// Everything that was found, with all digits.
#[must_use]
pub fn know_json(answer: &ProofAnswer, assumptions: &[Assumption]) -> String {
    let truth = |truth: &Truth| {
        json!({
            "truth": truth_title(truth.kind),
            "kind": truth.kind,
            "state": truth.state,
            "checks": truth.checks,
            "figures": figures(truth.kind, &truth.figures),
            "found": truth_figures(truth),
            "problem": truth.problem,
        })
    };
    let assumption = |row: &Assumption| json!({ "what": row.what, "leans": row.leans, "size": row.size, "basis": row.basis });
    document(&json!({
        "schema": SCHEMA,
        "kind": "know",
        "holds": answer.holds(),
        "headline": know_headline(answer),
        "seed": answer.seed,
        "setups": answer.setups,
        "requests": answer.requests,
        "fingerprint": format!("{:016x}", answer.fingerprint),
        "truths": listed(answer).map(truth).collect::<Vec<_>>(),
        "engines": engines(answer).map(truth),
        "queues": answer.queues,
        "plateaus": answer.plateaus,
        "published": answer.cells,
        "assumptions": assumptions.iter().map(assumption).collect::<Vec<_>>(),
    }))
}

/// The figures of a truth by name.
fn figures(kind: TruthKind, [a, b, c, d, e]: &[f64; 5]) -> Value {
    match kind {
        TruthKind::Conservation => {
            json!({ "sent": a, "answered": b, "turned_away": c, "dropped": d, "in_flight": e })
        }
        TruthKind::LittlesLaw => json!({
            "in_system_request_s": a, "sojourn_request_s": b, "requests": c, "duration_s": d,
            "largest_difference": e,
        }),
        TruthKind::Slots | TruthKind::Memory => json!({ "used": a, "allowed": b }),
        TruthKind::Ceiling | TruthKind::Utilisation => json!({ "largest_share": a }),
        TruthKind::WorkConservation => json!({ "at_work_s": a, "with_work_s": b }),
        TruthKind::Misses => json!({ "met_by_books": a, "met_by_requests": b, "sent": c }),
        TruthKind::Percentiles => {
            json!({ "merged_p99_s": a, "p99_s": b, "mean_of_windows_p99_s": c })
        }
        TruthKind::Causality => json!({ "answers": a, "soonest_s": b }),
        TruthKind::TwoEngines => json!({ "requests": a, "largest_difference": b }),
        TruthKind::SameBits => json!({ "runs": a }),
        TruthKind::Queues => json!({ "inside": a, "compared": b }),
        TruthKind::Plateaus => json!({ "fitting": a, "plateaus": b, "largest_deviation": c }),
        TruthKind::Published => json!({ "within": a, "figures": b }),
    }
}
