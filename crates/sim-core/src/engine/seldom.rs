//! The engines that few ask for, behind one door.
//!
//! A page loads what [`start`] leads to only when somebody asks for it. So nobody else may lead there:
//! engines come back as trait objects, of which the compiler is not told what they are, and [`start`]
//! must stay a function of its own.

use std::{hint::black_box, sync::Arc};

use crate::{
    measure::Run,
    setup::{Setup, SetupError},
    workload::{PromptBlocks, RequestClass, RequestSource, SharedPrefix, Trace},
};

use super::{
    Attendance, AttendedSimulation, BLOCK_SIZE, BatchRule, BatchSetup, Keep, Progress, Rules,
    ServiceNoise, VllmRules,
    jobs::Jobs,
    simulate_batches,
    stepwise::Stepwise,
    vllm::{Content, Standing, Standings, VllmSetup, VllmSimulation, VllmSpec},
};

/// An engine under one workload, advanced piece by piece.
pub(super) trait Seldom {
    /// Take up to `most` jumps.
    fn advance(&mut self, most: u64) -> Progress;

    /// The measures of what has ended so far.
    fn finish(self: Box<Self>) -> Run;
}

/// Prepare a run by rules that are [seldom](Rules::are_seldom), or with clients or a line that react.
///
/// # Errors
/// The set-up holds a number outside its domain.
#[inline(never)]
pub(super) fn start(
    setup: &Setup,
    attendance: &Attendance,
    keep: Keep,
) -> Result<Box<dyn Seldom>, SetupError> {
    if !attendance.is_open() {
        let attended = AttendedSimulation::new(&attendance.before(setup), keep)?;
        return Ok(black_box(Box::new(attended)));
    }
    let engine: Box<dyn Seldom> = match &setup.rules {
        Rules::VllmV1(rules) => Box::new(VllmSimulation::new(&vllm_setup(setup, *rules), keep)?),
        Rules::WholeBatches { max_delay_s, noise } => {
            let batches = batch_setup(setup, *max_delay_s, noise);
            Box::new(Ended(simulate_batches(&batches, keep)?))
        }
        Rules::Speculative(speculation) => {
            let jobs = Jobs::of_workload(setup, *speculation);
            Box::new(Stepwise::new(setup, *speculation, keep, jobs.total(), |_| jobs))
        }
        Rules::Reference => Box::new(Ended(super::simulate(setup, keep)?)),
    };
    Ok(black_box(engine))
}

impl Seldom for VllmSimulation {
    fn advance(&mut self, most: u64) -> Progress {
        Self::advance(self, most)
    }

    fn finish(self: Box<Self>) -> Run {
        Self::finish(*self).run
    }
}

impl Seldom for AttendedSimulation {
    fn advance(&mut self, most: u64) -> Progress {
        Self::advance(self, most)
    }

    fn finish(self: Box<Self>) -> Run {
        Self::finish(*self).run
    }
}

/// A run of rules whose engines run in one piece.
struct Ended(Run);

impl Seldom for Ended {
    fn advance(&mut self, _: u64) -> Progress {
        Progress::Done
    }

    fn finish(self: Box<Self>) -> Run {
        self.0
    }
}

pub(super) fn vllm_setup(setup: &Setup, rules: VllmRules) -> VllmSetup {
    VllmSetup {
        workload: setup.workload.clone(),
        vllm: vllm_spec(rules, setup),
        standings: standings(setup),
        step_time: setup.step_time,
        slo: setup.slo,
        seed: setup.seed,
    }
}

/// The full settings of a scheduler under the limits of `setup`.
fn vllm_spec(rules: VllmRules, setup: &Setup) -> VllmSpec {
    let engine = &setup.engine;
    let num_blocks = engine.kv_capacity_tokens / BLOCK_SIZE + 1;
    VllmSpec {
        max_num_seqs: engine.max_num_seqs,
        max_num_batched_tokens: engine.max_num_batched_tokens,
        policy: rules.policy,
        prefix_caching: rules.prefix_caching,
        long_prefill_token_threshold: rules.long_prefill_token_threshold,
        watermark: rules.watermark,
        steps_in_flight: if rules.asynchronous { 2 } else { 1 },
        ..VllmSpec::of_version(rules.version, num_blocks, setup.largest_request_tokens() + 1)
    }
}

/// Only the classes of a mix differ in importance; what prompts share, they say or a recording.
fn standings(setup: &Setup) -> Standings {
    if let RequestSource::Replay { trace, .. } = setup.workload.source.whole() {
        return recorded(trace, &setup.workload.source);
    }
    let RequestSource::Mixed(mix) = setup.workload.source.whole() else {
        return Standings::Same;
    };
    let standing = |class: &RequestClass| Standing {
        priority: i64::from(class.priority),
        content: match class.shared_prefix {
            Some(SharedPrefix { group, tokens }) => Content::SharedPrefix { group, tokens },
            None => Content::Unique,
        },
    };
    Standings::OfClass(mix.classes.iter().map(standing).collect())
}

/// What the prompts of a recording have in common: of all its rows, or of those that a replica gets.
fn recorded(trace: &Trace, source: &RequestSource) -> Standings {
    let Some(PromptBlocks { tokens_per_block, of_row }) = trace.blocks() else {
        return Standings::Same;
    };
    let (first, every) = match source {
        RequestSource::Dealt(deal) => (deal.replica as usize, deal.replicas as usize),
        _ => (0, 1),
    };
    let standing = |blocks: &Arc<[u64]>| Standing {
        priority: 0,
        content: Content::Recorded {
            tokens_per_block: *tokens_per_block,
            blocks: Arc::clone(blocks),
        },
    };
    Standings::OfRequest(of_row.iter().skip(first).step_by(every.max(1)).map(standing).collect())
}

pub(super) fn batch_setup(setup: &Setup, max_delay_s: f64, noise: &ServiceNoise) -> BatchSetup {
    BatchSetup {
        workload: setup.workload.clone(),
        rule: BatchRule { max_batch: setup.engine.max_num_seqs, max_delay_s },
        step_time: setup.step_time,
        noise: noise.clone(),
        slo: setup.slo,
        seed: setup.seed,
    }
}
