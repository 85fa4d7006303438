//! Node.js and what comes from npm: wasm-opt, esbuild and the drivers of the browser tests.

use super::{debian, or_remedy};
use crate::hash::sha256_hex;
use crate::process::{capture, find_on_path, run_with_progress};
use crate::workspace::{Workspace, read, write};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// playwright-core's oldest.
const OLDEST_NODE: u32 = 20;
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
const REMEDY: &str = "install Node.js 20 or later with npm, and put both on PATH";
/// 20 MB; ten minutes is a stalled mirror.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// The folder of the programs that come from npm, `wasm-opt` among them.
pub(crate) fn bin(workspace: &Workspace) -> PathBuf {
    workspace.e2e().join("node_modules").join(".bin")
}

/// A program that comes from npm. Its launcher is a script, which ends in `.cmd` on Windows only.
pub(crate) fn program(workspace: &Workspace, name: &str) -> PathBuf {
    bin(workspace).join(if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() })
}

pub(super) fn describe(_: &Workspace) -> Result<Option<String>> {
    let (Some(node), Some(_)) = (find_on_path("node"), find_npm()) else { return Ok(None) };
    let version = capture(Command::new(&node).arg("--version"))?;
    let version = version.trim();
    match major(version) {
        Some(number) if number >= OLDEST_NODE => {
            Ok(Some(format!("{version} ({})", node.display())))
        }
        _ => bail!("Node.js {version} in {} is too old: {REMEDY}", node.display()),
    }
}

pub(super) fn install(_: &Workspace) -> Result<()> {
    or_remedy(debian::install(&["nodejs", "npm"]), REMEDY)
}

pub(super) fn describe_packages(workspace: &Workspace) -> Result<Option<String>> {
    let stamp = std::fs::read_to_string(stamp(workspace)).unwrap_or_default();
    let there = program(workspace, "wasm-opt").is_file() && stamp == lock_hash(workspace)?;
    Ok(there.then(|| "as in tests/e2e/package-lock.json".to_owned()))
}

pub(super) fn install_packages(workspace: &Workspace) -> Result<()> {
    let mut command = Command::new(NPM);
    command.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    command.current_dir(workspace.e2e());
    or_remedy(
        run_with_progress("npm ci", &mut command, DOWNLOAD_LIMIT),
        "run `npm ci` in tests/e2e yourself, with a registry that it can reach",
    )?;
    // Last, so that a half-made folder is never taken for a whole one.
    write(&stamp(workspace), lock_hash(workspace)?)
}

fn stamp(workspace: &Workspace) -> PathBuf {
    workspace.e2e().join("node_modules").join(".headroom-lock")
}

fn lock_hash(workspace: &Workspace) -> Result<String> {
    Ok(sha256_hex(read(&workspace.e2e().join("package-lock.json"))?.as_bytes()))
}

fn find_npm() -> Option<PathBuf> {
    find_on_path("npm").or_else(|| find_on_path(NPM))
}

/// "v20.20.2" is 20.
fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_the_first_number() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("node"), None);
    }
}
