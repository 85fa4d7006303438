//! A number from a few replications, with its 95 % interval.

use sim_core::quantile::student_t_quantile;

use crate::answer::Estimate;

/// 97.5 % quantile of Student's t; infinite without a degree of freedom.
pub(crate) fn t_975(degrees: usize) -> f64 {
    student_t_quantile(0.975, degrees as f64).unwrap_or(f64::INFINITY)
}

impl Estimate {
    /// A number without an interval.
    #[must_use]
    pub const fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// The mean of independent replications, with its t interval.
    #[must_use]
    pub fn of_mean(replications: &[f64]) -> Self {
        let n = replications.len();
        let mean = replications.iter().sum::<f64>() / n.max(1) as f64;
        Self::around(mean, replications)
    }

    /// `value`, with the half-width of the t interval of the replications' mean. For a percentile,
    /// `value` comes from all requests together, the spread from the replications.
    #[must_use]
    pub fn around(value: f64, replications: &[f64]) -> Self {
        let n = replications.len();
        if n < 2 {
            return Self::exactly(value);
        }
        let mean = replications.iter().sum::<f64>() / n as f64;
        let squares: f64 = replications.iter().map(|x| (x - mean) * (x - mean)).sum();
        let half = t_975(n - 1) * (squares / ((n - 1) as f64 * n as f64)).sqrt();
        Self { value, low: value - half, high: value + half }
    }

    /// The same with both ends held at 0 or above.
    #[must_use]
    pub fn not_negative(self) -> Self {
        Self { low: sim_core::float::greater(0.0, self.low), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_match_tables() {
        for (degrees, expected) in [(1, 12.706), (7, 2.365), (11, 2.201), (20, 2.086), (63, 1.998)]
        {
            assert!((t_975(degrees) - expected).abs() < 0.001, "{degrees}: {}", t_975(degrees));
        }
    }

    #[test]
    fn the_interval_of_a_textbook_sample() {
        // Mean 5, standard deviation 2.581989, n = 4: half-width 3.182 · 2.581989 / 2 = 4.108.
        let estimate = Estimate::of_mean(&[2.0, 4.0, 6.0, 8.0]);
        assert_eq!(estimate.value, 5.0);
        assert!((estimate.high - 9.108).abs() < 0.001);
        assert!((estimate.low - 0.892).abs() < 0.001);
        assert_eq!(Estimate::of_mean(&[3.0]), Estimate::exactly(3.0));
    }
}
