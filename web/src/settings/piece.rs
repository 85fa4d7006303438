//! Numbers within a setting: of a pattern of arrivals, a rate profile, a scheduling rule.

use quantity::Unit;
use scenario::Scenario;
use scenario::{ClosedLoop, Profile, Scale, SchedRules, Slider, Snap, StepSizes};
use sim_core::{ArrivalProcess, workload::OnOff};

use super::{Dial, List, Part, Piece};
use crate::strings;

pub(super) const TIME_SNAPS: Snap = Snap::Decades(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
pub(super) const NUMBER_SNAPS: Snap = Snap::Decades(&[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
const FACTORS: StepSizes = StepSizes::Multiply([1.01, 1.1, 2.0]);

pub(super) const fn log(min: f64, max: f64, snap: Snap) -> Option<Slider> {
    Some(Slider { min, max, scale: Scale::Log, snap, steps: FACTORS })
}

pub(super) const fn linear(min: f64, max: f64, unit: f64, steps: [f64; 3]) -> Option<Slider> {
    let snap = Snap::Multiples(unit);
    Some(Slider { min, max, scale: Scale::Linear, snap, steps: StepSizes::Add(steps) })
}

/// A piece without a name, which the table fills in.
pub(super) const fn piece(
    first: f64,
    read: fn(&Scenario) -> Option<f64>,
    write: fn(&Scenario, f64) -> String,
) -> Piece {
    Piece {
        help: "",
        unit: "",
        quantity: Unit::Number,
        slider: None,
        first: Some(first),
        read,
        write,
    }
}

pub(super) const fn seconds(
    help: &'static str,
    first: f64,
    read: fn(&Scenario) -> Option<f64>,
    write: fn(&Scenario, f64) -> String,
) -> Piece {
    Piece { help, unit: "s", quantity: Unit::Seconds, ..piece(first, read, write) }
}

/// A number as links write it.
pub(super) fn text(value: f64) -> String {
    quantity::plain(value, 0)
}

/// A kind with its numbers: “gamma(0.5)”.
pub(super) fn call<const N: usize>(name: &str, numbers: [f64; N]) -> String {
    [name, "(", &numbers.map(text).join(","), ")"].concat()
}

// ---- arrivals -----------------------------------------------------------------------------------

/// Shape of gamma gaps: 1 is Poisson, below is burstier.
pub(crate) static BURSTINESS: Dial = Dial {
    id: "burstiness",
    key: "arrivals",
    label: strings::BURSTINESS,
    spoken_unit: "",
    part: Part::Piece(Piece {
        help: strings::BURSTINESS_HELP,
        slider: log(0.1, 4.0, NUMBER_SNAPS),
        ..piece(
            1.0,
            |s| match (s.arrivals, s.bursts) {
                (ArrivalProcess::Gamma { shape }, None) => Some(shape),
                _ => None,
            },
            |_, shape| call("gamma", [shape]),
        )
    }),
};

/// Mean length of a burst.
pub(crate) static BURST: Dial = Dial {
    id: "burst",
    key: "arrivals",
    label: strings::BURST,
    spoken_unit: "seconds",
    part: Part::Piece(Piece {
        slider: log(1.0, 600.0, TIME_SNAPS),
        ..seconds(
            strings::BURST_HELP,
            20.0,
            |s| Some(s.bursts?.on_s),
            |s, on_s| bursts(s, |bursts| bursts.on_s = on_s),
        )
    }),
};

/// Mean length of a lull.
pub(crate) static LULL: Dial = Dial {
    id: "lull",
    key: "arrivals",
    label: strings::LULL,
    spoken_unit: "seconds",
    part: Part::Piece(Piece {
        slider: log(1.0, 600.0, TIME_SNAPS),
        ..seconds(
            strings::LULL_HELP,
            60.0,
            |s| Some(s.bursts?.off_s),
            |s, off_s| bursts(s, |bursts| bursts.off_s = off_s),
        )
    }),
};

/// Rate in a lull, per cent of that in a burst.
pub(crate) static LULL_SHARE: Dial = Dial {
    id: "lull-share",
    key: "arrivals",
    label: strings::LULL_SHARE,
    spoken_unit: "percent",
    part: Part::Piece(Piece {
        help: strings::LULL_SHARE_HELP,
        unit: "%",
        quantity: Unit::Percent,
        slider: linear(0.0, 100.0, 5.0, [1.0, 5.0, 25.0]),
        ..piece(
            10.0,
            |s| Some(percent(s.bursts?.lull_share)),
            |s, share| bursts(s, |bursts| bursts.lull_share = share / 100.0),
        )
    }),
};

/// A share in per cent, without the digits that a product of floats brings.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// Bursts with one number changed, over the gaps that are in force.
fn bursts(scenario: &Scenario, change: impl Fn(&mut OnOff)) -> String {
    let usual = OnOff { on_s: 20.0, off_s: 60.0, lull_share: 0.1 };
    let mut bursts = scenario.bursts.unwrap_or(usual);
    change(&mut bursts);
    let OnOff { on_s, off_s, lull_share } = bursts;
    let process = match scenario.arrivals {
        ArrivalProcess::Poisson => String::new(),
        ArrivalProcess::Gamma { shape } => [",", &call("gamma", [shape])].concat(),
        ArrivalProcess::Even => ",even".to_owned(),
    };
    // A bare number above one would be read as per cent.
    let (share, unit) =
        if lull_share > 1.0 { (percent(lull_share), "%") } else { (lull_share, "") };
    let [on_s, off_s, share] = [on_s, off_s, share].map(text);
    format!("onoff({on_s}s,{off_s}s,{share}{unit}{process})")
}

/// Users of a closed loop.
pub(crate) static USERS: Dial = Dial {
    id: "users",
    key: "arrivals",
    label: strings::USERS,
    spoken_unit: "users",
    part: Part::Piece(Piece {
        help: strings::USERS_HELP,
        quantity: Unit::Count,
        slider: log(1.0, 100_000.0, NUMBER_SNAPS),
        ..piece(
            1_000.0,
            |s| Some(s.closed?.users as f64),
            |s, users| {
                let ClosedLoop { think_s, on_schedule, .. } = users_of(s);
                // As typed: what is no whole number is told by the scenario.
                closed_text(users, think_s, on_schedule)
            },
        )
    }),
};

/// Time that each of them thinks.
pub(crate) static THINK: Dial = Dial {
    id: "think",
    key: "arrivals",
    label: strings::THINK,
    spoken_unit: "seconds",
    part: Part::Piece(Piece {
        slider: log(0.1, 600.0, TIME_SNAPS),
        ..seconds(
            strings::THINK_HELP,
            10.0,
            |s| Some(s.closed?.think_s),
            |s, think_s| closed(s, |closed| closed.think_s = think_s),
        )
    }),
};

/// Users with something changed.
pub(crate) fn closed(scenario: &Scenario, change: impl Fn(&mut ClosedLoop)) -> String {
    let mut closed = users_of(scenario);
    change(&mut closed);
    closed_text(closed.users as f64, closed.think_s, closed.on_schedule)
}

/// The users in force, or the usual ones.
fn users_of(scenario: &Scenario) -> ClosedLoop {
    let usual = ClosedLoop { users: 1_000, think_s: 10.0, on_schedule: false };
    scenario.closed.unwrap_or(usual)
}

fn closed_text(users: f64, think_s: f64, on_schedule: bool) -> String {
    let [users, think_s] = [users, think_s].map(text);
    format!("closed({users},{think_s}s{})", if on_schedule { ",scheduled" } else { "" })
}

// ---- rate over time -----------------------------------------------------------------------------

/// When the rate begins to change.
pub(crate) static PROFILE_AT: Dial = Dial {
    id: "profile-at",
    key: "profile",
    label: strings::PROFILE_AT,
    spoken_unit: "seconds",
    part: Part::Piece(seconds(
        strings::PROFILE_AT_HELP,
        60.0,
        |s| match s.profile {
            Profile::Step { at_s, .. } | Profile::Spike { at_s, .. } => Some(at_s),
            Profile::Ramp { from_s, .. } => Some(from_s),
            _ => None,
        },
        |s, time_s| match s.profile {
            Profile::Spike { length_s, factor, .. } => spike(time_s, length_s, factor),
            Profile::Ramp { to_s, factor, .. } => {
                // An end before the start moves along.
                ramp(time_s, if to_s < time_s { time_s } else { to_s }, factor)
            }
            Profile::Step { factor, .. } => step(time_s, factor),
            _ => step(time_s, 2.0),
        },
    )),
};

/// When a ramp is at its end.
pub(crate) static PROFILE_TO: Dial = Dial {
    id: "profile-to",
    key: "profile",
    label: strings::PROFILE_TO,
    spoken_unit: "seconds",
    part: Part::Piece(seconds(
        strings::PROFILE_TO_HELP,
        600.0,
        |s| match s.profile {
            Profile::Ramp { to_s, .. } => Some(to_s),
            _ => None,
        },
        |s, to_s| match s.profile {
            Profile::Ramp { from_s, factor, .. } => {
                ramp(if from_s > to_s { to_s } else { from_s }, to_s, factor)
            }
            _ => ramp(60.0, to_s, 2.0),
        },
    )),
};

/// How long a spike lasts.
pub(crate) static PROFILE_LENGTH: Dial = Dial {
    id: "profile-length",
    key: "profile",
    label: strings::PROFILE_LENGTH,
    spoken_unit: "seconds",
    part: Part::Piece(seconds(
        strings::PROFILE_LENGTH_HELP,
        30.0,
        |s| match s.profile {
            Profile::Spike { length_s, .. } => Some(length_s),
            _ => None,
        },
        |s, length_s| match s.profile {
            Profile::Spike { at_s, factor, .. } => spike(at_s, length_s, factor),
            _ => spike(60.0, length_s, 2.0),
        },
    )),
};

/// What the rate is multiplied with.
pub(crate) static PROFILE_FACTOR: Dial = Dial {
    id: "profile-factor",
    key: "profile",
    label: strings::PROFILE_FACTOR,
    spoken_unit: "times",
    part: Part::Piece(Piece {
        help: strings::PROFILE_FACTOR_HELP,
        unit: "×",
        slider: log(0.1, 10.0, NUMBER_SNAPS),
        ..piece(
            2.0,
            |s| match s.profile {
                Profile::Step { factor, .. }
                | Profile::Ramp { factor, .. }
                | Profile::Spike { factor, .. } => Some(factor),
                _ => None,
            },
            |s, factor| match s.profile {
                Profile::Spike { at_s, length_s, .. } => spike(at_s, length_s, factor),
                Profile::Ramp { from_s, to_s, .. } => ramp(from_s, to_s, factor),
                Profile::Step { at_s, .. } => step(at_s, factor),
                _ => step(60.0, factor),
            },
        )
    }),
};

/// The quietest hour, per cent of the busiest.
pub(crate) static TROUGH: Dial = Dial {
    id: "profile-trough",
    key: "profile",
    label: strings::TROUGH,
    spoken_unit: "percent",
    part: Part::Piece(Piece {
        help: strings::TROUGH_HELP,
        unit: "%",
        quantity: Unit::Percent,
        slider: linear(1.0, 100.0, 5.0, [1.0, 5.0, 25.0]),
        ..piece(
            30.0,
            |s| match s.profile {
                Profile::Day { trough, .. } => Some(percent(trough)),
                _ => None,
            },
            |s, trough| day(trough / 100.0, hour(s)),
        )
    }),
};

/// The busiest hour.
pub(crate) static PEAK_HOUR: Dial = Dial {
    id: "profile-hour",
    key: "profile",
    label: strings::PEAK_HOUR,
    spoken_unit: "o’clock",
    part: Part::Piece(Piece {
        help: strings::PEAK_HOUR_HELP,
        unit: "h",
        ..piece(
            14.0,
            |s| match s.profile {
                Profile::Day { peak_hour, .. } => Some(peak_hour),
                _ => None,
            },
            |s, hour| match s.profile {
                Profile::Day { trough, .. } => day(trough, hour),
                _ => day(0.3, hour),
            },
        )
    }),
};

/// Points of the rate over time.
pub(crate) static POINTS: Dial = Dial {
    id: "profile-points",
    key: "profile",
    label: strings::POINTS,
    spoken_unit: "",
    part: Part::List(List {
        help: strings::POINTS_HELP,
        name: "points",
        is_there: |s| matches!(s.profile, Profile::Points { .. }),
    }),
};

/// A day by its hours.
pub(crate) static HOURS: Dial = Dial {
    id: "profile-hours",
    key: "profile",
    label: strings::HOURS,
    spoken_unit: "",
    part: Part::List(List {
        help: strings::HOURS_HELP,
        name: "daily",
        is_there: |s| matches!(s.profile, Profile::Hours { .. }),
    }),
};

fn step(at_s: f64, factor: f64) -> String {
    let [at_s, factor] = [at_s, factor].map(text);
    format!("step({at_s}s,{factor})")
}

fn ramp(from_s: f64, to_s: f64, factor: f64) -> String {
    let [from_s, to_s, factor] = [from_s, to_s, factor].map(text);
    format!("ramp({from_s}s,{to_s}s,{factor})")
}

fn spike(at_s: f64, length_s: f64, factor: f64) -> String {
    let [at_s, length_s, factor] = [at_s, length_s, factor].map(text);
    format!("spike({at_s}s,{length_s}s,{factor})")
}

fn day(trough: f64, hour: f64) -> String {
    call("daily", [trough, hour])
}

fn hour(scenario: &Scenario) -> f64 {
    match scenario.profile {
        Profile::Day { peak_hour, .. } => peak_hour,
        _ => 14.0,
    }
}

// ---- scheduling rules ---------------------------------------------------------------------------

/// How long a dynamic batcher waits for company.
pub(crate) static DELAY: Dial = Dial {
    id: "delay",
    key: "sched.rules",
    label: strings::DELAY,
    spoken_unit: "milliseconds",
    part: Part::Piece(Piece {
        help: strings::DELAY_HELP,
        unit: "ms",
        quantity: Unit::Milliseconds,
        slider: log(1.0, 10_000.0, TIME_SNAPS),
        ..piece(
            20.0,
            |s| match s.rules {
                SchedRules::Dynamic { max_delay_s } => Some((max_delay_s * 1e9).round() / 1e6),
                _ => None,
            },
            |_, delay_ms| ["dynamic(", &text(delay_ms), "ms)"].concat(),
        )
    }),
};
