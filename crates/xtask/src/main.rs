//! Set-up, build, serve, test and size budget.

fn main() {}
