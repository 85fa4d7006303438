//! What binds, on scenarios where it is known from how they are made.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

use planner::{Job, Limit, LimitKind, Plan, Why, WhyAnswer, run_inline};
use scenario::Scenario;

fn why(settings: &str) -> Option<WhyAnswer> {
    let mut scenario = Scenario::preset();
    for (key, value) in [("sim.requests", "1000"), ("sim.replications", "4")] {
        scenario.set(key, value).expect("a valid setting");
    }
    for word in settings.split_whitespace() {
        let (key, value) = word.split_once('=').expect("a setting");
        scenario.set(key, value).unwrap_or_else(|error| panic!("{word}: {error:?}"));
    }
    let resolved = scenario.resolve().unwrap_or_else(|error| panic!("{settings}: {error}"));
    let mut why = Why::new(&resolved);
    loop {
        let jobs = why.next_jobs();
        if jobs.is_empty() {
            return why.answer().expect("it is answered").cloned();
        }
        let runs: Vec<_> = jobs.iter().map(|job: &Job| job.run().expect("it runs")).collect();
        why.accept(&runs);
    }
}

/// Scenarios made so that one thing must bind: everything else is ample, or a target is loose.
const KNOWN: [(&str, Limit); 24] = [
    // Long prompts and short answers are arithmetic.
    ("", Limit::Compute),
    ("in=8000 out=16 ttft=5s", Limit::Compute),
    ("in=4000 out=32 ttft=10s tpot=1s", Limit::Compute),
    ("step.peak_flops=1e14 ttft=20s tpot=1s", Limit::Compute),
    (
        "step.kind=queue-model step.alpha_s=1ms step.beta_s=50e-6 step.gamma_s=1e-9 ttft=20s tpot=1s",
        Limit::Compute,
    ),
    // A fat KV cache, slow memory, or few sequences in the time that the target leaves, is reading.
    ("step.kv_bytes_per_token=2e6 kv.capacity_tokens=1000000 ttft=20s tpot=1s", Limit::Bandwidth),
    ("step.bandwidth=3e11 ttft=20s tpot=200ms", Limit::Bandwidth),
    ("tpot=8ms ttft=10s", Limit::Bandwidth),
    (
        "step.kind=queue-model step.alpha_s=1ms step.beta_s=1e-9 step.gamma_s=1e-6 ttft=20s tpot=1s",
        Limit::Bandwidth,
    ),
    // A cache that holds a handful of requests.
    ("kv.capacity_tokens=20000 ttft=10s tpot=1s", Limit::KvCache),
    ("kv.capacity_tokens=8000 ttft=10s tpot=1s", Limit::KvCache),
    ("kv.capacity_tokens=3000 ttft=20s tpot=1s", Limit::KvCache),
    ("sched.rules=vllm-0.33 kv.capacity_tokens=20000 ttft=10s tpot=1s", Limit::KvCache),
    // Few may run at once.
    ("sched.max_num_seqs=4 tpot=1s ttft=10s", Limit::Sequences),
    ("sched.max_num_seqs=16 ttft=20s tpot=1s", Limit::Sequences),
    ("sched.rules=vllm-0.33 sched.max_num_seqs=8 ttft=10s tpot=1s", Limit::Sequences),
    ("sched.rules=static sched.max_num_seqs=8 ttft=30s tpot=1s", Limit::Sequences),
    // A step holds few tokens, and costs the same with fewer.
    ("sched.max_num_batched_tokens=128 in=2000 out=64 ttft=20s tpot=1s", Limit::TokenBudget),
    ("sched.max_num_batched_tokens=64 in=2000 out=16 ttft=60s tpot=1s", Limit::TokenBudget),
    // Most of a step is waiting for its launch, and everything that comes is in it.
    ("in=100 step.overhead_s=30ms tpot=40ms ttft=10s sched.max_num_seqs=1000", Limit::Overhead),
    (
        "step.kind=affine step.fixed_s=30ms step.per_item_s=100e-6 tpot=35ms ttft=10s",
        Limit::Overhead,
    ),
    (
        "step.kind=affine step.fixed_s=40ms step.per_item_s=5ms ttft=20s tpot=1s",
        Limit::TimePerSequence,
    ),
    (
        "step.kind=affine step.fixed_s=1ms step.per_item_s=2ms ttft=20s tpot=1s",
        Limit::TimePerSequence,
    ),
    // Nobody may wait for the next step.
    ("overload.queue_limit=1 ttft=20s tpot=1s", Limit::QueueBound),
];

#[test]
fn what_binds_is_found_where_it_is_known() {
    let found = |(settings, expected): &(&str, Limit)| {
        let answer = why(settings).unwrap_or_else(|| panic!("{settings}: no capacity"));
        let told = || answer.gains.iter().map(|gain| (gain.limit, gain.elasticity()));
        (answer.binding != Some(*expected)).then(|| {
            format!(
                "{settings}: {expected:?}, found {:?} of {:?}",
                answer.binding,
                told().collect::<Vec<_>>()
            )
        })
    };
    let wrong: Vec<String> = KNOWN.iter().filter_map(found).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for limit in Limit::ALL.iter().filter(|limit| limit.kind() != LimitKind::Target) {
        assert!(KNOWN.iter().any(|(_, known)| known == limit), "{limit:?} is not tried");
    }
}

#[test]
fn the_target_that_binds_is_told_apart() {
    let target = |settings| why(settings).and_then(|answer| answer.binding_target);
    assert_eq!(target("ttft=60ms"), Some(Limit::TtftTarget));
    assert_eq!(target("tpot=12ms ttft=10s"), Some(Limit::TpotTarget));
    assert_eq!(target("in=4000 out=32 ttft=20s tpot=2s"), None);
}

/// A class without a target of its own has the scenario's, and is relaxed with it.
#[test]
fn targets_count_under_classes_and_profiles_too() {
    for more in ["class.a=share:20%", "profile=spike(30s,20s,3)"] {
        let answer = why(&format!("{more} tpot=12ms ttft=10s")).expect("a capacity");
        assert_eq!(answer.binding_target, Some(Limit::TpotTarget), "{more}");
    }
}

/// What is told is what two plans differ by.
#[test]
fn a_gain_is_that_of_two_plans() {
    let plan = |settings: &str| {
        let mut scenario = Scenario::preset();
        for word in ["sim.requests=1000", "sim.replications=4", settings] {
            let (key, value) = word.split_once('=').expect("a setting");
            scenario.set(key, value).expect("a valid setting");
        }
        let resolved = scenario.resolve().expect("it resolves");
        let answer = run_inline(&mut Plan::new(&resolved)).expect("it runs").expect("an answer");
        answer.capacity_per_s.expect("a capacity").value
    };
    let answer = why("").expect("a capacity");
    let gain = answer.gains.iter().find(|gain| gain.limit == Limit::TpotTarget).expect("a target");
    let between_plans = plan("tpot=44ms") / plan("tpot=40ms") - 1.0;
    assert!((gain.gain.value - between_plans).abs() < 1e-9, "{gain:?} {between_plans}");
}

#[test]
fn with_twice_of_what_binds_the_next_limit_shows() {
    let answer = why("sched.max_num_seqs=4 tpot=1s ttft=10s").expect("a capacity");
    let next = answer.next.expect("something binds");
    assert_eq!((next.doubled.limit, next.doubled.factor), (Limit::Sequences, 2.0));
    assert!((0.7..1.0).contains(&next.doubled.gain.value), "{next:?}");
    assert_eq!(next.binding, Some(Limit::Bandwidth));
}

#[test]
fn out_of_reach_has_no_capacity_to_ask_about() {
    assert_eq!(why("ttft=1ms"), None);
}

/// Capacity in proportion to what binds: a step that only computes is as fast as the arithmetic.
#[test]
fn the_gain_of_a_pure_limit_is_the_limit_s_own() {
    let answer = why("in=4000 out=32 ttft=10s tpot=1s").expect("a capacity");
    let compute = answer.gains.iter().find(|gain| gain.limit == Limit::Compute);
    let compute = compute.expect("it computes");
    assert!((compute.elasticity() - 1.0).abs() < 0.02, "{compute:?}");
}
