//! Simulated requests per second on one core, metrics on, through the general code path.
//!
//! `cargo bench -p sim-core` prints one line per case: requests, wall time, requests per second.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{hint::black_box, time::Instant};

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, SetupError, Slo,
    StepTimeSpec, Workload, simulate,
};

const RUNS: usize = 5;

struct Case {
    name: &'static str,
    rate_per_s: f64,
    input: LengthSpec,
    output: LengthSpec,
    requests: u64,
}

/// Qwen2.5-7B in BF16 on one H100, by the published constants.
fn setup(case: &Case) -> Setup {
    Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s: case.rate_per_s,
                input: case.input,
                output: case.output,
            },
            requests: case.requests,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 8192,
            max_num_seqs: 256,
            kv_capacity_tokens: 959_123,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Roofline {
            params: 7.6e9,
            weight_bytes: 15.2e9,
            kv_bytes_per_token: 57_344.0,
            peak_flops: 989e12,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.5e-3,
        },
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    }
}

fn main() -> Result<(), SetupError> {
    let fixed = |tokens| LengthSpec::Fixed { tokens };
    let spread = |median_tokens, max_tokens| LengthSpec::LogNormal {
        median_tokens,
        sigma: 0.8,
        min_tokens: 1,
        max_tokens,
    };
    let cases = [
        Case {
            name: "20 req/s",
            rate_per_s: 20.0,
            input: fixed(1024),
            output: fixed(256),
            requests: 2_000_000,
        },
        Case {
            name: "1 req/s",
            rate_per_s: 1.0,
            input: fixed(1024),
            output: fixed(256),
            requests: 2_000_000,
        },
        Case {
            name: "30 req/s, overloaded",
            rate_per_s: 30.0,
            input: fixed(1024),
            output: fixed(256),
            requests: 2_000_000,
        },
        Case {
            name: "15 req/s, lognormal lengths",
            rate_per_s: 15.0,
            input: spread(700.0, 8192),
            output: spread(180.0, 2048),
            requests: 2_000_000,
        },
        Case {
            name: "20 req/s, 2,000 requests",
            rate_per_s: 20.0,
            input: fixed(1024),
            output: fixed(256),
            requests: 2_000,
        },
    ];
    println!("{:<30} {:>10} {:>10} {:>14}", "case", "requests", "seconds", "requests/s");
    for case in &cases {
        let setup = setup(case);
        let mut seconds = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            black_box(simulate(black_box(&setup), Keep::default())?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[RUNS / 2];
        println!(
            "{:<30} {:>10} {median:>10.4} {:>14.0}",
            case.name,
            case.requests,
            case.requests as f64 / median
        );
    }
    Ok(())
}
