//! How many decoding requests need a block in a step.

/// Decoding requests counted by the step, modulo the block size, in which their next token begins
/// a new block. While they only decode, that never changes.
#[derive(Clone, Debug)]
pub(super) struct Residues {
    counts: Vec<u64>,
    total: u64,
}

impl Residues {
    pub(super) fn new(block_size: u64) -> Self {
        Self { counts: vec![0; block_size as usize], total: 0 }
    }

    /// Index of the steps in which a request crosses that has `computed` tokens before `step`.
    fn residue(&self, computed: u64, step: u64) -> usize {
        let size = self.counts.len() as u64;
        ((step + size - computed % size) % size) as usize
    }

    pub(super) fn insert(&mut self, computed: u64, step: u64) {
        let residue = self.residue(computed, step);
        self.counts[residue] += 1;
        self.total += 1;
    }

    pub(super) fn remove(&mut self, computed: u64, step: u64) {
        let residue = self.residue(computed, step);
        self.counts[residue] -= 1;
        self.total -= 1;
    }

    /// Blocks that `step` takes.
    pub(super) fn need(&self, step: u64) -> u64 {
        self.counts[(step % self.counts.len() as u64) as usize]
    }

    /// Blocks that `steps` steps take from `step` on.
    pub(super) fn need_of(&self, step: u64, steps: u64) -> u64 {
        let size = self.counts.len() as u64;
        let rest: u64 = (0..steps % size).map(|ahead| self.need(step + ahead)).sum();
        steps / size * self.total + rest
    }

    /// How many steps from `step` on take no more than `free` blocks together; `most` at most.
    pub(super) fn steps_within(&self, step: u64, free: u64, most: u64) -> u64 {
        let size = self.counts.len() as u64;
        let Some(cycles) = free.checked_div(self.total) else { return most };
        let mut left = free - cycles * self.total;
        let mut steps = cycles.saturating_mul(size);
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
