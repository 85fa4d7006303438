//! The fast engine: O(1) per step, and closed-form jumps while nothing changes.
//!
//! Everything that a step does to a decoding request is implied by the step count, so no step
//! touches the batch: who finishes when is a queue keyed by step number, the context is a running
//! sum, and the gaps between tokens are one weighted entry per step. At most one prompt can be
//! half done, and it is always the last to have been admitted (see the `reference` rules).

use crate::{
    measure::{Finished, Recorder, Run, Step, ValueRun},
    setup::{EngineSpec, Setup, SetupError},
    step_time::StepModel,
    workload::{Request, Requests},
};

use super::{EngineBounds, Keep, finish_queue::FinishQueue, jump::Jump, seen_until_s};

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
pub(super) struct ReferenceSimulation {
    engine: EngineSpec,
    model: StepModel,
    /// The rest of the workload, from the next request that is not running yet; that one may have
    /// arrived already.
    requests: Requests,
    /// When the next request arrives; infinite after the last.
    next_arrival_s: f64,
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

impl ReferenceSimulation {
    /// Prepare a run.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub(super) fn new(setup: &Setup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let model = StepModel::new(&setup.step_time);
        let requests = Requests::new(&setup.workload, setup.seed);
        let recorder = Recorder::new(
            setup.slo,
            EngineBounds::new(&setup.engine, &model),
            requests.total(),
            keep.precision,
            keep.requests,
        )
        .judging(&setup.workload);
        let mut simulation = Self {
            engine: setup.engine,
            model,
            requests,
            next_arrival_s: f64::INFINITY,
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
        };
        simulation.meet_next();
        Ok(simulation)
    }

    /// Take up to `most` jumps.
    ///
    /// On its own, so that its registers are: merged into its callers it is slower, most of all in
    /// WASM.
    #[inline(never)]
    pub(super) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if self.running() == 0 {
                if self.requests.peek().is_none() {
                    return Progress::Done;
                }
                if self.next_arrival_s > seen_until_s(self.now_s) {
                    self.now_s = self.next_arrival_s;
                }
            }
            self.advance_once();
        }
        Progress::Running { ended: self.recorder.ended(), total: self.requests.total() }
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub(super) fn finish(self) -> Run {
        let in_flight = self.running() + u64::from(self.requests.peek().is_some());
        let run = self.recorder.finish(in_flight);
        debug_assert!(in_flight > 0 || run.verify() == Ok(()), "{:?}", run.verify());
        run
    }

    fn running(&self) -> u64 {
        self.decoding + u64::from(self.half_done.is_some())
    }

    /// Look at the next request that can ever be served; turn away those that cannot.
    #[inline]
    fn meet_next(&mut self) {
        while let Some(request) = self.requests.peek() {
            self.recorder.arrived(request);
            if request.final_tokens() <= self.engine.kv_capacity_tokens {
                self.next_arrival_s = request.arrival_s;
                return;
            }
            self.recorder.rejected(request);
            self.requests.pass();
        }
        self.next_arrival_s = f64::INFINITY;
    }

    /// Compose one step, take it, and as many more as change nothing.
    fn advance_once(&mut self) {
        let running_before = self.running();
        let mut budget = self.engine.max_num_batched_tokens.saturating_sub(self.decoding);
        let chunk = self.continue_prompt(&mut budget);
        let has_room = budget > 0 && running_before < self.engine.max_num_seqs;
        let seen_until_s = seen_until_s(self.now_s);
        let is_waiting = self.next_arrival_s <= seen_until_s;
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
        let most = if changes { 1 } else { self.steps_until_change(chunk) };
        let lines = self.model.lines(batch.tokens, batch.sequences);
        let mut jump = Jump::along(&lines, self.context_tokens, batch.tokens, most);
        if jump.steps > 1 && has_room && !is_waiting {
            jump.stop_at_arrival(self.now_s, self.next_arrival_s);
        }
        self.take(&batch, &jump);
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
            && self.next_arrival_s <= seen_until_s
            && let Some(&request) = self.requests.peek()
            && self.kv_tokens + request.final_tokens() <= self.engine.kv_capacity_tokens
        {
            self.kv_tokens += request.final_tokens();
            self.recorder.admitted(self.now_s - request.arrival_s);
            let slot = self.occupy(request);
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
            self.requests.pass();
            self.meet_next();
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
            self.release(index);
        }
    }

    fn release(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        self.decoding -= 1;
        self.context_tokens -= slot.request.final_tokens();
        self.kv_tokens -= slot.request.final_tokens();
        self.free_slots.push(index);
        self.recorder.finished(&Finished {
            request: slot.request,
            start_s: slot.start_s,
            first_token_s: slot.first_token_s,
            finish_s: self.now_s,
        });
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
