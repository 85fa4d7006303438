//! Simulated requests per second on one core, metrics on, through the general code path.
//!
//! `cargo bench -p sim-core --bench speed` prints one line per case: requests, wall time, requests
//! per second.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod cases;

use std::{hint::black_box, time::Instant};

use cases::CASES;
use sim_core::{Keep, SetupError, simulate};

const RUNS: usize = 5;
const REQUESTS: [u64; 2] = [2_000_000, 2_000];

fn main() -> Result<(), SetupError> {
    println!("{:<32} {:>10} {:>10} {:>14}", "case", "requests", "seconds", "requests/s");
    for (case, requests) in CASES.iter().flat_map(|case| REQUESTS.map(|number| (case, number))) {
        let setup = case.setup(requests)?;
        let mut seconds = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            black_box(simulate(black_box(&setup), Keep::default())?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[RUNS / 2];
        println!(
            "{:<32} {requests:>10} {median:>10.4} {:>14.0}",
            case.name,
            requests as f64 / median
        );
    }
    Ok(())
}
