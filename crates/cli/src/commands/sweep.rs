//! `headroom sweep`.

use std::{process::ExitCode, sync::Arc};

use planner::{LoadPoint, PlanAnswer, Sweep};
use scenario::{Parsed, Scenario};

use super::plan::{self, Depth};
use crate::{
    args::SweepArgs,
    failure::Failure,
    input,
    output::{self, Form},
    pool,
    progress::Progress,
    trace::{self, Recording},
};

pub(crate) fn run(args: &SweepArgs) -> Result<ExitCode, Failure> {
    let Parsed { mut scenario, notices } = input::parsed(&args.scenario)?;
    let recording = trace::recording(&args.trace, &mut scenario)?;
    if scenario.changes_over_time() {
        output::note("Each rate is held throughout its runs; the rate profile is left out.");
    }
    let points = match points(args, &scenario, recording.as_ref())? {
        Ok(points) => points,
        Err(answer) => {
            let text = if args.json {
                report::plan_json(&answer, &scenario, None, None)
            } else {
                report::plan_text(&report::tell(&answer, &scenario))
            };
            output::print_answer(Form::of(args.json, false), &text, &notices)?;
            return Ok(output::code(false));
        }
    };
    let text = if args.json {
        report::sweep_json(&points, &scenario)
    } else if args.csv {
        report::knee_csv(&points)
    } else {
        report::knee_table(&points)
    };
    output::print_answer(Form::of(args.json, args.csv), &text, &notices)?;
    Ok(ExitCode::SUCCESS)
}

/// The points, or the answer that says why there are none.
fn points(
    args: &SweepArgs,
    scenario: &Scenario,
    recording: Option<&Recording>,
) -> Result<Result<Vec<LoadPoint>, PlanAnswer>, Failure> {
    if args.rates.is_empty() {
        let planned = plan::answer(scenario, recording, Depth::Full, args.threads.count())?;
        let has_points = !planned.answer.knee.is_empty();
        return Ok(if has_points { Ok(planned.answer.knee) } else { Err(planned.answer) });
    }
    if scenario.closed.is_some() {
        let arrivals = scenario.get("arrivals").unwrap_or_default();
        return Err(Failure::input(format!(
            "--rates asks about request rates, and arrivals={arrivals} has users in their place. \
             Leave --rates out for the knee over users, or give arrivals=poisson."
        )));
    }
    let resolved = match trace::to_resolve(scenario, recording.is_some()).resolve() {
        Ok(resolved) => resolved,
        Err(error) => {
            return plan::impossible(scenario, &error, recording, args.threads.count()).map(Err);
        }
    };
    let rates = args.rates.clone();
    let mut sweep = match recording {
        Some(Recording { trace, rate_per_s }) => {
            Sweep::replaying(&resolved, rates, Arc::clone(trace), *rate_per_s)
        }
        None => Sweep::new(&resolved, rates),
    };
    let progress = Progress::start();
    let mut expected = 0;
    loop {
        let jobs = sweep.next_jobs();
        if jobs.is_empty() {
            break;
        }
        expected += jobs.len() as u32;
        progress.expect(expected);
        sweep.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    Ok(Ok(sweep.points()))
}
