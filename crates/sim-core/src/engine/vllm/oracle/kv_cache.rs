//! Which blocks each request holds.

use crate::engine::vllm::VllmSpec;

use super::{block_pool::BlockPool, request::Tracked};

/// The blocks of one request, in the order of its tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockTable {
    blocks: Vec<u32>,
    /// How many of them, from the first, can be found by their content.
    published: usize,
}

/// What an admission asks for beyond the blocks themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    /// Tokens that must fit as a whole, though only a part is allocated now.
    pub(super) whole_tokens: Option<u64>,
    /// Whether the watermark must stay free.
    pub(super) keeps_watermark: bool,
}

impl Gate {
    /// A running request takes what it needs.
    pub(super) const OPEN: Self = Self { whole_tokens: None, keeps_watermark: false };
}

/// The KV cache as the scheduler sees it.
#[derive(Clone, Debug)]
pub(super) struct KvCache {
    pool: BlockPool,
    block_size: u64,
    watermark_blocks: u64,
    caching: bool,
}

impl KvCache {
    pub(super) fn new(spec: &VllmSpec) -> Self {
        Self {
            pool: BlockPool::new(spec),
            block_size: spec.block_size,
            watermark_blocks: spec.watermark_blocks(),
            caching: spec.prefix_caching,
        }
    }

    pub(super) const fn free_blocks(&self) -> u64 {
        self.pool.free_blocks()
    }

    /// The blocks that already hold the beginning of a request. At least one token is left to
    /// compute, since a step on no token samples none.
    pub(super) fn find(&self, request: &Tracked) -> Vec<u32> {
        if !self.caching {
            return Vec::new();
        }
        let most = (request.known_tokens() - 1) / self.block_size;
        (0..most)
            .map_while(|position| self.pool.find(&request.key(position, self.block_size)))
            .collect()
    }

    /// Tokens in `blocks` full blocks.
    pub(super) const fn tokens_in(&self, blocks: usize) -> u64 {
        blocks as u64 * self.block_size
    }

    /// Whether there are blocks for a request's first `tokens` tokens; `found` are those that hold its
    /// beginning and that it does not hold yet.
    pub(super) fn has_room(
        &self,
        request: &Tracked,
        tokens: u64,
        found: &[u32],
        gate: Gate,
    ) -> bool {
        // A found block that nobody holds is free until now, so it counts as taken.
        let revived = found.iter().filter(|&&block| self.pool.is_free(block)).count() as u64;
        let watermark = if gate.keeps_watermark { self.watermark_blocks } else { 0 };
        let fits = |tokens| {
            self.lacks(request, tokens, found) + revived + watermark <= self.pool.free_blocks()
        };
        gate.whole_tokens.is_none_or(fits) && fits(tokens)
    }

    /// Blocks that a request needs for `tokens` tokens beside those it holds and those `found`.
    fn lacks(&self, request: &Tracked, tokens: u64, found: &[u32]) -> u64 {
        let held = (request.table.blocks.len() + found.len()) as u64;
        tokens.div_ceil(self.block_size).saturating_sub(held)
    }

    /// Give `request` blocks for its first `tokens` tokens, beginning with those `found`. Nothing
    /// changes when the blocks do not suffice.
    pub(super) fn allocate(
        &mut self,
        request: &mut Tracked,
        tokens: u64,
        found: &[u32],
        gate: Gate,
    ) -> bool {
        if !self.has_room(request, tokens, found, gate) {
            return false;
        }
        let new_blocks = self.lacks(request, tokens, found);
        let table = &mut request.table;
        for &block in found {
            self.pool.share(block);
            table.blocks.push(block);
        }
        table.published += found.len();
        table.blocks.extend((0..new_blocks).map_while(|_| self.pool.take()));
        true
    }

    /// Let others find the full blocks among a request's first `tokens` tokens.
    pub(super) fn publish(&mut self, request: &mut Tracked, tokens: u64) {
        if !self.caching {
            return;
        }
        let full = (tokens.min(request.known_tokens()) / self.block_size) as usize;
        for position in request.table.published..full {
            let key = request.key(position as u64, self.block_size);
            self.pool.publish(request.table.blocks[position], key);
        }
        request.table.published = request.table.published.max(full);
    }

    /// The blocks that a request holds.
    pub(super) fn blocks_of(request: &Tracked) -> &[u32] {
        &request.table.blocks
    }

    /// Take all blocks back from a request.
    pub(super) fn release(&mut self, request: &mut Tracked) {
        let table = std::mem::take(&mut request.table);
        self.pool.release(table.blocks.into_iter().rev());
    }
}
