//! Patterns of arrivals as links write them.

use quantity::Unit;
use sim_core::{ArrivalProcess, workload::OnOff};

use crate::{
    field::Field,
    notice::quoted,
    overload::ClosedLoop,
    pieces::call,
    range::{self, Taken},
    schema::Scenario,
    writing,
};

/// Shortest and longest mean length of a burst or a lull, seconds.
const LENGTHS_S: (f64, f64) = (0.1, 86_400.0);

/// Fewest and most users of a closed loop.
const USERS: (f64, f64) = (1.0, 1_000_000.0);

/// Shortest and longest mean time that a user thinks, seconds.
const THINK_S: (f64, f64) = (0.0, 86_400.0);

/// Who sends when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    /// How gaps are distributed.
    process: ArrivalProcess,
    /// Bursts over them, if any.
    bursts: Option<OnOff>,
    /// Users in their place, if any.
    closed: Option<ClosedLoop>,
}

impl Pattern {
    pub(crate) const fn of(scenario: &Scenario) -> Self {
        let Scenario { arrivals: process, bursts, closed, .. } = *scenario;
        Self { process, bursts, closed }
    }

    pub(crate) const fn put(self, scenario: &mut Scenario) {
        scenario.arrivals = self.process;
        scenario.bursts = self.bursts;
        scenario.closed = self.closed;
    }

    const fn open(process: ArrivalProcess, bursts: Option<OnOff>) -> Self {
        Self { process, bursts, closed: None }
    }
}

/// Write a pattern: `poisson`, `gamma(0.5)`, `even`, `onoff(20s,60s,0.1)`, or
/// `onoff(20s,60s,0.1,gamma(0.5))` for bursts of another process than Poisson's;
/// `closed(200,10s)` for users, `closed(200,10s,scheduled)` for users with a schedule.
pub(crate) fn write(pattern: &Pattern) -> String {
    if let Some(ClosedLoop { users, think_s, on_schedule }) = pattern.closed {
        let schedule = if on_schedule { ",scheduled" } else { "" };
        return format!("closed({users},{}{schedule})", writing::seconds(think_s));
    }
    let plain = match pattern.process {
        ArrivalProcess::Poisson => "poisson".to_owned(),
        ArrivalProcess::Gamma { shape } => format!("gamma({})", writing::decimal(shape, 0)),
        ArrivalProcess::Even => "even".to_owned(),
    };
    let Some(OnOff { on_s, off_s, lull_share }) = pattern.bursts else { return plain };
    let head = format!(
        "onoff({},{},{}",
        writing::seconds(on_s),
        writing::seconds(off_s),
        writing::decimal(lull_share, 0)
    );
    match pattern.process {
        ArrivalProcess::Poisson => format!("{head})"),
        _ => format!("{head},{plain})"),
    }
}

/// Read what [`write`] writes.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read(field: &Field, text: &str) -> Result<Taken<Pattern>, String> {
    match call(text) {
        Some((name, parts)) if name == "onoff" => read_bursts(field, text, &parts),
        Some((name, parts)) if name == "closed" => read_closed(text, &parts),
        _ => {
            let (process, said) = read_process(field, text)?;
            Ok((Pattern::open(process, None), said))
        }
    }
}

fn read_process(field: &Field, text: &str) -> Result<Taken<ArrivalProcess>, String> {
    let plain = text.trim().to_ascii_lowercase();
    match (plain.as_str(), call(text)) {
        ("poisson", _) => Ok((ArrivalProcess::Poisson, Vec::new())),
        ("even", _) => Ok((ArrivalProcess::Even, Vec::new())),
        (_, Some((name, parts))) if name == "gamma" => {
            let [shape] = parts[..] else {
                return Err(format!("{} needs one number, its shape", quoted(text)));
            };
            let (shape, said) = range::plain(shape, "the shape", (field.min, field.max))?;
            Ok((ArrivalProcess::Gamma { shape }, said))
        }
        _ => Err(format!("{} is not a pattern of arrivals", quoted(text))),
    }
}

fn read_bursts(field: &Field, text: &str, parts: &[&str]) -> Result<Taken<Pattern>, String> {
    let (on, off, lull, process) = match *parts {
        [on, off] => (on, off, None, None),
        [on, off, lull] => (on, off, Some(lull), None),
        [on, off, lull, process] => (on, off, Some(lull), Some(process)),
        _ => {
            let needs = "needs the mean length of a burst and of a lull, and may have the rate in a \
                         lull as a share of that in a burst";
            return Err(format!("{} {needs}", quoted(text)));
        }
    };
    let (on_s, mut said) = range::seconds(on, "the mean length of a burst", LENGTHS_S)?;
    let (off_s, more) = range::seconds(off, "the mean length of a lull", LENGTHS_S)?;
    said.extend(more);
    let lull_share = match lull {
        None => 0.0,
        Some(lull) => {
            let what = "the rate in a lull, as a share of that in a burst,";
            let (share, more) = range::measured(lull, Unit::Share, what, (0.0, 1.0))?;
            said.extend(more);
            share
        }
    };
    let process = match process {
        None => ArrivalProcess::Poisson,
        Some(process) => {
            let (process, more) = read_process(field, process)?;
            said.extend(more);
            process
        }
    };
    Ok((Pattern::open(process, Some(OnOff { on_s, off_s, lull_share })), said))
}

fn read_closed(text: &str, parts: &[&str]) -> Result<Taken<Pattern>, String> {
    let (users, think, on_schedule) = match *parts {
        [users, think] => (users, think, false),
        [users, think, word] if word.trim().eq_ignore_ascii_case("scheduled") => {
            (users, think, true)
        }
        _ => {
            let needs = "needs the number of users and the mean time that each thinks, and may have \
                         the word scheduled";
            return Err(format!("{} {needs}", quoted(text)));
        }
    };
    let (number, mut said) = range::measured(users, Unit::Count, "the number of users", USERS)?;
    let whole = libm::round(number);
    if whole != number {
        let [least, most] = [USERS.0, USERS.1].map(quantity::editable);
        let is_whole = range::whole_from("The number of users", &least, &most, "200");
        said.push([&is_whole, " Using ", &quantity::editable(whole), "."].concat());
    }
    let (think_s, more) = range::seconds(think, "the time that a user thinks", THINK_S)?;
    said.extend(more);
    if on_schedule && think_s <= 0.0 {
        let needs = "has a schedule without time between its requests: give more than 0 s";
        return Err(format!("{} {needs}", quoted(text)));
    }
    let closed = Some(ClosedLoop { users: whole as u64, think_s, on_schedule });
    Ok((Pattern { closed, ..Pattern::open(ArrivalProcess::Poisson, None) }, said))
}
