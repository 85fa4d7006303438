//! Speculative decoding: two engines that agree, and what it does to an engine.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod agreement;
mod cases;
mod settings;

use agreement::Agreement;
use cases::cases;
use proptest::prelude::*;
use settings::setups;
use sim_core::{
    ArrivalProcess, EngineSpec, Keep, LengthSpec, Outcome, Precision, Progress, RequestSource,
    Rules, Run, Setup, Simulation, Slo, StepTimeSpec, Workload, engine::Speculation, simulate,
    simulate_by_oracle, workload::Requests,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

fn speculations() -> impl Strategy<Value = Speculation> {
    let acceptance = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 5 => 0.0_f64..1.0];
    (0_u64..12, acceptance, 0.0_f64..0.5).prop_map(|(tokens, acceptance, draft_cost)| Speculation {
        tokens,
        acceptance,
        draft_cost,
    })
}

fn assert_same(a: &Run, b: &Run) -> Result<(), TestCaseError> {
    let agreement = Agreement::of(b, 0);
    let requests = a.requests.iter().flatten().zip(b.requests.iter().flatten());
    for (x, y) in requests {
        prop_assert_eq!(x.outcome, y.outcome);
        prop_assert!(agreement.is_same_time(x.first_token_s, y.first_token_s), "{x:?} {y:?}");
        prop_assert!(agreement.is_same_time(x.finish_s, y.finish_s), "{x:?} {y:?}");
    }
    prop_assert_eq!((a.steps, a.slot_steps), (b.steps, b.slot_steps));
    prop_assert_eq!((a.offered, a.completed, a.rejected), (b.offered, b.completed, b.rejected));
    prop_assert_eq!((a.peak_running, a.peak_kv_tokens), (b.peak_running, b.peak_kv_tokens));
    prop_assert_eq!(a.itl.count(), b.itl.count());
    prop_assert!(Agreement::is_same_length(a.step_times.busy_s, b.step_times.busy_s));
    for percent in [0.0, 25.0, 50.0, 75.0, 99.0, 100.0] {
        for (x, y) in [(&a.ttft, &b.ttft), (&a.tpot, &b.tpot)] {
            match (x.percentile(percent), y.percentile(percent)) {
                (Some(x), Some(y)) => {
                    prop_assert!(agreement.are_same_spans(1, x, y), "P{percent}: {x} {y}");
                }
                (x, y) => prop_assert_eq!(x, y),
            }
        }
        match (a.itl.percentile(percent), b.itl.percentile(percent)) {
            (Some(x), Some(y)) => {
                prop_assert!(Agreement::is_same_length(x, y), "P{percent}: {x} {y}");
            }
            (x, y) => prop_assert_eq!(x, y),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() })]

    /// Blocks of steps drawn ahead, or each request in each step: the same.
    #[test]
    fn the_engines_agree(setup in setups(), speculation in speculations()) {
        let setup = Setup { rules: Rules::Speculative(speculation), ..setup };
        let fast = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        let slow = simulate_by_oracle(&setup, KEEP_ALL).expect("a valid set-up");
        prop_assert_eq!(fast.verify(), Ok(()));
        prop_assert_eq!(slow.verify(), Ok(()));
        assert_same(&fast, &slow)?;
    }

    /// Without drafts it is the reference engine, which crosses many steps at once.
    #[test]
    fn without_drafts_nothing_changes(setup in setups(), acceptance in 0.0_f64..1.0) {
        let none = Speculation { tokens: 0, acceptance, draft_cost: 0.1 };
        let stepwise = Setup { rules: Rules::Speculative(none), ..setup.clone() };
        let stepwise = simulate(&stepwise, KEEP_ALL).expect("a valid set-up");
        assert_same(&stepwise, &simulate(&setup, KEEP_ALL).expect("a valid set-up"))?;
    }

    /// Nobody is lost, every token is counted once, limits hold, and pieces make the same run.
    #[test]
    fn promises_are_kept(setup in setups(), speculation in speculations()) {
        let setup = Setup { rules: Rules::Speculative(speculation), ..setup };
        let run = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        let records = run.requests.as_deref().unwrap_or_default();
        let asked: Vec<_> = Requests::new(&setup.workload, setup.seed).collect();
        prop_assert_eq!(records.len(), asked.len());
        prop_assert_eq!(run.completed + run.rejected, asked.len() as u64);
        for (record, request) in records.iter().zip(&asked) {
            let tokens = request.input_tokens + request.output_tokens + speculation.tokens;
            let fits = tokens <= setup.engine.kv_capacity_tokens;
            prop_assert_eq!(record.outcome == Outcome::Completed, fits, "{:?}", record);
        }
        prop_assert_eq!(run.itl.count(), run.output_tokens - run.completed);
        prop_assert!(run.peak_running <= setup.engine.max_num_seqs);
        prop_assert!(run.peak_kv_tokens <= setup.engine.kv_capacity_tokens);
        let mut pieces = Simulation::new(&setup, KEEP_ALL).expect("a valid set-up");
        while pieces.advance(3) != Progress::Done {}
        prop_assert_eq!(format!("{:?}", pieces.finish()), format!("{:?}", run));
    }
}

/// Qwen2.5-7B on an H100 that decodes 200 tokens for each of `together` requests at a time.
fn decoding(together: u64, speculation: Speculation, requests: u64) -> Run {
    let setup = Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Even,
                rate_per_s: 1e6,
                input: LengthSpec::Fixed { tokens: 64 },
                output: LengthSpec::Fixed { tokens: 201 },
            },
            requests,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 8192,
            max_num_seqs: together,
            kv_capacity_tokens: 900_000,
        },
        rules: Rules::Speculative(speculation),
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
        seed: 4,
    };
    simulate(&setup, KEEP_ALL).expect("a valid set-up")
}

const FOUR_OF_SEVENTY: Speculation = Speculation { tokens: 4, acceptance: 0.7, draft_cost: 0.05 };

/// One request at a time: each step is a prompt, or decodes and yields what the formula says. Of
/// 400 outputs of some 73 steps each the mean is known to 0.3 %.
#[test]
fn tokens_per_step_are_those_of_the_formula() {
    for speculation in [
        FOUR_OF_SEVENTY,
        Speculation { tokens: 1, acceptance: 0.5, draft_cost: 0.0 },
        Speculation { tokens: 8, acceptance: 0.9, draft_cost: 0.1 },
    ] {
        let run = decoding(1, speculation, 400);
        let steps = (run.steps - run.completed) as f64;
        let per_step = (run.output_tokens - run.completed) as f64 / steps;
        let foretold = 200.0 / speculation.steps(200.0);
        assert!((per_step / foretold - 1.0).abs() < 0.012, "{per_step} {foretold}");
        // The end of an output takes away little.
        assert!(per_step < speculation.tokens_per_step() * 1.012);
        assert!(per_step > speculation.tokens_per_step() * 0.96);
    }
}

/// A lone request waits for weights, which are read once for several tokens. A large batch waits for
/// arithmetic, of which more is done for the same tokens.
#[test]
fn speculation_helps_few_and_hurts_many() {
    let tokens_per_s = |together, speculation, requests| {
        decoding(together, speculation, requests).output_tokens_per_s()
    };
    let gain = |together, requests| {
        tokens_per_s(together, FOUR_OF_SEVENTY, requests)
            / tokens_per_s(together, Speculation::NONE, requests)
    };
    // 2.77 tokens for a step and 4 · 5 % of one: 2.31 times as fast, less the prompts.
    let alone = gain(1, 100);
    assert!((2.1..2.31).contains(&alone), "{alone}");
    let many = gain(512, 4_096);
    assert!(many < 0.95, "{many}");
    assert!(gain(16, 320) > gain(256, 2_560));
}

/// By hand: every draft is kept, so that 9 more tokens take two steps of 5 and 4.
#[test]
fn a_lone_request_takes_as_long_as_counted_by_hand() {
    let setup = Setup {
        workload: Workload {
            source: RequestSource::Generated {
                process: ArrivalProcess::Even,
                rate_per_s: 1.0,
                input: LengthSpec::Fixed { tokens: 30 },
                output: LengthSpec::Fixed { tokens: 10 },
            },
            requests: 1,
        },
        engine: EngineSpec {
            max_num_batched_tokens: 8192,
            max_num_seqs: 4,
            kv_capacity_tokens: 44,
        },
        rules: Rules::Speculative(Speculation { tokens: 4, acceptance: 1.0, draft_cost: 0.1 }),
        step_time: StepTimeSpec::Affine { fixed_s: 0.02, per_item_s: 0.005 },
        slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
        seed: 4,
    };
    let run = simulate(&setup, KEEP_ALL).expect("a valid set-up");
    let record = run.requests.as_deref().unwrap_or_default()[0];
    let agreement = Agreement::of(&run, 0);
    assert!(agreement.are_same_spans(1, record.first_token_s - record.arrival_s, 0.025));
    // 25 ms to verify, and four drafts of 2.5 ms.
    assert!(agreement.are_same_spans(1, record.finish_s - record.first_token_s, 0.07));
    assert_eq!((run.steps, run.peak_kv_tokens), (3, 44));
    assert_eq!(run.itl.percentile(75.0), Some(0.0));
    // One token less and the drafts have no room.
    let tight = EngineSpec { kv_capacity_tokens: 43, ..setup.engine };
    let run = simulate(&Setup { engine: tight, ..setup }, KEEP_ALL).expect("a valid set-up");
    assert_eq!((run.completed, run.rejected), (0, 1));
}
