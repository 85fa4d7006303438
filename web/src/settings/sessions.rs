//! Numbers of conversations: how many turns one has, and how long its user thinks between two.

use quantity::Unit;
use sim_core::{clients::ClientTime, workload::Turns};

use super::{
    Dial, Part, Piece,
    piece::{NUMBER_SNAPS, TIME_SNAPS, call, log, piece, seconds, text},
};
use crate::strings;

/// Turns of a session, on average; one is a request on its own.
pub(crate) static TURNS: Dial = Dial {
    id: "turns",
    key: "turns",
    label: "",
    spoken_unit: "turns",
    part: Part::Piece(Piece {
        help: strings::TURNS_HELP,
        quantity: Unit::Number,
        slider: log(1.0, 100.0, NUMBER_SNAPS),
        ..piece(
            1.0,
            |s| {
                Some(match s.turns {
                    Turns::Fixed { turns } => turns as f64,
                    Turns::Uniform { least, most } => 0.5 * (least as f64 + most as f64),
                    Turns::Geometric { mean } => mean,
                })
            },
            |s, turns| match s.turns {
                Turns::Geometric { .. } => call("geometric", [turns]),
                _ => text(turns),
            },
        )
    }),
};

/// Time that its user thinks between an answer and the next turn.
pub(crate) static TURN_THINK: Dial = Dial {
    id: "turn-think",
    key: "think",
    label: "",
    spoken_unit: "seconds",
    part: Part::Piece(Piece {
        slider: log(0.1, 600.0, TIME_SNAPS),
        ..seconds(
            strings::TURN_THINK_HELP,
            10.0,
            |s| Some(s.think.mean_s()),
            |s, think_s| {
                let mean = text(think_s);
                match s.think {
                    ClientTime::Exponential { .. } => [&mean, "s"].concat(),
                    ClientTime::Fixed { .. } => ["fixed(", &mean, "s)"].concat(),
                    ClientTime::LogNormal { sigma, .. } => {
                        ["lognormal(", &mean, "s,", &text(sigma), ")"].concat()
                    }
                }
            },
        )
    }),
};
