//! The rules by counts: a step costs O(1 + requests that change state in it).
//!
//! A request that decodes gets one token in every step, so nothing about it needs a look: when it
//! ends is known when it begins ([`FinishQueue`](crate::engine::finish_queue)), its context is part
//! of a running sum, and the blocks that all of them need in a step are a counter per residue
//! modulo the block size ([`residues`]). Everybody else who runs is listed as irregular: prompts
//! that are not done, and requests that were passed over. While nobody enters, leaves, or is
//! irregular, [`Composer::steady_steps`] says how many more steps are the same.
//!
//! - **Asynchronous scheduling** composes a step while the last one runs. A request whose last
//!   token is on its way keeps its slot and its blocks for one more step ([`State::Ending`]); all
//!   else is as in a synchronous engine, as every token is expected before it comes.
//! - **Priority** keeps who waits in a heap, and who runs in a sorted list of at most as many as
//!   there are slots.
//! - **Prefix caching** follows only blocks that somebody may find again, one by one, which costs a
//!   request its shared blocks once when it is admitted and once when it ends, and a preempted
//!   request all its blocks ([`block_cache`]).
//! - **The token budget** can only be too small for the last running request: whoever is admitted
//!   leaves the others what they take, and that never grows. An interval between prefills breaks
//!   this, see below.
//!
//! Two kinds of steps walk the list of running requests, as what happens in them depends on the
//! order of the list, of which counts know nothing. Such a step costs O(running):
//! - one that preempts under `priority` while a prompt is not done, while blocks are cached, or by
//!   the rules up to 0.11: whether the victim had its turn already decides which of its blocks are
//!   kept and how much budget comes back, and up to 0.11 all who stand behind a request that
//!   preempted itself get nothing;
//! - one in which, with a prefill interval, prompts that were held back take the budget of requests
//!   that decode behind them.

mod abort;
mod admission;
mod block_cache;
mod block_math;
mod in_order;
mod journey;
mod memory;
mod preemption;
mod ranks;
mod residues;
mod running_list;
mod steps;
#[cfg(any(test, feature = "oracle"))]
mod turns;
mod waiting;

use crate::{
    engine::{by_number::ByNumber, finish_queue::FinishQueue},
    workload::Request,
};

use super::{
    content::{Content, Keys, Standings},
    refusal::{Lengths, Refusal},
    spec::{Policy, VllmSpec},
};

pub(in crate::engine) use admission::{Newcomers, NoLine};
use block_math::BlockMath;
use journey::Journeys;
pub(super) use journey::{Journey, State};
use memory::Memory;
use ranks::Ranks;
use residues::Residues;
use running_list::RunningList;
pub(super) use steps::Step;
use waiting::{Rank, Waiting};

/// No journey.
const NOBODY: u32 = u32::MAX;

/// Composes steps, and knows no time.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Composer {
    spec: VllmSpec,
    blocks: BlockMath,
    standings: Standings,
    /// What turns of sessions hold, by the number of the request.
    turns: ByNumber<Content>,
    waiting: Waiting,
    journeys: Journeys,
    running: RunningList,
    /// Running requests by importance, where that decides who is preempted.
    ranks: Ranks,
    /// Those of the running requests that do not get exactly one token a step, in order.
    irregular: Vec<u32>,
    admissions: u64,
    /// Steps composed that compute something.
    step: u64,
    decoding: u64,
    /// Tokens of all who decode, those on their way included.
    context_tokens: u64,
    residues: Residues,
    finishing: FinishQueue,
    /// Who sits in each place of the finish queue; nobody, once it was preempted.
    seats: Vec<u32>,
    free_seats: Vec<u32>,
    memory: Memory,
    /// Blocks kept free when a request is admitted beside running ones.
    watermark_blocks: u64,
    /// The last step that worked on a prompt.
    last_prefill_step: Option<u64>,
    /// Whether the last step that was free to admit left requests waiting: prompts are not held
    /// back then.
    is_backed_up: bool,
    /// What the last step did, beside its tokens.
    news: News,
    /// Blocks found for the request that is next to be admitted.
    found: Vec<u32>,
}

/// What composing a step changed.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// Requests admitted, with the tokens that the prefix cache held.
    pub(super) admitted: Vec<(u32, u64)>,
    /// Requests preempted, in order.
    pub(super) preempted: Vec<u32>,
    /// Requests that decoded until now and do not go on.
    pub(super) interrupted: Vec<u32>,
}

/// A step while it is being composed.
#[derive(Clone, Copy, Debug)]
struct Draft {
    /// Tokens left.
    budget: u64,
    /// Most tokens of one prompt.
    prompt_limit: u64,
    /// Whether prompts are held back.
    holds_prompts: bool,
    /// Whether the step works on a prompt.
    has_prompt: bool,
}

impl Composer {
    /// An idle scheduler by a checked specification.
    pub(super) fn new(spec: VllmSpec, standings: Standings) -> Self {
        Self {
            spec,
            blocks: BlockMath::new(spec.block_size),
            standings,
            turns: ByNumber::new(),
            waiting: Waiting::new(spec.policy),
            journeys: Journeys::default(),
            running: RunningList::new(),
            ranks: Ranks::new(),
            irregular: Vec::new(),
            admissions: 0,
            step: 0,
            decoding: 0,
            context_tokens: 0,
            residues: Residues::new(spec.block_size),
            finishing: FinishQueue::new(),
            seats: Vec::new(),
            free_seats: Vec::new(),
            memory: Memory::new(&spec),
            watermark_blocks: spec.watermark_blocks(),
            last_prefill_step: None,
            is_backed_up: false,
            news: News::default(),
            found: Vec::new(),
        }
    }

    pub(super) const fn spec(&self) -> &VllmSpec {
        &self.spec
    }

    pub(super) const fn news(&self) -> &News {
        &self.news
    }

    pub(super) fn journey(&self, id: u32) -> &Journey {
        &self.journeys[id]
    }

    pub(super) fn journey_mut(&mut self, id: u32) -> &mut Journey {
        &mut self.journeys[id]
    }

    pub(super) const fn running_len(&self) -> u64 {
        self.running.len()
    }

    pub(super) fn has_requests(&self) -> bool {
        self.running.len() > 0 || !self.waiting.is_empty()
    }

    pub(super) const fn free_blocks(&self) -> u64 {
        self.memory.free()
    }

    /// A request comes.
    ///
    /// # Errors
    /// It can never be served.
    pub(super) fn add(&mut self, request: &Request) -> Result<(), Refusal> {
        let lengths = Lengths::new(request.input_tokens, request.output_tokens, &self.spec);
        lengths.check(&self.spec)?;
        let id = self.journeys.begin(request, lengths);
        let standings = &self.standings;
        self.waiting.add(id, || rank(standings, request));
        Ok(())
    }

    fn rank(&self, request: &Request) -> Rank {
        rank(&self.standings, request)
    }

    /// The keys of a request's blocks.
    fn keys(&self, journey: &Journey) -> Keys<'_> {
        Keys {
            request: journey.request.index,
            content: content_of(&self.turns, &self.standings, &journey.request),
            prompt_tokens: journey.lengths.prompt_tokens,
            block_size: self.spec.block_size,
        }
    }

    /// Compose the next step; `false` if there is nothing to compute.
    pub(super) fn compose<N: Newcomers>(&mut self, line: &mut N, step: &mut Step) -> bool {
        self.news.admitted.clear();
        self.news.preempted.clear();
        self.news.interrupted.clear();
        step.clear();
        let mut draft = self.draft(line.number());
        self.go_on(&mut draft, step);
        if self.news.preempted.is_empty() {
            if N::IN_LINE {
                self.admit_from_line(line, &mut draft, step);
            } else {
                self.admit(&mut draft, step);
            }
            if !draft.holds_prompts {
                self.is_backed_up = !self.waiting.is_empty() || line.number() > 0;
            }
        }
        self.close(&draft, step)
    }

    /// `in_line`: how many wait outside of the scheduler's own queue.
    fn draft(&self, in_line: u64) -> Draft {
        let threshold = self.spec.long_prefill_token_threshold;
        let is_alone =
            threshold > 0 && self.running.len() + self.waiting.len() as u64 + in_line <= 1;
        let is_limited = threshold > 0 && !(is_alone && self.spec.version.spares_a_lone_prompt());
        Draft {
            budget: self.spec.max_num_batched_tokens,
            prompt_limit: if is_limited { threshold } else { u64::MAX },
            holds_prompts: self.holds_prompts(),
            has_prompt: false,
        }
    }

    /// Whether too few steps have passed since the last one that worked on a prompt. Nothing is
    /// held back when nobody decodes, or when requests pile up.
    fn holds_prompts(&self) -> bool {
        let interval = self.spec.prefill_schedule_interval;
        interval > 1
            && !self.is_backed_up
            && self.last_prefill_step.is_some_and(|last| self.step + 1 - last < interval)
            && self.running.len() > self.prefilling()
    }

    fn prefilling(&self) -> u64 {
        self.irregular.iter().filter(|&&id| self.journeys[id].is_prefilling).count() as u64
    }

    /// Tokens that an irregular request can use in this step, as far as the budget goes.
    fn wanted_tokens(&self, id: u32, draft: &Draft) -> u64 {
        let journey = &self.journeys[id];
        if draft.holds_prompts && journey.is_prefilling {
            return 0;
        }
        let missing_tokens = journey.known_tokens - journey.computed_tokens;
        missing_tokens.min(draft.prompt_limit).min(draft.budget)
    }

    /// Give running requests their tokens, in the order of admission.
    #[inline]
    fn go_on(&mut self, draft: &mut Draft, step: &mut Step) {
        if self.irregular.is_empty() && self.decoding <= draft.budget {
            let need = self.residues.need(self.step);
            if need <= self.memory.free() {
                self.memory.take(need);
                step.decode(self.decoding, self.context_tokens);
                draft.budget -= self.decoding;
                return;
            }
        }
        self.go_on_with_irregular(draft, step);
    }

    #[inline(never)]
    fn go_on_with_irregular(&mut self, draft: &mut Draft, step: &mut Step) {
        let mut wanted = self.decoding;
        for index in 0..self.irregular.len() {
            let id = self.irregular[index];
            let tokens = self.wanted_tokens(id, draft);
            self.journeys[id].took = tokens;
            wanted += tokens;
        }
        if wanted > draft.budget && !self.clip_last(wanted - draft.budget) {
            self.go_on_in_order(draft, step);
            return;
        }
        let irregular = self.irregular.iter().map(|&id| self.blocks_for_turn(id));
        let need = self.residues.need(self.step) + irregular.sum::<u64>();
        if need <= self.memory.free() {
            self.memory.take(need);
        } else if self.spec.policy == Policy::Fcfs {
            self.preempt_last(need);
        } else if self.spec.version.goes_on_after_self_preemption()
            && self.irregular.is_empty()
            && !self.memory.caches()
        {
            self.preempt_least_important(need);
        } else {
            self.go_on_in_order(draft, step);
            return;
        }
        step.decode(self.decoding, self.context_tokens);
        draft.budget -= self.decoding;
        self.work_on_irregular(draft, step);
    }

    /// Let the last running request do with less; `false` if that does not do.
    fn clip_last(&mut self, excess_tokens: u64) -> bool {
        let Some(last) = self.running.last() else { return false };
        let journey = &mut self.journeys[last];
        if journey.state != State::Irregular || journey.took <= excess_tokens {
            return false;
        }
        journey.took -= excess_tokens;
        true
    }

    /// Blocks that a running request needs for what it gets in this step.
    fn blocks_for_turn(&self, id: u32) -> u64 {
        let journey = &self.journeys[id];
        let computed_tokens = journey.computed_at(self.step);
        let tokens = match journey.state {
            State::Decoding => 1,
            State::Irregular => journey.took,
            _ => 0,
        };
        self.blocks.holding(computed_tokens + tokens) - self.blocks.holding(computed_tokens)
    }

    fn work_on_irregular(&mut self, draft: &mut Draft, step: &mut Step) {
        if self.irregular.is_empty() {
            return;
        }
        let mut irregular = std::mem::take(&mut self.irregular);
        irregular.retain(|&id| {
            let journey = &self.journeys[id];
            draft.has_prompt |= journey.took > 0 && journey.is_prefilling;
            journey.took == 0 || !self.work_on(id, draft, step)
        });
        self.irregular = irregular;
    }

    /// Compute what a request `took`, in blocks that it has; true if that completes what it knows.
    #[inline]
    fn work_on(&mut self, id: u32, draft: &mut Draft, step: &mut Step) -> bool {
        let journey = &mut self.journeys[id];
        let tokens = journey.took;
        step.tokens += tokens;
        step.sequences += 1;
        // A decode reads the keys and values of all tokens so far, its own included.
        step.context_tokens += journey.computed_tokens + u64::from(!journey.is_prefilling);
        draft.budget -= tokens;
        journey.computed_tokens += tokens;
        journey.worked_in = self.step + 1;
        let is_done = journey.computed_tokens == journey.known_tokens;
        journey.is_prefilling = !is_done;
        if is_done {
            step.fresh.push(id);
        }
        let computed_tokens = journey.computed_tokens;
        if self.memory.caches() {
            self.publish(id, computed_tokens);
        }
        is_done
    }

    /// Let others find the blocks of a prompt that are full by now.
    #[inline(never)]
    fn publish(&mut self, id: u32, computed_tokens: u64) {
        let mut table = std::mem::take(&mut self.journeys[id].table);
        let Journey { request, lengths, .. } = &self.journeys[id];
        let keys = Keys {
            request: request.index,
            content: content_of(&self.turns, &self.standings, request),
            prompt_tokens: lengths.prompt_tokens,
            block_size: self.spec.block_size,
        };
        self.memory.publish(&keys, computed_tokens, &mut table);
        self.journeys[id].table = table;
    }

    /// A request has its last token: let go of it.
    #[inline]
    pub(super) fn end(&mut self, id: u32) {
        if self.journeys[id].state == State::Ending {
            self.stop_running(id);
            let journey = &mut self.journeys[id];
            let computed_tokens = journey.lengths.final_tokens - 1;
            let held = memory::Held {
                blocks: self.blocks.holding(computed_tokens),
                hashed: self.blocks.whole(computed_tokens),
            };
            if self.turns.is_empty() {
                self.memory.release(held, &mut journey.table);
            } else {
                self.release_turn(id, held);
            }
        } else if !self.turns.is_empty() {
            self.turns.remove(self.journeys[id].request.index);
        }
        self.journeys.remove(id);
    }

    /// A turn of a session lets go of its blocks, which the next turn may look for.
    #[inline(never)]
    fn release_turn(&mut self, id: u32, held: memory::Held) {
        let mut table = std::mem::take(&mut self.journeys[id].table);
        let journey = &self.journeys[id];
        let keys = Keys {
            request: journey.request.index,
            content: content_of(&self.turns, &self.standings, &journey.request),
            prompt_tokens: journey.lengths.prompt_tokens,
            block_size: self.spec.block_size,
        };
        let outlives = keys.content.outlives_request();
        let freed = self.memory.let_go(held, outlives.then_some(&keys), &mut table);
        self.memory.put(freed);
        let journey = &mut self.journeys[id];
        journey.table = table;
        self.turns.remove(journey.request.index);
    }

    #[inline]
    fn stop_running(&mut self, id: u32) {
        self.running.remove(id);
        if self.spec.policy == Policy::Priority {
            self.forget_rank(id);
        }
    }

    #[inline(never)]
    fn forget_rank(&mut self, id: u32) {
        self.ranks.remove(self.rank(&self.journeys[id].request));
    }
}

/// What a request's blocks hold, as far as others can find it.
#[inline]
fn content_of<'a>(
    turns: &'a ByNumber<Content>,
    standings: &'a Standings,
    request: &Request,
) -> &'a Content {
    turns.get(request.index).unwrap_or_else(|| &standings.of(request).content)
}

fn rank(standings: &Standings, request: &Request) -> Rank {
    (standings.of(request).priority, request.index)
}
