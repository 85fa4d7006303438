//! Experiments, as text and JSON.

use planner::experiments::{Column, Experiment, Findings, Table, Unit};
use quantity::{count, duration, number, number_fixed, share};
use serde_json::{Value, json};

/// The names and claims of experiments, one after the other.
#[must_use]
pub fn experiments_text(experiments: &[Experiment]) -> String {
    let widest = experiments.iter().map(|each| each.name.len()).max().unwrap_or(0);
    let line = |each: &Experiment| format!("{:widest$}  {}\n", each.name, each.claim);
    experiments.iter().map(line).collect()
}

/// A claim, how it was tried, the figures, and what follows from them.
#[must_use]
pub fn experiment_text(experiment: &Experiment, findings: &Findings) -> String {
    let mut text = format!("{}\n{}\n", experiment.claim, experiment.setting);
    for table in &findings.tables {
        text.push('\n');
        text.push_str(&table_text(table));
    }
    text.push('\n');
    for check in &findings.checks {
        let verdict = if check.holds { "holds " } else { "FAILS " };
        text.push_str(&format!("{verdict} {}\n", check.what));
    }
    if !findings.remark.is_empty() {
        text.push_str(&format!("\n{}\n", findings.remark));
    }
    text
}

fn table_text(table: &Table) -> String {
    let header: Vec<String> = std::iter::once(table.rows_are.to_owned())
        .chain(table.columns.iter().map(|column| column.name.to_owned()))
        .collect();
    let row = |row: &planner::experiments::Row| {
        let values =
            row.values.iter().zip(&table.columns).map(|(&value, column)| told(value, *column));
        std::iter::once(row.case.clone()).chain(values).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(table.rows.iter().map(row)).collect();
    aligned(&rows)
}

/// Rows of cells in columns: the first to the left, the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                text.push_str(&format!("{cell:width$}"));
            } else {
                text.push_str(&format!("  {cell:>width$}"));
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn told(value: f64, column: Column) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return "never".to_owned();
    }
    match column.unit {
        Unit::Count => count(value as u64),
        Unit::Number => number(value),
        Unit::Share => share(value),
        Unit::Seconds => duration(value),
        Unit::Minutes => number_fixed(value, 1),
        Unit::GpuHours => number_fixed(value, 2),
    }
}

/// The same in SI units: shares from 0 to 1, times in seconds and, where a column says so, minutes and
/// GPU-hours. What there is not is null.
#[must_use]
pub fn experiment_json(experiment: &Experiment, findings: &Findings) -> String {
    let unit = |unit: Unit| match unit {
        Unit::Count => "count",
        Unit::Number => "number",
        Unit::Share => "share",
        Unit::Seconds => "s",
        Unit::Minutes => "min",
        Unit::GpuHours => "gpu_h",
    };
    let table = |table: &Table| {
        let columns: Vec<Value> = table
            .columns
            .iter()
            .map(|column| json!({"name": column.name, "unit": unit(column.unit)}))
            .collect();
        let rows: Vec<Value> =
            table.rows.iter().map(|row| json!({"case": row.case, "values": row.values})).collect();
        json!({"rows_are": table.rows_are, "columns": columns, "rows": rows})
    };
    let checks: Vec<Value> = findings
        .checks
        .iter()
        .map(|check| json!({"what": check.what, "holds": check.holds}))
        .collect();
    let value = json!({
        "name": experiment.name,
        "claim": experiment.claim,
        "setting": experiment.setting,
        "tables": findings.tables.iter().map(table).collect::<Vec<Value>>(),
        "checks": checks,
        "holds": findings.holds(),
        "remark": findings.remark,
    });
    format!("{value:#}\n")
}
