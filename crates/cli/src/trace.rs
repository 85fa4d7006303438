//! Recordings: files of any format that `import` knows.

use std::{fs::File, io::Read, path::Path, sync::Arc};

use import::trace::ImportedTrace;
use scenario::{BeyondContext, Profile, Scenario};
use sim_core::Trace;

use crate::{args::TraceArgs, failure::Failure, input, output};

/// Most bytes of a file that are read: beyond it, no text of a trace would be taken either.
const MOST_BYTES: u64 = 1 << 30;

/// A recording and the rate at which it counts as made, per second.
pub(crate) struct Recording {
    pub(crate) trace: Arc<Trace>,
    pub(crate) rate_per_s: f64,
}

/// The recording that was asked for, if one was. It takes the place of all that a scenario draws.
pub(crate) fn recording(
    args: &TraceArgs,
    scenario: &mut Scenario,
) -> Result<Option<Recording>, Failure> {
    let Some(path) = &args.trace else {
        input::caution(scenario, false);
        return Ok(None);
    };
    let trace = Arc::new(read(path, args.skip_bad_rows)?);
    take_over(scenario);
    compare_with_context(scenario, path, &trace);
    let rate_per_s = args.trace_rate.or_else(|| trace.mean_rate_per_s()).ok_or_else(|| {
        Failure::input(format!(
            "{}: all requests arrive at once, so there is no rate to scale. Give it with --trace-rate.",
            path.display()
        ))
    })?;
    Ok(Some(Recording { trace, rate_per_s }))
}

/// Leave out what a recording takes the place of, and say so where a person asked for it.
pub(crate) fn take_over(scenario: &mut Scenario) {
    let has_pattern = scenario.bursts.take().is_some() | scenario.closed.take().is_some();
    let has_sessions = scenario.has_sessions();
    scenario.turns = Scenario::preset().turns;
    let has_profile = std::mem::take(&mut scenario.profile) != Profile::Constant;
    let has_classes = !std::mem::take(&mut scenario.classes).is_empty();
    if has_pattern || has_sessions || has_profile || has_classes {
        output::note(
            "The recording has its own arrivals and lengths; bursts, closed loop, sessions, rate \
             profile and classes of the scenario are not used.",
        );
    }
    input::caution(scenario, true);
}

/// Say how many requests of a recording are longer than the model takes.
pub(crate) fn compare_with_context(scenario: &Scenario, path: &Path, trace: &Trace) {
    let Some(context_tokens) = scenario.context_tokens() else { return };
    let mut beyond = BeyondContext::none_yet(context_tokens);
    for row in trace.rows() {
        beyond.count(row.input_tokens, row.output_tokens);
    }
    if beyond.requests > 0 {
        let way_out = "Cut or leave out these rows, or choose a model with a longer context.";
        output::note(&format!("{}: {}", path.display(), beyond.sentence(way_out)));
    }
}

/// Read a recording. Rows that cannot be used are refused, or left out where that was asked for.
pub(crate) fn read(path: &Path, skip_bad_rows: bool) -> Result<Trace, Failure> {
    input::check_file(path)?;
    let bytes = bytes(path)?;
    // Messages quote the name, and have no room for a long path.
    let name = path.file_name().map(|name| name.to_string_lossy());
    let imported = import::trace::read(name.as_deref(), &bytes)
        .map_err(|error| Failure::input(output::sentence(&error.to_string())))?;
    if !skip_bad_rows {
        all_usable(path, &imported)?;
    }
    imported.notes.iter().for_each(|note| output::note(note));
    imported
        .to_trace()
        .map_err(|error| Failure::input(output::sentence(&format!("{}: {error}", path.display()))))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!(
            "{} is larger than 1 GiB. Keep a part of its lines.",
            path.display()
        )));
    }
    Ok(bytes)
}

/// What is kept in a file is taken as written or refused: a script must not compute with a part.
fn all_usable(path: &Path, imported: &ImportedTrace) -> Result<(), Failure> {
    let Some(first) = imported.skipped.first() else { return Ok(()) };
    let all = imported.skipped_total + imported.rows.len();
    let rows = quantity::counted(all as u64, "row", "rows");
    Err(Failure::input(format!(
        "{}, line {}: {} Of {rows} {} cannot be used; mend them, or leave them out with --skip-bad-rows.",
        path.display(),
        first.line,
        output::sentence(&first.reason),
        quantity::count(imported.skipped_total as u64)
    )))
}
