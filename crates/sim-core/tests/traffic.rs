//! Classes of requests and the queueing model of the step time, through the whole engine.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Workload,
    engine::{VllmRules, vllm::Version},
    simulate, simulate_by_oracle,
    theory::IterationModel,
    workload::{Arrivals, Mix, RateProfile, RequestClass, RequestLengths},
};

const ENGINE: EngineSpec = EngineSpec {
    max_num_batched_tokens: 8192,
    max_num_seqs: 100_000,
    kv_capacity_tokens: 100_000_000,
};

fn fixed(weight: f64, output_tokens: u64, slo: Slo) -> RequestClass {
    let length = |tokens| LengthSpec::Fixed { tokens };
    let lengths = RequestLengths::Independent { input: length(100), output: length(output_tokens) };
    RequestClass {
        weight,
        lengths,
        slo,
        priority: 0,
        shared_prefix: None,
        sessions: None,
        patience: None,
    }
}

/// Two classes on an engine whose step always takes 10 ms: one is given 20 ms, the other 5 ms.
fn two_classes(rules: Rules) -> Setup {
    let slo = |tpot_s| Slo { ttft_s: 10.0, tpot_s, share: 0.5 };
    let mix = Mix {
        arrivals: Arrivals {
            process: ArrivalProcess::Poisson,
            rate_per_s: 5.0,
            bursts: None,
            profile: RateProfile::Constant,
        },
        classes: vec![fixed(0.7, 20, slo(0.020)), fixed(0.3, 30, slo(0.005))],
    };
    Setup {
        workload: Workload { source: RequestSource::Mixed(Arc::new(mix)), requests: 1_000 },
        engine: ENGINE,
        rules,
        step_time: StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 },
        slo: slo(0.001),
        seed: 7,
    }
}

#[test]
fn each_request_is_judged_by_the_target_of_its_class() {
    let keep = Keep { precision: Precision::Bounded, requests: true, intervals: false };
    let vllm = Rules::VllmV1(VllmRules::plain(Version::V0_33));
    let batches =
        Rules::WholeBatches { max_delay_s: 0.0, noise: sim_core::engine::ServiceNoise::None };
    for rules in [Rules::Reference, vllm, batches] {
        let setup = two_classes(rules);
        for run in [simulate(&setup, keep).unwrap(), simulate_by_oracle(&setup, keep).unwrap()] {
            let requests = run.requests.as_ref().unwrap();
            let lenient = requests.iter().filter(|request| request.output_tokens == 20).count();
            // By the run's own target nobody would meet it, by either class's alone all or none.
            assert_eq!(run.slo_met, lenient as u64, "{:?}", setup.rules);
            assert!((600..800).contains(&lenient), "{lenient}");
        }
    }
}

/// With requests that each need `o` steps of `α + n δ`, the engine shares its time as in a
/// processor-sharing queue: in the steady state `P(n) n = λ o (α + n δ) P(n - 1)`, which sums to
/// `E[n] = λ o (α + δ) / (1 - λ o δ)`, whatever the distribution of lengths.
#[test]
fn the_queue_model_fills_the_engine_as_the_theory_says() {
    let (alpha_s, beta_s, gamma_s) = (6.958e-3, 42e-6, 23e-9);
    let (input, output) = (512_u64, 128_u64);
    let theory =
        IterationModel::new(alpha_s, beta_s, gamma_s, input as f64, output as f64).unwrap();
    let each_s = theory.per_request_s();
    for load in [0.3, 0.6, 0.8] {
        let rate_per_s = load / (output as f64 * each_s);
        let source = RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            input: LengthSpec::Fixed { tokens: input },
            output: LengthSpec::Fixed { tokens: output },
        };
        let unset = StepTimeSpec::QueueModel {
            alpha_s,
            beta_s,
            gamma_s,
            input_tokens: 0.0,
            output_tokens: 1.0,
        };
        let setup = Setup {
            step_time: unset.for_workload(&source),
            workload: Workload { source, requests: 60_000 },
            // Prompts never wait for budget, so that each is one step.
            engine: EngineSpec { max_num_batched_tokens: 1_000_000, ..ENGINE },
            rules: Rules::Reference,
            slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
            seed: 3,
        };
        let run = simulate(&setup, Keep::default()).unwrap();
        let expected = rate_per_s * output as f64 * (alpha_s + each_s) / (1.0 - load);
        let running = run.mean_running();
        assert!((running / expected - 1.0).abs() < 0.03, "{load}: {running}, theory {expected}");
    }
}
