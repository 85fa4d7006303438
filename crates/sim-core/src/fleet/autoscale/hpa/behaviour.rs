//! What keeps a proposal from being followed at once: stabilisation windows and rate policies.

use super::{super::replicas_of, SCALE_UP_LIMIT_FACTOR, SCALE_UP_LIMIT_MINIMUM};
use crate::float::greater;

/// How far a policy lets the count move in its period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// So many pods.
    Pods {
        /// Pods.
        value: i32,
        /// Length of the period in seconds.
        period_s: f64,
    },
    /// A share of the pods that there were when the period began.
    Percent {
        /// Per cent.
        value: i32,
        /// Length of the period in seconds.
        period_s: f64,
    },
}

impl Policy {
    const fn period_s(&self) -> f64 {
        match *self {
            Self::Pods { period_s, .. } | Self::Percent { period_s, .. } => period_s,
        }
    }
}

/// Which of several policies holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// The one that allows the greatest change; the default.
    Max,
    /// The one that allows the least.
    Min,
    /// No change in this direction at all.
    Disabled,
}

/// One direction of a behaviour.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// For how long a recommendation has to last, in seconds.
    pub stabilization_s: f64,
    /// Which policy holds.
    pub select: Select,
    /// How fast.
    pub policies: Vec<Policy>,
}

/// `spec.behavior`.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// Towards more replicas.
    pub up: Rules,
    /// Towards fewer.
    pub down: Rules,
}

impl Default for Behaviour {
    /// What v2 fills in: up at once by the greater of 4 pods and 100 % per 15 s; down by any number
    /// per 15 s after 300 s.
    fn default() -> Self {
        let doubling = Policy::Percent { value: 100, period_s: 15.0 };
        Self {
            up: Rules {
                stabilization_s: 0.0,
                select: Select::Max,
                policies: vec![Policy::Pods { value: 4, period_s: 15.0 }, doubling],
            },
            down: Rules { stabilization_s: 300.0, select: Select::Max, policies: vec![doubling] },
        }
    }
}

/// A number of replicas that the metrics asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recommendation {
    /// Replicas.
    pub replicas: i32,
    /// When, in seconds.
    pub at_s: f64,
}

/// A change of the count that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleEvent {
    /// By how many replicas, in the direction of the log that it is in.
    pub change: i32,
    /// When, in seconds.
    pub at_s: f64,
    /// Whether no policy looks back that far, so that its place may be taken.
    pub is_outdated: bool,
}

/// The least and the greatest number of replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `minReplicas`.
    pub min: i32,
    /// `maxReplicas`.
    pub max: i32,
}

/// What a number of replicas was held to; the reason of the `ScalingLimited` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Nothing.
    DesiredWithinRange,
    /// The rate upwards.
    ScaleUpLimit,
    /// The rate downwards.
    ScaleDownLimit,
    /// `maxReplicas`.
    TooManyReplicas,
    /// `minReplicas`.
    TooFewReplicas,
}

/// Replicas that were added or deleted less than `period_s` ago.
#[must_use]
pub fn change_within(events: &[ScaleEvent], period_s: f64, now_s: f64) -> i32 {
    let recent = events.iter().filter(|event| event.at_s > now_s - period_s);
    recent.fold(0_i32, |change, event| change.saturating_add(event.change))
}

fn period_start(current: i32, (ups, downs): Events<'_>, period_s: f64, now_s: f64) -> i32 {
    let added = change_within(ups, period_s, now_s);
    current.saturating_sub(added).saturating_add(change_within(downs, period_s, now_s))
}

/// Changes upwards and downwards.
type Events<'a> = (&'a [ScaleEvent], &'a [ScaleEvent]);

/// The most replicas that the policies allow now. Per cent are rounded up, so that one replica can
/// become two.
///
/// May be below `current`, after changes that another period still counts.
#[must_use]
pub fn up_limit(current: i32, events: Events<'_>, rules: &Rules, now_s: f64) -> i32 {
    let limits = rules.policies.iter().map(|policy| {
        let start = period_start(current, events, policy.period_s(), now_s);
        match *policy {
            Policy::Pods { value, .. } => start.saturating_add(value),
            Policy::Percent { value, .. } => {
                replicas_of((f64::from(start) * (1.0 + f64::from(value) / 100.0)).ceil())
            }
        }
    });
    match rules.select {
        Select::Disabled => current,
        Select::Min => limits.min().unwrap_or(i32::MAX),
        Select::Max => limits.max().unwrap_or(i32::MIN),
    }
}

/// The fewest replicas that the policies allow now. Per cent are rounded down, so that a fleet can
/// reach its minimum.
#[must_use]
pub fn down_limit(current: i32, events: Events<'_>, rules: &Rules, now_s: f64) -> i32 {
    let limits = rules.policies.iter().map(|policy| {
        let start = period_start(current, events, policy.period_s(), now_s);
        match *policy {
            Policy::Pods { value, .. } => start.saturating_sub(value),
            Policy::Percent { value, .. } => {
                replicas_of(f64::from(start) * (1.0 - f64::from(value) / 100.0))
            }
        }
    });
    match rules.select {
        Select::Disabled => current,
        Select::Min => limits.max().unwrap_or(i32::MIN),
        Select::Max => limits.min().unwrap_or(i32::MAX),
    }
}

/// Hold a number of replicas to the policies of a behaviour and to the bounds.
///
/// *Oddity*: a number that equals the current one is held to nothing, not even to the bounds; and
/// the bound of the other direction is not looked at.
#[must_use]
pub fn limit_rate(
    (current, desired): (i32, i32),
    bounds: Bounds,
    behaviour: &Behaviour,
    events: Events<'_>,
    now_s: f64,
) -> (i32, Limited) {
    if desired > current {
        let limit = up_limit(current, events, &behaviour.up, now_s).max(current);
        let (most, reason) = if bounds.max > limit {
            (limit, Limited::ScaleUpLimit)
        } else {
            (bounds.max, Limited::TooManyReplicas)
        };
        if desired > most {
            return (most, reason);
        }
    } else if desired < current {
        let limit = down_limit(current, events, &behaviour.down, now_s).min(current);
        let (fewest, reason) = if bounds.min < limit {
            (limit, Limited::ScaleDownLimit)
        } else {
            (bounds.min, Limited::TooFewReplicas)
        };
        if desired < fewest {
            return (fewest, reason);
        }
    }
    (desired, Limited::DesiredWithinRange)
}

/// Hold a number of replicas to the bounds and, upwards, to the greater of twice the current number
/// and 4: where there is no behaviour.
#[must_use]
pub fn limit_without_behaviour(current: i32, desired: i32, bounds: Bounds) -> (i32, Limited) {
    let doubled = SCALE_UP_LIMIT_FACTOR * f64::from(current);
    let limit = replicas_of(greater(doubled, SCALE_UP_LIMIT_MINIMUM));
    let (most, reason) = if bounds.max > limit {
        (limit, Limited::ScaleUpLimit)
    } else {
        (bounds.max, Limited::TooManyReplicas)
    };
    if desired < bounds.min {
        (bounds.min, Limited::TooFewReplicas)
    } else if desired > most {
        (most, reason)
    } else {
        (desired, Limited::DesiredWithinRange)
    }
}

/// The greatest recommendation of the last `window_s` seconds, the edge included; and remember
/// `desired`. Where there is no behaviour.
#[must_use]
pub fn stabilise(log: &mut Vec<Recommendation>, desired: i32, window_s: f64, now_s: f64) -> i32 {
    let cutoff_s = now_s - window_s;
    let kept = log.iter().filter(|recommendation| recommendation.at_s >= cutoff_s);
    let greatest = kept.fold(desired, |greatest, kept| greatest.max(kept.replicas));
    remember(log, desired, now_s, |at_s| at_s < cutoff_s);
    greatest
}

/// Hold a number of replicas between the least recommendation of the window upwards and the greatest
/// of the window downwards; and remember `desired`.
///
/// *Oddity*: what is remembered is the number from before stabilisation, over the last of the
/// recommendations that are older than **both** windows; one exactly as old as a window is neither
/// in it nor replaced.
#[must_use]
pub fn stabilise_with_behaviour(
    log: &mut Vec<Recommendation>,
    (current, desired): (i32, i32),
    (up_window_s, down_window_s): (f64, f64),
    now_s: f64,
) -> i32 {
    let (up_cutoff_s, down_cutoff_s) = (now_s - up_window_s, now_s - down_window_s);
    let (mut least, mut greatest) = (desired, desired);
    for recommendation in log.iter() {
        if recommendation.at_s > up_cutoff_s {
            least = least.min(recommendation.replicas);
        }
        if recommendation.at_s > down_cutoff_s {
            greatest = greatest.max(recommendation.replicas);
        }
    }
    remember(log, desired, now_s, |at_s| at_s < up_cutoff_s && at_s < down_cutoff_s);
    current.max(least).min(greatest)
}

fn remember(
    log: &mut Vec<Recommendation>,
    replicas: i32,
    now_s: f64,
    is_old: impl Fn(f64) -> bool,
) {
    let new = Recommendation { replicas, at_s: now_s };
    match log.iter_mut().rfind(|recommendation| is_old(recommendation.at_s)) {
        Some(old) => *old = new,
        None => log.push(new),
    }
}

/// The longest period that a policy looks back over, in seconds.
#[must_use]
pub fn longest_period_s(rules: &Rules) -> f64 {
    rules.policies.iter().fold(0.0, |longest, policy| greater(longest, policy.period_s()))
}

/// Remember a change of the count by `change`, over the last event that no policy looks at any
/// more. Without a behaviour nothing is remembered: do not call this.
pub fn store_event(events: &mut Vec<ScaleEvent>, change: i32, longest_period_s: f64, now_s: f64) {
    let cutoff_s = now_s - longest_period_s;
    for event in events.iter_mut().filter(|event| event.at_s < cutoff_s) {
        event.is_outdated = true;
    }
    let new = ScaleEvent { change, at_s: now_s, is_outdated: false };
    match events.iter_mut().rfind(|event| event.is_outdated) {
        Some(outdated) => *outdated = new,
        None => events.push(new),
    }
}
