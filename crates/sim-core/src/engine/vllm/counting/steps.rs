//! A composed step, and what follows from it for the next.

use super::{Composer, Draft, State};

/// A composed step: its shape, and who gets something out of it.
#[derive(Clone, Debug, Default)]
pub(in crate::engine::vllm) struct Step {
    /// Tokens computed.
    pub(in crate::engine::vllm) tokens: u64,
    /// Sequences in the batch.
    pub(in crate::engine::vllm) sequences: u64,
    /// Tokens of context, over all of them.
    pub(in crate::engine::vllm) context_tokens: u64,
    /// How many of the sequences decode, each with its last token in the step before.
    pub(in crate::engine::vllm) decoding: u64,
    /// Requests whose known tokens it completes, so that it samples their next.
    pub(in crate::engine::vllm) fresh: Vec<u32>,
    /// Requests for which it is the first.
    pub(in crate::engine::vllm) new: Vec<u32>,
    /// Requests that get their last token.
    pub(in crate::engine::vllm) ending: Vec<u32>,
    /// Tokens that the budget had left.
    pub(in crate::engine::vllm) budget_left: u64,
    holds_prompts: bool,
}

impl Step {
    pub(super) fn clear(&mut self) {
        (self.tokens, self.sequences, self.context_tokens, self.decoding) = (0, 0, 0, 0);
        self.fresh.clear();
        self.new.clear();
        self.ending.clear();
    }

    /// A request that it works on has been aborted: nobody gets what it computes for it.
    pub(in crate::engine::vllm) fn forget(&mut self, id: u32, decodes: bool) {
        self.decoding -= u64::from(decodes);
        for list in [&mut self.fresh, &mut self.new, &mut self.ending] {
            list.retain(|&other| other != id);
        }
    }

    /// `decoding` requests with `context_tokens` tokens get one each.
    pub(super) const fn decode(&mut self, decoding: u64, context_tokens: u64) {
        self.tokens += decoding;
        self.sequences += decoding;
        self.decoding += decoding;
        self.context_tokens += context_tokens;
    }
}

impl Composer {
    /// Count a step as composed: its tokens count as computed from now on, so that the next one
    /// can be composed before it is done.
    #[inline]
    pub(super) fn close(&mut self, draft: &Draft, step: &mut Step) -> bool {
        let computes = step.tokens > 0;
        if computes {
            self.step += 1;
            self.context_tokens += self.decoding;
            self.end_decoding(step);
            for index in 0..step.fresh.len() {
                self.begin_decoding(step.fresh[index], step);
            }
            self.sort_ending(step);
        }
        if draft.has_prompt {
            self.last_prefill_step = Some(self.step);
        }
        step.budget_left = draft.budget;
        step.holds_prompts = draft.holds_prompts;
        computes
    }

    /// A request whose known tokens the step just composed completes.
    fn begin_decoding(&mut self, id: u32, step: &mut Step) {
        let journey = &mut self.journeys[id];
        journey.known_tokens += 1;
        journey.decodes_since = self.step;
        let missing_tokens = journey.lengths.final_tokens - journey.known_tokens;
        if missing_tokens == 0 {
            journey.state = State::Ending;
            step.ending.push(id);
            return;
        }
        journey.state = State::Decoding;
        self.decoding += 1;
        self.context_tokens += journey.known_tokens;
        self.residues.insert(journey.computed_tokens, self.step);
        let seat = if let Some(seat) = self.free_seats.pop() {
            self.seats[seat as usize] = id;
            seat
        } else {
            self.seats.push(id);
            (self.seats.len() - 1) as u32
        };
        journey.seat = seat;
        self.finishing.insert(self.step + missing_tokens, seat, self.step);
    }

    /// The requests whose last token is sampled in the step just composed.
    #[inline]
    fn end_decoding(&mut self, step: &mut Step) {
        if self.finishing.is_next(self.step) {
            self.end_decoding_now(step);
        }
    }

    #[inline(never)]
    fn end_decoding_now(&mut self, step: &mut Step) {
        while let Some(seat) = self.finishing.pop(self.step) {
            self.free_seats.push(seat);
            let id = self.seats[seat as usize];
            if id == super::NOBODY {
                continue;
            }
            let journey = &mut self.journeys[id];
            let final_tokens = journey.lengths.final_tokens;
            journey.state = State::Ending;
            journey.known_tokens = final_tokens;
            journey.computed_tokens = final_tokens - 1;
            self.decoding -= 1;
            self.context_tokens -= final_tokens;
            self.residues.remove(final_tokens - 1, self.step);
            step.ending.push(id);
        }
    }

    /// Requests end in the order of their admission, which decides whose blocks are reused first.
    #[inline]
    fn sort_ending(&self, step: &mut Step) {
        if step.ending.len() > 1 {
            self.sort_by_admission(&mut step.ending);
        }
    }

    #[inline(never)]
    fn sort_by_admission(&self, ids: &mut [u32]) {
        // The finish queue gives the last to enter first, so that they are nearly in order now, and
        // few.
        ids.reverse();
        for end in 1..ids.len() {
            let mut at = end;
            while at > 0 && self.admitted_after(ids[at - 1]) > self.admitted_after(ids[at]) {
                ids.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    fn admitted_after(&self, id: u32) -> u64 {
        self.journeys[id].admitted_after
    }

    /// How many more steps will be like the one just composed but for their context, if nobody
    /// comes.
    pub(in crate::engine::vllm) fn steady_steps(&self, step: &Step) -> u64 {
        let is_steady = step.decoding == step.sequences
            && step.ending.is_empty()
            && self.news.interrupted.is_empty()
            && self.news.preempted.is_empty();
        if !is_steady {
            return 0;
        }
        let Some(finish) = self.finishing.next_step(self.step) else { return 0 };
        let mut most = finish - self.step;
        if step.holds_prompts
            && let Some(last) = self.last_prefill_step
        {
            most = most.min(last + self.spec.prefill_schedule_interval - 1 - self.step);
        }
        self.residues.steps_within(self.step, self.memory.free(), most)
    }

    /// Whether somebody who comes can change the steps after this one. Whoever waits is held up by
    /// what only a change can lift, as free blocks get fewer.
    pub(in crate::engine::vllm) fn heeds_arrivals(&self, step: &Step) -> bool {
        // With an interval, it matters from when on requests pile up.
        self.spec.prefill_schedule_interval > 1
            || (step.budget_left > 0
                && self.running.len() < self.spec.max_num_seqs
                && (self.spec.policy == super::Policy::Priority || self.waiting.is_empty()))
    }

    /// Compose `more` steps like the one just composed, of which there are as many; `step` becomes
    /// the last of them.
    pub(in crate::engine::vllm) fn repeat(&mut self, more: u64, step: &mut Step) {
        if more == 0 {
            return;
        }
        self.memory.take(self.residues.need_of(self.step, more));
        self.step += more;
        self.context_tokens += self.decoding * more;
        step.context_tokens += step.decoding * more;
        step.new.clear();
        self.end_decoding(step);
        self.sort_ending(step);
    }
}
