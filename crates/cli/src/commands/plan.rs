//! `headroom plan`.

use std::{num::NonZeroUsize, process::ExitCode, sync::Arc};

use planner::{Plan, PlanAnswer, Verdict};
use scenario::{Parsed, ResolveError, Resolved, Scenario};

use super::sizing;
use crate::{
    args::PlanArgs,
    failure::Failure,
    input,
    output::{self, Form},
    pool,
    progress::Progress,
    trace::{self, Recording},
};

pub(crate) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let Parsed { mut scenario, notices } = input::asked(&args.scenario)?;
    let recording = trace::recording(&args.trace, &mut scenario)?;
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let planned = answer(&scenario, recording.as_ref(), depth, args.threads.count())?;
    let Planned { answer, resolved } = &planned;
    let ledger = resolved.as_ref().map(|resolved| &resolved.ledger);
    // A recording is searched at many speeds; it has no profile beside its own.
    let resolved_profile = resolved.as_ref().filter(|_| recording.is_none());
    let job = resolved_profile.and_then(|resolved| planner::over_time(resolved, answer));
    let over_time = job.map(|job| job.run()).transpose()?;
    let text = if args.json {
        report::plan_json(answer, &scenario, ledger, over_time.as_ref())
    } else if args.csv {
        report::knee_csv(&answer.knee)
    } else {
        let mut text = report::plan_text(&report::tell(answer, &scenario));
        if let Some(sentence) = over_time.as_ref().and_then(report::plan_over_time) {
            text.push_str(&sentence);
            text.push('\n');
        }
        if !answer.knee.is_empty() {
            text.push('\n');
            text.push_str(&report::knee_table(&answer.knee));
        }
        if let (true, Some(ledger)) = (args.sources, ledger) {
            text.push('\n');
            text.push_str(&report::ledger_table(ledger));
        }
        text
    };
    output::print_answer(Form::of(args.json, args.csv), &text, &notices)?;
    Ok(output::code(is_sized(answer)))
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// One replication.
    Quick,
    /// As many as the scenario asks for.
    Full,
}

/// An answer, and the numbers behind it where the scenario can run at all.
pub(crate) struct Planned {
    pub(crate) answer: PlanAnswer,
    pub(crate) resolved: Option<Resolved>,
}

/// Whether the answer is a number of GPUs.
pub(crate) fn is_sized(answer: &PlanAnswer) -> bool {
    matches!(answer.verdict, Verdict::Sized(_))
}

/// Ask how many GPUs.
pub(crate) fn answer(
    scenario: &Scenario,
    recording: Option<&Recording>,
    depth: Depth,
    threads: NonZeroUsize,
) -> Result<Planned, Failure> {
    let resolved = match trace::to_resolve(scenario, recording.is_some()).resolve() {
        Ok(resolved) => resolved,
        Err(error) => {
            let answer = impossible(scenario, &error, recording, threads)?;
            return Ok(Planned { answer, resolved: None });
        }
    };
    let mut answer = planned(&resolved, recording, depth, threads)?;
    sizing::size_remedies(scenario, &mut answer, recording, threads)?;
    Ok(Planned { answer, resolved: Some(resolved) })
}

/// Why there is no number for a scenario that cannot run, and what each change leads to.
pub(crate) fn impossible(
    scenario: &Scenario,
    error: &ResolveError,
    recording: Option<&Recording>,
    threads: NonZeroUsize,
) -> Result<PlanAnswer, Failure> {
    let mut answer =
        PlanAnswer::impossible(scenario, error).ok_or_else(|| Failure::input(error.to_string()))?;
    sizing::size_remedies(scenario, &mut answer, recording, threads)?;
    Ok(answer)
}

/// The answer of a scenario that can run.
pub(super) fn planned(
    resolved: &Resolved,
    recording: Option<&Recording>,
    depth: Depth,
    threads: NonZeroUsize,
) -> Result<PlanAnswer, Failure> {
    let mut plan = match (recording, depth) {
        (Some(Recording { trace, rate_per_s }), _) => {
            Plan::replaying(resolved, Arc::clone(trace), *rate_per_s)
        }
        (None, Depth::Quick) => Plan::quick(resolved),
        (None, Depth::Full) => Plan::new(resolved),
    };
    let progress = Progress::start();
    loop {
        let jobs = plan.next_jobs();
        if jobs.is_empty() {
            break;
        }
        progress.expect(plan.progress().1);
        plan.accept(&pool::run_all(&jobs, threads, &progress)?);
    }
    plan.answer().cloned().ok_or_else(|| {
        Failure::input("the plan ended without an answer; this is a fault of the program")
    })
}
