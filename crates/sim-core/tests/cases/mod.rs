//! How many random cases a property is tried on.

/// So many, or as many as `PROPTEST_CASES` says.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
