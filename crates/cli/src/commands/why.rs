//! `headroom why`.

use std::process::ExitCode;

use planner::Why;
use scenario::Parsed;

use super::plan;
use crate::{
    args::WhyArgs,
    failure::Failure,
    input,
    output::{self, Form},
    pool,
    progress::Progress,
};

pub(crate) fn run(args: &WhyArgs) -> Result<ExitCode, Failure> {
    let Parsed { scenario, notices } = input::parsed(&args.scenario)?;
    let form = Form::of(args.json, false);
    let resolved = match scenario.resolve() {
        Ok(resolved) => resolved,
        Err(error) => {
            let answer = plan::impossible(&scenario, &error, None, args.threads.count())?;
            let text = if args.json {
                report::why_json(None, &scenario)
            } else {
                report::plan_text(&report::tell(&answer, &scenario))
            };
            output::print_answer(form, &text, &notices)?;
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
    let text = match answer {
        _ if args.json => report::why_json(answer, &scenario),
        Some(answer) => report::why_text(answer),
        None => report::WHY_OUT_OF_REACH.to_owned() + "\n",
    };
    output::print_answer(form, &text, &notices)?;
    Ok(output::code(answer.is_some()))
}
