//! Who runs under the reference rules, and what a step does to them.
//!
//! Everything that a step does to a decoding request is implied by the step count, so no step touches
//! the batch: who finishes when is a queue keyed by step number, the context is a running sum, and the
//! gaps between tokens are one weighted entry per step. At most one prompt can be half done, and it is
//! always the last to have been admitted. Who is admitted, and when, is up to those who own it.

use crate::{
    measure::{Finished, Recorder, Step, ValueRun},
    setup::EngineSpec,
    workload::Request,
};

use super::{finish_queue::FinishQueue, inbox::Aborted, jump::Jump};

/// A running request.
#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    start_s: f64,
    /// Not a number once its client has gone.
    first_token_s: f64,
}

/// A prompt that did not fit into one step.
#[derive(Clone, Copy, Debug)]
struct HalfDone {
    slot: u32,
    remaining_tokens: u64,
}

/// What one step works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Tokens that it computes.
    pub(super) tokens: u64,
    /// Requests that hold a slot, at work or not.
    pub(super) running: u64,
}

/// The requests that hold a slot.
#[derive(Clone, Debug)]
pub(super) struct Running {
    spec: EngineSpec,
    pub(super) now_s: f64,
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
}

impl Running {
    /// Nobody, at `now_s`.
    pub(super) fn new(spec: EngineSpec, now_s: f64) -> Self {
        Self {
            spec,
            now_s,
            step: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            decoding: 0,
            half_done: None,
            context_tokens: 0,
            kv_tokens: 0,
            finishing: FinishQueue::new(),
            fresh: Vec::new(),
        }
    }

    pub(super) const fn spec(&self) -> &EngineSpec {
        &self.spec
    }

    /// Steps taken.
    pub(super) const fn step(&self) -> u64 {
        self.step
    }

    /// Who gets a token in every step.
    pub(super) const fn decoding(&self) -> u64 {
        self.decoding
    }

    /// Tokens computed and generated, over all of them.
    pub(super) const fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    /// KV tokens reserved.
    pub(super) const fn kv_tokens(&self) -> u64 {
        self.kv_tokens
    }

    /// KV tokens that are not reserved.
    pub(super) const fn free_kv_tokens(&self) -> u64 {
        self.spec.kv_capacity_tokens - self.kv_tokens
    }

    /// How many there are while no step is being composed.
    pub(super) fn number(&self) -> u64 {
        self.decoding + u64::from(self.half_done.is_some())
    }

    /// Whether a prompt is completed by the step being composed.
    pub(super) fn completes_prompts(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Tokens that a step has for prompts.
    #[inline]
    pub(super) const fn budget(&self) -> u64 {
        self.spec.max_num_batched_tokens.saturating_sub(self.decoding)
    }

    /// Give the half-done prompt its part of the budget, and tell how much that is.
    #[inline]
    pub(super) fn continue_prompt(&mut self, budget: &mut u64) -> u64 {
        let Some(half_done) = self.half_done else { return 0 };
        let chunk = half_done.remaining_tokens.min(*budget);
        *budget -= chunk;
        if chunk == half_done.remaining_tokens {
            self.fresh.push(half_done.slot);
            self.half_done = None;
        }
        chunk
    }

    /// A request begins, with what the budget allows of that part of its prompt which is not
    /// `cached_tokens` long. Returns its slot, and the tokens that the step computes for it.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        request: Request,
        cached_tokens: u64,
        budget: &mut u64,
    ) -> (u32, u64) {
        self.kv_tokens += request.final_tokens();
        let slot = self.occupy(request);
        self.context_tokens += cached_tokens;
        let to_compute = request.input_tokens - cached_tokens;
        let chunk = to_compute.min(*budget);
        *budget -= chunk;
        if chunk == to_compute {
            self.fresh.push(slot);
        } else {
            let remaining_tokens = to_compute - chunk;
            self.half_done = Some(HalfDone { slot, remaining_tokens });
        }
        (slot, chunk)
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

    /// How many steps can be taken before a request finishes or the half-done prompt completes.
    #[inline]
    pub(super) fn steps_until_change(&self, chunk: u64) -> u64 {
        let finish = self.finishing.next_step(self.step).map_or(u64::MAX, |step| step - self.step);
        match &self.half_done {
            // The step that completes the prompt is composed on its own.
            Some(half_done) if chunk > 0 => finish.min((half_done.remaining_tokens - 1) / chunk),
            _ => finish,
        }
    }

    /// Advance time, step count and context, and record what the steps did. Returns how long they took,
    /// in seconds.
    #[inline]
    pub(super) fn take(&mut self, batch: &Batch, jump: &Jump, recorder: &mut Recorder) -> f64 {
        let total_s = jump.total_s(jump.steps);
        self.now_s += total_s;
        self.step += jump.steps;
        self.context_tokens += batch.tokens * jump.steps;
        recorder.stepped(&Step {
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
        total_s
    }

    /// The same of steps of which the last takes `stalled_s` longer.
    pub(super) fn take_stalled(
        &mut self,
        batch: &Batch,
        jump: &Jump,
        stalled_s: f64,
        recorder: &mut Recorder,
    ) -> f64 {
        let before = jump.steps - 1;
        let (before_s, total_s) = (jump.total_s(before), jump.total_s(jump.steps) + stalled_s);
        let last_s = total_s - before_s;
        self.now_s += total_s;
        self.step += jump.steps;
        self.context_tokens += batch.tokens * jump.steps;
        let whole = ValueRun {
            first: jump.first_s,
            slope: jump.slope_s,
            count: before,
            weight: self.decoding,
        };
        let last = ValueRun { first: last_s, slope: 0.0, count: 1, ..whole };
        for (gaps, total_s) in [(whole, before_s), (last, last_s)] {
            if gaps.count > 0 {
                recorder.stepped(&Step {
                    gaps,
                    total_s,
                    compute_bound: jump.compute_bound,
                    running: batch.running,
                    kv_tokens: self.kv_tokens,
                });
            }
        }
        total_s
    }

    /// Steps computed so many tokens of the half-done prompt, the only one that they worked on.
    #[inline]
    pub(super) fn computed_prompt(&mut self, tokens: u64) {
        if let Some(half_done) = &mut self.half_done {
            half_done.remaining_tokens -= tokens;
        }
    }

    /// Give its first token to the next request whose prompt this step completed. Returns its slot, its
    /// index, and whether it has to be [released](Self::release), since it wants no more.
    #[inline(always)]
    pub(super) fn first_token(&mut self) -> Option<(u32, u64, bool)> {
        let index = self.fresh.pop()?;
        let slot = &mut self.slots[index as usize];
        slot.first_token_s = self.now_s;
        let Request { index: place, output_tokens, .. } = slot.request;
        self.decoding += 1;
        self.context_tokens += 1;
        let is_over = output_tokens == 1;
        if !is_over {
            self.finishing.insert(self.step + output_tokens - 1, index, self.step);
        }
        Some((index, place, is_over))
    }

    /// The next request that got its last token in this step.
    #[inline(always)]
    pub(super) fn last_token(&mut self) -> Option<u32> {
        self.finishing.pop(self.step)
    }

    /// Let go of a request that has all its tokens.
    #[inline(always)]
    pub(super) fn release(&mut self, index: u32) -> Finished {
        let slot = self.slots[index as usize];
        self.decoding -= 1;
        self.context_tokens -= slot.request.final_tokens();
        self.kv_tokens -= slot.request.final_tokens();
        self.free_slots.push(index);
        Finished {
            request: slot.request,
            start_s: slot.start_s,
            first_token_s: slot.first_token_s,
            finish_s: self.now_s,
        }
    }

    /// Whether the client of a request that would get its last token now has gone; its slot is free then.
    #[inline]
    pub(super) fn has_gone(&mut self, index: u32) -> bool {
        let has_gone = self.slots[index as usize].first_token_s.is_nan();
        if has_gone {
            self.free_slots.push(index);
        }
        has_gone
    }

    /// Free a running request that nobody waits for. A decoding one keeps its place in the queue of
    /// finishes, so that its slot is used again only after that; the mark is a first token at no time.
    pub(super) fn free(&mut self, aborted: &Aborted) {
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

    /// Everybody who holds a slot, in no order; none of them has gone.
    pub(super) fn all(&self) -> impl Iterator<Item = Request> {
        let mut is_free = vec![false; self.slots.len()];
        for &free in &self.free_slots {
            is_free[free as usize] = true;
        }
        let held = self.slots.iter().zip(is_free).filter(|(_, is_free)| !is_free);
        held.map(|(slot, _)| slot.request)
    }
}
