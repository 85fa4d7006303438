//! Files as they are found in the wild, and bytes that are none.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod any_bytes;
mod benchmarks;
mod engine_logs;
mod golden;
mod hostile;
mod messages;
#[cfg(feature = "published-traces")]
mod reference;
#[cfg(feature = "published-samples")]
mod samples;
mod servegen;

use std::path::{Path, PathBuf};

use import::trace::{self, ImportedTrace};

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/traces").join(name)
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(name: &str) -> ImportedTrace {
    trace::read(Some(name), &bytes(&golden_path(name))).unwrap_or_else(|error| panic!("{error}"))
}

fn read_text(text: &str) -> ImportedTrace {
    trace::read(None, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}
