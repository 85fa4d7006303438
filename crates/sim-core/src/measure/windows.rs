//! A run as a series of equal windows of time.

use crate::float::from_count;

#[cfg(feature = "growth")]
use super::growth::Growth;

/// Bins of the first-token times, eight to a factor of two.
pub(super) const TTFT_BINS: usize = (24 << BIN_BITS) + 2;
const BIN_BITS: u32 = 3;
const SHIFT: u32 = 52 - BIN_BITS;
/// Values below 2⁻¹⁰ s (1 ms) share the first bin; from 2¹⁴ s (4.5 hours) on, the last.
const FIRST_KEY: u64 = (1023 - 10) << BIN_BITS;

/// The bins are noted once in so many windows.
pub(super) const ROW: usize = 4;

/// The bin of a time to first token within range, by the first bits of the value itself, as in
/// `histogram`; no bin at all for one outside.
#[inline]
pub(super) fn ttft_key(ttft_s: f64) -> usize {
    ((ttft_s.to_bits() >> SHIFT) as usize).wrapping_sub(FIRST_KEY as usize - 1)
}

/// The bin of a time to first token outside the range.
#[cold]
pub(super) fn end_bin(ttft_s: f64) -> usize {
    if ttft_s < 1.0 { 0 } else { TTFT_BINS - 1 }
}

/// Counters of arrivals up to a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Came {
    pub(super) offered: u64,
    /// Of these, turned away at once.
    pub(super) turned_away: u64,
    /// Sum of the arrival times of the others.
    pub(super) request_s: f64,
}

/// Counters of those who left up to a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    pub(super) completed: u64,
    pub(super) unanswered: u64,
    pub(super) slo_met: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) tpot_count: u64,
    pub(super) ttft_s: f64,
    pub(super) tpot_s: f64,
    pub(super) e2e_s: f64,
    pub(super) queue_wait_s: f64,
    /// Sum of the times at which they left.
    pub(super) request_s: f64,
}

/// The run in windows of equal width, from its beginning until everything had ended.
///
/// A request counts where it came and where it left; its latencies where it left.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Windows {
    /// Where the first window begins, in seconds.
    pub(super) origin_s: f64,
    /// Width of each, in seconds.
    pub(super) width_s: f64,
    /// Whether the rate changes over time by design.
    pub(super) varies: bool,
    /// How many windows ended before the last arrival.
    pub(super) arriving: usize,
    /// Counters at the end of each window.
    pub(super) came: Vec<Came>,
    pub(super) left: Vec<Left>,
    /// How many first tokens each bin had seen, at the end of every [`ROW`]th window.
    pub(super) ttft_rows: Vec<u32>,
    /// The other distributions in the same rows, where asked for.
    #[cfg(feature = "growth")]
    pub(super) growth: Option<Box<Growth>>,
}

/// One window of a run. Means are over the requests that got their last token in it; `None` where
/// none did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// When it begins, in seconds.
    pub start_s: f64,
    /// When it ends, in seconds.
    pub end_s: f64,
    /// Requests that were sent.
    pub arrivals: u64,
    /// Requests that got their last token.
    pub completed: u64,
    /// Requests that ended in any other way.
    pub unanswered: u64,
    /// Requests that got their last token and met their target.
    pub slo_met: u64,
    /// Prompt tokens of the completed requests.
    pub input_tokens: u64,
    /// Output tokens of the completed requests.
    pub output_tokens: u64,
    /// Time-average number of requests that had been sent and had not ended.
    pub mean_in_flight: f64,
    /// Their number at the end of the window.
    pub in_flight: u64,
    /// Mean time to first token, in seconds.
    pub ttft_mean_s: Option<f64>,
    /// Mean time per output token after the first, in seconds.
    pub tpot_mean_s: Option<f64>,
    /// Mean end-to-end latency, in seconds.
    pub e2e_mean_s: Option<f64>,
    /// Mean wait before the first step, in seconds.
    pub queue_wait_mean_s: Option<f64>,
}

impl Windows {
    /// Width of each window in seconds: a power of two.
    #[must_use]
    pub const fn width_s(&self) -> f64 {
        self.width_s
    }

    /// How many there are: one for each started width of time, at most 256 until the last arrival and
    /// 1,024 in all.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether there is none; a run has at least one.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// When window `index` ends, in seconds.
    pub(super) fn end_s(&self, index: usize) -> f64 {
        self.origin_s + self.width_s * from_count(index as u64 + 1)
    }

    /// Counters of arrivals as window `index` begins; after the last window, at its end.
    pub(super) fn came_before(&self, index: usize) -> Came {
        const NOBODY: Came = Came { offered: 0, turned_away: 0, request_s: 0.0 };
        let last = index.min(self.len()).checked_sub(1);
        last.and_then(|last| self.came.get(last).copied()).unwrap_or(NOBODY)
    }

    /// Counters of those who left as window `index` begins; after the last window, at its end.
    pub(super) fn left_before(&self, index: usize) -> Left {
        const NOBODY: Left = Left {
            completed: 0,
            unanswered: 0,
            slo_met: 0,
            input_tokens: 0,
            output_tokens: 0,
            tpot_count: 0,
            ttft_s: 0.0,
            tpot_s: 0.0,
            e2e_s: 0.0,
            queue_wait_s: 0.0,
            request_s: 0.0,
        };
        let last = index.min(self.len()).checked_sub(1);
        last.and_then(|last| self.left.get(last).copied()).unwrap_or(NOBODY)
    }

    /// How many requests are in flight as window `index` begins.
    pub(super) fn in_flight_before(&self, index: usize) -> u64 {
        let (came, left) = (self.came_before(index), self.left_before(index));
        (came.offered - came.turned_away).saturating_sub(left.completed + left.unanswered)
    }

    /// Time-average number in flight in window `index`: those who are there as it begins, for all of
    /// it, and those who come, less those who leave, for what is left of it.
    pub(super) fn mean_in_flight(&self, index: usize) -> f64 {
        let (came, left) = (self.came_before(index), self.left_before(index));
        let (comes, leaves) = (self.came_before(index + 1), self.left_before(index + 1));
        let (start_s, end_s) = (self.end_s(index) - self.width_s, self.end_s(index));
        let entered = (comes.offered - comes.turned_away) - (came.offered - came.turned_away);
        let ended = leaves.completed + leaves.unanswered - left.completed - left.unanswered;
        let came_request_s = from_count(entered) * end_s - (comes.request_s - came.request_s);
        let left_request_s = from_count(ended) * end_s - (leaves.request_s - left.request_s);
        let there = from_count(self.in_flight_before(index)) * (end_s - start_s);
        crate::float::greater(0.0, (there + came_request_s - left_request_s) / self.width_s)
    }

    /// How many windows ended before the last arrival.
    #[must_use]
    pub const fn arriving(&self) -> usize {
        self.arriving
    }

    /// Whether the rate of arrivals changes over time by design, as in a profile or a recording.
    #[must_use]
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// The windows in order of time.
    pub fn iter(&self) -> impl Iterator<Item = Window> + '_ {
        (0..self.len()).map(|index| self.window(index))
    }

    fn window(&self, index: usize) -> Window {
        let (came, left) = (self.came_before(index), self.left_before(index));
        let (comes, leaves) = (self.came_before(index + 1), self.left_before(index + 1));
        let completed = leaves.completed - left.completed;
        let mean = |sum_s: f64, count: u64| (count > 0).then(|| sum_s / from_count(count));
        Window {
            start_s: self.end_s(index) - self.width_s,
            end_s: self.end_s(index),
            arrivals: comes.offered - came.offered,
            completed,
            unanswered: leaves.unanswered - left.unanswered + comes.turned_away - came.turned_away,
            slo_met: leaves.slo_met - left.slo_met,
            input_tokens: leaves.input_tokens - left.input_tokens,
            output_tokens: leaves.output_tokens - left.output_tokens,
            mean_in_flight: self.mean_in_flight(index),
            in_flight: self.in_flight_before(index + 1),
            ttft_mean_s: mean(leaves.ttft_s - left.ttft_s, completed),
            tpot_mean_s: mean(leaves.tpot_s - left.tpot_s, leaves.tpot_count - left.tpot_count),
            e2e_mean_s: mean(leaves.e2e_s - left.e2e_s, completed),
            queue_wait_mean_s: mean(leaves.queue_wait_s - left.queue_wait_s, completed),
        }
    }

    /// First tokens in a bin before row `row` begins.
    fn ttft_before(&self, bin: usize, row: usize) -> u32 {
        let before = |last: usize| self.ttft_rows.get(last * TTFT_BINS + bin).copied();
        row.checked_sub(1).and_then(before).unwrap_or(0)
    }

    /// First tokens in a bin, in rows `from..to`.
    pub(super) fn ttft_in_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        u64::from(self.ttft_before(bin, to).wrapping_sub(self.ttft_before(bin, from)))
    }

    /// First tokens below a bin, in rows `from..to`.
    pub(super) fn ttft_below_bin(&self, bin: usize, from: usize, to: usize) -> u64 {
        (0..bin).map(|bin| self.ttft_in_bin(bin, from, to)).sum()
    }

    /// Add the windows of another replica that began at the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.width_s < other.width_s {
            self.widen();
        }
        while other.width_s < self.width_s {
            other.widen();
        }
        let marks = self.len().max(other.len());
        self.stretch(marks);
        other.stretch(marks);
        self.arriving = self.arriving.max(other.arriving);
        for (mine, theirs) in self.came.iter_mut().zip(&other.came) {
            mine.offered += theirs.offered;
            mine.turned_away += theirs.turned_away;
            mine.request_s += theirs.request_s;
        }
        for (mine, theirs) in self.left.iter_mut().zip(&other.left) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.ttft_rows.iter_mut().zip(&other.ttft_rows) {
            *mine = mine.wrapping_add(*theirs);
        }
        #[cfg(feature = "growth")]
        match (&mut self.growth, &other.growth) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            _ => self.growth = None,
        }
        self.trim();
    }

    /// Twice as wide.
    fn widen(&mut self) {
        // Odd windows and rows at the end are joined by empty ones.
        self.stretch(self.len().next_multiple_of(2 * ROW));
        halve(&mut self.came, 1);
        halve(&mut self.left, 1);
        halve(&mut self.ttft_rows, TTFT_BINS);
        #[cfg(feature = "growth")]
        if let Some(growth) = &mut self.growth {
            growth.halve();
        }
        self.arriving /= 2;
        self.width_s *= 2.0;
    }

    /// As many windows, the last of them empty.
    fn stretch(&mut self, marks: usize) {
        let (came, left) = (self.came_before(self.len()), self.left_before(self.len()));
        self.came.resize(marks, came);
        self.left.resize(marks, left);
        let last_row = self.ttft_rows.len().saturating_sub(TTFT_BINS);
        while self.ttft_rows.len() < marks.div_ceil(ROW) * TTFT_BINS {
            self.ttft_rows.extend_from_within(last_row..last_row + TTFT_BINS);
        }
        self.resize_growth();
    }

    /// Without empty windows at the end.
    fn trim(&mut self) {
        while let ([.., came, last_came], [.., left, last_left]) = (&self.came[..], &self.left[..])
            && came == last_came
            && left == last_left
        {
            self.came.pop();
            self.left.pop();
        }
        self.ttft_rows.truncate(self.len().div_ceil(ROW) * TTFT_BINS);
        self.resize_growth();
    }

    /// As many rows of the other distributions as there are windows for.
    fn resize_growth(&mut self) {
        #[cfg(feature = "growth")]
        if let Some(growth) = &mut self.growth {
            growth.resize(self.left.len().div_ceil(ROW));
        }
    }
}

impl Left {
    fn add(&mut self, other: &Self) {
        self.completed += other.completed;
        self.unanswered += other.unanswered;
        self.slo_met += other.slo_met;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.tpot_count += other.tpot_count;
        self.ttft_s += other.ttft_s;
        self.tpot_s += other.tpot_s;
        self.e2e_s += other.e2e_s;
        self.queue_wait_s += other.queue_wait_s;
        self.request_s += other.request_s;
    }
}

/// Keep every second group of so many values: the ones at the marks that are left.
pub(super) fn halve<T: Copy>(values: &mut Vec<T>, group: usize) {
    let kept = values.len() / group / 2;
    for index in 0..kept {
        let from = (2 * index + 1) * group;
        values.copy_within(from..from + group, index * group);
    }
    values.truncate(kept * group);
}
