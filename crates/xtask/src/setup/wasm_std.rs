//! Rust's standard library for WASM: from rustup, or built here from Debian's copy of its source.

use super::{debian, or_remedy};
use crate::process::{capture, cargo, find_on_path, run_with_progress};
use crate::workspace::{Workspace, create_dir, entries, remove_dir, rename, write};
use anyhow::{Context, Result, anyhow, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TARGET: &str = "wasm32-unknown-unknown";
/// rustup waits long for a server that never answers; the other way is there for that.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);
const BUILD_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Where Debian may hold the source of a given compiler, the likeliest first.
const SUITES: &[&str] = &["trixie-backports", "testing", "unstable", "stable"];

pub(super) fn describe(workspace: &Workspace) -> Result<Option<String>> {
    let toolchain = Toolchain::find()?;
    if !toolchain.works(workspace)? {
        return Ok(None);
    }
    let origin = if toolchain.has_component(&format!("rust-std-{TARGET}")) {
        "from rustup"
    } else {
        "built from source"
    };
    Ok(Some(format!("{TARGET} for rustc {}, {origin}", toolchain.version)))
}

pub(super) fn install(workspace: &Workspace) -> Result<()> {
    let toolchain = Toolchain::find()?;
    if !toolchain.has_component(&format!("rust-std-{TARGET}")) {
        // One that we built for an earlier compiler: rustup's files must not mix with it.
        remove_dir(&toolchain.installed())?;
    }
    println!("      the ordinary way: rustup target add {TARGET}");
    let Err(ordinary) = from_rustup(workspace, &toolchain) else { return Ok(()) };
    println!("      it failed: {}", last_line(&format!("{ordinary:#}")));
    println!("      the offline way: Debian's rust-src, compiled here (about a minute)");
    let offline = from_debian(workspace, &toolchain)
        .map_err(|offline| anyhow!("{offline:#}\nThe ordinary way failed before: {ordinary:#}"));
    let remedy = format!(
        "with a network, run `rustup target add {TARGET}`; without one, make Debian's rust-src {} \
         reachable through apt",
        toolchain.version
    );
    or_remedy(offline, &remedy)
}

/// Throws away what this checkout compiled against another standard library: Cargo does not
/// notice that it was replaced, and the compiler then finds two of them. Tells which one it is.
pub(crate) fn discard_stale_builds(workspace: &Workspace) -> Result<String> {
    let toolchain = Toolchain::find()?;
    let identity = toolchain.identity()?;
    let stamp = workspace.scratch().join("wasm-std");
    if std::fs::read_to_string(&stamp).is_ok_and(|known| known == identity) {
        return Ok(identity);
    }
    for folder in [TARGET, "wasm-bindgen", "wasm-opt"] {
        remove_dir(&workspace.target().join(folder))?;
    }
    create_dir(&workspace.scratch())?;
    write(&stamp, &identity)?;
    Ok(identity)
}

/// Compiler flags that keep the folders of compiler and registry out of panic messages: they
/// differ from machine to machine, and tell the world where its builder lives.
pub(crate) fn remap_folders() -> Result<Vec<String>> {
    Toolchain::find()?.remap_folders()
}

/// The compiler in use and where it keeps its libraries.
struct Toolchain {
    rustlib: PathBuf,
    /// "1.95.0"
    version: String,
    commit: String,
}

impl Toolchain {
    fn find() -> Result<Self> {
        let said = capture(rustc().arg("-vV"))?;
        let sysroot = capture(rustc().args(["--print", "sysroot"]))?;
        Ok(Self {
            rustlib: Path::new(sysroot.trim()).join("lib").join("rustlib"),
            version: field(&said, "release").context("rustc -vV tells no release")?.to_owned(),
            commit: field(&said, "commit-hash").unwrap_or("unknown").to_owned(),
        })
    }

    fn installed(&self) -> PathBuf {
        self.rustlib.join(TARGET)
    }

    /// Whether rustup put this component here.
    fn has_component(&self, name: &str) -> bool {
        let list = std::fs::read_to_string(self.rustlib.join("components")).unwrap_or_default();
        list.lines().any(|line| line == name)
    }

    /// Whether a program compiles: a folder may be there and yet be half, double or stale.
    fn works(&self, workspace: &Workspace) -> Result<bool> {
        if !self.installed().join("lib").is_dir() {
            return Ok(false);
        }
        let folder = workspace.scratch().join("probe");
        create_dir(&folder)?;
        let source = folder.join("probe.rs");
        write(&source, "pub fn probe() -> String { String::new() }\n")?;
        let mut command = rustc();
        command.args(["--target", TARGET, "--crate-type", "lib", "--emit", "metadata"]);
        command.arg("--out-dir").arg(&folder).arg(&source);
        Ok(capture(&mut command).is_ok())
    }

    fn remap_folders(&self) -> Result<Vec<String>> {
        let source = self.rustlib.join("src").join("rust");
        let cargo = super::cargo_home()?;
        let registries = cargo.join("registry").join("src");
        let mut folders =
            vec![(source, format!("/rustc/{}", self.commit)), (cargo, "/cargo".to_owned())];
        if registries.is_dir() {
            // After Cargo's home, since the last match counts: every mirror gives the same names.
            let all = entries(&registries)?;
            folders.extend(all.into_iter().map(|registry| (registry, "/cargo".to_owned())));
        }
        let flag =
            |(from, to): (PathBuf, String)| format!("--remap-path-prefix={}={to}", from.display());
        Ok(folders.into_iter().map(flag).collect())
    }

    /// What tells one standard library from another: its core's name holds a hash.
    fn identity(&self) -> Result<String> {
        let core = rlibs(&self.installed().join("lib"))?
            .into_iter()
            .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .find(|name| name.starts_with("libcore-"))
            .with_context(|| format!("{TARGET} has no core library"))?;
        Ok(format!("{} {core}", self.commit))
    }
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").as_deref().unwrap_or(OsStr::new("rustc")))
}

/// A field in `rustc -vV`'s answer.
fn field<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The folder of the toolchain whose compiler this is: two levels up from its program.
fn toolchain_of(rustc: &Path) -> &Path {
    rustc.ancestors().nth(2).unwrap_or(rustc)
}

fn last_line(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default()
}

fn from_rustup(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    if find_on_path("rustup").is_none() {
        bail!("this system has no rustup");
    }
    let managed = capture(Command::new("rustup").args(["which", "rustc"]))?;
    if !toolchain.rustlib.starts_with(toolchain_of(Path::new(managed.trim()))) {
        bail!("the rustc in use is not the one of rustup's active toolchain");
    }
    let target = |verb: &str| {
        let mut command = Command::new("rustup");
        command.args(["target", verb, TARGET]);
        // One try, since there is another way; no backtrace, since the reason is its last line.
        command.env("RUSTUP_MAX_RETRIES", "1").env("RUST_BACKTRACE", "0");
        run_with_progress(&format!("rustup target {verb}"), &mut command, RUSTUP_LIMIT)
    };
    target("add")?;
    if !toolchain.works(workspace)? {
        // rustup goes by its records: where files were lost or mixed, it does nothing.
        target("remove")?;
        remove_dir(&toolchain.installed())?;
        target("add")?;
    }
    if !toolchain.works(workspace)? {
        bail!("rustup's {TARGET} does not work with this rustc");
    }
    Ok(())
}

fn from_debian(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    let scratch = workspace.scratch().join(format!("wasm-std-{}", std::process::id()));
    remove_dir(&scratch)?;
    create_dir(&scratch)?;
    let built = ensure_source(toolchain, &scratch).and_then(|()| build(toolchain, &scratch));
    // Hundreds of megabytes, of use to nobody; the result is what counts.
    let _ = remove_dir(&scratch);
    built
}

/// Puts the library's source where `-Z build-std` looks for it.
fn ensure_source(toolchain: &Toolchain, scratch: &Path) -> Result<()> {
    let home = toolchain.rustlib.join("src").join("rust");
    let marker = home.join(".headroom-version");
    let ours = std::fs::read_to_string(&marker).is_ok_and(|known| known == toolchain.version);
    if home.join("library").is_dir() && (ours || toolchain.has_component("rust-src")) {
        return Ok(());
    }
    let unpacked = debian::unpack("rust-src", &toolchain.version, SUITES, scratch)?;
    let source = unpacked.join("usr/src").join(format!("rustc-{}", toolchain.version));
    // Into the same file system first: only the last step, a rename, is seen by others.
    let fresh = toolchain.rustlib.join(format!(".headroom-src-{}", std::process::id()));
    remove_dir(&fresh)?;
    create_dir(&fresh)?;
    copy_tree(&source.join("library"), &fresh.join("library"))?;
    write(&fresh.join(".headroom-version"), &toolchain.version)?;
    remove_dir(&home)?;
    create_dir(&toolchain.rustlib.join("src"))?;
    rename(&fresh, &home)
}

/// Compiles an empty program together with the standard library, and keeps the library.
///
/// With its bitcode, since the site is built with link-time optimisation; without the folders
/// of this machine, which would end up in panic messages.
fn build(toolchain: &Toolchain, scratch: &Path) -> Result<()> {
    let project = scratch.join("empty");
    create_dir(&project.join("src"))?;
    write(
        &project.join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )?;
    write(&project.join("src").join("main.rs"), "fn main() {}\n")?;
    let mut flags = vec!["-Cembed-bitcode=yes".to_owned()];
    flags.extend(toolchain.remap_folders()?);
    let mut command = cargo();
    command
        .args(["build", "--release", "--target", TARGET, "-Z", "build-std=std,panic_abort,test"])
        .arg("--target-dir")
        .arg(scratch.join("target"))
        .current_dir(&project)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    run_with_progress("compiling the standard library", &mut command, BUILD_LIMIT)?;
    let deps = scratch.join("target").join(TARGET).join("release").join("deps");
    adopt(toolchain, &deps)
}

/// Copies the compiled library beside its place, then moves it there in one step.
fn adopt(toolchain: &Toolchain, deps: &Path) -> Result<()> {
    let fresh = toolchain.rustlib.join(format!(".headroom-std-{}", std::process::id()));
    remove_dir(&fresh)?;
    let lib = fresh.join("lib");
    create_dir(&lib)?;
    for rlib in rlibs(deps)? {
        let name = rlib.file_name().context("a library has no name")?;
        std::fs::copy(&rlib, lib.join(name))
            .with_context(|| format!("{} could not be copied", rlib.display()))?;
    }
    remove_dir(&toolchain.installed())?;
    rename(&fresh, &toolchain.installed())
}

fn rlibs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension() == Some(OsStr::new("rlib")));
    Ok(paths)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    create_dir(to)?;
    for path in entries(from)? {
        let name = path.file_name().context("a file has no name")?;
        let copy = to.join(name);
        if path.is_dir() {
            copy_tree(&path, &copy)?;
        } else {
            std::fs::copy(&path, &copy)
                .with_context(|| format!("{} could not be copied", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_tells_its_release_and_commit() {
        let said = "rustc 1.95.0 (598 2026-04-14)\nbinary: rustc\ncommit-hash: 598\n\
            host: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(field(said, "release"), Some("1.95.0"));
        assert_eq!(field(said, "commit-hash"), Some("598"));
        assert_eq!(field(said, "channel"), None);
    }

    #[test]
    fn a_failure_is_told_by_its_last_line() {
        assert_eq!(last_line("one\n  error: no route\n\n"), "error: no route");
    }
}
