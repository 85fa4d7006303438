//! Which free blocks still hold something that can be found, and which are reused first.
//!
//! The free list is kept as runs. A block is followed one by one only while somebody could find it:
//! shared beginnings of prompts, and what a preempted request left behind. All others, free or
//! held, are just counted, so that finishing and decoding cost the same as without a cache.

use crate::{
    engine::vllm::{
        content::{BlockKey, Keys},
        spec::VllmSpec,
    },
    random::split_mix,
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
    /// Neighbours in the free list.
    previous: u32,
    next: u32,
    /// The next followed block in the same bucket, published later.
    later: u32,
}

impl Node {
    const fn new(content: Content, holders: u32) -> Self {
        Self { content, holders, previous: END, next: END, later: END }
    }
}

/// Both ends of the free list, and the end of every bucket.
const END: u32 = 0;

/// Most buckets; a bucket holds a few blocks where there are more.
const MOST_BUCKETS: u64 = 1 << 16;

/// The followed blocks, and the order in which free blocks are reused.
#[derive(Clone, Debug)]
pub(super) struct BlockCache {
    nodes: Vec<Node>,
    vacant: Vec<u32>,
    /// Followed blocks by a hash of their content. Of blocks with the same content, which two
    /// requests may compute before either could find it with the other, the oldest is found.
    buckets: Vec<u32>,
    reuses_unhashed_first: bool,
}

impl BlockCache {
    /// Every usable block is free and empty.
    pub(super) fn new(spec: &VllmSpec) -> Self {
        let buckets = spec.usable_blocks().next_power_of_two().min(MOST_BUCKETS);
        let mut cache = Self {
            nodes: vec![Node::new(Content::Lost(0), 0)],
            vacant: Vec::new(),
            buckets: vec![END; buckets as usize],
            reuses_unhashed_first: spec.version.reuses_unhashed_first(),
        };
        cache.put_lost(spec.usable_blocks());
        cache
    }

    /// Reuse `blocks` free blocks, whatever they held.
    #[inline(never)]
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
                    self.forget(&key, first);
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
        let mut block = self.buckets[self.bucket(key)];
        while block != END {
            let node = &self.nodes[block as usize];
            if matches!(&node.content, Content::Found(held) if held == key) {
                return Some(block);
            }
            block = node.later;
        }
        None
    }

    fn bucket(&self, key: &BlockKey) -> usize {
        let hash = match *key {
            BlockKey::Shared { group, position } => split_mix(group ^ split_mix(position)),
            BlockKey::Named(name) => split_mix(name),
            BlockKey::Recorded { block, position } => split_mix(block ^ split_mix(!position)),
            BlockKey::Turn { turn, position } => {
                split_mix(split_mix(turn) ^ position.rotate_left(40))
            }
            BlockKey::Own { request, position } => split_mix(request ^ position.rotate_left(40)),
        };
        (hash & (self.buckets.len() as u64 - 1)) as usize
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
        let block = self.insert(Node::new(Content::Found(key), 1));
        let bucket = self.bucket(&key);
        match self.last_before(bucket, END) {
            END => self.buckets[bucket] = block,
            last => self.nodes[last as usize].later = block,
        }
        block
    }

    /// The block that stands before `block` in a bucket; `END` if it is the first.
    fn last_before(&self, bucket: usize, block: u32) -> u32 {
        let (mut last, mut next) = (END, self.buckets[bucket]);
        while next != block {
            last = next;
            next = self.nodes[next as usize].later;
        }
        last
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

    fn forget(&mut self, key: &BlockKey, block: u32) {
        let bucket = self.bucket(key);
        let later = self.nodes[block as usize].later;
        match self.last_before(bucket, block) {
            END => self.buckets[bucket] = later,
            last => self.nodes[last as usize].later = later,
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
        let node = self.insert(Node::new(Content::Lost(blocks), 0));
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
