//! A mergeable histogram of non-negative values with a bounded relative error.
//!
//! A bin is chosen from the exponent and the top eight mantissa bits of the value itself, so the
//! choice needs no arithmetic and is the same on every target. A bin spans at most 1/256 of its
//! value; reporting its middle errs by at most 1/512 (0.2 %).

use super::distribution::ValueRun;

const MANTISSA_BITS: u32 = 8;
const SHIFT: u32 = 52 - MANTISSA_BITS;
/// Values below 2⁻³⁰ s (a nanosecond) share bin 0.
const LOWEST_EXPONENT: u64 = 1023 - 30;
/// Values from 2³⁰ s (34 years) share the last bin.
const HIGHEST_EXPONENT: u64 = 1023 + 30;
const FIRST_KEY: u64 = LOWEST_EXPONENT << MANTISSA_BITS;
const BINS: usize = ((HIGHEST_EXPONENT - LOWEST_EXPONENT) << MANTISSA_BITS) as usize + 2;

/// Counts of values by logarithmic bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS] }
    }
}

/// The bin of a value: 0 for what is below a nanosecond, then increasing with the value.
#[inline]
fn bin_of(value: f64) -> usize {
    // As a signed integer, a negative value (which cannot occur) sorts below and counts as zero.
    let key = (value.to_bits().cast_signed() >> SHIFT) - FIRST_KEY.cast_signed() + 1;
    key.clamp(0, BINS as i64 - 1) as usize
}

/// The bin of a value within range; for one below, it is no bin at all.
#[inline]
fn key_of(value: f64) -> usize {
    ((value.to_bits() >> SHIFT) as usize).wrapping_sub(FIRST_KEY as usize - 1)
}

/// The smallest value of a bin.
fn lower_edge(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    f64::from_bits((FIRST_KEY + bin as u64 - 1) << SHIFT)
}

impl Histogram {
    /// Count `value` `weight` times.
    #[inline]
    pub fn record(&mut self, value: f64, weight: u64) {
        match self.counts.get_mut(key_of(value)) {
            Some(count) => *count += weight,
            None => self.record_at_the_ends(value, weight),
        }
    }

    /// Count a value below a nanosecond, such as no wait at all, or beyond the last bin.
    #[inline(never)]
    fn record_at_the_ends(&mut self, value: f64, weight: u64) {
        self.counts[bin_of(value)] += weight;
    }

    /// Count every value of a run.
    #[inline]
    pub fn record_run(&mut self, run: &ValueRun) {
        let last = run.value(run.count - 1);
        // Most runs are short and nearly flat: one bin holds them.
        let key = key_of(run.first);
        if key == key_of(last)
            && let Some(count) = self.counts.get_mut(key)
        {
            *count += run.count * run.weight;
        } else {
            // A copy, so that `run` itself can stay in registers.
            self.record_spread_run(*run);
        }
    }

    /// Count a run that spans several bins, bin by bin.
    #[inline(never)]
    fn record_spread_run(&mut self, run: ValueRun) {
        let (first_bin, last_bin) = (bin_of(run.first), bin_of(run.value(run.count - 1)));
        let (low, high) = (first_bin.min(last_bin), first_bin.max(last_bin));
        let mut counted = 0;
        for bin in low..high {
            let below = run.values_below(lower_edge(bin + 1));
            self.counts[bin] += (below - counted) * run.weight;
            counted = below;
        }
        self.counts[high] += (run.count - counted) * run.weight;
    }

    /// The middle of the bin that holds the value of `rank` (1 is the smallest).
    #[must_use]
    pub fn value_at_rank(&self, rank: u64) -> f64 {
        let mut seen = 0;
        for (bin, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return if bin == 0 { 0.0 } else { 0.5 * (lower_edge(bin) + lower_edge(bin + 1)) };
            }
        }
        lower_edge(BINS - 1)
    }

    /// Bins in all.
    #[cfg(feature = "growth")]
    pub(super) const BINS: usize = BINS;

    /// How many values each bin holds.
    #[cfg(feature = "growth")]
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Add the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_belong_to_their_bin() {
        for bin in [1, 2, 255, 256, 257, 5000, BINS - 2] {
            assert_eq!(bin_of(lower_edge(bin)), bin);
            assert_eq!(bin_of(f64::from_bits(lower_edge(bin + 1).to_bits() - 1)), bin);
        }
        assert_eq!(bin_of(0.0), 0);
        assert_eq!(bin_of(-1.0), 0);
        assert_eq!(bin_of(f64::INFINITY), BINS - 1);
    }

    proptest! {
        #[test]
        fn relative_error_is_bounded(value in 1e-8_f64..1e8) {
            let mut histogram = Histogram::default();
            histogram.record(value, 1);
            let reported = histogram.value_at_rank(1);
            prop_assert!((reported - value).abs() <= value * 0.002);
        }

        #[test]
        fn a_run_counts_like_its_values(
            first in 1e-4_f64..1.0,
            slope in -1e-6_f64..1e-3,
            count in 1_u64..80,
            weight in 1_u64..5,
        ) {
            let run = ValueRun { first, slope, count, weight };
            let mut at_once = Histogram::default();
            at_once.record_run(&run);
            let mut one_by_one = Histogram::default();
            for index in 0..count {
                one_by_one.record(run.value(index), weight);
            }
            prop_assert_eq!(at_once, one_by_one);
        }
    }
}
