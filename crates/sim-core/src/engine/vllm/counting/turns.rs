//! What a step did for each request, spelled out.

use super::{Composer, Policy, State, Step};

/// One request's part of a step.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::vllm) struct Turn {
    pub(in crate::engine::vllm) id: u32,
    pub(in crate::engine::vllm) tokens: u64,
    pub(in crate::engine::vllm) context_tokens: u64,
    pub(in crate::engine::vllm) samples: bool,
    pub(in crate::engine::vllm) decodes: bool,
}

impl Composer {
    /// Everybody's part of the step just composed, in the order of admission.
    pub(in crate::engine::vllm) fn turns(&self, step: &Step) -> Vec<Turn> {
        let turns = self.running_ids().into_iter().filter_map(|id| {
            let journey = &self.journeys[id];
            let decoded = match journey.state {
                State::Decoding => journey.decodes_since < self.step,
                State::Ending => journey.decodes_since < self.step && step.ending.contains(&id),
                _ => false,
            };
            if decoded {
                let context_tokens = journey.computed_at(self.step) - 1;
                return Some(Turn { id, tokens: 1, context_tokens, samples: true, decodes: true });
            }
            (journey.worked_in == self.step).then(|| {
                let context_tokens = journey.computed_tokens - journey.took;
                let samples = step.fresh.contains(&id);
                Turn { id, tokens: journey.took, context_tokens, samples, decodes: false }
            })
        });
        turns.collect()
    }

    /// The journey of a request that runs or waits, by the request's index.
    pub(in crate::engine::vllm) fn id_of(&self, index: u64) -> Option<u32> {
        let mut ids = self.running_ids().into_iter().chain(self.waiting.all());
        ids.find(|&id| self.journeys[id].request.index == index)
    }

    /// Running requests, in the order of admission.
    pub(in crate::engine::vllm) fn running_ids(&self) -> Vec<u32> {
        std::iter::successors(self.running.first(), |&id| self.running.after(id)).collect()
    }

    /// Waiting requests by index, first to last, and in their places those that the last step
    /// preempted and whose last token is still on its way.
    pub(in crate::engine::vllm) fn waiting_indices(&self, leaving: &[u32]) -> Vec<u64> {
        let index = |id| self.journeys[id].request.index;
        let mut waiting: Vec<u64> = self.waiting.all().into_iter().map(index).collect();
        // The last to be preempted stands first.
        for &id in leaving.iter().rev() {
            let request = &self.journeys[id].request;
            let place = match self.spec.policy {
                // Whoever was preempted after it stands before it.
                Policy::Fcfs => {
                    self.news.preempted.iter().rev().take_while(|&&later| later != id).count()
                }
                Policy::Priority => waiting.partition_point(|&other| {
                    let other = crate::workload::Request { index: other, ..*request };
                    self.rank(&other) < self.rank(request)
                }),
            };
            waiting.insert(place, request.index);
        }
        waiting
    }
}
