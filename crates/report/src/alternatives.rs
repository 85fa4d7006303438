//! What else would do: a table for people, one for machines, JSON, and what a chart draws.

use charts::CostDot;
use planner::{Alternative, AlternativesAnswer, Basis, Tuned};
use quantity::{count, counted, duration, duration_or_unknown, money, number};
use scenario::{Scenario, StepKind};
use serde_json::{Value, json};

use crate::{
    cost::about,
    json::{SCHEMA, document, estimate},
    names, table,
    why::limit_name,
};

/// The `shown` cheapest, whatever is on the front beyond them, and what was tuned.
#[must_use]
pub fn alternatives_text(answer: &AlternativesAnswer, scenario: &Scenario, shown: usize) -> String {
    let rows: Vec<&Alternative> = answer
        .rows
        .iter()
        .enumerate()
        .filter(|(place, row)| *place < shown || row.is_on_front)
        .map(|(_, row)| row)
        .collect();
    let mut text = alternatives_headline(answer);
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&listed(&rows));
        text.push_str(
            "*: nothing that costs no more is faster. ≥, ≤: only bounded, not simulated.\n",
        );
    }
    if let Some(caution) = alternatives_caution(answer, scenario, shown) {
        text.push_str(caution);
    }
    text.push_str(&alternatives_left_out(answer, rows.len()));
    if let Some(tuned) = &answer.tuned {
        text.push('\n');
        text.push_str(&tuned_text(tuned));
        text.push_str(&tuned.link);
        text.push('\n');
    }
    text
}

/// What has to be known of rows with several GPUs per engine, if one of the `shown` cheapest or of the
/// front is such a row.
#[must_use]
pub fn alternatives_caution(
    answer: &AlternativesAnswer,
    scenario: &Scenario,
    shown: usize,
) -> Option<&'static str> {
    let is_told = |(place, row): (usize, &Alternative)| {
        row.gpus_each > 1 && (place < shown || row.is_on_front)
    };
    let is_roofline = scenario.step.kind != Some(StepKind::Kernel);
    (is_roofline && answer.rows.iter().enumerate().any(is_told)).then_some(
        "The roofline leaves out the exchange between the GPUs of an engine, which favours many per \
         engine; step.kind=kernel counts it, on GPUs whose kernels were timed.\n",
    )
}

/// “The cheapest that holds the target: 4 H100 …”
#[must_use]
pub fn alternatives_headline(answer: &AlternativesAnswer) -> String {
    let Some(best) = answer.rows.first() else {
        return "Nothing in the catalogue holds this target.\n".to_owned();
    };
    let verb = match best.basis {
        Basis::Simulated => "The cheapest that holds the target",
        Basis::Bounded => "The one that may be cheapest, not simulated yet,",
    };
    format!(
        "{verb}: {} in {}, {} an hour.\n",
        fleet_name(best),
        best.weights.to_ascii_uppercase(),
        about(&best.per_hour)
    )
}

/// “8 H100, 4 per engine”.
#[must_use]
pub fn fleet_name(row: &Alternative) -> String {
    let gpus = format!("{} {}", count(row.gpus), names::gpu(&row.gpu));
    match row.gpus_each {
        1 => gpus,
        each => format!("{gpus}, {} per engine", count(each)),
    }
}

/// Columns of [`alternative_cells`].
pub const ALTERNATIVE_COLUMNS: [&str; 11] = [
    "",
    "GPUs",
    "GPU",
    "per engine",
    "weights",
    "$ per hour",
    "req/s each",
    "TTFT P99",
    "TPOT P99",
    "E2E P99",
    "binds",
];

/// One row as people read it: `*` where nothing that costs no more is faster, `≥` and `≤` where it was
/// only bounded.
#[must_use]
pub fn alternative_cells(row: &Alternative) -> [String; 11] {
    let is_bounded = row.basis == Basis::Bounded;
    let at_least = |text: String| if is_bounded { ["≥ ", &text].concat() } else { text };
    let latency = |value: Option<f64>| {
        if is_bounded { String::new() } else { duration_or_unknown(value) }
    };
    let binds = row.binding.map_or("nothing alone", limit_name);
    let by_form = if row.binding_basis == Basis::Bounded { " (bounded)" } else { "" };
    let each = number(row.capacity_per_s);
    [
        if row.is_on_front { "*" } else { "" }.to_owned(),
        at_least(count(row.gpus)),
        names::gpu(&row.gpu),
        count(row.gpus_each),
        row.weights.clone(),
        at_least(about(&row.per_hour)),
        if is_bounded { ["≤ ", &each].concat() } else { each },
        latency(row.ttft_p99_s),
        latency(row.tpot_p99_s),
        at_least(duration(row.e2e_p99_s)),
        [binds, by_form].concat(),
    ]
}

fn listed(rows: &[&Alternative]) -> String {
    let rows: Vec<[String; 11]> = rows.iter().map(|row| alternative_cells(row)).collect();
    table::ragged(&ALTERNATIVE_COLUMNS, &rows)
}

/// What was not shown, and why.
#[must_use]
pub fn alternatives_left_out(answer: &AlternativesAnswer, shown: usize) -> String {
    let simulated = answer.rows.iter().filter(|row| row.basis == Basis::Simulated).count();
    let all = counted(u64::from(answer.looked_at), "deployment", "deployments");
    let mut parts = vec![
        format!("{} simulated", count(simulated as u64)),
        format!(
            "{} only bounded, since they cannot be cheaper or faster",
            count((answer.rows.len() - simulated) as u64)
        ),
        format!("{} do not fit or cannot be set up", count(answer.unfit.into())),
        format!("{} miss the target even when idle", count(answer.hopeless.into())),
    ];
    if answer.dearer > 0 {
        parts.push(format!("{} cost more than asked", count(answer.dearer.into())));
    }
    let mut text = format!("Of {all}: {}; {} shown.\n", parts.join(", "), count(shown as u64));
    if answer.unpriced_gpus > 0 {
        text.push_str(&format!(
            "{} left out because the catalogue has no price for them.\n",
            counted(answer.unpriced_gpus.into(), "GPU is", "GPUs are")
        ));
    }
    text
}

/// What other limits of the scheduler make of the cheapest.
#[must_use]
pub fn tuned_text(tuned: &Tuned) -> String {
    let capacity = tuned.answer.capacity_per_s;
    let (value, interval) = capacity.map_or((0.0, String::new()), |it| {
        (it.value, format!(" ({} to {}, 95\u{202f}%)", number(it.low), number(it.high)))
    });
    format!(
        "Tuned, the cheapest has --max-num-seqs {} --max-num-batched-tokens {}: an engine then sustains \
         {} req/s{interval} instead of {}, so {} at {} an hour.\n",
        tuned.max_num_seqs,
        tuned.max_num_batched_tokens,
        number(value),
        number(tuned.untuned_capacity_per_s),
        counted(tuned.gpus, "GPU", "GPUs"),
        about(&tuned.per_hour)
    )
}

/// One row per deployment, all of them: dollars and SI units.
#[must_use]
pub fn alternatives_csv(answer: &AlternativesAnswer) -> String {
    let mut text = "gpu,gpus,gpus_per_engine,weights,basis,per_hour_low,per_hour_typical,\
         per_hour_high,capacity_per_s,ttft_p99_s,tpot_p99_s,e2e_p99_s,binding,binding_basis,is_on_front\n"
        .to_owned();
    let word = |basis: Basis| match basis {
        Basis::Simulated => "simulated",
        Basis::Bounded => "bounded",
    };
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in &answer.rows {
        let cells = [
            row.gpu.clone(),
            row.gpus.to_string(),
            row.gpus_each.to_string(),
            row.weights.clone(),
            word(row.basis).to_owned(),
            row.per_hour.low.to_string(),
            row.per_hour.typical.to_string(),
            row.per_hour.high.to_string(),
            row.capacity_per_s.to_string(),
            cell(row.ttft_p99_s),
            cell(row.tpot_p99_s),
            cell(Some(row.e2e_p99_s).filter(|value| value.is_finite())),
            row.binding.map_or("", limit_name).to_owned(),
            word(row.binding_basis).to_owned(),
            row.is_on_front.to_string(),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Everything for machines.
#[must_use]
pub fn alternatives_json(answer: &AlternativesAnswer, scenario: &Scenario) -> String {
    let tuned = |tuned: &Tuned| -> Value {
        json!({
            "max_num_seqs": tuned.max_num_seqs,
            "max_num_batched_tokens": tuned.max_num_batched_tokens,
            "gpus": tuned.gpus,
            "per_hour": tuned.per_hour,
            "capacity_per_s": tuned.answer.capacity_per_s.map(estimate),
            "untuned_capacity_per_s": tuned.untuned_capacity_per_s,
            "link": tuned.link,
        })
    };
    document(&json!({
        "schema": SCHEMA,
        "kind": "alternatives",
        "link": scenario.to_link(),
        "rows": answer.rows,
        "tuned": answer.tuned.as_ref().map(tuned),
        "looked_at": answer.looked_at,
        "unfit": answer.unfit,
        "hopeless": answer.hopeless,
        "unpriced_gpus": answer.unpriced_gpus,
        "dearer": answer.dearer,
    }))
}

/// What a chart of cost against latency draws: simulated rows, named where they are on the front.
#[must_use]
pub fn cost_dots(answer: &AlternativesAnswer) -> Vec<CostDot> {
    let simulated =
        answer.rows.iter().filter(|row| row.basis == Basis::Simulated && row.e2e_p99_s.is_finite());
    let dot = |row: &Alternative| CostDot {
        per_hour: row.per_hour.typical,
        low: row.per_hour.low,
        high: row.per_hour.high,
        latency_s: row.e2e_p99_s,
        is_on_front: row.is_on_front,
        name: format!(
            "{} {}, {}",
            fleet_name(row),
            row.weights.to_ascii_uppercase(),
            money(row.per_hour.typical)
        ),
    };
    simulated.map(dot).collect()
}
