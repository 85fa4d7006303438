//! Knative's pod autoscaler beside its activator: what is in flight, second by second.

use crate::fleet::autoscale::knative::{
    self, Activity, BucketWindow, Decider, DeciderSpec, Revision, ScaleToZero, panic_window_s,
};

use super::Observed;

#[derive(Clone, Debug)]
pub(super) struct Kpa {
    decider: Decider,
    stable: BucketWindow,
    panic: BucketWindow,
    activity: Activity,
    since_s: f64,
    next_tick_s: f64,
}

impl Kpa {
    /// An autoscaler that begins at time 0 beside so many ready replicas.
    pub(super) fn new(decider: &DeciderSpec, ready: i32) -> Self {
        let panic_s = panic_window_s(decider.stable_window_s);
        Self {
            decider: Decider::new(decider, ready, 0.0),
            stable: BucketWindow::new(decider.stable_window_s, knative::GRANULARITY_S),
            panic: BucketWindow::new(panic_s, knative::GRANULARITY_S),
            activity: if ready > 0 { Activity::Active } else { Activity::Inactive },
            since_s: 0.0,
            next_tick_s: knative::TICK_S,
        }
    }

    pub(super) fn sync(
        &mut self,
        decider: &DeciderSpec,
        zero: &ScaleToZero,
        observed: &Observed,
        now_s: f64,
    ) -> i32 {
        self.stable.record(now_s, observed.in_system);
        self.panic.record(now_s, observed.in_system);
        if now_s < self.next_tick_s {
            return observed.replicas;
        }
        self.next_tick_s = now_s + knative::TICK_S;
        let ready = observed.ready_count();
        let windows = (self.stable.average(now_s), self.panic.average(now_s));
        let result = self.decider.scale(decider, ready, windows, now_s);
        if self.activity == Activity::Activating && ready > 0 {
            self.enter(Activity::Active, now_s);
        } else if self.activity == Activity::Inactive && result.desired > 0 {
            self.enter(Activity::Activating, now_s);
        }
        let for_s = now_s - self.since_s;
        let revision = Revision {
            activity: self.activity,
            for_s,
            is_initialized: true,
            // Traffic is turned to the activator as the revision becomes inactive.
            proxy_for_s: if self.activity == Activity::Inactive { for_s } else { 0.0 },
            is_activator_in_path: true,
            is_reachable: true,
        };
        let outcome = knative::scale(zero, &revision, observed.replicas, result.desired);
        if outcome.scale == 0 && !outcome.is_applied && self.activity == Activity::Active {
            self.enter(Activity::Inactive, now_s);
        }
        if outcome.is_applied { outcome.scale } else { observed.replicas }
    }

    fn enter(&mut self, activity: Activity, now_s: f64) {
        self.activity = activity;
        self.since_s = now_s;
    }
}
