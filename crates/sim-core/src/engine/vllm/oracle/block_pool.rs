//! The blocks of the KV cache: who holds them, what is in them, which is reused next.

use crate::engine::vllm::{VllmSpec, content::BlockKey};

use super::{free_list::FreeList, prefix_cache::PrefixCache};

/// All blocks. A block that nobody holds is free; a free block may still be found by its content,
/// until it is reused.
#[derive(Clone, Debug)]
pub(super) struct BlockPool {
    free: FreeList,
    /// How many requests hold each block.
    holders: Vec<u32>,
    /// What each block is known to hold.
    keys: Vec<Option<BlockKey>>,
    cache: PrefixCache,
    reuses_unhashed_first: bool,
}

impl BlockPool {
    /// Every block but the null block is free.
    pub(super) fn new(spec: &VllmSpec) -> Self {
        let blocks = spec.num_blocks as u32;
        Self {
            free: FreeList::new(blocks),
            holders: vec![0; blocks as usize],
            keys: vec![None; blocks as usize],
            cache: PrefixCache::default(),
            reuses_unhashed_first: spec.version.reuses_unhashed_first(),
        }
    }

    pub(super) const fn free_blocks(&self) -> u64 {
        self.free.len()
    }

    pub(super) fn is_free(&self, block: u32) -> bool {
        self.holders[block as usize] == 0
    }

    pub(super) fn find(&self, key: &BlockKey) -> Option<u32> {
        self.cache.find(key)
    }

    /// Reuse the next free block, whatever it held.
    pub(super) fn take(&mut self) -> Option<u32> {
        let block = self.free.pop_front()?;
        if let Some(key) = self.keys[block as usize].take() {
            self.cache.remove(&key, block);
        }
        self.holders[block as usize] = 1;
        Some(block)
    }

    /// Hold a block that was found by its content.
    pub(super) fn share(&mut self, block: u32) {
        if self.is_free(block) {
            self.free.remove(block);
        }
        self.holders[block as usize] += 1;
    }

    /// From now on `block` can be found as `key`.
    pub(super) fn publish(&mut self, block: u32, key: BlockKey) {
        self.keys[block as usize] = Some(key);
        self.cache.insert(key, block);
    }

    /// Let go of a request's blocks, given from its last to its first, so that the end of a prefix
    /// is reused before its beginning.
    pub(super) fn release(&mut self, last_to_first: impl Iterator<Item = u32>) {
        let mut reused_first = Vec::new();
        for block in last_to_first {
            self.holders[block as usize] -= 1;
            if self.holders[block as usize] > 0 {
                continue;
            }
            if self.keys[block as usize].is_none() && self.reuses_unhashed_first {
                reused_first.push(block);
            } else {
                self.free.push_back(block);
            }
        }
        self.free.prepend(&reused_first);
    }
}
