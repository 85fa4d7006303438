//! One reconciliation: several metrics, the memory of the last minutes, the new count.

use super::{
    DOWNSCALE_STABILIZATION_S,
    behaviour::{
        Behaviour, Bounds, Limited, Recommendation, ScaleEvent, limit_rate,
        limit_without_behaviour, longest_period_s, stabilise, stabilise_with_behaviour,
        store_event,
    },
    metrics::MetricError,
};

/// One autoscaler's specification, its metrics aside.
#[derive(Clone, Debug, PartialEq)]
pub struct Hpa {
    /// Least and greatest number of replicas.
    pub bounds: Bounds,
    /// `spec.behavior`; `None` for the rules of before it.
    pub behaviour: Option<Behaviour>,
    /// For how long fewer replicas have to be recommended where there is no behaviour, in seconds.
    pub downscale_stabilization_s: f64,
}

impl Hpa {
    /// An autoscaler as the API server completes it: with v2's default behaviour.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            behaviour: Some(Behaviour::default()),
            downscale_stabilization_s: DOWNSCALE_STABILIZATION_S,
        }
    }
}

/// What the controller remembers of one autoscaler; lost when it restarts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Numbers that the metrics asked for.
    pub recommendations: Vec<Recommendation>,
    /// Changes upwards that were made.
    pub ups: Vec<ScaleEvent>,
    /// Changes downwards that were made.
    pub downs: Vec<ScaleEvent>,
}

/// What several metrics ask for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// So many replicas: the most of what they ask for.
    Replicas(i32),
    /// None of them could be read; the count stays.
    NoMetric(MetricError),
    /// One of them could not be read, and the others would scale down; the count stays.
    ScaleDownBlocked(MetricError),
}

/// Put the metrics' proposals together.
///
/// Any metric that can be read may scale up; scaling down needs all of them. (Metrics API outages
/// therefore freeze a fleet that would shrink, and one whose only metric is lost.)
#[must_use]
pub fn combine(proposals: &[Result<i32, MetricError>], current: i32) -> Combined {
    let first_error = proposals.iter().find_map(|proposal| proposal.err());
    let most = proposals.iter().filter_map(|proposal| proposal.ok()).max();
    match (most, first_error) {
        (Some(most), Some(error)) if most < current => Combined::ScaleDownBlocked(error),
        (Some(most), _) => Combined::Replicas(most),
        (None, error) => Combined::NoMetric(error.unwrap_or(MetricError::Unavailable)),
    }
}

/// The reason of the `AbleToScale` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stabilised {
    /// What was asked for is what was followed.
    ReadyForNewScale,
    /// An earlier recommendation was lower.
    ScaleUpStabilized,
    /// An earlier recommendation was higher.
    ScaleDownStabilized,
}

/// What one reconciliation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The new number of replicas.
    pub replicas: i32,
    /// What the metrics asked for; `None` where they were not asked, or had no answer.
    pub asked: Option<Combined>,
    /// What the windows did to it.
    pub stabilised: Stabilised,
    /// What the policies and bounds did to that.
    pub limited: Limited,
}

/// Reconcile once, and remember it. `current` is `spec.replicas` of the workload.
///
/// A workload at zero whose minimum is not zero is left alone: that is how people switch an
/// autoscaler off, and why KEDA has to bring a fleet from zero itself. A count outside the bounds is
/// brought to the nearer one without asking the metrics.
pub fn decide(
    hpa: &Hpa,
    history: &mut History,
    current: i32,
    proposals: &[Result<i32, MetricError>],
    now_s: f64,
) -> Decision {
    if history.recommendations.is_empty() {
        history.recommendations.push(Recommendation { replicas: current, at_s: now_s });
    }
    let mut decision = Decision {
        replicas: current,
        asked: None,
        stabilised: Stabilised::ReadyForNewScale,
        limited: Limited::DesiredWithinRange,
    };
    if current == 0 && hpa.bounds.min != 0 {
        return decision;
    }
    if current > hpa.bounds.max {
        decision.replicas = hpa.bounds.max;
    } else if current < hpa.bounds.min {
        decision.replicas = hpa.bounds.min;
    } else {
        let combined = combine(proposals, current);
        decision.asked = Some(combined);
        let Combined::Replicas(asked) = combined else {
            return decision;
        };
        let stable = stable(hpa, history, (current, asked), now_s);
        if stable != asked {
            // Without a behaviour only the way down is stabilised.
            decision.stabilised = if hpa.behaviour.is_some() && asked >= current {
                Stabilised::ScaleUpStabilized
            } else {
                Stabilised::ScaleDownStabilized
            };
        }
        (decision.replicas, decision.limited) = match &hpa.behaviour {
            None => limit_without_behaviour(current, stable, hpa.bounds),
            Some(behaviour) => {
                let events = (history.ups.as_slice(), history.downs.as_slice());
                limit_rate((current, stable), hpa.bounds, behaviour, events, now_s)
            }
        };
    }
    if let Some(behaviour) = &hpa.behaviour {
        let change = decision.replicas.saturating_sub(current);
        if change > 0 {
            store_event(&mut history.ups, change, longest_period_s(&behaviour.up), now_s);
        } else if change < 0 {
            let period_s = longest_period_s(&behaviour.down);
            store_event(&mut history.downs, change.saturating_neg(), period_s, now_s);
        }
    }
    decision
}

fn stable(hpa: &Hpa, history: &mut History, (current, asked): (i32, i32), now_s: f64) -> i32 {
    let log = &mut history.recommendations;
    match &hpa.behaviour {
        None => stabilise(log, asked, hpa.downscale_stabilization_s, now_s),
        Some(behaviour) => {
            let windows_s = (behaviour.up.stabilization_s, behaviour.down.stabilization_s);
            stabilise_with_behaviour(log, (current, asked), windows_s, now_s)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 2, max: 20 };

    #[test]
    fn one_metric_that_fails_freezes_the_way_down_only() {
        let lost = Err(MetricError::Unavailable);
        assert_eq!(
            combine(&[Ok(3), lost], 5),
            Combined::ScaleDownBlocked(MetricError::Unavailable)
        );
        assert_eq!(combine(&[Ok(7), lost], 5), Combined::Replicas(7));
        assert_eq!(combine(&[Ok(5), lost], 5), Combined::Replicas(5));
        assert_eq!(combine(&[lost], 5), Combined::NoMetric(MetricError::Unavailable));
        assert_eq!(combine(&[Ok(3), Ok(9)], 5), Combined::Replicas(9));
    }

    #[test]
    fn a_workload_at_zero_is_left_alone_unless_zero_is_allowed() {
        let mut history = History::default();
        let decision = decide(&Hpa::new(BOUNDS), &mut history, 0, &[Ok(9)], 0.0);
        assert_eq!((decision.replicas, decision.asked), (0, None));
        let from_zero = Hpa::new(Bounds { min: 0, max: 20 });
        assert_eq!(decide(&from_zero, &mut history, 0, &[Ok(3)], 15.0).replicas, 3);
    }

    #[test]
    fn a_count_outside_the_bounds_comes_back_without_asking() {
        let mut history = History::default();
        let hpa = Hpa::new(BOUNDS);
        assert_eq!(decide(&hpa, &mut history, 30, &[Ok(30)], 0.0).replicas, 20);
        assert_eq!(decide(&hpa, &mut history, 1, &[Ok(9)], 15.0).replicas, 2);
    }

    /// 2 → 6 by four pods, → 12 by doubling, → 20 by the maximum; and down only after 300 s.
    #[test]
    fn the_default_behaviour_doubles_up_and_waits_down() {
        let (hpa, mut history) = (Hpa::new(BOUNDS), History::default());
        let mut replicas = 2;
        let mut seen = Vec::new();
        for tick in 0..4 {
            let decision = decide(&hpa, &mut history, replicas, &[Ok(50)], f64::from(tick) * 15.0);
            replicas = decision.replicas;
            seen.push((replicas, decision.limited));
        }
        let expected = [
            (6, Limited::ScaleUpLimit),
            (12, Limited::ScaleUpLimit),
            (20, Limited::TooManyReplicas),
            (20, Limited::TooManyReplicas),
        ];
        assert_eq!(seen, expected);
        let mut fell_at_s = None;
        for tick in 4..40 {
            let now_s = f64::from(tick) * 15.0;
            let decision = decide(&hpa, &mut history, replicas, &[Ok(4)], now_s);
            if decision.replicas < replicas {
                fell_at_s.get_or_insert(now_s);
            }
            replicas = decision.replicas;
        }
        // The last recommendation of 50 is from 45 s; it is out of the window once it is as old.
        assert_eq!((fell_at_s, replicas), (Some(345.0), 4));
    }

    #[test]
    fn without_a_behaviour_nothing_is_remembered_of_changes() {
        let hpa = Hpa { behaviour: None, ..Hpa::new(BOUNDS) };
        let mut history = History::default();
        let decision = decide(&hpa, &mut history, 5, &[Ok(40)], 0.0);
        assert_eq!((decision.replicas, decision.limited), (10, Limited::ScaleUpLimit));
        assert!(history.ups.is_empty());
        let decision = decide(&hpa, &mut history, 10, &[Ok(2)], 15.0);
        assert_eq!(decision.stabilised, Stabilised::ScaleDownStabilized);
        assert_eq!((decision.replicas, decision.limited), (20, Limited::TooManyReplicas));
    }
}
