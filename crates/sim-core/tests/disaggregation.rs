//! Prefill and decode pools: every request, token and transfer is accounted for.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod cases;
mod settings;

use std::sync::Arc;

use cases::cases;
use proptest::prelude::*;
use settings::setups;
use sim_core::{
    EngineSpec, Keep, Outcome, Precision, RequestSource, Rules, Run, Setup, SetupError, Slo,
    StepTimeSpec, Trace, TraceRow, Workload,
    engine::{Speculation, VllmRules, vllm::Version},
    fleet::{Disaggregated, DisaggregatedRun, Link},
    simulate,
    workload::Requests,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
const AT_ONCE: Link = Link { bytes_per_s: f64::INFINITY, latency_s: 0.0, kv_bytes_per_token: 1e5 };

fn rules() -> impl Strategy<Value = Rules> {
    let speculation =
        (1_u64..8, 0.0_f64..1.0, 0.0_f64..0.3).prop_map(|(tokens, acceptance, draft_cost)| {
            Rules::Speculative(Speculation { tokens, acceptance, draft_cost })
        });
    prop_oneof![Just(Rules::Reference), speculation]
}

fn links() -> impl Strategy<Value = Link> {
    let bandwidth = prop_oneof![Just(f64::INFINITY), 1e6_f64..1e11];
    (bandwidth, 0.0_f64..0.05, 0.0_f64..1e6).prop_map(
        |(bytes_per_s, latency_s, kv_bytes_per_token)| Link {
            bytes_per_s,
            latency_s,
            kv_bytes_per_token,
        },
    )
}

fn pools() -> impl Strategy<Value = Disaggregated> {
    (setups(), rules(), links(), (1_u64..5, 1_u64..5)).prop_map(|(setup, rules, link, pools)| {
        Disaggregated::new(&Setup { rules, ..setup }, pools, link).expect("a valid set-up")
    })
}

fn close(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * sim_core::float::greater(a.abs(), 1e-3)
}

fn sum(runs: &[Run], of: fn(&Run) -> u64) -> u64 {
    runs.iter().map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(600), ..ProptestConfig::default() })]

    #[test]
    fn every_request_token_and_transfer_is_accounted_for(
        (setup, rules) in (setups(), rules()),
        link in links(),
        pools in (1_u64..5, 1_u64..5),
    ) {
        let setup = Setup { rules, ..setup };
        let pooled = Disaggregated::new(&setup, pools, link).expect("a valid set-up");
        let DisaggregatedRun { prefill, decode, transfers, total } = pooled.simulate(KEEP_ALL);
        let asked: Vec<_> = Requests::new(&setup.workload, setup.seed).collect();
        prop_assert_eq!((prefill.len() as u64, decode.len() as u64), pools);
        for run in prefill.iter().chain(&decode) {
            prop_assert_eq!(run.verify(), Ok(()));
            prop_assert_eq!(run.rejected + run.in_flight, 0);
        }
        // Requests: one prefill for each that is served, and a transfer and a decode for each of
        // those that wants more than a token.
        prop_assert_eq!(total.offered, asked.len() as u64);
        prop_assert_eq!(total.completed + total.rejected, total.offered);
        prop_assert_eq!(sum(&prefill, |run| run.completed), total.completed);
        let records = total.requests.as_deref().expect("kept");
        let done = || records.iter().filter(|record| record.outcome == Outcome::Completed);
        let sent = || done().filter(|record| record.output_tokens > 1);
        prop_assert_eq!(sum(&decode, |run| run.completed), sent().count() as u64);
        prop_assert_eq!(transfers.times.count(), sent().count() as u64);
        // Tokens: prompts on one side, outputs on the other but for the first.
        let (inputs, outputs) = (total.input_tokens, total.output_tokens);
        prop_assert_eq!(sum(&prefill, |run| run.input_tokens), inputs);
        prop_assert_eq!(sum(&decode, |run| run.input_tokens), 0);
        prop_assert_eq!(sum(&decode, |run| run.output_tokens), outputs - total.completed);
        prop_assert_eq!(total.itl.count(), outputs - total.completed);
        prop_assert_eq!(done().map(|record| record.output_tokens).sum::<u64>(), outputs);
        // Bytes and times on the links.
        let tokens: u64 = sent().map(|record| record.input_tokens).sum();
        prop_assert!(close(transfers.bytes, tokens as f64 * link.kv_bytes_per_token));
        prop_assert!(close(transfers.busy_s, transfers.bytes / link.bytes_per_s));
        // Little's law: replicas and links against users.
        let (engines, users) = (total.in_system_request_s, total.sojourn_request_s);
        prop_assert!((engines - users).abs() <= 1e-6 * (1.0 + users), "{engines} {users}");
        for (record, request) in records.iter().zip(&asked) {
            prop_assert_eq!(record.arrival_s, request.arrival_s);
            if record.outcome == Outcome::Rejected {
                continue;
            }
            let after_s = record.finish_s - record.first_token_s;
            let bytes = request.input_tokens as f64 * link.kv_bytes_per_token;
            let least_s = bytes / link.bytes_per_s + link.latency_s;
            prop_assert!(request.output_tokens == 1 || after_s >= least_s * (1.0 - 1e-9) - 1e-9);
        }
    }

    /// Replicas of the obvious engine: the same.
    #[test]
    fn the_engines_agree(pooled in pools()) {
        let fast = pooled.simulate(KEEP_ALL).total;
        let slow = pooled.simulate_by_oracle(KEEP_ALL).total;
        for (f, s) in fast.requests.iter().flatten().zip(slow.requests.iter().flatten()) {
            prop_assert_eq!(f.outcome, s.outcome);
            prop_assert!(close(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
            prop_assert!(close(f.finish_s, s.finish_s), "{f:?} {s:?}");
        }
        prop_assert_eq!((fast.steps, fast.slot_steps), (slow.steps, slow.slot_steps));
        prop_assert_eq!(fast.itl.count(), slow.itl.count());
        prop_assert!(close(fast.step_times.busy_s, slow.step_times.busy_s));
    }
}

const ROOFLINE: StepTimeSpec = StepTimeSpec::Roofline {
    params: 1e9,
    weight_bytes: 1e9,
    kv_bytes_per_token: 1e5,
    peak_flops: 1e15,
    bandwidth_bytes_per_s: 1e12,
    mfu: 1.0,
    overhead_s: 0.0,
};

fn replayed(rows: &[(f64, u64, u64)], step_time: StepTimeSpec) -> Setup {
    let row = |&(arrival_s, input_tokens, output_tokens): &(f64, u64, u64)| TraceRow {
        arrival_s,
        input_tokens,
        output_tokens,
    };
    let trace = Arc::new(Trace::new(rows.iter().map(row).collect()).expect("in order"));
    Setup {
        workload: Workload {
            source: RequestSource::Replay { trace, speed: 1.0 },
            requests: rows.len() as u64,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 8192,
            max_num_seqs: 8,
            kv_capacity_tokens: 10_000,
        },
        rules: Rules::Reference,
        step_time,
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    }
}

fn times(setup: &Setup, pools: (u64, u64), link: Link) -> Vec<(f64, f64)> {
    let run = Disaggregated::new(setup, pools, link).expect("a valid set-up").simulate(KEEP_ALL);
    let records = run.total.requests.expect("kept");
    records.iter().map(|record| (record.first_token_s, record.finish_s)).collect()
}

fn assert_times(actual: &[(f64, f64)], expected: &[(f64, f64)]) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!(close(a.0, e.0) && close(a.1, e.1), "{actual:?} {expected:?}");
    }
}

/// By hand, with steps of 10 ms and 1 ms for each sequence. One replica of each kind and a link that
/// takes no time: the prompts of the first two share a step (12 ms), and then they decode together
/// (12 ms). Meanwhile comes the third, whose prompt (11 ms, until 23 ms) holds nobody up; it joins
/// the step at 24 ms, which has three sequences and is everybody's last.
#[test]
fn a_free_link_by_hand() {
    let affine = StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.001 };
    let setup = replayed(&[(0.0, 100, 3), (0.0, 50, 3), (0.012, 10, 2)], affine);
    let expected = [(0.012, 0.037), (0.012, 0.037), (0.023, 0.037)];
    assert_times(&times(&setup, (1, 1), AT_ONCE), &expected);
    // On one engine together the third's prompt is in the step of the other two.
    let whole = simulate(&setup, KEEP_ALL).expect("a run");
    let records = whole.requests.expect("kept");
    let together: Vec<_> = records.iter().map(|r| (r.first_token_s, r.finish_s)).collect();
    assert_times(&together, &[(0.012, 0.038), (0.012, 0.038), (0.025, 0.038)]);
}

/// By hand: two prompts of 1,000 tokens are 1e8 bytes each and share a step of
/// 2 · 1e9 · 2,000 / 1e15 = 4 ms. Their link sends 1e10 bytes a second, one after the other: the
/// first is there at 4 + 10 + 1 ms, the second at 4 + 20 + 1 ms. A decode step reads 1e9 bytes of
/// weights and 1e5 for each token of context: 1 ms + 1,001 · 0.1 µs, and 1,002 for the next token.
#[test]
fn a_link_sends_one_cache_after_the_other() {
    let setup = replayed(&[(0.0, 1_000, 3), (0.0, 1_000, 2)], ROOFLINE);
    let link = Link { bytes_per_s: 1e10, latency_s: 1e-3, kv_bytes_per_token: 1e5 };
    let first_s = 0.015 + 2.0 * 1e-3 + (1_001.0 + 1_002.0) * 1e-7;
    let second_s = 0.025 + 1e-3 + 1_001.0 * 1e-7;
    let expected = [(0.004, first_s), (0.004, second_s)];
    assert_times(&times(&setup, (1, 1), link), &expected);
    // Two prefill replicas have a link each: both caches are there 2 ms + 10 ms + 1 ms after 0.
    let alone_s = 0.013 + 1e-3 + 1_001.0 * 1e-7;
    let both = times(&setup, (2, 2), link);
    assert_times(&both[1..], &[(0.002, alone_s)]);
}

#[test]
fn impossible_pools_are_refused() {
    let setup = replayed(&[(0.0, 100, 3)], ROOFLINE);
    for (pools, link, field) in [
        ((0, 1), AT_ONCE, "disagg.prefill"),
        ((1, u64::MAX), AT_ONCE, "disagg.decode"),
        ((1, 1), Link { bytes_per_s: 0.0, ..AT_ONCE }, "disagg.link_gbps"),
        ((1, 1), Link { latency_s: f64::NAN, ..AT_ONCE }, "disagg.latency"),
        ((1, 1), Link { kv_bytes_per_token: -1.0, ..AT_ONCE }, "step.kv_bytes_per_token"),
    ] {
        let error = Disaggregated::new(&setup, pools, link).expect_err("impossible");
        assert!(error.to_string().contains(field), "{error}");
    }
    let rules = Rules::VllmV1(VllmRules::plain(Version::V0_33));
    let error = Disaggregated::new(&Setup { rules, ..setup }, (1, 1), AT_ONCE);
    assert_eq!(error.err(), Some(SetupError::NoPooledRules));
}
