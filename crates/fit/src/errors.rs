//! How far predictions are off.

use crate::setting::Setting;

/// What a model says of a run, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Time to the first token: the statistic that was measured.
    pub ttft_s: f64,
    /// Mean time per further token.
    pub tpot_s: f64,
    /// Mean time to the last token.
    pub e2e_s: f64,
}

/// Median and 90th percentile of absolute errors, in percent; no numbers where nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// Median, the lower of two.
    pub median: f64,
    /// 90th percentile, nearest rank.
    pub p90: f64,
}

/// Errors of a set of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Runs.
    pub runs: usize,
    /// Of the time to the first token.
    pub ttft: Error,
    /// Of the time per further token.
    pub tpot: Error,
    /// Of the time to the last token.
    pub e2e: Error,
}

impl Error {
    /// Of absolute errors in percent, in any order.
    #[must_use]
    pub fn of(mut errors: Vec<f64>) -> Self {
        errors.sort_unstable_by(f64::total_cmp);
        let at = |rank: usize| errors.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN);
        let count = errors.len();
        Self { median: at(count.div_ceil(2)), p90: at((9 * count).div_ceil(10)) }
    }
}

impl Errors {
    /// Of runs with what was predicted for them. A TTFT that has no weight in a fit has none here, either.
    #[must_use]
    pub fn of<'a>(runs: impl Iterator<Item = (&'a Setting, Predicted)>) -> Self {
        let (mut ttft, mut tpot, mut e2e) = (Vec::new(), Vec::new(), Vec::new());
        for (setting, predicted) in runs {
            let percent =
                |predicted: f64, measured: f64| 100.0 * (predicted / measured - 1.0).abs();
            let measured = &setting.measured;
            tpot.push(percent(predicted.tpot_s, measured.tpot_s));
            if let Some(e2e_s) = measured.e2e_s {
                e2e.push(percent(predicted.e2e_s, e2e_s));
            }
            if let Some(ttft_s) = measured.ttft_s.filter(|_| setting.ttft_weight > 0.0) {
                ttft.push(percent(predicted.ttft_s, ttft_s));
            }
        }
        Self { runs: tpot.len(), ttft: Error::of(ttft), tpot: Error::of(tpot), e2e: Error::of(e2e) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_nearest() {
        let error = Error::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((error.median, error.p90), (3.0, 5.0));
        assert_eq!(Error::of((1..=100).map(f64::from).collect()).p90, 90.0);
        assert!(Error::of(Vec::new()).median.is_nan());
    }
}
