//! Simulated requests per second, natively and in WASM, through the general code path with all
//! measures on. Prints one line per rate: `speed RATE REQUESTS_PER_S`.
//!
//! `cargo xtask bench` runs it on both targets and puts the Python reference beside it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;

use headroom_tests::published_setup;
use sim_core::{Keep, simulate};

const RATES_PER_S: [f64; 2] = [20.0, 1.0];
/// The page's clock ticks in milliseconds.
const REQUESTS: u64 = 1_000_000;
/// The quickest of so many counts: whatever else the machine does only makes a run longer.
const RUNS: usize = 9;

/// One line per rate, by a clock in seconds.
fn lines(now_s: fn() -> f64) -> Vec<String> {
    RATES_PER_S
        .iter()
        .map(|&rate_per_s| {
            let setup = published_setup(rate_per_s, REQUESTS);
            let mut seconds: Vec<f64> = (0..RUNS)
                .map(|_| {
                    let start_s = now_s();
                    let run = simulate(black_box(&setup), Keep::default());
                    assert!(black_box(run).is_ok_and(|run| run.completed == REQUESTS));
                    now_s() - start_s
                })
                .collect();
            seconds.sort_by(f64::total_cmp);
            format!("speed {rate_per_s} {:.0}", REQUESTS as f64 / seconds[0])
        })
        .collect()
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    for line in lines(|| START.elapsed().as_secs_f64()) {
        println!("{line}");
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen_test::wasm_bindgen_test]
fn speed() {
    for line in lines(|| js_sys::Date::now() * 1e-3) {
        wasm_bindgen_test::console_log!("{line}");
    }
}
