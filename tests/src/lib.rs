//! What the tests of several targets share: cases whose bits must be the same on each of them.
//!
//! `golden/bits.txt` holds a fingerprint per case. After a change that is meant to move bits:
//! `cargo run -p headroom-tests --example bits > tests/golden/bits.txt`.

mod cases;
mod fingerprint;

pub use cases::{Case, cases, published_setup};
pub use fingerprint::Fingerprint;

/// The fingerprints as they were committed: one `name hash` per line.
pub const GOLDEN_BITS: &str = include_str!("../golden/bits.txt");

/// The line of a case in `golden/bits.txt`.
#[must_use]
pub fn line(case: &Case) -> String {
    format!("{} {:016x}", case.name, (case.bits)())
}
