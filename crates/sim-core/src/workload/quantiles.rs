//! A distribution of lengths by a few of its quantiles.

use serde::{Deserialize, Serialize};

/// Most points of a [`Quantiles`].
pub const MAX_QUANTILES: usize = 12;

/// An empirical distribution of lengths: at which length each share of the requests ends, with
/// straight lines in between. P0 is the shortest and P100 the longest length.
///
/// A plain value of fixed size, so that lengths stay cheap to copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    number: usize,
    shares: [f64; MAX_QUANTILES],
    tokens: [u64; MAX_QUANTILES],
}

impl Quantiles {
    /// From pairs of a share (0 to 1, rising, the first 0 and the last 1) and a length in tokens
    /// that no later one falls below. `None` if they are not such, or too many.
    #[must_use]
    pub fn new(points: &[(f64, u64)]) -> Option<Self> {
        let mut quantiles =
            Self { number: points.len(), shares: [0.0; MAX_QUANTILES], tokens: [0; MAX_QUANTILES] };
        if points.len() > MAX_QUANTILES {
            return None;
        }
        for (index, &(share, tokens)) in points.iter().enumerate() {
            (quantiles.shares[index], quantiles.tokens[index]) = (share, tokens);
        }
        quantiles.is_sound().then_some(quantiles)
    }

    /// Shares and lengths, in order.
    pub fn points(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.shares.iter().copied().zip(self.tokens.iter().copied()).take(self.number)
    }

    /// Shortest and longest length.
    #[must_use]
    pub fn bounds_tokens(&self) -> (u64, u64) {
        self.points()
            .fold((u64::MAX, 0), |(least, most), (_, tokens)| (least.min(tokens), most.max(tokens)))
    }

    /// The length, not rounded, that a share of the requests stays within.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        let mut before = (0.0, 0.0);
        for (index, (to, tokens)) in self.points().enumerate() {
            let here = (to, tokens as f64);
            if share <= to {
                let width = to - before.0;
                return if index == 0 || width <= 0.0 {
                    here.1
                } else {
                    before.1 + (here.1 - before.1) * ((share - before.0) / width)
                };
            }
            before = here;
        }
        before.1
    }

    /// The mean length in tokens, but for rounding.
    #[must_use]
    pub fn mean_tokens(&self) -> f64 {
        let mut before: Option<(f64, f64)> = None;
        let mut mean = 0.0;
        for (share, tokens) in self.points() {
            let here = (share, tokens as f64);
            if let Some((from, shorter)) = before {
                mean += (here.0 - from) * 0.5 * (shorter + here.1);
            }
            before = Some(here);
        }
        mean
    }

    /// The same distribution with every length changed; `None` if the order is lost.
    #[must_use]
    pub fn map_tokens(&self, change: impl Fn(u64) -> u64) -> Option<Self> {
        let points: Vec<(f64, u64)> =
            self.points().map(|(share, tokens)| (share, change(tokens))).collect();
        Self::new(&points)
    }

    /// Whether the points are what [`Quantiles::new`] asks for; another build may have sent others.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let points: Vec<(f64, u64)> = self.points().collect();
        let ends = (points.first().map(|point| point.0), points.last().map(|point| point.0));
        self.number >= 2
            && self.number <= MAX_QUANTILES
            && ends == (Some(0.0), Some(1.0))
            && points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Quantiles {
        Quantiles::new(&[(0.0, 10), (0.5, 100), (0.9, 500), (1.0, 2_000)]).unwrap()
    }

    #[test]
    fn lines_run_between_the_points() {
        for (share, tokens) in
            [(0.0, 10.0), (0.25, 55.0), (0.5, 100.0), (0.7, 300.0), (0.95, 1_250.0), (1.0, 2_000.0)]
        {
            assert!((chat().at(share) - tokens).abs() < 1e-9, "{share}");
        }
        assert_eq!(chat().bounds_tokens(), (10, 2_000));
        // Areas of the trapezia: 0.5 · 55 + 0.4 · 300 + 0.1 · 1,250.
        assert!((chat().mean_tokens() - 272.5).abs() < 1e-9);
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        for points in [
            &[][..],
            &[(0.0, 5)],
            &[(0.0, 5), (0.9, 6)],
            &[(0.1, 5), (1.0, 6)],
            &[(0.0, 5), (0.5, 4), (1.0, 6)],
            &[(0.0, 5), (0.5, 6), (0.5, 7), (1.0, 8)],
            &[(0.0, 5), (f64::NAN, 6), (1.0, 8)],
            &[(0.0, 1); 13],
        ] {
            assert_eq!(Quantiles::new(points), None, "{points:?}");
        }
    }

    #[test]
    fn lengths_can_be_changed_together() {
        let halved = chat().map_tokens(|tokens| tokens / 2).unwrap();
        assert_eq!(halved.at(0.5), 50.0);
        assert_eq!(chat().map_tokens(|tokens| 5_000 - tokens), None);
    }
}
