//! `headroom chart`.

use std::{path::Path, process::ExitCode, sync::Arc};

use charts::{Style, knee_svg};
use sim_core::RequestSource;

use super::plan::{self, Depth, Planned};
use crate::{args::ChartArgs, failure::Failure, input, output, trace};

/// A drawing under the name of another format would be opened as what it is not.
pub(super) fn is_svg(option: &str, path: &Path) -> Result<(), Failure> {
    match path.extension() {
        Some(ending) if !ending.eq_ignore_ascii_case("svg") => Err(Failure::input(format!(
            "{option} {}: the drawing is SVG. Name it {}.",
            path.display(),
            path.with_extension("svg").display()
        ))),
        _ => Ok(()),
    }
}

/// Size of the drawing, CSS px.
const SIZE_PX: (f64, f64) = (712.0, 352.0);

pub(crate) fn run(args: &ChartArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.out {
        is_svg("--out", path)?;
    }
    let mut scenario = input::scenario(&args.scenario)?;
    let recording = trace::recording(&args.trace, &mut scenario)?;
    let planned = plan::answer(&scenario, recording.as_ref(), Depth::Full, args.threads.count())?;
    let Planned { answer, resolved } = planned;
    let Some(mut resolved) = resolved.filter(|_| !answer.knee.is_empty()) else {
        // Nothing to draw: the words go where they cannot be taken for a drawing.
        output::to_stderr(&report::plan_text(&report::tell(&answer, &scenario)));
        return Ok(output::code(false));
    };
    if let Some(recording) = &recording {
        let trace = Arc::clone(&recording.trace);
        let source = RequestSource::Replay { trace, speed: 1.0 };
        resolved.setup.step_time = resolved.setup.step_time.for_workload(&source);
        resolved.setup.workload.source = source;
    }
    let data = report::knee_data(&answer, &scenario, planner::closed_form(&resolved).curve);
    let svg = knee_svg(&data, args.theme.colours(), &Style::svg(SIZE_PX.0, SIZE_PX.1))
        .map_err(|error| Failure::input(error.to_string()))?;
    match &args.out {
        Some(path) => output::write_file(path, &svg)?,
        None => output::print(&svg)?,
    }
    if args.json {
        output::print(&report::plan_json(&answer, &scenario, Some(&resolved.ledger), None))?;
    }
    Ok(output::code(plan::is_sized(&answer)))
}
