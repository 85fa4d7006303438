//! Running requests by slot, in the order of admission.

const NONE: u32 = u32::MAX;

/// A doubly linked list of slots: any of them leaves in O(1), the last is the next victim.
#[derive(Clone, Debug)]
pub(super) struct RunningList {
    next: Vec<u32>,
    previous: Vec<u32>,
    last: u32,
}

impl RunningList {
    pub(super) const fn new() -> Self {
        Self { next: Vec::new(), previous: Vec::new(), last: NONE }
    }

    pub(super) fn push(&mut self, slot: u32) {
        let index = slot as usize;
        if self.next.len() <= index {
            self.next.resize(index + 1, NONE);
            self.previous.resize(index + 1, NONE);
        }
        self.next[index] = NONE;
        self.previous[index] = self.last;
        if self.last != NONE {
            self.next[self.last as usize] = slot;
        }
        self.last = slot;
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let (before, after) = (self.previous[slot as usize], self.next[slot as usize]);
        if before != NONE {
            self.next[before as usize] = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            self.previous[after as usize] = before;
        }
    }

    pub(super) const fn last(&self) -> Option<u32> {
        if self.last == NONE { None } else { Some(self.last) }
    }
}
