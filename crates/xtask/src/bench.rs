//! How fast the simulator is: natively, in WASM, and beside a plain reference in Python.

use crate::process::{capture, cargo, find_on_path};
use crate::workspace::Workspace;
use crate::{parity, setup};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// The rates that are timed, requests per second, as the benchmark prints them.
const RATES: [&str; 2] = ["20", "1"];
/// Requests that the reference simulates: enough for a second of its time.
const REFERENCE_REQUESTS: &str = "4000";
/// WASM must be at least this fast, as a share of native.
const LEAST_WASM_SHARE: f64 = 0.6;

/// `cargo xtask bench`: one line per rate, in simulated requests per second of computing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, setup::FOR_NODE_TESTS)?;
    setup::discard_stale_builds(workspace)?;
    let native = capture(speed(workspace).args(["--profile", "release"]))?;
    let mut in_wasm = speed(workspace);
    // The profile of the page's worker.
    in_wasm.args(["--profile", "wasm-release"]);
    let wasm = capture(parity::in_wasm(&mut in_wasm, workspace)?.args(["--", "--nocapture"]))?;
    println!(
        "{:>6} {:>14} {:>14} {:>6} {:>14} {:>8}",
        "req/s", "native/s", "WASM/s", "WASM", "Python/s", "native"
    );
    let mut slow = Vec::new();
    for rate in RATES {
        let (native, wasm) = (figure(&native, rate)?, figure(&wasm, rate)?);
        let share = wasm / native;
        let (reference, ratio) = match reference(workspace, rate)? {
            Some(python) => (format!("{python:.0}"), format!("{:.0} x", native / python)),
            None => ("no python3".to_owned(), String::new()),
        };
        println!(
            "{rate:>6} {native:>14.0} {wasm:>14.0} {:>5.0}% {reference:>14} {ratio:>8}",
            share * 100.0
        );
        if share < LEAST_WASM_SHARE {
            slow.push(rate);
        }
    }
    if !slow.is_empty() {
        bail!(
            "WASM is less than {:.0} % as fast as native at {} req/s",
            LEAST_WASM_SHARE * 100.0,
            slow.join(" and ")
        );
    }
    Ok(())
}

/// The benchmark as a test target: that is what wasm-bindgen's runner takes.
fn speed(workspace: &Workspace) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root());
    command.args(["test", "-q", "-p", "headroom-tests", "--bench", "speed"]);
    command
}

/// The figure of a rate among lines such as “speed 20 1234567”.
fn figure(output: &str, rate: &str) -> Result<f64> {
    let found = output.lines().find_map(|line| {
        let (_, rest) = line.split_once("speed ")?;
        rest.strip_prefix(rate)?.strip_prefix(' ')?.trim().parse().ok()
    });
    found.with_context(|| format!("no speed at {rate} req/s in:\n{output}"))
}

/// What the reference makes of the same traffic; nothing without Python.
fn reference(workspace: &Workspace, rate: &str) -> Result<Option<f64>> {
    let Some(python) = find_on_path("python3") else { return Ok(None) };
    let script = workspace.root().join("tests/python/roofline_reference.py");
    let printed =
        capture(Command::new(python).arg(script).args(["--speed", rate, REFERENCE_REQUESTS]))?;
    let speed = printed.trim().parse();
    Ok(Some(speed.with_context(|| format!("no speed in “{}”", printed.trim()))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_found_whole() {
        let output = "running 1 test\nspeed 20 2000000\nspeed 1 700\ntest speed ... ok\n";
        assert_eq!(figure(output, "1").ok(), Some(700.0));
        assert_eq!(figure(output, "20").ok(), Some(2_000_000.0));
        assert!(figure(output, "2").is_err());
    }
}
