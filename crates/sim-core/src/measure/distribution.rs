//! A distribution of values: exact while small or where asked for, a histogram beyond.

use crate::float::{from_count, greater, lesser};

use super::histogram::Histogram;

/// Up to this many values a distribution is exact.
pub const EXACT_SAMPLES: u64 = 4096;

/// How many values a distribution keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Precision {
    /// Exact up to [`EXACT_SAMPLES`] values, then a histogram (error at most 0.2 %).
    #[default]
    Bounded,
    /// Exact at any size; memory grows with the run.
    Exact,
}

/// Values in arithmetic progression, each counted `weight` times: `first + index · slope`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRun {
    /// The first value.
    pub first: f64,
    /// The difference between neighbours.
    pub slope: f64,
    /// How many values, 1 or more.
    pub count: u64,
    /// How often each counts.
    pub weight: u64,
}

impl ValueRun {
    /// The value at `index`, from 0.
    #[must_use]
    #[inline]
    pub fn value(&self, index: u64) -> f64 {
        self.first + self.slope * from_count(index)
    }

    /// How many of its values (not weighted) are below `edge`.
    #[must_use]
    pub fn values_below(&self, edge: f64) -> u64 {
        self.values_where(|value| value < edge, edge)
    }

    fn values_up_to(&self, edge: f64) -> u64 {
        self.values_where(|value| value <= edge, edge)
    }

    /// Count the values for which `is_low` holds; it must hold exactly on one side of `edge`.
    /// The division only guesses; the values themselves decide, so that rounding cannot miscount.
    fn values_where(&self, is_low: impl Fn(f64) -> bool, edge: f64) -> u64 {
        let falling = self.slope < 0.0;
        if self.slope == 0.0 {
            return if is_low(self.first) { self.count } else { 0 };
        }
        // Index of the first value on the far side of the edge.
        let guess = (edge - self.first) / self.slope;
        let mut index = if guess > 0.0 { (guess as u64).min(self.count) } else { 0 };
        while index > 0 && is_low(self.value(index - 1)) == falling {
            index -= 1;
        }
        while index < self.count && is_low(self.value(index)) != falling {
            index += 1;
        }
        if falling { self.count - index } else { index }
    }
}

/// A distribution of non-negative values, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    precision: Precision,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    values: Vec<f64>,
    runs: Vec<ValueRun>,
    histogram: Option<Histogram>,
}

impl Default for Distribution {
    fn default() -> Self {
        Self::new(Precision::Bounded)
    }
}

impl Distribution {
    /// An empty distribution.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        Self {
            precision,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: 0.0,
            values: Vec::new(),
            runs: Vec::new(),
            histogram: None,
        }
    }

    /// Count one value.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.stretch(value, value);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value, 1);
        } else {
            self.keep_value(value);
        }
    }

    /// Take in the ends of what was counted. New extremes are rare, so that the branches cost
    /// less than two selections would.
    #[inline]
    fn stretch(&mut self, low: f64, high: f64) {
        if low < self.min {
            self.min = low;
        }
        if high > self.max {
            self.max = high;
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_value(&mut self, value: f64) {
        self.values.push(value);
        self.spill_if_large();
    }

    /// Count every value of a run.
    #[inline]
    pub fn record_run(&mut self, run: &ValueRun) {
        let number = run.count * run.weight;
        if number == 0 {
            return;
        }
        let last = run.value(run.count - 1);
        self.count += number;
        // The mean of an arithmetic progression is the mean of its ends.
        self.sum += 0.5 * (run.first + last) * from_count(number);
        self.stretch(run.first, last);
        if run.slope < 0.0 {
            self.stretch(last, run.first);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.record_run(run);
        } else {
            self.keep_run(*run);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_run(&mut self, run: ValueRun) {
        self.runs.push(run);
        self.spill_if_large();
    }

    fn spill_if_large(&mut self) {
        if self.precision == Precision::Exact || self.count <= EXACT_SAMPLES {
            return;
        }
        let mut histogram = Histogram::default();
        for value in self.values.drain(..) {
            histogram.record(value, 1);
        }
        for run in self.runs.drain(..) {
            histogram.record_run(&run);
        }
        self.histogram = Some(histogram);
    }

    /// How many values were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether percentiles are exact, not from a histogram.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.histogram.is_none()
    }

    /// The smallest value; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The sum of all values.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// The mean; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The nearest-rank percentile, `percent` from 0 to 100; `None` when empty or out of range.
    ///
    /// The value of rank `ceil(percent / 100 · count)`: at least that share of the values is at or
    /// below it, and it is one of the values (to 0.2 % when not exact).
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        if self.count == 0 || !(0.0..=100.0).contains(&percent) {
            return None;
        }
        self.value_at_rank(nearest_rank(percent, self.count))
    }

    /// The value of a rank from 1, the smallest, to the number of values; `None` beyond.
    pub(super) fn value_at_rank(&self, rank: u64) -> Option<f64> {
        if rank == 0 || rank > self.count {
            return None;
        }
        if rank == self.count {
            return Some(self.max);
        }
        Some(match &self.histogram {
            Some(histogram) => lesser(greater(histogram.value_at_rank(rank), self.min), self.max),
            None if self.runs.is_empty() => self.exact_value(rank),
            None => self.exact_value_among_runs(rank),
        })
    }

    fn exact_value(&self, rank: u64) -> f64 {
        let mut values = self.values.clone();
        let (_, value, _) = values.select_nth_unstable_by(rank as usize - 1, f64::total_cmp);
        *value
    }

    /// Bisect on the bits of the value: the smallest float that at least `rank` values do not
    /// exceed is one of the values.
    fn exact_value_among_runs(&self, rank: u64) -> f64 {
        let (mut low, mut high) = (self.min.to_bits(), self.max.to_bits());
        while low < high {
            let middle = low + (high - low) / 2;
            let edge = f64::from_bits(middle);
            let in_runs: u64 =
                self.runs.iter().map(|run| run.values_up_to(edge) * run.weight).sum();
            let alone = self.values.iter().filter(|&&value| value <= edge).count() as u64;
            if in_runs + alone >= rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        f64::from_bits(low)
    }

    /// Add all values of another distribution.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = lesser(self.min, other.min);
        self.max = greater(self.max, other.max);
        if other.histogram.is_some() && self.histogram.is_none() {
            // The other has forgotten its values; become a histogram too.
            let mut histogram = Histogram::default();
            self.values.drain(..).for_each(|value| histogram.record(value, 1));
            self.runs.drain(..).for_each(|run| histogram.record_run(&run));
            self.histogram = Some(histogram);
        }
        match &mut self.histogram {
            Some(mine) => other.count_in(mine),
            None => {
                self.values.extend_from_slice(&other.values);
                self.runs.extend_from_slice(&other.runs);
                self.spill_if_large();
            }
        }
    }

    /// Count all values in a histogram.
    pub(super) fn count_in(&self, histogram: &mut Histogram) {
        if let Some(mine) = &self.histogram {
            histogram.merge(mine);
        }
        self.values.iter().for_each(|&value| histogram.record(value, 1));
        self.runs.iter().for_each(|run| histogram.record_run(run));
    }
}

/// The rank, from 1, of a percentile among `count` values.
pub(super) fn nearest_rank(percent: f64, count: u64) -> u64 {
    ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(values: &[f64], precision: Precision) -> Distribution {
        let mut distribution = Distribution::new(precision);
        values.iter().for_each(|&value| distribution.record(value));
        distribution
    }

    #[test]
    fn nearest_rank_of_a_small_sample() {
        let distribution = filled(&[4.0, 1.0, 3.0, 2.0], Precision::Bounded);
        assert_eq!(distribution.percentile(50.0), Some(2.0));
        assert_eq!(distribution.percentile(75.0), Some(3.0));
        assert_eq!(distribution.percentile(75.1), Some(4.0));
        assert_eq!(distribution.percentile(0.0), Some(1.0));
        assert_eq!(distribution.percentile(f64::NAN), None);
        assert_eq!(distribution.mean(), Some(2.5));
        assert_eq!(Distribution::default().percentile(50.0), None);
    }

    proptest! {
        #[test]
        fn runs_are_exact(
            runs in prop::collection::vec((0.001_f64..1.0, -1e-6..1e-3_f64, 1_u64..60, 1_u64..4), 1..8),
            percent in 0.0_f64..100.0,
        ) {
            let mut distribution = Distribution::new(Precision::Exact);
            let mut values = Vec::new();
            for (first, slope, count, weight) in runs {
                let run = ValueRun { first, slope, count, weight };
                distribution.record_run(&run);
                for index in 0..count {
                    for _ in 0..weight {
                        values.push(run.value(index));
                    }
                }
            }
            let alone = filled(&values, Precision::Exact);
            prop_assert_eq!(distribution.percentile(percent), alone.percentile(percent));
            prop_assert_eq!(distribution.count(), alone.count());
            let (mean, expected) = (distribution.mean().unwrap(), alone.mean().unwrap());
            prop_assert!((mean - expected).abs() <= 1e-12 * expected);
        }

        #[test]
        fn merging_equals_recording_together(
            a in prop::collection::vec(1e-4_f64..10.0, 0..6000),
            b in prop::collection::vec(1e-4_f64..10.0, 0..6000),
            percent in 0.0_f64..100.0,
        ) {
            let mut merged = filled(&a, Precision::Bounded);
            merged.merge(&filled(&b, Precision::Bounded));
            let all: Vec<f64> = a.iter().chain(&b).copied().collect();
            let together = filled(&all, Precision::Bounded);
            prop_assert_eq!(merged.percentile(percent), together.percentile(percent));
            prop_assert_eq!(merged.is_exact(), all.len() as u64 <= EXACT_SAMPLES);
            let exact = filled(&all, Precision::Exact);
            if let (Some(x), Some(y)) = (together.percentile(percent), exact.percentile(percent)) {
                prop_assert!((x - y).abs() <= 0.002 * y, "{x} against {y}");
            }
        }
    }
}
