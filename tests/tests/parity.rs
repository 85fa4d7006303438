//! The same bits on every target: natively, in Node, and in a browser's worker.
//!
//! Natively this is a plain test. For WASM, `wasm-bindgen-test-runner` runs it in Node, or with
//! `WASM_BINDGEN_USE_DEDICATED_WORKER=1` in a dedicated worker of a headless browser.

use headroom_tests::{GOLDEN_BITS, cases, line};

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn every_case_has_its_golden_bits() {
    let ours: Vec<String> = cases().iter().map(line).collect();
    let golden: Vec<&str> = GOLDEN_BITS.lines().collect();
    assert_eq!(ours, golden);
}

/// The fingerprint is of the results: no two cases share it, and none is of an empty run.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn no_two_cases_share_their_bits() {
    let mut hashes: Vec<&str> =
        GOLDEN_BITS.lines().filter_map(|line| line.split_once(' ')).map(|(_, hash)| hash).collect();
    let empty = format!("{:016x}", headroom_tests::Fingerprint::default().value());
    assert!(!hashes.contains(&empty.as_str()));
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), cases().len());
}
