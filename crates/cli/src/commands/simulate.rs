//! `headroom simulate`.

use std::{process::ExitCode, sync::Arc};

use report::Attempts;
use scenario::{Parsed, Scenario};
use sim_core::{
    Keep, Precision, RequestSource, Run, Setup, SetupError,
    clients::Population,
    engine::{Attendance, simulate_attended, simulate_attended_by_oracle},
    fleet::{FleetRun, RoundRobin},
    simulate, simulate_by_oracle,
};

use super::{plan, pools};
use crate::{
    args::SimulateArgs,
    failure::Failure,
    input,
    output::{self, Form},
    pool, trace,
};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let Parsed { mut scenario, notices } = input::parsed(&args.scenario)?;
    let form = Form::of(args.json, args.csv || args.windows);
    if args.trace.is_some() {
        trace::take_over(&mut scenario, args.trace_rate.is_some());
    }
    input::caution(&scenario.cautions_of_run(), args.trace.is_some());
    let (mut setup, mut attendance, classes) =
        match trace::to_resolve(&scenario, args.trace.is_some()).resolve() {
            Ok(resolved) => (resolved.setup, resolved.attendance, resolved.classes),
            Err(error) => {
                let answer = plan::impossible(&scenario, &error, None, args.threads.count())?;
                let text = if args.json {
                    report::plan_json(&answer, &scenario, None, None)
                } else {
                    report::plan_text(&report::tell(&answer, &scenario))
                };
                output::print_answer(Form::of(args.json, false), &text, &notices)?;
                return Ok(output::code(false));
            }
        };
    share_users(&mut attendance, args, &scenario)?;
    choose_source(&mut setup, args, &scenario)?;
    if scenario.disagg.is_asked_for() {
        let text = pools::run(args, &scenario, (&setup, &attendance), &classes)?;
        output::print_answer(form, &text, &notices)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (FleetRun { replicas, total: run }, attempts) = simulated(&setup, &attendance, args)?;
    let attempts = attempts.as_ref();
    let requests = || report::requests_csv(run.requests.as_deref().unwrap_or_default());
    if let Some(path) = &args.requests_out {
        output::write_file(path, &requests())?;
    }
    let text = if args.json {
        report::run_json(&run, replicas, &scenario, (&classes, attempts), (false, args.windows))
    } else if args.windows {
        report::windows_csv(&run.windows)
    } else if args.intervals {
        report::intervals_csv(&run, args.trace.is_some()).map_err(Failure::input)?
    } else if args.csv {
        requests()
    } else {
        report::run_text(&run, replicas, &scenario, (&classes, attempts), args.trace.is_some())
    };
    output::print_answer(form, &text, &notices)?;
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
        source.set_rate(asked_per_s / engines(args, scenario)? as f64);
    }
    if let Some(requests) = args.requests {
        setup.workload.requests = requests.get().into();
    }
    Ok(())
}

/// Share the users of a closed loop among the GPUs. Sessions come at a rate, which is shared as such,
/// or are dealt out among replicas.
fn share_users(
    attendance: &mut Attendance,
    args: &SimulateArgs,
    scenario: &Scenario,
) -> Result<(), Failure> {
    let Population::Closed { users, .. } = &mut attendance.clients.population else {
        return Ok(());
    };
    let arrivals = scenario.get("arrivals").unwrap_or_default();
    if args.replicas.get() > 1 {
        return Err(Failure::input(format!(
            "arrivals={arrivals}: users wait for their answers, so their requests cannot be dealt \
             out in turn to --replicas {}. Give --gpus {0} to share the users evenly.",
            args.replicas
        )));
    }
    let gpus = args.gpus.get() as u64;
    if *users < gpus {
        return Err(Failure::input(format!(
            "--gpus {gpus}: of {users} users there is not one for each. Give at most --gpus {users}."
        )));
    }
    let engines = engines(args, scenario)?;
    *users = (*users + engines / 2) / engines;
    Ok(())
}

/// How many engines the GPUs make. One is simulated where nothing is said.
fn engines(args: &SimulateArgs, scenario: &Scenario) -> Result<u64, Failure> {
    let (gpus, each) = (args.gpus.get() as u64, scenario.gpus_per_engine());
    if gpus == 1 {
        return Ok(1);
    }
    if gpus % each != 0 {
        return Err(Failure::input(format!(
            "--gpus {gpus}: with tp={each} an engine has {each} GPUs. Give a multiple, for example --gpus {}.",
            gpus.next_multiple_of(each)
        )));
    }
    Ok(gpus / each)
}

/// Each replica on a thread of its own, as far as there are threads.
fn simulated(
    setup: &Setup,
    attendance: &Attendance,
    args: &SimulateArgs,
) -> Result<(FleetRun, Option<Attempts>), Failure> {
    let precision = if args.exact { Precision::Exact } else { Precision::Bounded };
    let keep =
        Keep { precision, requests: args.requests_out.is_some() || args.csv, intervals: true };
    let fleet = RoundRobin::new(setup, args.replicas.get() as u64)?;
    let shares: Vec<Setup> = match attendance.clients.population {
        Population::Open | Population::Sessions => {
            (0..fleet.replicas()).map(|k| fleet.setup_of(k)).collect()
        }
        // Nothing is dealt out: there is one replica.
        Population::Closed { .. } => vec![setup.clone()],
    };
    let simulated = |share: &Setup| one(share, attendance, keep, args.oracle);
    let mut attempts = (!attendance.is_open()).then(Attempts::default);
    let mut runs = Vec::new();
    for done in pool::map(&shares, args.threads.count(), simulated) {
        let (run, of_run) = done?;
        runs.push(run);
        if let (Some(all), Some(of_run)) = (&mut attempts, of_run) {
            all.add(&of_run);
        }
    }
    let run = fleet.merge(runs).ok_or_else(|| Failure::input("a replica has no run".to_owned()))?;
    Ok((run, attempts))
}

/// One replica, and its attempts where clients or the line react.
fn one(
    share: &Setup,
    attendance: &Attendance,
    keep: Keep,
    by_oracle: bool,
) -> Result<(Run, Option<Attempts>), SetupError> {
    if attendance.is_open() {
        let engine = if by_oracle { simulate_by_oracle } else { simulate };
        return Ok((engine(share, keep)?, None));
    }
    let engine = if by_oracle { simulate_attended_by_oracle } else { simulate_attended };
    let (run, attempts) = Attempts::of(engine(&attendance.before(share), keep)?);
    Ok((run, Some(attempts)))
}
