//! `headroom replicas` and `headroom slots`.

use std::process::ExitCode;

use planner::{FleetJob, Replicas, SlotDemand, size_slots};
use scenario::Scenario;

use super::plan::{self, Depth, Planned};
use crate::{
    args::{ReplicasArgs, SlotsArgs},
    failure::Failure,
    input, output, pool,
    progress::Progress,
};

pub(crate) fn run(args: &ReplicasArgs) -> Result<ExitCode, Failure> {
    let scenario = input::scenario(&args.scenario)?;
    scenario.check_fleet().map_err(|error| Failure::input(error.to_string()))?;
    if scenario.rules != Scenario::preset().rules || scenario.spec.tokens > 0 {
        return Err(Failure::input(
            "sched.rules, spec.tokens: whole fleets are simulated by the reference rules without drafts; leave \
             that out.",
        ));
    }
    input::caution(&scenario.cautions(), false);
    let threads = args.threads.count();
    let Planned { answer, resolved } = plan::answer(&scenario, None, Depth::Full, threads)?;
    let question = resolved.as_ref().filter(|_| plan::is_sized(&answer)).map(|resolved| {
        Replicas::new(resolved, &answer, args.out.get() as u64, args.restart).ok_or_else(|| {
            Failure::input(format!(
                "rate={}: that is more replicas than are simulated here, 200. Give a lower rate.",
                scenario.rate_per_s
            ))
        })
    });
    let Some(question) = question.transpose()? else {
        output::print(&report::plan_text(&report::tell(&answer, &scenario)))?;
        return Ok(output::code(false));
    };
    let jobs = question.jobs();
    let progress = Progress::start();
    progress.expect(jobs.len() as u32);
    let runs = pool::each(&jobs, FleetJob::run, threads, &progress);
    let runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
    drop(progress);
    let found = question.answer(&runs).ok_or_else(|| {
        Failure::input("the question ended without an answer; this is a fault of the program")
    })?;
    output::print(&if args.json {
        report::replicas_json(&found, &scenario)
    } else {
        report::replicas_text(&found, &scenario)
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn slots(args: &SlotsArgs) -> Result<ExitCode, Failure> {
    let sizing = size_slots(SlotDemand {
        rate_per_s: args.rate,
        service_s: args.service,
        slots: args.slots.get() as u64,
        load: args.load,
    })?;
    output::print(&if args.json {
        report::slots_json(&sizing)
    } else {
        report::slots_text(&sizing)
    })?;
    Ok(ExitCode::SUCCESS)
}
