//! One deterministic run, whose instructions are counted from outside.
//!
//! `cargo bench -p sim-core --bench instructions -- CASE REQUESTS` simulates one case;
//! `cargo xtask test instructions` counts all of them and compares with `instructions.toml`.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod cases;

use std::{error::Error, hint::black_box};

use cases::CASES;
use sim_core::{Keep, simulate};

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds flags of its own.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [name, requests] = words.as_slice() else {
        println!("give a case and a number of requests; the cases are:");
        CASES.iter().for_each(|case| println!("  {}", case.name));
        return Ok(());
    };
    let case = CASES.iter().find(|case| case.name == name).ok_or("there is no such case")?;
    let requests = requests.parse()?;
    let run = black_box(simulate(&case.setup(requests)?, Keep::default())?);
    // A run that did less would be cheaper.
    if run.completed != requests {
        return Err(format!("{} of {requests} requests finished", run.completed).into());
    }
    println!("{requests} requests in {} steps", run.steps);
    Ok(())
}
