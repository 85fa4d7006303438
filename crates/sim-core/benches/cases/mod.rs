//! What is timed and counted: Qwen2.5-7B in BF16 on one H100, by the published constants.

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, LengthSpec, RequestSource, Rules, Setup, SetupError, Slo,
    StepTimeSpec, Workload,
    engine::{VllmRules, vllm::Version},
    fleet::RoundRobin,
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
};

/// A load on one engine.
pub(crate) struct Case {
    /// Its name in tables and in the budget.
    pub(crate) name: &'static str,
    rate_per_s: f64,
    /// Prompts and answers, all alike; none for three classes of lognormal lengths.
    lengths: Option<(LengthSpec, LengthSpec)>,
    /// vLLM's rules in place of the reference rules.
    vllm: Option<VllmRules>,
    /// Among how many replicas the rate is dealt out; the first is simulated.
    replicas: u64,
}

const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

const FIXED: (LengthSpec, LengthSpec) =
    (LengthSpec::Fixed { tokens: 1024 }, LengthSpec::Fixed { tokens: 256 });

const fn spread(median_tokens: f64, sigma: f64, max_tokens: u64) -> LengthSpec {
    LengthSpec::LogNormal { median_tokens, sigma, min_tokens: 1, max_tokens }
}

const fn fixed(name: &'static str, rate_per_s: f64) -> Case {
    Case { name, rate_per_s, lengths: Some(FIXED), vllm: None, replicas: 1 }
}

/// vLLM's rules: blocks of 16 tokens, taken as tokens come.
const fn vllm(name: &'static str, rate_per_s: f64, asynchronous: bool) -> Case {
    let rules = VllmRules { asynchronous, ..VllmRules::plain(Version::V0_33) };
    Case { name, rate_per_s, lengths: None, vllm: Some(rules), replicas: 1 }
}

/// All cases. Nothing in the simulator is specialised to fixed lengths.
pub(crate) const CASES: [Case; 7] = [
    fixed("20 req/s", 20.0),
    fixed("1 req/s", 1.0),
    fixed("30 req/s, overloaded", 30.0),
    Case {
        lengths: Some((spread(700.0, 0.8, 8192), spread(180.0, 0.8, 2048))),
        ..fixed("15 req/s, lognormal lengths", 15.0)
    },
    Case { replicas: 5, ..fixed("100 req/s, one of five replicas", 100.0) },
    vllm("20 req/s, vLLM, three lognormal classes", 20.0, false),
    vllm("20 req/s, the same, asynchronous", 20.0, true),
];

fn class(weight: f64, input: LengthSpec, output: LengthSpec, priority: i32) -> RequestClass {
    RequestClass {
        weight,
        lengths: RequestLengths::Independent { input, output },
        slo: SLO,
        priority,
        shared_prefix: None,
        sessions: None,
        patience: None,
    }
}

/// Around 512 tokens in and 128 out.
fn classes() -> Vec<RequestClass> {
    vec![
        class(0.5, spread(512.0, 0.6, 8192), spread(128.0, 0.6, 2048), 0),
        class(0.3, spread(700.0, 0.8, 8192), spread(100.0, 0.7, 2048), 1),
        class(0.2, spread(250.0, 0.7, 8192), spread(180.0, 0.6, 2048), 2),
    ]
}

impl Case {
    fn source(&self) -> RequestSource {
        let (process, rate_per_s) = (ArrivalProcess::Poisson, self.rate_per_s);
        match self.lengths {
            Some((input, output)) => {
                RequestSource::Generated { process, rate_per_s, input, output }
            }
            None => RequestSource::Mixed(Arc::new(Mix {
                arrivals: Arrivals {
                    process,
                    rate_per_s,
                    bursts: None,
                    profile: RateProfile::Constant,
                },
                classes: classes(),
            })),
        }
    }

    /// The set-up with so many requests for the engine.
    ///
    /// # Errors
    /// There is no request.
    pub(crate) fn setup(&self, requests: u64) -> Result<Setup, SetupError> {
        let whole = Setup {
            workload: Workload { source: self.source(), requests: requests * self.replicas },
            engine: EngineSpec {
                max_num_batched_tokens: 8192,
                max_num_seqs: 256,
                kv_capacity_tokens: 959_123,
            },
            rules: self.vllm.map_or(Rules::Reference, Rules::VllmV1),
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
        Ok(RoundRobin::new(&whole, self.replicas)?.setup_of(0))
    }
}
