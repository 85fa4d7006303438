//! The `headroom` command as a person or a script meets it.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod alternatives;
mod answers;
mod calibrate;
mod catalog;
mod check;
mod compare;
mod cost;
mod demand;
mod deployed;
mod errors;
mod examples;
mod experiments;
mod export;
mod files;
mod fit;
mod fleet;
mod fleet_parts;
mod hostile;
mod know;
mod links;
mod memory;
mod open_metrics;
mod pools;
mod reaction;
mod recordings;
mod replicas;
mod report;
mod sessions;
mod steadiness;
mod tornado;
mod traffic;
mod why;

use assert_cmd::Command;

/// The program with these arguments, in a folder without files of its own.
pub(crate) fn headroom(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("headroom").expect("the program was built");
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).args(arguments);
    command
}

/// What the program prints, which must succeed.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = headroom(arguments).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("it prints UTF-8")
}

/// What the program prints as JSON.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("it prints JSON")
}

/// A published recording.
pub(crate) fn recording(name: &str) -> String {
    format!("{}/../../tests/golden/roofline/roofline_{name}.csv", env!("CARGO_MANIFEST_DIR"))
}

/// Write a file for a test and give its path.
pub(crate) fn file(name: &str, text: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the folder can be written to");
    path.to_str().expect("a path in UTF-8").to_owned()
}
