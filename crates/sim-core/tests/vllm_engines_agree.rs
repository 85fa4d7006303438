//! The counting engine of the `vllm-v1` rules against the obvious one: the same decisions, step for
//! step, and the same run in time.
//!
//! `PROPTEST_CASES` runs more cases than the 1,000 of each family.
#![allow(clippy::panic, reason = "a test stops at the first surprise")]

mod agreement;

use std::{collections::VecDeque, sync::Arc};

use agreement::Agreement;
use proptest::prelude::*;
use sim_core::{
    Keep, Precision, Progress, RequestSource, Run, Slo, StepTimeSpec, Trace, TraceRow, Workload,
    engine::vllm::{
        Content, CountedScheduler, Decision, Policy, Request, RequestId, Scheduler, Standing,
        Standings, Version, VllmSetup, VllmSimulation, VllmSpec, simulate_vllm,
        simulate_vllm_by_oracle,
    },
};

#[path = "settings/kernel.rs"]
mod kernel;

const KEEP_ALL: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };
const CASES: u32 = 1_000;

/// Where a family of settings lies in the space of all.
#[derive(Clone, Copy, Debug)]
struct Family {
    version: Option<Version>,
    policy: Option<Policy>,
    steps_in_flight: Option<u64>,
    prefix_caching: Option<bool>,
    /// Largest pool in blocks.
    most_blocks: u64,
    /// Largest token budget.
    most_tokens: u64,
    /// Whether prompts are limited.
    has_threshold: Option<bool>,
    /// Whether prefills are spaced out.
    has_interval: Option<bool>,
    /// Longest gap between arrivals, in seconds.
    longest_gap_s: f64,
}

const ANY: Family = Family {
    version: None,
    policy: None,
    steps_in_flight: None,
    prefix_caching: None,
    most_blocks: 400,
    most_tokens: 4_000,
    has_threshold: None,
    has_interval: None,
    longest_gap_s: 0.05,
};

fn either<T: Clone + std::fmt::Debug + 'static>(given: Option<T>, a: T, b: T) -> BoxedStrategy<T> {
    match given {
        Some(value) => Just(value).boxed(),
        None => prop_oneof![Just(a), Just(b)].boxed(),
    }
}

fn number(has: Option<bool>, none: u64, range: std::ops::Range<u64>) -> BoxedStrategy<u64> {
    match has {
        Some(true) => range.boxed(),
        Some(false) => Just(none).boxed(),
        None => prop_oneof![2 => Just(none), 1 => range].boxed(),
    }
}

fn specs(family: Family) -> impl Strategy<Value = VllmSpec> {
    let sizes = (
        prop_oneof![Just(1_u64), 2_u64..5, Just(16_u64)],
        prop_oneof![2 => 2_u64..12, 3 => 6_u64..40, 2 => 40_u64..400],
        prop_oneof![Just(1_u64), 2_u64..6, 6_u64..100],
        prop_oneof![1_u64..8, 8_u64..80, 80_u64..4_000],
        prop_oneof![1 => 2_u64..40, 3 => 40_u64..10_000],
    );
    let rules = (
        either(family.version, Version::V0_33, Version::V0_11),
        either(family.policy, Policy::Fcfs, Policy::Priority),
        either(family.prefix_caching, false, true),
        prop_oneof![4 => Just(true), 1 => Just(false)],
        number(family.has_threshold, 0, 1..60),
    );
    let newer = (
        any::<bool>(),
        prop_oneof![3 => Just(0.0), 1 => 0.0_f64..0.9],
        either(family.steps_in_flight, 1, 2),
        number(family.has_interval, 1, 2..8),
    );
    (sizes, rules, newer).prop_map(move |(sizes, rules, newer)| {
        let (block_size, num_blocks, max_num_seqs, budget, max_model_len) = sizes;
        let (version, policy, prefix_caching, chunked_prefill, threshold) = rules;
        let (gate, watermark, steps_in_flight, interval) = newer;
        let is_new = version == Version::V0_33;
        let budget = budget.min(family.most_tokens);
        VllmSpec {
            version,
            block_size,
            num_blocks: num_blocks.min(family.most_blocks),
            max_num_seqs,
            max_num_batched_tokens: if chunked_prefill { budget } else { budget + max_model_len },
            max_model_len,
            policy,
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

fn contents() -> impl Strategy<Value = Content> {
    prop_oneof![
        2 => Just(Content::Unique),
        3 => (0_u64..3, 0_u64..120)
            .prop_map(|(group, tokens)| Content::SharedPrefix { group, tokens }),
        1 => (0_u64..3, 1_usize..12).prop_map(|(first, length)| {
            // A chain: what a block stands for includes what comes before it.
            Content::Blocks((0..length as u64).map(|i| first + 10 * i).collect())
        }),
        1 => (0_u64..3, 1_usize..12, 1_u64..100).prop_map(|(first, length, tokens_per_block)| {
            let blocks = (0..length as u64).map(|i| first + 10 * i).collect();
            Content::Recorded { tokens_per_block, blocks }
        }),
    ]
}

fn lengths() -> impl Strategy<Value = u64> {
    prop_oneof![1 => 1_u64..3, 3 => 1_u64..50, 1 => 50_u64..400]
}

fn asked() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let gap = prop_oneof![3 => Just(0_u64), 1 => 1_u64..30];
    let request = (gap, lengths(), lengths(), -2_i64..3, contents());
    prop::collection::vec(request, 1..40).prop_map(|rows| {
        (0..)
            .zip(rows)
            .map(|(arrival, (gap, prompt_tokens, output_tokens, priority, content))| {
                (gap, Request { prompt_tokens, output_tokens, priority, arrival, content })
            })
            .collect()
    })
}

/// After how many steps clients go away; some never do.
fn going() -> impl Strategy<Value = Vec<Option<u64>>> {
    prop::collection::vec(prop::option::of(prop_oneof![0_u64..5, 0_u64..60]), 1..12)
}

/// Both engines side by side, without a clock.
struct Pair {
    obvious: Scheduler,
    counted: CountedScheduler,
    in_flight: VecDeque<Decision>,
    depth: u64,
}

impl Pair {
    fn step(&mut self) -> Result<(), TestCaseError> {
        let decision = self.obvious.schedule();
        let counted = self.counted.schedule();
        // Whether one token goes on with a prompt or is a decode that was passed over: the counting
        // engine's spelling does not tell.
        let told = |decision: &Decision| {
            let scheduled = decision.scheduled.iter();
            let scheduled: Vec<_> =
                scheduled.map(|s| (s.id, s.tokens, s.context_tokens, s.samples)).collect();
            let Decision { new, resumed, preempted, cached_tokens, .. } = decision.clone();
            (scheduled, new, resumed, preempted, cached_tokens)
        };
        prop_assert_eq!(told(&counted), told(&decision));
        prop_assert_eq!(self.counted.running(), self.obvious.running());
        prop_assert_eq!(self.counted.free_blocks(), self.obvious.free_blocks());
        prop_assert_eq!(self.counted.waiting(), self.obvious.waiting());
        let is_empty = decision.is_empty();
        if !is_empty {
            self.in_flight.push_back(decision);
        }
        if is_empty || self.in_flight.len() as u64 >= self.depth {
            self.come_back()?;
        }
        Ok(())
    }

    /// The client of a request goes away.
    fn abort(&mut self, id: RequestId) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.counted.abort(id), self.obvious.abort(id));
        prop_assert_eq!(self.counted.running(), self.obvious.running());
        prop_assert_eq!(self.counted.waiting(), self.obvious.waiting());
        prop_assert_eq!(self.counted.free_blocks(), self.obvious.free_blocks());
        prop_assert_eq!(self.obvious.verify(), Ok(()));
        Ok(())
    }

    fn come_back(&mut self) -> Result<(), TestCaseError> {
        let Some(decision) = self.in_flight.pop_front() else { return Ok(()) };
        let theirs = self.obvious.complete(&decision);
        let ours = self.counted.complete();
        prop_assert_eq!(ours, theirs);
        prop_assert_eq!(self.counted.waiting(), self.obvious.waiting());
        prop_assert_eq!(self.counted.free_blocks(), self.obvious.free_blocks());
        Ok(())
    }
}

/// `goes`: of every request in turn, after how many steps from its coming its client goes away.
fn decide_alike(
    spec: VllmSpec,
    arrivals: &[(u64, Request)],
    goes: &[Option<u64>],
) -> Result<(), TestCaseError> {
    let failed = |error: sim_core::SetupError| TestCaseError::fail(error.to_string());
    // Numbers are given to those who are not refused.
    let mut probe = Scheduler::new(spec).map_err(failed)?;
    let kept: Vec<_> = arrivals.iter().filter(|(_, asked)| probe.add(asked).is_ok()).collect();
    let requests: Vec<_> = kept.iter().map(|(_, request)| request.clone()).collect();
    let mut pair = Pair {
        obvious: Scheduler::new(spec).map_err(failed)?,
        counted: CountedScheduler::new(spec, &requests).map_err(failed)?,
        in_flight: VecDeque::new(),
        depth: spec.steps_in_flight,
    };
    let mut goes = goes.iter().cycle();
    let mut to_go: Vec<(u64, RequestId)> = Vec::new();
    let mut now = 0_u64;
    let mut step = |pair: &mut Pair, to_go: &mut Vec<(u64, RequestId)>| {
        pair.step()?;
        now += 1;
        for (_, id) in to_go.extract_if(.., |(due, _)| *due <= now) {
            pair.abort(id)?;
        }
        Ok::<u64, TestCaseError>(now)
    };
    for (gap, request) in kept {
        let mut now = 0;
        for _ in 0..*gap {
            now = step(&mut pair, &mut to_go)?;
        }
        let id = pair.obvious.add(request);
        prop_assert_eq!(pair.counted.add(request), id);
        if let (Ok(id), Some(Some(steps))) = (id, goes.next()) {
            to_go.push((now + steps, id));
        }
    }
    let mut steps_left = 200_000;
    while pair.obvious.has_requests() && steps_left > 0 {
        step(&mut pair, &mut to_go)?;
        steps_left -= 1;
    }
    while !pair.in_flight.is_empty() {
        pair.come_back()?;
    }
    prop_assert!(!pair.counted.has_requests(), "livelock");
    prop_assert_eq!(pair.counted.free_blocks(), spec.usable_blocks());
    Ok(())
}

fn workloads(longest_gap_s: f64) -> impl Strategy<Value = (Workload, Standings)> {
    let gap = prop_oneof![2 => Just(0.0), 4 => 0.0_f64..=longest_gap_s, 1 => 0.0_f64..=(200.0 * longest_gap_s)];
    let row = (gap, 0_u64..300, 1_u64..80, -2_i64..3, contents());
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let mut arrival_s = 0.0;
        let mut standings = Vec::new();
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(gap_s, input_tokens, output_tokens, priority, content)| {
                arrival_s += gap_s;
                standings.push(Standing { priority, content });
                TraceRow { arrival_s, input_tokens, output_tokens }
            })
            .collect();
        let trace = Trace::new(rows).unwrap_or_else(|error| panic!("{error}"));
        let source = RequestSource::Replay { trace: Arc::new(trace), speed: 1.0 };
        (Workload { source, requests: 40 }, Standings::OfRequest(standings.into()))
    })
}

fn step_times() -> impl Strategy<Value = StepTimeSpec> {
    prop_oneof![
        kernel::kernel_step_times(),
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

fn setups(family: Family) -> impl Strategy<Value = VllmSetup> {
    (specs(family), workloads(family.longest_gap_s), step_times()).prop_map(
        |(vllm, (workload, standings), step_time)| VllmSetup {
            workload,
            vllm,
            standings,
            step_time,
            slo: Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 },
            seed: 0,
        },
    )
}

fn run_alike(setup: &VllmSetup) -> Result<(), TestCaseError> {
    let fail = |error: sim_core::SetupError| TestCaseError::fail(error.to_string());
    let slow = simulate_vllm_by_oracle(setup, KEEP_ALL).map_err(fail)?;
    let fast = simulate_vllm(setup, KEEP_ALL).map_err(fail)?;
    prop_assert_eq!(fast.counts, slow.counts);
    prop_assert_eq!(
        fast.counts.refused_by_blocks + fast.counts.refused_by_model_len,
        fast.run.rejected
    );
    runs_alike(&fast.run, &slow.run)
}

fn runs_alike(fast: &Run, slow: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(fast.verify(), Ok(()));
    prop_assert_eq!(fast.in_flight, 0, "everybody is served or turned away");
    let agreement = Agreement::of(slow, 0);
    for (f, s) in fast.requests.iter().flatten().zip(slow.requests.iter().flatten()) {
        prop_assert_eq!(f.outcome, s.outcome);
        prop_assert!(agreement.is_same_time(f.first_token_s, s.first_token_s), "{f:?} {s:?}");
        prop_assert!(agreement.is_same_time(f.finish_s, s.finish_s), "{f:?} {s:?}");
    }
    prop_assert_eq!(fast.steps, slow.steps);
    prop_assert_eq!(
        (fast.offered, fast.completed, fast.rejected, fast.in_flight),
        (slow.offered, slow.completed, slow.rejected, slow.in_flight)
    );
    prop_assert_eq!(fast.slot_steps, slow.slot_steps);
    prop_assert_eq!(fast.peak_running, slow.peak_running);
    prop_assert_eq!(fast.peak_kv_tokens, slow.peak_kv_tokens);
    prop_assert_eq!(fast.itl.count(), slow.itl.count());
    prop_assert!(Agreement::is_same_length(fast.step_times.busy_s, slow.step_times.busy_s));
    let (in_fast, in_slow) = (fast.in_system_request_s, slow.in_system_request_s);
    prop_assert!(agreement.are_same_spans(slow.offered, in_fast, in_slow));
    for percent in [0.0, 50.0, 99.0, 100.0] {
        let pairs = [
            (&fast.ttft, &slow.ttft),
            (&fast.tpot, &slow.tpot),
            (&fast.itl, &slow.itl),
            (&fast.queue_wait, &slow.queue_wait),
        ];
        for (f, s) in pairs {
            match (f.percentile(percent), s.percentile(percent)) {
                (Some(f), Some(s)) => {
                    prop_assert!(agreement.are_same_spans(1, f, s), "P{percent}: {f} {s}");
                }
                (f, s) => prop_assert_eq!(f, s),
            }
        }
    }
    Ok(())
}

/// The tests of a family of settings.
macro_rules! family {
    ($name:ident, $family:expr) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: CASES.max(ProptestConfig::default().cases),
                    ..ProptestConfig::default()
                })]

                #[test]
                fn decides_alike(spec in specs($family), arrivals in asked()) {
                    decide_alike(spec, &arrivals, &[None])?;
                }

                #[test]
                fn lets_go_alike(spec in specs($family), arrivals in asked(), goes in going()) {
                    decide_alike(spec, &arrivals, &goes)?;
                }

                #[test]
                fn runs_alike(setup in setups($family)) {
                    run_alike(&setup)?;
                }
            }
        }
    };
}

const FCFS: Family = Family {
    policy: Some(Policy::Fcfs),
    steps_in_flight: Some(1),
    prefix_caching: Some(false),
    has_threshold: Some(false),
    has_interval: Some(false),
    ..ANY
};

family!(first_come_first_served, FCFS);
family!(priority, Family { policy: Some(Policy::Priority), ..FCFS });
family!(asynchronous, Family { steps_in_flight: Some(2), ..FCFS });
family!(prefix_cache, Family { prefix_caching: Some(true), ..FCFS });
family!(tiny_budget, Family { most_tokens: 8, ..ANY });
family!(tiny_cache, Family { most_blocks: 12, ..ANY });
family!(burst, Family { longest_gap_s: 0.0, ..ANY });
family!(long_prefill_threshold, Family { has_threshold: Some(true), ..ANY });
family!(
    prefill_interval,
    Family { has_interval: Some(true), version: Some(Version::V0_33), ..ANY }
);
family!(release_0_11, Family { version: Some(Version::V0_11), ..ANY });
family!(release_0_33, Family { version: Some(Version::V0_33), ..ANY });

proptest! {
    /// However a run is cut into slices, it is the same to the bit.
    #[test]
    fn slices_change_nothing(setup in setups(ANY), slices in prop::collection::vec(1_u64..40, 1..8)) {
        let fail = |error: sim_core::SetupError| TestCaseError::fail(error.to_string());
        let whole = simulate_vllm(&setup, KEEP_ALL).map_err(fail)?;
        let mut sliced = VllmSimulation::new(&setup, KEEP_ALL).map_err(fail)?;
        let mut ended = 0;
        for &most in slices.iter().cycle() {
            match sliced.advance(most) {
                Progress::Running { ended: now, total } => {
                    prop_assert!((ended..=total).contains(&now), "{ended} {now} {total}");
                    ended = now;
                }
                Progress::Done => break,
            }
        }
        prop_assert_eq!(format!("{:?}", sliced.finish()), format!("{whole:?}"));
    }
}
