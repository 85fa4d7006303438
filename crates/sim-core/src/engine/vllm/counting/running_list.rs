//! Running requests, in the order of admission.

const NONE: u32 = u32::MAX;

/// A doubly linked list of journeys: any of them leaves in O(1), the last is the next victim.
#[derive(Clone, Debug)]
pub(super) struct RunningList {
    next: Vec<u32>,
    previous: Vec<u32>,
    first: u32,
    last: u32,
    len: u64,
}

impl RunningList {
    pub(super) const fn new() -> Self {
        Self { next: Vec::new(), previous: Vec::new(), first: NONE, last: NONE, len: 0 }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn push(&mut self, id: u32) {
        let index = id as usize;
        if self.next.len() <= index {
            self.next.resize(index + 1, NONE);
            self.previous.resize(index + 1, NONE);
        }
        self.next[index] = NONE;
        self.previous[index] = self.last;
        if self.last == NONE {
            self.first = id;
        } else {
            self.next[self.last as usize] = id;
        }
        self.last = id;
        self.len += 1;
    }

    pub(super) fn remove(&mut self, id: u32) {
        let (before, after) = (self.previous[id as usize], self.next[id as usize]);
        if before == NONE {
            self.first = after;
        } else {
            self.next[before as usize] = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            self.previous[after as usize] = before;
        }
        self.len -= 1;
    }

    pub(super) const fn first(&self) -> Option<u32> {
        some(self.first)
    }

    pub(super) const fn last(&self) -> Option<u32> {
        some(self.last)
    }

    /// Who was admitted next after `id`, which is in the list.
    pub(super) fn after(&self, id: u32) -> Option<u32> {
        some(self.next[id as usize])
    }
}

const fn some(id: u32) -> Option<u32> {
    if id == NONE { None } else { Some(id) }
}
