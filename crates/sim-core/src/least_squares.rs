//! Robust least squares that asks for its residuals, so that whoever owns the model computes them where and
//! in whatever order it likes.
//!
//! Unknowns are logarithms of positive constants, drawn to where they begin by a prior. The loss is Cauchy's,
//! so that an odd measurement bends nothing; steps are Levenberg and Marquardt's (Levenberg, "A method for the
//! solution of certain non-linear problems in least squares", 1944).
//!
//! ```text
//!   asks() ──▶ candidates ──▶ the caller's model ──▶ residuals of each ──▶ tell() ──▶ asks() …  best()
//! ```

use crate::float::{greater, lesser};

/// Residuals beyond this, in logarithms, count less and less.
pub const SCALE: f64 = 0.12;
/// Step of a logarithm for slopes: simulations are rough below it.
const STEP: f64 = 0.03;
/// The most that a logarithm moves at once.
const MOST_MOVE: f64 = 0.7;
/// How much of the diagonal is added to it, from the boldest step to the most careful.
const DAMPINGS: [f64; 4] = [1e-4, 0.1, 1.0, 10.0];
/// Rounds of slopes and steps.
const ROUNDS: u32 = 8;
/// A step that gains less than this share is the last.
const LEAST_GAIN: f64 = 1e-4;

/// A positive constant that is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown {
    /// Its logarithm where the search begins, and what it is drawn to.
    pub start: f64,
    /// How far it may be from there for the price of one [`SCALE`]d residual.
    pub spread: f64,
    /// Least and greatest logarithm.
    pub bounds: (f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Slopes,
    Steps,
    Done,
}

/// A search for the constants that fit.
#[derive(Clone, Debug)]
pub struct Descent {
    unknowns: Vec<Unknown>,
    weights: Vec<f64>,
    best: Vec<f64>,
    best_cost: f64,
    asked: Vec<Vec<f64>>,
    phase: Phase,
    rounds: u32,
}

impl Descent {
    /// Look for constants; residuals have these weights.
    #[must_use]
    pub fn new(unknowns: Vec<Unknown>, weights: Vec<f64>) -> Self {
        let best: Vec<f64> = unknowns.iter().map(|it| it.start).collect();
        let mut descent = Self {
            unknowns,
            weights,
            best,
            best_cost: f64::INFINITY,
            asked: Vec::new(),
            phase: Phase::Slopes,
            rounds: 0,
        };
        descent.ask_slopes();
        descent
    }

    /// Logarithms of the constants at which residuals are wanted; none when the search has ended.
    #[must_use]
    pub fn asks(&self) -> &[Vec<f64>] {
        &self.asked
    }

    /// Logarithms of the best constants so far.
    #[must_use]
    pub fn best(&self) -> &[f64] {
        &self.best
    }

    /// Take the residuals (logarithms of predicted over measured) of everything that was asked, in its order.
    /// A candidate with a residual that is no number is never taken.
    pub fn tell(&mut self, residuals: &[Vec<f64>]) {
        match self.phase {
            Phase::Slopes => self.take_slopes(residuals),
            Phase::Steps => self.take_steps(residuals),
            Phase::Done => {}
        }
    }

    fn ask_slopes(&mut self) {
        let moved = |at: usize| {
            let mut logs = self.best.clone();
            // Inwards at a bound.
            let is_at_end = logs[at] + STEP > self.unknowns[at].bounds.1;
            logs[at] += if is_at_end { -STEP } else { STEP };
            logs
        };
        self.asked =
            std::iter::once(self.best.clone()).chain((0..self.best.len()).map(moved)).collect();
        self.phase = Phase::Slopes;
    }

    fn end(&mut self) {
        self.asked.clear();
        self.phase = Phase::Done;
    }

    fn take_slopes(&mut self, residuals: &[Vec<f64>]) {
        let Some((here, moved)) = residuals.split_first() else { return self.end() };
        self.best_cost = self.cost(&self.best, here);
        if !self.best_cost.is_finite() || self.rounds == ROUNDS {
            return self.end();
        }
        let steps: Vec<f64> =
            self.asked.iter().skip(1).zip(0..).map(|(it, at)| it[at] - self.best[at]).collect();
        let slope = |at: usize, row: usize| match moved.get(at).and_then(|it| it.get(row)) {
            Some(there) if there.is_finite() => (there - here[row]) / steps[at],
            _ => 0.0,
        };
        let count = self.best.len();
        let mut matrix = vec![vec![0.0; count]; count];
        let mut right = vec![0.0; count];
        for (row, residual) in here.iter().enumerate() {
            let weight = self.weights.get(row).copied().unwrap_or(0.0) * reweighted(*residual);
            let slopes: Vec<f64> = (0..count).map(|at| slope(at, row)).collect();
            for ((line, right), slope) in matrix.iter_mut().zip(&mut right).zip(&slopes) {
                *right -= weight * residual * slope;
                for (cell, other) in line.iter_mut().zip(&slopes) {
                    *cell += weight * slope * other;
                }
            }
        }
        for (at, unknown) in self.unknowns.iter().enumerate() {
            let stiffness = SCALE * SCALE / (unknown.spread * unknown.spread);
            matrix[at][at] += stiffness;
            right[at] -= stiffness * (self.best[at] - unknown.start);
        }
        self.asked = DAMPINGS.iter().map(|damping| self.moved(&matrix, &right, *damping)).collect();
        self.phase = Phase::Steps;
        self.rounds += 1;
    }

    fn take_steps(&mut self, residuals: &[Vec<f64>]) {
        let before = self.best_cost;
        let candidates = std::mem::take(&mut self.asked);
        for (logs, residuals) in candidates.into_iter().zip(residuals) {
            let cost = self.cost(&logs, residuals);
            if cost < self.best_cost {
                (self.best, self.best_cost) = (logs, cost);
            }
        }
        if before - self.best_cost > LEAST_GAIN * before { self.ask_slopes() } else { self.end() }
    }

    /// The constants after a damped step.
    fn moved(&self, matrix: &[Vec<f64>], right: &[f64], damping: f64) -> Vec<f64> {
        let mut damped = matrix.to_vec();
        for (at, row) in damped.iter_mut().enumerate() {
            row[at] *= 1.0 + damping;
        }
        let steps = eliminated(damped, right.to_vec());
        let moved = |((log, step), unknown): ((&f64, &f64), &Unknown)| {
            let log = log + greater(-MOST_MOVE, lesser(MOST_MOVE, *step));
            greater(unknown.bounds.0, lesser(unknown.bounds.1, log))
        };
        self.best.iter().zip(&steps).zip(&self.unknowns).map(moved).collect()
    }

    fn cost(&self, logs: &[f64], residuals: &[f64]) -> f64 {
        if residuals.len() < self.weights.len() || residuals.iter().any(|it| !it.is_finite()) {
            return f64::INFINITY;
        }
        let of_data: f64 = residuals
            .iter()
            .zip(&self.weights)
            .map(|(residual, weight)| weight * loss(*residual))
            .sum();
        let of_priors: f64 = logs
            .iter()
            .zip(&self.unknowns)
            .map(|(log, unknown)| {
                let z = SCALE * (log - unknown.start) / unknown.spread;
                z * z
            })
            .sum();
        of_data + of_priors
    }
}

/// Cauchy's loss.
#[must_use]
pub fn loss(residual: f64) -> f64 {
    let z = residual / SCALE;
    SCALE * SCALE * libm::log1p(z * z)
}

/// The weight at which a square has the loss's slope.
#[must_use]
pub fn reweighted(residual: f64) -> f64 {
    let z = residual / SCALE;
    1.0 / (1.0 + z * z)
}

/// Gaussian elimination of a positive definite system.
#[must_use]
pub fn eliminated(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for at in 0..count {
        let pivot = matrix[at].clone();
        for below in at + 1..count {
            let factor = matrix[below][at] / pivot[at];
            if factor != 0.0 {
                for (value, above) in matrix[below].iter_mut().zip(&pivot).skip(at) {
                    *value -= factor * above;
                }
                right[below] -= factor * right[at];
            }
        }
    }
    for at in (0..count).rev() {
        let rest: f64 = (at + 1..count).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - rest) / matrix[at][at];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(start: f64, spread: f64) -> Unknown {
        Unknown { start: libm::log(start), spread, bounds: (libm::log(1e-3), libm::log(1e3)) }
    }

    /// Fit `a + b x` to points, with residuals in logarithms.
    fn line(points: &[(f64, f64)], unknowns: Vec<Unknown>) -> Vec<f64> {
        let mut descent = Descent::new(unknowns, vec![1.0; points.len()]);
        while !descent.asks().is_empty() {
            let of = |logs: &Vec<f64>| {
                let (a, b) = (libm::exp(logs[0]), libm::exp(logs[1]));
                points.iter().map(|(x, y)| libm::log((a + b * x) / y)).collect()
            };
            let residuals: Vec<Vec<f64>> = descent.asks().iter().map(of).collect();
            descent.tell(&residuals);
        }
        descent.best().iter().map(|log| libm::exp(*log)).collect()
    }

    #[test]
    fn constants_are_found() {
        let points = [(1.0, 5.0), (10.0, 23.0), (100.0, 203.0)];
        let found = line(&points, vec![unknown(1.0, 10.0), unknown(1.0, 10.0)]);
        assert!((found[0] - 3.0).abs() < 0.05 && (found[1] - 2.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn an_odd_point_bends_little() {
        let points =
            [(1.0, 5.0), (2.0, 7.0), (5.0, 13.0), (10.0, 23.0), (20.0, 430.0), (50.0, 103.0)];
        let found = line(&points, vec![unknown(1.0, 10.0), unknown(1.0, 10.0)]);
        assert!((found[0] - 3.0).abs() < 0.15 && (found[1] - 2.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_no_point_tells_stays_where_it_was() {
        let found = line(&[(0.0, 3.0)], vec![unknown(1.0, 10.0), unknown(0.7, 1.0)]);
        assert!((found[0] - 3.0).abs() < 0.05 && (found[1] - 0.7).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_candidate_without_an_answer_is_never_taken() {
        let mut descent = Descent::new(vec![unknown(1.0, 1.0)], vec![1.0]);
        while !descent.asks().is_empty() {
            let residuals = vec![vec![f64::NAN]; descent.asks().len()];
            descent.tell(&residuals);
        }
        assert_eq!(descent.best(), [0.0]);
    }

    #[test]
    fn equations_are_solved() {
        let matrix = vec![vec![4.0, 1.0, 0.0], vec![1.0, 3.0, 1.0], vec![0.0, 1.0, 2.0]];
        let solution = eliminated(matrix, vec![6.0, 10.0, 8.0]);
        for (found, expected) in solution.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
    }
}
