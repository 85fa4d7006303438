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
    /// It is a turn of a session: it begins with what earlier turns left behind, and the next turn
    /// will begin with all of it, prompt and output.
    Turn {
        /// How the conversation begins, which other sessions share, and how much of it, in tokens.
        shared: Option<(u64, u64)>,
        /// What earlier turns have added, in order.
        before: Arc<[Said]>,
        /// Its number, its own among all turns.
        turn: u64,
    },
}

/// How far a turn has brought its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Number of the turn.
    pub turn: u64,
    /// The whole conversation up to its last token that is in the cache, in tokens.
    pub up_to_tokens: u64,
}

impl Content {
    /// The content of a turn of a session, given that of its class.
    pub(in crate::engine) fn of_turn(&self, before: &Before, turn: u64) -> Self {
        let shared = match self {
            Self::SharedPrefix { group, .. } => Some((*group, before.pinned_tokens)),
            _ => None,
        };
        Self::Turn { shared, before: Arc::clone(&before.turns), turn }
    }

    /// Whether its blocks are looked for after the request has ended.
    pub(super) const fn outlives_request(&self) -> bool {
        matches!(self, Self::Turn { .. })
    }
}

/// What a turn finds in its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Before {
    /// Tokens at its beginning that it shares with other sessions.
    pub(in crate::engine) pinned_tokens: u64,
    /// What earlier turns have added.
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
    /// The block at a position of a conversation, which a turn filled.
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
                Content::Unique | Content::Turn { .. } => {}
            }
        }
        BlockKey::Own { request: self.request, position }
    }
}
