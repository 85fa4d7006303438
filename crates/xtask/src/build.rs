//! The optimised static site: Trunk builds it aside, we finish it there, and only a whole one
//! takes the place of the last.

use crate::hash::TreeHash;
use crate::process::{cargo, path_with, run as run_process, run_with_progress};
use crate::setup;
use crate::workspace::{Workspace, create_dir, read, remove_dir, rename, write};
use crate::{html, module};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// All that can change what the site does. Tests cannot, but the versions of its tools can.
const INPUTS: &[&str] = &[
    "crates",
    "web",
    "assets",
    "Cargo.toml",
    "Cargo.lock",
    "Trunk.toml",
    ".cargo/config.toml",
    "tests/e2e/package-lock.json",
];
/// What is left of the hash in the build's name.
const BUILD_ID_LENGTH: usize = 16;
const FETCH_LIMIT: Duration = Duration::from_secs(10 * 60);

/// `cargo xtask build`: makes `dist/`, unless it is there and of these very inputs.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, setup::FOR_BUILD)?;
    // Trunk runs offline, so that it takes our tools; Cargo is offline with it.
    let mut fetch = cargo();
    fetch.arg("fetch").current_dir(workspace.root());
    run_with_progress("cargo fetch", &mut fetch, FETCH_LIMIT)?;
    let std = setup::discard_stale_builds(workspace)?;
    let build_id = build_id(workspace, &std)?;
    if is_current(workspace, &build_id)? {
        println!("  dist/ is up to date (build {build_id})");
        return Ok(());
    }
    let staging = workspace.scratch().join("site");
    remove_dir(&staging)?;
    create_dir(&staging)?;
    trunk(workspace, &staging, &build_id)?;
    finish(workspace, &staging, &build_id)?;
    publish(workspace, &staging, &build_id)?;
    println!("  dist/ is ready (build {build_id})");
    Ok(())
}

/// The build's name: a hash of its inputs, the same in every checkout. Page and worker are both
/// compiled with it, so that each can tell whether the other is of the same build.
fn build_id(workspace: &Workspace, std: &str) -> Result<String> {
    let mut hash = TreeHash::default();
    hash.add_text(std);
    for input in INPUTS {
        hash.add(workspace.root(), input)?;
    }
    let mut id = hash.finish();
    id.truncate(BUILD_ID_LENGTH);
    Ok(id)
}

fn trunk(workspace: &Workspace, staging: &Path, build_id: &str) -> Result<()> {
    let trunk = setup::trunk()?.context("Trunk is missing")?;
    let wasm_bindgen = setup::wasm_bindgen(workspace)?.context("wasm-bindgen is missing")?;
    let wasm_bindgen = wasm_bindgen.parent().context("wasm-bindgen lies in no folder")?;
    let path = path_with([setup::node_bin(workspace).as_path(), wasm_bindgen])?;
    let mut command = Command::new(trunk);
    command
        .args(["build", "--release", "--dist"])
        .arg(staging)
        .current_dir(workspace.root())
        .env("PATH", path)
        .env("TRUNK_OFFLINE", "true")
        .env("TRUNK_SKIP_VERSION_CHECK", "true")
        .env("HEADROOM_BUILD_ID", build_id)
        .env("CARGO_ENCODED_RUSTFLAGS", compiler_flags(workspace)?)
        // Its usual value, 1, is an error to Trunk.
        .env_remove("NO_COLOR");
    run_process(&mut command)
}

/// The same build, to the byte, whatever folders it is made in.
fn compiler_flags(workspace: &Workspace) -> Result<String> {
    let mut flags = setup::remap_folders()?;
    flags.push(format!("--remap-path-prefix={}=/headroom", workspace.root().display()));
    Ok(flags.join("\u{1f}"))
}

/// What Trunk leaves undone: a smaller module, names for what we change, the meta tags, the policy.
fn finish(workspace: &Workspace, site: &Path, build_id: &str) -> Result<()> {
    let index = site.join("index.html");
    let mut page = read(&index)?;
    let forbidden = html::forbidden_by_policy(&page);
    if !forbidden.is_empty() {
        bail!("index.html has what its security policy forbids: {}", forbidden.join(", "));
    }
    page = module::finish(workspace, site, &page)?;
    page = html::fill_meta(&page, "name", "worker", &module::name_worker(site)?)?;
    page = html::fill_meta(&page, "name", "build-id", build_id)?;
    page = html::without_idle_integrity(&page);
    let policy = html::content_security_policy(&page);
    page = html::fill_meta(&page, "http-equiv", "Content-Security-Policy", &policy)?;
    write(&index, page)
}

/// Puts the finished site in place and notes its state.
fn publish(workspace: &Workspace, staging: &Path, build_id: &str) -> Result<()> {
    let dist = workspace.dist();
    remove_dir(&dist)?;
    rename(staging, &dist)?;
    write(&workspace.scratch().join("dist"), state(workspace, build_id)?)
}

/// Whether `dist/` is what these inputs gave the last time, and nobody touched it since.
fn is_current(workspace: &Workspace, build_id: &str) -> Result<bool> {
    let noted = std::fs::read_to_string(workspace.scratch().join("dist")).unwrap_or_default();
    Ok(noted == state(workspace, build_id)?)
}

fn state(workspace: &Workspace, build_id: &str) -> Result<String> {
    let mut hash = TreeHash::default();
    hash.add(workspace.root(), "dist")?;
    Ok(format!("{build_id} {}", hash.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_follows_the_standard_library_too() {
        let workspace = Workspace::locate().expect("this checkout");
        let one = build_id(&workspace, "one").expect("readable inputs");
        assert_eq!(one.len(), BUILD_ID_LENGTH);
        assert_eq!(one, build_id(&workspace, "one").expect("readable inputs"));
        assert_ne!(one, build_id(&workspace, "other").expect("readable inputs"));
    }
}
