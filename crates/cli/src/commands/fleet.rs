//! `headroom fleet`.

use std::{fmt::Write as _, process::ExitCode, sync::Arc};

use charts::{Style, fleet_svg};
use scenario::{FleetError, Parsed};
use sim_core::{
    Keep, RequestSource, Setup, SetupError,
    fleet::{
        live::{LiveFleet, simulate_live},
        pooled::simulate_pooled,
        shared::simulate_shared,
    },
};

use super::{chart::is_svg, policy_search};
use crate::{
    failure::Failure,
    fleet_settings::{FleetArgs, Named},
    input,
    output::{self, Form},
    pool, trace,
};

/// Size of the drawing, CSS px.
const SIZE_PX: (f64, f64) = (712.0, 720.0);

pub(crate) fn run(args: &FleetArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.svg {
        is_svg("--svg", path)?;
    }
    if args.cold_start.as_deref() == Some("list") {
        output::print(&cold_starts())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((fleet, models)) = args.shared()? {
        let run = simulate_shared(&fleet, Keep::default())?;
        let named: Vec<_> = models.iter().map(named).collect();
        output::print(&if args.json {
            report::shared_json(&named, &run, fleet.quota_gpus)
        } else {
            report::shared_text(&named, &run, fleet.quota_gpus)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let Parsed { mut scenario, notices } = input::parsed(&args.scenario)?;
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
    let gpus_each = scenario.gpus_per_engine();
    let form = Form::of(args.json, args.csv);
    if let Some((apart, together)) =
        args.pooled(&scenario, (&setup, &resolved.classes), gpus_each)?
    {
        let window_s = together.window_s;
        let apart = simulate_pooled(&apart, Keep::default())?;
        let together = simulate_live(&together, Keep::default())?;
        let text = if args.json {
            report::pooled_json(&apart, &together, window_s)
        } else {
            report::pooled_text(&apart, &together, window_s)
        };
        output::print_answer(form, &text, &notices)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.search.search.is_empty() {
        let text =
            policy_search::run(args, &scenario.fleet, (&setup, &resolved.classes), gpus_each)?;
        output::print_answer(form, &text, &notices)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.compare.is_empty() {
        let text = compare(args, &scenario.fleet, (&setup, &resolved.classes), gpus_each)?;
        output::print_answer(form, &text, &notices)?;
        return Ok(ExitCode::SUCCESS);
    }
    let fleet = args.fleet(&spec, (setup, &resolved.classes), gpus_each)?;
    let window_s = fleet.window_s;
    let run = simulate_live(&fleet, Keep::default())?;
    args.tell_idle_faults(&run);
    if let Some(path) = &args.openmetrics {
        let epoch_s = args.epoch_s(fleet.calendar);
        output::write_file(path, &report::open_metrics(&run.samples, &scenario.model, epoch_s))?;
    }
    if let Some(path) = &args.svg {
        let style = Style::svg(SIZE_PX.0, SIZE_PX.1);
        let data = report::fleet_data(&run, &scenario);
        let svg = fleet_svg(&data, args.theme.colours(), &style)
            .map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(path, &svg)?;
    }
    let text = if args.json {
        report::fleet_json(&run, window_s)
    } else if args.csv {
        report::fleet_csv(&run)
    } else {
        report::fleet_text(&run, window_s)
    };
    output::print_answer(form, &text, &notices)?;
    Ok(ExitCode::SUCCESS)
}

fn named(model: &Named) -> report::NamedModel<'_> {
    report::NamedModel { name: &model.name, priority: model.priority, window_s: model.window_s }
}

/// Policies side by side.
fn compare(
    args: &FleetArgs,
    said: &scenario::FleetSpec,
    (setup, classes): (&Setup, &[String]),
    gpus_each: u64,
) -> Result<String, Failure> {
    let fleets = args
        .compared()?
        .into_iter()
        .map(|(name, args)| {
            Ok((name, args.fleet(&args.spec(said), (setup.clone(), classes), gpus_each)?))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let keep = Keep::default();
    let run = |(name, fleet): &(String, LiveFleet)| Ok((name.clone(), simulate_live(fleet, keep)?));
    let runs = pool::map(&fleets, args.threads.count(), run)
        .into_iter()
        .collect::<Result<Vec<_>, SetupError>>()?;
    let window_s = fleets.first().map_or(60.0, |(_, fleet)| fleet.window_s);
    let policies = planner::compare_policies(&runs, window_s, args.price);
    Ok(if args.json {
        report::policies_json(&policies)
    } else if args.csv {
        report::policies_csv(&policies)
    } else {
        report::policies_text(&policies)
    })
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
