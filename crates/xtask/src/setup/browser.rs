//! A real browser for the tests.

use super::{debian, or_remedy};
use crate::process::find_on_path;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Names the browser to use, before any that we would find.
const VARIABLE: &str = "HEADROOM_CHROMIUM";
const NAMES: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// Where installers put it without touching PATH.
const USUAL_PLACES: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
];

/// The browser to test with, if there is one.
pub(crate) fn find() -> Result<Option<PathBuf>> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let path = PathBuf::from(named);
        if !path.is_file() {
            bail!("{VARIABLE} names {}, which is no file", path.display());
        }
        return Ok(Some(path));
    }
    let on_path = NAMES.iter().find_map(|name| find_on_path(name));
    let installed = || USUAL_PLACES.iter().map(Path::new).find(|path| path.is_file());
    Ok(on_path.or_else(|| installed().map(Path::to_path_buf)))
}

pub(super) fn describe(_: &Workspace) -> Result<Option<String>> {
    Ok(find()?.map(|path| path.display().to_string()))
}

/// From Debian, with a typeface: a page without glyphs has no layout worth testing.
pub(super) fn install(_: &Workspace) -> Result<()> {
    let remedy = format!(
        "install Chromium or Chrome, and set {VARIABLE} to its program if it is not on PATH"
    );
    or_remedy(debian::install(&["chromium", "fonts-dejavu-core"]), &remedy)
}
