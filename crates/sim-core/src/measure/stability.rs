//! Whether a run was stable, still settling, or overloaded.
//!
//! A finite run of an overloaded system looks fine until its queue has grown, and a stable one in a
//! busy hour looks bad. So two tests look at the number in the system, each with a stated rate of
//! false alarms:
//!
//! - *Drift*: is the backlog at the end above that at the start, beyond chance? Under overload the
//!   backlog is a random walk with drift; its increments over 20 blocks of time tell both the drift
//!   and the chance, whatever the variability of arrivals and work. At the very edge of capacity
//!   the walk is held at zero and its end is distributed as `|Z|` (heavy-traffic limit; Whitt,
//!   "Stochastic-Process Limits", 2002, ch. 9), so testing at half the rate gives the rate there;
//!   at a lower load the backlog is pulled back and alarms are rarer.
//! - *Trend*: does a straight line through the batch means rise or fall? This finds a system that
//!   is still filling, or still draining.

use crate::{
    float::{greater, lesser},
    quantile::student_t_quantile,
};

use super::sample::{SampleError, check, mean, probability};

/// Blocks or batches of the series that is tested.
const BATCHES: usize = 20;
/// False alarms of each test.
const FALSE_ALARMS: f64 = 0.01;
/// Least part of the arrivals that must fail to leave before their backlog counts as overload.
const LEAST_SHORTFALL: f64 = 0.01;

/// What a run was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No sign of change in the second half: it can stand for the steady state.
    Stable,
    /// Still settling, or too short to tell: run longer before relying on it.
    Transient,
    /// More comes than leaves, beyond chance: there is no steady state.
    Overloaded,
}

/// The growth of a series from its first value to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Last value minus first.
    pub growth: f64,
    /// Standard error of the growth.
    pub standard_error: f64,
    /// Whether growth this large is beyond chance.
    pub grows: bool,
}

/// A straight line through the batch means of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Rise over the whole series; negative when it falls.
    pub rise: f64,
    /// Standard error of the rise, correlation allowed for.
    pub standard_error: f64,
    /// Whether a slope this steep, up or down, is beyond chance.
    pub changes: bool,
}

/// A verdict, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    /// What the run was.
    pub verdict: Verdict,
    /// Growth of the number in the system over the whole run.
    pub whole: Drift,
    /// Growth over the second half.
    pub late: Drift,
    /// Trend of the second half.
    pub trend: Trend,
}

/// Judge a run from the number in the system at equal steps of time, from the first arrival to the
/// last, and from the arrivals and departures (in whatever way) of the second half of that time.
///
/// The series must end at the last arrival: a run that drains afterwards would hide its backlog.
/// Overloaded is a run whose second half drifts up and lets at least 1 % of its arrivals pile up. A
/// system at or below the edge of capacity is called so in at most 1 % of runs.
///
/// # Errors
/// Fewer than 80 values, or one that is not finite.
pub fn stability(
    in_system: &[f64],
    late_arrivals: u64,
    late_departures: u64,
) -> Result<Stability, SampleError> {
    check(in_system, 4 * BATCHES)?;
    let second_half = &in_system[in_system.len() / 2..];
    let whole = drift(in_system, FALSE_ALARMS)?;
    let late = drift(second_half, FALSE_ALARMS)?;
    let trend = trend(second_half, FALSE_ALARMS)?;
    let shortfall = late_arrivals as f64 - late_departures as f64;
    let piles_up = shortfall >= LEAST_SHORTFALL * late_arrivals as f64 && shortfall > 0.0;
    let verdict = if late.grows && piles_up {
        Verdict::Overloaded
    } else if late.grows || whole.grows || trend.changes {
        Verdict::Transient
    } else {
        Verdict::Stable
    };
    Ok(Stability { verdict, whole, late, trend })
}

/// Whether a backlog grows, with a rate of false alarms that holds up to the edge of capacity.
///
/// Student's t test on the increments over 20 blocks of time, their variance raised where
/// neighbouring increments go together (bursts longer than a block).
///
/// # Errors
/// Fewer than 40 values, one that is not finite, or a rate outside (0, 1).
pub fn drift(values: &[f64], false_alarms: f64) -> Result<Drift, SampleError> {
    check(values, 2 * BATCHES)?;
    probability("rate of false alarms", false_alarms)?;
    let last = values.len() - 1;
    let edge = |block: usize| values[block * last / BATCHES];
    let increments: Vec<f64> = (0..BATCHES).map(|block| edge(block + 1) - edge(block)).collect();
    let number = BATCHES as f64;
    let growth = values[last] - values[0];
    let deviations: Vec<f64> = increments.iter().map(|step| step - growth / number).collect();
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let correlation = lag_one(&deviations, squares) + 1.0 / number;
    let standard_error = (number * squares / (number - 1.0) * inflation(correlation)).sqrt();
    let bound = student_t_quantile(1.0 - 0.5 * false_alarms, number - 1.0);
    // A backlog of less than one request is none.
    let grows = growth > greater(1.0, bound.unwrap_or(f64::INFINITY) * standard_error);
    Ok(Drift { growth, standard_error, grows })
}

/// Whether a series rises or falls, with a given rate of false alarms for one that does neither.
///
/// Least squares on 20 batch means. The residuals' correlation `φ` between neighbours raises the
/// variance of the slope by `(1 + φ) / (1 − φ)` and lowers the degrees of freedom by as much.
///
/// # Errors
/// Fewer than 40 values, one that is not finite, or a rate outside (0, 1).
pub fn trend(values: &[f64], false_alarms: f64) -> Result<Trend, SampleError> {
    check(values, 2 * BATCHES)?;
    probability("rate of false alarms", false_alarms)?;
    let length = values.len() / BATCHES;
    let start = values.len() - length * BATCHES;
    let points: Vec<f64> = values[start..].chunks_exact(length).map(mean).collect();
    let number = BATCHES as f64;
    let level = mean(&points);
    let times_squared = number * (number * number - 1.0) / 12.0;
    let offset = |index: usize| index as f64 - 0.5 * (number - 1.0);
    let slope = points.iter().enumerate().map(|(i, y)| offset(i) * y).sum::<f64>() / times_squared;
    let residuals: Vec<f64> =
        points.iter().enumerate().map(|(i, y)| y - level - slope * offset(i)).collect();
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let rise = slope * number;
    // Residuals at the level of rounding are those of a constant or of an exact line.
    if squares <= 1e-24 * number * (level * level + rise * rise) {
        let changes = rise.abs() > 1e-9 * level.abs();
        return Ok(Trend { rise, standard_error: 0.0, changes });
    }
    // Taking out a line biases the correlation by about −(2 + 4φ)/n (Marriott and Pope 1954); undo
    // that.
    let correlation = (lag_one(&residuals, squares) * number + 2.0) / (number - 4.0);
    let inflation = inflation(correlation);
    let standard_error = number * (squares / (number - 2.0) * inflation / times_squared).sqrt();
    // Correlated points are worth fewer independent ones.
    let freedom = greater(2.0, number / inflation - 2.0);
    let bound = student_t_quantile(1.0 - 0.5 * false_alarms, freedom).unwrap_or(f64::INFINITY);
    Ok(Trend { rise, standard_error, changes: rise.abs() > bound * standard_error })
}

/// The correlation of neighbours among deviations with a given sum of squares.
fn lag_one(deviations: &[f64], squares: f64) -> f64 {
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// By how much correlation between neighbours raises the variance of a sum or a slope; negative
/// correlation is not given credit.
fn inflation(correlation: f64) -> f64 {
    let correlation = lesser(0.9, greater(0.0, correlation));
    (1.0 + correlation) / (1.0 - correlation)
}

#[cfg(test)]
#[path = "stability_tests.rs"]
mod tests;
