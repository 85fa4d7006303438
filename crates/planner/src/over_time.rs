//! How the target holds over time at the planned size, where the rate changes.
//!
//! A fleet is sized for the peak as if it lasted, so that a plan's own runs hold one rate. What the
//! profile itself does to that fleet takes one run more: of one engine, with its share of the traffic.

use sim_core::{
    RequestSource,
    float::from_count,
    workload::{RatePoint, RateProfile},
};

use scenario::Resolved;

use crate::{
    answer::{PlanAnswer, Verdict},
    job::Job,
};

/// Most requests of that run, unless the scenario asks for more: seconds of work.
const MOST_REQUESTS: f64 = 3e6;

/// One engine of the planned fleet under the profile: once around where it repeats, or to its last
/// change and as long again. `None` where the rate is steady or follows from users, or no fleet meets
/// the target.
#[must_use]
pub fn over_time(resolved: &Resolved, answer: &PlanAnswer) -> Option<Job> {
    let Verdict::Sized(size) = &answer.verdict else { return None };
    let mut setup = resolved.setup.clone();
    let RequestSource::Mixed(mix) = setup.workload.source.whole() else { return None };
    let area_s = area_s(&mix.arrivals.profile)?;
    if answer.users.is_some() {
        return None;
    }
    let rate_per_s = setup.workload.source.rate_per_s()? / from_count(size.with_headroom);
    setup.workload.source.set_rate(rate_per_s);
    let requests = sim_core::float::lesser(MOST_REQUESTS, rate_per_s * area_s).ceil() as u64;
    setup.workload.requests = setup.workload.requests.max(requests);
    Some(Job { setup, attendance: resolved.attendance })
}

/// The integral of a profile's factor over its course, in seconds; `None` where it never changes.
fn area_s(profile: &RateProfile) -> Option<f64> {
    let (points, first, last) = match profile {
        RateProfile::Constant => return None,
        RateProfile::Piecewise { points } | RateProfile::Periodic { points, .. } => {
            (points, points.first()?, points.last()?)
        }
    };
    let line_s = |from: &RatePoint, to: &RatePoint| {
        0.5 * (from.factor + to.factor) * (to.time_s - from.time_s)
    };
    let between_s: f64 = points.windows(2).map(|pair| line_s(&pair[0], &pair[1])).sum();
    Some(match profile {
        RateProfile::Periodic { period_s, .. } => {
            between_s + line_s(last, &RatePoint { time_s: *period_s, factor: first.factor })
        }
        _ => first.factor * first.time_s + between_s + last.factor * last.time_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_those_of_the_course() {
        let close = |profile: &RateProfile, expected_s: f64| {
            let found_s = area_s(profile).unwrap();
            assert!((found_s - expected_s).abs() < 1e-9 * expected_s, "{profile:?}: {found_s}");
        };
        // 30 s as usual, 20 s threefold, and 50 s as usual.
        close(&RateProfile::spike(30.0, 20.0, 3.0), 140.0);
        // 10 s, then a line from 1 to 2, and 40 s twofold.
        close(&RateProfile::ramp(10.0, 40.0, 2.0), 10.0 + 45.0 + 80.0);
        close(&RateProfile::daily(&[0.5; 24]), 43_200.0);
        assert_eq!(area_s(&RateProfile::Constant), None);
    }
}
