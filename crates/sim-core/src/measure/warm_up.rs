//! How much of the start of a run to leave out: MSER-5.

use super::sample::{SampleError, check};

/// Values averaged into one point.
const BATCH: usize = 5;
/// Fewest points from which a truncation is chosen.
const FEWEST_POINTS: usize = 10;

/// The warm-up of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// Values to leave out at the start.
    pub drop: usize,
    /// Whether the statistic has a clear minimum. Without one it is still falling at the middle of
    /// the run: the run has not settled, and what is left after `drop` is not a steady state.
    pub settled: bool,
}

/// The warm-up of a series of values in order of time.
///
/// MSER-5 (White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
/// simulation", 2000): average the values in fives to `Y(1) … Y(k)`; drop the first `d` that
/// minimise `Σ_{j>d} (Y(j) − mean)² / (k − d)²`, the squared standard error of what is left, over
/// the first half. A minimum within the last tenth of that half is not clear.
///
/// # Errors
/// Fewer than 50 values, or one that is not finite.
pub fn mser5(values: &[f64]) -> Result<WarmUp, SampleError> {
    check(values, BATCH * FEWEST_POINTS)?;
    let points: Vec<f64> = values.chunks_exact(BATCH).map(super::sample::mean).collect();
    let number = points.len();
    let half = number / 2;
    let (mut least, mut drop) = (f64::INFINITY, 0);
    // Welford's update, from the end backwards: the mean and the squares of what is left.
    let (mut mean, mut squares) = (0.0, 0.0);
    for index in (0..number).rev() {
        let left = (number - index) as f64;
        let deviation = points[index] - mean;
        mean += deviation / left;
        squares += deviation * (points[index] - mean);
        let statistic = squares / (left * left);
        // At a tie, drop less.
        if index <= half && statistic <= least {
            least = statistic;
            drop = index;
        }
    }
    Ok(WarmUp { drop: drop * BATCH, settled: 10 * drop < 9 * half })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use proptest::prelude::*;

    #[test]
    fn an_offset_start_is_dropped() {
        let mut stream = Stream::new(1, Purpose::Arrivals);
        let values: Vec<f64> = (0..1_000)
            .map(|index| stream.normal() + if index < 100 { 20.0 } else { 0.0 })
            .collect();
        let warm_up = mser5(&values).unwrap();
        assert!(warm_up.settled && (100..=130).contains(&warm_up.drop), "{warm_up:?}");
    }

    #[test]
    fn a_decaying_start_is_dropped_where_it_drowns_in_noise() {
        let mut stream = Stream::new(2, Purpose::Arrivals);
        let values: Vec<f64> = (0..2_000)
            .map(|index| stream.normal() + 30.0 * libm::exp(-f64::from(index) / 50.0))
            .collect();
        let warm_up = mser5(&values).unwrap();
        assert!(warm_up.settled && (100..=300).contains(&warm_up.drop), "{warm_up:?}");
    }

    #[test]
    fn a_series_that_keeps_growing_has_no_clear_minimum() {
        let mut stream = Stream::new(3, Purpose::Arrivals);
        let values: Vec<f64> =
            (0..1_000).map(|index| 0.1 * f64::from(index) + stream.normal()).collect();
        assert!(!mser5(&values).unwrap().settled);
    }

    #[test]
    fn constants_and_short_or_broken_series_are_defined() {
        assert_eq!(mser5(&[2.5; 60]), Ok(WarmUp { drop: 0, settled: true }));
        assert_eq!(mser5(&[1.0; 49]), Err(SampleError::TooFew { have: 49, needed: 50 }));
        let mut values = [1.0; 50];
        values[7] = f64::NAN;
        assert_eq!(mser5(&values), Err(SampleError::NotFinite { index: 7 }));
    }

    proptest! {
        /// The running sums against the definition, two passes for every truncation.
        #[test]
        fn the_minimum_is_the_definitions(values in prop::collection::vec(0.0_f64..10.0, 50..200)) {
            let points: Vec<f64> = values.chunks_exact(5).map(|c| c.iter().sum::<f64>() / 5.0).collect();
            let statistic = |drop: usize| {
                let left = &points[drop..];
                let mean = left.iter().sum::<f64>() / left.len() as f64;
                let squares: f64 = left.iter().map(|y| (y - mean) * (y - mean)).sum();
                squares / (left.len() * left.len()) as f64
            };
            let chosen = statistic(mser5(&values).unwrap().drop / 5);
            for drop in 0..=points.len() / 2 {
                prop_assert!(chosen <= statistic(drop) * (1.0 + 1e-9));
            }
        }
    }
}
