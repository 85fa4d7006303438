//! Blocks of KV cache, counted; with a prefix cache, also what can be found in them.

use crate::engine::vllm::{content::Keys, spec::VllmSpec};

use super::block_cache::BlockCache;

/// The blocks of the pool that nobody holds.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    free: u64,
    cache: Option<Box<BlockCache>>,
}

/// What a request that leaves held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Blocks in all.
    pub(super) blocks: u64,
    /// How many of them, from the first, were full of tokens that are known.
    pub(super) hashed: u64,
}

impl Memory {
    pub(super) fn new(spec: &VllmSpec) -> Self {
        let cache = spec.prefix_caching.then(|| Box::new(BlockCache::new(spec)));
        Self { free: spec.usable_blocks(), cache }
    }

    pub(super) const fn free(&self) -> u64 {
        self.free
    }

    pub(super) const fn caches(&self) -> bool {
        self.cache.is_some()
    }

    /// Take `blocks` of the free blocks; there must be as many.
    #[inline]
    pub(super) fn take(&mut self, blocks: u64) {
        self.free -= blocks;
        if let Some(cache) = &mut self.cache {
            cache.take(blocks);
        }
    }

    /// Append the blocks that hold the beginning of a request that knows `known_tokens`. At least
    /// one token is left to compute, since a step on no token samples none.
    pub(super) fn find(&self, keys: &Keys<'_>, known_tokens: u64, found: &mut Vec<u32>) {
        if let Some(cache) = &self.cache {
            cache.find(keys, (known_tokens - 1) / keys.block_size, found);
        }
    }

    /// How many of these blocks count as free until somebody holds them.
    pub(super) fn free_among(&self, found: &[u32]) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.free_among(found))
    }

    /// Hold blocks that were found; `free` of them were free.
    pub(super) fn hold(&mut self, found: &[u32], free: u64) {
        self.free -= free;
        if let Some(cache) = &mut self.cache {
            cache.hold(found);
        }
    }

    /// Follow the blocks among a request's first `computed_tokens` that others may find, beyond
    /// those that are followed already.
    pub(super) fn publish(&mut self, keys: &Keys<'_>, computed_tokens: u64, table: &mut Vec<u32>) {
        if let Some(cache) = &mut self.cache {
            let full = keys.shareable().min(computed_tokens / keys.block_size);
            table.extend((table.len() as u64..full).map(|at| cache.publish(keys.at(at))));
        }
    }

    /// Take back all blocks of a request that has ended.
    #[inline]
    pub(super) fn release(&mut self, held: Held, table: &mut Vec<u32>) {
        if self.cache.is_none() {
            self.free += held.blocks;
        } else {
            self.release_followed(held, table);
        }
    }

    #[inline(never)]
    fn release_followed(&mut self, held: Held, table: &mut Vec<u32>) {
        let freed = self.let_go(held, None, table);
        self.put(freed);
    }

    /// A request lets go of its blocks. With `keys` it may come back and look for them. Those that
    /// nobody else holds have to be [`put`](Self::put) among the free ones.
    pub(super) fn let_go(
        &mut self,
        held: Held,
        keys: Option<&Keys<'_>>,
        table: &mut Vec<u32>,
    ) -> Freed {
        let Some(cache) = &mut self.cache else {
            return Freed { unhashed: held.blocks, ..Freed::default() };
        };
        if let Some(keys) = keys {
            table.extend((table.len() as u64..held.hashed).map(|at| cache.publish(keys.at(at))));
        }
        let lost = held.hashed - table.len() as u64;
        // From the last block to the first, so that the end of a prefix is reused before its
        // beginning.
        let followed = table.drain(..).rev().filter(|&block| cache.let_go(block)).collect();
        Freed { unhashed: held.blocks - held.hashed, lost, followed }
    }

    /// Blocks become free.
    pub(super) fn put(&mut self, freed: Freed) {
        self.free += freed.len();
        if let Some(cache) = &mut self.cache {
            cache.put_unhashed(freed.unhashed);
            cache.put_lost(freed.lost);
            for block in freed.followed {
                cache.put(block);
            }
        }
    }
}

/// Blocks that nobody holds any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Freed {
    /// Not full of known tokens.
    unhashed: u64,
    /// Full of tokens that nobody will ask for.
    lost: u64,
    /// Followed ones, in the order in which they are reused.
    followed: Vec<u32>,
}

impl Freed {
    pub(super) fn len(&self) -> u64 {
        self.unhashed + self.lost + self.followed.len() as u64
    }
}
