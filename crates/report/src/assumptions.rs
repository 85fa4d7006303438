//! What the answers assume, which way each assumption leans, and how far.

use scenario::{Ledger, LedgerEntry, Provenance};

/// One row a line, its cells apart by tabs; the first line names the columns.
const TABLE: &str = include_str!("../../../assets/assumptions.tsv");
/// What the ledger says of settings that nobody typed. They are not assumed of the world.
const OWN_DEFAULT: &str = "default of this program";

/// One assumption, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What is assumed.
    pub what: String,
    /// “too hopeful”, “too careful” or “either way”.
    pub leans: String,
    /// How much difference it makes.
    pub size: String,
    /// Where that is known from.
    pub basis: String,
}

/// Names of the columns.
#[must_use]
pub fn assumption_columns() -> [&'static str; 4] {
    TABLE.lines().next().and_then(cells).unwrap_or_default()
}

/// The assumed numbers of a scenario, then what every answer assumes.
#[must_use]
pub fn assumptions(ledger: &Ledger) -> Vec<Assumption> {
    let of_scenario = ledger
        .0
        .iter()
        .filter(|entry| entry.kind == Provenance::Assumed && entry.source != OWN_DEFAULT);
    let of_all = TABLE.lines().skip(1).filter_map(cells);
    of_scenario.map(assumed_number).chain(of_all.map(assumption)).collect()
}

fn cells(line: &'static str) -> Option<[&'static str; 4]> {
    let mut cells = line.split('\t');
    Some([cells.next()?, cells.next()?, cells.next()?, cells.next()?])
}

fn assumption([what, leans, size, basis]: [&str; 4]) -> Assumption {
    let [what, leans, size, basis] = [what, leans, size, basis].map(str::to_owned);
    Assumption { what, leans, size, basis }
}

fn assumed_number(entry: &LedgerEntry) -> Assumption {
    let value = match entry.unit.as_str() {
        "" => quantity::number(entry.value),
        "s" => quantity::duration(entry.value),
        "bytes" => quantity::memory(entry.value),
        unit => quantity::with_unit(&quantity::number(entry.value), unit),
    };
    let size = match (entry.low, entry.high) {
        (Some(low), Some(high)) => format!("usual: {}", quantity::range(low, high)),
        _ => "not known".to_owned(),
    };
    Assumption {
        what: format!("{}: {value}", entry.label),
        leans: "either way".to_owned(),
        size,
        basis: entry.source.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_whole() {
        assert_eq!(assumption_columns()[1], "Leans");
        let rows = assumptions(&Ledger::default());
        assert_eq!(rows.len(), TABLE.lines().count() - 1);
        for row in rows {
            assert!(["too hopeful", "too careful", "either way"].contains(&row.leans.as_str()));
            assert!(!row.what.is_empty() && !row.size.is_empty() && !row.basis.is_empty());
        }
    }

    #[test]
    fn the_presets_assumed_numbers_come_first() {
        let resolved = scenario::Scenario::preset().resolve().expect("the preset resolves");
        let rows = assumptions(&resolved.ledger);
        assert!(rows[0].size.starts_with("usual: 0.45 to 0.55"), "{rows:?}");
        assert!(rows.iter().all(|row| row.basis != OWN_DEFAULT));
    }
}
