//! The counting engine without its clock, spelled out request by request, so that its decisions
//! can be compared with recorded ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    engine::vllm::{
        Refusal, Standing, Standings, VllmSpec,
        counting::{Composer, NoLine, State, Step},
    },
    setup::SetupError,
    workload::Request as Asked,
};

use super::{Completion, Decision, Request, RequestId, Scheduled};

/// The decisions of the counting engine, in the form of [`Scheduler`](super::Scheduler)'s.
#[derive(Clone, Debug)]
pub struct CountedScheduler {
    composer: Composer,
    added: u32,
    in_flight: VecDeque<(Decision, Step)>,
    computed_tokens: BTreeMap<RequestId, u64>,
    /// Requests that the last step preempted and whose last token is on its way.
    leaving: Vec<u32>,
    aborted: BTreeSet<RequestId>,
}

impl CountedScheduler {
    /// An idle scheduler that is to be given `requests`.
    ///
    /// # Errors
    /// The specification holds a number outside its domain.
    pub fn new(spec: VllmSpec, requests: &[Request]) -> Result<Self, SetupError> {
        spec.check()?;
        let standing = |request: &Request| Standing {
            priority: request.priority,
            content: request.content.clone(),
        };
        let standings = Standings::OfRequest(requests.iter().map(standing).collect());
        Ok(Self {
            composer: Composer::new(spec, standings),
            added: 0,
            in_flight: VecDeque::new(),
            computed_tokens: BTreeMap::new(),
            leaving: Vec::new(),
            aborted: BTreeSet::new(),
        })
    }

    /// The next of the requests comes.
    ///
    /// # Errors
    /// It can never be served.
    pub fn add(&mut self, request: &Request) -> Result<RequestId, Refusal> {
        let id = RequestId(self.added);
        self.added += 1;
        self.composer.add(&Asked {
            index: u64::from(id.0),
            arrival_s: 0.0,
            input_tokens: request.prompt_tokens,
            output_tokens: request.output_tokens,
            class: 0,
        })?;
        Ok(id)
    }

    /// Whether there is any request to serve.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        self.composer.has_requests()
    }

    /// Blocks that nobody holds.
    #[must_use]
    pub const fn free_blocks(&self) -> u64 {
        self.composer.free_blocks()
    }

    /// Running requests, in the order of admission.
    #[must_use]
    pub fn running(&self) -> Vec<RequestId> {
        self.composer.running_ids().into_iter().map(|id| self.name(id)).collect()
    }

    /// Waiting requests, first to last.
    #[must_use]
    pub fn waiting(&self) -> Vec<RequestId> {
        let waiting = self.composer.waiting_indices(&self.leaving);
        waiting.into_iter().map(|index| RequestId(index as u32)).collect()
    }

    /// Tokens of a request that were computed when it was last scheduled.
    #[must_use]
    pub fn computed_tokens(&self, id: RequestId) -> u64 {
        self.computed_tokens.get(&id).copied().unwrap_or(0)
    }

    fn name(&self, id: u32) -> RequestId {
        RequestId(self.composer.journey(id).request.index as u32)
    }

    /// Compose the next step.
    pub fn schedule(&mut self) -> Decision {
        let mut step = Step::default();
        let computes = self.composer.compose(&mut NoLine, &mut step);
        let mut decision = Decision::default();
        let news = self.composer.news();
        let leaves = |&&id: &&u32| self.composer.journey(id).state() == State::Leaving;
        self.leaving = news.preempted.iter().filter(leaves).copied().collect();
        decision.preempted = news.preempted.iter().map(|&id| self.name(id)).collect();
        for &(id, cached_tokens) in &news.admitted {
            decision.cached_tokens.push((self.name(id), cached_tokens));
            let list =
                if step.new.contains(&id) { &mut decision.new } else { &mut decision.resumed };
            list.push(self.name(id));
        }
        if computes {
            for turn in self.composer.turns(&step) {
                let id = self.name(turn.id);
                self.computed_tokens.insert(id, turn.context_tokens + turn.tokens);
                decision.scheduled.push(Scheduled {
                    id,
                    tokens: turn.tokens,
                    context_tokens: turn.context_tokens,
                    samples: turn.samples,
                    decodes: turn.decodes,
                });
            }
            self.in_flight.push_back((decision.clone(), step));
        }
        decision
    }

    /// A client has gone: its request leaves, wherever it is. Returns the output tokens that had come
    /// back; `None` if it was not there any more.
    pub fn abort(&mut self, id: RequestId) -> Option<u64> {
        let journey = self.composer.id_of(u64::from(id.0))?;
        let decodes = self.composer.decodes_now(journey);
        if let Some((_, step)) = self.in_flight.back_mut() {
            step.forget(journey, decodes);
        }
        self.leaving.retain(|&other| other != journey);
        self.aborted.insert(id);
        Some(self.composer.abort(journey))
    }

    /// Take back the outputs of the first step in flight.
    pub fn complete(&mut self) -> Completion {
        let Some((decision, step)) = self.in_flight.pop_front() else {
            return Completion::default();
        };
        let is_there = |scheduled: &&Scheduled| !self.aborted.contains(&scheduled.id);
        let samples = decision.scheduled.iter().filter(|scheduled| scheduled.samples);
        let samples = samples.filter(is_there);
        let sampled: Vec<_> = samples.map(|scheduled| scheduled.id).collect();
        let ending: Vec<_> = step.ending.iter().map(|&id| self.name(id)).collect();
        let finished = sampled.iter().filter(|id| ending.contains(id)).copied().collect();
        self.leaving.clear();
        for &id in &step.ending {
            debug_assert!(matches!(
                self.composer.journey(id).state(),
                State::Ending | State::Leaving
            ));
            self.composer.end(id);
        }
        Completion { sampled, finished }
    }
}
