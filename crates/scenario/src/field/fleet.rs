//! The settings of a fleet over time.

use quantity::Unit;

use crate::fleet::{FLEET_FAULTS, FLEET_POLICIES, FLEET_ROUTERS, FLEET_SIGNALS};

use super::{
    Access::{self, OptionalReal, OptionalWhole, Real, Whole, Word},
    Field, Group,
    deploy::{place_of, word_at},
    slider::{Scale, Slider, Snap, StepSizes},
    table::word,
};

const MOST_REPLICAS: f64 = 10_000.0;
const DAY_S: f64 = 86_400.0;
const TIME_SNAPS: Snap = Snap::Decades(&[1.0, 1.2, 1.5, 1.8, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]);
/// Minutes, and hours.
const LENGTH_SNAPS: Snap = Snap::Octaves(&[1.0546875, 1.318359375, 1.7578125]);
const FACTORS: StepSizes = StepSizes::Multiply([1.01, 1.1, 2.0]);

const fn time(key: &'static str, label: &'static str, access: Access) -> Field {
    Field {
        unit: "s",
        quantity: Unit::Seconds,
        max: DAY_S,
        ..word(key, label, Group::Fleet, access)
    }
}

const fn replicas(key: &'static str, label: &'static str, access: Access) -> Field {
    Field {
        quantity: Unit::Count,
        max: MOST_REPLICAS,
        slider: replica_slider(0.0),
        ..word(key, label, Group::Fleet, access)
    }
}

const fn replica_slider(min: f64) -> Option<Slider> {
    let (snap, steps) = (Snap::Multiples(1.0), StepSizes::Add([1.0, 4.0, 8.0]));
    Some(Slider { min, max: 64.0, scale: Scale::Linear, snap, steps })
}

const fn log(min: f64, max: f64, snap: Snap) -> Option<Slider> {
    Some(Slider { min, max, scale: Scale::Log, snap, steps: FACTORS })
}

pub(super) const POLICY: Field = Field {
    help: "Who decides how many replicas there are: hpa (Kubernetes, on the mean of the signal), fixed (fleet.min of them), keda (on its sum, from and to zero), knative (on requests at once, from and to zero), wva-v1 and wva-v2 (llm-d, by saturation), or trend (a line through five minutes, looked ahead along by a start).",
    example: "hpa or keda",
    choices: FLEET_POLICIES,
    default: "hpa",
    ..word(
        "fleet.policy",
        "Autoscaler",
        Group::Fleet,
        Word {
            get: |s| word_at(FLEET_POLICIES, s.fleet.policy),
            put: |s, v| s.fleet.policy = place_of(FLEET_POLICIES, v),
        },
    )
};

pub(super) const SIGNAL: Field = Field {
    help: "What hpa, keda and trend look at, of each replica. GPU busy, GPU memory and CPU are there to be seen failing.",
    example: "in-flight or kv-usage",
    choices: FLEET_SIGNALS,
    default: "in-flight",
    ..word(
        "fleet.signal",
        "Signal",
        Group::Fleet,
        Word {
            get: |s| word_at(FLEET_SIGNALS, s.fleet.signal),
            put: |s, v| s.fleet.signal = place_of(FLEET_SIGNALS, v),
        },
    )
};

pub(super) const TARGET: Field = Field {
    help: "What each replica should have of the signal (knative: requests at once); three quarters of the engine’s sequences if absent.",
    example: "64",
    min: 0.001,
    max: 1e9,
    ..word(
        "fleet.target",
        "Target per replica",
        Group::Fleet,
        OptionalReal { get: |s| s.fleet.target, put: |s, v| s.fleet.target = v },
    )
};

pub(super) const MIN: Field = Field {
    help: "Fewest replicas; all of them for fixed.",
    example: "3",
    default: "1",
    ..replicas(
        "fleet.min",
        "Fewest replicas",
        Whole { get: |s| s.fleet.min, put: |s, v| s.fleet.min = v },
    )
};

pub(super) const MAX: Field = Field {
    help: "Most replicas.",
    example: "12",
    min: 1.0,
    slider: replica_slider(1.0),
    default: "10",
    ..replicas(
        "fleet.max",
        "Most replicas",
        Whole { get: |s| s.fleet.max, put: |s, v| s.fleet.max = v },
    )
};

pub(super) const INITIAL: Field = Field {
    help: "Replicas that are ready at the beginning; the fewest if absent.",
    example: "6",
    slider: None,
    ..replicas(
        "fleet.initial",
        "Ready at first",
        OptionalWhole { get: |s| s.fleet.initial, put: |s, v| s.fleet.initial = v },
    )
};

pub(super) const SCALE_DOWN_WINDOW: Field = Field {
    help: "How long the highest of an HPA’s proposals holds against fewer replicas (stabilizationWindowSeconds of scaleDown).",
    example: "300s",
    max: 3600.0,
    slider: Some(Slider {
        min: 0.0,
        max: 900.0,
        scale: Scale::Linear,
        snap: Snap::Multiples(15.0),
        steps: StepSizes::Add([15.0, 60.0, 300.0]),
    }),
    default: "300",
    ..time(
        "fleet.scale_down_window",
        "Scale-down window",
        Real { get: |s| s.fleet.scale_down_window_s, put: |s, v| s.fleet.scale_down_window_s = v },
    )
};

pub(super) const START: Field = Field {
    help: "From the decision for a replica to its being ready: node, image, weights and engine together.",
    example: "60s or 4min",
    slider: log(5.0, 1800.0, TIME_SNAPS),
    default: "60",
    ..time(
        "fleet.start",
        "Start delay",
        Real { get: |s| s.fleet.start_s, put: |s, v| s.fleet.start_s = v },
    )
};

pub(super) const ROUTER: Field = Field {
    help: "Who gets which request: the replica with the fewest (least-in-flight), one line for all (shared-queue), in turn (round-robin), by chance (random), the better of two by chance (power-of-two), or the one with the fewest KV tokens (least-kv).",
    example: "round-robin",
    choices: FLEET_ROUTERS,
    default: "least-in-flight",
    ..word(
        "fleet.router",
        "Router",
        Group::Fleet,
        Word {
            get: |s| word_at(FLEET_ROUTERS, s.fleet.router),
            put: |s, v| s.fleet.router = place_of(FLEET_ROUTERS, v),
        },
    )
};

pub(super) const FAULT: Field = Field {
    help: "Something that goes wrong once: the oldest replica is lost (replica), or its node with all on it (node), or no metrics for five minutes (metrics).",
    example: "replica",
    choices: FLEET_FAULTS,
    default: "none",
    ..word(
        "fleet.fault",
        "Fault",
        Group::Fleet,
        Word {
            get: |s| word_at(FLEET_FAULTS, s.fleet.fault),
            put: |s, v| s.fleet.fault = place_of(FLEET_FAULTS, v),
        },
    )
};

pub(super) const FAULT_AT: Field = Field {
    help: "When it goes wrong.",
    example: "10min",
    slider: log(10.0, DAY_S, TIME_SNAPS),
    max: 7.0 * DAY_S,
    default: "600",
    ..time(
        "fleet.fault_at",
        "Fault at",
        Real { get: |s| s.fleet.fault_at_s, put: |s, v| s.fleet.fault_at_s = v },
    )
};

pub(super) const DURATION: Field = Field {
    help: "How long traffic comes.",
    example: "25min or 24h",
    min: 10.0,
    max: 7.0 * DAY_S,
    slider: log(60.0, DAY_S, LENGTH_SNAPS),
    default: "1500",
    ..time(
        "fleet.duration",
        "Length of the run",
        Real { get: |s| s.fleet.duration_s, put: |s, v| s.fleet.duration_s = v },
    )
};

pub(super) const WINDOW: Field = Field {
    help: "Width of the windows of a fleet’s results; by its length if absent.",
    example: "60s",
    min: 0.1,
    ..time(
        "fleet.window",
        "Window",
        OptionalReal { get: |s| s.fleet.window_s, put: |s, v| s.fleet.window_s = v },
    )
};
