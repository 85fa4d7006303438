//! KEDA: activation from and to zero, and the metric that it serves to an HPA.
//!
//! KEDA itself moves a workload only between zero (or `idleReplicaCount`) and one (or
//! `minReplicaCount`), every `pollingInterval`. Between the minimum and `maxReplicaCount` an HPA
//! does, on an external metric with an average-value target: [`hpa_bounds`] and
//! [`external_average`](super::hpa::external_average) on KEDA's reading, every 15 s, with the HPA's
//! own 300 s of stabilisation. `cooldownPeriod` holds for the way to zero alone.
//!
//! Source of the semantics: `pkg/scaling/executor/scale_scaledobjects.go` and
//! `pkg/fallback/fallback.go` of KEDA 2 (Apache-2.0).

use super::hpa::Bounds;
use crate::float::greater;

/// How often triggers are looked at, in seconds (`pollingInterval`).
pub const POLLING_INTERVAL_S: f64 = 30.0;

/// What a `ScaledObject` says of replicas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledObject {
    /// `minReplicaCount`.
    pub min_replicas: i32,
    /// `maxReplicaCount`.
    pub max_replicas: i32,
    /// `idleReplicaCount`: what an inactive workload is brought to in place of the minimum.
    pub idle_replicas: Option<i32>,
    /// For how long triggers have to be inactive before the way down, in seconds
    /// (`cooldownPeriod`).
    pub cooldown_s: f64,
    /// The same for a workload that has never been active, counted from its creation
    /// (`initialCooldownPeriod`).
    pub initial_cooldown_s: f64,
    /// What to do without a reading.
    pub fallback: Option<Fallback>,
    /// What people have switched off.
    pub pause: Pause,
    /// Whether to be active whatever the triggers say.
    pub is_activation_forced: bool,
}

impl Default for ScaledObject {
    fn default() -> Self {
        Self {
            min_replicas: 0,
            max_replicas: 100,
            idle_replicas: None,
            cooldown_s: 300.0,
            initial_cooldown_s: 0.0,
            fallback: None,
            pause: Pause::default(),
            is_activation_forced: false,
        }
    }
}

/// Annotations that pause autoscaling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// Stay where it is.
    pub is_paused: bool,
    /// Go to so many replicas, and stay there (`paused-replicas`).
    pub at_replicas: Option<i32>,
    /// No way down by KEDA.
    pub is_scale_in_paused: bool,
    /// No way up by KEDA.
    pub is_scale_out_paused: bool,
}

/// `fallback`: a metric to serve when there is no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Failures in a row that are borne.
    pub failure_threshold: u32,
    /// Replicas to ask for then.
    pub replicas: i32,
    /// How they go together with those that there are.
    pub behaviour: FallbackBehaviour,
}

/// `fallback.behavior`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FallbackBehaviour {
    /// `static`: those of the fallback.
    #[default]
    Static,
    /// `currentReplicas`: those that there are.
    CurrentReplicas,
    /// `currentReplicasIfHigher`: the greater of both.
    CurrentReplicasIfHigher,
    /// `currentReplicasIfLower`: the lesser of both.
    CurrentReplicasIfLower,
}

/// What KEDA remembers of one `ScaledObject`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// When it was created, in seconds.
    pub created_s: f64,
    /// When a trigger was last seen active, in seconds; `None` before.
    pub last_active_s: Option<f64>,
}

/// What the triggers said at one poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triggers {
    /// Whether one of them is active.
    pub is_active: bool,
    /// Whether one of them had no answer.
    pub is_error: bool,
}

/// Whether a reading makes its trigger active: it is **above** `activationThreshold`.
///
/// *Oddity*: activation knows nothing of the scaling threshold. With 50 for activation, 10 for
/// scaling and 40 messages, four replicas are due and none runs.
#[must_use]
pub fn is_active(value: f64, activation_threshold: f64) -> bool {
    value > activation_threshold
}

/// The replicas that a poll sets, or leaves as they are; and remember it.
///
/// *Oddity*: a poll that finds one trigger active and another without an answer does not count as
/// active for the cooldown, if replicas run.
#[must_use]
pub fn scale(
    object: &ScaledObject,
    memory: &mut Memory,
    current: i32,
    triggers: Triggers,
    now_s: f64,
) -> i32 {
    if let Some(replicas) = object.pause.at_replicas {
        return replicas;
    }
    if object.pause.is_paused {
        return current;
    }
    if triggers.is_active || object.is_activation_forced {
        let is_idle = object.idle_replicas.is_some() && current < object.min_replicas;
        if is_idle || current == 0 {
            if object.pause.is_scale_out_paused {
                return current;
            }
            memory.last_active_s = Some(now_s);
            return object.min_replicas.max(1);
        }
        if !triggers.is_error {
            memory.last_active_s = Some(now_s);
        }
        return current;
    }
    deactivate(object, memory, current, triggers.is_error, now_s)
}

fn deactivate(
    object: &ScaledObject,
    memory: &Memory,
    current: i32,
    is_error: bool,
    now_s: f64,
) -> i32 {
    if is_error && object.fallback.is_none_or(|fallback| fallback.replicas != 0) {
        return current;
    }
    let is_above_idle = object.idle_replicas.is_some_and(|idle| current > idle);
    if is_above_idle || (current > 0 && object.min_replicas == 0) {
        let is_cool = match memory.last_active_s {
            Some(last_s) => last_s + object.cooldown_s < now_s,
            None => memory.created_s + object.initial_cooldown_s < now_s,
        };
        return if is_cool && !object.pause.is_scale_in_paused {
            object.idle_replicas.unwrap_or(object.min_replicas)
        } else {
            current
        };
    }
    if object.idle_replicas.is_none() { current.max(object.min_replicas) } else { current }
}

/// The bounds of the HPA that KEDA makes: its minimum is never zero.
#[must_use]
pub fn hpa_bounds(object: &ScaledObject) -> Bounds {
    Bounds { min: object.min_replicas.max(1), max: object.max_replicas }
}

/// The metric that the HPA gets: the reading, or what asks for the fallback's replicas, or nothing,
/// on which the HPA holds still. `failures` counts readings in a row that failed, one per request of
/// the metric.
///
/// The fallback begins with the failure **after** `failureThreshold` of them.
///
/// *Oddity*: the target is cut to a whole number before it is multiplied with the replicas, so that
/// the fallback of a target below 1 asks for nothing.
#[must_use]
pub fn metric_with_fallback(
    fallback: Option<&Fallback>,
    failures: &mut u32,
    reading: Option<f64>,
    (target_average, current): (f64, i32),
) -> Option<f64> {
    if reading.is_some() {
        *failures = 0;
        return reading;
    }
    *failures = failures.saturating_add(1);
    let fallback = fallback.filter(|fallback| *failures > fallback.failure_threshold)?;
    let replicas = match fallback.behaviour {
        FallbackBehaviour::Static => fallback.replicas,
        FallbackBehaviour::CurrentReplicas => current,
        FallbackBehaviour::CurrentReplicasIfHigher => fallback.replicas.max(current),
        FallbackBehaviour::CurrentReplicasIfLower => fallback.replicas.min(current),
    };
    Some(greater(target_average.trunc(), 0.0) * f64::from(replicas))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Triggers = Triggers { is_active: false, is_error: false };
    const FAILED: Triggers = Triggers { is_active: false, is_error: true };

    #[test]
    fn an_error_holds_the_workload_unless_the_fallback_is_zero_replicas() {
        let mut memory = Memory { created_s: 0.0, last_active_s: None };
        let behaviour = FallbackBehaviour::Static;
        let with = |replicas| ScaledObject {
            fallback: Some(Fallback { failure_threshold: 3, replicas, behaviour }),
            ..ScaledObject::default()
        };
        assert_eq!(scale(&ScaledObject::default(), &mut memory, 4, FAILED, 9e9), 4);
        assert_eq!(scale(&with(6), &mut memory, 4, FAILED, 9e9), 4);
        assert_eq!(scale(&with(0), &mut memory, 4, FAILED, 9e9), 0);
    }

    #[test]
    fn the_cooldown_counts_from_the_last_clean_active_poll() {
        let object = ScaledObject::default();
        let mut memory = Memory { created_s: 0.0, last_active_s: None };
        let active = Triggers { is_active: true, is_error: false };
        assert_eq!(scale(&object, &mut memory, 0, active, 100.0), 1);
        assert_eq!(memory.last_active_s, Some(100.0));
        let partly = Triggers { is_active: true, is_error: true };
        assert_eq!(scale(&object, &mut memory, 3, partly, 200.0), 3);
        assert_eq!(memory.last_active_s, Some(100.0));
        assert_eq!(scale(&object, &mut memory, 3, IDLE, 400.0), 3, "exactly the cooldown");
        assert_eq!(scale(&object, &mut memory, 3, IDLE, 400.5), 0);
    }

    #[test]
    fn fifty_to_activate_ten_to_scale_forty_messages_is_zero_replicas() {
        let object = ScaledObject { max_replicas: 10, ..ScaledObject::default() };
        let mut memory = Memory { created_s: 0.0, last_active_s: None };
        let triggers = Triggers { is_active: is_active(40.0, 50.0), is_error: false };
        assert_eq!(scale(&object, &mut memory, 0, triggers, 1000.0), 0);
        let tolerance = super::super::hpa::Tolerance::default();
        let due = super::super::hpa::external_average(1, &[40_000], 10_000, &tolerance);
        assert_eq!(due.unwrap().replicas, 4);
    }

    #[test]
    fn a_reading_ends_a_row_of_failures() {
        let fallback = Fallback {
            failure_threshold: 1,
            replicas: 6,
            behaviour: FallbackBehaviour::CurrentReplicasIfLower,
        };
        let mut failures = 0;
        let mut read =
            |reading| metric_with_fallback(Some(&fallback), &mut failures, reading, (2.5, 4));
        assert_eq!(read(None), None);
        assert_eq!(read(None), Some(8.0), "4 replicas at a target cut to 2");
        assert_eq!(read(Some(7.5)), Some(7.5));
        assert_eq!(read(None), None);
    }

    #[test]
    fn pauses_hold() {
        let mut memory = Memory { created_s: 0.0, last_active_s: None };
        let pause = Pause { at_replicas: Some(2), ..Pause::default() };
        let object = ScaledObject { pause, ..ScaledObject::default() };
        assert_eq!(scale(&object, &mut memory, 7, IDLE, 1e6), 2);
        let pause = Pause { is_paused: true, ..Pause::default() };
        let object = ScaledObject { pause, ..ScaledObject::default() };
        assert_eq!(scale(&object, &mut memory, 7, IDLE, 1e6), 7);
        assert_eq!(hpa_bounds(&object), Bounds { min: 1, max: 100 });
    }
}
