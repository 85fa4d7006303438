//! When blocks run out: who loses them.

use super::{
    Composer, Policy, State,
    memory::{Freed, Held},
};

impl Composer {
    /// Whom to preempt: the last admitted, or the least important.
    pub(super) fn victim(&self) -> Option<u32> {
        match self.spec.policy {
            Policy::Fcfs => self.running.last(),
            Policy::Priority => self.ranks.last(),
        }
    }

    /// Preempt running requests, the last first, until the others' turns fit; their blocks are
    /// taken. Together all turns take `need` blocks.
    ///
    /// Going through the running requests one by one ends with the same ones: a request that finds
    /// no block preempts the last, and goes itself when it is the last. Blocks change hands in the
    /// same order, too: what is free is taken before the next victim has to go.
    pub(super) fn preempt_last(&mut self, mut need: u64) {
        let mut available = self.memory.free();
        let mut freed = Vec::new();
        while need > available
            && let Some(victim) = self.victim()
        {
            need -= self.blocks_for_turn(victim);
            let blocks = self.preempt(victim, 0);
            available += blocks.len();
            freed.push(blocks);
        }
        let taken = need.min(self.memory.free());
        self.memory.take(taken);
        need -= taken;
        for blocks in freed {
            self.memory.put(blocks);
            let taken = need.min(self.memory.free());
            self.memory.take(taken);
            need -= taken;
        }
    }

    /// The same by importance, where only counts matter.
    pub(super) fn preempt_least_important(&mut self, mut need: u64) {
        while need > self.memory.free()
            && let Some(victim) = self.victim()
        {
            need -= self.blocks_for_turn(victim);
            let blocks = self.preempt(victim, 0);
            self.memory.put(blocks);
        }
        self.memory.take(need.min(self.memory.free()));
    }

    /// Preempt a running request, which returns the `given_tokens` it had in this step already, and
    /// its blocks.
    pub(super) fn preempt(&mut self, id: u32, given_tokens: u64) -> Freed {
        let unknown_tokens = self.unknown_tokens(id, given_tokens);
        match self.journeys[id].state {
            State::Decoding => self.interrupt(id),
            State::Irregular => self.irregular.retain(|&other| other != id),
            _ => {}
        }
        self.stop_running(id);
        let has_all = self.journeys[id].state == State::Ending;
        let mut table = std::mem::take(&mut self.journeys[id].table);
        let journey = &self.journeys[id];
        let computed_tokens = journey.computed_tokens + given_tokens;
        let held = Held {
            blocks: self.blocks.holding(computed_tokens),
            hashed: self.blocks.whole(computed_tokens - unknown_tokens),
        };
        let rank = self.rank(&journey.request);
        let freed = if self.memory.caches() {
            let keys = super::Keys {
                request: journey.request.index,
                content: super::content_of(&self.turns, &self.standings, &journey.request),
                prompt_tokens: journey.lengths.prompt_tokens,
                block_size: self.spec.block_size,
            };
            // One that has all its tokens comes back to look for nothing, but its next turn may.
            let is_asked_for = !has_all || keys.content.outlives_request();
            self.memory.let_go(held, is_asked_for.then_some(&keys), &mut table)
        } else {
            self.memory.let_go(held, None, &mut table)
        };
        let journey = &mut self.journeys[id];
        journey.table = table;
        journey.lost_tokens = journey.computed_tokens;
        journey.computed_tokens = 0;
        journey.worked_in = 0;
        journey.is_prefilling = true;
        self.news.preempted.push(id);
        if has_all {
            journey.state = State::Leaving;
        } else {
            journey.state = State::Waiting;
            self.waiting.put_back(id, rank);
        }
        freed
    }

    /// How many of its computed tokens a request does not know yet, so that the block they end in
    /// cannot be found: with asynchronous scheduling, that of the last decode.
    pub(super) fn unknown_tokens(&self, id: u32, given_tokens: u64) -> u64 {
        let journey = &self.journeys[id];
        let decodes = matches!(journey.state, State::Decoding | State::Ending);
        let is_on_its_way = given_tokens > 0 || journey.decodes_since < self.step;
        u64::from(self.spec.is_async() && decodes && is_on_its_way)
    }

    /// A request no longer decodes in every step.
    pub(super) fn interrupt(&mut self, id: u32) {
        self.stop_decoding(id);
        self.news.interrupted.push(id);
    }

    /// Take a request out of all that is counted of those who decode.
    pub(super) fn stop_decoding(&mut self, id: u32) {
        let journey = &mut self.journeys[id];
        journey.computed_tokens = journey.computed_at(self.step);
        journey.known_tokens = journey.computed_tokens + 1;
        journey.state = State::Irregular;
        journey.is_prefilling = false;
        self.residues.remove(journey.computed_tokens, self.step);
        self.decoding -= 1;
        self.context_tokens -= journey.known_tokens;
        // The finish queue still names the seat.
        self.seats[journey.seat as usize] = super::NOBODY;
    }
}
