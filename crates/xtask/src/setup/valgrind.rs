//! Valgrind, which counts instructions.

use super::{debian, or_remedy};
use crate::instructions::IS_COUNTED_HERE;
use crate::process::{capture, find_on_path};
use crate::workspace::Workspace;
use anyhow::Result;
use std::process::Command;

pub(super) fn describe(_: &Workspace) -> Result<Option<String>> {
    if !IS_COUNTED_HERE {
        return Ok(Some("not used on this system".to_owned()));
    }
    let Some(path) = find_on_path("valgrind") else { return Ok(None) };
    let version = capture(Command::new(&path).arg("--version"))?;
    Ok(Some(format!("{} ({})", version.trim(), path.display())))
}

pub(super) fn install(_: &Workspace) -> Result<()> {
    or_remedy(debian::install(&["valgrind", "libc6-dbg"]), "install Valgrind, and put it on PATH")
}
