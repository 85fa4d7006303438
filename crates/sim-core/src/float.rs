//! Comparisons of floats that give the same bits everywhere.

/// The lesser of two numbers; `a` when they are equal or when either is NaN.
#[must_use]
#[inline]
pub fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The greater of two numbers; `a` when they are equal or when either is NaN.
#[must_use]
#[inline]
pub fn greater(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// A count as a float, for counts below 2⁶³: one instruction, where the conversion from an unsigned
/// integer takes a dozen. Counts of tokens, steps and requests stay far below.
#[must_use]
pub const fn from_count(count: u64) -> f64 {
    count.cast_signed() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_keep_the_sign_of_the_first() {
        assert!(lesser(-0.0, 0.0).is_sign_negative());
        assert!(greater(-0.0, 0.0).is_sign_negative());
        assert_eq!(lesser(2.0, 1.0), 1.0);
        assert_eq!(greater(2.0, 3.0), 3.0);
    }
}
