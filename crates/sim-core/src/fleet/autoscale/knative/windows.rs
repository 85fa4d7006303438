//! Averages over the last seconds, in buckets.

use super::super::replicas_of;
use crate::float::{greater, lesser};

/// Weights of an average below this are not told from an average that is simple.
const LEAST_COEFFICIENT: f64 = 0.2;
/// The buckets of a window weigh this much together.
const WEIGHT_PRECISION: f64 = 0.9999;
/// Averages are cut to millionths.
const PRECISION: f64 = 1e6;

/// A ring of buckets: what was recorded in each of the last `window / granularity` intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketWindow {
    buckets: Vec<f64>,
    granularity_s: f64,
    /// Number of the bucket of the first record since a silence as long as the window.
    first: i64,
    /// Number of the bucket of the latest record.
    last: Option<i64>,
    total: f64,
}

impl BucketWindow {
    /// An empty window of `window_s` seconds in buckets of `granularity_s`.
    #[must_use]
    pub fn new(window_s: f64, granularity_s: f64) -> Self {
        let granularity_s = greater(granularity_s, 1e-3);
        let count = replicas_of((window_s / granularity_s).ceil()).clamp(1, 1 << 20);
        let buckets = vec![0.0; count as usize];
        Self { buckets, granularity_s, first: 0, last: None, total: 0.0 }
    }

    fn number(&self, at_s: f64) -> i64 {
        (at_s / self.granularity_s).floor() as i64
    }

    fn count(&self) -> i64 {
        self.buckets.len() as i64
    }

    fn place(&self, number: i64) -> usize {
        number.rem_euclid(self.count()) as usize
    }

    /// Add `value` to the bucket of `at_s`. Seconds without a record are zeros; what is as old as
    /// the window is ignored, and so is what comes after a silence as long as it, of before.
    pub fn record(&mut self, at_s: f64, value: f64) {
        let number = self.number(at_s);
        match self.last {
            Some(last) if number == last => {}
            Some(last) if number < last => {
                if number + self.count() <= last {
                    return;
                }
                self.first = self.first.min(number);
            }
            Some(last) if number - last < self.count() => {
                for passed in last + 1..=number {
                    let place = self.place(passed);
                    self.total -= self.buckets[place];
                    self.buckets[place] = 0.0;
                }
                self.last = Some(number);
            }
            _ => {
                self.buckets.fill(0.0);
                self.total = 0.0;
                self.first = number;
                self.last = Some(number);
            }
        }
        let place = self.place(number);
        self.buckets[place] += value;
        self.total += value;
    }

    /// Mean over the buckets since the first record, or over the window once it is full; cut to
    /// millionths.
    ///
    /// *Oddity*: seconds without a record at the end are not zeros: they shorten the window.
    #[must_use]
    pub fn average(&self, now_s: f64) -> f64 {
        let Some(last) = self.last else {
            return 0.0;
        };
        let late = self.number(now_s) - last;
        if late >= self.count() {
            return 0.0;
        }
        let late = late.max(0);
        let total =
            (1..=late).fold(self.total, |total, i| total - self.buckets[self.place(last + i)]);
        let valid = lesser((last - self.first + 1) as f64, (self.count() - late) as f64);
        (total / valid * PRECISION).floor() / PRECISION
    }

    /// Exponentially weighted sum of the buckets, the newest with weight `coefficient`
    /// (`metrics-…: weighted-exponential`).
    #[must_use]
    pub fn weighted_average(&self, now_s: f64, coefficient: f64) -> f64 {
        let Some(last) = self.last else {
            return 0.0;
        };
        let late = (self.number(now_s) - last).max(0);
        if late > self.count() {
            return 0.0;
        }
        let mut weight = coefficient * libm::pow(1.0 - coefficient, late as f64);
        let mut sum = 0.0;
        for age in 0..self.count() - late {
            sum += self.buckets[self.place(last - age)] * weight;
            weight *= 1.0 - coefficient;
        }
        sum
    }
}

/// The weight of the newest of `buckets` buckets: that at which all of them weigh 0.9999 together,
/// and at least 0.2.
#[must_use]
pub fn smoothing_coefficient(buckets: f64) -> f64 {
    greater(1.0 - libm::pow(1.0 - WEIGHT_PRECISION, 1.0 / buckets), LEAST_COEFFICIENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The mean as it is described: sums over a list of all records.
    fn slow_average(records: &[(i64, f64)], window: i64, now: i64) -> f64 {
        let (mut first, mut last, mut kept): (i64, Option<i64>, Vec<(i64, f64)>) =
            (0, None, vec![]);
        for &(number, value) in records {
            if last.is_none_or(|last| number - last >= window) {
                kept.clear();
                first = number;
            } else if last.is_some_and(|last| number + window <= last) {
                continue;
            }
            first = first.min(number);
            last = Some(last.map_or(number, |last| last.max(number)));
            kept.push((number, value));
        }
        let Some(last) = last.filter(|&last| now - last < window) else {
            return 0.0;
        };
        let oldest = now.max(last) - window;
        let total: f64 = kept.iter().filter(|kept| kept.0 > oldest).map(|kept| kept.1).sum();
        total / lesser((last - first + 1) as f64, (window - (now - last).max(0)) as f64)
    }

    proptest! {
        #[test]
        fn the_ring_is_the_list(
            steps in prop::collection::vec((-3_i64..9, 0_u8..9), 1..60),
            ask in -3_i64..20,
        ) {
            let mut window = BucketWindow::new(6.0, 1.0);
            let (mut now, mut records) = (100, Vec::new());
            for (step, value) in steps {
                let at = now + step;
                now = now.max(at);
                window.record(at as f64 + 0.25, f64::from(value));
                records.push((at, f64::from(value)));
            }
            let slow = slow_average(&records, 6, now + ask);
            prop_assert!((window.average((now + ask) as f64) - slow).abs() <= 1e-6);
        }
    }
}
