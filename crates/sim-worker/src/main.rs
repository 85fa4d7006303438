//! The worker: message loop, slicing, cancellation, panic report.

fn main() {}
