//! Where the numbers come from, as a table.

use scenario::{Ledger, LedgerEntry};

use crate::table;

/// Every number of a set-up with its unit, kind, source and formula.
#[must_use]
pub fn ledger_table(ledger: &Ledger) -> String {
    let rows: Vec<[String; 5]> = ledger.0.iter().map(row).collect();
    table::ragged(&["setting", "value", "unit", "kind", "source"], &rows)
}

fn row(entry: &LedgerEntry) -> [String; 5] {
    let source = match &entry.formula {
        Some(formula) => format!("{}: {formula}", entry.source),
        None => entry.source.clone(),
    };
    [
        entry.key.clone(),
        quantity::editable(entry.value),
        entry.unit.clone(),
        entry.kind.label().to_owned(),
        source,
    ]
}
