//! The second half of a step: waiting requests are admitted.

use super::{Composer, Draft, Journey, Policy, State, Step, waiting::Candidate};

impl Composer {
    /// Admit waiting requests in order until one cannot be.
    pub(super) fn admit(&mut self, draft: &mut Draft, step: &mut Step) {
        while draft.budget > 0
            && self.running.len() < self.spec.max_num_seqs
            && let Some(candidate) = self.waiting.first()
            && self.admit_first(candidate, draft, step)
        {}
    }

    /// Admit the first waiting request, if budget and blocks allow.
    fn admit_first(&mut self, candidate: Candidate, draft: &mut Draft, step: &mut Step) -> bool {
        let (request, lengths, known_tokens) = match candidate {
            Candidate::New(request) => {
                let lengths = self.lengths(&request);
                (request, lengths, lengths.prompt_tokens)
            }
            Candidate::Preempted(id) => {
                let journey = &self.journeys[id];
                (journey.request, journey.lengths, journey.known_tokens)
            }
        };
        self.found.clear();
        if self.memory.caches() {
            let mut found = std::mem::take(&mut self.found);
            self.memory.find(&self.keys(&request, lengths), known_tokens, &mut found);
            self.found = found;
        }
        let cached_tokens = self.found.len() as u64 * self.spec.block_size;
        let missing_tokens = known_tokens - cached_tokens;
        if draft.holds_prompts && missing_tokens > 1 {
            return false;
        }
        let wanted_tokens = missing_tokens.min(draft.prompt_limit);
        if !self.spec.chunked_prefill && wanted_tokens > draft.budget {
            return false;
        }
        let tokens = wanted_tokens.min(draft.budget);
        if !self.allocate(cached_tokens + tokens, known_tokens) {
            return false;
        }
        self.waiting.pop_first();
        let id = match candidate {
            Candidate::New(request) => self.journeys.insert(Journey::new(request, lengths)),
            Candidate::Preempted(id) => id,
        };
        if matches!(candidate, Candidate::New(_)) {
            step.new.push(id);
        }
        self.running.push(id);
        if self.spec.policy == Policy::Priority {
            self.ranks.insert(self.rank(&request), id);
        }
        self.news.admitted.push((id, cached_tokens));
        draft.has_prompt |= missing_tokens > 1;
        let journey = &mut self.journeys[id];
        journey.state = State::Irregular;
        journey.computed_tokens = cached_tokens;
        journey.took = tokens;
        journey.admitted_after = self.admissions;
        self.admissions += 1;
        journey.table.extend_from_slice(&self.found);
        if !self.work_on(id, draft, step) {
            self.irregular.push(id);
        }
        true
    }

    /// Take the blocks that were found, and new ones up to `tokens` tokens, for a request that
    /// knows `known_tokens`. Nothing changes when the blocks do not suffice.
    fn allocate(&mut self, tokens: u64, known_tokens: u64) -> bool {
        let held = self.found.len() as u64;
        // A found block that nobody holds is free until now, so it counts as taken.
        let revived = self.memory.free_among(&self.found);
        let watermark = if self.running.len() == 0 { 0 } else { self.watermark_blocks };
        let lacks = |tokens| self.blocks.holding(tokens).saturating_sub(held);
        let whole = if self.spec.scheduler_reserve_full_isl { known_tokens } else { tokens };
        if lacks(whole) + revived + watermark > self.memory.free() {
            return false;
        }
        self.memory.hold(&self.found, revived);
        self.memory.take(lacks(tokens));
        true
    }
}
