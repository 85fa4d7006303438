//! Set-up: every part is looked for, and installed only where it is missing.

mod browser;
mod debian;
mod driver;
mod node;
mod tools;
mod valgrind;
mod wasm_std;

pub(crate) use browser::find as find_browser;
pub(crate) use driver::find as find_driver;
pub(crate) use node::{bin as node_bin, program as npm_program};
pub(crate) use tools::{trunk, wasm_bindgen};
pub(crate) use wasm_std::{discard_stale_builds, remap_folders};

use crate::workspace::Workspace;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

/// Something that must be on the machine before the rest can work.
pub(crate) struct Part {
    name: &'static str,
    why: &'static str,
    /// What is there already, in words; `None` when it has to be installed.
    find: fn(&Workspace) -> Result<Option<String>>,
    install: fn(&Workspace) -> Result<()>,
}

const NODE: Part = Part {
    name: "Node.js",
    why: "runs wasm-opt and the browser tests",
    find: node::describe,
    install: node::install,
};
const NPM_PACKAGES: Part = Part {
    name: "npm packages",
    why: "wasm-opt and esbuild make the page small; playwright-core and axe-core drive the browser tests",
    find: node::describe_packages,
    install: node::install_packages,
};
const WASM_STD: Part = Part {
    name: "Rust's standard library for WASM",
    why: "page and worker are compiled for wasm32-unknown-unknown",
    find: wasm_std::describe,
    install: wasm_std::install,
};
const WASM_BINDGEN: Part = Part {
    name: "wasm-bindgen",
    why: "joins WASM and JavaScript; its version must be the one in Cargo.lock",
    find: tools::describe_wasm_bindgen,
    install: tools::install_wasm_bindgen,
};
const TRUNK: Part = Part {
    name: "Trunk",
    why: "builds page and worker into one static site",
    find: tools::describe_trunk,
    install: tools::install_trunk,
};
const BROWSER: Part = Part {
    name: "Chromium",
    why: "the browser tests run in a real browser",
    find: browser::describe,
    install: browser::install,
};

const DRIVER: Part = Part {
    name: "Chromium's driver",
    why: "the test runner opens a browser's worker through it",
    find: driver::describe,
    install: driver::install,
};

const VALGRIND: Part = Part {
    name: "Valgrind",
    why: "counts the instructions that a simulated request costs",
    find: valgrind::describe,
    install: valgrind::install,
};

/// What a build of the site needs.
pub(crate) const FOR_BUILD: &[Part] = &[NODE, NPM_PACKAGES, WASM_STD, WASM_BINDGEN, TRUNK];
/// What the browser tests need beside a built site.
pub(crate) const FOR_BROWSER_TESTS: &[Part] = &[NODE, NPM_PACKAGES, BROWSER];
/// What tests compiled for WASM need to run in Node.
pub(crate) const FOR_NODE_TESTS: &[Part] = &[NODE, WASM_STD, WASM_BINDGEN];
/// What tests compiled for WASM need to run in Node and in a browser.
pub(crate) const FOR_PARITY: &[Part] = &[NODE, WASM_STD, WASM_BINDGEN, BROWSER, DRIVER];
/// What counting instructions needs.
pub(crate) const FOR_INSTRUCTIONS: &[Part] = &[VALGRIND];
/// What a compilation for WASM needs.
pub(crate) const FOR_WASM: &[Part] = &[WASM_STD];
/// Everything, in the order of cost: a machine that cannot do the cheap parts says so early.
pub(crate) const ALL: &[Part] =
    &[NODE, NPM_PACKAGES, BROWSER, DRIVER, VALGRIND, WASM_STD, WASM_BINDGEN, TRUNK];

/// `cargo xtask setup`: finds or installs everything and tells what it found.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    for part in ALL {
        let found = ensure_part(workspace, part)?;
        println!("  ok  {}: {found}", part.name);
    }
    Ok(())
}

/// Installs what is missing of `parts`, and is silent when nothing is. Says first how much there is
/// to do: some of it takes minutes.
pub(crate) fn ensure(workspace: &Workspace, parts: &[Part]) -> Result<()> {
    let mut missing = Vec::new();
    for part in parts {
        if (part.find)(workspace)?.is_none() {
            missing.push(part);
        }
    }
    if missing.len() > 1 {
        let names: Vec<&str> = missing.iter().map(|part| part.name).collect();
        println!("  --  missing, and installed one after the other: {}", names.join(", "));
    }
    for part in missing {
        ensure_part(workspace, part)?;
    }
    Ok(())
}

fn ensure_part(workspace: &Workspace, part: &Part) -> Result<String> {
    if let Some(found) = (part.find)(workspace)? {
        return Ok(found);
    }
    let _lock = lock()?;
    // Whoever held the lock before us may have installed it.
    if let Some(found) = (part.find)(workspace)? {
        return Ok(found);
    }
    println!("  --  missing: {} ({}); installing it", part.name, part.why);
    let started = Instant::now();
    (part.install)(workspace).with_context(|| format!("{} could not be installed", part.name))?;
    match (part.find)(workspace)? {
        Some(found) => {
            println!("      installed in {} s", started.elapsed().as_secs());
            Ok(found)
        }
        None => bail!("{} was installed but still cannot be found", part.name),
    }
}

/// An installation's failure, and after it what a person can do about it.
fn or_remedy(installed: Result<()>, remedy: &str) -> Result<()> {
    installed.map_err(|error| anyhow!("{error:#}\nRemedy: {remedy}"))
}

/// Two checkouts on one machine share tool chain and tools: only one may install at a time.
fn lock() -> Result<File> {
    let home = cargo_home()?;
    crate::workspace::create_dir(&home)?;
    let path = home.join(".headroom-setup.lock");
    let file =
        File::create(&path).with_context(|| format!("{} could not be made", path.display()))?;
    file.lock().with_context(|| format!("{} could not be locked", path.display()))?;
    Ok(file)
}

/// Cargo's home, where installed tools survive this checkout.
pub(crate) fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(PathBuf::from(home));
    }
    let home = std::env::home_dir().context("the home folder is unknown: set CARGO_HOME")?;
    Ok(home.join(".cargo"))
}
