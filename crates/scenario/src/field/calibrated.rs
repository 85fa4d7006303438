//! The settings that a calibration leaves behind.

use quantity::Unit;

use super::{
    Access::{OptionalReal, OptionalWhole},
    Field, Group,
    table::word,
};

pub(super) const MEMORY_FACTOR: Field = Field {
    help: "Kernel: how many times as long reading weights and KV cache and fixed overheads take as on the machines that the model was fitted to.",
    example: "1.08",
    min: 0.05,
    max: 20.0,
    ..word(
        "step.memory_factor",
        "Memory and overhead factor",
        Group::Accuracy,
        OptionalReal { get: |s| s.step.memory_factor, put: |s, v| s.step.memory_factor = v },
    )
};

pub(super) const COMPUTE_FACTOR: Field = Field {
    help: "Kernel: how many times as long arithmetic, and what each token takes beside, lasts as on the machines that the model was fitted to.",
    example: "0.93",
    min: 0.05,
    max: 20.0,
    ..word(
        "step.compute_factor",
        "Compute factor",
        Group::Accuracy,
        OptionalReal { get: |s| s.step.compute_factor, put: |s, v| s.step.compute_factor = v },
    )
};

pub(super) const API: Field = Field {
    unit: "s",
    quantity: Unit::Seconds,
    help: "Kernel: time that server, tokeniser and client take before the first token, outside the engine.",
    example: "12ms or 0.012",
    min: 0.0,
    max: 10.0,
    ..word(
        "step.api_s",
        "API time",
        Group::Accuracy,
        OptionalReal { get: |s| s.step.api_s, put: |s, v| s.step.api_s = v },
    )
};

pub(super) const CALIBRATED_ON: Field = Field {
    unit: "points",
    quantity: Unit::Count,
    help: "How many measured points the constants of the step time were fitted to, by headroom calibrate. It changes no number, but says where they come from.",
    example: "5",
    min: 1.0,
    max: 1e6,
    ..word(
        "step.calibrated_on",
        "Calibrated on",
        Group::Accuracy,
        OptionalWhole { get: |s| s.step.calibrated_on, put: |s, v| s.step.calibrated_on = v },
    )
};
