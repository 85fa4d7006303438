//! A trace in a few numbers.

use super::ImportedRequest;

/// Lengths in a few numbers, in tokens. Percentiles are nearest ranks: lengths that occurred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthSummary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// Ninety-ninth percentile.
    pub p99: u64,
    /// Longest.
    pub max: u64,
}

/// A trace in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceSummary {
    /// How many.
    pub requests: u64,
    /// From the first arrival to the last, in seconds.
    pub span_s: f64,
    /// Gaps between arrivals per second of the span, as `Trace::mean_rate_per_s` has it; `None`
    /// with no span.
    pub mean_rate_per_s: Option<f64>,
    /// Prompt lengths.
    pub input_tokens: LengthSummary,
    /// Output lengths.
    pub output_tokens: LengthSummary,
    /// Standard deviation of the gaps between arrivals over their mean: 1 for independent users,
    /// more for bursts. `None` with no span.
    pub gap_cv: Option<f64>,
}

impl TraceSummary {
    /// Of requests in order of arrival.
    #[must_use]
    pub fn of(rows: &[ImportedRequest]) -> Self {
        let span_s = match (rows.first(), rows.last()) {
            (Some(first), Some(last)) => last.arrival_s - first.arrival_s,
            _ => 0.0,
        };
        let gaps = rows.len().saturating_sub(1) as f64;
        Self {
            requests: rows.len() as u64,
            span_s,
            mean_rate_per_s: (span_s > 0.0).then(|| gaps / span_s),
            input_tokens: LengthSummary::of(rows.iter().map(|row| row.input_tokens).collect()),
            output_tokens: LengthSummary::of(rows.iter().map(|row| row.output_tokens).collect()),
            gap_cv: (span_s > 0.0).then(|| gap_cv(rows, span_s / gaps)),
        }
    }
}

impl LengthSummary {
    fn of(mut lengths: Vec<u64>) -> Self {
        lengths.sort_unstable();
        let sum: u128 = lengths.iter().map(|&length| u128::from(length)).sum();
        let percentile = |percent: usize| {
            // The least rank with at least this share at or below it.
            let rank = (percent * lengths.len()).div_ceil(100);
            lengths.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            mean: sum as f64 / lengths.len().max(1) as f64,
            p50: percentile(50),
            p99: percentile(99),
            max: lengths.last().copied().unwrap_or(0),
        }
    }
}

fn gap_cv(rows: &[ImportedRequest], mean_s: f64) -> f64 {
    let gaps = rows.windows(2).map(|pair| pair[1].arrival_s - pair[0].arrival_s);
    let squares: f64 = gaps.map(|gap| (gap - mean_s) * (gap - mean_s)).sum();
    (squares / (rows.len() - 1) as f64).sqrt() / mean_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arrival_s: f64, input_tokens: u64) -> ImportedRequest {
        ImportedRequest {
            arrival_s,
            input_tokens,
            output_tokens: 1,
            prefix_hashes: vec![],
            session: None,
        }
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let lengths = LengthSummary::of((1..=100).rev().collect());
        assert_eq!((lengths.p50, lengths.p99, lengths.max, lengths.mean), (50, 99, 100, 50.5));
        assert_eq!(LengthSummary::of(vec![7]).p99, 7);
    }

    #[test]
    fn even_gaps_have_no_variation() {
        let summary = TraceSummary::of(&[request(1.0, 1), request(2.0, 2), request(3.0, 3)]);
        assert_eq!((summary.span_s, summary.mean_rate_per_s), (2.0, Some(1.0)));
        assert_eq!(summary.gap_cv, Some(0.0));
    }

    #[test]
    fn no_span_has_no_rate() {
        for rows in [vec![], vec![request(5.0, 1)], vec![request(5.0, 1), request(5.0, 1)]] {
            let summary = TraceSummary::of(&rows);
            assert_eq!((summary.mean_rate_per_s, summary.gap_cv), (None, None));
        }
    }
}
