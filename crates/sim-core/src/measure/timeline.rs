//! How the counters of a run grow with time, in bounded memory.
//!
//! Counters only grow, so a time series needs no work for each request: it is enough to note where
//! the counters stand each time that time passes a mark. Marks are a fixed width apart. When there
//! are too many, every second one is forgotten, which is exact and does not depend on when it is
//! done. Arrivals have marks of their own: they are met ahead of the engine's time when it is idle,
//! and behind it when it is overloaded.

use crate::{
    float::{from_count, greater, lesser},
    workload::{RateProfile, RequestSource, Workload},
};

#[cfg(feature = "growth")]
use super::growth::Growth;
use super::{
    run::Run,
    windows::{Came, Left, ROW, TTFT_BINS, Windows, end_bin, halve, ttft_key},
};

/// Marks at most while requests come; half of them are left when that many have been passed.
const MOST_MARKS: usize = 256;
/// Marks at most until all have left: an engine that falls behind works on for long after the last
/// arrival, and the time until then is to be seen well.
const MOST_MARKS_IN_ALL: usize = 4 * MOST_MARKS;
/// Width of the first windows, in seconds, where nothing is known of how long the run will be: a
/// power of two, as all widths are, so that marks are exact.
const FIRST_WIDTH_S: f64 = 1.0 / 128.0;
/// The shortest and the longest span that first windows are chosen for, in seconds.
const SPANS_S: (f64, f64) = (1e-3, 1e12);

/// Notes where the counters stand as time goes on.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// From here on arrivals are beyond the next mark.
    next_came_s: f64,
    /// From here on ends are beyond the next mark.
    next_left_s: f64,
    origin_s: f64,
    width_s: f64,
    varies: bool,
    came: Vec<Came>,
    left: Vec<Left>,
    /// How many first tokens each bin had seen at every so many marks of those who left.
    rows: Vec<u32>,
    bins: Vec<u32>,
    /// The other distributions in the same rows, where asked for.
    #[cfg(feature = "growth")]
    growth: Option<Box<Growth>>,
    turned_away: u64,
    came_request_s: f64,
    left_request_s: f64,
}

impl Timeline {
    pub(super) fn new() -> Self {
        let mut timeline = Self {
            next_came_s: 0.0,
            next_left_s: 0.0,
            origin_s: 0.0,
            width_s: FIRST_WIDTH_S,
            varies: false,
            // At once: growing step by step would move them time and again.
            came: Vec::with_capacity(MOST_MARKS),
            left: Vec::with_capacity(MOST_MARKS),
            rows: Vec::with_capacity(MOST_MARKS / ROW * TTFT_BINS),
            bins: vec![0; TTFT_BINS],
            #[cfg(feature = "growth")]
            growth: None,
            turned_away: 0,
            came_request_s: 0.0,
            left_request_s: 0.0,
        };
        timeline.look_ahead();
        timeline
    }

    /// Follow the other distributions, too.
    #[cfg(feature = "growth")]
    pub(super) fn following(mut self) -> Self {
        self.growth = Some(Box::default());
        self
    }

    /// Choose windows that suit a workload.
    pub(super) fn suit(&mut self, workload: &Workload) {
        let (mut span_s, mut peak) = (None, 1.0);
        match workload.source.whole() {
            RequestSource::Replay { trace, speed } => {
                // What a recording's rate was meant to be is not known.
                self.varies = true;
                if let [first, .., last] = trace.rows() {
                    // Whole windows from 0, so that all replicas agree.
                    self.origin_s = (first.arrival_s / speed).floor();
                    span_s = Some((last.arrival_s - first.arrival_s) / speed);
                }
            }
            RequestSource::Mixed(mix) => {
                self.varies = mix.arrivals.profile != RateProfile::Constant;
                // Windows can only become wider, so they begin as if the peak lasted.
                peak = greater(1.0, mix.arrivals.profile.peak_factor());
            }
            _ => {}
        }
        let at_rate_s = |rate_per_s: f64| from_count(workload.requests) / (peak * rate_per_s);
        if let Some(span_s) = span_s.or_else(|| workload.source.rate_per_s().map(at_rate_s)) {
            let span_s = lesser(greater(SPANS_S.0, span_s), SPANS_S.1);
            let fewest = from_count(MOST_MARKS as u64);
            while self.width_s * fewest > span_s {
                self.width_s *= 0.5;
            }
            while self.width_s * fewest < span_s {
                self.width_s *= 2.0;
            }
        }
        self.look_ahead();
    }

    /// Begin with short windows, whatever the workload says of its rate.
    pub(super) fn set_unpaced(&mut self) {
        self.width_s = lesser(self.width_s, FIRST_WIDTH_S);
        self.look_ahead();
    }

    fn look_ahead(&mut self) {
        let after = |marks: usize| self.origin_s + self.width_s * from_count(marks as u64 + 1);
        (self.next_came_s, self.next_left_s) = (after(self.came.len()), after(self.left.len()));
    }

    /// A request comes; `offered` came before.
    #[inline]
    pub(super) fn comes(&mut self, arrival_s: f64, offered: u64) {
        if arrival_s >= self.next_came_s {
            self.pass_came(arrival_s, offered);
        }
        self.came_request_s += arrival_s;
    }

    /// The request that came last was turned away at once.
    pub(super) fn turned_away(&mut self, arrival_s: f64) {
        self.turned_away += 1;
        self.came_request_s -= arrival_s;
    }

    /// A request ends, in whatever way; `run` has not counted it yet.
    #[inline]
    pub(super) fn leaves(&mut self, now_s: f64, run: &Run) {
        if now_s >= self.next_left_s {
            self.pass_left(now_s, run);
        }
        self.left_request_s += now_s;
    }

    /// The request that ends had its first token so long after it came.
    #[inline]
    pub(super) fn first_token(&mut self, ttft_s: f64) {
        let key = ttft_key(ttft_s);
        let bin = if key < self.bins.len() { key } else { end_bin(ttft_s) };
        if let Some(count) = self.bins.get_mut(bin) {
            *count = count.wrapping_add(1);
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_came(&mut self, arrival_s: f64, offered: u64) {
        while arrival_s >= self.next_came_s {
            self.came.push(self.came(offered));
            self.make_room();
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_left(&mut self, now_s: f64, run: &Run) {
        while now_s >= self.next_left_s {
            self.left.push(self.left(run));
            if self.left.len().is_multiple_of(ROW) {
                self.rows.extend_from_slice(&self.bins);
                #[cfg(feature = "growth")]
                if let Some(growth) = &mut self.growth {
                    growth.note(run);
                }
            }
            self.make_room();
        }
    }

    /// Forget every second mark where there are too many.
    fn make_room(&mut self) {
        if self.came.len() >= MOST_MARKS || self.left.len() >= MOST_MARKS_IN_ALL {
            halve(&mut self.came, 1);
            halve(&mut self.left, 1);
            halve(&mut self.rows, TTFT_BINS);
            #[cfg(feature = "growth")]
            if let Some(growth) = &mut self.growth {
                growth.halve();
            }
            self.width_s *= 2.0;
        }
        self.look_ahead();
    }

    const fn came(&self, offered: u64) -> Came {
        Came { offered, turned_away: self.turned_away, request_s: self.came_request_s }
    }

    fn left(&self, run: &Run) -> Left {
        let unanswered = run.rejected + run.dropped + run.abandoned + run.throttled;
        let (mut ttft_s, mut e2e_s) = (run.ttft.sum(), run.e2e.sum());
        let (mut tpot_s, mut tpot_count) = (run.tpot.sum(), run.tpot.count());
        for class in &run.classes {
            ttft_s += class.ttft.sum();
            e2e_s += class.e2e.sum();
            tpot_s += class.tpot.sum();
            tpot_count += class.tpot.count();
        }
        Left {
            completed: run.completed,
            // Those turned away on arrival are counted where they came: they were never in.
            unanswered: unanswered - self.turned_away,
            slo_met: run.slo_met,
            input_tokens: run.input_tokens,
            output_tokens: run.output_tokens,
            tpot_count,
            ttft_s,
            tpot_s,
            e2e_s,
            queue_wait_s: run.queue_wait.sum(),
            request_s: self.left_request_s,
        }
    }

    /// The series, with a last window that ends after everything.
    pub(super) fn finish(mut self, run: &Run) -> Windows {
        let (came, left) = (self.came(run.offered), self.left(run));
        let arriving = self.came.len();
        let marks = self.came.len().max(self.left.len()) + 1;
        self.came.resize(marks, came);
        self.left.resize(marks, left);
        while self.rows.len() < marks.div_ceil(ROW) * TTFT_BINS {
            self.rows.extend_from_slice(&self.bins);
        }
        #[cfg(feature = "growth")]
        if let Some(growth) = &mut self.growth
            && growth.len() < marks.div_ceil(ROW)
        {
            growth.note(run);
            growth.resize(marks.div_ceil(ROW));
        }
        Windows {
            origin_s: self.origin_s,
            width_s: self.width_s,
            varies: self.varies,
            arriving,
            came: self.came,
            left: self.left,
            ttft_rows: self.rows,
            #[cfg(feature = "growth")]
            growth: self.growth,
        }
    }
}
