//! The fast engine of the `vllm-v1` rules: O(1 + requests that change state) per step, and
//! closed-form jumps while nothing changes, preemption included.
//!
//! It covers the settings of [`VllmSpec::is_countable`]: then every decoding request gets its token
//! in every step, at most one prompt is half done, and it is the last of the running requests. Who
//! needs a block in which step is implied by the step count, so blocks are only counted; the
//! victims of a preemption come off the end of the list of running requests.

use crate::{
    engine::{Keep, finish_queue::FinishQueue, has_arrived, jump::Jump},
    float::greater,
    measure::{Finished, Recorder, Step, ValueRun},
    setup::SetupError,
    step_time::StepModel,
    workload::{Request, Requests},
};

use super::{
    driver::{VllmCounts, VllmRun, VllmSetup, simulate_vllm_by_oracle},
    residues::Residues,
    running_list::RunningList,
    spec::{Policy, VllmSpec},
};

impl VllmSpec {
    /// Whether what a step does is implied by counts, so that [`simulate_vllm`] needs no step by
    /// step account.
    #[must_use]
    pub fn is_countable(&self) -> bool {
        self.policy == Policy::Fcfs
            && !self.prefix_caching
            && !self.is_async()
            && self.long_prefill_token_threshold == 0
            && self.prefill_schedule_interval == 1
            && self.max_num_batched_tokens >= self.max_num_seqs
    }
}

/// Simulate `setup` to its last token, as fast as its settings allow.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_vllm(setup: &VllmSetup, keep: Keep) -> Result<VllmRun, SetupError> {
    if !setup.vllm.is_countable() {
        return simulate_vllm_by_oracle(setup, keep);
    }
    setup.check()?;
    let mut simulation = Simulation::new(setup, keep);
    while simulation.advance() {}
    Ok(simulation.finish())
}

/// A request and how far it is, between two of its state changes.
#[derive(Clone, Copy, Debug)]
struct Journey {
    request: Request,
    /// Prompt and output that are known, at the time of its last state change.
    known_tokens: u64,
    final_tokens: u64,
    /// Tokens computed, or lost to a preemption, at the time of its last state change.
    computed_tokens: u64,
    waits_since_s: f64,
    start_s: Option<f64>,
    /// NaN before there is one.
    first_token_s: f64,
    last_token_s: f64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    journey: Journey,
    /// Steps taken when it began to decode; `None` before.
    decodes_since: Option<u64>,
    /// Preempted: the slot only waits for its place in the finish queue to come up.
    is_left: bool,
}

struct Simulation {
    spec: VllmSpec,
    model: StepModel,
    requests: Requests,
    /// The next request that has never run; it may have arrived already.
    next: Option<Request>,
    /// Preempted requests, the first to resume last.
    preempted: Vec<Journey>,
    now_s: f64,
    /// Steps taken.
    step: u64,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    running: RunningList,
    decoding: u64,
    half_done: Option<u32>,
    /// Known tokens of all decoding requests.
    context_tokens: u64,
    free_blocks: u64,
    residues: Residues,
    finishing: FinishQueue,
    /// Requests whose known tokens are all computed by the step being composed.
    fresh: Vec<u32>,
    recorder: Recorder,
    counts: VllmCounts,
}

/// The step being composed.
#[derive(Clone, Copy, Debug)]
struct Draft {
    budget: u64,
    tokens: u64,
    sequences: u64,
    context_tokens: u64,
    /// Whether the next step will not be the same but for its context.
    changes: bool,
}

impl Simulation {
    fn new(setup: &VllmSetup, keep: Keep) -> Self {
        let requests = Requests::new(&setup.workload, setup.seed);
        let (total, spec) = (requests.total(), setup.vllm);
        let mut simulation = Self {
            spec,
            model: StepModel::new(&setup.step_time),
            requests,
            next: None,
            preempted: Vec::new(),
            now_s: 0.0,
            step: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            running: RunningList::new(),
            decoding: 0,
            half_done: None,
            context_tokens: 0,
            free_blocks: spec.usable_blocks(),
            residues: Residues::new(spec.block_size),
            finishing: FinishQueue::new(),
            fresh: Vec::new(),
            recorder: Recorder::new(
                setup.slo,
                setup.bounds(),
                total,
                keep.precision,
                keep.requests,
            )
            .judging(&setup.workload),
            counts: VllmCounts::default(),
        };
        simulation.pull_next();
        simulation
    }

    /// Take the next step, and as many more as change nothing; `false` if all is done.
    fn advance(&mut self) -> bool {
        if self.running_len() == 0 && self.preempted.is_empty() {
            let Some(next) = self.next else { return false };
            if !has_arrived(next.arrival_s, self.now_s) {
                self.now_s = next.arrival_s;
            }
        }
        let draft = self.compose();
        let jump = self.jump(&draft);
        self.take(&jump);
        self.first_tokens();
        self.last_tokens();
        true
    }

    fn finish(self) -> VllmRun {
        let in_flight =
            self.running_len() + self.preempted.len() as u64 + u64::from(self.next.is_some());
        let run = self.recorder.finish(in_flight);
        debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
        VllmRun { run, counts: self.counts }
    }

    /// Between two steps; a prompt that a step completes decodes from then on.
    fn running_len(&self) -> u64 {
        self.decoding + u64::from(self.half_done.is_some())
    }

    /// Fetch the next request that can ever be served; turn away those that cannot.
    fn pull_next(&mut self) {
        loop {
            self.next = self.requests.next();
            let Some(request) = &self.next else { return };
            self.recorder.arrived(request);
            let (prompt_tokens, final_tokens) = lengths(request, &self.spec);
            if prompt_tokens < self.spec.max_model_len
                && final_tokens - 1 <= self.spec.kv_capacity_tokens()
            {
                return;
            }
            self.recorder.rejected(request);
        }
    }

    fn compose(&mut self) -> Draft {
        let preempts = self.make_room();
        self.free_blocks -= self.residues.need(self.step);
        let mut draft = Draft {
            budget: self.spec.max_num_batched_tokens - self.decoding,
            tokens: self.decoding,
            sequences: self.decoding,
            context_tokens: self.context_tokens,
            changes: preempts,
        };
        let goes_on = self.continue_prompt(&mut draft);
        if goes_on && !preempts {
            self.admit(&mut draft);
        }
        draft
    }

    /// Preempt running requests, the last first, until every other decode gets its block.
    fn make_room(&mut self) -> bool {
        let mut preempts = false;
        while self.residues.need(self.step) > self.free_blocks
            && let Some(victim) = self.running.last()
        {
            self.preempt(victim);
            preempts = true;
        }
        preempts
    }

    /// Work on the prompt that is half done; `false` if there are no blocks for it, and it has to
    /// go: it is the last of the running requests.
    fn continue_prompt(&mut self, draft: &mut Draft) -> bool {
        let Some(slot) = self.half_done else { return true };
        if draft.budget == 0 {
            return true;
        }
        let Journey { computed_tokens, known_tokens, .. } = self.slots[slot as usize].journey;
        let chunk = (known_tokens - computed_tokens).min(draft.budget);
        let need =
            self.spec.blocks_for(computed_tokens + chunk) - self.spec.blocks_for(computed_tokens);
        draft.changes = true;
        if need > self.free_blocks {
            self.preempt(slot);
            return false;
        }
        draft.context_tokens += computed_tokens;
        self.half_done = None;
        self.work_on(slot, chunk, need, draft);
        true
    }

    /// Compute `chunk` tokens of a prompt with `need` new blocks.
    fn work_on(&mut self, slot: u32, chunk: u64, need: u64, draft: &mut Draft) {
        let journey = &mut self.slots[slot as usize].journey;
        journey.computed_tokens += chunk;
        if journey.computed_tokens == journey.known_tokens {
            self.fresh.push(slot);
        } else {
            self.half_done = Some(slot);
        }
        self.free_blocks -= need;
        draft.budget -= chunk;
        draft.tokens += chunk;
        draft.sequences += 1;
        draft.changes = true;
    }

    /// Admit waiting requests in order until one cannot be.
    fn admit(&mut self, draft: &mut Draft) {
        while draft.budget > 0 && self.admitted_len() < self.spec.max_num_seqs {
            let Some(journey) = self.first_waiting() else { return };
            let known_tokens = journey.known_tokens;
            let chunk = known_tokens.min(draft.budget);
            if chunk < known_tokens && !self.spec.chunked_prefill {
                return;
            }
            let need = self.spec.blocks_for(chunk);
            if self.gate(known_tokens, chunk) > self.free_blocks {
                return;
            }
            if self.preempted.pop().is_none() {
                self.pull_next();
            }
            let slot = self.occupy(journey);
            self.work_on(slot, chunk, need, draft);
        }
    }

    fn admitted_len(&self) -> u64 {
        self.running_len() + self.fresh.len() as u64
    }

    /// Blocks that must be free for an admission.
    fn gate(&self, known_tokens: u64, chunk: u64) -> u64 {
        let whole = self.spec.scheduler_reserve_full_isl;
        let tokens = if whole { known_tokens } else { chunk };
        let watermark = if self.admitted_len() == 0 { 0 } else { self.spec.watermark_blocks() };
        self.spec.blocks_for(tokens) + watermark
    }

    /// Who would be admitted next, if anybody waits.
    fn first_waiting(&self) -> Option<Journey> {
        if let Some(journey) = self.preempted.last() {
            return Some(*journey);
        }
        let request = self.next.filter(|next| has_arrived(next.arrival_s, self.now_s))?;
        let (prompt_tokens, final_tokens) = lengths(&request, &self.spec);
        Some(Journey {
            request,
            known_tokens: prompt_tokens,
            final_tokens,
            computed_tokens: 0,
            waits_since_s: request.arrival_s,
            start_s: None,
            first_token_s: f64::NAN,
            last_token_s: f64::NAN,
        })
    }

    fn occupy(&mut self, mut journey: Journey) -> u32 {
        // An arrival may be seen a rounding error early.
        self.recorder.admitted(greater(0.0, self.now_s - journey.waits_since_s));
        self.counts.recomputed_tokens += journey.computed_tokens;
        journey.computed_tokens = 0;
        journey.start_s = journey.start_s.or(Some(self.now_s));
        let slot = Slot { journey, decodes_since: None, is_left: false };
        let index = if let Some(index) = self.free_slots.pop() {
            self.slots[index as usize] = slot;
            index
        } else {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        };
        self.running.push(index);
        index
    }

    /// Take a running request's blocks and put it at the front of the queue.
    fn preempt(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let mut journey = slot.journey;
        if let Some(since) = slot.decodes_since {
            journey.known_tokens += self.step - since;
            journey.computed_tokens = journey.known_tokens - 1;
            journey.last_token_s = self.now_s;
            self.residues.remove(journey.computed_tokens, self.step);
            self.decoding -= 1;
            self.context_tokens -= journey.known_tokens;
            // The finish queue still names the slot.
            self.slots[index as usize].is_left = true;
        } else {
            self.half_done = None;
            self.free_slots.push(index);
        }
        self.free_blocks += self.spec.blocks_for(journey.computed_tokens);
        self.running.remove(index);
        journey.waits_since_s = self.now_s;
        self.preempted.push(journey);
        self.counts.preemptions += 1;
    }

    /// How long the composed step is, and how many steps like it follow.
    fn jump(&self, draft: &Draft) -> Jump {
        let lines = self.model.lines(draft.tokens, draft.sequences);
        let mut most = 1;
        if !draft.changes {
            let finish = self.finishing.next_step(self.step).map_or(1, |step| step - self.step);
            // The blocks of the first step are taken already.
            most = 1 + self.residues.steps_within(self.step + 1, self.free_blocks, finish - 1);
        }
        let mut jump = Jump::along(&lines, draft.context_tokens, draft.tokens, most);
        // Somebody who waits is held up by what only a change can lift, as free blocks get fewer;
        // somebody who comes may not be.
        if !draft.changes
            && draft.budget > 0
            && self.running_len() < self.spec.max_num_seqs
            && self.preempted.is_empty()
            && let Some(next) = self.next
            && !has_arrived(next.arrival_s, self.now_s)
        {
            jump.stop_at_arrival(self.now_s, next.arrival_s);
        }
        jump
    }

    /// Advance time and step count, and record what the steps did.
    fn take(&mut self, jump: &Jump) {
        self.free_blocks -= self.residues.need_of(self.step + 1, jump.steps - 1);
        let total_s = jump.total_s(jump.steps);
        self.now_s += total_s;
        self.step += jump.steps;
        self.context_tokens += self.decoding * jump.steps;
        self.recorder.stepped(&Step {
            gaps: ValueRun {
                first: jump.first_s,
                slope: jump.slope_s,
                count: jump.steps,
                weight: self.decoding,
            },
            total_s,
            compute_bound: jump.compute_bound,
            running: self.admitted_len(),
            kv_tokens: (self.spec.usable_blocks() - self.free_blocks) * self.spec.block_size,
        });
    }

    /// Give a token to the requests whose known tokens this step completed.
    fn first_tokens(&mut self) {
        while let Some(index) = self.fresh.pop() {
            let slot = &mut self.slots[index as usize];
            let journey = &mut slot.journey;
            journey.known_tokens += 1;
            if journey.first_token_s.is_nan() {
                journey.first_token_s = self.now_s;
            } else {
                self.recorder.gap(self.now_s - journey.last_token_s);
            }
            slot.decodes_since = Some(self.step);
            let (known_tokens, final_tokens) = (journey.known_tokens, journey.final_tokens);
            self.decoding += 1;
            self.context_tokens += known_tokens;
            self.residues.insert(known_tokens - 1, self.step);
            if known_tokens == final_tokens {
                self.release(index);
            } else {
                let finish = self.step + (final_tokens - known_tokens);
                self.finishing.insert(finish, index, self.step);
            }
        }
    }

    /// Let go of the requests that got their last token in this step.
    fn last_tokens(&mut self) {
        while let Some(index) = self.finishing.pop(self.step) {
            if self.slots[index as usize].is_left {
                self.free_slots.push(index);
            } else {
                self.release(index);
            }
        }
    }

    fn release(&mut self, index: u32) {
        let journey = self.slots[index as usize].journey;
        let computed_tokens = journey.final_tokens - 1;
        self.residues.remove(computed_tokens, self.step);
        self.decoding -= 1;
        self.context_tokens -= journey.final_tokens;
        self.free_blocks += self.spec.blocks_for(computed_tokens);
        self.running.remove(index);
        self.free_slots.push(index);
        let mut request = journey.request;
        // The longest sequence of the model may have cut it short.
        request.output_tokens = journey.final_tokens - lengths(&request, &self.spec).0;
        self.recorder.finished(&Finished {
            request,
            start_s: journey.start_s.unwrap_or(request.arrival_s),
            first_token_s: journey.first_token_s,
            finish_s: self.now_s,
        });
    }
}

/// Prompt length, and the length at which a request ends.
fn lengths(request: &Request, spec: &VllmSpec) -> (u64, u64) {
    let prompt_tokens = request.input_tokens.max(1);
    let final_tokens = prompt_tokens.saturating_add(request.output_tokens);
    (prompt_tokens, final_tokens.min(spec.max_model_len))
}
