//! Learning what iterations cost from latencies: an extended Kalman filter over (α, β, γ).
//!
//! The state does not move by itself; what is observed is the mean wait and prompt, and the mean time
//! per output token, that the queueing model gives for the state. Jacobians are central differences
//! with steps of 1 %. An update whose normalised innovation squared is out of the range of one in 40
//! is rejected, and the state is what it was.
//!
//! *Oddities* of the original, kept: from its defaults, parameters twice as large are rejected for
//! ever; γ hardly moves, since the two latencies say next to nothing of it; and the filter takes wait
//! and prompt for the time to first token, to which the analyzer adds one output token.

use super::queueing::{QueueAnalyzer, QueueConfig, QueueError, RequestSize, ServiceParameters};

/// α, β and γ where nothing is known, in ms.
pub const DEFAULT_STATE: [f64; 3] = [5.0, 0.05, 5e-5];
/// How much each parameter may change from one update to the next.
const PERCENT_CHANGE: f64 = 0.05;
/// Bounds of the state, as factors of the initial one.
const STATE_FACTORS: (f64, f64) = (0.01, 100.0);
/// Error of what is observed, as a share of the first observation, …
const ERROR_LEVEL: f64 = 0.05;
/// … which is this many standard deviations.
const T_PERCENTILE: f64 = 1.96;
/// 97.5 % of chi-squared with two degrees of freedom.
const MAX_NIS: f64 = 7.378;
/// Step of the differences, as a share of the parameter.
const DELTA: f64 = 0.01;
/// Places in the queue per place in the batch.
const QUEUE_PER_BATCH: u32 = 10;
/// Share of the time per output token that is taken for α at first.
const BASE_FACTOR: f64 = 0.9;

type Vector = [f64; 3];
type Matrix = [[f64; 3]; 3];

/// What one update sees, over all replicas of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Environment {
    /// Requests per **minute** and replica.
    pub rate_per_min: f32,
    /// Mean lengths.
    pub size: RequestSize,
    /// Most requests at once.
    pub max_batch: u32,
    /// Observed mean time to first token in ms.
    pub ttft_ms: f32,
    /// Observed mean time per output token in ms.
    pub itl_ms: f32,
}

/// What one update came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunedParameters {
    /// α, β and γ after it, in ms.
    pub state: [f64; 3],
    /// Their covariance after it.
    pub covariance: [[f64; 3]; 3],
    /// Observed less expected, in ms: time to first token, time per output token.
    pub innovation: [f64; 2],
    /// The innovation squared, in units of its covariance; -1 where the state left its range.
    pub normalized_innovation: f64,
    /// Whether the update was rejected, and the state is that of before.
    pub is_rejected: bool,
}

/// The filter of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFilter {
    state: Vector,
    covariance: Matrix,
    /// Variances of what changes by itself.
    process: Vector,
    /// Variances of what is observed.
    observation: [f64; 2],
    least: Vector,
    greatest: Vector,
}

impl ParameterFilter {
    /// A filter at `initial`, with the noise of a first observation in ms.
    #[must_use]
    pub fn new(initial: [f64; 3], (ttft_ms, itl_ms): (f32, f32)) -> Self {
        let process = initial.map(|value| square(PERCENT_CHANGE * value));
        let mut covariance = [[0.0; 3]; 3];
        for (i, variance) in process.into_iter().enumerate() {
            covariance[i][i] = variance;
        }
        let factor = square(ERROR_LEVEL / T_PERCENTILE);
        let observation = [ttft_ms, itl_ms].map(|value| factor * square(f64::from(value)));
        Self {
            state: initial,
            covariance,
            process,
            observation,
            least: initial.map(|value| value * STATE_FACTORS.0),
            greatest: initial.map(|value| value * STATE_FACTORS.1),
        }
    }

    /// The parameters as they are.
    #[must_use]
    pub fn parameters(&self) -> ServiceParameters {
        parameters(&self.state)
    }

    /// Predict, observe, and keep what is likely.
    ///
    /// # Errors
    /// A rate that the model cannot serve, or an environment that is none.
    pub fn update(&mut self, environment: &Environment) -> Result<TunedParameters, QueueError> {
        let mut state = self.state;
        self.limit(&mut state);
        let covariance = self.predicted_covariance(&state);

        let expected = observe(&state, environment)?;
        let seen = [f64::from(environment.ttft_ms), f64::from(environment.itl_ms)];
        let innovation = [seen[0] - expected[0], seen[1] - expected[1]];
        let jacobian = jacobian(&state, environment)?;

        let cross = cross_covariance(&covariance, &jacobian);
        let mut spread = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                spread[i][j] = (0..3).map(|k| jacobian[i][k] * cross[k][j]).sum();
            }
            spread[i][i] += self.observation[i];
        }
        let inverse = inverted(&spread);
        let gain: [[f64; 2]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| cross[i][0] * inverse[0][j] + cross[i][1] * inverse[1][j])
        });
        for (value, gain) in state.iter_mut().zip(&gain) {
            *value += gain[0] * innovation[0] + gain[1] * innovation[1];
        }
        self.limit(&mut state);
        let shrunk = shrunk(&covariance, &gain, &jacobian);

        let normalized_innovation = if state.iter().all(|&value| value > 0.0) {
            (0..2)
                .map(|i| {
                    innovation[i] * (inverse[i][0] * innovation[0] + inverse[i][1] * innovation[1])
                })
                .sum()
        } else {
            -1.0
        };
        // What is not a number is not below the limit, either.
        let is_kept = (0.0..MAX_NIS).contains(&normalized_innovation);
        if is_kept {
            self.state = state;
            self.covariance = shrunk;
        }
        Ok(TunedParameters {
            state: self.state,
            covariance: self.covariance,
            innovation,
            normalized_innovation,
            is_rejected: !is_kept,
        })
    }

    fn limit(&self, state: &mut Vector) {
        for (i, value) in state.iter_mut().enumerate() {
            if *value < self.least[i] {
                *value = self.least[i];
            } else if *value > self.greatest[i] {
                *value = self.greatest[i];
            }
        }
    }

    /// The covariance after a step of no movement: the original differentiates the identity, too,
    /// whose quotient misses 1 by a rounding.
    fn predicted_covariance(&self, state: &Vector) -> Matrix {
        let slope = |i: usize| {
            let step = step(state[i]);
            ((state[i] + step) - (state[i] - step)) / (2.0 * step)
        };
        let mut predicted = [[0.0; 3]; 3];
        for (i, row) in predicted.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = slope(i) * self.covariance[i][j] * slope(j);
            }
            row[i] += self.process[i];
        }
        predicted
    }
}

fn square(value: f64) -> f64 {
    value * value
}

fn step(value: f64) -> f64 {
    let step = DELTA * value.abs();
    if step == 0.0 { DELTA } else { step }
}

fn parameters(state: &Vector) -> ServiceParameters {
    ServiceParameters { alpha: state[0] as f32, beta: state[1] as f32, gamma: state[2] as f32 }
}

/// Wait and prompt, and time per output token, that the model gives, in ms.
fn observe(state: &Vector, environment: &Environment) -> Result<[f64; 2], QueueError> {
    let config = QueueConfig {
        max_batch: environment.max_batch,
        max_queue: environment.max_batch.saturating_mul(QUEUE_PER_BATCH),
        parameters: parameters(state),
    };
    let mut analyzer = QueueAnalyzer::new(config, environment.size)?;
    let analysis = analyzer.analyze(environment.rate_per_min / 60.0)?;
    Ok([f64::from(analysis.wait_ms + analysis.prefill_ms), f64::from(analysis.itl_ms)])
}

fn jacobian(state: &Vector, environment: &Environment) -> Result<[Vector; 2], QueueError> {
    let mut slopes = [[0.0; 3]; 2];
    for j in 0..3 {
        let step = step(state[j]);
        let at = |value| {
            let mut moved = *state;
            moved[j] = value;
            observe(&moved, environment)
        };
        let (ahead, behind) = (at(state[j] + step)?, at(state[j] - step)?);
        for i in 0..2 {
            slopes[i][j] = (ahead[i] - behind[i]) / (2.0 * step);
        }
    }
    Ok(slopes)
}

/// `P·Hᵀ`.
fn cross_covariance(covariance: &Matrix, jacobian: &[Vector; 2]) -> [[f64; 2]; 3] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..3).map(|k| covariance[i][k] * jacobian[j][k]).sum())
    })
}

fn inverted(matrix: &[[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
    [
        [matrix[1][1] / determinant, -matrix[0][1] / determinant],
        [-matrix[1][0] / determinant, matrix[0][0] / determinant],
    ]
}

/// `(I − K·H)·P`.
fn shrunk(covariance: &Matrix, gain: &[[f64; 2]; 3], jacobian: &[Vector; 2]) -> Matrix {
    let kept: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let lost = gain[i][0] * jacobian[0][j] + gain[i][1] * jacobian[1][j];
            f64::from(u8::from(i == j)) - lost
        })
    });
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..3).map(|k| kept[i][k] * covariance[k][j]).sum())
    })
}

/// A first state from one observation: nine tenths of the time per output token for α, and the rest
/// of both latencies solved for β and γ. `None` where one of them would not be positive.
#[must_use]
pub fn initial_guess(environment: &Environment) -> Option<[f64; 3]> {
    let (ttft, itl) = (f64::from(environment.ttft_ms), f64::from(environment.itl_ms));
    let (input, output) = (f64::from(environment.size.input), f64::from(environment.size.output));
    let alpha = BASE_FACTOR * itl;
    let both = (ttft - alpha) / input;
    let denominator = input + (output + 1.0) / 2.0 - 1.0;
    let gamma = ((itl - alpha) - both) / denominator;
    let state = [alpha, both - gamma, gamma];
    let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
    (denominator > 0.0 && state.iter().all(is_positive)).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(ttft_ms: f32, itl_ms: f32) -> Environment {
        let size = RequestSize { input: 512.0, output: 256.0 };
        Environment { rate_per_min: 300.0, size, max_batch: 256, ttft_ms, itl_ms }
    }

    #[test]
    fn a_guess_solves_the_two_latencies() {
        let [alpha, beta, gamma] = initial_guess(&environment(40.0, 20.0)).unwrap();
        assert!((alpha + (beta + gamma) * 512.0 - 40.0).abs() < 1e-4);
        assert!((alpha + beta + gamma * (512.0 + 128.5) - 20.0).abs() < 1e-4);
        assert_eq!(initial_guess(&environment(1.0, 20.0)), None);
    }

    /// The filter that starts twice too low never learns: its own gate keeps the truth out.
    #[test]
    fn a_truth_twice_as_large_stays_out() {
        let seen = environment(70.62004, 19.897085);
        let mut filter = ParameterFilter::new(DEFAULT_STATE, (seen.ttft_ms, seen.itl_ms));
        for _ in 0..5 {
            assert!(filter.update(&seen).unwrap().is_rejected);
        }
        assert_eq!(filter.state, DEFAULT_STATE);
    }

    #[test]
    fn a_rate_beyond_the_model_is_an_error_and_changes_nothing() {
        let seen = Environment { rate_per_min: 1e6, ..environment(35.0, 8.0) };
        let mut filter = ParameterFilter::new(DEFAULT_STATE, (35.0, 8.0));
        let before = filter.clone();
        assert!(filter.update(&seen).is_err());
        assert_eq!(filter, before);
    }
}
