//! Simulated requests per second on one core under the `vllm-v1` rules: paging on, histograms on,
//! three classes of lognormal lengths, Qwen2.5-7B in BF16 on one H100.
//!
//! `cargo bench -p sim-core --bench vllm` prints one line per case. A word after `--` runs only the
//! cases whose name holds it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{hint::black_box, sync::Arc, time::Instant};

use sim_core::{
    ArrivalProcess, Keep, LengthSpec, RequestSource, SetupError, Slo, StepTimeSpec, Workload,
    engine::vllm::{
        Content, Policy, Standing, Standings, Version, VllmSetup, VllmSpec, simulate_vllm,
    },
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
};

const REQUESTS: u64 = 500_000;
const RUNS: usize = 5;
const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

fn class(weight: f64, input: (f64, f64), output: (f64, f64), priority: i32) -> RequestClass {
    let lengths = |(median_tokens, sigma), max_tokens| LengthSpec::LogNormal {
        median_tokens,
        sigma,
        min_tokens: 1,
        max_tokens,
    };
    RequestClass {
        weight,
        lengths: RequestLengths::Independent {
            input: lengths(input, 8192),
            output: lengths(output, 2048),
        },
        slo: SLO,
        priority,
        shared_prefix: None,
        sessions: None,
        patience: None,
    }
}

/// Around 512 tokens in and 128 out.
fn setup(
    rate_per_s: f64,
    kv_capacity_tokens: u64,
    change: impl FnOnce(&mut VllmSetup),
) -> VllmSetup {
    let mix = Mix {
        arrivals: Arrivals {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            bursts: None,
            profile: RateProfile::Constant,
        },
        classes: vec![
            class(0.5, (512.0, 0.6), (128.0, 0.6), 0),
            class(0.3, (700.0, 0.8), (100.0, 0.7), 1),
            class(0.2, (250.0, 0.7), (180.0, 0.6), 2),
        ],
    };
    let mut setup = VllmSetup {
        workload: Workload { source: RequestSource::Mixed(Arc::new(mix)), requests: REQUESTS },
        vllm: VllmSpec {
            max_num_seqs: 256,
            max_num_batched_tokens: 8192,
            prefix_caching: false,
            steps_in_flight: 1,
            ..VllmSpec::of_version(Version::V0_33, kv_capacity_tokens / 16 + 1, 10_241)
        },
        standings: Standings::Same,
        step_time: StepTimeSpec::Roofline {
            params: 7.6e9,
            weight_bytes: 15.2e9,
            kv_bytes_per_token: 57_344.0,
            peak_flops: 989e12,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.5e-3,
        },
        slo: SLO,
        seed: 0,
    };
    change(&mut setup);
    setup
}

/// By class: its priority, and a system prompt of 256 tokens.
fn standings() -> Standings {
    let standing = |group| Standing {
        priority: group as i64,
        content: Content::SharedPrefix { group, tokens: 256 },
    };
    Standings::OfClass((0..3).map(standing).collect())
}

fn cases() -> Vec<(&'static str, VllmSetup)> {
    const ROOMY: u64 = 959_123;
    // A few dozen requests' worth: preemption all the time.
    const TIGHT: u64 = 24_000;
    vec![
        ("20 req/s", setup(20.0, ROOMY, |_| {})),
        ("20 req/s, asynchronous", setup(20.0, ROOMY, |s| s.vllm.steps_in_flight = 2)),
        (
            "20 req/s, priority",
            setup(20.0, ROOMY, |s| {
                s.vllm.policy = Policy::Priority;
                s.standings = standings();
            }),
        ),
        (
            "20 req/s, prefix cache",
            setup(20.0, ROOMY, |s| {
                s.vllm.prefix_caching = true;
                s.standings = standings();
            }),
        ),
        (
            "20 req/s, long-prefill threshold",
            setup(20.0, ROOMY, |s| s.vllm.long_prefill_token_threshold = 256),
        ),
        ("40 req/s", setup(40.0, ROOMY, |_| {})),
        (
            "40 req/s, tight memory",
            setup(40.0, TIGHT, |s| s.vllm.scheduler_reserve_full_isl = false),
        ),
        (
            "40 req/s, tight, priority, cache",
            setup(40.0, TIGHT, |s| {
                s.vllm.policy = Policy::Priority;
                s.vllm.prefix_caching = true;
                s.standings = standings();
            }),
        ),
    ]
}

fn main() -> Result<(), SetupError> {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    println!("{:<34} {:>9} {:>11} {:>12}", "case", "seconds", "preempted", "requests/s");
    for (name, setup) in cases() {
        if wanted.as_ref().is_some_and(|word| !name.contains(word.as_str())) {
            continue;
        }
        let mut seconds = Vec::new();
        let mut preemptions = 0;
        for _ in 0..RUNS {
            let start = Instant::now();
            let run = black_box(simulate_vllm(black_box(&setup), Keep::default())?);
            seconds.push(start.elapsed().as_secs_f64());
            assert_eq!(run.run.completed, REQUESTS);
            preemptions = run.counts.preemptions;
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[RUNS / 2];
        let speed = REQUESTS as f64 / median;
        println!("{name:<34} {median:>9.4} {preemptions:>11} {speed:>12.0}");
    }
    Ok(())
}
