//! Chromium's driver, through which the test runner opens a browser.

use super::or_remedy;
use crate::process::find_on_path;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Names the driver to use, as the test runner itself reads it.
const VARIABLE: &str = "CHROMEDRIVER";

/// The driver to use, if there is one.
pub(crate) fn find() -> Result<Option<PathBuf>> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let path = PathBuf::from(named);
        if !path.is_file() {
            bail!("{VARIABLE} names {}, which is no file", path.display());
        }
        return Ok(Some(path));
    }
    Ok(find_on_path("chromedriver"))
}

pub(super) fn describe(_: &Workspace) -> Result<Option<String>> {
    Ok(find()?.map(|path| path.display().to_string()))
}

/// From Debian, which keeps it at the browser's own version.
pub(super) fn install(_: &Workspace) -> Result<()> {
    let remedy = format!(
        "install the chromedriver of your Chromium's version, and set {VARIABLE} to its program"
    );
    or_remedy(super::debian::install(&["chromium-driver"]), &remedy)
}
