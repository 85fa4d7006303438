//! Changes that bring a target into reach, each tried by a run before it is offered.
//!
//! Candidates are typed numbers of the step time set back; targets moved up from what an idle engine takes, in steps; arrivals without
//! bursts; batches that do not wait for company; clients that wait; a smaller share. Of each the smallest that holds is
//! offered. Where none holds alone, all targets are moved together.

use std::sync::Arc;

use scenario::{CLASS_PREFIX, REST, Remedy, Untyped, field};
use sim_core::{
    ArrivalProcess, RequestSource, Rules, Setup,
    engine::Attendance,
    float::greater,
    workload::{Mix, OnOff},
};

use crate::{closed_form::kinds_of, load::Load};

/// How far above the floor a suggested target lies: the first holds for more than an idle engine.
pub(crate) const EASES: [(f64, &str); 5] =
    [(1.25, "25 % above"), (2.0, "twice"), (4.0, "4 times"), (8.0, "8 times"), (16.0, "16 times")];

/// Most targets that are moved one by one.
const MOST_MOVES: usize = 6;

/// Most remedies offered.
const MOST_REMEDIES: usize = 4;

/// Numbers set back one by one come before all else; all of them together, and what belongs to no
/// single target, after.
const UNTYPED: usize = usize::MAX - 100;
const ALL_UNTYPED: usize = usize::MAX - 5;
const OTHERS: usize = usize::MAX - 4;
const TOGETHER: usize = usize::MAX;

/// A change and the set-up with it.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// Changes of one group differ in size only; the smallest come first.
    group: usize,
    remedy: Remedy,
    /// What is to be run.
    setup: Setup,
    attendance: Attendance,
    /// Whether the target holds with the change; false until it was tried.
    holds: bool,
}

impl Trial {
    fn new(group: usize, (key, value): (&str, String), effect: &str, setup: Setup) -> Self {
        let remedy = Remedy::new(key, value, effect.to_owned());
        Self { group, remedy, setup, attendance: Attendance::OPEN, holds: false }
    }

    /// What is to be run, and the clients before it.
    pub(crate) const fn base(&self) -> (&Setup, &Attendance) {
        (&self.setup, &self.attendance)
    }

    /// Take the share of requests that met the changed target.
    pub(crate) fn learn(&mut self, slo_share: f64) {
        self.holds = slo_share >= self.setup.slo.share;
    }
}

/// The smallest change of each group that holds, single changes before those of several settings.
pub(crate) fn that_hold(trials: &[Trial]) -> Vec<Remedy> {
    let mut found: Vec<Remedy> = Vec::new();
    let mut last_group = None;
    for trial in trials {
        let is_single = trial.group != TOGETHER && trial.group != ALL_UNTYPED;
        let is_needed = is_single || found.is_empty();
        if trial.holds && is_needed && last_group != Some(trial.group) {
            last_group = Some(trial.group);
            found.push(trial.remedy.clone().meeting_target());
        }
    }
    found.truncate(MOST_REMEDIES);
    found
}

/// Everything to try, where an idle engine behaves as `idle` says and the classes of requests are
/// named as in `classes`.
pub(crate) fn trials(
    (setup, attendance): (&Setup, &Attendance),
    classes: &[String],
    untyped: &[Untyped],
    idle: &Load,
) -> Vec<Trial> {
    let moves = moves_of(setup, classes, idle);
    let mut trials = set_back(setup, untyped);
    for (group, one) in moves.iter().enumerate() {
        push_moved(&mut trials, setup, std::slice::from_ref(one), group);
    }
    let others = [without_bursts(setup), without_delay(setup), smaller_share(setup, idle)];
    others.into_iter().flatten().for_each(|trial| trials.push(trial));
    if moves.len() > 1 {
        push_moved(&mut trials, setup, &moves, TOGETHER);
    }
    // All but the last are tried with the clients there are.
    for trial in &mut trials {
        trial.attendance = *attendance;
    }
    trials.extend(with_patience(setup, attendance));
    trials
}

/// Numbers of the step time computed in place of those that a person typed.
fn set_back(setup: &Setup, untyped: &[Untyped]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, Untyped { remedy, step_time, engine }) in untyped.iter().enumerate() {
        let group = if remedy.also.is_empty() { UNTYPED + index } else { ALL_UNTYPED };
        let step_time = step_time.for_workload(&setup.workload.source);
        let setup = Setup { step_time, engine: *engine, ..setup.clone() };
        let (remedy, attendance) = (remedy.clone(), Attendance::OPEN);
        trials.push(Trial { group, remedy, setup, attendance, holds: false });
    }
    trials
}

/// A target that may have to be moved.
struct Move {
    /// Whose: an index of the classes.
    kind: usize,
    is_ttft: bool,
    key: String,
    /// What is asked, in seconds.
    target_s: f64,
    /// What an idle engine takes, or what is asked, in seconds: the target is moved up from here.
    floor_s: f64,
    /// Whether an idle engine takes longer than asked, or nearly.
    is_missed: bool,
}

/// The targets that an idle engine misses; all where that is not what is in the way.
fn moves_of(setup: &Setup, classes: &[String], idle: &Load) -> Vec<Move> {
    let kinds = kinds_of(setup);
    let mut moves: Vec<Move> = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        for is_ttft in [true, false] {
            let (key, target_s, lone_s, tail_s) = if is_ttft {
                let lone_s = kind.fluid.lone_prefill_s();
                ("ttft", kind.slo.ttft_s, lone_s, idle.ttft_tail_s(setup.slo.share))
            } else {
                let lone_s = kind.fluid.lone_decode_s();
                ("tpot", kind.slo.tpot_s, lone_s, idle.tpot_tail_s(setup.slo.share))
            };
            // The tails of several classes are not told apart.
            let idle_s = if kinds.len() == 1 { greater(lone_s, tail_s) } else { lone_s };
            let is_missed = idle_s * EASES[0].0 > target_s;
            let floor_s = if is_missed { idle_s } else { target_s };
            let key = key_of(classes.get(index), key);
            moves.push(Move { kind: index, is_ttft, key, target_s, floor_s, is_missed });
        }
    }
    if moves.iter().any(|one| one.is_missed) {
        moves.retain(|one| one.is_missed);
    }
    moves.truncate(MOST_MOVES);
    moves
}

pub(crate) fn key_of(class: Option<&String>, key: &str) -> String {
    match class {
        Some(name) if name != REST => [CLASS_PREFIX, name, ".", key].concat(),
        _ => key.to_owned(),
    }
}

/// All `moves` at once, in every size.
fn push_moved(trials: &mut Vec<Trial>, setup: &Setup, moves: &[Move], group: usize) {
    for (times, words) in EASES {
        if let Some(trial) = moved(setup, moves, group, (times, words)) {
            trials.push(trial);
        }
    }
}

/// All `moves` at once, so many times above their floors; `None` beyond what can be set, or where
/// nothing would be eased.
fn moved(
    setup: &Setup,
    moves: &[Move],
    group: usize,
    (times, words): (f64, &str),
) -> Option<Trial> {
    let mut setup = setup.clone();
    let mut remedy: Option<Remedy> = None;
    for one in moves {
        let us = two_digits_up((one.floor_s * times * 1e6).ceil() as u64);
        let target_s = us as f64 / 1e6;
        let most_ms = field(if one.is_ttft { "ttft" } else { "tpot" })?.max;
        if us as f64 / 1e3 > most_ms || target_s <= one.target_s {
            return None;
        }
        put_target(&mut setup, one, target_s);
        let value = milliseconds(us);
        remedy = Some(match remedy {
            None => {
                let what =
                    if one.is_missed { "what an idle engine takes" } else { "what is asked" };
                Remedy::new(&one.key, value, [words, " ", what].concat())
            }
            Some(remedy) => remedy.with(&one.key, &value),
        });
    }
    remedy.map(|remedy| Trial { group, remedy, setup, attendance: Attendance::OPEN, holds: false })
}

fn put_target(setup: &mut Setup, one: &Move, target_s: f64) {
    let put = |slo: &mut sim_core::Slo| {
        *(if one.is_ttft { &mut slo.ttft_s } else { &mut slo.tpot_s }) = target_s;
    };
    if !one.key.starts_with(CLASS_PREFIX) {
        put(&mut setup.slo);
    }
    if let RequestSource::Mixed(mix) = &mut setup.workload.source
        && let Some(class) = Arc::make_mut(mix).classes.get_mut(one.kind)
    {
        put(&mut class.slo);
    }
}

/// Independent users in place of bursts.
fn without_bursts(setup: &Setup) -> Option<Trial> {
    let is_bursty = |process: ArrivalProcess, bursts: Option<OnOff>| {
        bursts.is_some() || matches!(process, ArrivalProcess::Gamma { shape } if shape < 1.0)
    };
    let mut setup = setup.clone();
    match &mut setup.workload.source {
        RequestSource::Generated { process, .. } if is_bursty(*process, None) => {
            *process = ArrivalProcess::Poisson;
        }
        RequestSource::Mixed(mix) if is_bursty(mix.arrivals.process, mix.arrivals.bursts) => {
            let mix: &mut Mix = Arc::make_mut(mix);
            (mix.arrivals.process, mix.arrivals.bursts) = (ArrivalProcess::Poisson, None);
        }
        _ => return None,
    }
    let change = ("arrivals", "poisson".to_owned());
    Some(Trial::new(OTHERS, change, "no bursts", setup))
}

/// Batches that start as soon as they can.
fn without_delay(setup: &Setup) -> Option<Trial> {
    let mut setup = setup.clone();
    let Rules::WholeBatches { max_delay_s, .. } = &mut setup.rules else { return None };
    if *max_delay_s <= 0.0 {
        return None;
    }
    *max_delay_s = 0.0;
    let change = ("sched.rules", "static".to_owned());
    Some(Trial::new(OTHERS + 1, change, "batches wait for nobody", setup))
}

/// Clients that wait for their answers, however long.
fn with_patience(setup: &Setup, attendance: &Attendance) -> Option<Trial> {
    attendance.clients.patience?;
    let change = ("clients.patience", "none".to_owned());
    let mut trial = Trial::new(OTHERS + 3, change, "clients wait for their answers", setup.clone());
    trial.attendance = *attendance;
    trial.attendance.clients.patience = None;
    Some(trial)
}

/// The share of requests that an idle engine serves in time.
fn smaller_share(setup: &Setup, idle: &Load) -> Option<Trial> {
    let percent = libm::floor(100.0 * idle.slo_share().value) as u64;
    if (percent as f64) < field("share")?.min {
        return None;
    }
    let mut setup = setup.clone();
    setup.slo.share = percent as f64 / 100.0;
    let change = ("share", [&percent.to_string(), "%"].concat());
    Some(Trial::new(OTHERS + 2, change, "what an idle engine serves in time", setup))
}

/// Round up to two significant digits.
pub(crate) fn two_digits_up(value: u64) -> u64 {
    let mut unit: u64 = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    value.div_ceil(unit) * unit
}

/// Microseconds as a link writes milliseconds. In whole numbers: this is all that the worker ever
/// writes of numbers with a fraction, and the tables for them are a tenth of what it would weigh.
pub(crate) fn milliseconds(us: u64) -> String {
    let (whole, thousandths) = (us / 1_000, us % 1_000);
    if thousandths == 0 {
        return format!("{whole}ms");
    }
    let digits = format!("{thousandths:03}");
    format!("{whole}.{}ms", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_round_and_never_below() {
        for (us, expected) in [
            (51_200, "52ms"),
            (5_050, "5.1ms"),
            (71, "0.071ms"),
            (412_300, "420ms"),
            (900, "0.9ms"),
            (1, "0.001ms"),
            (99_001, "100ms"),
        ] {
            assert_eq!(milliseconds(two_digits_up(us)), expected);
        }
        assert!(two_digits_up(u64::MAX / 2) >= u64::MAX / 2);
    }
}
