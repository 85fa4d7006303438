//! Distributions of service time, as M/G/1 needs them.

use crate::{
    float::{greater, lesser},
    quantile::normal_cdf,
};

use super::error::{TheoryError, not_negative, positive};

/// A distribution of service time, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    mean_s: f64,
    scv: f64,
    law: Law,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Constant,
    Exponential,
    Lognormal { log_mean: f64, log_sigma: f64 },
    Observed(Observed),
}

/// Equally likely values in ascending order, with the sums of those before each.
#[derive(Clone, Debug, PartialEq)]
struct Observed {
    values_s: Vec<f64>,
    sums: Vec<f64>,
    square_sums: Vec<f64>,
}

/// The service time and its moments on either side of a bound `x`.
struct Split {
    /// `P(S > x)`.
    beyond: f64,
    /// `E[S; S > x]`.
    mean_beyond: f64,
    /// `E[S²; S ≤ x]`.
    square_below: f64,
}

impl Service {
    /// Always the same time.
    ///
    /// # Errors
    /// A time outside its domain.
    pub fn constant(mean_s: f64) -> Result<Self, TheoryError> {
        Ok(Self { mean_s: positive("service_s", mean_s)?, scv: 0.0, law: Law::Constant })
    }

    /// Exponential.
    ///
    /// # Errors
    /// A mean outside its domain.
    pub fn exponential(mean_s: f64) -> Result<Self, TheoryError> {
        Ok(Self { mean_s: positive("service_s", mean_s)?, scv: 1.0, law: Law::Exponential })
    }

    /// Lognormal, from its mean and its squared coefficient of variation (`e^(σ²) − 1`).
    ///
    /// # Errors
    /// A number outside its domain; a variability of zero is [`Service::constant`].
    pub fn lognormal(mean_s: f64, scv: f64) -> Result<Self, TheoryError> {
        let mean_s = positive("service_s", mean_s)?;
        let scv = positive("service_scv", scv)?;
        let variance = libm::log1p(scv);
        let law = Law::Lognormal {
            log_mean: libm::log(mean_s) - 0.5 * variance,
            log_sigma: variance.sqrt(),
        };
        Ok(Self { mean_s, scv, law })
    }

    /// Each of the given times equally likely: service times as measured, or computed from measured
    /// lengths.
    ///
    /// # Errors
    /// A time outside its domain, no time at all, or only zeros.
    pub fn observed(times_s: &[f64]) -> Result<Self, TheoryError> {
        let mut values_s = Vec::with_capacity(times_s.len());
        for &time_s in times_s {
            values_s.push(not_negative("observed service time in seconds", time_s)?);
        }
        values_s.sort_unstable_by(f64::total_cmp);
        let running_sum = |of: fn(f64) -> f64| {
            let mut sum = 0.0;
            let sums = values_s.iter().map(|&value| {
                sum += of(value);
                sum
            });
            std::iter::once(0.0).chain(sums).collect::<Vec<f64>>()
        };
        let (sums, square_sums) = (running_sum(|x| x), running_sum(|x| x * x));
        let number = values_s.len() as f64;
        let mean_s = if number > 0.0 { sums[values_s.len()] / number } else { 0.0 };
        let mean_s = positive("mean of the observed service times", mean_s)?;
        let squares: f64 = values_s.iter().map(|x| (x - mean_s) * (x - mean_s)).sum();
        let scv = squares / number / (mean_s * mean_s);
        Ok(Self { mean_s, scv, law: Law::Observed(Observed { values_s, sums, square_sums }) })
    }

    /// Mean, in seconds.
    #[must_use]
    pub const fn mean_s(&self) -> f64 {
        self.mean_s
    }

    /// Squared coefficient of variation: variance over squared mean.
    #[must_use]
    pub const fn scv(&self) -> f64 {
        self.scv
    }

    /// `P(S > x)`.
    pub(super) fn share_beyond(&self, x_s: f64) -> f64 {
        if x_s < 0.0 { 1.0 } else { self.split(x_s).beyond }
    }

    /// `E[min(S, x)]` in seconds; `x` itself when negative.
    pub(super) fn limited_mean_s(&self, x_s: f64) -> f64 {
        if x_s <= 0.0 {
            return x_s;
        }
        if let Law::Exponential = self.law {
            return self.mean_s * -libm::expm1(-x_s / self.mean_s);
        }
        let split = self.split(x_s);
        lesser(self.mean_s, self.mean_s - split.mean_beyond + x_s * split.beyond)
    }

    /// `E[min(R, x)]` in seconds of the residual `R` that an arrival meets: its density is
    /// `P(S > u) / E[S]`, so this is `E[S²; S ≤ x]/2 + x E[S; S > x] − x² P(S > x)/2` over the mean.
    pub(super) fn limited_residual_s(&self, x_s: f64) -> f64 {
        if x_s <= 0.0 {
            return x_s;
        }
        if let Law::Exponential = self.law {
            return self.limited_mean_s(x_s);
        }
        let split = self.split(x_s);
        let twice = split.square_below + x_s * (2.0 * split.mean_beyond - x_s * split.beyond);
        0.5 * twice / self.mean_s
    }

    fn split(&self, x_s: f64) -> Split {
        let mean_s = self.mean_s;
        match &self.law {
            Law::Constant if x_s < mean_s => {
                Split { beyond: 1.0, mean_beyond: mean_s, square_below: 0.0 }
            }
            Law::Constant => Split { beyond: 0.0, mean_beyond: 0.0, square_below: mean_s * mean_s },
            Law::Exponential => {
                let beyond = libm::exp(-x_s / mean_s);
                let mean_beyond = (x_s + mean_s) * beyond;
                let square_beyond = (x_s * x_s) * beyond + 2.0 * mean_s * mean_beyond;
                let square_below = greater(0.0, 2.0 * mean_s * mean_s - square_beyond);
                Split { beyond, mean_beyond, square_below }
            }
            Law::Lognormal { log_mean, log_sigma } => {
                // Each moment of a lognormal is again lognormal, shifted by sigma.
                let z = if x_s > 0.0 {
                    (libm::log(x_s) - log_mean) / log_sigma
                } else {
                    f64::NEG_INFINITY
                };
                Split {
                    beyond: normal_cdf(-z),
                    mean_beyond: mean_s * normal_cdf(log_sigma - z),
                    square_below: mean_s
                        * mean_s
                        * (1.0 + self.scv)
                        * normal_cdf(z - 2.0 * log_sigma),
                }
            }
            Law::Observed(observed) => observed.split(x_s),
        }
    }
}

impl Observed {
    fn split(&self, x_s: f64) -> Split {
        let number = self.values_s.len();
        let below = self.values_s.partition_point(|&value| value <= x_s);
        Split {
            beyond: (number - below) as f64 / number as f64,
            mean_beyond: (self.sums[number] - self.sums[below]) / number as f64,
            square_below: self.square_sums[below] / number as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<Service> {
        vec![
            Service::constant(0.7).unwrap(),
            Service::exponential(0.7).unwrap(),
            Service::lognormal(0.7, 0.284).unwrap(),
            Service::lognormal(0.7, 9.0).unwrap(),
            Service::observed(&[0.2, 1.5, 0.4, 0.0, 0.2]).unwrap(),
        ]
    }

    /// Both limited means are integrals of the tail, taken here by the midpoint rule.
    #[test]
    fn limited_means_are_integrals_of_the_tail() {
        for service in laws() {
            let step = 2e-5;
            let (mut area, mut moment) = (0.0, 0.0);
            for index in 0..100_000 {
                let x = (f64::from(index) + 0.5) * step;
                area += step * service.share_beyond(x);
                // The residual's tail is 1 − area / mean.
                moment +=
                    step * (1.0 - (area - 0.5 * step * service.share_beyond(x)) / service.mean_s());
            }
            let x = 100_000.0 * step;
            assert!((service.limited_mean_s(x) - area).abs() < 3e-5, "{service:?}");
            assert!((service.limited_residual_s(x) - moment).abs() < 6e-5, "{service:?}: {moment}");
        }
    }

    /// Far out they reach the mean, and the residual's `E[S²] / (2 E[S])`.
    #[test]
    fn far_out_they_are_the_means() {
        for service in laws() {
            let far = 1e6;
            assert!((service.limited_mean_s(far) - service.mean_s()).abs() < 1e-9);
            let residual = 0.5 * service.mean_s() * (1.0 + service.scv());
            assert!((service.limited_residual_s(far) - residual).abs() < 1e-9, "{service:?}");
        }
    }

    #[test]
    fn impossible_services_are_refused() {
        assert!(Service::observed(&[]).is_err());
        assert!(Service::observed(&[0.0]).is_err());
        assert!(Service::observed(&[1.0, f64::NAN]).is_err());
        assert!(Service::lognormal(1.0, 0.0).is_err());
        assert!(Service::constant(-1.0).is_err());
    }
}
