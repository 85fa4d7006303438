//! The same bits natively, in Node, and in a worker of a real browser.

use crate::process::{cargo, executable, run as run_process};
use crate::setup;
use crate::workspace::{Workspace, create_dir, write};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Cargo's name for the program that runs the tests of this target.
const RUNNER: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER";
/// A busy machine starts a browser slowly.
const BROWSER_START_LIMIT_S: &str = "120";

/// The native run first: it is the quickest to fail.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, setup::FOR_PARITY)?;
    setup::discard_stale_builds(workspace)?;
    run_process(&mut test(workspace))?;
    println!("-- in Node --");
    run_process(in_wasm(&mut test(workspace), workspace)?)?;
    println!("-- in a worker of Chromium --");
    let driver = setup::find_driver()?.context("Chromium's driver is missing")?;
    let mut command = test(workspace);
    in_wasm(&mut command, workspace)?
        .env("WASM_BINDGEN_USE_DEDICATED_WORKER", "1")
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", capabilities(workspace)?)
        .env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", BROWSER_START_LIMIT_S)
        .env("CHROMEDRIVER", driver);
    run_process(&mut command)
}

fn test(workspace: &Workspace) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root());
    command.args(["test", "-p", "headroom-tests", "--test", "parity"]);
    command
}

/// Makes cargo compile for WASM and run the result with wasm-bindgen's runner, in Node.
pub(crate) fn in_wasm<'a>(
    command: &'a mut Command,
    workspace: &Workspace,
) -> Result<&'a mut Command> {
    let bindgen = setup::wasm_bindgen(workspace)?.context("wasm-bindgen is missing")?;
    let folder = bindgen.parent().unwrap_or_else(|| Path::new(""));
    let runner = executable(folder, "wasm-bindgen-test-runner");
    Ok(command.args(["--target", TARGET]).env(RUNNER, runner))
}

/// The browser to open and how. Without a sandbox: tests in a container often run as root, where
/// Chromium has none, and the page they open is our own.
fn capabilities(workspace: &Workspace) -> Result<PathBuf> {
    let chromium = setup::find_browser()?.context("Chromium is missing")?;
    let folder = workspace.scratch();
    create_dir(&folder)?;
    let path = folder.join("webdriver.json");
    // The debug form of a path quotes and escapes it as JSON does.
    let text = format!(
        "{{\"goog:chromeOptions\": {{\"binary\": {chromium:?}, \
         \"args\": [\"--headless=new\", \"--no-sandbox\", \"--disable-dev-shm-usage\"]}}}}\n"
    );
    write(&path, text)?;
    Ok(path)
}
