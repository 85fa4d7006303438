//! Which free blocks still hold something that can be found, and which are reused first.
//!
//! The free list is kept as runs. A block is followed one by one only while somebody could find it:
//! shared beginnings of prompts, and what a preempted request left behind. All others, free or
//! held, are just counted, so that finishing and decoding cost the same as without a cache.

use std::collections::BTreeMap;

use crate::engine::vllm::{
    content::{BlockKey, Keys},
    spec::VllmSpec,
};

/// A link of the free list, or a followed block that is held.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// So many free blocks that nobody can find.
    Lost(u64),
    /// One followed block, free or held.
    Found(BlockKey),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    content: Content,
    holders: u32,
    previous: u32,
    next: u32,
}

/// Both ends of the free list.
const END: u32 = 0;

/// Blocks with the same content, the oldest first: it is the one that is found.
type Copies = Vec<u32>;

/// The followed blocks, and the order in which free blocks are reused.
#[derive(Clone, Debug)]
pub(super) struct BlockCache {
    nodes: Vec<Node>,
    vacant: Vec<u32>,
    shared: BTreeMap<u64, Vec<Copies>>,
    others: BTreeMap<BlockKey, Copies>,
    reuses_unhashed_first: bool,
}

impl BlockCache {
    /// Every usable block is free and empty.
    pub(super) fn new(spec: &VllmSpec) -> Self {
        let end = Node { content: Content::Lost(0), holders: 0, previous: END, next: END };
        let mut cache = Self {
            nodes: vec![end],
            vacant: Vec::new(),
            shared: BTreeMap::new(),
            others: BTreeMap::new(),
            reuses_unhashed_first: spec.version.reuses_unhashed_first(),
        };
        cache.put_lost(spec.usable_blocks());
        cache
    }

    /// Reuse `blocks` free blocks, whatever they held.
    pub(super) fn take(&mut self, mut blocks: u64) {
        while blocks > 0 {
            let first = self.nodes[END as usize].next;
            if first == END {
                return;
            }
            match self.nodes[first as usize].content {
                Content::Lost(count) if count > blocks => {
                    self.nodes[first as usize].content = Content::Lost(count - blocks);
                    return;
                }
                Content::Lost(count) => blocks -= count,
                Content::Found(key) => {
                    blocks -= 1;
                    self.forget(key, first);
                }
            }
            self.unlink(first);
            self.vacant.push(first);
        }
    }

    /// The followed blocks that hold the first `most` blocks of a request, as far as there are any
    /// without a gap.
    pub(super) fn find(&self, keys: &Keys<'_>, most: u64, found: &mut Vec<u32>) {
        found.extend((0..most).map_while(|position| self.find_one(&keys.at(position))));
    }

    fn find_one(&self, key: &BlockKey) -> Option<u32> {
        let copies = match key {
            BlockKey::Shared { group, position } => {
                self.shared.get(group)?.get(*position as usize)?
            }
            other => self.others.get(other)?,
        };
        copies.first().copied()
    }

    /// How many of these blocks are free.
    pub(super) fn free_among(&self, found: &[u32]) -> u64 {
        found.iter().filter(|&&block| self.nodes[block as usize].holders == 0).count() as u64
    }

    /// Hold blocks that were found.
    pub(super) fn hold(&mut self, found: &[u32]) {
        for &block in found {
            if self.nodes[block as usize].holders == 0 {
                self.unlink(block);
            }
            self.nodes[block as usize].holders += 1;
        }
    }

    /// Follow a held block from now on.
    pub(super) fn publish(&mut self, key: BlockKey) -> u32 {
        let node = Node { content: Content::Found(key), holders: 1, previous: END, next: END };
        let block = self.insert(node);
        match key {
            BlockKey::Shared { group, position } => {
                let positions = self.shared.entry(group).or_default();
                if positions.len() <= position as usize {
                    positions.resize(position as usize + 1, Copies::new());
                }
                positions[position as usize].push(block);
            }
            other => self.others.entry(other).or_default().push(block),
        }
        block
    }

    /// Blocks that cannot be found become free before or after all others.
    pub(super) fn put_unhashed(&mut self, blocks: u64) {
        if !self.reuses_unhashed_first {
            self.put_lost(blocks);
        } else if blocks > 0 {
            let first = self.nodes[END as usize].next;
            if !self.extend_run(first, blocks) {
                self.link_before(blocks, first);
            }
        }
    }

    /// Blocks whose content nobody will ask for again become free, the last to be reused.
    pub(super) fn put_lost(&mut self, blocks: u64) {
        if blocks > 0 && !self.extend_run(self.nodes[END as usize].previous, blocks) {
            self.link_before(blocks, END);
        }
    }

    /// One holder lets go of a followed block; true if it was the last.
    pub(super) fn let_go(&mut self, block: u32) -> bool {
        let node = &mut self.nodes[block as usize];
        node.holders -= 1;
        node.holders == 0
    }

    /// A followed block that nobody holds becomes free, the last to be reused.
    pub(super) fn put(&mut self, block: u32) {
        self.link(block, END);
    }

    fn forget(&mut self, key: BlockKey, block: u32) {
        match key {
            BlockKey::Shared { group, position } => {
                if let Some(copies) =
                    self.shared.get_mut(&group).and_then(|list| list.get_mut(position as usize))
                {
                    copies.retain(|&copy| copy != block);
                }
            }
            other => {
                if let Some(copies) = self.others.get_mut(&other) {
                    copies.retain(|&copy| copy != block);
                    if copies.is_empty() {
                        self.others.remove(&other);
                    }
                }
            }
        }
    }

    fn extend_run(&mut self, node: u32, blocks: u64) -> bool {
        if node == END {
            return false;
        }
        if let Content::Lost(count) = &mut self.nodes[node as usize].content {
            *count += blocks;
            return true;
        }
        false
    }

    fn link_before(&mut self, blocks: u64, after: u32) {
        let content = Content::Lost(blocks);
        let node = self.insert(Node { content, holders: 0, previous: END, next: END });
        self.link(node, after);
    }

    fn insert(&mut self, node: Node) -> u32 {
        if let Some(index) = self.vacant.pop() {
            self.nodes[index as usize] = node;
            return index;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn link(&mut self, node: u32, after: u32) {
        let before = self.nodes[after as usize].previous;
        self.nodes[before as usize].next = node;
        self.nodes[node as usize].previous = before;
        self.nodes[node as usize].next = after;
        self.nodes[after as usize].previous = node;
    }

    fn unlink(&mut self, node: u32) {
        let Node { previous, next, .. } = self.nodes[node as usize];
        self.nodes[previous as usize].next = next;
        self.nodes[next as usize].previous = previous;
    }
}
