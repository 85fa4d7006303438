//! The fast engine against the obvious one, on random settings.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod cases;
mod settings;

use std::sync::Arc;

use cases::cases;
use proptest::prelude::*;
use settings::setups;
use sim_core::{
    EngineSpec, Keep, Precision, RequestSource, Rules, Run, Setup, Slo, StepTimeSpec, Trace,
    TraceRow, Workload, simulate, simulate_by_oracle,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true };

fn close(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * sim_core::float::greater(a.abs(), 1e-3)
}

fn assert_same(fast: &Run, slow: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast.verify(), Ok(()));
    prop_assert_eq!(slow.verify(), Ok(()));
    for (f, s) in fast.requests.iter().flatten().zip(slow.requests.iter().flatten()) {
        prop_assert_eq!(f.outcome, s.outcome);
        prop_assert!(close(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
        prop_assert!(close(f.finish_s, s.finish_s), "{f:?} {s:?}");
    }
    prop_assert_eq!(fast.steps, slow.steps);
    prop_assert_eq!(fast.offered, slow.offered);
    prop_assert_eq!(fast.completed, slow.completed);
    prop_assert_eq!(fast.rejected, slow.rejected);
    prop_assert_eq!(fast.peak_running, slow.peak_running);
    prop_assert_eq!(fast.peak_kv_tokens, slow.peak_kv_tokens);
    prop_assert_eq!(fast.itl.count(), slow.itl.count());
    prop_assert!(close(fast.step_times.busy_s, slow.step_times.busy_s));
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
        for (f, s) in [(&fast.ttft, &slow.ttft), (&fast.tpot, &slow.tpot), (&fast.itl, &slow.itl)] {
            match (f.percentile(percent), s.percentile(percent)) {
                (Some(f), Some(s)) => prop_assert!(close(f, s), "P{percent}: {f} {s}"),
                (f, s) => prop_assert_eq!(f, s),
            }
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
