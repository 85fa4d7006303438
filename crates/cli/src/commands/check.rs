//! `headroom check`.

use std::{fmt::Write as _, process::ExitCode};

use report::{ANSWER_FIGURES, Assertion, Checked};

use super::plan::{self, Depth};
use crate::{args::CheckArgs, failure::Failure, input, output, trace};

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    if args.list {
        output::print(&figures())?;
        return Ok(ExitCode::SUCCESS);
    }
    let read =
        |text: &String| Assertion::read(text).map_err(|error| Failure::input(error.to_string()));
    let assertions = args.assertions.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut scenario = input::exactly(&args.scenario)?;
    let recording = trace::recording(&args.trace, &mut scenario)?;
    let planned = plan::answer(&scenario, recording.as_ref(), Depth::Full, args.threads.count())?;
    let checked = report::check(&planned.answer, &assertions, args.strict);
    output::print(&if args.json {
        report::check_json(&checked, &scenario)
    } else {
        report::check_text(&checked)
    })?;
    Ok(output::code(checked.iter().all(|one: &Checked| one.holds)))
}

/// Every figure with what it is.
fn figures() -> String {
    let mut text = String::new();
    for figure in ANSWER_FIGURES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<24}{}", figure.name, figure.meaning);
    }
    text
}
