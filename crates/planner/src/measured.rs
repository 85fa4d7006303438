//! A knee straight from measured points, without a model.

use sim_core::Slo;

/// An engine at one measured load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenLoad {
    /// Requests answered per second.
    pub rate_per_s: f64,
    /// Time to the first token that the target's share stays within, seconds, as nearly as it was measured.
    pub ttft_s: Option<f64>,
    /// The same of the time per further token.
    pub tpot_s: Option<f64>,
    /// Whether more came than was answered.
    pub is_overloaded: bool,
}

/// Where measured points cross the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredKnee {
    /// The largest measured rate below which every point meets the target.
    pub meets_per_s: f64,
    /// The smallest measured rate above it that misses it; `None` where none was measured.
    pub misses_per_s: Option<f64>,
    /// Where the line between the two crosses the target; the largest rate that meets it where none misses.
    pub capacity_per_s: f64,
}

/// The rate at which measured points cross a target; `None` if the smallest of them misses it already, or
/// there are none.
///
/// Between two points times are taken as lines of the rate. An overloaded point has no time, so that it says no
/// more than that its rate is too much.
#[must_use]
pub fn measured_knee(points: &[SeenLoad], slo: &Slo) -> Option<MeasuredKnee> {
    let mut sorted: Vec<&SeenLoad> = points.iter().filter(|it| it.rate_per_s > 0.0).collect();
    sorted.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let end = sorted.iter().position(|point| !meets(point, slo)).unwrap_or(sorted.len());
    let last = sorted.get(end.checked_sub(1)?)?;
    let Some(next) = sorted.get(end) else {
        let meets_per_s = last.rate_per_s;
        return Some(MeasuredKnee { meets_per_s, misses_per_s: None, capacity_per_s: meets_per_s });
    };
    let mut part = if next.is_overloaded { 0.0 } else { 1.0 };
    for (low, high, target) in
        [(last.ttft_s, next.ttft_s, slo.ttft_s), (last.tpot_s, next.tpot_s, slo.tpot_s)]
    {
        if let (Some(low), Some(high)) = (low, high)
            && high > target
            && !next.is_overloaded
        {
            part = sim_core::float::lesser(part, (target - low) / (high - low));
        }
    }
    Some(MeasuredKnee {
        meets_per_s: last.rate_per_s,
        misses_per_s: Some(next.rate_per_s),
        capacity_per_s: last.rate_per_s + part * (next.rate_per_s - last.rate_per_s),
    })
}

fn meets(point: &SeenLoad, slo: &Slo) -> bool {
    let within = |time_s: Option<f64>, most_s: f64| time_s.is_none_or(|time_s| time_s <= most_s);
    !point.is_overloaded && within(point.ttft_s, slo.ttft_s) && within(point.tpot_s, slo.tpot_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLO: Slo = Slo { ttft_s: 1.0, tpot_s: 0.04, share: 0.99 };

    fn seen(rate_per_s: f64, ttft_s: f64, tpot_s: f64) -> SeenLoad {
        SeenLoad {
            rate_per_s,
            ttft_s: Some(ttft_s),
            tpot_s: Some(tpot_s),
            is_overloaded: ttft_s.is_infinite(),
        }
    }

    #[test]
    fn the_knee_lies_where_the_first_target_is_crossed() {
        // TTFT crosses 1 s half way from 10 to 20, TPOT 40 ms at three quarters.
        let points = [seen(20.0, 1.5, 0.044), seen(5.0, 0.1, 0.01), seen(10.0, 0.5, 0.028)];
        let knee = measured_knee(&points, &SLO).unwrap();
        assert_eq!((knee.meets_per_s, knee.misses_per_s), (10.0, Some(20.0)));
        assert!((knee.capacity_per_s - 15.0).abs() < 1e-12);
    }

    #[test]
    fn an_overloaded_point_only_ends_the_knee() {
        let points = [seen(5.0, 0.1, 0.01), seen(8.0, f64::INFINITY, 0.02)];
        let knee = measured_knee(&points, &SLO).unwrap();
        assert_eq!((knee.capacity_per_s, knee.misses_per_s), (5.0, Some(8.0)));
    }

    #[test]
    fn without_a_miss_it_is_a_lower_bound_and_without_a_hit_nothing() {
        let points = [seen(5.0, 0.1, 0.01), seen(8.0, 0.2, 0.02)];
        let knee = measured_knee(&points, &SLO).unwrap();
        assert_eq!((knee.capacity_per_s, knee.misses_per_s), (8.0, None));
        assert_eq!(measured_knee(&[seen(5.0, 2.0, 0.01)], &SLO), None);
        assert_eq!(measured_knee(&[], &SLO), None);
    }
}
