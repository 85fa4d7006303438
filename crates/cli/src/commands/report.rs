//! `headroom report`.

use std::process::ExitCode;

use planner::{Cost, Why};
use report::{Deployment, ReportParts};

use super::plan::{self, Depth, Planned};
use crate::{args::ReportArgs, failure::Failure, input, output, pool, progress::Progress};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let asked = input::asked(&args.scenario)?.told();
    let scenario = &asked.scenario;
    if asked.job.is_some() {
        return Err(Failure::input(
            "demand: a job has no knee to report. Give a rate, users or tokens a day; headroom plan answers jobs.",
        ));
    }
    input::caution(&scenario.cautions(), false);
    let threads = args.threads.count();
    let Planned { answer, resolved } = plan::answer(scenario, None, Depth::Full, threads)?;
    let mut why = resolved.as_ref().filter(|_| plan::is_sized(&answer)).map(Why::new);
    if let Some(why) = &mut why {
        let progress = Progress::start();
        loop {
            let jobs = why.next_jobs();
            if jobs.is_empty() {
                break;
            }
            progress.expect(why.progress().1);
            why.accept(&pool::run_all(&jobs, threads, &progress)?);
        }
    }
    let price = asked.money.price_of(scenario);
    let cost = resolved.as_ref().zip(price.as_ref()).and_then(|(resolved, price)| {
        let each = scenario.gpus_per_engine();
        Cost::of(&answer, resolved, each, price.per_hour, asked.money.average_load)
    });
    let deployment =
        resolved.as_ref().and_then(|resolved| Deployment::of(&answer, scenario, resolved));
    let parts = ReportParts {
        scenario,
        answer: &answer,
        cost: cost.as_ref().zip(price.as_ref()),
        why: why.as_ref().and_then(|why| why.answer().flatten()),
        ledger: resolved.as_ref().map(|resolved| &resolved.ledger),
        deployment: deployment.as_ref(),
        closed_form: resolved
            .as_ref()
            .map_or_else(Vec::new, |resolved| planner::closed_form(resolved).curve),
    };
    if let Some(path) = &args.html {
        let html =
            report::report_html(&parts).map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(path, &html)?;
    }
    match &args.markdown {
        Some(path) => output::write_file(path, &report::report_markdown(&parts))?,
        None if args.html.is_none() => output::print(&report::report_markdown(&parts))?,
        None => {}
    }
    Ok(output::code(plan::is_sized(&answer)))
}
