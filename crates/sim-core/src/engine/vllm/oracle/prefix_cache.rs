//! Which block holds which tokens.

use std::collections::BTreeMap;

use crate::engine::vllm::content::BlockKey;

/// From content to the blocks that hold it. The same content can be in several blocks, as two
/// requests may compute it before either could find it with the other; the oldest is found first.
#[derive(Clone, Debug, Default)]
pub(super) struct PrefixCache {
    blocks: BTreeMap<BlockKey, Vec<u32>>,
}

impl PrefixCache {
    pub(super) fn find(&self, key: &BlockKey) -> Option<u32> {
        self.blocks.get(key).and_then(|blocks| blocks.first().copied())
    }

    pub(super) fn insert(&mut self, key: BlockKey, block: u32) {
        self.blocks.entry(key).or_default().push(block);
    }

    pub(super) fn remove(&mut self, key: &BlockKey, block: u32) {
        if let Some(blocks) = self.blocks.get_mut(key) {
            blocks.retain(|&held| held != block);
            if blocks.is_empty() {
                self.blocks.remove(key);
            }
        }
    }
}
