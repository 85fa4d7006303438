//! All tests, in the order in which they fail soonest.

use crate::process::{cargo, run as run_process};
use crate::serve::Site;
use crate::workspace::{Workspace, entries};
use crate::{build, instructions, parity, setup, size};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The crates that only exist in a browser.
const BROWSER_CRATES: [&str; 2] = ["web", "sim-worker"];
/// A file of browser tests that hangs must end before the run that waits for it.
const BROWSER_TEST_LIMIT_MS: u32 = 600_000;

/// A part of the tests that can be run alone.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    what: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

impl PartialEq for Stage {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All stages, in their order.
pub(crate) const STAGES: &[Stage] = &[
    Stage { name: "setup", what: "find or install all tools", run: setup::run },
    Stage { name: "fmt", what: "rustfmt finds nothing to change", run: fmt },
    Stage { name: "clippy", what: "clippy finds no fault in native code", run: clippy },
    Stage { name: "clippy-wasm", what: "nor in page and worker", run: clippy_wasm },
    Stage { name: "doc", what: "the documentation builds, its links resolve", run: doc },
    Stage { name: "native", what: "unit, property and integration tests", run: native },
    Stage {
        name: "instructions",
        what: "a simulated request costs no more than its budget",
        run: instructions::run,
    },
    Stage {
        name: "parity",
        what: "the same bits natively, in Node and Chromium",
        run: parity::run,
    },
    Stage { name: "build", what: "the site builds", run: build::run },
    Stage { name: "size", what: "it is within its size budget", run: built_size },
    Stage { name: "browser", what: "it works in a real browser", run: browser },
];

/// The stages as lines of the help text.
pub(crate) fn describe_stages() -> String {
    STAGES.iter().map(|stage| format!("  {:12} {}\n", stage.name, stage.what)).collect()
}

/// `cargo xtask test`: runs the named stages, or all, up to the first that fails.
pub(crate) fn run(workspace: &Workspace, named: &[&Stage]) -> Result<()> {
    let all: Vec<&Stage> = STAGES.iter().collect();
    let stages = if named.is_empty() { &all } else { named };
    let started = Instant::now();
    for stage in stages {
        println!("\n== {}: {} ==", stage.name, stage.what);
        let stage_started = Instant::now();
        let result = (stage.run)(workspace);
        let verdict = if result.is_ok() { "passed" } else { "FAILED" };
        println!(
            "== {} {verdict} in {:.1} s ==",
            stage.name,
            stage_started.elapsed().as_secs_f64()
        );
        result.with_context(|| {
            let name = stage.name;
            format!("stage `{name}` failed; `cargo xtask test {name}` runs only it")
        })?;
    }
    let names: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
    let seconds = started.elapsed().as_secs();
    println!("\nAll passed in {} min {} s: {}.", seconds / 60, seconds % 60, names.join(", "));
    Ok(())
}

fn fmt(workspace: &Workspace) -> Result<()> {
    run_process(cargo_here(workspace).args(["fmt", "--all", "--", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let mut command = cargo_here(workspace);
    command.args(["clippy", "--workspace", "--all-targets"]);
    run_process(without_browser_crates(&mut command).args(["--", "-D", "warnings"]))
}

fn clippy_wasm(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, setup::FOR_WASM)?;
    setup::discard_stale_builds(workspace)?;
    let mut command = cargo_here(workspace);
    command.args(["clippy", "--target", "wasm32-unknown-unknown"]);
    for name in BROWSER_CRATES {
        command.args(["-p", name]);
    }
    run_process(command.args(["--", "-D", "warnings"]))
}

fn doc(workspace: &Workspace) -> Result<()> {
    let mut command = cargo_here(workspace);
    command.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    run_process(without_browser_crates(&mut command))
}

/// Where proptest reads its seed.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

fn native(workspace: &Workspace) -> Result<()> {
    let mut command = cargo_here(workspace);
    // The same tree gets the same verdict. Another seed, set by whoever runs it, looks further.
    if std::env::var_os(PROPERTY_SEED).is_none() {
        command.env(PROPERTY_SEED, "1");
    }
    run_process(without_browser_crates(command.args(["test", "--workspace"])))
}

fn built_size(workspace: &Workspace) -> Result<()> {
    build::run(workspace)?;
    size::run(workspace)
}

/// Serves the built site and lets Node's test runner loose on it.
fn browser(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, setup::FOR_BROWSER_TESTS)?;
    build::run(workspace)?;
    let chromium = setup::find_browser()?.context("Chromium is missing")?;
    let cli = native_program(workspace)?;
    let site = Site::start(&workspace.dist(), 0)?;
    let mut command = Command::new("node");
    command
        // One file after another: what is measured must not share the machine.
        .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .arg(format!("--test-timeout={BROWSER_TEST_LIMIT_MS}"))
        .args(browser_tests(workspace)?)
        .current_dir(workspace.root())
        .env("HEADROOM_URL", site.address())
        .env("HEADROOM_CHROMIUM", chromium)
        .env("HEADROOM_CLI", cli);
    run_process(&mut command)
}

/// Builds the command line, with which the page is compared, as the native tests do.
fn native_program(workspace: &Workspace) -> Result<PathBuf> {
    run_process(cargo_here(workspace).args(["build", "--profile", "test", "-p", "cli"]))?;
    let name = format!("headroom{}", std::env::consts::EXE_SUFFIX);
    let program = workspace.target().join("debug").join(name);
    if !program.is_file() {
        bail!("the build left no {}", program.display());
    }
    Ok(program)
}

fn browser_tests(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut paths = entries(&workspace.e2e())?;
    paths.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    if paths.is_empty() {
        bail!("{} holds no tests", workspace.e2e().display());
    }
    Ok(paths)
}

fn cargo_here(workspace: &Workspace) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root());
    command
}

fn without_browser_crates(command: &mut Command) -> &mut Command {
    for name in BROWSER_CRATES {
        command.args(["--exclude", name]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_a_name_of_its_own() {
        let mut names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STAGES.len());
    }

    #[test]
    fn the_help_text_lists_every_stage() {
        assert_eq!(describe_stages().lines().count(), STAGES.len());
    }
}
