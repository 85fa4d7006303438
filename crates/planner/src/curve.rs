//! The share of requests that meet the target, over the load, in the settled part of long runs; and
//! the capacity with its interval that follows from it.
//!
//! A run that begins empty sustains more than the long run does: near the ceiling a queue takes
//! `1/(1 − ρ)²` services to grow to what it will be on average (heavy traffic; Kingman, "The single
//! server queue in heavy traffic", 1961), so that short runs end before it has. So these runs are
//! longer than those of the knee, and their first half is not counted.
//!
//! Three things widen the interval, each for what the others do not see. The ends of the share's own
//! t interval, carried over to the load, see how the share varies, but where it is nearly 1 it hardly
//! does. The jackknife over replications (Tukey, 1958) sees how the crossing itself varies. And what
//! lies so close to the ceiling that one run could not tell the two apart may still be settling in
//! all of them alike: the lower end stays below that ([`Ceiling::limit`](crate::ceiling::Ceiling)).

use sim_core::float::{greater, lesser};

use crate::{answer::Estimate, estimate::t_975};

/// Where the curve is looked at first, as parts of the load that a single short run sustained: it is
/// too high more often than too low.
const FIRST_PARTS: [f64; 3] = [0.94, 0.97, 1.0];

/// How far the next load lies beyond the outermost one at first, and at most; each step is twice the
/// last.
const STEP: f64 = 0.03;
const MOST_STEP: f64 = 0.5;

/// Relative width within which the curve counts as straight at the capacity, and at the ends of its
/// interval.
const STRAIGHT: f64 = 0.01;
const END_STRAIGHT: f64 = 0.05;

/// What such a straight line may be off by, as a part of the load: no interval is narrower.
const RESOLUTION: f64 = 0.5 * STRAIGHT;

/// Most loads that are looked at.
const MOST_LOADS: usize = 24;

/// One of the shares that are known of a point.
type Share = fn(&Point) -> f64;

/// Every replication at one load.
#[derive(Clone, Debug)]
struct Point {
    load: f64,
    /// Share of each replication that met the target, 0 to 1.
    shares: Vec<f64>,
    /// Whether all of them were stable.
    keeps_up: bool,
}

impl Point {
    fn share(&self) -> Estimate {
        Estimate::of_mean(&self.shares)
    }

    /// The mean without one replication.
    fn share_without(&self, replication: usize) -> f64 {
        let all: f64 = self.shares.iter().sum();
        let own = self.shares.get(replication).copied().unwrap_or(0.0);
        (all - own) / (self.shares.len() as f64 - 1.0)
    }
}

/// The curve, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct ShareCurve {
    /// The share that has to meet the target.
    target: f64,
    replications: usize,
    /// The load where nearly nothing is asked, which holds.
    floor: f64,
    /// The largest loads that may be called a capacity.
    limit: Estimate,
    /// Loads asked about and not yet heard of in full.
    asked: Vec<f64>,
    /// In increasing load.
    points: Vec<Point>,
    /// Steps taken beyond the outermost loads, downwards and upwards.
    steps: (i32, i32),
}

impl ShareCurve {
    /// Look around a load that a short run sustained.
    pub(crate) fn new(
        around: f64,
        (floor, limit): (f64, Estimate),
        target: f64,
        replications: usize,
    ) -> Self {
        let around = greater(floor, lesser(around, limit.high));
        let mut curve = Self {
            target,
            replications,
            floor,
            limit,
            asked: Vec::new(),
            points: Vec::new(),
            steps: (0, 0),
        };
        for part in FIRST_PARTS {
            curve.ask(greater(floor, part * around));
        }
        curve
    }

    fn ask(&mut self, load: f64) {
        if self.asked.last().is_none_or(|last| *last < load) {
            self.asked.push(load);
        }
    }

    /// The loads that every replication is to be run at next; none once the curve is known.
    pub(crate) fn wanted(&self) -> &[f64] {
        &self.asked
    }

    /// Take the share of one replication, and whether it was stable, at a load that was asked about; loads come one after the
    /// other, in the order in which they are wanted.
    pub(crate) fn learn(&mut self, load: f64, (share, keeps_up): (f64, bool)) {
        let place = self.points.partition_point(|point| point.load < load);
        match self.points.get_mut(place) {
            Some(point) if point.load == load => {
                point.shares.push(share);
                point.keeps_up &= keeps_up;
            }
            _ => self.points.insert(place, Point { load, shares: vec![share], keeps_up }),
        }
        let is_heard = |load: &f64| {
            let heard =
                |point: &Point| point.load == *load && point.shares.len() >= self.replications;
            self.points.iter().any(heard)
        };
        if self.asked.iter().all(is_heard) {
            self.asked.clear();
            if self.points.len() < MOST_LOADS {
                self.ask_next();
            }
        }
    }

    /// Beyond an end that does not enclose the interval yet, or else inside the bracket of the
    /// capacity.
    fn ask_next(&mut self) {
        let below = self.points.first().filter(|first| self.is_low_open(first));
        let below = below.map(|first| greater(self.floor, first.load * (1.0 - step(self.steps.0))));
        let above = self.points.last().filter(|last| self.is_high_open(last)).map(|last| {
            let above = last.load * (1.0 + step(self.steps.1));
            if last.load < self.limit.high { lesser(self.limit.high, above) } else { above }
        });
        if let Some(load) = below {
            self.steps.0 += 1;
            self.ask(load);
        }
        if let Some(load) = above {
            self.steps.1 += 1;
            self.ask(load);
        }
        if self.asked.is_empty()
            && let Some(load) = self.inside()
        {
            self.ask(load);
        }
    }

    /// The middle of the first bracket that is too wide, that of the capacity before those of its ends.
    fn inside(&self) -> Option<f64> {
        let too_wide = |(share, straight): (Share, f64)| {
            let (low, high) = self.bracket(&share)?;
            (high - low > straight * high && low < self.limit.value).then_some(0.5 * (low + high))
        };
        let all: [(Share, f64); 3] = [
            (|point| point.share().value, STRAIGHT),
            (|point| point.share().low, END_STRAIGHT),
            (|point| point.share().high, END_STRAIGHT),
        ];
        all.into_iter().find_map(too_wide)
    }

    /// Whether the lower end may lie below the lowest load.
    fn is_low_open(&self, first: &Point) -> bool {
        first.share().low < self.target && first.load > self.floor
    }

    /// Whether the upper end may lie above the highest load. Above the ceiling it does only where every
    /// run keeps up: a ceiling is measured under overload, and what comes evenly may never get there.
    fn is_high_open(&self, last: &Point) -> bool {
        last.share().high >= self.target && (last.load < self.limit.high || last.keeps_up)
    }

    /// The loads around the first where a share is below the target.
    fn bracket(&self, share: &dyn Fn(&Point) -> f64) -> Option<(f64, f64)> {
        let place = self.points.iter().position(|point| share(point) < self.target)?;
        Some((self.points.get(place.checked_sub(1)?)?.load, self.points.get(place)?.load))
    }

    /// Where a share first falls below the target, on straight lines between the loads; the floor
    /// where it does from the first, the last load where it never does.
    fn crossing(&self, share: &dyn Fn(&Point) -> f64) -> f64 {
        let mut before: Option<(f64, f64)> = None;
        for point in &self.points {
            let here = share(point);
            if here < self.target {
                let Some((load, there)) = before else { return self.floor };
                return load + (point.load - load) * (there - self.target) / (there - here);
            }
            before = Some((point.load, here));
        }
        before.map_or(self.floor, |(load, _)| load)
    }

    /// The capacity with its 95 % interval.
    pub(crate) fn capacity(&self) -> Estimate {
        let found = self.crossing(&|point| point.share().value);
        let ends =
            [self.crossing(&|point| point.share().low), self.crossing(&|point| point.share().high)];
        let half = self.jackknifed_half_width();
        let kept_up = self.points.iter().filter(|point| point.keeps_up).map(|point| point.load);
        let most = kept_up.fold(self.limit.high, greater);
        let value = lesser(found, self.limit.value);
        let low = lesser(ends[0], found - half) * (1.0 - RESOLUTION);
        let high = greater(ends[1], found + half) * (1.0 + RESOLUTION);
        let low = lesser(value, lesser(low, self.limit.low));
        Estimate { value, low: greater(0.0, low), high: greater(value, lesser(most, high)) }
    }

    /// Half the width of the 95 % interval by how much the crossing moves without one replication.
    fn jackknifed_half_width(&self) -> f64 {
        let n = self.replications as f64;
        let without = |left_out| self.crossing(&|point: &Point| point.share_without(left_out));
        let loads: Vec<f64> = (0..self.replications).map(without).collect();
        let mean = loads.iter().sum::<f64>() / n;
        let squares: f64 = loads.iter().map(|load| (load - mean) * (load - mean)).sum();
        t_975(self.replications - 1) * ((n - 1.0) / n * squares).sqrt()
    }
}

/// A step beyond the outermost load, as a part of it, after so many others.
fn step(taken: i32) -> f64 {
    let mut step = STEP;
    for _ in 0..taken {
        step *= 2.0;
    }
    lesser(MOST_STEP, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Estimate = Estimate { value: 24.0, low: 23.5, high: 24.5 };

    /// Asks until the curve is known, with the share of a replication at a load.
    fn known(around: f64, replications: usize, share: impl Fn(usize, f64) -> f64) -> ShareCurve {
        let mut curve = ShareCurve::new(around, (0.01, LIMIT), 0.99, replications);
        while !curve.wanted().is_empty() {
            let wanted = curve.wanted().to_vec();
            assert!(wanted.windows(2).all(|pair| pair[0] < pair[1]), "{wanted:?}");
            for load in wanted {
                for replication in 0..replications {
                    curve.learn(load, (share(replication, load), false));
                }
            }
        }
        curve
    }

    /// A line that falls through the target at a load.
    fn falling(at: f64, load: f64) -> f64 {
        lesser(1.0, 0.99 - 0.2 * (load / at - 1.0))
    }

    #[test]
    fn replications_that_agree_leave_no_doubt() {
        for around in [12.0, 19.0, 20.0, 23.0] {
            let found = known(around, 4, |_, load| falling(20.0, load)).capacity();
            for (found, part) in
                [(found.low, 1.0 - RESOLUTION), (found.value, 1.0), (found.high, 1.0 + RESOLUTION)]
            {
                assert!((found / (20.0 * part) - 1.0).abs() < 1e-3, "{around}: {found}");
            }
        }
    }

    #[test]
    fn replications_that_differ_widen_both_ends() {
        let share = |replication, load| falling([19.0, 20.0, 20.0, 21.0][replication], load);
        let found = known(20.0, 4, share).capacity();
        assert!((found.value - 20.0).abs() < 0.1, "{found:?}");
        // Standard error 0.41, 3.18 of those, and the resolution.
        assert!((found.value - found.low - 1.4).abs() < 0.3, "{found:?}");
        assert!((found.high - found.value - 1.4).abs() < 0.3, "{found:?}");
    }

    #[test]
    fn near_the_ceiling_runs_that_agree_prove_nothing() {
        let found = known(24.0, 4, |_, _| 1.0).capacity();
        assert_eq!(found, LIMIT);
        let found = known(24.0, 4, |_, load| falling(23.9, load)).capacity();
        assert!(found.low == LIMIT.low && (found.value - 23.9).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn what_never_holds_is_found_at_the_floor() {
        let curve = known(20.0, 3, |_, load| if load < 0.02 { 1.0 } else { 0.5 });
        assert!(curve.points.len() <= MOST_LOADS);
        let found = curve.capacity();
        assert!(found.low <= found.value && found.value < 0.02 && found.value > 0.0, "{found:?}");
    }

    #[test]
    fn what_keeps_up_above_the_ceiling_may_be_more() {
        let mut curve = ShareCurve::new(24.0, (0.01, LIMIT), 0.99, 2);
        while !curve.wanted().is_empty() {
            for load in curve.wanted().to_vec() {
                for _ in 0..2 {
                    curve.learn(load, (if load < 26.0 { 1.0 } else { 0.0 }, load < 26.0));
                }
            }
        }
        let found = curve.capacity();
        assert!(found.value == LIMIT.value && found.high > 25.0 && found.high < 26.5, "{found:?}");
    }
}
