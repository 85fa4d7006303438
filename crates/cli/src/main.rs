//! The `headroom` command line.

fn main() {}
