//! How many instructions a simulated request costs, against a budget.
//!
//! Wall time depends on the machine and on who else uses it; the number of instructions of a
//! deterministic run hardly does. So a change that makes the simulator slower shows here first.

use crate::process::{capture, cargo};
use crate::setup;
use crate::workspace::{Workspace, read};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The budget was counted for this kind of system.
pub(crate) const IS_COUNTED_HERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Two lengths of a run. What both have in common (start-up, tables, the exact part of each
/// distribution) drops out of the difference.
const REQUESTS: [u64; 2] = [20_000, 120_000];
/// Above this multiple of the budget the stage fails.
const MOST: f64 = 1.05;
/// Below this one it asks for a lower budget.
const LEAST: f64 = 0.9;
/// Counts instructions and nothing else, and reports on standard output.
const COUNTER: &str =
    "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-fd=1";

/// `cargo xtask test instructions`: one line per case; fails where one costs too much.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if !IS_COUNTED_HERE {
        println!("  skipped: instructions are counted on Linux on x86-64 only");
        return Ok(());
    }
    setup::ensure(workspace, setup::FOR_INSTRUCTIONS)?;
    let path = budget_file(workspace);
    let budget = parse(&read(&path)?)?;
    println!("  {:>12} {:>8} {:>7}  case", "instructions", "budget", "ratio");
    let (mut over, mut under) = (Vec::new(), Vec::new());
    for (name, budget) in &budget {
        let counts = [count(workspace, name, REQUESTS[0])?, count(workspace, name, REQUESTS[1])?];
        let more = counts[1].saturating_sub(counts[0]) as f64;
        let each = more / (REQUESTS[1] - REQUESTS[0]) as f64;
        let ratio = each / budget;
        println!("  {each:>12.0} {budget:>8.0} {:>6.1}%  {name}", ratio * 100.0);
        if ratio > MOST {
            over.push(name.as_str());
        } else if ratio < LEAST {
            under.push(name.as_str());
        }
    }
    if !under.is_empty() {
        println!("  please lower the budget in {}: {}", path.display(), under.join("; "));
    }
    if !over.is_empty() {
        bail!(
            "a request costs over {:.0} % of its budget: {}. Find out why; where the cost is \
             worth it, raise the budget in {} and say what for",
            MOST * 100.0,
            over.join("; "),
            path.display()
        );
    }
    Ok(())
}

fn budget_file(workspace: &Workspace) -> PathBuf {
    workspace.root().join("crates/sim-core/benches/instructions.toml")
}

/// Instructions of one run, start-up included.
fn count(workspace: &Workspace, case: &str, requests: u64) -> Result<u64> {
    let mut command = cargo();
    command
        .current_dir(workspace.root())
        .args(["bench", "-q", "-p", "sim-core", "--bench", "instructions"])
        .arg("--config")
        .arg(format!("target.'cfg(all())'.runner = '{COUNTER}'"))
        .args(["--", case, &requests.to_string()]);
    let printed = capture(&mut command)?;
    counted(&printed).with_context(|| format!("Valgrind told no count in:\n{printed}"))
}

/// The figure in Valgrind's line “==7== I   refs:      1,234,567”.
fn counted(printed: &str) -> Option<u64> {
    printed.lines().find_map(|line| {
        let (before, figure) = line.split_once("refs:")?;
        let is_total = before.split_whitespace().last() == Some("I");
        is_total.then(|| figure.trim().replace(',', "").parse().ok())?
    })
}

/// Lines such as `"20 req/s" = 833`; `#` begins a remark.
fn parse(text: &str) -> Result<Vec<(String, f64)>> {
    let lines = text.lines().map(str::trim);
    let entries = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parsed: Vec<_> = entries
        .map(|line| {
            let (name, figure) = line.split_once("\" = ")?;
            let budget: f64 = figure.parse().ok().filter(|budget| *budget > 0.0)?;
            Some((name.strip_prefix('"')?.to_owned(), budget))
        })
        .collect::<Option<_>>()
        .context("a line of the budget is not like `\"20 req/s\" = 833`")?;
    if parsed.is_empty() {
        bail!("the budget is empty");
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_among_valgrinds_lines() {
        let printed = "==7== Command: x\n120 requests in 7 steps\n==7== \n\
            ==7== I   refs:      1,234,567\n==7== D   refs:  9\n";
        assert_eq!(counted(printed), Some(1_234_567));
        assert_eq!(counted("==7== D   refs:  9"), None);
    }

    #[test]
    fn the_budget_is_read_or_refused() {
        let text = "# why\n\n\"20 req/s\" = 833\n\"a, b\" = 7.5\n";
        let read = parse(text).ok();
        let expected = vec![("20 req/s".to_owned(), 833.0), ("a, b".to_owned(), 7.5)];
        assert_eq!(read, Some(expected));
        for bad in ["", "# only", "20 = 3", "\"x\" = 0", "\"x\" = many"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
