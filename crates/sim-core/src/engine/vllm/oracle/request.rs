//! Requests: what is asked, and how far it is.

use crate::engine::vllm::content::{BlockKey, Content, Keys};

use super::kv_cache::BlockTable;

/// A request of one scheduler, numbered in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub(super) u32);

impl RequestId {
    /// The request at a position in the order of adding.
    pub(in crate::engine) const fn of_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// Position in the order of adding, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is asked of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Request {
    /// Prompt length. An empty prompt counts as one token, the one that begins every sequence.
    pub prompt_tokens: u64,
    /// Output length, 1 or more.
    pub output_tokens: u64,
    /// Lower values go first under [`Policy::Priority`](crate::engine::vllm::Policy).
    pub priority: i64,
    /// Earlier values go first among equal priorities, and are preempted last. Give every request
    /// its own: under priority equals can preempt each other for ever, here as
    /// in vLLM.
    pub arrival: u64,
    /// What the prompt shares with others.
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Waiting,
    Running,
    Preempted,
    Ended,
}

/// A request and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    pub(super) id: RequestId,
    pub(super) priority: i64,
    pub(super) arrival: u64,
    content: Content,
    pub(super) prompt_tokens: u64,
    /// Tokens at which it ends, prompt included.
    pub(super) final_tokens: u64,
    pub(super) status: Status,
    /// Output tokens that have come back.
    pub(super) output_tokens: u64,
    /// Tokens whose keys and values are in the cache, or will be when the steps in flight are done.
    pub(super) computed_tokens: u64,
    /// Output tokens that are on their way (asynchronous scheduling).
    pub(super) expected_tokens: u64,
    /// Tokens scheduled in steps whose outputs have not come back.
    pub(super) in_flight_tokens: u64,
    /// The part of them that was scheduled before a preemption: their outputs still count, but
    /// they no longer say anything about the cache.
    pub(super) stale_tokens: u64,
    /// Whether it was last scheduled with more of its known tokens left to compute.
    pub(super) is_prefilling: bool,
    pub(super) table: BlockTable,
}

impl Tracked {
    pub(super) fn new(id: RequestId, request: &Request, max_model_len: u64) -> Self {
        let prompt_tokens = request.prompt_tokens.max(1);
        Self {
            id,
            priority: request.priority,
            arrival: request.arrival,
            content: request.content.clone(),
            prompt_tokens,
            final_tokens: prompt_tokens.saturating_add(request.output_tokens).min(max_model_len),
            status: Status::Waiting,
            output_tokens: 0,
            computed_tokens: 0,
            expected_tokens: 0,
            in_flight_tokens: 0,
            stale_tokens: 0,
            is_prefilling: false,
            table: BlockTable::default(),
        }
    }

    /// Tokens that are known: the prompt, and the output that has come back.
    pub(super) const fn known_tokens(&self) -> u64 {
        self.prompt_tokens + self.output_tokens
    }

    /// Whether every token it will ever get is scheduled already.
    pub(super) const fn has_all_scheduled(&self) -> bool {
        self.expected_tokens > 0
            && self.computed_tokens + 2 - self.expected_tokens >= self.final_tokens
    }

    /// What the full block at `position` holds.
    pub(super) fn key(&self, position: u64, block_size: u64) -> BlockKey {
        let Self { content, prompt_tokens, .. } = self;
        let request = u64::from(self.id.0);
        Keys { request, content, prompt_tokens: *prompt_tokens, block_size }.at(position)
    }
}
