//! Running requests one by one, where the order of the list matters.

use super::{Composer, Draft, Policy, State, Step};

/// A request found no block and was itself the last that could give one.
struct Gone {
    /// Who stood behind it.
    after: Option<u32>,
}

impl Composer {
    /// Give running requests their tokens, looking at each. Those who decode and get nothing become
    /// irregular.
    pub(super) fn go_on_in_order(&mut self, draft: &mut Draft, step: &mut Step) {
        let mut turn = Draft { budget: self.spec.max_num_batched_tokens, ..*draft };
        let mut next = self.running.first();
        while turn.budget > 0
            && let Some(id) = next
        {
            let tokens = match self.journeys[id].state {
                State::Decoding => 1,
                State::Irregular => self.wanted_tokens(id, &turn),
                _ => 0,
            };
            self.journeys[id].took = tokens;
            if tokens == 0 {
                next = self.running.after(id);
                continue;
            }
            match self.make_room(id, &mut turn) {
                Ok(()) => {
                    self.take_turn(id, &mut turn);
                    next = self.running.after(id);
                }
                Err(gone) => {
                    next = gone.after;
                    if self.spec.policy == Policy::Fcfs
                        || !self.spec.version.goes_on_after_self_preemption()
                    {
                        break;
                    }
                }
            }
        }
        draft.has_prompt = turn.has_prompt;
        self.settle_turns(draft, step);
    }

    /// Take the blocks for a request's turn, preempting as many requests as it takes.
    fn make_room(&mut self, id: u32, turn: &mut Draft) -> Result<(), Gone> {
        let need = self.blocks_for_turn(id);
        while need > self.memory.free() {
            let Some(victim) = self.victim() else { break };
            let after = self.running.after(victim);
            let journey = &self.journeys[victim];
            // What it was given in this step already goes back.
            let given_tokens = if journey.worked_in == self.step + 1 { journey.took } else { 0 };
            turn.budget += given_tokens;
            let blocks = self.preempt(victim, given_tokens);
            self.memory.put(blocks);
            if victim == id {
                return Err(Gone { after });
            }
        }
        self.memory.take(need);
        Ok(())
    }

    fn take_turn(&mut self, id: u32, turn: &mut Draft) {
        let composing = self.step + 1;
        let journey = &mut self.journeys[id];
        journey.worked_in = composing;
        turn.budget -= journey.took;
        if journey.state == State::Irregular {
            turn.has_prompt |= journey.is_prefilling;
            let computed_tokens = journey.computed_tokens + journey.took;
            if self.memory.caches() {
                self.publish(id, computed_tokens);
            }
        }
    }

    /// Count what those who still run were given.
    fn settle_turns(&mut self, draft: &mut Draft, step: &mut Step) {
        self.irregular.clear();
        let mut next = self.running.first();
        while let Some(id) = next {
            next = self.running.after(id);
            let has_worked = self.journeys[id].worked_in == self.step + 1;
            let is_irregular = match self.journeys[id].state {
                State::Decoding if has_worked => false,
                State::Decoding => {
                    self.interrupt(id);
                    self.journeys[id].took = 0;
                    true
                }
                State::Irregular => !has_worked || !self.work_on(id, draft, step),
                _ => false,
            };
            if is_irregular {
                self.irregular.push(id);
            }
        }
        step.decode(self.decoding, self.context_tokens);
        draft.budget -= self.decoding;
    }
}
