//! `headroom plan`.

use std::{num::NonZeroUsize, process::ExitCode, sync::Arc};

use planner::{BatchPlan, Cost, Plan, PlanAnswer, Verdict};
use report::{Carried, Price};
use scenario::{ResolveError, Resolved, Scenario};
use sim_core::RequestSource;

use super::sizing;
use crate::{
    args::PlanArgs,
    failure::Failure,
    input::{self, Asked},
    output::{self, Form},
    pool,
    progress::Progress,
    trace::{self, Recording},
};

pub(crate) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let Asked { mut scenario, notices, money, job } = input::asked(&args.scenario)?;
    let price = money.price_of(&scenario);
    if let Some(job) = job {
        return run_job(args, &scenario, job, price.as_ref());
    }
    let recording = trace::recording(&args.trace, &mut scenario)?;
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let planned = answer(&scenario, recording.as_ref(), depth, args.threads.count())?;
    let Planned { answer, resolved } = &planned;
    let ledger = resolved.as_ref().map(|resolved| &resolved.ledger);
    let served = resolved.as_ref().map(|resolved| as_served(resolved, recording.as_ref()));
    let cost = served.as_ref().zip(price.as_ref()).and_then(|(resolved, price)| {
        let each = scenario.gpus_per_engine();
        Cost::of(answer, resolved, each, price.per_hour, money.average_load)
    });
    let cost = cost.as_ref().zip(price.as_ref());
    let carried = match &served {
        Some(resolved) => carried(args, answer, resolved, &scenario, price.as_ref())?,
        None => None,
    };
    let budget = args.budget.zip(price.as_ref());
    // A recording is searched at many speeds; it has no profile beside its own.
    let resolved_profile = resolved.as_ref().filter(|_| recording.is_none());
    let job = resolved_profile.and_then(|resolved| planner::over_time(resolved, answer));
    let over_time = job.map(|job| job.run()).transpose()?;
    let text = if args.json {
        let more = [
            ("cost", cost.map(|(cost, price)| report::cost_value(cost, price))),
            ("carried", carried.map(|it| report::carried_value(&it, &scenario, budget))),
        ];
        let more = more.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        report::plan_json_with(answer, &scenario, (ledger, over_time.as_ref()), more)
    } else if args.csv {
        report::knee_csv(&answer.knee)
    } else {
        let mut text = report::plan_text(&report::tell(answer, &scenario));
        if let Some(sentence) = over_time.as_ref().and_then(report::plan_over_time) {
            text.push_str(&sentence);
            text.push('\n');
        }
        let mut add = |part: String| {
            text.push('\n');
            text.push_str(&part);
        };
        if let Some(carried) = &carried {
            add(report::carried_text(carried, budget));
        }
        if !answer.knee.is_empty() {
            add(report::knee_table(&answer.knee));
        }
        if let Some((cost, price)) = cost {
            add(report::cost_text(cost, price));
        }
        if let (true, Some(ledger)) = (args.sources, ledger) {
            add(report::ledger_table(ledger));
        }
        text
    };
    output::print_answer(Form::of(args.json, args.csv), &text, &notices)?;
    Ok(output::code(is_sized(answer)))
}

/// The set-up with the requests that it serves, recorded ones included.
fn as_served(resolved: &Resolved, recording: Option<&Recording>) -> Resolved {
    let mut resolved = resolved.clone();
    if let Some(recording) = recording {
        let source = RequestSource::Replay { trace: Arc::clone(&recording.trace), speed: 1.0 };
        resolved.setup.step_time = resolved.setup.step_time.for_workload(&source);
        resolved.setup.workload.source = source;
    }
    resolved
}

/// What the GPUs or the budget that was named carry.
fn carried(
    args: &PlanArgs,
    answer: &PlanAnswer,
    resolved: &Resolved,
    scenario: &Scenario,
    price: Option<&Price>,
) -> Result<Option<Carried>, Failure> {
    let gpus = match (args.gpus, args.budget, price) {
        (Some(gpus), ..) => gpus.get() as u64,
        (None, Some(dollars), Some(price)) => {
            Carried::gpus_of_budget(dollars, price.per_hour.typical)
        }
        (None, Some(_), None) => return Err(unpriced("--budget", scenario)),
        (None, None, _) => return Ok(None),
    };
    let (input, output) = resolved.setup.workload.source.mean_tokens();
    Ok(Carried::by(gpus, answer, scenario.gpus_per_engine(), input + output))
}

/// That nobody says what a GPU costs.
fn unpriced(what: &str, scenario: &Scenario) -> Failure {
    Failure::input(format!(
        "{what}: the catalogue has no price for {}. Give one with price=2..4, dollars for an hour of one GPU.",
        scenario::gpu_name(&scenario.gpu)
    ))
}

/// How many engines do a job in time.
fn run_job(
    args: &PlanArgs,
    scenario: &Scenario,
    (requests, within_s): (u64, f64),
    price: Option<&Price>,
) -> Result<ExitCode, Failure> {
    let refused = [
        (args.trace.trace.is_some(), "--trace"),
        (args.csv, "--csv"),
        (args.gpus.is_some(), "--gpus"),
        (args.budget.is_some(), "--budget"),
    ];
    if let Some((_, option)) = refused.iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::input(format!(
            "{option}: a job has no rate, so that it does not go with this option. Leave one of them out."
        )));
    }
    let resolved = scenario.resolve().map_err(|error| Failure::input(error.to_string()))?;
    let mut plan = BatchPlan::new(&resolved, requests, within_s);
    let progress = Progress::start();
    loop {
        let jobs = plan.next_jobs();
        if jobs.is_empty() {
            break;
        }
        plan.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    drop(progress);
    let answer = plan.answer().ok_or_else(without_answer)?;
    output::print(&if args.json {
        report::batch_json(answer, scenario, price)
    } else {
        report::batch_text(answer, scenario, price)
    })?;
    Ok(output::code(answer.engines.is_some()))
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
    plan.answer().cloned().ok_or_else(without_answer)
}

fn without_answer() -> Failure {
    Failure::input("the plan ended without an answer; this is a fault of the program")
}
