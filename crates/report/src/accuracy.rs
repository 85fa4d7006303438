//! How far the kernel model is off on runs that it was not fitted to, by regime.

use quantity::nearest_double;

/// Made by `headroom fit` together with `docs/accuracy.md`.
const TABLE: &str = include_str!("../../../assets/kernel/accuracy.csv");
/// What rows begin with whose group was left out of the fit.
const LEFT_OUT: &str = "group";

/// Absolute errors of one time, as shares of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeError {
    /// Half of the runs are off by no more.
    pub median: f64,
    /// Nine of ten runs are.
    pub p90: f64,
}

/// Errors in one regime: kind of model, and load as a share of a curve's largest throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct RegimeError {
    /// “dense, 50 to 80 %”.
    pub regime: &'static str,
    /// Runs in it.
    pub runs: u64,
    /// Time to the first token.
    pub ttft: TimeError,
    /// Time per further token.
    pub tpot: TimeError,
    /// The whole answer.
    pub e2e: TimeError,
}

/// The errors by regime, of groups that were left out of the fit.
#[must_use]
pub fn regime_errors() -> Vec<RegimeError> {
    rows(LEFT_OUT)
}

fn rows(left_out: &str) -> Vec<RegimeError> {
    let mut rows = Vec::new();
    for line in TABLE.lines() {
        let mut cells = line.splitn(9, ',');
        if cells.next() != Some(left_out) {
            continue;
        }
        let mut number = || cells.next().and_then(nearest_double).unwrap_or_default();
        let runs = number() as u64;
        let mut time = || TimeError { median: number() / 100.0, p90: number() / 100.0 };
        let (ttft, tpot, e2e) = (time(), time(), time());
        let regime = cells.next().unwrap_or_default();
        rows.push(RegimeError { regime, runs, ttft, tpot, e2e });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page in `docs` and the table that is shown come from one run of the fit.
    #[test]
    fn the_table_is_that_of_the_accuracy_page() {
        let page = include_str!("../../../docs/accuracy.md");
        for (left_out, title) in
            [("nothing", "Fitted on all runs"), (LEFT_OUT, "Each group left out")]
        {
            let part = page.split(title).nth(1).unwrap();
            let found = rows(left_out);
            assert_eq!(found.len(), 10);
            for row in found {
                let told = part.lines().find(|line| {
                    line.strip_prefix(row.regime).is_some_and(|rest| rest.starts_with("  "))
                });
                let told = told.unwrap_or_else(|| panic!("{} is not there", row.regime));
                let all = [row.ttft, row.tpot, row.e2e]
                    .map(|it| format!("{:.1} / {:.1}", 100.0 * it.median, 100.0 * it.p90));
                let runs = format!(" {} ", row.runs);
                assert!(told.contains(&runs), "{told}");
                assert!(all.iter().all(|text| told.contains(text)), "{told} {all:?}");
            }
        }
    }
}
