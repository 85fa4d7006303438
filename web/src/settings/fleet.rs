//! The numbers of a fleet over time.

use quantity::Unit;

use super::{
    Dial, Part, Piece, dial,
    piece::{NUMBER_SNAPS, log, piece, text},
};

pub(crate) static FLEET_DURATION: Dial = dial("fleet-duration", "fleet.duration", "seconds");
/// What each replica should have of the signal; it follows the engine's sequences until it is set.
pub(crate) static FLEET_TARGET: Dial = Dial {
    id: "fleet-target",
    key: "fleet.target",
    label: "",
    spoken_unit: "",
    part: Part::Piece(Piece {
        help: crate::strings::FLEET_TARGET_HELP,
        slider: log(1.0, 4096.0, NUMBER_SNAPS),
        quantity: Unit::Number,
        first: None,
        ..piece(
            0.0,
            |s| Some(s.fleet.target_or_usual(s.sched.max_num_seqs)),
            |_, target| text(target),
        )
    }),
};
pub(crate) static FLEET_MIN: Dial = dial("fleet-min", "fleet.min", "replicas");
pub(crate) static FLEET_MAX: Dial = dial("fleet-max", "fleet.max", "replicas");
pub(crate) static FLEET_INITIAL: Dial = dial("fleet-initial", "fleet.initial", "replicas");
pub(crate) static FLEET_SCALE_DOWN: Dial =
    dial("fleet-scale-down", "fleet.scale_down_window", "seconds");
pub(crate) static FLEET_START: Dial = dial("fleet-start", "fleet.start", "seconds");
pub(crate) static FLEET_FAULT_AT: Dial = dial("fleet-fault-at", "fleet.fault_at", "seconds");
