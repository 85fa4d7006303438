//! The first half of a step: running requests go on, or are preempted.

use crate::engine::vllm::Policy;

use super::{
    decision::Scheduled,
    kv_cache::Gate,
    request::{RequestId, Status},
    scheduler::{Draft, Scheduler},
};

impl Scheduler {
    /// Give running requests their tokens, in the order of admission.
    pub(super) fn schedule_running(&mut self, draft: &mut Draft) {
        let mut index = 0;
        while index < self.running.len() && draft.budget > 0 {
            let id = self.running[index];
            let tokens = self.wanted_tokens(id, draft);
            if tokens == 0 {
                index += 1;
                continue;
            }
            if self.make_room(id, tokens, &mut index, draft) {
                self.go_on(id, tokens, draft);
                index += 1;
            } else if self.spec.policy == Policy::Fcfs
                || !self.spec.version.goes_on_after_self_preemption()
            {
                break;
            }
            // Else it has left the list, and `index` is the next request, which is more important
            // and may still fit.
        }
    }

    /// Tokens that a running request can use in this step.
    fn wanted_tokens(&self, id: RequestId, draft: &Draft) -> u64 {
        let request = &self.requests[id.index()];
        if request.has_all_scheduled() || (draft.holds_prompts && request.is_prefilling) {
            return 0;
        }
        let missing_tokens =
            request.known_tokens() + request.expected_tokens - request.computed_tokens;
        let within_model = self.spec.max_model_len.saturating_sub(request.computed_tokens + 1);
        missing_tokens.min(draft.prompt_limit).min(draft.budget).min(within_model)
    }

    fn go_on(&mut self, id: RequestId, tokens: u64, draft: &mut Draft) {
        let request = &mut self.requests[id.index()];
        let context_tokens = request.computed_tokens;
        self.kv.publish(request, context_tokens + tokens);
        let known = request.known_tokens() + request.expected_tokens;
        draft.has_prompt |= request.is_prefilling;
        draft.budget -= tokens;
        draft.decision.scheduled.push(Scheduled {
            id,
            tokens,
            context_tokens,
            samples: context_tokens + tokens == known,
            decodes: !request.is_prefilling,
        });
    }

    /// Allocate blocks for `tokens` more tokens, preempting as many requests as it takes; `false`
    /// if the request itself was the last of them.
    fn make_room(
        &mut self,
        id: RequestId,
        tokens: u64,
        index: &mut usize,
        draft: &mut Draft,
    ) -> bool {
        loop {
            let request = &mut self.requests[id.index()];
            if self.kv.allocate(request, request.computed_tokens + tokens, &[], Gate::OPEN) {
                return true;
            }
            let victim_index = self.victim_index();
            let victim = self.running.remove(victim_index);
            if victim_index < *index {
                *index -= 1;
            }
            self.take_back(victim, draft);
            self.preempt(victim);
            draft.decision.preempted.push(victim);
            if victim == id {
                return false;
            }
        }
    }

    /// Whom to preempt: the last admitted, or the least important.
    fn victim_index(&self) -> usize {
        let last = self.running.len() - 1;
        match self.spec.policy {
            Policy::Fcfs => last,
            // From the back, as the first of equals is the one to go.
            Policy::Priority => (0..=last)
                .rev()
                .max_by_key(|&index| {
                    let request = &self.requests[self.running[index].index()];
                    (request.priority, request.arrival)
                })
                .unwrap_or(last),
        }
    }

    /// A preempted request returns what this step had already given it.
    fn take_back(&self, victim: RequestId, draft: &mut Draft) {
        let scheduled = &mut draft.decision.scheduled;
        if let Some(position) = scheduled.iter().position(|scheduled| scheduled.id == victim) {
            draft.budget += scheduled.remove(position).tokens;
        }
    }

    fn preempt(&mut self, id: RequestId) {
        let request = &mut self.requests[id.index()];
        self.kv.release(request);
        request.status = Status::Preempted;
        request.computed_tokens = 0;
        request.expected_tokens = 0;
        request.stale_tokens = request.in_flight_tokens;
        self.waiting.put_back(request);
    }
}
