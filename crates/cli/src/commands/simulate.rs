//! `headroom simulate`.

use std::{process::ExitCode, sync::Arc};

use planner::PlanAnswer;
use sim_core::{Keep, Precision, RequestSource, Run, Setup, simulate, simulate_by_oracle};

use crate::{args::SimulateArgs, failure::Failure, input, output, trace};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let mut scenario = input::scenario(&args.scenario)?;
    if args.trace.is_some() {
        trace::take_over(&mut scenario);
    }
    let mut setup = match scenario.resolve() {
        Ok(resolved) => resolved.setup,
        Err(error) => {
            let answer = PlanAnswer::impossible(&scenario, &error)
                .ok_or_else(|| Failure::input(error.to_string()))?;
            output::print(&if args.json {
                report::plan_json(&answer, &scenario, None)
            } else {
                report::plan_text(&report::tell(&answer, &scenario))
            })?;
            return Ok(output::code(false));
        }
    };
    choose_source(&mut setup, args, scenario.rate_per_s)?;
    let run = simulated(&setup, args)?;
    let requests = || report::requests_csv(run.requests.as_deref().unwrap_or_default());
    if let Some(path) = &args.requests_out {
        output::write_file(path, &requests())?;
    }
    output::print(&if args.json {
        report::run_json(&run, &scenario, false)
    } else if args.csv {
        requests()
    } else {
        report::run_text(&run, &scenario, args.trace.is_some())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Replay the recording that was given, or share the rate among the GPUs.
fn choose_source(setup: &mut Setup, args: &SimulateArgs, rate_per_s: f64) -> Result<(), Failure> {
    if let Some(path) = &args.trace {
        let trace = Arc::new(trace::read(path, args.skip_bad_rows)?);
        setup.workload.requests = trace.rows().len() as u64;
        let speed = match args.trace_rate {
            Some(trace_rate) => rate_per_s / trace_rate,
            None => args.trace_speed.unwrap_or(1.0),
        };
        let source = RequestSource::Replay { trace, speed };
        setup.step_time = setup.step_time.for_workload(&source);
        setup.workload.source = source;
        return Ok(());
    }
    let gpus = args.gpus.get() as f64;
    match &mut setup.workload.source {
        RequestSource::Generated { rate_per_s, .. } => *rate_per_s /= gpus,
        RequestSource::Mixed(mix) => Arc::make_mut(mix).arrivals.rate_per_s /= gpus,
        RequestSource::Replay { .. } => {}
    }
    Ok(())
}

fn simulated(setup: &Setup, args: &SimulateArgs) -> Result<Run, Failure> {
    let precision = if args.exact { Precision::Exact } else { Precision::Bounded };
    let keep = Keep { precision, requests: args.requests_out.is_some() || args.csv };
    let engine = if args.oracle { simulate_by_oracle } else { simulate };
    Ok(engine(setup, keep)?)
}
