//! Where things lie in this checkout, and what its lock file says.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The checkout that a command works on.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// The checkout this program was compiled from, wherever the command is typed.
    pub(crate) fn locate() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .nth(2)
            .context("crates/xtask does not lie two folders under the workspace root")?
            .to_path_buf();
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        let target = root.join(target);
        Ok(Self { root, target })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's build folder.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Our own corner of the build folder: stamps and work in progress.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// The finished site.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// The browser tests, and with them all that comes from npm.
    pub(crate) fn e2e(&self) -> PathBuf {
        self.root.join("tests").join("e2e")
    }

    /// The version of a crate in `Cargo.lock`.
    pub(crate) fn locked_version(&self, name: &str) -> Result<String> {
        let path = self.root.join("Cargo.lock");
        let lock = read(&path)?;
        locked_version(&lock, name)
            .map(str::to_owned)
            .with_context(|| format!("{} has no package `{name}`", path.display()))
    }
}

/// Reads a text file; the error names it.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))
}

/// Writes a file; the error names it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, content)
        .with_context(|| format!("{} could not be written", path.display()))
}

/// Makes a folder and those above it; the error names it.
pub(crate) fn create_dir(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("{} could not be made", path.display()))
}

/// Removes a folder with all in it. One that is not there is removed already.
pub(crate) fn remove_dir(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} could not be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Moves a file or folder within one file system; the error names both ends.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
        .with_context(|| format!("{} could not be moved to {}", from.display(), to.display()))
}

/// The folder's entries in the order of their names: what we do never depends on the file system.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
        .with_context(|| format!("{} could not be listed", folder.display()))
        .map(|paths: Vec<PathBuf>| paths)?;
    paths.sort();
    Ok(paths)
}

fn locked_version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    lines.find(|line| *line == wanted)?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"x\"\n";

    #[test]
    fn the_lock_tells_the_version_of_exactly_the_named_crate() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked_version(LOCK, "wasm"), None);
    }
}
