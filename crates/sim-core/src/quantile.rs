//! Quantiles of the normal and of Student's t distribution, for intervals and tests.

use crate::float::{greater, lesser};

/// The normal distribution function `Φ(z)`.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The `p`-quantile of the standard normal distribution; `None` unless `0 < p < 1`.
///
/// A rational first guess (Abramowitz and Stegun 26.2.23, error below 4.5e-4), then Halley's method
/// on `Φ`, which triples the digits each time; relative error about 1e-15.
#[must_use]
pub fn normal_quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p == 0.5 {
        return Some(0.0);
    }
    // Work in the tail, where Φ keeps its relative precision.
    let tail = lesser(p, 1.0 - p);
    let t = (-2.0 * libm::log(tail)).sqrt();
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - top / bottom;
    for _ in 0..3 {
        let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
        if density == 0.0 {
            break;
        }
        let newton = (tail - normal_cdf(-z)) / density;
        // The tail falls as z grows: too much tail left means z is too small.
        z -= newton / (1.0 - 0.5 * z * newton);
    }
    Some(if p < 0.5 { -z } else { z })
}

/// The distribution function of Student's t with `df` degrees of freedom; `None` unless `df > 0`
/// and `t` is a number.
#[must_use]
pub fn student_t_cdf(t: f64, df: f64) -> Option<f64> {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return None;
    }
    let tail = 0.5 * both_tails(t.abs(), df);
    Some(if t < 0.0 { tail } else { 1.0 - tail })
}

/// The `p`-quantile of Student's t with `df` degrees of freedom; `None` unless `0 < p < 1` and
/// `df > 0`.
///
/// By bisection on the distribution function, an incomplete beta function; beyond 1,000 degrees by
/// Fisher's expansion around the normal (error below 1e-10 between the 0.1 % and 99.9 % points).
#[must_use]
pub fn student_t_quantile(p: f64, df: f64) -> Option<f64> {
    let z = normal_quantile(p)?;
    if df.is_nan() || df <= 0.0 {
        return None;
    }
    if df > 1_000.0 {
        return Some(expanded(z, df));
    }
    if z == 0.0 {
        return Some(0.0);
    }
    let wanted = 2.0 * lesser(p, 1.0 - p);
    // The tails of t are heavier than normal.
    let (mut low, mut high) = (0.0, greater(1.0, 2.0 * z.abs()));
    while both_tails(high, df) > wanted && high < 1e300 {
        low = high;
        high *= 4.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if both_tails(middle, df) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let t = 0.5 * (low + high);
    Some(if z < 0.0 { -t } else { t })
}

/// Fisher's expansion of the t quantile in `1 / df` (Abramowitz and Stegun 26.7.5).
fn expanded(z: f64, df: f64) -> f64 {
    let s = z * z;
    let first = z * (s + 1.0) / 4.0;
    let second = z * ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let third = z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    z + (first + (second + third / df) / df) / df
}

/// `P(|T| > t)`: the regularised incomplete beta function `I_x(df/2, 1/2)` at
/// `x = df / (df + t²)`.
fn both_tails(t: f64, df: f64) -> f64 {
    let (a, b) = (0.5 * df, 0.5);
    let x = df / (df + t * t);
    let rest = t * t / (df + t * t);
    if rest == 0.0 {
        return 1.0;
    }
    if x == 0.0 {
        return 0.0;
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
            + a * libm::log(x)
            + b * libm::log(rest),
    );
    // The fraction converges fast on the near side of the mean; the other side is the complement.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, rest) / b
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the
/// modified Lentz method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    #[test]
    fn normal_quantiles_match_tables() {
        for (p, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_901),
            (0.01, -2.326_347_874_040_841),
            (1e-10, -6.361_340_902_404_056),
        ] {
            let z = normal_quantile(p).unwrap();
            assert!((z - expected).abs() < 2e-14, "{p}: {z}");
        }
        assert_eq!(normal_quantile(0.0), None);
        assert_eq!(normal_quantile(f64::NAN), None);
        assert!(normal_quantile(f64::MIN_POSITIVE).unwrap().is_finite());
    }

    #[test]
    fn t_quantiles_match_tables() {
        for (p, df, expected) in [
            (0.975, 1.0, 12.706_204_736_174_7),
            (0.975, 2.0, 4.302_652_729_749_5),
            (0.975, 7.0, 2.364_624_251_592_8),
            (0.975, 19.0, 2.093_024_054_408_3),
            (0.995, 29.0, 2.756_385_903_670_6),
            (0.975, 63.0, 1.998_340_542_520_7),
            (0.95, 10.0, 1.812_461_122_811_7),
        ] {
            let t = student_t_quantile(p, df).unwrap();
            assert!((t - expected).abs() < 1e-11 * expected, "{p}, {df}: {t}");
        }
        assert_eq!(student_t_quantile(0.5, 3.0), Some(0.0));
        assert_eq!(student_t_quantile(0.975, 0.0), None);
        assert_eq!(student_t_quantile(1.0, 5.0), None);
    }

    /// One degree is Cauchy: the quantile is `tan(π (p − ½))`.
    #[test]
    fn one_degree_is_cauchy() {
        for p in [0.6, 0.9, 0.999, 0.02] {
            let expected = libm::tan(std::f64::consts::PI * (p - 0.5));
            let t = student_t_quantile(p, 1.0).unwrap();
            assert!((t - expected).abs() < 1e-11 * expected.abs(), "{p}: {t}");
        }
    }

    #[test]
    fn the_expansion_takes_over_without_a_seam() {
        for p in [0.6, 0.9, 0.975, 0.999] {
            let below = student_t_quantile(p, 1_000.0).unwrap();
            let z = normal_quantile(p).unwrap();
            assert!((below - expanded(z, 1_000.0)).abs() < 1e-10, "{p}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_invert_the_distribution(p in 1e-6_f64..0.999_999, df in 0.5_f64..2_000.0) {
            let t = student_t_quantile(p, df).unwrap();
            prop_assert!((student_t_cdf(t, df).unwrap() - p).abs() < 1e-9);
            let theirs = StudentsT::new(0.0, 1.0, df).unwrap();
            prop_assert!((theirs.cdf(t) - p).abs() < 1e-8);
            prop_assert!((normal_cdf(normal_quantile(p).unwrap()) - p).abs() < 1e-15);
        }
    }
}
