//! Requests that run or have run, and how far they are.

use crate::{engine::vllm::refusal::Lengths, workload::Request};

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::vllm) enum State {
    /// It has never run.
    Arrived,
    /// It runs, and does not get exactly one token a step: its prompt is not done, or it was passed
    /// over.
    Irregular,
    /// It runs and gets a token in every step.
    Decoding,
    /// It runs, and its last token is on its way.
    Ending,
    /// Preempted.
    Waiting,
    /// Preempted, with its last token on its way.
    Leaving,
}

/// Times of a request in seconds; NaN before there is one. The simulation's, not the scheduler's.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::vllm) struct Times {
    /// Since when it waits, where it does.
    pub(in crate::engine::vllm) waits_since_s: f64,
    pub(in crate::engine::vllm) start_s: f64,
    pub(in crate::engine::vllm) first_token_s: f64,
    /// Kept up to date only where the next gap may not be the step that ends it.
    pub(in crate::engine::vllm) last_token_s: f64,
}

/// A request from its arrival to its end.
#[derive(Clone, Debug)]
pub(in crate::engine::vllm) struct Journey {
    pub(in crate::engine::vllm) request: Request,
    pub(in crate::engine::vllm) times: Times,
    pub(super) lengths: Lengths,
    pub(super) state: State,
    /// Prompt and output that are known or on their way, when it last changed state.
    pub(super) known_tokens: u64,
    /// Tokens computed, steps in flight included, when it last changed state.
    pub(super) computed_tokens: u64,
    /// How many requests were admitted before it, when it was last.
    pub(super) admitted_after: u64,
    /// Tokens it was given in `worked_in`; for those that decode, 1 in every step.
    pub(super) took: u64,
    /// The last step in which it was given tokens while it did not decode.
    pub(super) worked_in: u64,
    /// The last step that was composed when it began to decode.
    pub(super) decodes_since: u64,
    /// Its place in the finish queue, while it decodes.
    pub(super) seat: u32,
    /// Whether it has more of its known tokens left to compute than one sampled last.
    pub(super) is_prefilling: bool,
    /// Tokens computed before it was preempted.
    pub(super) lost_tokens: u64,
    /// Those of its blocks, from the first, that are followed one by one.
    pub(super) table: Vec<u32>,
}

impl Journey {
    const fn new(request: &Request, lengths: Lengths) -> Self {
        let mut journey = Self {
            request: *request,
            times: Times {
                waits_since_s: f64::NAN,
                start_s: f64::NAN,
                first_token_s: f64::NAN,
                last_token_s: f64::NAN,
            },
            lengths,
            state: State::Arrived,
            known_tokens: 0,
            computed_tokens: 0,
            admitted_after: 0,
            took: 0,
            worked_in: 0,
            decodes_since: 0,
            seat: 0,
            is_prefilling: true,
            lost_tokens: 0,
            table: Vec::new(),
        };
        journey.begin(request, lengths);
        journey
    }

    /// Begin with another request, where the last one has let go of its blocks. What is left alone
    /// is set before it is read.
    #[inline]
    const fn begin(&mut self, request: &Request, lengths: Lengths) {
        self.request = *request;
        self.lengths = lengths;
        self.times.waits_since_s = request.arrival_s;
        self.times.first_token_s = f64::NAN;
        self.state = State::Arrived;
        self.known_tokens = lengths.prompt_tokens;
        self.computed_tokens = 0;
        self.worked_in = 0;
        self.is_prefilling = true;
        self.lost_tokens = 0;
    }

    pub(in crate::engine::vllm) const fn state(&self) -> State {
        self.state
    }

    /// Tokens computed before it was preempted.
    pub(in crate::engine::vllm) const fn lost_tokens(&self) -> u64 {
        self.lost_tokens
    }

    /// Output tokens when it is done; the longest sequence of the model may have cut it short.
    pub(in crate::engine::vllm) const fn output_tokens(&self) -> u64 {
        self.lengths.final_tokens - self.lengths.prompt_tokens
    }

    /// Tokens computed once the first `steps` steps are done.
    pub(super) const fn computed_at(&self, steps: u64) -> u64 {
        match self.state {
            State::Decoding => self.computed_tokens + (steps - self.decodes_since),
            _ => self.computed_tokens,
        }
    }
}

/// Journeys by number; the numbers of those that ended are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Journeys {
    list: Vec<Journey>,
    vacant: Vec<u32>,
}

impl Journeys {
    #[inline]
    pub(super) fn begin(&mut self, request: &Request, lengths: Lengths) -> u32 {
        if let Some(id) = self.vacant.pop() {
            self.list[id as usize].begin(request, lengths);
            return id;
        }
        self.list.push(Journey::new(request, lengths));
        (self.list.len() - 1) as u32
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        self.vacant.push(id);
    }
}

impl std::ops::Index<u32> for Journeys {
    type Output = Journey;

    fn index(&self, id: u32) -> &Journey {
        &self.list[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Journeys {
    fn index_mut(&mut self, id: u32) -> &mut Journey {
        &mut self.list[id as usize]
    }
}
