//! The second half of a step: waiting requests are admitted.

use crate::{
    engine::{
        attended::Offer,
        vllm::{content::Prompt, refusal::Lengths},
    },
    workload::Request,
};

use super::{Composer, Draft, Policy, State, Step};

/// Those who have never run and stand in a line of their own.
pub(in crate::engine) trait Newcomers {
    /// Whether there is such a line.
    const IN_LINE: bool;

    /// How many stand in it.
    fn number(&self) -> u64;

    /// Whose turn it is.
    fn head(&mut self) -> Option<Request>;

    /// What it asks, where others may ask it again.
    fn prompt(&mut self) -> Option<Prompt>;

    /// Whoever's turn it is fits or does not: what becomes of it.
    fn offer(&mut self, fits: bool) -> Offer;

    /// The request that was served last is this journey.
    fn started(&mut self, index: u64, id: u32);
}

/// Everybody stands in the scheduler's own queue.
pub(in crate::engine) struct NoLine;

impl Newcomers for NoLine {
    const IN_LINE: bool = false;

    #[inline]
    fn number(&self) -> u64 {
        0
    }

    fn head(&mut self) -> Option<Request> {
        None
    }

    fn prompt(&mut self) -> Option<Prompt> {
        None
    }

    fn offer(&mut self, _: bool) -> Offer {
        Offer::Blocked
    }

    fn started(&mut self, _: u64, _: u32) {}
}

/// What a request gets that is admitted.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Tokens to compute in this step.
    tokens: u64,
    /// Tokens that the prefix cache holds.
    cached_tokens: u64,
    /// Tokens that it does not.
    missing_tokens: u64,
    /// Blocks that were found and that nobody holds.
    revived: u64,
    /// Further blocks.
    blocks: u64,
}

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

    /// The same where those who have never run stand in a line of their own. The scheduler's queue
    /// holds those who were preempted: they go first, unless by priority somebody in the line is more
    /// important.
    pub(super) fn admit_from_line<N: Newcomers>(
        &mut self,
        line: &mut N,
        draft: &mut Draft,
        step: &mut Step,
    ) {
        while draft.budget > 0 && self.running.len() < self.spec.max_num_seqs {
            let preempted = self.waiting.first();
            let newcomer = line.head().filter(|head| {
                preempted.is_none_or(|id| {
                    self.spec.policy == Policy::Priority
                        && self.rank(head) < self.rank(&self.journeys[id].request)
                })
            });
            let goes_on = match (newcomer, preempted) {
                (Some(request), _) => self.admit_newcomer(&request, line, draft, step),
                (None, Some(id)) => self.admit_first(id, draft, step),
                (None, None) => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Offer the scheduler the head of the line; `false` if it has to wait.
    fn admit_newcomer<N: Newcomers>(
        &mut self,
        request: &Request,
        line: &mut N,
        draft: &mut Draft,
        step: &mut Step,
    ) -> bool {
        let lengths = Lengths::new(request.input_tokens, request.output_tokens, &self.spec);
        let id = self.journeys.begin(request, lengths);
        if self.memory.caches()
            && let Some(prompt) = line.prompt()
        {
            let content = &self.standings.of(request).content;
            self.turns.insert(request.index, content.of_attempt(&prompt, request.index));
        }
        let fit = self.fit(id, draft);
        match (line.offer(fit.is_some()), fit) {
            (Offer::Served(_), Some(fit)) => {
                self.let_in(id, &fit, draft, step);
                line.started(request.index, id);
                true
            }
            (offer, _) => {
                self.turns.remove(request.index);
                self.journeys.remove(id);
                offer == Offer::Dropped
            }
        }
    }

    /// Admit the first waiting request, if budget and blocks allow.
    #[inline]
    fn admit_first(&mut self, id: u32, draft: &mut Draft, step: &mut Step) -> bool {
        let Some(fit) = self.fit(id, draft) else { return false };
        self.waiting.pop_first();
        self.let_in(id, &fit, draft, step);
        true
    }

    /// What a request that does not run would get in this step; `None` if budget or blocks do not
    /// allow it. Nothing changes but what was found for it.
    #[inline]
    fn fit(&mut self, id: u32, draft: &Draft) -> Option<Fit> {
        let known_tokens = self.journeys[id].known_tokens;
        let cached_tokens = if self.memory.caches() { self.find_cached(id) } else { 0 };
        let missing_tokens = known_tokens - cached_tokens;
        if draft.holds_prompts && missing_tokens > 1 {
            return None;
        }
        let wanted_tokens = missing_tokens.min(draft.prompt_limit);
        if !self.spec.chunked_prefill && wanted_tokens > draft.budget {
            return None;
        }
        let tokens = wanted_tokens.min(draft.budget);
        let held = self.found.len() as u64;
        // A found block that nobody holds is free until now, so it counts as taken.
        let revived = if held > 0 { self.memory.free_among(&self.found) } else { 0 };
        let watermark = if self.running.len() == 0 { 0 } else { self.watermark_blocks };
        let lacks = |tokens| self.blocks.holding(tokens).saturating_sub(held);
        let blocks = lacks(cached_tokens + tokens);
        let whole = if self.spec.scheduler_reserve_full_isl { lacks(known_tokens) } else { blocks };
        (whole + revived + watermark <= self.memory.free()).then_some(Fit {
            tokens,
            cached_tokens,
            missing_tokens,
            revived,
            blocks,
        })
    }

    /// Admit a request that fits.
    #[inline]
    fn let_in(&mut self, id: u32, fit: &Fit, draft: &mut Draft, step: &mut Step) {
        if !self.found.is_empty() {
            self.memory.hold(&self.found, fit.revived);
        }
        self.memory.take(fit.blocks);
        self.running.push(id);
        self.news.admitted.push((id, fit.cached_tokens));
        draft.has_prompt |= fit.missing_tokens > 1;
        let journey = &mut self.journeys[id];
        if journey.state == State::Arrived {
            step.new.push(id);
        }
        journey.state = State::Irregular;
        journey.computed_tokens = fit.cached_tokens;
        journey.took = fit.tokens;
        journey.admitted_after = self.admissions;
        self.admissions += 1;
        if fit.cached_tokens > 0 {
            journey.table.extend_from_slice(&self.found);
        }
        if self.spec.policy == Policy::Priority {
            self.keep_rank(id);
        }
        if !self.work_on(id, draft, step) {
            self.irregular.push(id);
        }
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
}
