//! Free blocks in the order in which they will be reused.

/// A doubly linked ring over block numbers. Block 0, the null block, is never free; its links are
/// the two ends of the list.
#[derive(Clone, Debug)]
pub(super) struct FreeList {
    next: Vec<u32>,
    previous: Vec<u32>,
    len: u64,
}

const END: u32 = 0;

impl FreeList {
    /// Blocks 1 to `blocks - 1`, in order.
    pub(super) fn new(blocks: u32) -> Self {
        let mut list =
            Self { next: vec![END; blocks as usize], previous: vec![END; blocks as usize], len: 0 };
        for block in 1..blocks {
            list.push_back(block);
        }
        list
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn pop_front(&mut self) -> Option<u32> {
        let first = self.next[END as usize];
        if first == END {
            return None;
        }
        self.remove(first);
        Some(first)
    }

    pub(super) fn push_back(&mut self, block: u32) {
        self.insert_before(block, END);
    }

    /// Put `blocks` at the front, the first of them first.
    pub(super) fn prepend(&mut self, blocks: &[u32]) {
        let old_first = self.next[END as usize];
        for &block in blocks {
            self.insert_before(block, old_first);
        }
    }

    fn insert_before(&mut self, block: u32, after: u32) {
        let before = self.previous[after as usize];
        self.next[before as usize] = block;
        self.previous[block as usize] = before;
        self.next[block as usize] = after;
        self.previous[after as usize] = block;
        self.len += 1;
    }

    /// Take a block that is in the list out of it, wherever it stands.
    pub(super) fn remove(&mut self, block: u32) {
        let (before, after) = (self.previous[block as usize], self.next[block as usize]);
        self.next[before as usize] = after;
        self.previous[after as usize] = before;
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(mut list: FreeList) -> Vec<u32> {
        std::iter::from_fn(|| list.pop_front()).collect()
    }

    #[test]
    fn keeps_its_order_through_every_operation() {
        let mut list = FreeList::new(6);
        assert_eq!(list.len(), 5);
        assert_eq!(list.pop_front(), Some(1));
        list.remove(4);
        list.prepend(&[4, 1]);
        list.remove(3);
        list.push_back(3);
        assert_eq!(list.len(), 5);
        assert_eq!(drain(list), [4, 1, 2, 5, 3]);
    }

    #[test]
    fn prepending_to_an_empty_list_fills_it() {
        let mut list = FreeList::new(1);
        assert_eq!(list.pop_front(), None);
        list = FreeList::new(3);
        while list.pop_front().is_some() {}
        list.prepend(&[2, 1]);
        assert_eq!(drain(list), [2, 1]);
    }
}
