//! Erlang-A inside the intervals of the engines with clients of exponential patience.
//!
//! An engine whose steps all take the same short time, with room for everybody's tokens, serves `c`
//! requests at once, each for as many steps as it has tokens: with exponential service and patience
//! that is M/M/c+M but for the step, a thousandth of the mean service. The 24 comparisons are to hold
//! together with 99 % confidence (Bonferroni).
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Outcome, Precision, RequestSource, Rules, Setup,
    Slo, StepTimeSpec, Workload,
    clients::{
        Awaited, ClientSpec, ClientTime, GivenUpWork, Patience, PatienceTime, Retries, RetryWait,
    },
    engine::{
        Attendance, AttendedRun, OverloadPolicy, VllmRules, simulate_attended,
        simulate_attended_by_oracle, vllm::Version,
    },
    measure::{Interval, share_interval},
    theory::ErlangA,
    workload::{
        Arrivals, LengthPair, Mix, RateProfile, RequestClass, RequestLengths, SharedPrefix,
    },
};

const SERVERS: u64 = 8;
const SERVICE_S: f64 = 1.0;
/// Steps of a mean service.
const STEPS: f64 = 1_000.0;
const REQUESTS: u64 = 120_000;
/// Two engines, three settings, the share that gives up and three tails of each.
const COMPARISONS: f64 = 24.0;

/// Exponential lengths by their quantiles, with the mean that service takes.
fn exponential_lengths() -> RequestLengths {
    const POINTS: u64 = 20_000;
    let at = |k: u64| -libm::log1p(-(k as f64 + 0.5) / POINTS as f64) * STEPS;
    let pair = |k| LengthPair { input_tokens: 1, output_tokens: libm::ceil(at(k)) as u64 };
    RequestLengths::Pairs((0..POINTS).map(pair).collect())
}

fn setup(rules: Rules, rate_per_s: f64, patience: Option<ClientTime>) -> Setup {
    let slo = Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 };
    let class = RequestClass {
        weight: 1.0,
        lengths: exponential_lengths(),
        slo,
        priority: 0,
        shared_prefix: None,
        sessions: None,
        patience,
    };
    let arrivals = Arrivals {
        process: ArrivalProcess::Poisson,
        rate_per_s,
        bursts: None,
        profile: RateProfile::Constant,
    };
    Setup {
        workload: Workload {
            source: RequestSource::Mixed(Arc::new(Mix { arrivals, classes: vec![class] })),
            requests: REQUESTS,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 1_000_000,
            max_num_seqs: SERVERS,
            kv_capacity_tokens: 16_000_000,
        },
        rules,
        step_time: StepTimeSpec::Affine { fixed_s: SERVICE_S / STEPS, per_item_s: 0.0 },
        slo,
        seed: 11,
    }
}

fn impatient(setup: &Setup, time: PatienceTime) -> AttendedRun {
    let patience = Patience { time, awaits: Awaited::FirstToken, work: GivenUpWork::Abandoned };
    let attendance = Attendance {
        clients: ClientSpec { patience: Some(patience), ..ClientSpec::OPEN },
        overload: OverloadPolicy::UNBOUNDED,
    };
    let keep = Keep { precision: Precision::Bounded, requests: true, intervals: false };
    simulate_attended(&attendance.before(setup), keep).expect("a run")
}

fn holds(name: &str, theory: f64, interval: &Interval) {
    assert!((interval.low..=interval.high).contains(&theory), "{name}: {theory} {interval:?}");
}

fn agrees_with_erlang_a(rules: &Rules) {
    for (rate_per_s, mean_s) in [(6.4, 1.0), (8.0, 4.0), (12.0, 0.5)] {
        let name = format!("{rate_per_s} req/s, patience {mean_s} s");
        let theory = ErlangA::new(rate_per_s, SERVICE_S, mean_s, SERVERS).expect("stable");
        let setup = setup(rules.clone(), rate_per_s, None);
        let run = impatient(&setup, PatienceTime::Same(ClientTime::Exponential { mean_s })).run;
        let level = 1.0 - 0.01 / COMPARISONS;
        let requests = run.requests.expect("kept");
        // The first fifth warms the queue up.
        let settled = &requests[requests.len() / 5..];
        let share = |holds: Vec<bool>| share_interval(&holds, level).expect("enough requests");
        let gone = settled.iter().map(|request| request.outcome == Outcome::Abandoned).collect();
        holds(&name, theory.share_abandoning(), &share(gone));
        let step_s = SERVICE_S / STEPS;
        let served = settled.iter().filter(|request| request.outcome == Outcome::Completed);
        let waits: Vec<f64> = served
            // On average an arrival is seen half a step late, and its first token takes a step.
            .map(|request| request.first_token_s - request.arrival_s - 1.5 * step_s)
            .collect();
        for tail_s in [0.05, 0.2, 0.5] {
            let beyond = waits.iter().map(|wait_s| *wait_s > tail_s).collect();
            let expected = theory.share_of_served_waiting_beyond(tail_s).expect("a time");
            holds(&format!("{name}, beyond {tail_s} s"), expected, &share(beyond));
        }
    }
}

#[test]
fn the_reference_rules_agree_with_erlang_a() {
    agrees_with_erlang_a(&Rules::Reference);
}

#[test]
fn vllms_rules_agree_with_erlang_a() {
    agrees_with_erlang_a(&Rules::VllmV1(VllmRules::plain(Version::V0_33)));
}

/// Patience of the only class is everybody's, to the bit; and a class without any never gives up.
#[test]
fn patience_of_the_class_is_patience() {
    let time = ClientTime::LogNormal { mean_s: 0.4, sigma: 0.8 };
    let own = impatient(&setup(Rules::Reference, 12.0, Some(time)), PatienceTime::OfClass);
    let same = impatient(&setup(Rules::Reference, 12.0, None), PatienceTime::Same(time));
    assert_eq!(own.run.requests.is_some(), same.run.requests.is_some());
    assert_eq!((own.attempts, own.run.ttft), (same.attempts, same.run.ttft));
    assert!(own.attempts.abandoned > REQUESTS / 20);
    let patient = impatient(&setup(Rules::Reference, 7.0, None), PatienceTime::OfClass);
    assert_eq!(patient.attempts.abandoned, 0);
}

/// The more patience varies, the more of those give up who wait a little, and the shorter the line.
#[test]
fn patience_of_every_kind_has_its_own_effect() {
    let gone = |time| {
        let run = impatient(&setup(Rules::Reference, 7.6, None), PatienceTime::Same(time));
        run.attempts.abandoned
    };
    let fixed = gone(ClientTime::Fixed { mean_s: 1.0 });
    let narrow = gone(ClientTime::LogNormal { mean_s: 1.0, sigma: 0.3 });
    let exponential = gone(ClientTime::Exponential { mean_s: 1.0 });
    assert!(fixed < narrow && narrow < exponential, "{fixed} {narrow} {exponential}");
}

/// The client of a lone request gives up while it decodes, and sends the same again. Of 64 tokens the
/// prefix cache has all four blocks, of which the last is computed again, since a step samples from what
/// it computes. With a beginning of 32 tokens that its class shares it is the same, and so is it where
/// the engine goes on with the first attempt.
#[test]
fn a_retry_finds_the_prompt_of_the_attempt_before() {
    for prefix_tokens in [0, 32, 500] {
        for work in [GivenUpWork::Abandoned, GivenUpWork::StillDone] {
            let cached = |prefix_caching| {
                let rules = VllmRules { prefix_caching, ..VllmRules::plain(Version::V0_33) };
                let mut lone = setup(Rules::VllmV1(rules), 1.0, None);
                lone.workload.requests = 1;
                let RequestSource::Mixed(mix) = &mut lone.workload.source else { panic!("a mix") };
                let class = &mut Arc::make_mut(mix).classes[0];
                class.lengths = RequestLengths::Independent {
                    input: LengthSpec::Fixed { tokens: 64 },
                    output: LengthSpec::Fixed { tokens: 40 },
                };
                class.shared_prefix =
                    (prefix_tokens > 0).then_some(SharedPrefix { group: 3, tokens: prefix_tokens });
                // A step takes 40 ms, and an answer 1.6 s: nobody waits that long.
                lone.step_time = StepTimeSpec::Affine { fixed_s: 0.04, per_item_s: 0.0 };
                let patience = Patience {
                    time: PatienceTime::Same(ClientTime::Fixed { mean_s: 1.0 }),
                    awaits: Awaited::Answer,
                    work,
                };
                let retries = Retries {
                    max_attempts: 3,
                    wait: RetryWait::Immediate,
                    honours_retry_after: false,
                    budget: None,
                };
                let clients = ClientSpec {
                    patience: Some(patience),
                    retries: Some(retries),
                    ..ClientSpec::OPEN
                };
                let attendance = Attendance { clients, overload: OverloadPolicy::UNBOUNDED };
                let before = attendance.before(&lone);
                let run = simulate_attended(&before, Keep::default()).expect("a run");
                let slow = simulate_attended_by_oracle(&before, Keep::default()).expect("a run");
                assert_eq!(run.run.cached_tokens, slow.run.cached_tokens);
                assert_eq!(run.attempts.retries, 2);
                run.run.cached_tokens
            };
            // Two retries, each of which finds three blocks.
            assert_eq!(cached(true), 2 * 48);
            assert_eq!(cached(false), 0);
        }
    }
}
