//! The cases: each exercises another path by which a target could get other bits.

use std::sync::Arc;

use planner::Plan;
use scenario::Scenario;
use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Precision, RequestSource, Rules, Setup, Slo,
    StepTimeSpec, Trace, TraceRow, Workload,
    clients::{ClientSpec, ClientTime, Population, SessionCounts},
    engine::{
        Attendance, OverloadPolicy, Speculation, VllmRules, simulate_attended,
        vllm::{Policy, Version},
    },
    simulate, simulate_by_oracle,
    workload::{
        Arrivals, Mix, RateProfile, RequestClass, RequestLengths, Requests, Sessions, SharedPrefix,
        Turns,
    },
};

use crate::Fingerprint;

/// One case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in the golden file.
    pub name: &'static str,
    /// Computes its fingerprint.
    pub bits: fn() -> u64,
}

/// Qwen2.5-7B in BF16 on one H100 by published constants, under generated arrivals.
#[must_use]
pub fn published_setup(rate_per_s: f64, requests: u64) -> Setup {
    Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Poisson,
                rate_per_s,
                input: LengthSpec::Fixed { tokens: 1024 },
                output: LengthSpec::Fixed { tokens: 256 },
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

const BOUNDED: Keep = Keep { precision: Precision::Bounded, requests: true, intervals: false };
const EXACT: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn bits_of(setup: &Setup, keep: Keep) -> u64 {
    let mut fingerprint = Fingerprint::default();
    match simulate(setup, keep) {
        Ok(run) => fingerprint.run(&run),
        Err(error) => fingerprint.bytes(error.to_string().as_bytes()),
    }
    fingerprint.value()
}

fn with_source(source: RequestSource) -> Setup {
    let mut setup = published_setup(1.0, 2_000);
    setup.workload.source = source;
    setup
}

fn spread(median_tokens: f64, sigma: f64, max_tokens: u64) -> LengthSpec {
    LengthSpec::LogNormal { median_tokens, sigma, min_tokens: 1, max_tokens }
}

/// Lognormal lengths under Gamma arrivals.
fn mixed(shape: f64, rate_per_s: f64) -> Setup {
    with_source(RequestSource::Generated {
        process: ArrivalProcess::Gamma { shape },
        rate_per_s,
        input: spread(600.0, 0.9, 8_192),
        output: spread(150.0, 0.7, 2_048),
    })
}

fn low_load() -> u64 {
    bits_of(&published_setup(1.0, 2_000), BOUNDED)
}

fn near_the_knee() -> u64 {
    bits_of(&published_setup(22.0, 4_000), BOUNDED)
}

fn overload() -> u64 {
    bits_of(&published_setup(40.0, 2_000), BOUNDED)
}

fn lognormal_lengths() -> u64 {
    bits_of(&mixed(1.0, 15.0), BOUNDED)
}

fn bursty_arrivals() -> u64 {
    bits_of(&mixed(0.25, 12.0), BOUNDED)
}

fn smooth_arrivals() -> u64 {
    bits_of(&mixed(7.5, 14.0), EXACT)
}

fn even_arrivals() -> u64 {
    bits_of(
        &with_source(RequestSource::Generated {
            process: ArrivalProcess::Even,
            rate_per_s: 17.3,
            input: LengthSpec::Fixed { tokens: 777 },
            output: spread(200.0, 1.2, 4_000),
        }),
        BOUNDED,
    )
}

fn tiny_cache() -> u64 {
    let mut setup = mixed(1.0, 9.0);
    setup.engine =
        EngineSpec { max_num_batched_tokens: 300, max_num_seqs: 32, kv_capacity_tokens: 6_000 };
    bits_of(&setup, BOUNDED)
}

fn affine_steps() -> u64 {
    let mut setup = mixed(1.0, 3.0);
    setup.step_time = StepTimeSpec::Affine { fixed_s: 0.02, per_item_s: 0.0005 };
    bits_of(&setup, BOUNDED)
}

fn replayed_trace() -> u64 {
    let drawn = mixed(0.6, 1.0);
    let rows = Requests::new(&drawn.workload, 7)
        .map(|request| TraceRow {
            arrival_s: request.arrival_s,
            input_tokens: request.input_tokens,
            output_tokens: request.output_tokens,
        })
        .collect();
    match Trace::new(rows) {
        Ok(trace) => {
            let source = RequestSource::Replay { trace: Arc::new(trace), speed: 13.7 };
            bits_of(&with_source(source), EXACT)
        }
        Err(_) => 0,
    }
}

fn long_run() -> u64 {
    let mut setup = mixed(0.7, 14.0);
    setup.workload.requests = 50_000;
    setup.seed = u64::MAX;
    bits_of(&setup, Keep::default())
}

/// Three classes of lognormal lengths under vLLM's rules.
fn three_classes(rate_per_s: f64, rules: VllmRules) -> Setup {
    let class =
        |(weight, input, output, priority): (f64, LengthSpec, LengthSpec, i32)| RequestClass {
            weight,
            lengths: RequestLengths::Independent { input, output },
            slo: Slo { ttft_s: 1.0 + f64::from(priority), tpot_s: 0.04, share: 0.99 },
            priority,
            shared_prefix: Some(SharedPrefix { group: 0, tokens: 100 + 50 * priority as u64 }),
            sessions: None,
            patience: None,
        };
    let classes = [
        (0.5, spread(512.0, 0.6, 8_192), spread(128.0, 0.6, 2_048), 0),
        (0.3, spread(700.0, 0.8, 8_192), spread(100.0, 0.7, 2_048), 1),
        (0.2, spread(250.0, 0.7, 8_192), spread(180.0, 0.6, 2_048), 2),
    ];
    let mut setup = with_source(RequestSource::Mixed(Arc::new(Mix {
        arrivals: Arrivals {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            bursts: None,
            profile: RateProfile::Constant,
        },
        classes: classes.into_iter().map(class).collect(),
    })));
    setup.rules = Rules::VllmV1(rules);
    setup
}

fn vllm_classes() -> u64 {
    let mut setup = three_classes(20.0, VllmRules::plain(Version::V0_33));
    setup.workload.requests = 20_000;
    bits_of(&setup, BOUNDED)
}

/// Memory for a few dozen requests, and everything turned on.
fn vllm_preemptions() -> u64 {
    let rules = VllmRules {
        asynchronous: true,
        policy: Policy::Priority,
        prefix_caching: true,
        long_prefill_token_threshold: 300,
        watermark: 0.01,
        ..VllmRules::plain(Version::V0_33)
    };
    let mut setup = three_classes(30.0, rules);
    setup.engine.kv_capacity_tokens = 24_000;
    bits_of(&setup, BOUNDED)
}

/// Tokens drafted four at a time, at lengths that end anywhere among them.
fn speculative_drafts() -> u64 {
    let mut setup = mixed(1.0, 15.0);
    setup.rules = Rules::Speculative(Speculation { tokens: 4, acceptance: 0.7, draft_cost: 0.05 });
    bits_of(&setup, BOUNDED)
}

/// Sessions of every number of turns and every time to think, under the reference rules and under
/// vLLM's, whose cache is too small for all conversations.
fn sessions() -> u64 {
    let mut caching = VllmRules::plain(Version::V0_33);
    caching.prefix_caching = true;
    let mut setup = three_classes(14.0, caching);
    setup.engine.kv_capacity_tokens = 60_000;
    if let RequestSource::Mixed(mix) = &mut setup.workload.source {
        let kinds = [
            (Turns::Geometric { mean: 4.0 }, ClientTime::LogNormal { mean_s: 8.0, sigma: 0.9 }),
            (Turns::Uniform { least: 1, most: 7 }, ClientTime::Exponential { mean_s: 3.0 }),
            (Turns::Fixed { turns: 5 }, ClientTime::Fixed { mean_s: 0.7 }),
        ];
        for (class, (turns, think)) in Arc::make_mut(mix).classes.iter_mut().zip(kinds) {
            class.sessions = Some(Sessions { turns, think, most_tokens: 12_000 });
        }
    }
    let attendance = Attendance {
        clients: ClientSpec { population: Population::Sessions, ..ClientSpec::OPEN },
        overload: OverloadPolicy::UNBOUNDED,
    };
    let mut fingerprint = Fingerprint::default();
    for rules in [Rules::Reference, setup.rules.clone()] {
        setup.rules = rules;
        match simulate_attended(&attendance.before(&setup), BOUNDED) {
            Ok(done) => {
                fingerprint.run(&done.run);
                fingerprint.whole(done.run.cached_tokens);
                let SessionCounts { found, begun, completed, under_way, cut_turns, .. } =
                    done.sessions.unwrap_or_default();
                for count in [found, begun, completed, under_way, cut_turns] {
                    fingerprint.whole(count);
                }
            }
            Err(error) => fingerprint.bytes(error.to_string().as_bytes()),
        }
    }
    // To clients that do not wait, turns are requests of their own.
    for request in Requests::new(&setup.workload, setup.seed) {
        fingerprint.whole(request.input_tokens);
    }
    fingerprint.value()
}

fn by_the_oracle() -> u64 {
    let mut setup = mixed(0.7, 14.0);
    setup.workload.requests = 500;
    let mut fingerprint = Fingerprint::default();
    if let Ok(run) = simulate_by_oracle(&setup, BOUNDED) {
        fingerprint.run(&run);
    }
    fingerprint.value()
}

/// A whole plan: every number of the answer, by its serialised bits, and of the closed form.
fn plan_of(link: &str) -> u64 {
    let mut fingerprint = Fingerprint::default();
    let Ok(resolved) = Scenario::from_link(link).scenario.resolve() else { return 0 };
    let mut plan = Plan::new(&resolved);
    if let Ok(Some(answer)) = planner::run_inline(&mut plan) {
        fingerprint.bytes(&postcard::to_stdvec(&answer).unwrap_or_default());
    }
    let closed_form = planner::closed_form(&resolved);
    fingerprint.bytes(&postcard::to_stdvec(&closed_form).unwrap_or_default());
    fingerprint.value()
}

fn plan_of_the_preset() -> u64 {
    plan_of("v=1&sim.requests=500&sim.replications=3")
}

fn plan_of_mixed_traffic() -> u64 {
    plan_of(
        "v=1&model=llama-3.1-8b&gpu=a100-sxm-80gb&rate=37&in=lognormal(700,0.8)\
         &out=lognormal(180,0.6)&arrivals=gamma(0.5)&ttft=2s&share=95%25\
         &sim.requests=400&sim.replications=2&seed=11",
    )
}

/// What a run says of itself: its windows, its verdict, its intervals, its classes.
fn steadiness() -> u64 {
    let mut fingerprint = Fingerprint::default();
    let steady = published_setup(15.0, 20_000);
    for setup in [steady, three_classes(18.0, VllmRules::plain(Version::V0_33))] {
        if let Ok(run) = simulate(&setup, Keep::default()) {
            fingerprint.steadiness(&run);
        }
    }
    fingerprint.value()
}

/// Every truth on every policy, and the queues: what "How we know" shows on each target.
fn proof() -> u64 {
    planner::prove_inline(1).fingerprint
}

/// Every case, in the order of the golden file.
#[must_use]
pub fn cases() -> Vec<Case> {
    vec![
        Case { name: "low_load", bits: low_load },
        Case { name: "near_the_knee", bits: near_the_knee },
        Case { name: "overload", bits: overload },
        Case { name: "lognormal_lengths", bits: lognormal_lengths },
        Case { name: "bursty_arrivals", bits: bursty_arrivals },
        Case { name: "smooth_arrivals", bits: smooth_arrivals },
        Case { name: "even_arrivals", bits: even_arrivals },
        Case { name: "tiny_cache", bits: tiny_cache },
        Case { name: "affine_steps", bits: affine_steps },
        Case { name: "replayed_trace", bits: replayed_trace },
        Case { name: "long_run", bits: long_run },
        Case { name: "vllm_classes", bits: vllm_classes },
        Case { name: "vllm_preemptions", bits: vllm_preemptions },
        Case { name: "by_the_oracle", bits: by_the_oracle },
        Case { name: "plan_of_the_preset", bits: plan_of_the_preset },
        Case { name: "plan_of_mixed_traffic", bits: plan_of_mixed_traffic },
        Case { name: "proof", bits: proof },
        Case { name: "steadiness", bits: steadiness },
        Case { name: "speculative_drafts", bits: speculative_drafts },
        Case { name: "sessions", bits: sessions },
    ]
}
