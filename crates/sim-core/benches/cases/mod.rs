//! What is timed and counted: Qwen2.5-7B in BF16 on one H100, by the published constants.

use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, RequestSource, Rules, Setup, SetupError, Slo,
    StepTimeSpec, Workload, fleet::RoundRobin,
};

/// A load on one engine.
pub(crate) struct Case {
    /// Its name in tables and in the budget.
    pub(crate) name: &'static str,
    rate_per_s: f64,
    input: LengthSpec,
    output: LengthSpec,
    /// Among how many replicas the rate is dealt out; the first is simulated.
    replicas: u64,
}

const FIXED: (LengthSpec, LengthSpec) =
    (LengthSpec::Fixed { tokens: 1024 }, LengthSpec::Fixed { tokens: 256 });

const fn spread(median_tokens: f64, max_tokens: u64) -> LengthSpec {
    LengthSpec::LogNormal { median_tokens, sigma: 0.8, min_tokens: 1, max_tokens }
}

const fn fixed(name: &'static str, rate_per_s: f64) -> Case {
    Case { name, rate_per_s, input: FIXED.0, output: FIXED.1, replicas: 1 }
}

/// All cases. Nothing in the simulator is specialised to fixed lengths.
pub(crate) const CASES: [Case; 5] = [
    fixed("20 req/s", 20.0),
    fixed("1 req/s", 1.0),
    fixed("30 req/s, overloaded", 30.0),
    Case {
        name: "15 req/s, lognormal lengths",
        rate_per_s: 15.0,
        input: spread(700.0, 8192),
        output: spread(180.0, 2048),
        replicas: 1,
    },
    Case { replicas: 5, ..fixed("100 req/s, one of five replicas", 100.0) },
];

impl Case {
    /// The set-up with so many requests for the engine.
    ///
    /// # Errors
    /// There is no request.
    pub(crate) fn setup(&self, requests: u64) -> Result<Setup, SetupError> {
        let whole = Setup {
            workload: Workload {
                source: RequestSource::Generated {
                    process: ArrivalProcess::Poisson,
                    rate_per_s: self.rate_per_s,
                    input: self.input,
                    output: self.output,
                },
                requests: requests * self.replicas,
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
        };
        Ok(RoundRobin::new(&whole, self.replicas)?.setup_of(0))
    }
}
