//! The settings of overload and clients.

use quantity::Unit;

use super::{
    Access::{Real, Whole, Word},
    Field, Group,
    slider::{Scale, Slider, Snap, StepSizes},
    table::{ON_OFF, on_off, word},
};
use crate::overload::{LinePolicy, Spread};

const HOUR_S: f64 = 3600.0;

/// Times are seconds, and 0 asks for nothing.
const fn time(key: &'static str, label: &'static str, access: super::Access) -> Field {
    Field {
        unit: "s",
        quantity: Unit::Seconds,
        min: 0.0,
        max: HOUR_S,
        default: "0",
        ..word(key, label, Group::Overload, access)
    }
}

pub(super) const POLICY: Field = Field {
    help: "Who is served next when requests wait: the oldest (fifo), the newest (lifo), by the priority of the class, or the oldest under controlled delay (codel), which drops from a queue that stands.",
    example: "fifo, lifo, priority or codel",
    choices: &["fifo", "lifo", "priority", "codel"],
    default: "fifo",
    ..word(
        "overload.policy",
        "Queue policy",
        Group::Overload,
        Word {
            get: |s| s.overload.policy.word(),
            put: |s, v| s.overload.policy = LinePolicy::of_word(v),
        },
    )
};

pub(super) const QUEUE_LIMIT: Field = Field {
    unit: "requests",
    quantity: Unit::Count,
    help: "Most requests that may wait on one GPU, 1 or more; one more is rejected (429 or 503). none for no limit, and a 0 is taken for it, too.",
    example: "100",
    min: 0.0,
    max: 1_000_000.0,
    none: Some("no limit: any number of requests may wait"),
    default: "none",
    ..word(
        "overload.queue_limit",
        "Queue limit",
        Group::Overload,
        Whole { get: |s| s.overload.queue_limit, put: |s, v| s.overload.queue_limit = v },
    )
};

pub(super) const DEADLINE: Field = Field {
    help: "A request that has waited longer is dropped instead of served. none for no deadline, and a 0 is taken for it, too.",
    example: "2s",
    none: Some("no deadline: a request may wait for as long as it takes"),
    default: "none",
    ..time(
        "overload.deadline",
        "Queue deadline",
        Real { get: |s| s.overload.deadline_s, put: |s, v| s.overload.deadline_s = v },
    )
};

pub(super) const CODEL_TARGET: Field = Field {
    help: "Controlled delay: wait that a standing queue may have.",
    example: "100ms",
    min: 0.0001,
    default: "0.1",
    ..time(
        "overload.codel_target",
        "CoDel target",
        Real { get: |s| s.overload.codel_target_s, put: |s, v| s.overload.codel_target_s = v },
    )
};

pub(super) const CODEL_INTERVAL: Field = Field {
    help: "Controlled delay: how long waits must stay above the target before the first drop.",
    example: "1s",
    min: 0.0001,
    default: "1",
    ..time(
        "overload.codel_interval",
        "CoDel interval",
        Real { get: |s| s.overload.codel_interval_s, put: |s, v| s.overload.codel_interval_s = v },
    )
};

pub(super) const REJECTION_COST: Field = Field {
    help: "Engine time that turning one request away takes; it makes the next step longer.",
    example: "2ms",
    max: 10.0,
    ..time(
        "overload.rejection_cost",
        "Cost of a rejection",
        Real { get: |s| s.overload.rejection_cost_s, put: |s, v| s.overload.rejection_cost_s = v },
    )
};

pub(super) const RETRY_AFTER: Field = Field {
    help: "How long a rejected client is told to wait before it tries again (Retry-After). 0 where it is told nothing.",
    example: "5s",
    ..time(
        "overload.retry_after",
        "Retry-After",
        Real { get: |s| s.overload.retry_after_s, put: |s, v| s.overload.retry_after_s = v },
    )
};

pub(super) const PATIENCE: Field = Field {
    help: "After so long without what it waits for a client gives up (client timeout); the mean where it varies. none for never, and a 0 is taken for it, too.",
    example: "10s",
    none: Some("that clients never give up"),
    default: "none",
    ..time(
        "clients.patience",
        "Patience",
        Real { get: |s| s.clients.patience_s, put: |s, v| s.clients.patience_s = v },
    )
};

pub(super) const PATIENCE_SPREAD: Field = Field {
    help: "How patience varies from one attempt to the next: not at all (fixed), exponentially as in Erlang-A, or lognormally.",
    example: "fixed, exponential or lognormal",
    choices: &["fixed", "exponential", "lognormal"],
    default: "fixed",
    ..word(
        "clients.patience_spread",
        "Spread of patience",
        Group::Overload,
        Word {
            get: |s| s.clients.patience_spread.word(),
            put: |s, v| s.clients.patience_spread = Spread::of_word(v),
        },
    )
};

pub(super) const PATIENCE_SIGMA: Field = Field {
    help: "Lognormal patience: standard deviation of its logarithm.",
    example: "0.8",
    quantity: Unit::Count,
    min: 0.0,
    max: 10.0,
    default: "1",
    ..word(
        "clients.patience_sigma",
        "Sigma of patience",
        Group::Overload,
        Real { get: |s| s.clients.patience_sigma, put: |s, v| s.clients.patience_sigma = v },
    )
};

pub(super) const AWAITS: Field = Field {
    help: "What a client that may give up waits for: the first token, or the whole answer.",
    example: "first-token or answer",
    choices: &["first-token", "answer"],
    default: "first-token",
    ..word(
        "clients.awaits",
        "Waits for",
        Group::Overload,
        Word {
            get: |s| if s.clients.await_answer { "answer" } else { "first-token" },
            put: |s, v| s.clients.await_answer = v == "answer",
        },
    )
};

pub(super) const ABANDONED: Field = Field {
    help: "What becomes of the work for a client that gave up: stopped after the running step, or finished for nobody.",
    example: "stopped or finished",
    choices: &["stopped", "finished"],
    default: "stopped",
    ..word(
        "clients.abandoned",
        "Abandoned work",
        Group::Overload,
        Word {
            get: |s| if s.clients.work_is_finished { "finished" } else { "stopped" },
            put: |s, v| s.clients.work_is_finished = v == "finished",
        },
    )
};

pub(super) const RETRIES: Field = Field {
    quantity: Unit::Count,
    help: "How often a client tries again whose attempt was rejected, dropped or given up.",
    example: "3",
    min: 0.0,
    max: 100.0,
    slider: Some(Slider {
        min: 0.0,
        max: 10.0,
        scale: Scale::Linear,
        snap: Snap::Multiples(1.0),
        steps: StepSizes::Add([1.0, 1.0, 5.0]),
    }),
    default: "0",
    ..word(
        "clients.retries",
        "Retries",
        Group::Overload,
        Whole { get: |s| s.clients.retries, put: |s, v| s.clients.retries = v },
    )
};

pub(super) const BACKOFF: Field = Field {
    help: "Longest wait before the first retry; it doubles with each, and a client waits a random part of it (full jitter). 0 to retry at once.",
    example: "1s",
    default: "1",
    ..time(
        "clients.backoff",
        "Backoff",
        Real { get: |s| s.clients.backoff_s, put: |s, v| s.clients.backoff_s = v },
    )
};

pub(super) const BACKOFF_CAP: Field = Field {
    help: "Longest wait before any retry, however often the backoff has doubled.",
    example: "60s",
    min: 0.001,
    default: "60",
    ..time(
        "clients.backoff_cap",
        "Backoff cap",
        Real { get: |s| s.clients.backoff_cap_s, put: |s, v| s.clients.backoff_cap_s = v },
    )
};

pub(super) const RETRY_BUDGET: Field = Field {
    unit: "%",
    quantity: Unit::Percent,
    help: "Most retries in per cent of first attempts, over all clients (retry budget). none for no budget, and a 0 is taken for it, too; clients.retries=0 for no retries.",
    example: "10%",
    min: 0.0,
    max: 100.0,
    none: Some("no budget: clients retry as often as clients.retries says"),
    default: "none",
    ..word(
        "clients.retry_budget",
        "Retry budget",
        Group::Overload,
        Real { get: |s| s.clients.retry_budget, put: |s, v| s.clients.retry_budget = v },
    )
};

pub(super) const THROTTLE: Field = Field {
    help: "Whether clients hold attempts back while many are turned away (adaptive throttling).",
    example: "on or off",
    choices: ON_OFF,
    default: "off",
    ..word(
        "clients.throttle",
        "Client throttling",
        Group::Overload,
        Word { get: |s| on_off(s.clients.throttle), put: |s, v| s.clients.throttle = v == "on" },
    )
};

pub(super) const THROTTLE_K: Field = Field {
    help: "Adaptive throttling: how many attempts are sent for each one that is accepted.",
    example: "2 or 1.1",
    min: 1.0,
    max: 100.0,
    default: "2",
    ..word(
        "clients.throttle_k",
        "Attempts per success",
        Group::Overload,
        Real { get: |s| s.clients.throttle_k, put: |s, v| s.clients.throttle_k = v },
    )
};

pub(super) const THROTTLE_WINDOW: Field = Field {
    help: "Adaptive throttling: how far back clients look.",
    example: "120s",
    min: 0.001,
    default: "120",
    ..time(
        "clients.throttle_window",
        "Throttling window",
        Real { get: |s| s.clients.throttle_window_s, put: |s, v| s.clients.throttle_window_s = v },
    )
};
