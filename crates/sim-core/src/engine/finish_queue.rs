//! Which requests finish in which step.
//!
//! A ring of lists indexed by step number, with a two-level bitmap to find the next occupied one:
//! insertion and removal cost O(1). Requests that finish further ahead than the ring reaches wait
//! in a heap.

use std::{cmp::Reverse, collections::BinaryHeap};

const RING: u64 = 4096;
const WORDS: usize = (RING / 64) as usize;
const NONE: u32 = u32::MAX;

/// A priority queue of (finishing step, slot).
#[derive(Clone, Debug)]
pub(super) struct FinishQueue {
    /// First slot of the list of each step modulo `RING`.
    heads: Vec<u32>,
    /// The next slot in the same list, by slot.
    links: Vec<u32>,
    /// One bit per list that is not empty.
    occupied: [u64; WORDS],
    /// One bit per word of `occupied` that is not zero.
    summary: u64,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// The first step in which a request finishes; `u64::MAX` when there is none.
    next: u64,
}

impl FinishQueue {
    pub(super) fn new() -> Self {
        Self {
            heads: vec![NONE; RING as usize],
            links: Vec::new(),
            occupied: [0; WORDS],
            summary: 0,
            far: BinaryHeap::new(),
            next: u64::MAX,
        }
    }

    /// Let `slot` finish in `step`, which is after `now`.
    #[inline]
    pub(super) fn insert(&mut self, step: u64, slot: u32, now: u64) {
        self.next = self.next.min(step);
        if step - now >= RING {
            return self.insert_far(step, slot);
        }
        if self.links.len() <= slot as usize {
            self.make_room_for(slot);
        }
        let position = (step % RING) as usize;
        self.links[slot as usize] = self.heads[position];
        self.heads[position] = slot;
        self.occupied[position / 64] |= 1 << (position % 64);
        self.summary |= 1 << (position / 64);
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&mut self, step: u64, slot: u32) {
        self.far.push(Reverse((step, slot)));
    }

    #[cold]
    #[inline(never)]
    fn make_room_for(&mut self, slot: u32) {
        self.links.resize(slot as usize + 1, NONE);
    }

    /// The next step in which a request finishes; all up to `now` must have been taken.
    #[inline]
    pub(super) fn next_step(&self, now: u64) -> Option<u64> {
        debug_assert!(self.next > now);
        (self.next != u64::MAX).then_some(self.next)
    }

    /// Find the next step in which a request finishes, once the ring has none of step `now`; the
    /// heap may have more of it.
    #[inline]
    fn find_next(&mut self, now: u64) {
        let far = self.far.peek().map_or(u64::MAX, |Reverse((step, _))| *step);
        self.next = self.next_in_ring(now).min(far);
    }

    #[inline]
    fn next_in_ring(&self, now: u64) -> u64 {
        if self.summary == 0 {
            return u64::MAX;
        }
        let start = ((now + 1) % RING) as usize;
        let (word, bit) = (start / 64, start % 64);
        let here = self.occupied[word] & (u64::MAX << bit);
        let position = if here != 0 {
            word * 64 + here.trailing_zeros() as usize
        } else {
            // Words after this one first, then from the front; this word again comes last.
            let after = if word == 63 { 0 } else { self.summary & (u64::MAX << (word + 1)) };
            let chosen = if after != 0 { after } else { self.summary }.trailing_zeros() as usize;
            chosen * 64 + self.occupied[chosen].trailing_zeros() as usize
        };
        now + 1 + (position as u64).wrapping_sub(start as u64) % RING
    }

    /// Whether `step` is the next in which a request finishes.
    #[inline]
    pub(super) const fn is_next(&self, step: u64) -> bool {
        self.next == step
    }

    /// Take one request that finishes in `step`, where that is the next in which one does.
    #[inline]
    pub(super) fn pop(&mut self, step: u64) -> Option<u32> {
        if step != self.next {
            return None;
        }
        let position = (step % RING) as usize;
        let slot = self.heads[position];
        if slot == NONE {
            return self.pop_far(step);
        }
        let link = self.links[slot as usize];
        self.heads[position] = link;
        if link == NONE {
            self.clear(position);
            self.find_next(step);
        }
        Some(slot)
    }

    /// Take one that waits in the heap; the ring has none of this step.
    #[cold]
    #[inline(never)]
    fn pop_far(&mut self, step: u64) -> Option<u32> {
        let Reverse((_, slot)) = self.far.pop()?;
        self.find_next(step);
        Some(slot)
    }

    #[inline]
    fn clear(&mut self, position: usize) {
        let word = &mut self.occupied[position / 64];
        // The list's own bit is set.
        *word ^= 1 << (position % 64);
        if *word == 0 {
            self.summary ^= 1 << (position / 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against an ordered map: the same next step and the same requests in it, always.
        #[test]
        fn agrees_with_an_ordered_map(
            moves in prop::collection::vec((1_u64..9000, 0_u64..3), 1..300),
        ) {
            let mut queue = FinishQueue::new();
            let mut model: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            let mut now = 0;
            for (slot, (ahead, pops)) in moves.into_iter().enumerate() {
                queue.insert(now + ahead, slot as u32, now);
                model.entry(now + ahead).or_default().push(slot as u32);
                for _ in 0..pops {
                    let expected = model.keys().next().copied();
                    prop_assert_eq!(queue.next_step(now), expected);
                    let Some(step) = expected else { break };
                    now = step;
                    let mut popped = Vec::new();
                    while let Some(slot) = queue.pop(step) {
                        popped.push(slot);
                    }
                    popped.sort_unstable();
                    prop_assert_eq!(Some(popped), model.remove(&step));
                }
            }
        }
    }
}
