//! The fast engine against the obvious one, on random settings.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod agreement;
mod cases;
mod settings;

use std::sync::Arc;

use agreement::Agreement;
use cases::cases;
use proptest::prelude::*;
use settings::setups;
use sim_core::{
    EngineSpec, Keep, Precision, RequestSource, Rules, Run, Setup, Slo, StepTimeSpec, Trace,
    TraceRow, Workload, simulate, simulate_by_oracle,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn assert_same(fast: &Run, slow: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast.verify(), Ok(()));
    prop_assert_eq!(slow.verify(), Ok(()));
    let agreement = Agreement::of(slow, 0);
    for (f, s) in fast.requests.iter().flatten().zip(slow.requests.iter().flatten()) {
        prop_assert_eq!(f.outcome, s.outcome);
        prop_assert!(agreement.is_same_time(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
        prop_assert!(agreement.is_same_time(f.finish_s, s.finish_s), "{f:?} {s:?}");
    }
    prop_assert_eq!(fast.steps, slow.steps);
    prop_assert_eq!(fast.offered, slow.offered);
    prop_assert_eq!(fast.completed, slow.completed);
    prop_assert_eq!(fast.rejected, slow.rejected);
    prop_assert_eq!(fast.peak_running, slow.peak_running);
    prop_assert_eq!(fast.peak_kv_tokens, slow.peak_kv_tokens);
    prop_assert_eq!(fast.itl.count(), slow.itl.count());
    prop_assert!(Agreement::is_same_length(fast.step_times.busy_s, slow.step_times.busy_s));
    prop_assert_eq!(fast.windows.width_s(), slow.windows.width_s());
    for (f, s) in fast.windows.iter().zip(slow.windows.iter()) {
        prop_assert_eq!(
            (f.arrivals, f.completed, f.unanswered),
            (s.arrivals, s.completed, s.unanswered)
        );
        prop_assert_eq!((f.in_flight, f.output_tokens), (s.in_flight, s.output_tokens));
    }
    prop_assert_eq!(fast.windows.len(), slow.windows.len());
    prop_assert_eq!(fast.judgement().verdict, slow.judgement().verdict);
    for (f, s) in fast.classes.iter().zip(&slow.classes) {
        prop_assert_eq!((f.offered, f.completed, f.slo_met), (s.offered, s.completed, s.slo_met));
    }
    for percent in [0.0, 50.0, 99.0, 100.0] {
        // The rank of a percentile is the same in both, so it moves no further than any one value.
        for (f, s) in [(&fast.ttft, &slow.ttft), (&fast.tpot, &slow.tpot)] {
            match (f.percentile(percent), s.percentile(percent)) {
                (Some(f), Some(s)) => {
                    prop_assert!(
                        agreement.are_same_spans(1, f, s),
                        "P{percent}: {f} {s} {agreement:?}"
                    );
                }
                (f, s) => prop_assert_eq!(f, s),
            }
        }
        match (fast.itl.percentile(percent), slow.itl.percentile(percent)) {
            (Some(f), Some(s)) => {
                prop_assert!(Agreement::is_same_length(f, s), "P{percent}: {f} {s}");
            }
            (f, s) => prop_assert_eq!(f, s),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_500), ..ProptestConfig::default() })]

    #[test]
    fn outcomes_are_identical_and_times_agree(setup in setups()) {
        let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
        assert_same(&fast, &slow)?;
    }
}

/// Two requests half an hour after the clock began, steps of a tenth of a millisecond: the obvious
/// engine adds 2,500 of them to the clock before the second request's only token, the fast one a
/// jump, so that a wait of less than two steps differs by far more than 1e-9 of itself. That is what
/// the clock's rounding explains, and no more than that.
#[test]
fn short_times_late_on_the_clock_agree_as_far_as_the_clock_can_tell() {
    let rows = vec![
        TraceRow { arrival_s: 1_700.0, input_tokens: 0, output_tokens: 3_000 },
        TraceRow { arrival_s: 1_700.25, input_tokens: 0, output_tokens: 1 },
    ];
    let setup = Setup {
        workload: Workload {
            source: RequestSource::Replay {
                trace: Arc::new(Trace::new(rows).expect("rows are in order")),
                speed: 1.0,
            },
            requests: 2,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 8,
            max_num_seqs: 2,
            kv_capacity_tokens: 10_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Affine { fixed_s: 1e-4, per_item_s: 1e-8 },
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    };
    let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
    let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
    assert_same(&fast, &slow).expect("the engines agree");
    let ttft_s = |run: &Run| run.ttft.percentile(100.0).expect("two of them");
    assert!((ttft_s(&fast) - ttft_s(&slow)).abs() > 1e-9 * ttft_s(&fast));
}

/// A million tokens in and out: the fast engine crosses them in closed form, the slow one walks.
#[test]
fn huge_lengths_agree() {
    let rows = vec![
        TraceRow { arrival_s: 0.0, input_tokens: 300_000, output_tokens: 40_000 },
        TraceRow { arrival_s: 1.0, input_tokens: 0, output_tokens: 100_000 },
        TraceRow { arrival_s: 1.0, input_tokens: 5, output_tokens: 1 },
        TraceRow { arrival_s: 500.0, input_tokens: 1_000_000, output_tokens: 2 },
    ];
    let setup = Setup {
        workload: Workload {
            source: RequestSource::Replay {
                trace: Arc::new(Trace::new(rows).expect("rows are in order")),
                speed: 1.0,
            },
            requests: 4,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 512,
            max_num_seqs: 4,
            kv_capacity_tokens: 2_000_000,
        },
        rules: Rules::Reference,
        step_time: StepTimeSpec::Roofline {
            params: 7.6e9,
            weight_bytes: 15.2e9,
            kv_bytes_per_token: 57344.0,
            peak_flops: 989e12,
            bandwidth_bytes_per_s: 3.35e12,
            mfu: 0.5,
            overhead_s: 0.5e-3,
        },
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 0,
    };
    let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
    let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
    assert_same(&fast, &slow).expect("the engines agree");
    assert_eq!(fast.completed, 4);
}
