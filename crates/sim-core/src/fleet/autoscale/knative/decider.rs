//! How many replicas the two windows ask for.

use std::collections::VecDeque;

use super::{super::replicas_of, STABLE_WINDOW_S, TARGET_UTILIZATION, TICK_S};
use crate::float::{greater, lesser};

/// What the autoscaler of one revision is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeciderSpec {
    /// Requests in flight, or per second, that one replica should have.
    pub target: f64,
    /// Those that it can have: the target before utilisation.
    pub total: f64,
    /// Requests beyond the capacity that have to find room (`target-burst-capacity`): 0 for none,
    /// -1 for any number, which leaves the activator in the path for good.
    pub target_burst_capacity: f64,
    /// How many times its capacity the demand of the panic window has to be.
    pub panic_threshold: f64,
    /// By how much the count may be multiplied at once.
    pub max_scale_up_rate: f64,
    /// By how much it may be divided at once.
    pub max_scale_down_rate: f64,
    /// Length of the stable window in seconds.
    pub stable_window_s: f64,
    /// For how long the demand has to be low before the way down, in seconds.
    pub scale_down_delay_s: f64,
    /// The least count other than zero.
    pub activation_scale: i32,
    /// Whether traffic can reach the revision.
    pub is_reachable: bool,
}

impl Default for DeciderSpec {
    /// `config-autoscaler` for concurrency: 70 of 100 requests in flight, a burst of 211, panic at
    /// 200 %, up by 1,000 and down by 2 at once, no delay.
    fn default() -> Self {
        Self {
            target: super::CONCURRENCY_TARGET * TARGET_UTILIZATION,
            total: super::CONCURRENCY_TARGET,
            target_burst_capacity: 211.0,
            panic_threshold: 2.0,
            max_scale_up_rate: 1000.0,
            max_scale_down_rate: 2.0,
            stable_window_s: STABLE_WINDOW_S,
            scale_down_delay_s: 0.0,
            activation_scale: 1,
            is_reachable: true,
        }
    }
}

/// What the decider wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleResult {
    /// Replicas.
    pub desired: i32,
    /// Capacity left for a burst; below 0 the activator comes into the path.
    pub excess_burst_capacity: i32,
}

/// The greatest value of the last intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxWindow {
    /// Interval and value, values downwards.
    maxima: VecDeque<(i64, i32)>,
    intervals: i64,
    granularity_s: f64,
}

impl MaxWindow {
    /// A window of `window_s` seconds in intervals of `granularity_s`.
    #[must_use]
    pub fn new(window_s: f64, granularity_s: f64) -> Self {
        let intervals = i64::from(replicas_of((window_s / granularity_s).ceil()).max(1));
        Self { maxima: VecDeque::new(), intervals, granularity_s }
    }

    /// Record a value, and say which is the greatest.
    pub fn record(&mut self, now_s: f64, value: i32) -> i32 {
        let interval = (now_s / self.granularity_s).floor() as i64;
        while self.maxima.front().is_some_and(|&(of, _)| interval >= of + self.intervals) {
            self.maxima.pop_front();
        }
        while self.maxima.back().is_some_and(|&(_, smaller)| smaller < value) {
            self.maxima.pop_back();
        }
        self.maxima.push_back((interval, value));
        self.maxima.front().map_or(value, |&(_, greatest)| greatest)
    }
}

/// The decider of one revision with its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Decider {
    /// Since when it panics, in seconds; extended whenever the threshold is passed.
    pub panic_since_s: Option<f64>,
    /// The most replicas of this panic: there is no way down below them until it ends.
    pub max_panic_pods: i32,
    delay: Option<MaxWindow>,
}

impl Decider {
    /// A decider as it starts, or starts again, beside `ready` replicas.
    ///
    /// *Oddity*: beside more than one it starts in panic, since it has no history: a restarted
    /// autoscaler holds its fleets for a stable window.
    #[must_use]
    pub fn new(spec: &DeciderSpec, ready: i32, now_s: f64) -> Self {
        Self {
            panic_since_s: (ready > 1).then_some(now_s),
            max_panic_pods: ready,
            delay: (spec.scale_down_delay_s > 0.0)
                .then(|| MaxWindow::new(spec.scale_down_delay_s, TICK_S)),
        }
    }

    /// Whether the panic window rules.
    #[must_use]
    pub const fn is_in_panic(&self) -> bool {
        self.panic_since_s.is_some()
    }

    /// Decide, with the averages over the stable and the panic window.
    ///
    /// *Oddity*: the threshold is tested with what the panic window asks for **before** the rates
    /// limit it, and the rates apply to the replicas that are ready: while they start, every tick
    /// may multiply again.
    pub fn scale(
        &mut self,
        spec: &DeciderSpec,
        ready: i32,
        (stable, panic): (f64, f64),
        now_s: f64,
    ) -> ScaleResult {
        let at_least_one = greater(1.0, f64::from(ready));
        let most = (spec.max_scale_up_rate * at_least_one).ceil();
        let fewest =
            if spec.is_reachable { (at_least_one / spec.max_scale_down_rate).floor() } else { 0.0 };
        let wanted = |value: f64| (value / spec.target).ceil();
        let limited = |wanted: f64| {
            let limited = replicas_of(lesser(greater(wanted, fewest), most));
            if spec.activation_scale > 1 && wanted > 0.0 {
                limited.max(spec.activation_scale)
            } else {
                limited
            }
        };
        let panic_wanted = wanted(panic);
        self.panic_or_calm_down(spec, panic_wanted / at_least_one, now_s);

        let mut desired = limited(wanted(stable));
        if self.is_in_panic() {
            self.max_panic_pods = self.max_panic_pods.max(desired).max(limited(panic_wanted));
            desired = self.max_panic_pods;
        }
        if let Some(delay) = self.delay.as_mut().filter(|_| spec.is_reachable) {
            desired = delay.record(now_s, desired);
        }
        ScaleResult { desired, excess_burst_capacity: excess(spec, ready, panic) }
    }

    fn panic_or_calm_down(&mut self, spec: &DeciderSpec, load: f64, now_s: f64) {
        if load >= spec.panic_threshold {
            self.panic_since_s = Some(now_s);
        } else if self.panic_since_s.is_some_and(|since_s| since_s + spec.stable_window_s < now_s) {
            self.panic_since_s = None;
            self.max_panic_pods = 0;
        }
    }
}

fn excess(spec: &DeciderSpec, ready: i32, panic: f64) -> i32 {
    let burst = spec.target_burst_capacity;
    if burst == 0.0 {
        0
    } else if burst > 0.0 {
        replicas_of((f64::from(ready) * spec.total - burst - panic).floor())
    } else {
        -1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst of one panic window sets the count for a stable window and more.
    #[test]
    fn panic_holds_what_a_burst_asked_for() {
        let spec = DeciderSpec::default();
        let mut decider = Decider::new(&spec, 1, 0.0);
        let quiet = (10.0, 10.0);
        assert_eq!(decider.scale(&spec, 1, quiet, 0.0).desired, 1);
        let burst = decider.scale(&spec, 1, (40.0, 400.0), 2.0);
        assert_eq!((burst.desired, decider.is_in_panic()), (6, true));
        assert_eq!(burst.excess_burst_capacity, -511);
        assert_eq!(decider.scale(&spec, 6, quiet, 62.0).desired, 6, "exactly the stable window");
        assert_eq!(decider.scale(&spec, 6, quiet, 64.0).desired, 3, "half at once");
        assert!(!decider.is_in_panic());
    }

    #[test]
    fn an_unreachable_revision_is_not_held() {
        let spec = DeciderSpec { is_reachable: false, ..DeciderSpec::default() };
        let mut decider = Decider::new(&spec, 1, 0.0);
        assert_eq!(decider.scale(&spec, 100, (0.0, 0.0), 0.0).desired, 0);
    }
}
