//! Operators by their arithmetic and their traffic.

use serde::{Deserialize, Serialize};

use crate::float::{greater, lesser};

/// A smooth maximum of the time to compute and the time to move bytes: `(c³ + m³)^⅓`.
///
/// A kernel overlaps the two, but not perfectly where they are alike: there it takes a quarter longer than
/// the greater of the two. A sum would be far too slow, a plain maximum is a little too fast.
#[must_use]
#[inline]
pub(super) fn overlapped_s(compute_s: f64, memory_s: f64) -> f64 {
    let (most, least) = (greater(compute_s, memory_s), lesser(compute_s, memory_s));
    if most <= 0.0 {
        return 0.0;
    }
    let ratio = least / most;
    most * libm::cbrt(1.0 + ratio * ratio * ratio)
}

/// An operator whose arithmetic and traffic are lines in the tokens of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Projection {
    /// Time to compute one token, seconds.
    pub compute_s_per_token: f64,
    /// Time to read the weights, seconds.
    pub weights_s: f64,
    /// Time to move the activations of one token, seconds.
    pub activations_s_per_token: f64,
}

impl Projection {
    /// Time of a step with so many tokens, seconds.
    #[inline]
    pub(super) fn step_s(&self, tokens: f64) -> f64 {
        let memory_s = self.weights_s + self.activations_s_per_token * tokens;
        overlapped_s(self.compute_s_per_token * tokens, memory_s)
    }

    /// Its traffic and its arithmetic, each multiplied.
    pub(super) fn scaled(self, memory: f64, compute: f64) -> Self {
        Self {
            compute_s_per_token: self.compute_s_per_token * compute,
            weights_s: self.weights_s * memory,
            activations_s_per_token: self.activations_s_per_token * memory,
        }
    }

    /// Its three times, each multiplied.
    pub(super) fn times(self, count: f64) -> Self {
        Self {
            compute_s_per_token: self.compute_s_per_token * count,
            weights_s: self.weights_s * count,
            activations_s_per_token: self.activations_s_per_token * count,
        }
    }
}
