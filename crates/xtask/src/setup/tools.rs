//! Trunk and wasm-bindgen: exactly the versions that work together, in Cargo's own tool folder.

use super::{cargo_home, or_remedy};
use crate::process::{capture, cargo, executable, find_on_path, run_with_progress};
use crate::workspace::{Workspace, remove_dir};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The last line of Trunk that compiles with our Rust; newer ones want a newer compiler.
const TRUNK_VERSION: &str = "0.21.14";
/// Compiling a tool takes five minutes on two cores, and half an hour on two that are busy.
const INSTALL_LIMIT: Duration = Duration::from_secs(60 * 60);

pub(crate) fn trunk() -> Result<Option<PathBuf>> {
    find("trunk", TRUNK_VERSION)
}

pub(crate) fn wasm_bindgen(workspace: &Workspace) -> Result<Option<PathBuf>> {
    find("wasm-bindgen", &workspace.locked_version("wasm-bindgen")?)
}

pub(super) fn describe_trunk(_: &Workspace) -> Result<Option<String>> {
    Ok(trunk()?.map(|path| describe(TRUNK_VERSION, &path)))
}

pub(super) fn describe_wasm_bindgen(workspace: &Workspace) -> Result<Option<String>> {
    let version = workspace.locked_version("wasm-bindgen")?;
    Ok(wasm_bindgen(workspace)?.map(|path| describe(&version, &path)))
}

/// Trunk comes with the lock file its authors tested.
pub(super) fn install_trunk(workspace: &Workspace) -> Result<()> {
    install(workspace, "trunk", TRUNK_VERSION, &["--locked"])
}

/// Its packed lock file names versions that have since been withdrawn, hence not `--locked`.
pub(super) fn install_wasm_bindgen(workspace: &Workspace) -> Result<()> {
    install(workspace, "wasm-bindgen-cli", &workspace.locked_version("wasm-bindgen")?, &[])
}

fn describe(version: &str, path: &Path) -> String {
    format!("{version} ({})", path.display())
}

/// The first of the usual places that holds exactly this version: one that is nearly right is
/// wrong, since Trunk would then download its own.
fn find(program: &str, version: &str) -> Result<Option<PathBuf>> {
    let installed = executable(&cargo_home()?.join("bin"), program);
    let candidates = find_on_path(program).into_iter().chain(std::iter::once(installed));
    for path in candidates.filter(|path| path.is_file()) {
        // Trunk takes NO_COLOR's usual value for an error.
        let said = capture(Command::new(&path).arg("--version").env_remove("NO_COLOR"));
        if said.is_ok_and(|said| version_in(&said) == Some(version)) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The version in what `--version` prints: "trunk 0.21.14".
fn version_in(said: &str) -> Option<&str> {
    said.split_whitespace().nth(1)
}

fn install(workspace: &Workspace, package: &str, version: &str, flags: &[&str]) -> Result<()> {
    let folder = cargo_home()?.join("bin");
    println!("      into {}, in place of any other version there", folder.display());
    // A folder that stays: what was compiled when somebody lost patience is not compiled again.
    let compiled = workspace.scratch().join("tools");
    let mut command = cargo();
    command.args(["install", package, "--version", version, "--force"]).args(flags);
    command.arg("--target-dir").arg(&compiled);
    // Flags and folders meant for our own build would make the tool another one.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    let label = format!("compiling {package} {version}");
    let remedy = format!(
        "run `cargo install {package} --version {version} {}` yourself, or put the program of \
         that version on PATH",
        flags.join(" ")
    );
    or_remedy(run_with_progress(&label, &mut command, INSTALL_LIMIT), &remedy)?;
    remove_dir(&compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_second_word() {
        assert_eq!(version_in("trunk 0.21.14\n"), Some("0.21.14"));
        assert_eq!(version_in("wasm-bindgen 0.2.130 (abc)"), Some("0.2.130"));
        assert_eq!(version_in(""), None);
    }
}
