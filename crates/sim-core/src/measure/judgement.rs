//! What a run says of itself: when it had warmed up, and whether it can stand for a steady state.

use super::{
    run::Run,
    sample::mean,
    stability::{Verdict, drift, stability},
    warm_up::{WarmUp, mser5},
    windows::Windows,
};

/// False alarms of the test for a growing line, as in [`stability`].
const FALSE_ALARMS: f64 = 0.01;
/// Least part of the arrivals that must pile up before that counts as overload, as in [`stability`].
const LEAST_SHORTFALL: f64 = 0.01;
/// Most of the late arrivals that may pile up in a run called stable, be it chance or not: departures
/// in waves, as of equal answers, can hide for long that fewer leave than come.
const MOST_SHORTFALL: f64 = 0.05;
/// Most of all requests that may wait for a slot as the last one comes, in a run called stable.
const MOST_LEFT_WAITING: f64 = 0.02;
/// Part of all requests that must be waiting for a slot as the last one comes, before a run with too
/// few windows for a test counts as overloaded all the same.
const MOST_WAIT: f64 = 0.5;
/// Fewest requests that anything may be said of.
const FEWEST_REQUESTS: u64 = 100;
/// How many mean latencies requests must come for, before a run counts as more than its own start.
const LATENCIES: f64 = 4.0;

/// What a run was, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What it was.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

/// Why a run was judged as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The number in flight shows no sign of change in the second half.
    Settled,
    /// The rate changes by design, and no line is left that grows.
    KeepsUp,
    /// More come than leave.
    PilesUp {
        /// Requests sent in the second half of the time in which requests came.
        came: u64,
        /// Requests that ended in that time.
        left: u64,
    },
    /// Most of those who come get no answer: rejected, dropped, or given up. What the few others saw
    /// is no latency of the system, however steady it all looks.
    GoesUnanswered {
        /// Requests that ended in the second half of the time in which requests came.
        ended: u64,
        /// Those of them that got an answer.
        answered: u64,
    },
    /// The number in flight still rises or falls in the second half.
    StillChanging,
    /// Fewer than 100 requests came, or they came for less than four mean latencies.
    TooShort,
}

impl Run {
    /// The warm-up in windows, by MSER-5 on the number in flight while requests come. `None` where
    /// the run is too short to tell, or its rate changes by design: then nothing settles.
    #[must_use]
    pub fn warm_up(&self) -> Option<WarmUp> {
        let windows = &self.windows;
        if windows.varies() {
            return None;
        }
        let in_flight: Vec<f64> =
            (0..windows.arriving()).map(|index| windows.mean_in_flight(index)).collect();
        let warm_up = mser5(&in_flight).ok()?;
        let (cut, rest) = in_flight.split_at_checked(warm_up.drop)?;
        // An engine starts empty: what begins no lower than it goes on is no warm-up but chance.
        let is_lower = cut.is_empty() || mean(cut) < mean(rest);
        Some(if is_lower { warm_up } else { WarmUp { drop: 0, ..warm_up } })
    }

    /// Whether the run can stand for a steady state, from the number in flight while requests come.
    ///
    /// Where the rate changes by design, such as over a day, the number that runs follows it. There
    /// the line is judged: those in flight beyond the most that ever ran at once.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let windows = &self.windows;
        let end = windows.arriving();
        let half = end / 2;
        let (came, left) = late(windows, half, end);
        let piles_up =
            Judgement { verdict: Verdict::Overloaded, reason: Reason::PilesUp { came, left } };
        let answered = answered(windows, half, end);
        if left >= FEWEST_REQUESTS && 2 * answered < left {
            let reason = Reason::GoesUnanswered { ended: left, answered };
            return Judgement { verdict: Verdict::Overloaded, reason };
        }
        if windows.varies() {
            return self.judge_line(piles_up);
        }
        let in_flight: Vec<f64> =
            (1..=end).map(|index| windows.in_flight_before(index) as f64).collect();
        let Ok(found) = stability(&in_flight, came, left) else {
            return self.judge_short(piles_up);
        };
        match found.verdict {
            Verdict::Overloaded => piles_up,
            Verdict::Stable if self.is_short() => TOO_SHORT,
            Verdict::Stable if self.may_pile_up(came, left) => {
                Judgement { verdict: Verdict::Transient, reason: Reason::StillChanging }
            }
            verdict @ Verdict::Transient => Judgement { verdict, reason: Reason::StillChanging },
            verdict @ Verdict::Stable => Judgement { verdict, reason: Reason::Settled },
        }
    }

    /// Those in flight beyond the most that ever ran at once, in a fleet beyond the most that each of
    /// its engines ever ran, as window `index` begins: at least as many wait.
    fn waiting_before(&self, index: usize) -> f64 {
        self.windows.in_flight_before(index).saturating_sub(self.summed_peak_running) as f64
    }

    fn judge_line(&self, piles_up: Judgement) -> Judgement {
        let end = self.windows.arriving();
        let half = end / 2;
        let line: Vec<f64> = (half + 1..=end).map(|index| self.waiting_before(index)).collect();
        let Ok(late) = drift(&line, FALSE_ALARMS) else { return self.judge_short(piles_up) };
        let Reason::PilesUp { came, .. } = piles_up.reason else { return piles_up };
        if late.grows && late.growth >= LEAST_SHORTFALL * came as f64 {
            return piles_up;
        }
        if self.is_short() {
            return TOO_SHORT;
        }
        Judgement { verdict: Verdict::Stable, reason: Reason::KeepsUp }
    }

    /// Too few windows for a test: either the run is short, or its requests came in a small part of
    /// the time that it took to serve them.
    fn judge_short(&self, piles_up: Judgement) -> Judgement {
        let waiting = self.waiting_before(self.windows.arriving());
        if self.offered >= FEWEST_REQUESTS && waiting >= MOST_WAIT * self.offered as f64 {
            return piles_up;
        }
        TOO_SHORT
    }

    /// Whether more may come than leave, beyond proof or not.
    fn may_pile_up(&self, came: u64, left: u64) -> bool {
        let waiting = self.waiting_before(self.windows.arriving());
        came as f64 - left as f64 > MOST_SHORTFALL * came as f64
            || waiting > MOST_LEFT_WAITING * self.offered as f64
    }

    fn is_short(&self) -> bool {
        let windows = &self.windows;
        let came_for_s = windows.width_s() * windows.arriving() as f64;
        let latency_s = self.e2e.mean().unwrap_or(0.0);
        self.offered < FEWEST_REQUESTS || came_for_s < LATENCIES * latency_s
    }
}

const TOO_SHORT: Judgement = Judgement { verdict: Verdict::Transient, reason: Reason::TooShort };

/// Requests that came and that left in windows `from..to`; those turned away on arrival did both.
fn late(windows: &Windows, from: usize, to: usize) -> (u64, u64) {
    let (came, comes) = (windows.came_before(from), windows.came_before(to));
    let (left, leaves) = (windows.left_before(from), windows.left_before(to));
    let turned_away = comes.turned_away - came.turned_away;
    let ended = leaves.completed + leaves.unanswered - left.completed - left.unanswered;
    (comes.offered - came.offered, ended + turned_away)
}

/// Requests that got their answer in windows `from..to`.
fn answered(windows: &Windows, from: usize, to: usize) -> u64 {
    windows.left_before(to).completed - windows.left_before(from).completed
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
