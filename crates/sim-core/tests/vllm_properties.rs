//! What holds of the `vllm-v1` rules on any setting, down to pools of a handful of blocks.

mod cases;

use std::{collections::VecDeque, sync::Arc};

use cases::cases;
use proptest::prelude::*;
use sim_core::{
    EngineSpec, Keep, Precision, RequestSource, Rules, Setup, Slo, StepTimeSpec, Trace, TraceRow,
    Workload,
    engine::vllm::{
        Content, Decision, Policy, Refusal, Request, Scheduler, Standings, Version, VllmRun,
        VllmSetup, VllmSpec, simulate_vllm, simulate_vllm_by_oracle,
    },
    simulate_by_oracle,
};

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

fn specs() -> impl Strategy<Value = VllmSpec> {
    let sizes = (
        prop_oneof![Just(1_u64), 2_u64..5, Just(16_u64)],
        prop_oneof![2_u64..6, 6_u64..40, 40_u64..400],
        prop_oneof![Just(1_u64), 2_u64..6, 6_u64..100],
        prop_oneof![1_u64..8, 8_u64..80, 80_u64..4_000],
        prop_oneof![2_u64..40, 40_u64..10_000],
    );
    let rules = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop_oneof![3 => Just(true), 1 => Just(false)],
        prop_oneof![2 => Just(0_u64), 1 => 1_u64..60],
    );
    let newer = (
        any::<bool>(),
        prop_oneof![2 => Just(0.0), 1 => 0.0_f64..0.9],
        1_u64..3,
        prop_oneof![2 => Just(1_u64), 1 => 2_u64..8],
    );
    (sizes, rules, newer).prop_map(|(sizes, rules, newer)| {
        let (block_size, num_blocks, max_num_seqs, budget, max_model_len) = sizes;
        let (is_new, is_fcfs, prefix_caching, chunked_prefill, threshold) = rules;
        let (gate, watermark, steps_in_flight, interval) = newer;
        VllmSpec {
            version: if is_new { Version::V0_33 } else { Version::V0_11 },
            block_size,
            num_blocks,
            max_num_seqs,
            max_num_batched_tokens: if chunked_prefill { budget } else { budget + max_model_len },
            max_model_len,
            policy: if is_fcfs { Policy::Fcfs } else { Policy::Priority },
            prefix_caching,
            chunked_prefill,
            long_prefill_token_threshold: threshold,
            scheduler_reserve_full_isl: is_new && gate,
            watermark: if is_new { watermark } else { 0.0 },
            steps_in_flight,
            prefill_schedule_interval: if is_new { interval } else { 1 },
        }
    })
}

/// How many steps pass before a request comes, and the request.
fn arrivals() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let lengths = || prop_oneof![1 => 0_u64..3, 3 => 1_u64..50, 1 => 50_u64..400];
    let content = prop_oneof![
        2 => Just(Content::Unique),
        2 => (0_u64..3, 0_u64..80)
            .prop_map(|(group, tokens)| Content::SharedPrefix { group, tokens }),
        1 => (0_u64..3, 1_usize..8).prop_map(|(first, length)| {
            // A chain: what a block stands for includes what comes before it.
            Content::Blocks((0..length as u64).map(|i| first + 10 * i).collect())
        }),
    ];
    let request = (lengths(), lengths(), -2_i64..3, content);
    prop::collection::vec((prop_oneof![3 => Just(0_u64), 1 => 1_u64..30], request), 1..40).prop_map(
        |rows| {
            rows.into_iter()
                .enumerate()
                .map(|(index, (gap, (prompt_tokens, output_tokens, priority, content)))| {
                    let arrival = index as u64;
                    (gap, Request { prompt_tokens, output_tokens, priority, arrival, content })
                })
                .collect()
        },
    )
}

/// Drives a scheduler and checks every step.
struct Watched {
    scheduler: Scheduler,
    in_flight: VecDeque<Decision>,
    /// Output tokens still to come, by request number.
    missing: Vec<u64>,
    finished: usize,
}

impl Watched {
    fn new(spec: VllmSpec) -> Result<Self, TestCaseError> {
        let scheduler = Scheduler::new(spec).map_err(|e| TestCaseError::fail(e.to_string()))?;
        Ok(Self { scheduler, in_flight: VecDeque::new(), missing: Vec::new(), finished: 0 })
    }

    /// A request is refused exactly if it can never run.
    fn add(&mut self, request: &Request) -> Result<(), TestCaseError> {
        let spec = *self.scheduler.spec();
        let prompt = request.prompt_tokens.max(1);
        let end = (prompt + request.output_tokens).min(spec.max_model_len);
        match self.scheduler.add(request) {
            Ok(_) => self.missing.push(end - prompt),
            Err(Refusal::NoOutput) => prop_assert_eq!(request.output_tokens, 0),
            Err(Refusal::PromptFillsModel { .. }) => prop_assert!(prompt >= spec.max_model_len),
            Err(Refusal::NeverFits { .. }) => prop_assert!(end - 1 > spec.kv_capacity_tokens()),
            Err(other) => prop_assert!(false, "{other}"),
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), TestCaseError> {
        let decision = self.scheduler.schedule();
        self.check(&decision)?;
        let is_empty = decision.is_empty();
        if !is_empty {
            self.in_flight.push_back(decision);
        }
        let depth = self.scheduler.spec().steps_in_flight;
        if is_empty || self.in_flight.len() as u64 >= depth {
            self.come_back()?;
        }
        Ok(())
    }

    fn check(&self, decision: &Decision) -> Result<(), TestCaseError> {
        let spec = self.scheduler.spec();
        prop_assert_eq!(self.scheduler.verify(), Ok(()));
        prop_assert!(decision.tokens() <= spec.max_num_batched_tokens);
        prop_assert!(decision.scheduled.iter().all(|scheduled| scheduled.tokens > 0));
        prop_assert!(decision.preempted.is_empty() || decision.new.is_empty());
        prop_assert!(decision.preempted.is_empty() || decision.resumed.is_empty());
        prop_assert!(spec.prefix_caching || decision.cached_tokens.iter().all(|&(_, n)| n == 0));
        Ok(())
    }

    fn come_back(&mut self) -> Result<(), TestCaseError> {
        let Some(decision) = self.in_flight.pop_front() else { return Ok(()) };
        let completion = self.scheduler.complete(&decision);
        for id in completion.sampled {
            self.missing[id.index()] -= 1;
        }
        for id in completion.finished {
            prop_assert_eq!(self.missing[id.index()], 0);
            self.finished += 1;
        }
        prop_assert_eq!(self.scheduler.verify(), Ok(()));
        Ok(())
    }
}

fn row(gap_s: f64, input_tokens: u64, output_tokens: u64, at_s: &mut f64) -> TraceRow {
    *at_s += gap_s;
    TraceRow { arrival_s: *at_s, input_tokens, output_tokens }
}

fn workloads() -> impl Strategy<Value = Workload> {
    let gap = prop_oneof![2 => Just(0.0), 4 => 0.0_f64..0.05, 1 => 0.0_f64..10.0];
    let rows = prop::collection::vec((gap, 1_u64..300, 1_u64..80), 1..40);
    rows.prop_filter_map("rows are in order", |rows| {
        let mut at_s = 0.0;
        let rows = rows.into_iter().map(|(gap_s, i, o)| row(gap_s, i, o, &mut at_s)).collect();
        let trace = Arc::new(Trace::new(rows).ok()?);
        Some(Workload { source: RequestSource::Replay { trace, speed: 1.0 }, requests: 40 })
    })
}

fn step_times() -> impl Strategy<Value = StepTimeSpec> {
    prop_oneof![
        (1e-4_f64..0.05, 1e-5_f64..0.01)
            .prop_map(|(fixed_s, per_item_s)| StepTimeSpec::Affine { fixed_s, per_item_s }),
        (1e8_f64..1e11, 1e8_f64..1e11, 0.0_f64..1e6).prop_map(
            |(params, weight_bytes, kv_bytes_per_token)| StepTimeSpec::Roofline {
                params,
                weight_bytes,
                kv_bytes_per_token,
                peak_flops: 989e12,
                bandwidth_bytes_per_s: 3.35e12,
                mfu: 0.5,
                overhead_s: 5e-4,
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2_000), ..ProptestConfig::default() })]

    /// Blocks, slots, tokens and requests are conserved in every step, and every request that is
    /// not refused gets all its tokens.
    #[test]
    fn nothing_is_lost_and_everything_ends(spec in specs(), arrivals in arrivals()) {
        let mut watched = Watched::new(spec)?;
        for (gap, request) in &arrivals {
            for _ in 0..*gap {
                watched.step()?;
            }
            watched.add(request)?;
        }
        // Every step computes a token or precedes one that does; preemption repeats some.
        let mut steps_left = 200_000;
        while watched.scheduler.has_requests() && steps_left > 0 {
            watched.step()?;
            steps_left -= 1;
        }
        while !watched.in_flight.is_empty() {
            watched.come_back()?;
        }
        prop_assert_eq!(watched.finished, watched.missing.len(), "livelock");
        prop_assert_eq!(watched.scheduler.free_blocks(), spec.usable_blocks());
    }

    /// In time: the books balance, and every request is served or turned away.
    #[test]
    fn every_run_proves_its_truths(
        spec in specs(), workload in workloads(), step_time in step_times(),
    ) {
        let setup = VllmSetup { workload, vllm: spec, standings: Standings::Same, step_time, slo: SLO, seed: 0 };
        let run = simulate_vllm_by_oracle(&setup, KEEP_ALL)
            .map_err(|error| TestCaseError::fail(error.to_string()))?
            .run;
        prop_assert_eq!(run.verify(), Ok(()));
        prop_assert_eq!(run.in_flight, 0);
        // Each token but the first ends one gap.
        prop_assert_eq!(run.itl.count(), run.output_tokens - run.completed);
    }

    /// With memory for everybody and a budget for every decode, paging and preemption have nothing
    /// to do, and the rules are the reference's.
    #[test]
    fn with_room_for_all_the_rules_are_the_reference(
        workload in workloads(), step_time in step_times(), seqs in 1_u64..30, extra in 0_u64..500,
    ) {
        let engine = EngineSpec {
            max_num_batched_tokens: seqs + extra,
            max_num_seqs: seqs,
            kv_capacity_tokens: 16 * 4_000,
        };
        let vllm = VllmSpec {
            max_num_batched_tokens: engine.max_num_batched_tokens,
            max_num_seqs: engine.max_num_seqs,
            steps_in_flight: 1,
            ..VllmSpec::of_version(Version::V0_33, 4_001, 10_000)
        };
        let reference =
            Setup { workload: workload.clone(), engine, rules: Rules::Reference, step_time, slo: SLO, seed: 0 };
        let theirs = simulate_by_oracle(&reference, KEEP_ALL)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let ours = simulate_vllm_by_oracle(
            &VllmSetup { workload, vllm, standings: Standings::Same, step_time, slo: SLO, seed: 0 },
            KEEP_ALL,
        )
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(ours.counts.preemptions, 0);
        prop_assert_eq!(ours.run.requests, theirs.requests);
        prop_assert_eq!(ours.run.steps, theirs.steps);
        prop_assert_eq!(ours.run.itl.percentile(99.0), theirs.itl.percentile(99.0));
        prop_assert_eq!(ours.run.queue_wait, theirs.queue_wait);
    }
}

fn close(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * (1e-3 + a.abs())
}

/// Five requests that fit as prompts and not with their outputs: three lose their blocks. Their
/// users see one long gap each, and no first token moves.
#[test]
fn a_preempted_request_keeps_its_first_token_and_pays_in_a_gap() {
    let rows = vec![TraceRow { arrival_s: 0.0, input_tokens: 64, output_tokens: 40 }; 5];
    let trace = Arc::new(Trace::new(rows).expect("rows are in order"));
    let setup = VllmSetup {
        workload: Workload { source: RequestSource::Replay { trace, speed: 1.0 }, requests: 5 },
        vllm: VllmSpec {
            prefix_caching: false,
            steps_in_flight: 1,
            ..VllmSpec::of_version(Version::V0_33, 21, 8192)
        },
        standings: Standings::Same,
        step_time: StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 },
        slo: SLO,
        seed: 0,
    };
    for simulate in [simulate_vllm, simulate_vllm_by_oracle] {
        let VllmRun { run, counts } = simulate(&setup, KEEP_ALL).expect("a valid set-up");
        assert_eq!((run.completed, counts.preemptions), (5, 3));
        // One after its first token, one after its 17th, one after its 33rd.
        assert_eq!(counts.recomputed_tokens, 64 + 80 + 96);
        assert!(run.ttft.percentile(100.0).is_some_and(|ttft_s| close(ttft_s, 0.01)));
        // The first to go waits from step 1 until two have finished, after step 39.
        assert!(run.itl.percentile(100.0).is_some_and(|gap_s| close(gap_s, 0.40)));
        assert_eq!(run.itl.count(), 5 * 39);
    }
}
