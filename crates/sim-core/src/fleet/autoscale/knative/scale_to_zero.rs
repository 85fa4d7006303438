//! The last replica: when it may go, and what holds it.

/// The `Active` condition of a revision's autoscaler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Unknown: replicas are asked for, none is ready yet.
    Activating,
    /// True: it serves.
    Active,
    /// False: its traffic goes to the activator.
    Inactive,
}

/// What the scaler is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleToZero {
    /// Whether zero is allowed at all (`enable-scale-to-zero`).
    pub is_enabled: bool,
    /// How long a revision has to be active before it may be marked inactive, in seconds.
    pub stable_window_s: f64,
    /// How long the activator has to be in the path before the last replica goes, in seconds
    /// (`scale-to-zero-grace-period`).
    pub grace_s: f64,
    /// How long the last replica stays after the revision became inactive, in seconds
    /// (`scale-to-zero-pod-retention-period`).
    pub pod_retention_s: f64,
    /// How long a revision may take to become ready, in seconds (`progress-deadline`).
    pub progress_deadline_s: f64,
    /// `min-scale`.
    pub min_scale: i32,
    /// `max-scale`; 0 for no limit.
    pub max_scale: i32,
    /// `initial-scale`.
    pub initial_scale: i32,
    /// `target-burst-capacity`; with -1 the activator is in the path for good.
    pub target_burst_capacity: f64,
}

/// What a start is given beyond its deadline before it is given up, in seconds.
const ACTIVATION_TIMEOUT_BUFFER_S: f64 = 30.0;

impl Default for ScaleToZero {
    /// `config-autoscaler`, and the 600 s deadline of `config-deployment`.
    fn default() -> Self {
        Self {
            is_enabled: true,
            stable_window_s: super::STABLE_WINDOW_S,
            grace_s: 30.0,
            pod_retention_s: 0.0,
            progress_deadline_s: 600.0,
            min_scale: 0,
            max_scale: 0,
            initial_scale: 1,
            target_burst_capacity: 211.0,
        }
    }
}

/// A revision as the scaler finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revision {
    /// Its `Active` condition, …
    pub activity: Activity,
    /// … and for how long it has been so, in seconds.
    pub for_s: f64,
    /// Whether it has ever had its initial scale.
    pub is_initialized: bool,
    /// For how long its traffic has gone through the activator, in seconds.
    pub proxy_for_s: f64,
    /// Whether a probe finds the activator in the path.
    pub is_activator_in_path: bool,
    /// Whether traffic can reach it; one that cannot be reached has no minimum, no initial scale and
    /// no retention.
    pub is_reachable: bool,
}

/// What the scaler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The scale that it returns: 0 without a change of the count marks the revision inactive, and
    /// -1 is *unknown*.
    pub scale: i32,
    /// Whether the count is changed to it.
    pub is_applied: bool,
}

/// Bring a revision of `current` replicas to `desired`, or say why not yet.
#[must_use]
pub fn scale(spec: &ScaleToZero, revision: &Revision, current: i32, desired: i32) -> Outcome {
    let held = |scale| Outcome { scale, is_applied: false };
    if desired < 0 && revision.activity != Activity::Activating {
        // No metrics yet.
        return held(desired);
    }
    let mut fewest = if revision.is_reachable { spec.min_scale } else { 0 };
    if revision.is_reachable && spec.initial_scale > 1 && !revision.is_initialized {
        fewest = fewest.max(spec.initial_scale);
    }
    let most = if spec.max_scale == 0 { i32::MAX } else { spec.max_scale };
    let wanted = if desired < fewest { fewest } else { desired.min(most) };
    let scale = if wanted == 0 {
        match to_zero(spec, revision) {
            Step::To(scale) => scale,
            Step::Wait(scale) => return held(scale),
        }
    } else {
        wanted
    };
    Outcome { scale, is_applied: scale != current }
}

enum Step {
    To(i32),
    Wait(i32),
}

fn to_zero(spec: &ScaleToZero, revision: &Revision) -> Step {
    if !spec.is_enabled {
        return Step::To(1);
    }
    match revision.activity {
        Activity::Activating => {
            let timeout_s = spec.progress_deadline_s + ACTIVATION_TIMEOUT_BUFFER_S;
            if revision.for_s > timeout_s { Step::To(0) } else { Step::Wait(-1) }
        }
        // Inactive first, so that the activator takes over before the last replica goes.
        Activity::Active if revision.for_s >= spec.stable_window_s => Step::Wait(0),
        Activity::Active => Step::To(1),
        Activity::Inactive => {
            if spec.target_burst_capacity != -1.0 && !revision.is_activator_in_path {
                return Step::Wait(0);
            }
            let retention_s = if revision.is_reachable { spec.pod_retention_s } else { 0.0 };
            let is_retained = revision.for_s < retention_s;
            let is_graced = revision.for_s < spec.grace_s && revision.proxy_for_s < spec.grace_s;
            if is_retained || is_graced { Step::Wait(0) } else { Step::To(0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INACTIVE: Revision = Revision {
        activity: Activity::Inactive,
        for_s: 90.0,
        is_initialized: true,
        proxy_for_s: 0.0,
        is_activator_in_path: true,
        is_reachable: true,
    };

    #[test]
    fn nothing_goes_before_the_activator_is_in_the_path() {
        let spec = ScaleToZero::default();
        let away = Revision { is_activator_in_path: false, ..INACTIVE };
        assert_eq!(scale(&spec, &away, 1, 0), Outcome { scale: 0, is_applied: false });
        assert_eq!(scale(&spec, &INACTIVE, 1, 0), Outcome { scale: 0, is_applied: true });
        let always = ScaleToZero { target_burst_capacity: -1.0, ..spec };
        assert_eq!(scale(&always, &away, 1, 0), Outcome { scale: 0, is_applied: true });
    }

    #[test]
    fn retention_is_a_deadline_of_its_own() {
        let spec = ScaleToZero { pod_retention_s: 120.0, ..ScaleToZero::default() };
        let waiting = Revision { for_s: 60.0, proxy_for_s: 500.0, ..INACTIVE };
        assert_eq!(scale(&spec, &waiting, 1, 0), Outcome { scale: 0, is_applied: false });
        let unreachable = Revision { is_reachable: false, ..waiting };
        assert_eq!(scale(&spec, &unreachable, 1, 0), Outcome { scale: 0, is_applied: true });
    }

    #[test]
    fn the_greatest_scale_binds() {
        let spec = ScaleToZero { max_scale: 3, ..ScaleToZero::default() };
        let active = Revision { activity: Activity::Active, ..INACTIVE };
        assert_eq!(scale(&spec, &active, 1, 9), Outcome { scale: 3, is_applied: true });
    }
}
