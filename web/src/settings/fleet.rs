//! The numbers of a fleet over time.

use super::{Dial, dial};

pub(crate) static FLEET_DURATION: Dial = dial("fleet-duration", "fleet.duration", "seconds");
pub(crate) static FLEET_TARGET: Dial = dial("fleet-target", "fleet.target", "");
pub(crate) static FLEET_MIN: Dial = dial("fleet-min", "fleet.min", "replicas");
pub(crate) static FLEET_MAX: Dial = dial("fleet-max", "fleet.max", "replicas");
pub(crate) static FLEET_INITIAL: Dial = dial("fleet-initial", "fleet.initial", "replicas");
pub(crate) static FLEET_SCALE_DOWN: Dial =
    dial("fleet-scale-down", "fleet.scale_down_window", "seconds");
pub(crate) static FLEET_START: Dial = dial("fleet-start", "fleet.start", "seconds");
pub(crate) static FLEET_FAULT_AT: Dial = dial("fleet-fault-at", "fleet.fault_at", "seconds");
