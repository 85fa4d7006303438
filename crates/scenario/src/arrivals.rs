//! Patterns of arrivals as links write them.

use quantity::Unit;
use sim_core::{ArrivalProcess, workload::OnOff};

use crate::{
    field::Field,
    notice::quoted,
    pieces::call,
    range::{self, Taken},
    writing,
};

/// Shortest and longest mean length of a burst or a lull, seconds.
const LENGTHS_S: (f64, f64) = (0.1, 86_400.0);

/// How gaps are distributed, and the bursts over them, if any.
pub(crate) type Pattern = (ArrivalProcess, Option<OnOff>);

/// Write a pattern: `poisson`, `gamma(0.5)`, `even`, `onoff(20s,60s,0.1)`, or
/// `onoff(20s,60s,0.1,gamma(0.5))` for bursts of another process than Poisson's.
pub(crate) fn write((process, bursts): Pattern) -> String {
    let plain = match process {
        ArrivalProcess::Poisson => "poisson".to_owned(),
        ArrivalProcess::Gamma { shape } => format!("gamma({})", writing::decimal(shape, 0)),
        ArrivalProcess::Even => "even".to_owned(),
    };
    let Some(OnOff { on_s, off_s, lull_share }) = bursts else { return plain };
    let head = format!(
        "onoff({},{},{}",
        writing::seconds(on_s),
        writing::seconds(off_s),
        writing::decimal(lull_share, 0)
    );
    match process {
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
        _ => {
            let (process, said) = read_process(field, text)?;
            Ok(((process, None), said))
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
    Ok(((process, Some(OnOff { on_s, off_s, lull_share })), said))
}
