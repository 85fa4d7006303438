use std::hint::black_box;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, RequestSource, Rules, Setup, Slo, StepTimeSpec,
    Workload, simulate,
};

fn setup(case: &str, requests: u64) -> Setup {
    let fixed = |tokens| LengthSpec::Fixed { tokens };
    let spread = |median_tokens, max_tokens| LengthSpec::LogNormal {
        median_tokens,
        sigma: 0.8,
        min_tokens: 1,
        max_tokens,
    };
    let (rate_per_s, input, output) = match case {
        "fixed20" => (20.0, fixed(1024), fixed(256)),
        "fixed1" => (1.0, fixed(1024), fixed(256)),
        "fixed30" => (30.0, fixed(1024), fixed(256)),
        _ => (15.0, spread(700.0, 8192), spread(180.0, 2048)),
    };
    Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s,
                input,
                output,
            },
            requests,
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

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let run = simulate(&setup(&args[1], args[2].parse().unwrap()), Keep::default()).unwrap();
    println!("steps {} {:?}", run.steps, black_box(run.itl.percentile(99.0)));
}
