//! How sure the figures of one run are: confidence intervals by batch means over its windows.
//!
//! They are of the steady state: the warm-up is left out, and what came after the last arrival.

use crate::float::{from_count, greater, lesser};

use super::{
    batch_means::{Interval, Spread, ratio},
    run::Run,
    windows::{Left, ROW, TTFT_BINS},
};

/// Confidence level.
const LEVEL: f64 = 0.95;
/// Fewest finished requests from which an interval is told.
const FEWEST_REQUESTS: u64 = 200;
/// Independent requests that must lie beyond a percentile.
const BEYOND: f64 = 20.0;

/// The figures of the settled part of a run with their 95 % intervals; `None` where there are too
/// few requests to tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Mean time to first token, in seconds.
    pub ttft_mean_s: Option<Interval>,
    /// Median time to first token, in seconds.
    pub ttft_p50_s: Option<Interval>,
    /// 90th percentile of the time to first token, in seconds.
    pub ttft_p90_s: Option<Interval>,
    /// 99th percentile of the time to first token, in seconds.
    pub ttft_p99_s: Option<Interval>,
    /// Mean time per output token of the requests, in seconds.
    pub tpot_mean_s: Option<Interval>,
    /// Mean end-to-end latency, in seconds.
    pub e2e_mean_s: Option<Interval>,
    /// Mean wait before the first step, in seconds.
    pub queue_wait_mean_s: Option<Interval>,
    /// Share of the requests that ended which met their target.
    pub slo_share: Option<Interval>,
    /// Requests finished per second.
    pub throughput_per_s: Option<Interval>,
    /// Output tokens per second.
    pub output_tokens_per_s: Option<Interval>,
}

impl Run {
    /// The figures of the settled part of the run with their 95 % intervals.
    ///
    /// `None` for a run that is too short for 20 batches or has fewer than 200 requests in its settled
    /// part, and for one whose rate changes by design: no two of its batches are alike.
    #[must_use]
    pub fn intervals(&self) -> Option<Intervals> {
        let settled = Settled::new(self)?;
        Some(Intervals {
            ttft_mean_s: settled.ratio(&|_, left| (left.ttft_s, from_count(left.completed))),
            ttft_p50_s: settled.ttft_percentile(50.0),
            ttft_p90_s: settled.ttft_percentile(90.0),
            ttft_p99_s: settled.ttft_percentile(99.0),
            tpot_mean_s: settled.ratio(&|_, left| (left.tpot_s, from_count(left.tpot_count))),
            e2e_mean_s: settled.ratio(&|_, left| (left.e2e_s, from_count(left.completed))),
            queue_wait_mean_s: settled
                .ratio(&|_, left| (left.queue_wait_s, from_count(left.completed))),
            slo_share: settled.slo_share(),
            throughput_per_s: settled.ratio(&|time_s, left| (from_count(left.completed), time_s)),
            output_tokens_per_s: settled
                .ratio(&|time_s, left| (from_count(left.output_tokens), time_s)),
        })
    }
}

/// Two counters of those who left and of time in seconds.
type Pair<'a> = &'a dyn Fn(f64, &Left) -> (f64, f64);

/// The part of a run between its warm-up and its last arrival, in rows of windows.
struct Settled<'a> {
    run: &'a Run,
    from: usize,
    to: usize,
}

impl<'a> Settled<'a> {
    fn new(run: &'a Run) -> Option<Self> {
        let from = run.warm_up()?.drop.div_ceil(ROW);
        let settled = Self { run, from, to: run.windows.arriving() / ROW };
        (settled.completed() >= FEWEST_REQUESTS).then_some(settled)
    }

    fn completed(&self) -> u64 {
        let at = |row: usize| self.run.windows.left_before(row * ROW).completed;
        at(self.to).saturating_sub(at(self.from))
    }

    /// By how much two counters grew in each row.
    fn rows(&self, of: Pair) -> Vec<(f64, f64)> {
        let windows = &self.run.windows;
        let row_s = windows.width_s() * from_count(ROW as u64);
        let at = |row: usize| of(row_s * from_count(row as u64), &windows.left_before(row * ROW));
        let grown = |row: usize| (at(row + 1).0 - at(row).0, at(row + 1).1 - at(row).1);
        (self.from..self.to).map(grown).collect()
    }

    fn ratio(&self, of: Pair) -> Option<Interval> {
        let (value, spread) = ratio(&self.rows(of))?;
        Some(spread.around(value, LEVEL))
    }

    fn slo_share(&self) -> Option<Interval> {
        let rows = self.rows(&|_, left| {
            (from_count(left.slo_met), from_count(left.completed + left.unanswered))
        });
        let (value, spread) = ratio(&rows)?;
        let ended = rows.iter().map(|row| row.1).sum();
        Some(spread.around_share(value, ended, LEVEL))
    }

    /// A percentile, by the interval of the share of values that it exceeds: its ends are the values
    /// at the ends of that interval (Woodruff, "Confidence intervals for medians and other position
    /// measures", 1952).
    fn ttft_percentile(&self, percent: f64) -> Option<Interval> {
        let share = percent / 100.0;
        let number = from_count(self.completed());
        let spread = self.spread_of_share(share, number)?;
        if spread.worth(share * (1.0 - share), number) * lesser(share, 1.0 - share) < BEYOND {
            return None;
        }
        let shares = spread.around_share(share, number, LEVEL);
        let value_of = |share: f64| self.value_of_rank(share * number);
        Some(Interval {
            value: value_of(share)?,
            low: value_of(shares.low)?,
            high: value_of(shares.high)?,
            ..shares
        })
    }

    /// How much the share of values up to a percentile varies. A part of those in its bin counts:
    /// how the part varies from batch to batch is not known, so it is taken as drawn one by one.
    fn spread_of_share(&self, share: f64, number: f64) -> Option<Spread> {
        let (bin, below) = self.bin_of_rank(share * number);
        let inside = from_count(self.in_bin(bin));
        let part = (share * number - from_count(below)) / greater(1.0, inside);
        let windows = &self.run.windows;
        let row = |row: usize| {
            let below = from_count(windows.ttft_below_bin(bin, row, row + 1));
            let inside = from_count(windows.ttft_in_bin(bin, row, row + 1));
            let (from, to) = (windows.left_before(row * ROW), windows.left_before((row + 1) * ROW));
            (below + part * inside, from_count(to.completed - from.completed))
        };
        let rows: Vec<(f64, f64)> = (self.from..self.to).map(row).collect();
        let (_, mut spread) = ratio(&rows)?;
        spread.variance += inside * part * (1.0 - part) / (number * number);
        Some(spread)
    }

    fn in_bin(&self, bin: usize) -> u64 {
        self.run.windows.ttft_in_bin(bin, self.from, self.to)
    }

    /// The bin that holds the value of a rank, with the number of values below it.
    fn bin_of_rank(&self, rank: f64) -> (usize, u64) {
        let mut below = 0;
        for bin in 0..TTFT_BINS {
            let up_to = below + self.in_bin(bin);
            if from_count(up_to) >= rank && up_to > below {
                return (bin, below);
            }
            below = up_to;
        }
        (TTFT_BINS, below)
    }

    /// The value of a rank in the settled part: within its bin, the values of the whole run.
    fn value_of_rank(&self, rank: f64) -> Option<f64> {
        let windows = &self.run.windows;
        let rank = lesser(rank, from_count(self.completed()));
        let (bin, below) = self.bin_of_rank(rank);
        let part = (rank - from_count(below)) / from_count(self.in_bin(bin).max(1));
        let rows = windows.len().div_ceil(ROW);
        let in_all = windows.ttft_in_bin(bin, 0, rows);
        // What is a whole number but for rounding is not to be rounded up.
        let inside = (part * from_count(in_all) * (1.0 - 1e-12)).ceil() as u64;
        self.run.ttft.value_at_rank(windows.ttft_below_bin(bin, 0, rows) + inside.max(1))
    }
}

#[cfg(test)]
#[path = "intervals_tests.rs"]
mod tests;
