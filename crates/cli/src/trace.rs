//! Recordings: files of any format that `import` knows.

use std::{fs::File, io::Read, path::Path, sync::Arc};

use import::trace::ImportedTrace;
use scenario::{BeyondContext, Scenario};
use sim_core::{LengthSpec, Trace};

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
        input::caution(&scenario.cautions(), false);
        return Ok(None);
    };
    let trace = Arc::new(read(path, args.skip_bad_rows)?);
    take_over(scenario, true);
    input::caution(&scenario.cautions(), true);
    compare_with_context(scenario, path, &trace);
    let rate_per_s = args.trace_rate.or_else(|| trace.mean_rate_per_s()).ok_or_else(|| {
        Failure::input(format!(
            "{}: all requests arrive at once, so there is no rate to scale. Give it with --trace-rate.",
            path.display()
        ))
    })?;
    Ok(Some(Recording { trace, rate_per_s }))
}

/// What a recording takes the place of, beside classes: it is one, and says when what comes.
const REPLACED: [&str; 8] =
    ["in", "out", "arrivals", "profile", "turns", "think", "sim.requests", "sim.replications"];

/// Leave out what a recording takes the place of, and say so where a person asked for it. `has_rate`
/// says that the scenario's rate is the one to replay at.
pub(crate) fn take_over(scenario: &mut Scenario, has_rate: bool) {
    let mut unused: Vec<String> =
        REPLACED.iter().filter_map(|key| changed(scenario, key)).collect();
    unused.extend(scenario.classes.iter().map(|class| format!("class.{}", class.name)));
    // Drafts and clients that react are drawn for recorded requests, too.
    if scenario.spec.tokens == 0 && scenario.clients == Scenario::preset().clients {
        unused.extend(changed(scenario, "seed"));
    }
    let rate = if has_rate { None } else { changed(scenario, "rate") };
    if !unused.is_empty() {
        let verb = if unused.len() == 1 { "is" } else { "are" };
        output::note(&format!(
            "{} {verb} not used: the recording has its own arrivals and lengths, and there is one of \
             it.",
            unused.join(", ")
        ));
    }
    if let Some(rate) = rate {
        output::note(&format!(
            "{rate} is not used: the recording has its own rate. Say with --trace-rate at which rate \
             it counts as made to replay it at this one."
        ));
    }
    let Scenario { input, output, .. } = Scenario::preset();
    (scenario.input, scenario.output) = (input, output);
    scenario.leave_traffic_to_recording();
}

/// The scenario to look numbers up for. Beside a recording the least lengths there are, so that
/// nothing is said of others than its own.
pub(crate) fn to_resolve(scenario: &Scenario, has_recording: bool) -> Scenario {
    let mut scenario = scenario.clone();
    if has_recording {
        let least = LengthSpec::Fixed { tokens: 1 };
        (scenario.input, scenario.output) = (least, least);
    }
    scenario
}

/// A setting that differs from its default, as one would type it.
fn changed(scenario: &Scenario, key: &str) -> Option<String> {
    let default = scenario::field(key)?.default;
    let value = scenario.get(key).filter(|value| value != default)?;
    Some(format!("{key}={value}"))
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
