//! How many decoding requests need a block in a step.

use super::block_math::BlockMath;

/// Decoding requests counted by the step, modulo the block size, in which their next token begins
/// a new block. While they only decode, that never changes.
#[derive(Clone, Debug)]
pub(super) struct Residues {
    blocks: BlockMath,
    counts: Vec<u64>,
    total: u64,
}

impl Residues {
    pub(super) fn new(block_size: u64) -> Self {
        Self { blocks: BlockMath::new(block_size), counts: vec![0; block_size as usize], total: 0 }
    }

    /// Index of a step.
    #[inline]
    const fn phase(&self, step: u64) -> usize {
        self.blocks.rest(step) as usize
    }

    /// Index of the steps in which a request crosses that has `computed` tokens before `step`.
    #[inline]
    const fn residue(&self, computed: u64, step: u64) -> usize {
        self.phase(step + self.blocks.size() - self.blocks.rest(computed))
    }

    #[inline]
    pub(super) fn insert(&mut self, computed: u64, step: u64) {
        let residue = self.residue(computed, step);
        self.counts[residue] += 1;
        self.total += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, computed: u64, step: u64) {
        let residue = self.residue(computed, step);
        self.counts[residue] -= 1;
        self.total -= 1;
    }

    /// Blocks that `step` takes.
    #[inline]
    pub(super) fn need(&self, step: u64) -> u64 {
        self.counts[self.phase(step)]
    }

    /// Blocks that `steps` steps take from `step` on.
    #[inline]
    pub(super) fn need_of(&self, step: u64, steps: u64) -> u64 {
        let (first, rest) = (self.phase(step), self.blocks.rest(steps) as usize);
        let end = first + rest;
        let size = self.counts.len();
        let rest: u64 = if end <= size {
            self.counts[first..end].iter().sum()
        } else {
            self.total - self.counts[end - size..first].iter().sum::<u64>()
        };
        self.blocks.whole(steps) * self.total + rest
    }

    /// How many steps from `step` on take no more than `free` blocks together; `most` at most.
    #[inline]
    pub(super) fn steps_within(&self, step: u64, free: u64, most: u64) -> u64 {
        // Nearly always there is more than enough.
        if (self.blocks.whole(most) + 1).saturating_mul(self.total) <= free {
            return most;
        }
        self.steps_until_short(step, free, most)
    }

    #[cold]
    fn steps_until_short(&self, step: u64, free: u64, most: u64) -> u64 {
        let Some(cycles) = free.checked_div(self.total) else { return most };
        let mut left = free - cycles * self.total;
        let mut steps = cycles.saturating_mul(self.blocks.size());
        while steps < most {
            let need = self.need(step + steps);
            if need > left {
                return steps;
            }
            left -= need;
            steps += 1;
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against counting request by request and step by step.
        #[test]
        fn agrees_with_counting(
            block_size in 1_u64..20,
            computed in prop::collection::vec(0_u64..100, 0..12),
            start in 0_u64..50,
            free in 0_u64..60,
            most in 0_u64..200,
        ) {
            let mut residues = Residues::new(block_size);
            for &tokens in &computed {
                residues.insert(tokens, start);
            }
            let need = |ahead: u64| {
                computed.iter().filter(|&&tokens| (tokens + ahead).is_multiple_of(block_size)).count() as u64
            };
            let mut taken = 0;
            let mut steps = 0;
            while steps < most && taken + need(steps) <= free {
                prop_assert_eq!(residues.need(start + steps), need(steps));
                taken += need(steps);
                steps += 1;
            }
            prop_assert_eq!(residues.steps_within(start, free, most), steps);
            prop_assert_eq!(residues.need_of(start, steps), taken);
        }
    }
}
