//! `headroom simulate`.

use std::{process::ExitCode, sync::Arc};

use planner::PlanAnswer;
use sim_core::{
    Keep, Precision, RequestSource, Setup,
    fleet::{FleetRun, RoundRobin},
    simulate, simulate_by_oracle,
};

use crate::{args::SimulateArgs, failure::Failure, input, output, pool, trace};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let scenario = input::scenario(&args.scenario)?;
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
    choose_source(&mut setup, args)?;
    let FleetRun { replicas, total: run } = simulated(&setup, args)?;
    let requests = || report::requests_csv(run.requests.as_deref().unwrap_or_default());
    if let Some(path) = &args.requests_out {
        output::write_file(path, &requests())?;
    }
    output::print(&if args.json {
        report::run_json(&run, replicas, &scenario, false)
    } else if args.csv {
        requests()
    } else {
        report::run_text(&run, replicas)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Replay the recording that was given, or share the rate among the GPUs.
fn choose_source(setup: &mut Setup, args: &SimulateArgs) -> Result<(), Failure> {
    if let Some(path) = &args.trace {
        let trace = Arc::new(trace::read(path)?);
        setup.workload.requests = trace.rows().len() as u64;
        let speed = args.trace_speed.unwrap_or(1.0);
        setup.workload.source = RequestSource::Replay { trace, speed };
    } else if let RequestSource::Generated { rate_per_s, .. } = &mut setup.workload.source {
        *rate_per_s /= args.gpus.get() as f64;
    }
    if let Some(requests) = args.requests {
        setup.workload.requests = requests.get().into();
    }
    Ok(())
}

/// Each replica on a thread of its own, as far as there are threads.
fn simulated(setup: &Setup, args: &SimulateArgs) -> Result<FleetRun, Failure> {
    let precision = if args.exact { Precision::Exact } else { Precision::Bounded };
    let keep = Keep { precision, requests: args.requests_out.is_some() || args.csv };
    let engine = if args.oracle { simulate_by_oracle } else { simulate };
    let fleet = RoundRobin::new(setup, args.replicas.get() as u64)?;
    let shares: Vec<Setup> = (0..fleet.replicas()).map(|k| fleet.setup_of(k)).collect();
    let runs = pool::map(&shares, args.threads.count(), |share| Ok(engine(share, keep)?))?;
    fleet.merge(runs).ok_or_else(|| Failure::input("a replica has no run".to_owned()))
}
