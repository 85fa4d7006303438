//! How the mean arrival rate changes over time.
//!
//! Arrivals are drawn on a unit-rate clock and mapped to seconds through the inverse of the
//! cumulative rate, so that the same stream of users meets every profile, only compressed and
//! stretched. The inverse is exact for every profile here; none is stepped through time.

use serde::{Deserialize, Serialize};

use crate::{
    float::{greater, lesser},
    setup::SetupError,
};

/// The mean rate over time, as a multiple of the workload's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Default)]
pub enum RateProfile {
    /// The same at all times.
    #[default]
    Constant,
    /// Straight lines between points; before the first and after the last the rate stays. Two points
    /// at one time are a step.
    Piecewise {
        /// Points in order of time.
        points: Vec<RatePoint>,
    },
    /// Straight lines between points, over and over.
    Periodic {
        /// Points in order of time within one period; the first is at 0.
        points: Vec<RatePoint>,
        /// Length of a period in seconds, beyond the last point; the rate goes back to the first
        /// point's in between.
        period_s: f64,
    },
}

/// The rate at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatePoint {
    /// Time in seconds.
    pub time_s: f64,
    /// Multiple of the workload's rate, 0 or more.
    pub factor: f64,
}

impl RateProfile {
    /// A sudden change to `factor` at `at_s`.
    #[must_use]
    pub fn step(at_s: f64, factor: f64) -> Self {
        Self::piecewise(&[(at_s, 1.0), (at_s, factor)])
    }

    /// A straight change from 1 to `factor` between two times.
    #[must_use]
    pub fn ramp(from_s: f64, to_s: f64, factor: f64) -> Self {
        Self::piecewise(&[(from_s, 1.0), (to_s, factor)])
    }

    /// `factor` from `at_s` for `length_s`, then 1 again.
    #[must_use]
    pub fn spike(at_s: f64, length_s: f64, factor: f64) -> Self {
        let end_s = at_s + length_s;
        Self::piecewise(&[(at_s, 1.0), (at_s, factor), (end_s, factor), (end_s, 1.0)])
    }

    /// A day of 24 hourly factors.
    #[must_use]
    pub fn daily(hourly: &[f64; 24]) -> Self {
        let point =
            |(hour, &factor): (usize, &f64)| RatePoint { time_s: 3600.0 * hour as f64, factor };
        Self::Periodic {
            points: hourly.iter().enumerate().map(point).collect(),
            period_s: 86_400.0,
        }
    }

    /// The largest multiple of the workload's rate that ever holds.
    #[must_use]
    pub fn peak_factor(&self) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Piecewise { points } | Self::Periodic { points, .. } => {
                points.iter().map(|point| point.factor).fold(0.0, greater)
            }
        }
    }

    /// The mean multiple of the workload's rate over all time; `None` where the rate changes and does
    /// not come back, so that it depends on how long one looks.
    #[must_use]
    pub fn mean_factor(&self) -> Option<f64> {
        match self {
            Self::Constant => Some(1.0),
            Self::Piecewise { .. } => None,
            Self::Periodic { .. } => {
                ProfileClock::new(self).period.map(|(period_s, units)| units / period_s)
            }
        }
    }

    /// The multiple of the workload's rate that holds at time 0.
    #[must_use]
    pub fn first_factor(&self) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Piecewise { points } | Self::Periodic { points, .. } => {
                points.first().map_or(1.0, |point| point.factor)
            }
        }
    }

    fn piecewise(points: &[(f64, f64)]) -> Self {
        let point = |&(time_s, factor): &(f64, f64)| RatePoint { time_s, factor };
        Self::Piecewise { points: points.iter().map(point).collect() }
    }

    /// Check every point.
    ///
    /// # Errors
    /// Times out of order, numbers outside their domain, or a rate that is nothing for ever.
    pub fn check(&self) -> Result<(), SetupError> {
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        let points = match self {
            Self::Constant => return Ok(()),
            Self::Piecewise { points } | Self::Periodic { points, .. } => points,
        };
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return bad("workload.profile", 0.0, "a list of at least one point");
        };
        for point in points.iter() {
            if !(point.time_s.is_finite() && point.time_s >= 0.0) {
                return bad("workload.profile.time_s", point.time_s, "finite and 0 or more");
            }
            if !(point.factor.is_finite() && point.factor >= 0.0) {
                return bad("workload.profile.factor", point.factor, "finite and 0 or more");
            }
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].time_s > pair[1].time_s) {
            return bad(
                "workload.profile.time_s",
                pair[1].time_s,
                "no earlier than the one before",
            );
        }
        match *self {
            Self::Periodic { period_s, .. } => {
                if !(period_s.is_finite() && period_s > 0.0 && period_s >= last.time_s) {
                    return bad("workload.profile.period_s", period_s, "at least the last time");
                }
                if first.time_s != 0.0 {
                    return bad("workload.profile.time_s", first.time_s, "0 for the first point");
                }
                if points.iter().all(|point| point.factor == 0.0) {
                    return bad("workload.profile.factor", 0.0, "above 0 for at least one point");
                }
                Ok(())
            }
            _ if last.factor == 0.0 => bad(
                "workload.profile.factor",
                0.0,
                "above 0 for the last point, which holds for ever",
            ),
            _ => Ok(()),
        }
    }
}

/// A stretch of time in which the factor changes along a straight line.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start_s: f64,
    /// Factor at its start.
    factor: f64,
    /// Change of the factor per second.
    slope: f64,
    /// Unit-rate clock (before the workload's rate) at its start.
    start_units: f64,
}

impl Stretch {
    /// The time in seconds after its start at which `units` have passed since its start.
    ///
    /// The root of `factor t + slope t² / 2 = units`, in the form that loses no digits.
    fn elapsed_s(&self, units: f64) -> f64 {
        // A rate that falls to nothing may round below it.
        let square = greater(0.0, self.factor * self.factor + 2.0 * self.slope * units);
        let root = square.sqrt();
        2.0 * units / (self.factor + root)
    }
}

/// Maps a clock that runs at the profile's factor to seconds. Times must be asked for in order.
#[derive(Clone, Debug)]
pub(super) struct ProfileClock {
    stretches: Vec<Stretch>,
    current: usize,
    /// Period in seconds and in units, if the profile repeats.
    period: Option<(f64, f64)>,
    /// Start of the current period, in seconds and units.
    offset: (f64, f64),
}

impl ProfileClock {
    /// Prepare a checked profile.
    pub(super) fn new(profile: &RateProfile) -> Self {
        let (points, period_s) = match profile {
            RateProfile::Constant => (&[][..], None),
            RateProfile::Piecewise { points } => (&points[..], None),
            RateProfile::Periodic { points, period_s } => (&points[..], Some(*period_s)),
        };
        let mut clock =
            Self { stretches: Vec::new(), current: 0, period: None, offset: (0.0, 0.0) };
        let first = points.first().map_or(1.0, |point| point.factor);
        clock.push(0.0, first, 0.0, 0.0);
        for pair in points.windows(2) {
            let units = clock.units_at(pair[0].time_s);
            let span_s = pair[1].time_s - pair[0].time_s;
            if span_s > 0.0 {
                let slope = (pair[1].factor - pair[0].factor) / span_s;
                clock.push(pair[0].time_s, pair[0].factor, slope, units);
            }
        }
        if let Some(last) = points.last() {
            let units = clock.units_at(last.time_s);
            let slope = match period_s {
                Some(period_s) if period_s > last.time_s => {
                    (first - last.factor) / (period_s - last.time_s)
                }
                _ => 0.0,
            };
            clock.push(last.time_s, last.factor, slope, units);
        }
        clock.period = period_s.map(|period_s| (period_s, clock.units_at(period_s)));
        clock
    }

    fn push(&mut self, start_s: f64, factor: f64, slope: f64, start_units: f64) {
        self.stretches.push(Stretch { start_s, factor, slope, start_units });
    }

    /// Units passed at `time_s`, by the last stretch so far.
    fn units_at(&self, time_s: f64) -> f64 {
        self.stretches.last().map_or(0.0, |stretch| {
            let t = time_s - stretch.start_s;
            stretch.start_units + stretch.factor * t + 0.5 * stretch.slope * t * t
        })
    }

    /// The time in seconds at which `units` have passed; `units` must not decrease.
    pub(super) fn time_s(&mut self, units: f64) -> f64 {
        if let Some((period_s, period_units)) = self.period {
            while units - self.offset.1 >= period_units {
                self.offset.0 += period_s;
                self.offset.1 += period_units;
                self.current = 0;
            }
        }
        let within = units - self.offset.1;
        while let Some(next) = self.stretches.get(self.current + 1)
            && within >= next.start_units
        {
            self.current += 1;
        }
        let stretch = &self.stretches[self.current];
        let units = within - stretch.start_units;
        let elapsed_s = if units > 0.0 { stretch.elapsed_s(units) } else { 0.0 };
        // No rounding may carry a time beyond the stretch, where the next one would go back.
        let next_s = self.stretches.get(self.current + 1).map(|next| next.start_s);
        let end_s = next_s.or(self.period.map(|(period_s, _)| period_s)).unwrap_or(f64::INFINITY);
        self.offset.0 + lesser(stretch.start_s + elapsed_s, end_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_s(profile: &RateProfile, units: f64) -> f64 {
        ProfileClock::new(profile).time_s(units)
    }

    #[test]
    fn steps_ramps_and_spikes_by_hand() {
        assert_eq!(time_s(&RateProfile::Constant, 7.0), 7.0);
        let step = RateProfile::step(10.0, 4.0);
        assert_eq!((time_s(&step, 10.0), time_s(&step, 18.0)), (10.0, 12.0));
        // From 1 to 3 over 10 s: 10 + 10 units at the end of the ramp, 1 unit every third of a second after.
        let ramp = RateProfile::ramp(0.0, 10.0, 3.0);
        assert!((time_s(&ramp, 20.0) - 10.0).abs() < 1e-12);
        assert!((time_s(&ramp, 23.0) - 11.0).abs() < 1e-12);
        let spike = RateProfile::spike(5.0, 2.0, 10.0);
        assert!((time_s(&spike, 15.0) - 6.0).abs() < 1e-12);
        assert!((time_s(&spike, 26.0) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn the_mean_is_that_of_a_period() {
        assert_eq!(RateProfile::Constant.mean_factor(), Some(1.0));
        assert_eq!(RateProfile::step(10.0, 4.0).mean_factor(), None);
        // Straight lines between full hours, the last one back to the first: a mean of the hours.
        let hours: [f64; 24] = std::array::from_fn(|hour| hour as f64);
        let mean = RateProfile::daily(&hours).mean_factor();
        assert!(mean.is_some_and(|mean| (mean - 11.5).abs() < 1e-12), "{mean:?}");
    }

    #[test]
    fn the_peak_is_the_largest_factor() {
        assert_eq!(RateProfile::Constant.peak_factor(), 1.0);
        assert_eq!(RateProfile::step(10.0, 4.0).peak_factor(), 4.0);
        // Before the step the rate is the larger one.
        assert_eq!(RateProfile::step(10.0, 0.5).peak_factor(), 1.0);
        assert_eq!(RateProfile::daily(&[0.25; 24]).peak_factor(), 0.25);
    }

    #[test]
    fn days_repeat() {
        let mut hourly = [0.5; 24];
        hourly[12] = 2.0;
        let day = RateProfile::daily(&hourly);
        assert_eq!(day.check(), Ok(()));
        let mut clock = ProfileClock::new(&day);
        let units_a_day = clock.period.map_or(0.0, |(_, units)| units);
        // 24 hours at one half, and a triangle of height 1.5 over two hours.
        assert!((units_a_day - (12.0 * 3600.0 + 1.5 * 3600.0)).abs() < 1e-6);
        let noon_s = clock.time_s(0.4 * units_a_day);
        let next_noon_s = clock.time_s(1.4 * units_a_day);
        assert!((next_noon_s - noon_s - 86_400.0).abs() < 1e-6);
    }

    #[test]
    fn bad_profiles_are_refused() {
        let piecewise = |points: &[(f64, f64)]| RateProfile::piecewise(points).check();
        assert!(piecewise(&[]).is_err());
        assert!(piecewise(&[(5.0, 1.0), (4.0, 1.0)]).is_err());
        assert!(piecewise(&[(0.0, 1.0), (4.0, 0.0)]).is_err());
        assert!(piecewise(&[(0.0, f64::NAN)]).is_err());
        assert!(RateProfile::daily(&[0.0; 24]).check().is_err());
    }

    proptest! {
        /// Also where the rate falls to nothing on the way: a time that is none would hang an engine.
        #[test]
        fn times_are_numbers_and_never_go_back(
            points in prop::collection::vec((0_u32..40, 0_u32..3), 1..8),
            period in prop::option::of(0.0_f64..30.0),
            gaps in prop::collection::vec(prop_oneof![Just(0.0), 0.0_f64..4.0], 200),
        ) {
            let mut time_s = 0.0;
            let mut ordered: Vec<RatePoint> = points
                .into_iter()
                .map(|(gap, factor)| {
                    time_s += 0.1 * f64::from(gap);
                    RatePoint { time_s, factor: f64::from(factor) / 3.0 }
                })
                .collect();
            let profile = match period {
                None => {
                    ordered.push(RatePoint { time_s, factor: 0.7 });
                    RateProfile::Piecewise { points: ordered }
                }
                Some(more_s) => {
                    ordered[0] = RatePoint { time_s: 0.0, factor: 0.3 };
                    RateProfile::Periodic { points: ordered, period_s: time_s + more_s + 0.1 }
                }
            };
            prop_assert_eq!(profile.check(), Ok(()));
            let mut clock = ProfileClock::new(&profile);
            let (mut units, mut before_s) = (0.0, 0.0);
            for gap in gaps {
                units += gap;
                let now_s = clock.time_s(units);
                prop_assert!(now_s.is_finite() && now_s >= before_s, "{now_s} after {before_s}");
                before_s = now_s;
            }
        }

        /// Against a sum over small steps of time.
        #[test]
        fn the_inverse_matches_numerical_integration(
            points in prop::collection::vec((0.0_f64..20.0, 0.0_f64..5.0), 1..6),
            share in 0.01_f64..0.99,
        ) {
            let mut time = 0.0;
            let mut ordered: Vec<(f64, f64)> = points
                .into_iter()
                .map(|(gap_s, factor)| {
                    time += gap_s;
                    (time, factor)
                })
                .collect();
            ordered.push((time + 1.0, 1.0));
            let profile = RateProfile::piecewise(&ordered);
            let factor_at = |t: f64| {
                let after = ordered.partition_point(|&(time, _)| time <= t);
                if after == 0 { return ordered[0].1; }
                let (t0, f0) = ordered[after - 1];
                match ordered.get(after) {
                    Some(&(t1, f1)) => f0 + (f1 - f0) * (t - t0) / (t1 - t0),
                    None => f0,
                }
            };
            let end_s = (time + 3.0) * share;
            let steps = 40_000;
            let dt = end_s / f64::from(steps);
            let units: f64 = (0..steps).map(|i| dt * factor_at((f64::from(i) + 0.5) * dt)).sum();
            prop_assume!(factor_at(end_s) > 0.05);
            let found_s = time_s(&profile, units);
            prop_assert!((found_s - end_s).abs() < 2e-2, "{found_s} {end_s}");
        }
    }
}
