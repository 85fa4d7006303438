//! The size budget of what a browser has to load before the page works.

use crate::module::LATE_ENDING;
use crate::workspace::{Workspace, entries};
use anyhow::{Context, Result, bail};
use flate2::{Compression, write::GzEncoder};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What page and worker may weigh together before anybody asks for more, gzipped.
const BUDGET_BYTES: usize = 350 * KILOBYTE;
const KILOBYTE: usize = 1_000;

/// `cargo xtask size`: measures the built site, prints a table, and fails above the budget.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let dist = workspace.dist();
    if !dist.join("index.html").is_file() {
        bail!("there is no built site: run `cargo xtask build` first");
    }
    let mut paths = Vec::new();
    collect(&dist, &mut paths)?;
    let (mut first, mut late) = (Size::default(), Size::default());
    println!("  {:>10} {:>10}  file", "raw KB", "gzip KB");
    for path in paths {
        let size = Size::of(&path)?;
        let name = path.strip_prefix(&dist).unwrap_or(&path).display().to_string();
        println!("{}", size.row(&name));
        let part = if name.ends_with(LATE_ENDING) { &mut late } else { &mut first };
        *part = part.with(&size);
    }
    println!("{}", first.row("page and worker together, as they begin"));
    println!("{}", late.row("loaded when it is needed, or when there is time"));
    println!("{}", first.with(&late).row("all told"));
    if late.raw == 0 {
        bail!("the built site has no late part: every visitor would load all of it");
    }
    if first.gzip > BUDGET_BYTES {
        bail!(
            "page and worker begin with {} KB gzipped, over the budget of {} KB",
            kilobytes(first.gzip),
            kilobytes(BUDGET_BYTES)
        );
    }
    println!(
        "  within the budget of {} KB gzipped for what is loaded first",
        kilobytes(BUDGET_BYTES)
    );
    Ok(())
}

#[derive(Default)]
struct Size {
    raw: usize,
    gzip: usize,
}

impl Size {
    fn of(path: &Path) -> Result<Self> {
        let content =
            std::fs::read(path).with_context(|| format!("{} could not be read", path.display()))?;
        Ok(Self { raw: content.len(), gzip: gzipped(&content)? })
    }

    fn with(&self, other: &Self) -> Self {
        Self { raw: self.raw + other.raw, gzip: self.gzip + other.gzip }
    }

    fn row(&self, name: &str) -> String {
        format!("  {:>10} {:>10}  {name}", kilobytes(self.raw), kilobytes(self.gzip))
    }
}

/// All scripts and modules of the site, wherever they lie.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            collect(&path, found)?;
        } else if matches!(path.extension().and_then(OsStr::to_str), Some("js" | "wasm")) {
            found.push(path);
        }
    }
    Ok(())
}

/// How many bytes a usual web server would send.
fn gzipped(content: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).context("gzip failed")?;
    Ok(encoder.finish().context("gzip failed")?.len())
}

/// With one decimal, rounded up: what is shown as the budget is within it.
fn kilobytes(bytes: usize) -> String {
    let tenths = bytes.div_ceil(KILOBYTE / 10);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_are_thousands_and_never_flatter() {
        assert_eq!(kilobytes(0), "0.0");
        assert_eq!(kilobytes(350_000), "350.0");
        assert_eq!(kilobytes(350_001), "350.1");
    }

    #[test]
    fn gzip_makes_repetition_small() {
        let size = gzipped(&vec![b'a'; 100_000]).expect("gzip in memory");
        assert!((20..500).contains(&size), "{size}");
    }
}
