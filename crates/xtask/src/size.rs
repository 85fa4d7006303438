//! The size budget of what a browser has to load before the page works.

use crate::module::LATE_ENDING;
use crate::workspace::{Workspace, entries};
use anyhow::{Context, Result, bail};
use flate2::{Compression, write::GzEncoder};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What page and worker may weigh together until the answer stands, gzipped.
const FIRST_LIMIT_BYTES: usize = 350 * KILOBYTE;
/// What may come after that, gzipped: a little above what it weighs, so that it does not grow unseen.
const LATE_LIMIT_BYTES: usize = 645 * KILOBYTE;
const FIRST: &str = "page and worker, until the answer stands";
const LATE: &str = "late part, loaded when reached for or in idle time";
const KILOBYTE: usize = 1_000;

/// `cargo xtask size`: measures the built site, prints a table, and fails above a limit.
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
    println!("{}", first.row(FIRST));
    println!("{}", late.row(LATE));
    println!("{}", first.with(&late).row("all told"));
    if late.raw == 0 {
        bail!("the built site has no late part: every visitor would load all of it");
    }
    println!("  {}", within(FIRST, first.gzip, FIRST_LIMIT_BYTES)?);
    println!("  {}", within(LATE, late.gzip, LATE_LIMIT_BYTES)?);
    Ok(())
}

/// Says that a part keeps its limit.
///
/// # Errors
/// It does not.
fn within(part: &str, gzip_bytes: usize, limit_bytes: usize) -> Result<String> {
    let (is, may) = (kilobytes(gzip_bytes), kilobytes(limit_bytes));
    if gzip_bytes > limit_bytes {
        bail!("{part}: {is} KB gzipped, over the limit of {may} KB");
    }
    Ok(format!("{part}: {is} of {may} KB gzipped"))
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
    fn a_part_keeps_its_limit_or_is_named() {
        let told = within("late part", 350_000, 350_000).expect("at the limit");
        assert_eq!(told, "late part: 350.0 of 350.0 KB gzipped");
        let error = within("late part", 350_001, 350_000).expect_err("above the limit");
        assert_eq!(error.to_string(), "late part: 350.1 KB gzipped, over the limit of 350.0 KB");
    }

    #[test]
    fn gzip_makes_repetition_small() {
        let size = gzipped(&vec![b'a'; 100_000]).expect("gzip in memory");
        assert!((20..500).contains(&size), "{size}");
    }
}
