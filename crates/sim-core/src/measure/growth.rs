//! How the distributions of a run grow with time, which intervals of their percentiles are told from.
//!
//! No value costs anything when it comes: a distribution remembers all of them, so that it is enough
//! to look at it each time that a row of windows ends.

use super::{
    distribution::Distribution,
    histogram::Histogram,
    run::{ClassRun, Run},
};

/// Bins of a histogram that are one bin here: 64 to a factor of two, 1.6 % wide at most.
const JOINED: usize = 4;

/// A distribution that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latency {
    Tpot,
    Itl,
    E2e,
}

impl Latency {
    const ALL: [Self; 3] = [Self::Tpot, Self::Itl, Self::E2e];

    pub(super) const fn of(self, run: &Run) -> &Distribution {
        match self {
            Self::Tpot => &run.tpot,
            Self::Itl => &run.itl,
            Self::E2e => &run.e2e,
        }
    }

    /// What a class has measured and the run has not yet taken over.
    const fn of_class(self, class: &ClassRun) -> Option<&Distribution> {
        match self {
            Self::Tpot => Some(&class.tpot),
            Self::Itl => None,
            Self::E2e => Some(&class.e2e),
        }
    }
}

/// How many values bins held, those that held any, in order.
type Counts = Vec<(u32, u64)>;

/// The values of the followed distributions by bins, up to the end of each row of windows.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Growth([Vec<Counts>; 3]);

impl Growth {
    /// Bins of each distribution.
    pub(super) const BINS: usize = Histogram::BINS.div_ceil(JOINED);

    /// A row of windows has ended; the run's classes have what is theirs.
    pub(super) fn note(&mut self, run: &Run) {
        for (rows, latency) in self.0.iter_mut().zip(Latency::ALL) {
            let mut histogram = Histogram::default();
            latency.of(run).count_in(&mut histogram);
            for class in run.classes.iter().filter_map(|class| latency.of_class(class)) {
                class.count_in(&mut histogram);
            }
            let joined = histogram.counts().chunks(JOINED).map(|bins| bins.iter().sum());
            let held = joined.enumerate().filter(|(_, count)| *count > 0);
            rows.push(held.map(|(bin, count)| (bin as u32, count)).collect());
        }
    }

    /// Rows that have ended.
    pub(super) fn len(&self) -> usize {
        let [rows, ..] = &self.0;
        rows.len()
    }

    /// Forget every second row.
    pub(super) fn halve(&mut self) {
        for rows in &mut self.0 {
            let mut is_second = true;
            rows.retain(|_| {
                is_second = !is_second;
                is_second
            });
        }
    }

    /// So many rows: nothing comes in those that are added.
    pub(super) fn resize(&mut self, number: usize) {
        for rows in &mut self.0 {
            let last = rows.last().cloned().unwrap_or_default();
            rows.resize(number, last);
        }
    }

    /// Add the values of another replica, in as many rows.
    pub(super) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = sum(mine, theirs);
            }
        }
    }

    /// Values of a distribution in a bin, in rows `from..to`.
    pub(super) fn in_bin(&self, latency: Latency, bin: usize, from: usize, to: usize) -> u64 {
        let before = |row| {
            let counts = self.before(latency, row);
            let found = counts.binary_search_by_key(&bin, |(bin, _)| *bin as usize);
            found.map_or(0, |place| counts[place].1)
        };
        before(to) - before(from)
    }

    /// Values of a distribution below a bin, in rows `from..to`.
    pub(super) fn below_bin(&self, latency: Latency, bin: usize, from: usize, to: usize) -> u64 {
        let before = |row| {
            let below = self.before(latency, row).iter().take_while(|(at, _)| (*at as usize) < bin);
            below.map(|(_, count)| count).sum::<u64>()
        };
        before(to) - before(from)
    }

    /// Values by bins before row `row` begins.
    fn before(&self, latency: Latency, row: usize) -> &[(u32, u64)] {
        let rows = &self.0[latency as usize];
        row.checked_sub(1).and_then(|last| rows.get(last)).map_or(&[], Vec::as_slice)
    }
}

/// The counts of both.
fn sum(mine: &[(u32, u64)], theirs: &[(u32, u64)]) -> Counts {
    let mut sum = Counts::with_capacity(mine.len().max(theirs.len()));
    let (mut mine, mut theirs) = (mine, theirs);
    while let ([(a, n), others @ ..], [(b, m), rest @ ..]) = (mine, theirs) {
        let (takes_mine, takes_theirs) = (a <= b, b <= a);
        sum.push((*a.min(b), u64::from(takes_mine) * n + u64::from(takes_theirs) * m));
        mine = if takes_mine { others } else { mine };
        theirs = if takes_theirs { rest } else { theirs };
    }
    sum.extend_from_slice(mine);
    sum.extend_from_slice(theirs);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_bin_by_bin() {
        let (mine, theirs) = ([(1, 2), (4, 1), (9, 5)], [(0, 7), (4, 3), (5, 1), (12, 2)]);
        let both = [(0, 7), (1, 2), (4, 4), (5, 1), (9, 5), (12, 2)];
        assert_eq!(sum(&mine, &theirs), both);
        assert_eq!(sum(&theirs, &mine), both);
        assert_eq!(sum(&mine, &[]), mine);
    }

    #[test]
    fn rows_are_halved_at_the_marks_that_are_left() {
        let mut growth = Growth(std::array::from_fn(|_| (1..=5).map(|n| vec![(3, n)]).collect()));
        growth.halve();
        assert_eq!(growth.len(), 2);
        assert_eq!(growth.in_bin(Latency::E2e, 3, 0, 1), 2);
        assert_eq!(growth.in_bin(Latency::E2e, 3, 1, 2), 2);
        growth.resize(3);
        assert_eq!(growth.below_bin(Latency::Itl, 4, 2, 3), 0);
        assert_eq!(growth.below_bin(Latency::Itl, 4, 0, 3), 4);
        assert_eq!(growth.below_bin(Latency::Itl, 3, 0, 3), 0);
    }
}
