//! The fast engine: O(1) per step, and closed-form jumps while nothing changes.
//!
//! Everything that a step does to a decoding request is implied by the step count, so no step
//! touches the batch: who finishes when is a queue keyed by step number, the context is a running
//! sum, and the gaps between tokens are one weighted entry per step. At most one prompt can be
//! half done, and it is always the last to have been admitted (see the `reference` rules).

use crate::{
    measure::{Finished, Recorder, Run, Step, ValueRun},
    setup::{EngineSpec, Setup},
    step_time::StepModel,
    workload::Request,
};

use super::{
    EngineBounds, Keep,
    finish_queue::FinishQueue,
    inbox::{Aborted, Inbox},
    jump::Jump,
    seen_until_s,
};

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running {
        /// Requests that have ended.
        ended: u64,
        /// Requests in all.
        total: u64,
    },
    /// Every request has ended.
    Done,
}

/// A running request.
#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    start_s: f64,
    first_token_s: f64,
}

/// A prompt that did not fit into one step.
#[derive(Clone, Copy, Debug)]
struct HalfDone {
    slot: u32,
    remaining_tokens: u64,
}

/// The reference rules under one workload, advanced piece by piece.
#[derive(Clone, Debug)]
pub(super) struct ReferenceSimulation<I> {
    engine: EngineSpec,
    model: StepModel,
    /// Who is not running yet.
    inbox: I,
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
    /// Requests whose prompt is completed by the step being composed.
    fresh: Vec<u32>,
    recorder: Recorder,
}

impl<I: Inbox> ReferenceSimulation<I> {
    /// Prepare a run of a checked set-up, in which so many users' requests come.
    pub(super) fn new(
        setup: &Setup,
        keep: Keep,
        total: u64,
        open: impl FnOnce(&mut Recorder) -> I,
    ) -> Self {
        let model = StepModel::new(&setup.step_time);
        let mut recorder =
            Recorder::new(setup.slo, EngineBounds::new(&setup.engine, &model), total, keep)
                .judging(&setup.workload);
        let inbox = open(&mut recorder);
        Self {
            engine: setup.engine,
            model,
            inbox,
            now_s: 0.0,
            step: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            decoding: 0,
            half_done: None,
            context_tokens: 0,
            kv_tokens: 0,
            finishing: FinishQueue::new(),
            fresh: Vec::new(),
            recorder,
        }
    }

    /// Take up to `most` jumps.
    ///
    /// On its own, so that its registers are: merged into its callers it is slower, most of all in
    /// WASM.
    #[inline(never)]
    pub(super) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if self.running() == 0 {
                let Some(wake_s) = self.inbox.wake_s() else { return Progress::Done };
                if wake_s > seen_until_s(self.now_s) {
                    self.now_s = wake_s;
                }
            }
            self.advance_once();
        }
        Progress::Running { ended: self.recorder.ended(), total: self.inbox.total() }
    }

    /// The measures, and what stood before the engine. A simulation that is not
    /// [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub(super) fn finish(self) -> (Run, I) {
        let in_flight = self.inbox.in_flight(self.running(), &self.recorder);
        // Of a server that still works for clients that have gone, the books are open too.
        let is_over = self.running() == 0 && self.inbox.wake_s().is_none();
        let run = self.recorder.finish(in_flight);
        debug_assert!(!is_over || run.verify() == Ok(()), "{:?}", run.verify());
        (run, self.inbox)
    }

    fn running(&self) -> u64 {
        self.decoding + u64::from(self.half_done.is_some())
    }

    /// Compose one step, take it, and as many more as change nothing.
    fn advance_once(&mut self) {
        let seen_until_s = seen_until_s(self.now_s);
        if I::ATTENDED {
            self.hear_clients(seen_until_s);
        }
        let running_before = self.running();
        let mut budget = self.engine.max_num_batched_tokens.saturating_sub(self.decoding);
        let chunk = self.continue_prompt(&mut budget);
        let has_room = budget > 0 && running_before < self.engine.max_num_seqs;
        let is_waiting = self.inbox.is_waiting(seen_until_s);
        let admitted = if has_room && is_waiting {
            self.admit(budget, running_before, seen_until_s)
        } else {
            Admitted::default()
        };
        let batch = Batch {
            tokens: self.decoding + chunk + admitted.tokens,
            // The prompt begun earlier, if it takes part; whoever is admitted joins it.
            sequences: self.decoding + u64::from(chunk > 0) + admitted.requests,
            running: running_before + admitted.requests,
        };
        let changes = admitted.requests > 0 || !self.fresh.is_empty();
        if I::ATTENDED && batch.running == 0 {
            // Whoever waited was dropped, or can never be admitted.
            self.inbox.refuse_head(self.now_s, &mut self.recorder);
            return;
        }
        let extra_s = self.inbox.take_extra_work_s();
        let alone = changes || extra_s > 0.0;
        let most = if alone { 1 } else { self.steps_until_change(chunk) };
        let lines = self.model.lines(batch.tokens, batch.sequences);
        let mut jump = Jump::along(&lines, self.context_tokens, batch.tokens, most);
        if extra_s > 0.0 {
            jump.first_s += extra_s;
        }
        if jump.steps > 1
            && let Some(cut_s) = self.inbox.cut_s(has_room, is_waiting)
        {
            jump.stop_at_arrival(self.now_s, cut_s);
        }
        self.take(&batch, &jump);
        self.inbox.hear_before(self.now_s, &mut self.recorder);
        if changes {
            self.first_tokens();
        } else if let Some(half_done) = &mut self.half_done {
            // It is the only prompt that these steps worked on.
            half_done.remaining_tokens -= chunk * jump.steps;
        }
        self.last_tokens();
    }

    /// Give the half-done prompt its part of the budget, and tell how much that is.
    #[inline]
    fn continue_prompt(&mut self, budget: &mut u64) -> u64 {
        let Some(half_done) = self.half_done else { return 0 };
        let chunk = half_done.remaining_tokens.min(*budget);
        *budget -= chunk;
        if chunk == half_done.remaining_tokens {
            self.fresh.push(half_done.slot);
            self.half_done = None;
        }
        chunk
    }

    /// How many steps can be taken before a request finishes or the half-done prompt completes.
    fn steps_until_change(&self, chunk: u64) -> u64 {
        let finish = self.finishing.next_step(self.step).map_or(u64::MAX, |step| step - self.step);
        match &self.half_done {
            // The step that completes the prompt is composed on its own.
            Some(half_done) if chunk > 0 => finish.min((half_done.remaining_tokens - 1) / chunk),
            _ => finish,
        }
    }

    /// Advance time, step count and context, and record what the steps did.
    #[inline]
    fn take(&mut self, batch: &Batch, jump: &Jump) {
        let total_s = jump.total_s(jump.steps);
        self.now_s += total_s;
        self.step += jump.steps;
        self.context_tokens += batch.tokens * jump.steps;
        self.recorder.stepped(&Step {
            gaps: ValueRun {
                first: jump.first_s,
                slope: jump.slope_s,
                count: jump.steps,
                weight: self.decoding,
            },
            total_s,
            compute_bound: jump.compute_bound,
            running: batch.running,
            kv_tokens: self.kv_tokens,
        });
    }

    /// Admit waiting requests in order of arrival while budget, slots and memory last.
    fn admit(&mut self, mut budget: u64, mut running: u64, seen_until_s: f64) -> Admitted {
        let mut admitted = Admitted::default();
        while budget > 0
            && running < self.engine.max_num_seqs
            && let Some(request) = self.inbox.take(
                self.now_s,
                seen_until_s,
                self.engine.kv_capacity_tokens - self.kv_tokens,
                &mut self.recorder,
            )
        {
            self.kv_tokens += request.final_tokens();
            let slot = self.occupy(request);
            self.inbox.started(request.index, slot);
            let chunk = request.input_tokens.min(budget);
            budget -= chunk;
            if chunk == request.input_tokens {
                self.fresh.push(slot);
            } else {
                let remaining_tokens = request.input_tokens - chunk;
                self.half_done = Some(HalfDone { slot, remaining_tokens });
            }
            running += 1;
            admitted.requests += 1;
            admitted.tokens += chunk;
            self.inbox.pass(&mut self.recorder);
        }
        admitted
    }

    fn occupy(&mut self, request: Request) -> u32 {
        let slot = Slot { request, start_s: self.now_s, first_token_s: 0.0 };
        if let Some(free) = self.free_slots.pop() {
            self.slots[free as usize] = slot;
            return free;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Give their first token to the requests whose prompt this step completed.
    fn first_tokens(&mut self) {
        while let Some(index) = self.fresh.pop() {
            let slot = &mut self.slots[index as usize];
            slot.first_token_s = self.now_s;
            let output_tokens = slot.request.output_tokens;
            self.inbox.first_token(slot.request.index, self.step);
            self.decoding += 1;
            self.context_tokens += 1;
            if output_tokens == 1 {
                self.release(index);
            } else {
                self.finishing.insert(self.step + output_tokens - 1, index, self.step);
            }
        }
    }

    /// Let go of the requests that got their last token in this step.
    fn last_tokens(&mut self) {
        while let Some(index) = self.finishing.pop(self.step) {
            if I::ATTENDED && self.slots[index as usize].first_token_s.is_nan() {
                self.free_slots.push(index);
            } else {
                self.release(index);
            }
        }
    }

    /// Let the clients do what they do until now, and free what they gave up.
    fn hear_clients(&mut self, seen_until_s: f64) {
        self.inbox.hear_until(seen_until_s, &mut self.recorder);
        while let Some(aborted) = self.inbox.abort(self.now_s, self.step, &mut self.recorder) {
            self.free(&aborted);
        }
    }

    /// Free a running request that nobody waits for. A decoding one keeps its place in the queue of
    /// finishes, so that its slot is used again only after that; the mark is a first token at no time.
    fn free(&mut self, aborted: &Aborted) {
        let index = aborted.slot;
        let slot = &mut self.slots[index as usize];
        let request = slot.request;
        self.kv_tokens -= request.final_tokens();
        if let Some(first_step) = aborted.first_token_step {
            slot.first_token_s = f64::NAN;
            self.decoding -= 1;
            self.context_tokens -= request.input_tokens + self.step + 1 - first_step;
        } else if let Some(half_done) = self.half_done.take() {
            // Without a first token it is the one prompt that is not done.
            self.context_tokens -= request.input_tokens - half_done.remaining_tokens;
            self.free_slots.push(index);
        }
    }

    fn release(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        self.decoding -= 1;
        self.context_tokens -= slot.request.final_tokens();
        self.kv_tokens -= slot.request.final_tokens();
        self.free_slots.push(index);
        let finished = Finished {
            request: slot.request,
            start_s: slot.start_s,
            first_token_s: slot.first_token_s,
            finish_s: self.now_s,
        };
        self.inbox.finished(&finished, &mut self.recorder);
    }
}

/// What one step works on.
#[derive(Clone, Copy, Debug)]
struct Batch {
    tokens: u64,
    sequences: u64,
    /// Requests that hold a slot, at work or not.
    running: u64,
}

/// What one step admitted.
#[derive(Clone, Copy, Debug, Default)]
struct Admitted {
    requests: u64,
    tokens: u64,
}
