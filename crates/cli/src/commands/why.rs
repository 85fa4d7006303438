//! `headroom why`.

use std::process::ExitCode;

use planner::{PlanAnswer, Why};

use crate::{args::WhyArgs, failure::Failure, input, output, pool, progress::Progress};

pub(crate) fn run(args: &WhyArgs) -> Result<ExitCode, Failure> {
    let scenario = input::scenario(&args.scenario)?;
    let resolved = match scenario.resolve() {
        Ok(resolved) => resolved,
        Err(error) => {
            let answer = PlanAnswer::impossible(&scenario, &error)
                .ok_or_else(|| Failure::input(error.to_string()))?;
            output::print(&if args.json {
                report::why_json(None, &scenario)
            } else {
                report::plan_text(&report::tell(&answer, &scenario))
            })?;
            return Ok(output::code(false));
        }
    };
    let mut why = Why::new(&resolved);
    let progress = Progress::start();
    loop {
        let jobs = why.next_jobs();
        if jobs.is_empty() {
            break;
        }
        progress.expect(why.progress().1);
        why.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    drop(progress);
    let answer = why.answer().flatten();
    output::print(&match answer {
        _ if args.json => report::why_json(answer, &scenario),
        Some(answer) => report::why_text(answer),
        None => report::WHY_OUT_OF_REACH.to_owned() + "\n",
    })?;
    Ok(output::code(answer.is_some()))
}
