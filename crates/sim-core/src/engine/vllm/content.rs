//! What a scheduler sees of a request beside its lengths.

use std::sync::Arc;

use crate::workload::Request;

/// What a prompt shares with other prompts, as far as the prefix cache can see.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Content {
    /// Nothing.
    #[default]
    Unique,
    /// It begins as every prompt of its group does.
    SharedPrefix {
        /// Which beginning.
        group: u64,
        /// How much of it, in tokens.
        tokens: u64,
    },
    /// A number for each of its full blocks from the first, which stands for the tokens in the
    /// block and all before them: equal numbers, equal prefixes.
    Blocks(Arc<[u64]>),
    /// The same by blocks of another size, as recorded.
    Recorded {
        /// Tokens that one number stands for.
        tokens_per_block: u64,
        /// The numbers.
        blocks: Arc<[u64]>,
    },
    /// It may be asked for again, as a whole by another attempt, or with its output by the next turn of
    /// a session.
    Turn {
        /// How the conversation begins, which others share, and how much of it, in tokens.
        shared: Option<(u64, u64)>,
        /// What earlier turns have added, and then this prompt, in order.
        before: Arc<[Said]>,
        /// The number of its output, its own among all that is said.
        turn: u64,
    },
}

/// How far a prompt or an output has brought its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its number.
    pub turn: u64,
    /// The whole conversation up to its last token that is in the cache, in tokens.
    pub up_to_tokens: u64,
}

impl Content {
    /// The content of an attempt at a prompt, given that of its class.
    pub(in crate::engine) fn of_attempt(&self, prompt: &Prompt, attempt: u64) -> Self {
        let Prompt { before, request, tokens } = prompt;
        let shared = match self {
            Self::SharedPrefix { group, tokens: prefix_tokens } => {
                let pinned_tokens =
                    before.as_ref().map_or(*prefix_tokens, |before| before.pinned_tokens);
                Some((*group, pinned_tokens.min(*tokens)))
            }
            _ => None,
        };
        let earlier = before.iter().flat_map(|before| before.turns.iter().copied());
        let asked = Said { turn: number_of_prompt(*request), up_to_tokens: *tokens };
        let before = earlier.chain(std::iter::once(asked)).collect();
        Self::Turn { shared, before, turn: number_of_output(attempt) }
    }

    /// Whether its blocks are looked for after the request has ended.
    pub(super) const fn outlives_request(&self) -> bool {
        matches!(self, Self::Turn { .. })
    }
}

/// All attempts at a request have the same prompt, and each its own output.
const fn number_of_prompt(request: u64) -> u64 {
    2 * request
}

const fn number_of_output(attempt: u64) -> u64 {
    2 * attempt + 1
}

/// What an attempt asks, where others may ask it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Prompt {
    /// What it finds in its conversation, where it is a turn of a session.
    pub(in crate::engine) before: Option<Before>,
    /// The user's request.
    pub(in crate::engine) request: u64,
    /// Tokens of the whole prompt.
    pub(in crate::engine) tokens: u64,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Answered {
    pub(in crate::engine) request: u64,
    /// The attempt that got the answer.
    pub(in crate::engine) attempt: u64,
    /// Tokens of its whole prompt.
    pub(in crate::engine) input_tokens: u64,
}

impl Answered {
    /// What the prompt and the answer, of which so many tokens are computed in all, leave to the next
    /// turn.
    pub(in crate::engine) const fn said(&self, up_to_tokens: u64) -> [Said; 2] {
        let asked = Said { turn: number_of_prompt(self.request), up_to_tokens: self.input_tokens };
        [asked, Said { turn: number_of_output(self.attempt), up_to_tokens }]
    }
}

/// What a turn finds in its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Before {
    /// Tokens at its beginning that it shares with other sessions.
    pub(in crate::engine) pinned_tokens: u64,
    /// What earlier turns have added, prompts and answers.
    pub(in crate::engine) turns: Arc<[Said]>,
}

/// A request's claim on the scheduler and on the prefix cache.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Standing {
    /// Lower values go first under [`super::Policy::Priority`].
    pub priority: i64,
    /// What its prompt shares with others.
    pub content: Content,
}

static PLAIN: Standing = Standing { priority: 0, content: Content::Unique };

/// The standing of every request of a workload. A request beyond the end of a list has priority 0
/// and shares nothing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Standings {
    /// All alike, and nothing shared.
    #[default]
    Same,
    /// By class of the workload's mix.
    OfClass(Arc<[Standing]>),
    /// By position in the order of arrival.
    OfRequest(Arc<[Standing]>),
}

impl Standings {
    /// The standing of one request.
    #[must_use]
    pub fn of(&self, request: &Request) -> &Standing {
        let found = match self {
            Self::Same => None,
            Self::OfClass(list) => list.get(request.class as usize),
            Self::OfRequest(list) => list.get(request.index as usize),
        };
        found.unwrap_or(&PLAIN)
    }
}

/// What identifies the content of a full block: the tokens in it and all tokens before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockKey {
    /// The block at a position of a prefix that many requests share.
    Shared { group: u64, position: u64 },
    /// A block whose content the caller has named.
    Named(u64),
    /// The block at a position of a prompt, within a recorded block of that number.
    Recorded { block: u64, position: u64 },
    /// The block at a position of a conversation, which a prompt or an output filled.
    Turn { turn: u64, position: u64 },
    /// The block at a position of one request's own tokens.
    Own { request: u64, position: u64 },
}

/// The keys of one request's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys<'a> {
    /// The request's number, its own among all.
    pub(super) request: u64,
    pub(super) content: &'a Content,
    pub(super) prompt_tokens: u64,
    pub(super) block_size: u64,
}

impl Keys<'_> {
    /// Full blocks of the prompt, from its first, that others may hold, too.
    pub(super) fn shareable(&self) -> u64 {
        let most = self.prompt_tokens / self.block_size;
        match self.content {
            Content::Unique => 0,
            Content::Turn { .. } => most,
            Content::SharedPrefix { tokens, .. } => most.min(tokens / self.block_size),
            Content::Blocks(names) => most.min(names.len() as u64),
            Content::Recorded { tokens_per_block, blocks } => {
                let tokens = (blocks.len() as u64).saturating_mul(*tokens_per_block);
                most.min(tokens / self.block_size)
            }
        }
    }

    /// What the full block at `position` holds.
    pub(super) fn at(&self, position: u64) -> BlockKey {
        if let Content::Turn { shared, before, turn } = self.content {
            let end_tokens = (position + 1) * self.block_size;
            return match *shared {
                Some((group, tokens)) if end_tokens <= tokens => {
                    BlockKey::Shared { group, position }
                }
                _ => {
                    let later = before.partition_point(|said| said.up_to_tokens < end_tokens);
                    let turn = before.get(later).map_or(*turn, |said| said.turn);
                    BlockKey::Turn { turn, position }
                }
            };
        }
        if position < self.shareable() {
            match self.content {
                Content::SharedPrefix { group, .. } => {
                    return BlockKey::Shared { group: *group, position };
                }
                Content::Blocks(names) => {
                    if let Some(name) = names.get(position as usize) {
                        return BlockKey::Named(*name);
                    }
                }
                Content::Recorded { tokens_per_block, blocks } => {
                    // The number that the block's last token falls under stands for all before it.
                    let last_token = (position + 1) * self.block_size - 1;
                    let number = last_token.checked_div(*tokens_per_block);
                    if let Some(&block) = number.and_then(|number| blocks.get(number as usize)) {
                        return BlockKey::Recorded { block, position };
                    }
                }
                Content::Unique | Content::Turn { .. } => {}
            }
        }
        BlockKey::Own { request: self.request, position }
    }
}
