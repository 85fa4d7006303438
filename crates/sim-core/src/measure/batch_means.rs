//! Confidence intervals from one run, by the means of batches of consecutive values.
//!
//! Values of one run are correlated: after a long wait comes another. Batches long enough are
//! nearly independent, so the spread of their means tells how sure the overall mean is. The number
//! of batches is the largest of 30, 25 and 20 at which neighbouring batches pass a test for
//! correlation (von Neumann's ratio, by its equivalent, the lag-1 correlation). Where none passes,
//! 20 are used, the variance is raised by `(1 + φ) / (1 − φ)` for the correlation `φ` that is
//! left, and the interval says that it is not to be relied on.

use crate::{
    float::{greater, lesser},
    quantile::{normal_quantile, student_t_quantile},
};

use super::{
    distribution::nearest_rank,
    sample::{SampleError, check, enough, mean, percentile, probability},
};

/// Numbers of batches to try, in this order.
const BATCHES: [usize; 3] = [30, 25, 20];
/// Values in a batch, at least.
const SHORTEST: usize = 10;
/// Values that each batch must have beyond a percentile.
const BEYOND: f64 = 5.0;
/// Significance of the test for correlation between neighbouring batches, one-sided.
const CORRELATION_LEVEL: f64 = 0.1;

/// A number from one run, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The number from all values.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Batches used.
    pub batches: usize,
    /// Correlation between neighbouring batches.
    pub correlation: f64,
    /// Whether the batches passed for independent. If not, the run is too short for its own
    /// correlation, and the interval is a lower bound on the uncertainty.
    pub reliable: bool,
}

/// The mean of values in order of time, with its interval at a confidence level such as 0.95.
///
/// # Errors
/// Fewer than 200 values, one that is not finite, or a level outside (0, 1).
pub fn mean_interval(values: &[f64], level: f64) -> Result<Interval, SampleError> {
    check(values, BATCHES[2] * SHORTEST)?;
    probability("confidence level", level)?;
    let value = mean(values);
    let spread = spread(values.len(), SHORTEST, value, |range| mean(&values[range]));
    Ok(spread.around(value, level))
}

/// The nearest-rank percentile (0 to 100, exclusive) of values in order of time, with its interval.
///
/// By sectioning: the value comes from the whole run, which spares it the bias of short batches;
/// the spread from the batches around it (Asmussen and Glynn, "Stochastic Simulation", 2007, III.5).
///
/// # Errors
/// Too few values for each of 20 batches to have five beyond the percentile (P99: 10,000 values),
/// one that is not finite, or a percentile or level outside its range.
pub fn percentile_interval(
    values: &[f64],
    percent: f64,
    level: f64,
) -> Result<Interval, SampleError> {
    let share = percentile(percent)? / 100.0;
    probability("confidence level", level)?;
    let rarer = lesser(share, 1.0 - share);
    // A percentile so extreme that no run is long enough saturates to the largest count.
    let shortest = SHORTEST.max((BEYOND / rarer * (1.0 - 1e-12)).ceil() as usize);
    check(values, BATCHES[2].saturating_mul(shortest))?;
    let mut scratch = Vec::with_capacity(values.len());
    let mut of = |part: &[f64]| {
        scratch.clear();
        scratch.extend_from_slice(part);
        let rank = nearest_rank(percent, scratch.len() as u64) as usize;
        *scratch.select_nth_unstable_by(rank - 1, f64::total_cmp).1
    };
    let value = of(values);
    let spread = spread(values.len(), shortest, value, |range| of(&values[range]));
    Ok(spread.around(value, level))
}

/// The share of requests, in order of time, for which something holds (such as meeting the SLO),
/// with its interval.
///
/// Wilson's interval with Student's t, on the number of independent requests that the spread of the
/// batches is worth. Where all requests agree no correlation can be seen, and each counts.
///
/// # Errors
/// Fewer than 200 requests, or a level outside (0, 1).
pub fn share_interval(holds: &[bool], level: f64) -> Result<Interval, SampleError> {
    enough(holds.len(), BATCHES[2] * SHORTEST)?;
    probability("confidence level", level)?;
    let share =
        |part: &[bool]| part.iter().filter(|&&holds| holds).count() as f64 / part.len() as f64;
    let value = share(holds);
    let spread = spread(holds.len(), SHORTEST, value, |range| share(&holds[range]));
    Ok(spread.around_share(value, holds.len() as f64, level))
}

/// A ratio of sums over rows of equal length, such as the mean wait of those who left in them, with
/// how much it varies from batch to batch: `Σ y / Σ c` of rows `(y, c)`. `None` where there are fewer
/// than 20 rows, or nothing to divide by.
///
/// To first order the error of a ratio `R` is the mean of `(y − R c) / c̄`, so the spread is that of
/// these over batches of rows (Law, "Simulation Modeling and Analysis", 2015, 9.5.3).
pub(super) fn ratio(rows: &[(f64, f64)]) -> Option<(f64, Spread)> {
    let sums = |rows: &[(f64, f64)]| {
        rows.iter().fold((0.0, 0.0), |(sum, count), (y, c)| (sum + y, count + c))
    };
    let (sum, count) = sums(rows);
    if count <= 0.0 || rows.len() < BATCHES[2] {
        return None;
    }
    let value = sum / count;
    let row = count / rows.len() as f64;
    let spread = spread(rows.len(), 1, 0.0, |range| {
        let per_row = row * range.len() as f64;
        let (sum, count) = sums(&rows[range]);
        (sum - value * count) / per_row
    });
    Some((value, spread))
}

/// How much the overall number varies, from the batches.
pub(super) struct Spread {
    /// Variance of the overall number.
    pub(super) variance: f64,
    batches: usize,
    correlation: f64,
    reliable: bool,
}

impl Spread {
    /// The two-sided t quantile with one degree of freedom less than batches.
    fn quantile(&self, level: f64) -> f64 {
        student_t_quantile(0.5 * (1.0 + level), (self.batches - 1) as f64).unwrap_or(f64::INFINITY)
    }

    /// The interval of a share among so many requests: Wilson's, with Student's t, on the number of
    /// independent requests that the spread is worth.
    pub(super) fn around_share(&self, value: f64, number: f64, level: f64) -> Interval {
        let one_request = value * (1.0 - value);
        let worth = self.worth(one_request, number);
        let z = self.quantile(level);
        let z2 = z * z;
        let centre = (value + 0.5 * z2 / worth) / (1.0 + z2 / worth);
        let half =
            z / (1.0 + z2 / worth) * (one_request / worth + 0.25 * z2 / (worth * worth)).sqrt();
        let low = lesser(value, greater(0.0, centre - half));
        let high = greater(value, lesser(1.0, centre + half));
        Interval { low, high, ..self.around(value, level) }
    }

    /// How many independent requests, each with a variance, would vary like this; at most their
    /// number.
    pub(super) fn worth(&self, one_request: f64, number: f64) -> f64 {
        if self.variance > 0.0 && one_request > 0.0 {
            lesser(number, one_request / self.variance)
        } else {
            number
        }
    }

    pub(super) fn around(&self, value: f64, level: f64) -> Interval {
        // Identical values leave nothing to be unsure of, at any level.
        let half =
            if self.variance > 0.0 { self.quantile(level) * self.variance.sqrt() } else { 0.0 };
        Interval {
            value,
            low: value - half,
            high: value + half,
            batches: self.batches,
            correlation: self.correlation,
            reliable: self.reliable,
        }
    }
}

/// The spread of a statistic over batches around its overall value, with the first number of
/// batches that pass the test. The values that fill no batch are left out at the start.
fn spread(
    number: usize,
    shortest: usize,
    overall: f64,
    mut of: impl FnMut(std::ops::Range<usize>) -> f64,
) -> Spread {
    let mut found = None;
    for batches in BATCHES {
        let length = number / batches;
        if length < shortest {
            continue;
        }
        let start = number - length * batches;
        let parts: Vec<f64> = (0..batches)
            .map(|batch| of(start + batch * length..start + (batch + 1) * length))
            .collect();
        let mut spread = spread_of(&parts, overall);
        // The overall number rests on what is left out, too.
        spread.variance *= (length * batches) as f64 / number as f64;
        let reliable = spread.reliable;
        found = Some(spread);
        if reliable {
            break;
        }
    }
    // Callers have checked that there are enough values for 20 batches.
    found.unwrap_or(Spread {
        variance: f64::INFINITY,
        batches: 2,
        correlation: 0.0,
        reliable: false,
    })
}

fn spread_of(parts: &[f64], overall: f64) -> Spread {
    let batches = parts.len();
    let number = batches as f64;
    let squares: f64 = parts.iter().map(|part| (part - overall) * (part - overall)).sum();
    let correlation = lag_one_correlation(parts);
    // Under independence the correlation is near normal around 0 with this deviation (von Neumann
    // 1941).
    let deviation = ((number - 2.0) / (number * number - 1.0)).sqrt();
    let bound = normal_quantile(1.0 - CORRELATION_LEVEL).unwrap_or(f64::INFINITY) * deviation;
    let reliable = correlation <= bound;
    let mut variance = squares / ((number - 1.0) * number);
    if !reliable {
        variance *= (1.0 + correlation) / (1.0 - correlation);
    }
    Spread { variance, batches, correlation, reliable }
}

/// The correlation of neighbours, one minus half of von Neumann's ratio; 0 for constants.
///
/// Unlike the usual estimate it is free of end effects: its mean under independence is 0.
fn lag_one_correlation(parts: &[f64]) -> f64 {
    let centre = mean(parts);
    let squares: f64 = parts.iter().map(|part| (part - centre) * (part - centre)).sum();
    let steps: f64 = parts.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    if squares > 0.0 { lesser(0.99, 1.0 - 0.5 * steps / squares) } else { 0.0 }
}

#[cfg(test)]
#[path = "batch_means_tests.rs"]
mod tests;
