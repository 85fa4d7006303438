//! The reference rules one step at a time, where tokens do not come one a step: speculative decoding,
//! and requests whose prompt another engine has computed.
//!
//! A step costs O(1), and nobody is touched by it: what becomes of the drafts of a request depends on
//! the request alone, so that a block of its steps is drawn at once and added to what each of these
//! steps yields in all. The queue of those who finish wakes a request at its last step or at the end
//! of its block.

use crate::{
    float::{from_count, greater},
    measure::{Finished, Recorder, Run, Step, ValueRun},
    setup::{EngineSpec, Setup},
    step_time::{ContextLines, StepModel},
};

use super::{
    EngineBounds, Keep, Progress,
    finish_queue::FinishQueue,
    inbox::Aborted,
    jobs::{Job, Jobs},
    seen_until_s,
    seldom::Seldom,
    speculation::{Acceptances, Speculation},
};

/// Steps of one request that are drawn at once.
const BLOCK: u64 = 64;

/// A running request.
#[derive(Clone, Debug)]
struct Slot {
    job: Job,
    start_s: f64,
    /// Not a number once its client has gone.
    first_token_s: f64,
    drawn: Drawn,
    /// What was drawn before its present block of steps, and how many steps had been taken.
    before: (Drawn, u64),
}

/// How far the steps of a request have been drawn.
#[derive(Clone, Debug)]
struct Drawn {
    /// Output tokens that are not drawn yet.
    remaining_tokens: u64,
    acceptances: Acceptances,
}

/// A prompt that did not fit into one step.
#[derive(Clone, Copy, Debug)]
struct HalfDone {
    slot: u32,
    remaining_tokens: u64,
}

/// One engine and what stands before it, advanced piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Stepwise {
    engine: EngineSpec,
    model: StepModel,
    speculation: Speculation,
    seed: u64,
    jobs: Jobs,
    now_s: f64,
    /// Steps taken.
    step: u64,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    decoding: u64,
    half_done: Option<HalfDone>,
    /// Tokens computed and generated, over all running requests.
    context_tokens: u64,
    /// KV tokens reserved.
    kv_tokens: u64,
    finishing: FinishQueue,
    /// Tokens that each of the next steps yields, by step number modulo their number.
    yields: [u64; BLOCK as usize],
    /// Requests whose first token comes of the step being composed: of their prompt, or of the
    /// context that they came with.
    fresh: Vec<u32>,
    joined: Vec<u32>,
    recorder: Recorder,
}

impl Drawn {
    /// Tokens that the next step yields; 0 once all are drawn.
    #[inline]
    fn next(&mut self, speculation: &Speculation) -> u64 {
        let tokens = self.acceptances.next(speculation).min(self.remaining_tokens);
        self.remaining_tokens -= tokens;
        tokens
    }
}

/// What one step works on.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Prompt tokens.
    prompt_tokens: u64,
    /// Sequences with a prompt, an empty one or a part of one.
    prompts: u64,
    /// Context of the prompt that was begun in an earlier step.
    begun_tokens: u64,
}

impl Stepwise {
    /// Prepare a run of a checked set-up, in which so many users' requests come.
    pub(crate) fn new(
        setup: &Setup,
        speculation: Speculation,
        keep: Keep,
        total: u64,
        open: impl FnOnce(&mut Recorder) -> Jobs,
    ) -> Self {
        let model = StepModel::new(&setup.step_time);
        let bounds = EngineBounds::new(&setup.engine, &model);
        let mut recorder = Recorder::new(setup.slo, bounds, total, keep).judging(&setup.workload);
        let mut jobs = open(&mut recorder);
        jobs.open(&mut recorder);
        Self {
            engine: setup.engine,
            model,
            speculation,
            seed: setup.seed,
            jobs,
            now_s: 0.0,
            step: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            decoding: 0,
            half_done: None,
            context_tokens: 0,
            kv_tokens: 0,
            finishing: FinishQueue::new(),
            yields: [0; BLOCK as usize],
            fresh: Vec::new(),
            joined: Vec::new(),
            recorder,
        }
    }

    fn running(&self) -> u64 {
        self.decoding + u64::from(self.half_done.is_some())
    }

    /// Take up to `most` steps.
    pub(crate) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if self.running() == 0 {
                let Some(wake_s) = self.jobs.wake_s() else { return Progress::Done };
                if wake_s > seen_until_s(self.now_s) {
                    self.now_s = wake_s;
                }
            }
            self.advance_once();
        }
        Progress::Running { ended: self.recorder.ended(), total: self.jobs.total() }
    }

    /// The measures of what has ended so far.
    pub(crate) fn finish(self) -> (Run, Jobs) {
        let in_flight = self.jobs.in_flight(self.running(), &self.recorder);
        // Of a server that still works for clients that have gone, the books are open too.
        let is_over = self.running() == 0 && self.jobs.wake_s().is_none();
        let run = self.recorder.finish(in_flight);
        debug_assert!(!is_over || run.verify() == Ok(()), "{:?}", run.verify());
        (run, self.jobs)
    }

    /// The run to its end.
    pub(crate) fn run(mut self) -> Run {
        while self.advance(u64::MAX) != Progress::Done {}
        self.finish().0
    }

    /// Compose one step and take it.
    fn advance_once(&mut self) {
        let seen_until_s = seen_until_s(self.now_s);
        self.hear_clients(seen_until_s);
        let batch = self.compose(seen_until_s);
        if self.running() == 0 && self.fresh.is_empty() {
            // Whoever waited was dropped, or can never be admitted.
            self.jobs.refuse_head(self.now_s, &mut self.recorder);
            return;
        }
        self.take(&batch);
        self.jobs.hear_before(self.now_s, &mut self.recorder);
        self.first_tokens();
        while let Some(index) = self.finishing.pop(self.step) {
            let slot = &self.slots[index as usize];
            if slot.first_token_s.is_nan() {
                self.free_slots.push(index);
            } else if slot.drawn.remaining_tokens > 0 {
                self.draw(index);
            } else {
                self.release(index);
            }
        }
    }

    /// Let the clients do what they do until now, and free what they gave up.
    fn hear_clients(&mut self, seen_until_s: f64) {
        self.jobs.hear_until(seen_until_s, &mut self.recorder);
        while let Some(aborted) = self.jobs.abort(self.now_s, &mut self.recorder) {
            self.free(&aborted);
        }
    }

    fn compose(&mut self, seen_until_s: f64) -> Batch {
        let mut batch = Batch::default();
        let decoded = self.decoding * self.speculation.width();
        let mut budget = self.engine.max_num_batched_tokens.saturating_sub(decoded);
        if let Some(half_done) = &mut self.half_done {
            let slot = half_done.slot;
            let chunk = half_done.remaining_tokens.min(budget);
            let input_tokens = self.slots[slot as usize].job.request.input_tokens;
            batch.begun_tokens = input_tokens - half_done.remaining_tokens;
            batch.prompt_tokens = chunk;
            batch.prompts = u64::from(chunk > 0);
            budget -= chunk;
            half_done.remaining_tokens -= chunk;
            if half_done.remaining_tokens == 0 {
                self.fresh.push(slot);
                self.half_done = None;
            }
        }
        self.admit(&mut batch, budget, seen_until_s);
        batch
    }

    /// Admit waiting requests in order of arrival while budget, slots and memory last.
    fn admit(&mut self, batch: &mut Batch, mut budget: u64, seen_until_s: f64) {
        // Whoever completes a prompt in this step holds a slot, too.
        while budget > 0
            && self.running() + (self.fresh.len() as u64) < self.engine.max_num_seqs
            && let Some(job) = self.jobs.take(
                (self.now_s, seen_until_s),
                self.engine.kv_capacity_tokens - self.kv_tokens,
                &self.speculation,
                &mut self.recorder,
            )
        {
            self.kv_tokens += job.kv_tokens(&self.speculation);
            let slot = self.occupy(job);
            self.jobs.started(job.request.index, slot);
            if job.held_tokens > 0 {
                budget = budget.saturating_sub(self.speculation.width());
                self.context_tokens += job.held_tokens;
                self.decoding += 1;
                self.joined.push(slot);
                self.draw(slot);
            } else {
                let chunk = job.request.input_tokens.min(budget);
                budget -= chunk;
                batch.prompt_tokens += chunk;
                batch.prompts += 1;
                let remaining_tokens = job.request.input_tokens - chunk;
                if remaining_tokens == 0 {
                    self.fresh.push(slot);
                } else {
                    self.half_done = Some(HalfDone { slot, remaining_tokens });
                }
            }
        }
    }

    fn occupy(&mut self, job: Job) -> u32 {
        let drawn = Drawn {
            remaining_tokens: job.request.output_tokens,
            acceptances: Acceptances::new(self.seed, job.key),
        };
        let slot = Slot {
            job,
            start_s: self.now_s,
            first_token_s: 0.0,
            before: (drawn.clone(), self.step),
            drawn,
        };
        if let Some(free) = self.free_slots.pop() {
            self.slots[free as usize] = slot;
            return free;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Draw the next steps of a decoding request, and wake it at the last of them.
    fn draw(&mut self, index: u32) {
        let Slot { drawn, before, .. } = &mut self.slots[index as usize];
        *before = (drawn.clone(), self.step);
        let mut steps = 0;
        if self.speculation.tokens == 0 {
            steps = std::mem::take(&mut drawn.remaining_tokens);
        }
        while drawn.remaining_tokens > 0 && steps < BLOCK {
            steps += 1;
            self.yields[((self.step + steps) % BLOCK) as usize] += drawn.next(&self.speculation);
        }
        self.finishing.insert(self.step + steps, index, self.step);
    }

    /// Take back what the steps to come were to yield for a decoding request. Returns how many of its
    /// output tokens it has got.
    fn take_back(&mut self, index: u32) -> u64 {
        let slot = &self.slots[index as usize];
        let (mut drawn, begun) = slot.before.clone();
        let earlier_tokens = slot.job.request.output_tokens - drawn.remaining_tokens;
        if self.speculation.tokens == 0 {
            return earlier_tokens + self.step - begun;
        }
        let mut generated_tokens = earlier_tokens;
        for step in begun + 1..=begun + BLOCK {
            let tokens = drawn.next(&self.speculation);
            if step > self.step {
                self.yields[(step % BLOCK) as usize] -= tokens;
            } else {
                generated_tokens += tokens;
            }
        }
        generated_tokens
    }

    /// Free a running request that nobody waits for. A decoding one keeps its place in the queue of
    /// finishes, so that its slot is used again only after that.
    fn free(&mut self, aborted: &Aborted) {
        let index = aborted.slot;
        let Job { request, held_tokens, .. } = self.slots[index as usize].job;
        self.kv_tokens -= self.slots[index as usize].job.kv_tokens(&self.speculation);
        if aborted.first_token_step.is_some() {
            let generated_tokens = self.take_back(index);
            self.slots[index as usize].first_token_s = f64::NAN;
            self.decoding -= 1;
            self.context_tokens -= held_tokens + request.input_tokens + generated_tokens;
            self.jobs.waste(generated_tokens);
        } else if let Some(half_done) = self.half_done.take() {
            // Without a first token it is the one prompt that is not done.
            self.context_tokens -= request.input_tokens - half_done.remaining_tokens;
            self.free_slots.push(index);
        }
    }

    /// How long the step takes in seconds, and whether arithmetic sets its pace.
    fn step_s(&self, batch: &Batch) -> (f64, bool) {
        let tokens = self.decoding * self.speculation.width() + batch.prompt_tokens;
        let lines = self.model.lines(tokens, self.decoding + batch.prompts);
        let (step_s, compute_bound) = at(&lines, self.context_tokens);
        if self.speculation.tokens == 0 || self.decoding == 0 {
            return (step_s, compute_bound);
        }
        let plain = self.model.lines(self.decoding, self.decoding);
        let (plain_s, _) = at(&plain, self.context_tokens - batch.begun_tokens);
        (step_s + drafting_s(&self.speculation, plain_s), compute_bound)
    }

    /// Advance time, step count and context, and record what the step did.
    fn take(&mut self, batch: &Batch) {
        let (step_s, compute_bound) = self.step_s(batch);
        let step_s = step_s + self.jobs.take_extra_work_s();
        self.now_s += step_s;
        self.step += 1;
        let yielded = if self.speculation.tokens == 0 {
            self.decoding
        } else {
            std::mem::take(&mut self.yields[(self.step % BLOCK) as usize])
        };
        self.context_tokens += batch.prompt_tokens + yielded;
        self.recorder.stepped(&Step {
            gaps: ValueRun {
                first: step_s,
                slope: 0.0,
                count: 1,
                weight: self.decoding - self.joined.len() as u64,
            },
            total_s: step_s,
            compute_bound,
            running: self.running() + self.fresh.len() as u64,
            kv_tokens: self.kv_tokens,
        });
        self.recorder.came_together(yielded - self.decoding);
    }

    /// Give their first token to the requests whose prompt this step completed, and note it of those
    /// who came without one.
    fn first_tokens(&mut self) {
        while let Some(index) = self.joined.pop() {
            self.slots[index as usize].first_token_s = self.now_s;
        }
        while let Some(index) = self.fresh.pop() {
            let slot = &mut self.slots[index as usize];
            slot.first_token_s = self.now_s;
            slot.drawn.remaining_tokens -= 1;
            let is_over = slot.drawn.remaining_tokens == 0;
            self.jobs.first_token(slot.job.request.index, self.step);
            self.decoding += 1;
            self.context_tokens += 1;
            if is_over {
                self.release(index);
            } else {
                self.draw(index);
            }
        }
    }

    fn release(&mut self, index: u32) {
        let slot = &self.slots[index as usize];
        self.decoding -= 1;
        self.context_tokens -= slot.job.held_tokens + slot.job.request.final_tokens();
        self.kv_tokens -= slot.job.kv_tokens(&self.speculation);
        self.free_slots.push(index);
        let finished = Finished {
            request: slot.job.request,
            start_s: slot.start_s,
            first_token_s: slot.first_token_s,
            finish_s: self.now_s,
        };
        self.jobs.finished(&finished, &mut self.recorder);
    }
}

/// Time in seconds of a step with so much context, and whether arithmetic sets its pace.
fn at(lines: &ContextLines, context_tokens: u64) -> (f64, bool) {
    let line_s = lines.base_s + lines.slope_s * from_count(context_tokens);
    (greater(lines.flat_s, line_s) + lines.overhead_s, lines.flat_s > line_s)
}

/// Time in seconds in which the draft model proposes its tokens, one run after the other, where a
/// plain decode step of the same sequences takes `plain_s`.
pub(super) fn drafting_s(speculation: &Speculation, plain_s: f64) -> f64 {
    from_count(speculation.tokens) * speculation.draft_cost * plain_s
}

impl Seldom for Stepwise {
    fn advance(&mut self, most: u64) -> Progress {
        Self::advance(self, most)
    }

    fn finish(self: Box<Self>) -> Run {
        Self::finish(*self).0
    }
}
