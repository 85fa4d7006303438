//! A client has gone: its request leaves, wherever it is.

use super::{Composer, Journey, State, memory::Held};

impl Composer {
    /// Take a request out between two steps, as the scheduler's `finish_requests` does with those
    /// that are aborted: it leaves the queue or the batch, and lets go of its blocks. Those that
    /// others may find stay in the cache, the last to be reused. Returns the output tokens that have
    /// come back; what a step in flight computes for it is lost.
    pub(in crate::engine::vllm) fn abort(&mut self, id: u32) -> u64 {
        let mut on_its_way = 0;
        match self.journeys[id].state {
            State::Arrived | State::Waiting => self.waiting.remove(id),
            State::Leaving => on_its_way = 1,
            State::Irregular => {
                self.irregular.retain(|&other| other != id);
                self.abort_running(id, 0);
            }
            State::Decoding | State::Ending => {
                on_its_way = u64::from(self.spec.is_async());
                let unknown_tokens = self.unknown_tokens(id, 0);
                if self.journeys[id].state == State::Decoding {
                    self.stop_decoding(id);
                }
                self.abort_running(id, unknown_tokens);
            }
        }
        let Journey { known_tokens, lengths, .. } = &self.journeys[id];
        let output_tokens = known_tokens - lengths.prompt_tokens - on_its_way;
        self.turns.remove(self.journeys[id].request.index);
        self.journeys.remove(id);
        output_tokens
    }

    /// `unknown_tokens`: how many of its computed tokens are not known yet.
    fn abort_running(&mut self, id: u32, unknown_tokens: u64) {
        self.stop_running(id);
        let journey = &mut self.journeys[id];
        let held = Held {
            blocks: self.blocks.holding(journey.computed_tokens),
            hashed: self.blocks.whole(journey.computed_tokens - unknown_tokens),
        };
        self.memory.release(held, &mut journey.table);
    }

    /// Whether a request gets a token by decoding in the step composed last.
    pub(in crate::engine::vllm) fn decodes_now(&self, id: u32) -> bool {
        let journey = &self.journeys[id];
        matches!(journey.state, State::Decoding | State::Ending)
            && journey.decodes_since < self.step
    }
}
