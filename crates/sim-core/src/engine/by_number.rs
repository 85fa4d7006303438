//! What stands under a number, found by it and in no order.
//!
//! The search knows nothing of what is found: there is one copy of it for all types.

/// Values by their numbers.
#[derive(Clone, Debug)]
pub(super) struct ByNumber<T> {
    places: Places,
    values: Vec<Option<T>>,
}

impl<T> ByNumber<T> {
    pub(super) const fn new() -> Self {
        Self { places: Places::new(), values: Vec::new() }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.places.count == 0
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.values.get(self.places.of(number)?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.values.get_mut(self.places.of(number)?)?.as_mut()
    }

    /// Puts a value under a number, in the place of the one before.
    pub(super) fn insert(&mut self, number: u64, value: T) {
        let place = self.places.enter(number);
        if place == self.values.len() {
            self.values.push(None);
        }
        self.values[place] = Some(value);
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Some(place) = self.places.leave(number) {
            self.values[place] = None;
        }
    }
}

/// Places of numbers in a list. Numbers lie in slots, each at the slot that it hashes to or in the
/// next one that was free.
#[derive(Clone, Debug)]
struct Places {
    /// A number, and one more than its place; 0 where the slot is free. A power of two, of which at
    /// most half are taken; none while there is no number.
    slots: Vec<(u64, u32)>,
    count: usize,
    /// Places that were left.
    free: Vec<u32>,
}

impl Places {
    const fn new() -> Self {
        Self { slots: Vec::new(), count: 0, free: Vec::new() }
    }

    /// The slot at which the search for a number begins: the highest bits of a product with the
    /// golden section, which spreads numbers that follow each other.
    fn home(&self, number: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        spread.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
    }

    const fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The slot of a number, or the free one that it would get. There are slots.
    fn slot(&self, number: u64) -> usize {
        let mut slot = self.home(number);
        while self.slots[slot].1 != 0 && self.slots[slot].0 != number {
            slot = self.next(slot);
        }
        slot
    }

    #[inline(never)]
    fn of(&self, number: u64) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        (self.slots[self.slot(number)].1 as usize).checked_sub(1)
    }

    /// The place of a number, a new one where it has none: one that was left, or the next.
    #[inline(never)]
    fn enter(&mut self, number: u64) -> usize {
        if 2 * (self.count + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(number);
        if self.slots[slot].1 == 0 {
            // All places below the count are taken or have been left.
            let place = self.free.pop().unwrap_or(self.count as u32);
            self.slots[slot] = (number, place + 1);
            self.count += 1;
        }
        self.slots[slot].1 as usize - 1
    }

    fn grow(&mut self) {
        let slots = vec![(0, 0); (2 * self.slots.len()).max(8)];
        for taken in std::mem::replace(&mut self.slots, slots) {
            if taken.1 != 0 {
                let slot = self.slot(taken.0);
                self.slots[slot] = taken;
            }
        }
    }

    /// Forgets a number, and tells what place it had.
    #[inline(never)]
    fn leave(&mut self, number: u64) -> Option<usize> {
        let place = self.of(number)?;
        let mut gap = self.slot(number);
        let mut slot = self.next(gap);
        // Whoever would not be found behind the gap moves into it.
        while self.slots[slot].1 != 0 {
            let mask = self.slots.len() - 1;
            let from_home = slot.wrapping_sub(self.home(self.slots[slot].0)) & mask;
            if from_home >= slot.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[slot];
                gap = slot;
            }
            slot = self.next(slot);
        }
        self.slots[gap] = (0, 0);
        self.count -= 1;
        self.free.push(place as u32);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Insert,
        Remove,
        Change,
    }

    /// Numbers of few, of many, and such as begin their search at the same slots.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![0..12_u64, (0..12_u64).prop_map(|n| n << 60), any::<u64>()]
    }

    proptest! {
        #[test]
        fn it_holds_what_an_ordered_map_holds(
            acts in vec(
                (prop_oneof![Just(Act::Insert), Just(Act::Remove), Just(Act::Change)], number()),
                0..200,
            ),
        ) {
            let (mut map, mut model) = (ByNumber::new(), BTreeMap::new());
            for (step, &(act, number)) in acts.iter().enumerate() {
                match act {
                    Act::Insert => {
                        map.insert(number, step);
                        model.insert(number, step);
                    }
                    Act::Remove => {
                        map.remove(number);
                        model.remove(&number);
                    }
                    Act::Change => {
                        let value = map.get_mut(number).map(|value| std::mem::replace(value, step));
                        prop_assert_eq!(value, model.get_mut(&number).map(|v| std::mem::replace(v, step)));
                    }
                }
                prop_assert_eq!(map.is_empty(), model.is_empty());
                for (_, number) in &acts {
                    prop_assert_eq!(map.get(*number), model.get(number));
                }
            }
        }
    }
}
