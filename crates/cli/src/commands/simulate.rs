//! `headroom simulate`.

use std::{process::ExitCode, sync::Arc};

use planner::PlanAnswer;
use scenario::Scenario;
use sim_core::{
    Keep, Precision, RequestSource, Setup,
    fleet::{FleetRun, RoundRobin},
    simulate, simulate_by_oracle,
};

use super::pools;
use crate::{args::SimulateArgs, failure::Failure, input, output, pool, trace};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let mut scenario = input::scenario(&args.scenario)?;
    // What is said of them is meant for plans.
    let disagg = scenario.disagg;
    if disagg.is_asked_for() {
        scenario.disagg = Scenario::preset().disagg;
    }
    if args.trace.is_some() {
        trace::take_over(&mut scenario);
    } else {
        input::caution(&scenario, false);
    }
    scenario.disagg = disagg;
    let (mut setup, classes) = match scenario.resolve() {
        Ok(resolved) => (resolved.setup, resolved.classes),
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
    choose_source(&mut setup, args, &scenario)?;
    if disagg.is_asked_for() {
        pools::run(args, &scenario, &setup, &classes)?;
        return Ok(ExitCode::SUCCESS);
    }
    let FleetRun { replicas, total: run } = simulated(&setup, args)?;
    let requests = || report::requests_csv(run.requests.as_deref().unwrap_or_default());
    if let Some(path) = &args.requests_out {
        output::write_file(path, &requests())?;
    }
    output::print(&if args.json {
        report::run_json(&run, replicas, &scenario, &classes, (false, args.windows))
    } else if args.windows {
        report::windows_csv(&run.windows)
    } else if args.csv {
        requests()
    } else {
        report::run_text(&run, replicas, &scenario, &classes, args.trace.is_some())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Replay the recording that was given, or share the rate among the GPUs.
fn choose_source(
    setup: &mut Setup,
    args: &SimulateArgs,
    scenario: &Scenario,
) -> Result<(), Failure> {
    if let Some(path) = &args.trace {
        let trace = Arc::new(trace::read(path, args.skip_bad_rows)?);
        trace::compare_with_context(scenario, path, &trace);
        setup.workload.requests = trace.rows().len() as u64;
        let speed = match args.trace_rate {
            Some(trace_rate) => scenario.rate_per_s / trace_rate,
            None => args.trace_speed.unwrap_or(1.0),
        };
        let source = RequestSource::Replay { trace, speed };
        setup.step_time = setup.step_time.for_workload(&source);
        setup.workload.source = source;
        return Ok(());
    }
    let source = &mut setup.workload.source;
    if let Some(asked_per_s) = source.rate_per_s() {
        source.set_rate(asked_per_s / args.gpus.get() as f64);
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
    let runs = pool::map(&shares, args.threads.count(), |share| engine(share, keep))
        .into_iter()
        .collect::<Result<_, _>>()?;
    fleet.merge(runs).ok_or_else(|| Failure::input("a replica has no run".to_owned()))
}
