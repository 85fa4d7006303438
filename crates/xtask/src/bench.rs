//! How fast the simulator is: natively, in WASM, and beside a plain reference in Python.

use crate::process::{self, capture, cargo, executable, find_on_path};
use crate::workspace::Workspace;
use crate::{parity, setup};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The rates that are timed, requests per second, as the benchmark prints them.
const RATES: [&str; 2] = ["20", "1"];
/// Requests that the reference simulates: enough for a second of its time.
const REFERENCE_REQUESTS: &str = "4000";
/// WASM must be at least this fast, as a share of native.
const LEAST_WASM_SHARE: f64 = 0.6;
/// A day at 100 requests per second on five replicas, as a person would ask for it.
const DAY: [&str; 6] = ["simulate", "rate=100", "--replicas", "5", "--requests", "8640000"];
/// Most seconds that the day may take.
const MOST_DAY_S: f64 = 5.0;
/// Most memory that it may take, in MiB.
const MOST_DAY_MIB: f64 = 100.0;
/// The answer that the page opens with, with its intervals, and most seconds that it may take.
const KNEE: [&str; 3] = ["plan", "--threads", "2"];
const MOST_KNEE_S: f64 = 0.3;
/// The quickest of so many runs counts.
const KNEES: usize = 5;
/// A hundred deployments of a large model, each simulated, and most seconds that they may take.
const ALTERNATIVES: [&str; 7] =
    ["alternatives", "model=llama-3.1-70b", "rate=30", "--rows", "100", "--threads", "2"];
const MOST_ALTERNATIVES_S: f64 = 10.0;
/// How often a program's memory is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// `cargo xtask bench`: a line per rate, in simulated requests per second of computing, and one each on a
/// whole day of a fleet, on an answer with its intervals and on alternatives.
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
    let mut build = cargo();
    build.current_dir(workspace.root());
    process::run(build.args(["build", "-q", "--release", "-p", "cli"]))?;
    let folder = workspace.target().join("release");
    let headroom = executable(&folder, "headroom");
    // What fell short is told after everything was measured.
    let told = [day(&headroom), answers(&headroom)];
    told.into_iter().collect()
}

/// The knee with its intervals and a hundred alternatives by the command line, and how long they take.
fn answers(headroom: &Path) -> Result<()> {
    let mut knee_s = f64::INFINITY;
    for _ in 0..KNEES {
        let took_s = cost(Command::new(headroom).args(KNEE))?.seconds;
        if took_s < knee_s {
            knee_s = took_s;
        }
    }
    let alternatives_s = cost(Command::new(headroom).args(ALTERNATIVES))?.seconds;
    println!("the knee with its intervals: {:.0} ms", knee_s * 1e3);
    println!("100 alternatives of a 70B model: {alternatives_s:.2} s");
    if knee_s > MOST_KNEE_S || alternatives_s > MOST_ALTERNATIVES_S {
        bail!("they may take {:.0} ms and {MOST_ALTERNATIVES_S} s", MOST_KNEE_S * 1e3);
    }
    Ok(())
}

/// A day of a fleet by the command line, and what it takes.
fn day(headroom: &Path) -> Result<()> {
    let mut command = Command::new(headroom);
    let Cost { seconds, peak_mib } = cost(command.args(DAY))?;
    let memory = peak_mib.map_or("unknown here".to_owned(), |mib| format!("{mib:.0} MiB"));
    println!("a day at 100 req/s on five replicas: {seconds:.2} s, memory {memory}");
    if seconds > MOST_DAY_S || peak_mib.is_some_and(|mib| mib > MOST_DAY_MIB) {
        bail!("a day of a fleet may take {MOST_DAY_S} s and {MOST_DAY_MIB} MiB");
    }
    Ok(())
}

/// What a program took.
struct Cost {
    seconds: f64,
    /// None where the system does not tell.
    peak_mib: Option<f64>,
}

/// Runs a program to its end, without its output.
fn cost(command: &mut Command) -> Result<Cost> {
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().context("headroom did not start")?;
    let mut peak_mib = None;
    let status = loop {
        // The mark only rises, so that the last look is the one that counts.
        let path = format!("/proc/{}/status", child.id());
        let marked = fs::read_to_string(path).ok().and_then(|status| high_water_mib(&status));
        peak_mib = marked.or(peak_mib);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(LOOK);
    };
    if !status.success() {
        bail!("headroom ended with {status}");
    }
    Ok(Cost { seconds: begin.elapsed().as_secs_f64(), peak_mib })
}

/// The most memory that a process has held, from what Linux tells of it.
fn high_water_mib(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
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
    fn the_high_water_mark_is_found() {
        let status = "Name:\theadroom\nVmPeak:\t   99999 kB\nVmHWM:\t    7680 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(high_water_mib(status), Some(7.5));
        assert_eq!(high_water_mib("Name:\tzombie\n"), None);
    }

    #[test]
    fn a_rate_is_found_whole() {
        let output = "running 1 test\nspeed 20 2000000\nspeed 1 700\ntest speed ... ok\n";
        assert_eq!(figure(output, "1").ok(), Some(700.0));
        assert_eq!(figure(output, "20").ok(), Some(2_000_000.0));
        assert!(figure(output, "2").is_err());
    }
}
