//! How much traffic comes to a fleet over time.

use sim_core::{
    RequestSource,
    workload::{RatePoint, RateProfile},
};

use crate::schema::Scenario;

/// The mean of the rate's integral from 0 to `until_s`, requests.
pub(super) fn expected_requests(source: &RequestSource, until_s: f64) -> f64 {
    match source {
        RequestSource::Generated { rate_per_s, .. } => rate_per_s * until_s,
        RequestSource::Mixed(mix) => mix.arrivals.rate_per_s * area(&mix.arrivals.profile, until_s),
        RequestSource::Replay { trace, .. } => trace.rows().len() as f64,
        RequestSource::Dealt(_) => 0.0,
    }
}

/// Integral of a profile from 0 to `until_s`, seconds.
fn area(profile: &RateProfile, until_s: f64) -> f64 {
    match profile {
        RateProfile::Constant => until_s,
        RateProfile::Piecewise { points } => area_of_lines(points, until_s),
        RateProfile::Periodic { points, period_s } => {
            let mut points = points.clone();
            if let Some(first) = points.first().copied() {
                points.push(RatePoint { time_s: *period_s, ..first });
            }
            let periods = libm::trunc(until_s / period_s);
            let rest_s = until_s - periods * period_s;
            periods * area_of_lines(&points, *period_s) + area_of_lines(&points, rest_s)
        }
    }
}

/// The same of straight lines between points, level before the first and after the last.
fn area_of_lines(points: &[RatePoint], until_s: f64) -> f64 {
    let Some((first, last)) = points.first().zip(points.last()) else { return 0.0 };
    let within = |time_s: f64| if time_s < until_s { time_s } else { until_s };
    let mut sum = first.factor * within(first.time_s);
    for pair in points.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let end_s = within(to.time_s);
        let length_s = end_s - from.time_s;
        if length_s > 0.0 {
            let slope = (to.factor - from.factor) / (to.time_s - from.time_s);
            sum += length_s * (from.factor + 0.5 * slope * length_s);
        }
    }
    sum + last.factor * (until_s - within(last.time_s))
}

impl Scenario {
    /// The requested rate over time, in multiples of the rate: corners of straight lines from 0 to
    /// `until_s`, for a drawing.
    #[must_use]
    pub fn rate_corners(&self, until_s: f64) -> Vec<RatePoint> {
        let profile = self.profile.to_rate_profile();
        let (points, period_s) = match profile {
            RateProfile::Constant => (vec![RatePoint { time_s: 0.0, factor: 1.0 }], None),
            RateProfile::Piecewise { points } => (points, None),
            RateProfile::Periodic { points, period_s } => (points, Some(period_s)),
        };
        // The end of a period leads to the first point of the next.
        let copies = period_s.map_or(1, |period_s| (until_s / period_s) as u32 + 2);
        let mut corners = Vec::new();
        for copy in 0..copies {
            let start_s = f64::from(copy) * period_s.unwrap_or(0.0);
            if corners.len() >= MOST_CORNERS {
                break;
            }
            for point in &points {
                corners.push(RatePoint { time_s: start_s + point.time_s, ..*point });
            }
        }
        let first = corners.first().map_or(1.0, |point| point.factor);
        if corners.first().is_some_and(|point| point.time_s > 0.0) {
            corners.insert(0, RatePoint { time_s: 0.0, factor: first });
        }
        cut(&mut corners, until_s);
        corners
    }
}

/// More corners than a drawing shows.
const MOST_CORNERS: usize = 4000;

/// Ends straight lines at a time.
fn cut(corners: &mut Vec<RatePoint>, until_s: f64) {
    let kept = corners.iter().take_while(|point| point.time_s <= until_s).count();
    let (before, after) = (kept.checked_sub(1).map(|at| corners[at]), corners.get(kept).copied());
    corners.truncate(kept);
    let Some(before) = before else { return };
    let factor = match after {
        Some(after) => {
            let part = (until_s - before.time_s) / (after.time_s - before.time_s);
            before.factor + part * (after.factor - before.factor)
        }
        None => before.factor,
    };
    if before.time_s < until_s {
        corners.push(RatePoint { time_s: until_s, factor });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut scenario = Scenario::preset();
        for (key, value) in settings {
            let said = scenario.set(key, value).expect(key);
            assert!(said.is_empty(), "{said:?}");
        }
        scenario
    }

    #[test]
    fn corners_end_where_the_run_ends() {
        let corners = |profile: &str, until_s| {
            let corners = scenario(&[("profile", profile)]).rate_corners(until_s);
            corners.iter().map(|point| (point.time_s, point.factor)).collect::<Vec<_>>()
        };
        assert_eq!(corners("constant", 60.0), [(0.0, 1.0), (60.0, 1.0)]);
        assert_eq!(
            corners("spike(10s,20s,3)", 60.0),
            [(0.0, 1.0), (10.0, 1.0), (10.0, 3.0), (30.0, 3.0), (30.0, 1.0), (60.0, 1.0)]
        );
        assert_eq!(corners("ramp(0s,100s,3)", 50.0), [(0.0, 1.0), (50.0, 2.0)]);
        let day = corners("daily(0.5)", 172_800.0);
        assert_eq!((day.len(), day[48].0), (49, 172_800.0));
        assert!((day[14].1 - 1.0).abs() < 1e-12 && (day[38].1 - 1.0).abs() < 1e-12);
        assert_eq!(day[48].1, day[0].1, "midnight is midnight");
    }
}
