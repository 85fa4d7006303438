//! The search for the largest load at which some end of the share's interval meets the target.

use crate::{answer::Estimate, bisection::Bisection};

/// Relative width at which the search for the capacity ends, and for the ends of its interval.
const TOLERANCE: f64 = 5e-4;
const END_TOLERANCE: f64 = 5e-3;

/// Which number of an interval is held against the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareEnd {
    Value,
    Low,
    High,
}

impl ShareEnd {
    /// Those that a round of so many replications can tell: one alone has no interval.
    pub(crate) const fn of_round(replications: usize) -> &'static [Self] {
        if replications == 1 { &[Self::Value] } else { &[Self::Value, Self::Low, Self::High] }
    }

    pub(crate) const fn of(self, estimate: &Estimate) -> f64 {
        match self {
            Self::Value => estimate.value,
            Self::Low => estimate.low,
            Self::High => estimate.high,
        }
    }

    /// Relative width at which a search for it ends.
    pub(crate) const fn tolerance(self) -> f64 {
        if matches!(self, Self::Value) { TOLERANCE } else { END_TOLERANCE }
    }
}

/// A bisection whose every load is asked of all replications.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    end: ShareEnd,
    bisection: Bisection,
    /// Share of each replication at the load asked about.
    shares: Vec<f64>,
}

impl Search {
    pub(crate) const fn new(end: ShareEnd, bisection: Bisection) -> Self {
        Self { end, bisection, shares: Vec::new() }
    }

    pub(crate) const fn end(&self) -> ShareEnd {
        self.end
    }

    /// The load that every replication is to be run at next.
    pub(crate) const fn next_load(&self) -> Option<f64> {
        self.bisection.next_rate()
    }

    /// Take the share of one of `replications` in, 0 to 1; the search moves on with the last.
    pub(crate) fn learn(&mut self, share: f64, replications: usize, target: f64) {
        self.shares.push(share);
        if self.shares.len() == replications {
            let estimate = Estimate::of_mean(&self.shares);
            self.bisection.accept(self.end.of(&estimate) >= target);
            self.shares.clear();
        }
    }

    /// The largest load known to hold.
    pub(crate) const fn found(&self) -> f64 {
        self.bisection.found()
    }
}
