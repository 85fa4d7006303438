//! How sure the figures of one run are: confidence intervals by batch means over its windows.
//!
//! They are of the steady state: the warm-up is left out, and what came after the last arrival.

use crate::float::{from_count, greater, lesser};

#[cfg(feature = "growth")]
use super::growth::{Growth, Latency};
use super::{
    batch_means::{Interval, Spread, ratio},
    distribution::Distribution,
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
    /// Percentiles 50, 90 and 99 of the requests' time per output token, in seconds; where
    /// [`Keep::intervals`](crate::Keep::intervals) asked for them.
    pub tpot_s: [Option<Interval>; 3],
    /// Percentiles 50, 90 and 99 of the gaps between tokens, in seconds; where asked for.
    pub itl_s: [Option<Interval>; 3],
    /// Mean end-to-end latency, in seconds.
    pub e2e_mean_s: Option<Interval>,
    /// Percentiles 50, 90 and 99 of the end-to-end latency, in seconds; where asked for.
    pub e2e_s: [Option<Interval>; 3],
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
        let [ttft_p50_s, ttft_p90_s, ttft_p99_s] = settled.of_ttft();
        #[cfg(feature = "growth")]
        let [tpot_s, itl_s, e2e_s] =
            [Latency::Tpot, Latency::Itl, Latency::E2e].map(|l| settled.of(l));
        #[cfg(not(feature = "growth"))]
        let [tpot_s, itl_s, e2e_s] = [[None; 3]; 3];
        Some(Intervals {
            ttft_mean_s: settled.ratio(&|_, left| (left.ttft_s, from_count(left.completed))),
            ttft_p50_s,
            ttft_p90_s,
            ttft_p99_s,
            tpot_mean_s: settled.ratio(&|_, left| (left.tpot_s, from_count(left.tpot_count))),
            tpot_s,
            itl_s,
            e2e_s,
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

    /// The percentiles 50, 90 and 99 of the time to first token.
    fn of_ttft(&self) -> [Option<Interval>; 3] {
        PERCENTS.map(|percent| self.percentile(&FirstTokens(self.run), percent))
    }

    /// The same of a distribution that was followed.
    #[cfg(feature = "growth")]
    fn of(&self, latency: Latency) -> [Option<Interval>; 3] {
        let Some(growth) = &self.run.windows.growth else { return [None; 3] };
        let followed = Followed { run: self.run, growth, latency };
        PERCENTS.map(|percent| self.percentile(&followed, percent))
    }

    /// A percentile, by the interval of the share of values that it exceeds: its ends are the values
    /// at the ends of that interval (Woodruff, "Confidence intervals for medians and other position
    /// measures", 1952).
    fn percentile(&self, values: &dyn Binned, percent: f64) -> Option<Interval> {
        let share = percent / 100.0;
        let number = from_count(values.number(self.from, self.to));
        let spread = self.spread_of_share(values, share, number)?;
        if spread.worth(share * (1.0 - share), number) * lesser(share, 1.0 - share) < BEYOND {
            return None;
        }
        let shares = spread.around_share(share, number, LEVEL);
        let value_of = |share: f64| self.value_of_rank(values, share * number);
        Some(Interval {
            value: value_of(share)?,
            low: value_of(shares.low)?,
            high: value_of(shares.high)?,
            ..shares
        })
    }

    /// How much the share of values up to a percentile varies. A part of those in its bin counts:
    /// how the part varies from batch to batch is not known, so it is taken as drawn one by one.
    fn spread_of_share(&self, values: &dyn Binned, share: f64, number: f64) -> Option<Spread> {
        let (bin, below) = self.bin_of_rank(values, share * number);
        let inside = from_count(values.in_bin(bin, self.from, self.to));
        let part = (share * number - from_count(below)) / greater(1.0, inside);
        let row = |row: usize| {
            let below = from_count(values.below_bin(bin, row, row + 1));
            let inside = from_count(values.in_bin(bin, row, row + 1));
            (below + part * inside, from_count(values.number(row, row + 1)))
        };
        let rows: Vec<(f64, f64)> = (self.from..self.to).map(row).collect();
        let (_, mut spread) = ratio(&rows)?;
        spread.variance += values.at_once() * inside * part * (1.0 - part) / (number * number);
        Some(spread)
    }

    /// The bin that holds the value of a rank, with the number of values below it.
    fn bin_of_rank(&self, values: &dyn Binned, rank: f64) -> (usize, u64) {
        let mut below = 0;
        for bin in 0..values.bins() {
            let up_to = below + values.in_bin(bin, self.from, self.to);
            if from_count(up_to) >= rank && up_to > below {
                return (bin, below);
            }
            below = up_to;
        }
        (values.bins(), below)
    }

    /// The value of a rank in the settled part: within its bin, the values of the whole run.
    fn value_of_rank(&self, values: &dyn Binned, rank: f64) -> Option<f64> {
        let rank = lesser(rank, from_count(values.number(self.from, self.to)));
        let (bin, below) = self.bin_of_rank(values, rank);
        let inside = values.in_bin(bin, self.from, self.to).max(1);
        let part = (rank - from_count(below)) / from_count(inside);
        let rows = self.run.windows.len().div_ceil(ROW);
        let in_all = values.in_bin(bin, 0, rows);
        // What is a whole number but for rounding is not to be rounded up.
        let inside = (part * from_count(in_all) * (1.0 - 1e-12)).ceil() as u64;
        values.all().value_at_rank(values.below_bin(bin, 0, rows) + inside.max(1))
    }
}

/// Percentiles that are told.
const PERCENTS: [f64; 3] = [50.0, 90.0, 99.0];

/// Values by bins, in rows of windows.
trait Binned {
    /// How many bins there are.
    fn bins(&self) -> usize;

    /// All values.
    fn number(&self, from: usize, to: usize) -> u64;

    /// Values in a bin.
    fn in_bin(&self, bin: usize, from: usize, to: usize) -> u64;

    /// Values below a bin.
    fn below_bin(&self, bin: usize, from: usize, to: usize) -> u64;

    /// How many values come together and are one and the same, on average.
    fn at_once(&self) -> f64;

    /// The values of the whole run.
    fn all(&self) -> &Distribution;
}

/// Times to first token.
struct FirstTokens<'a>(&'a Run);

impl Binned for FirstTokens<'_> {
    fn bins(&self) -> usize {
        TTFT_BINS
    }

    fn number(&self, from: usize, to: usize) -> u64 {
        let at = |row: usize| self.0.windows.left_before(row * ROW).completed;
        at(to).saturating_sub(at(from))
    }

    fn in_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        self.0.windows.ttft_in_bin(bin, from, to)
    }

    fn below_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        self.0.windows.ttft_below_bin(bin, from, to)
    }

    fn at_once(&self) -> f64 {
        1.0
    }

    fn all(&self) -> &Distribution {
        &self.0.ttft
    }
}

/// The values of a distribution that was followed.
#[cfg(feature = "growth")]
struct Followed<'a> {
    run: &'a Run,
    growth: &'a Growth,
    latency: Latency,
}

#[cfg(feature = "growth")]
impl Binned for Followed<'_> {
    fn bins(&self) -> usize {
        Growth::BINS
    }

    fn number(&self, from: usize, to: usize) -> u64 {
        self.growth.below_bin(self.latency, Growth::BINS, from, to)
    }

    fn in_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        self.growth.in_bin(self.latency, bin, from, to)
    }

    fn below_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        self.growth.below_bin(self.latency, bin, from, to)
    }

    /// All who decode in a step have the same gap.
    fn at_once(&self) -> f64 {
        match self.latency {
            Latency::Itl => {
                greater(1.0, from_count(self.run.itl.count()) / from_count(self.run.steps.max(1)))
            }
            Latency::Tpot | Latency::E2e => 1.0,
        }
    }

    fn all(&self) -> &Distribution {
        self.latency.of(self.run)
    }
}

#[cfg(test)]
#[path = "intervals_tests.rs"]
mod tests;
