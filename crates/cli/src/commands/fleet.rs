//! `headroom fleet`.

use std::{fmt::Write as _, process::ExitCode, sync::Arc};

use scenario::FleetError;
use sim_core::{Keep, Precision, RequestSource, fleet::live::simulate_live};

use crate::{failure::Failure, fleet_settings::FleetArgs, input, output, trace};

pub(crate) fn run(args: &FleetArgs) -> Result<ExitCode, Failure> {
    if args.cold_start.as_deref() == Some("list") {
        output::print(&cold_starts())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut scenario = input::scenario(&args.scenario)?;
    if args.trace.trace.is_some() {
        trace::take_over(&mut scenario, args.trace.trace_rate.is_some());
    }
    let resolved = scenario.resolve().map_err(|error| Failure::input(error.to_string()))?;
    let refused = |error: FleetError| Failure::input(error.to_string());
    scenario.check_fleet().map_err(refused)?;
    let spec = args.spec(&scenario.fleet);
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
    } else {
        setup.workload.requests = spec.requests(&setup.workload.source).map_err(refused)?;
    }
    let fleet = args.fleet(&spec, setup, scenario.gpus_per_engine())?;
    let window_s = fleet.window_s;
    let keep = Keep { precision: Precision::default(), requests: false };
    let run = simulate_live(&fleet, keep)?;
    output::print(&if args.json {
        report::fleet_json(&run, window_s)
    } else if args.csv {
        report::fleet_csv(&run)
    } else {
        report::fleet_text(&run, window_s)
    })?;
    Ok(ExitCode::SUCCESS)
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
