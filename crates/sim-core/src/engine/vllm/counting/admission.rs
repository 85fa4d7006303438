//! The second half of a step: waiting requests are admitted.

use super::{Composer, Draft, Policy, State, Step};

impl Composer {
    /// Admit waiting requests in order until one cannot be.
    #[inline]
    pub(super) fn admit(&mut self, draft: &mut Draft, step: &mut Step) {
        while let Some(id) = self.waiting.first()
            && draft.budget > 0
            && self.running.len() < self.spec.max_num_seqs
            && self.admit_first(id, draft, step)
        {}
    }

    /// Admit the first waiting request, if budget and blocks allow.
    #[inline]
    fn admit_first(&mut self, id: u32, draft: &mut Draft, step: &mut Step) -> bool {
        let known_tokens = self.journeys[id].known_tokens;
        let cached_tokens = if self.memory.caches() { self.find_cached(id) } else { 0 };
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
        self.running.push(id);
        self.news.admitted.push((id, cached_tokens));
        draft.has_prompt |= missing_tokens > 1;
        let journey = &mut self.journeys[id];
        if journey.state == State::Arrived {
            step.new.push(id);
        }
        journey.state = State::Irregular;
        journey.computed_tokens = cached_tokens;
        journey.took = tokens;
        journey.admitted_after = self.admissions;
        self.admissions += 1;
        if cached_tokens > 0 {
            journey.table.extend_from_slice(&self.found);
        }
        if self.spec.policy == Policy::Priority {
            self.keep_rank(id);
        }
        if !self.work_on(id, draft, step) {
            self.irregular.push(id);
        }
        true
    }

    #[inline(never)]
    fn keep_rank(&mut self, id: u32) {
        self.ranks.insert(self.rank(&self.journeys[id].request), id);
    }

    /// Find the blocks of a waiting request that the cache holds, and tell their tokens.
    #[inline(never)]
    fn find_cached(&mut self, id: u32) -> u64 {
        let journey = &self.journeys[id];
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.memory.find(&self.keys(journey), journey.known_tokens, &mut found);
        self.found = found;
        self.found.len() as u64 * self.spec.block_size
    }

    /// Take the blocks that were found, and new ones up to `tokens` tokens, for a request that
    /// knows `known_tokens`. Nothing changes when the blocks do not suffice.
    #[inline]
    fn allocate(&mut self, tokens: u64, known_tokens: u64) -> bool {
        let held = self.found.len() as u64;
        // A found block that nobody holds is free until now, so it counts as taken.
        let revived = if held > 0 { self.memory.free_among(&self.found) } else { 0 };
        let watermark = if self.running.len() == 0 { 0 } else { self.watermark_blocks };
        let lacks = |tokens| self.blocks.holding(tokens).saturating_sub(held);
        let whole = if self.spec.scheduler_reserve_full_isl { known_tokens } else { tokens };
        if lacks(whole) + revived + watermark > self.memory.free() {
            return false;
        }
        let taken = lacks(tokens);
        if held > 0 {
            self.memory.hold(&self.found, revived);
        }
        self.memory.take(taken);
        true
    }
}
