//! How far rounding alone can set the times of two engines apart that take the same steps.
//!
//! Both add up the same step times on a clock: the obvious engine one by one, the fast one a jump at
//! a time. An addition rounds to half a unit in the last place of the clock, so it adds at most
//! `ε/2 · clock`, with ε = 2⁻⁵². After `n` additions in each, the clocks differ by no more than
//! `ε · n · clock`. Step times themselves are sums of positive terms and so are the totals of jumps:
//! the dozen operations that lead to one are off by a dozen half units of themselves, together by a
//! dozen half units of the clock, however many steps there are. [`EVALUATION`] stands for them.
//!
//! A time to first token, a time per token or a wait is a **difference** of such clocks, and inherits
//! their error whole, however short it is: a token that takes 6 ms, an hour after the clock began, is
//! known as well as the hour is, not as well as 6 ms could be. Gaps between tokens are steps, not
//! differences, so they agree to 1e-9 of themselves.

use sim_core::{Run, float::greater};

/// Roundings on the way to the length of a step or of a jump, in additions to the clock.
const EVALUATION: f64 = 16.0;

/// Relative difference within which all else agrees.
const RELATIVE: f64 = 1e-9;

/// What rounding explains in two runs of the same steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    clock_error_s: f64,
}

impl Agreement {
    /// Of runs like `run`, in which something was added to a time so often beside the steps.
    pub(crate) fn of(run: &Run, other_additions: u64) -> Self {
        let records = run.requests.iter().flatten();
        let times = records.flat_map(|record| [record.arrival_s, record.finish_s]);
        let clock_s = times.filter(|time_s| time_s.is_finite()).fold(run.last_finish_s, greater);
        let additions = (run.steps + other_additions) as f64 + EVALUATION;
        Self { clock_error_s: f64::EPSILON * additions * clock_s }
    }

    /// Two readings of the clock. Where neither was ever read, both are not a number.
    pub(crate) fn is_same_time(&self, a_s: f64, b_s: f64) -> bool {
        (a_s.is_nan() && b_s.is_nan()) || (a_s - b_s).abs() <= self.clock_error_s
    }

    /// Two differences of readings, or the sums of so many of them: each end may be off.
    pub(crate) fn are_same_spans(&self, spans: u64, a_s: f64, b_s: f64) -> bool {
        (a_s - b_s).abs() <= RELATIVE * a_s.abs() + 2.0 * spans as f64 * self.clock_error_s
    }

    /// Two sums or lengths of steps.
    pub(crate) fn is_same_length(a_s: f64, b_s: f64) -> bool {
        (a_s - b_s).abs() <= RELATIVE * a_s.abs()
    }
}
