//! What the scheduler decides, and what comes of it.

use super::request::RequestId;

/// One request's part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Whose.
    pub id: RequestId,
    /// Tokens to compute.
    pub tokens: u64,
    /// Tokens computed before, in earlier steps or by others.
    pub context_tokens: u64,
    /// Whether the tokens end with the last known one, so that the step samples the next.
    pub samples: bool,
    /// Whether it only continues: its one token is the one sampled last.
    pub decodes: bool,
}

/// A step as composed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Decision {
    /// Who computes what: running requests first, then those admitted, each in order.
    pub scheduled: Vec<Scheduled>,
    /// Requests admitted for the first time.
    pub new: Vec<RequestId>,
    /// Requests admitted again after a preemption.
    pub resumed: Vec<RequestId>,
    /// Requests preempted, in order.
    pub preempted: Vec<RequestId>,
    /// For each request admitted, the tokens that the prefix cache already held.
    pub cached_tokens: Vec<(RequestId, u64)>,
}

impl Decision {
    /// Whether the step computes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scheduled.is_empty()
    }

    /// Tokens that the step computes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.scheduled.iter().map(|scheduled| scheduled.tokens).sum()
    }
}

/// What came back from a step.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Completion {
    /// Requests that got an output token, in the order of the step.
    pub sampled: Vec<RequestId>,
    /// Those of them for which it was the last.
    pub finished: Vec<RequestId>,
}
