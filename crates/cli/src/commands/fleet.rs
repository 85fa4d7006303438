//! `headroom fleet`.

use std::{fmt::Write as _, process::ExitCode, sync::Arc};

use charts::{Style, fleet_svg};
use scenario::Scenario;
use sim_core::{
    Keep, Precision, RequestSource, Setup, SetupError,
    fleet::live::{LiveFleet, simulate_live},
};

use super::chart::is_svg;
use crate::{failure::Failure, fleet_settings::FleetArgs, input, output, pool, trace};

/// Size of the drawing, CSS px.
const SIZE_PX: (f64, f64) = (712.0, 560.0);

pub(crate) fn run(args: &FleetArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.svg {
        is_svg("--svg", path)?;
    }
    if args.cold_start.as_deref() == Some("list") {
        output::print(&cold_starts())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut scenario = input::scenario(&args.scenario)?;
    if args.trace.trace.is_some() {
        trace::take_over(&mut scenario, args.trace.trace_rate.is_some());
    }
    let resolved = scenario.resolve().map_err(|error| Failure::input(error.to_string()))?;
    if let Some(refused) = not_in_fleets(&scenario) {
        return Err(Failure::input(format!(
            "{refused}: headroom fleet has no queue limits, deadlines, clients that react, closed \
             loops, sessions or prefill and decode pools; leave that out.",
        )));
    }
    let mut setup = resolved.setup;
    if let Some(path) = &args.trace.trace {
        let recording = Arc::new(trace::read(path, args.trace.skip_bad_rows)?);
        trace::compare_with_context(&scenario, path, &recording);
        setup.workload.requests = recording.rows().len() as u64;
        let speed = args.trace.trace_rate.map_or(1.0, |rate| scenario.rate_per_s / rate);
        let source = RequestSource::Replay { trace: recording, speed };
        setup.step_time = setup.step_time.for_workload(&source);
        setup.workload.source = source;
    } else if let Some(requests) = args.requests {
        setup.workload.requests = requests.get().into();
    }
    let keep = Keep { precision: Precision::default(), requests: false };
    if !args.compare.is_empty() {
        return compare(args, &setup, &resolved.classes, keep);
    }
    let fleet = args.fleet(setup, &resolved.classes)?;
    let run = simulate_live(&fleet, keep)?;
    if let Some(path) = &args.openmetrics {
        let epoch_s = args.epoch_s(fleet.calendar);
        output::write_file(path, &report::open_metrics(&run.samples, &scenario.model, epoch_s))?;
    }
    if let Some(path) = &args.svg {
        let style = Style::svg(SIZE_PX.0, SIZE_PX.1);
        let svg = fleet_svg(&report::fleet_data(&run), args.theme.colours(), &style)
            .map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(path, &svg)?;
    }
    output::print(&if args.json {
        report::fleet_json(&run, args.window)
    } else if args.csv {
        report::fleet_csv(&run)
    } else {
        report::fleet_text(&run, args.window)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Policies side by side.
fn compare(
    args: &FleetArgs,
    setup: &Setup,
    classes: &[String],
    keep: Keep,
) -> Result<ExitCode, Failure> {
    let fleets = args
        .compared()?
        .into_iter()
        .map(|(name, args)| Ok((name, args.fleet(setup.clone(), classes)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let run = |(name, fleet): &(String, LiveFleet)| Ok((name.clone(), simulate_live(fleet, keep)?));
    let runs = pool::map(&fleets, args.threads.count(), run)
        .into_iter()
        .collect::<Result<Vec<_>, SetupError>>()?;
    let policies = planner::compare_policies(&runs, args.window, args.price);
    output::print(&if args.json {
        report::policies_json(&policies)
    } else if args.csv {
        report::policies_csv(&policies)
    } else {
        report::policies_text(&policies)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The first setting that a fleet over time does not have, as one would type it.
fn not_in_fleets(scenario: &Scenario) -> Option<String> {
    let preset = Scenario::preset();
    let reacts = |key: &str| {
        ["overload.", "clients.", "disagg."].iter().any(|group| key.starts_with(group))
            || key == "turns"
    };
    let changed =
        |key: &str| scenario.get(key).filter(|value| preset.get(key).as_ref() != Some(value));
    let keys = scenario::FIELDS.iter().map(|field| field.key).filter(|key| reacts(key));
    let typed = |key: &str| changed(key).map(|value| format!("{key}={value}"));
    let closed = || scenario.closed.is_some().then(|| typed("arrivals")).flatten();
    let of_class = || {
        let class = scenario
            .classes
            .iter()
            .find(|class| class.patience_s.is_some() || class.turns.is_some())?;
        Some(format!("class.{}", class.name))
    };
    keys.into_iter().find_map(typed).or_else(closed).or_else(of_class)
}

/// The measured start-ups by name.
fn cold_starts() -> String {
    let mut text = String::new();
    for start in catalog::cold_starts() {
        let seconds = quantity::duration(start.start_up.mean_s(false, false));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\n  {seconds}: {}\n  {}", start.slug, start.what, start.source);
    }
    text
}
