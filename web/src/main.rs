//! The Headroom page.

fn main() {}
