//! The obvious engine: it loops over every running request in every step. Slow on purpose; the
//! fast engines are tested against it.

use std::collections::VecDeque;

use crate::{
    measure::{Finished, Recorder, Run, Step, ValueRun},
    setup::{Setup, SetupError},
    step_time::{StepModel, StepShape},
    workload::{Request, Requests},
};

use super::{
    EngineBounds, Keep, has_arrived,
    jobs::Job,
    speculation::{Acceptances, Speculation},
    stepwise::drafting_s,
};

struct Running {
    request: Request,
    /// Tokens of context that it came with in place of a prompt.
    held_tokens: u64,
    start_s: f64,
    computed_tokens: u64,
    generated_tokens: u64,
    first_token_s: f64,
    acceptances: Acceptances,
}

impl Running {
    fn is_decoding(&self) -> bool {
        self.generated_tokens > 0 || self.held_tokens > 0
    }

    fn context_tokens(&self) -> u64 {
        self.held_tokens + self.computed_tokens + self.generated_tokens
    }
}

/// Simulate `setup` step by step and request by request.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub(super) fn reference_by_oracle(
    setup: &Setup,
    speculation: Speculation,
    keep: Keep,
) -> Result<Run, SetupError> {
    setup.check()?;
    let requests = Requests::new(&setup.workload, setup.seed);
    let places = requests.clone();
    let job = |request: Request| Job {
        request,
        held_tokens: 0,
        key: places.place_in_whole(request.index),
    };
    Ok(jobs_by_oracle(setup, speculation, requests.map(job).collect(), keep))
}

/// Simulate an engine with requests in order of arrival, some of which may come with their context.
pub(crate) fn jobs_by_oracle(
    setup: &Setup,
    speculation: Speculation,
    jobs: Vec<Job>,
    keep: Keep,
) -> Run {
    let bounds = EngineBounds::new(&setup.engine, &StepModel::new(&setup.step_time));
    let total = jobs.len() as u64;
    let recorder = Recorder::new(setup.slo, bounds, total, keep).judging(&setup.workload);
    let mut coming = jobs.into_iter().peekable();
    let (waiting, running) = (VecDeque::new(), Vec::new());
    let mut engine = Engine { setup, speculation, now_s: 0.0, waiting, running, recorder };
    loop {
        let now_s = engine.now_s;
        while let Some(job) = coming.next_if(|job| has_arrived(job.request.arrival_s, now_s)) {
            engine.recorder.arrived(&job.request);
            if job.kv_tokens(&speculation) > setup.engine.kv_capacity_tokens {
                engine.recorder.rejected(&job.request);
            } else {
                engine.waiting.push_back(job);
            }
        }
        if engine.waiting.is_empty() && engine.running.is_empty() {
            let Some(job) = coming.peek() else { break };
            engine.now_s = job.request.arrival_s;
            continue;
        }
        engine.step();
    }
    let run = engine.recorder.finish((engine.waiting.len() + engine.running.len()) as u64);
    debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
    run
}

struct Engine<'a> {
    setup: &'a Setup,
    speculation: Speculation,
    now_s: f64,
    waiting: VecDeque<Job>,
    running: Vec<Running>,
    recorder: Recorder,
}

impl Engine<'_> {
    /// Compose a step, take it, and hand out its tokens.
    fn step(&mut self) {
        let chunks = self.compose();
        let shape = StepShape {
            tokens: chunks.iter().sum(),
            sequences: chunks.len() as u64,
            context_tokens: self.running.iter().map(Running::context_tokens).sum(),
        };
        let step_s = self.setup.step_time.step_s(&shape) + self.drafting_s();
        self.now_s += step_s;
        let had_a_token = self.running.iter().filter(|r| r.generated_tokens > 0).count() as u64;
        self.recorder.stepped(&Step {
            gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight: had_a_token },
            total_s: step_s,
            compute_bound: self.setup.step_time.is_compute_bound(&shape),
            running: self.running.len() as u64,
            kv_tokens: self.reserved_tokens(),
        });
        for (r, tokens) in self.running.iter_mut().zip(chunks) {
            let mut yielded = 1;
            if r.is_decoding() && self.speculation.tokens > 0 {
                let left = r.request.output_tokens - r.generated_tokens;
                yielded = r.acceptances.next(&self.speculation).min(left);
            }
            if r.computed_tokens < r.request.input_tokens {
                r.computed_tokens += tokens;
                if r.computed_tokens < r.request.input_tokens {
                    continue;
                }
            }
            if r.generated_tokens == 0 {
                r.first_token_s = self.now_s;
            }
            r.generated_tokens += yielded;
            self.recorder.came_together(yielded - 1);
        }
        let (now_s, recorder) = (self.now_s, &mut self.recorder);
        self.running.retain(|r| {
            let done = r.generated_tokens == r.request.output_tokens;
            if done {
                recorder.finished(&Finished {
                    request: r.request,
                    start_s: r.start_s,
                    first_token_s: r.first_token_s,
                    finish_s: now_s,
                });
            }
            !done
        });
    }

    /// The time that the draft model takes for the sequences that are decoding.
    fn drafting_s(&self) -> f64 {
        let decoding: Vec<&Running> = self.running.iter().filter(|r| r.is_decoding()).collect();
        if decoding.is_empty() || self.speculation.tokens == 0 {
            return 0.0;
        }
        let plain = StepShape {
            tokens: decoding.len() as u64,
            sequences: decoding.len() as u64,
            context_tokens: decoding.iter().map(|r| r.context_tokens()).sum(),
        };
        drafting_s(&self.speculation, self.setup.step_time.step_s(&plain))
    }

    fn reserved_tokens(&self) -> u64 {
        let drafts = self.speculation.tokens;
        self.running.iter().map(|r| r.held_tokens + r.request.final_tokens() + drafts).sum()
    }

    /// Tokens for each running request in order, after admitting whoever can be admitted. Requests
    /// beyond the end of the list get nothing in this step.
    fn compose(&mut self) -> Vec<u64> {
        let engine = &self.setup.engine;
        let width = i128::from(self.speculation.tokens + 1);
        let mut budget = i128::from(engine.max_num_batched_tokens);
        let mut chunks = Vec::new();
        for r in &self.running {
            let remaining = i128::from(r.request.input_tokens - r.computed_tokens);
            let tokens = if remaining == 0 { width } else { remaining.min(budget) };
            if tokens <= 0 {
                break;
            }
            chunks.push(tokens as u64);
            budget -= tokens;
        }
        let mut kv_tokens = self.reserved_tokens();
        while budget > 0 && (self.running.len() as u64) < engine.max_num_seqs {
            let Some(job) = self.waiting.front().copied() else { break };
            if kv_tokens + job.kv_tokens(&self.speculation) > engine.kv_capacity_tokens {
                break;
            }
            self.waiting.pop_front();
            kv_tokens += job.kv_tokens(&self.speculation);
            self.recorder.admitted(self.now_s - job.request.arrival_s);
            self.running.push(Running {
                request: job.request,
                held_tokens: job.held_tokens,
                start_s: self.now_s,
                computed_tokens: 0,
                generated_tokens: 0,
                first_token_s: 0.0,
                acceptances: Acceptances::new(self.setup.seed, job.key),
            });
            let whole = i128::from(job.request.input_tokens);
            let tokens = if job.held_tokens > 0 { width } else { whole.min(budget) };
            chunks.push(tokens as u64);
            budget -= tokens;
        }
        chunks
    }
}
