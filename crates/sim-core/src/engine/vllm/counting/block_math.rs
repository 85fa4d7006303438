//! Division by the block size, which is a power of two nearly always.

/// Divides by a block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockMath {
    size: u64,
    /// Its logarithm to base 2, where that is whole.
    shift: Option<u32>,
}

impl BlockMath {
    pub(super) const fn new(size: u64) -> Self {
        Self {
            size,
            shift: if size.is_power_of_two() { Some(size.trailing_zeros()) } else { None },
        }
    }

    #[inline]
    pub(super) const fn size(self) -> u64 {
        self.size
    }

    /// Full blocks in `tokens`.
    #[inline]
    pub(super) const fn whole(self, tokens: u64) -> u64 {
        match self.shift {
            Some(shift) => tokens >> shift,
            None => tokens / self.size,
        }
    }

    /// Tokens beyond them.
    #[inline]
    pub(super) const fn rest(self, tokens: u64) -> u64 {
        match self.shift {
            Some(_) => tokens & (self.size - 1),
            None => tokens % self.size,
        }
    }

    /// Blocks that hold `tokens`.
    #[inline]
    pub(super) const fn holding(self, tokens: u64) -> u64 {
        self.whole(tokens + (self.size - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::BlockMath;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_division(size in 1_u64..70, tokens in 0_u64..10_000) {
            let blocks = BlockMath::new(size);
            prop_assert_eq!(blocks.whole(tokens), tokens / size);
            prop_assert_eq!(blocks.rest(tokens), tokens % size);
            prop_assert_eq!(blocks.holding(tokens), tokens.div_ceil(size));
        }
    }
}
