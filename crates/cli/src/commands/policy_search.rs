//! `headroom fleet --search`.

use planner::{Axis, PolicyJob, PolicySearch, PolicySearchAnswer};
use scenario::FleetSpec;
use sim_core::{
    Keep, Setup,
    fleet::{live::simulate_live, outcome::LiveRun},
};

use crate::{failure::Failure, fleet_settings::FleetArgs, pool};

/// The cheapest settings of each policy that hold the target; what there is to print.
pub(crate) fn run(
    args: &FleetArgs,
    said: &FleetSpec,
    (setup, classes): (&Setup, &[String]),
    gpus_each: u64,
) -> Result<String, Failure> {
    let mut found = Vec::new();
    for text in &args.search.search {
        let (_, axes) = args.searched(text, said, setup.engine.max_num_seqs)?;
        let with = |job: &PolicyJob, names: &[&'static str]| -> Result<LiveRun, Failure> {
            let args = args.tried(text, names, &job.settings)?;
            let spec = args.spec(said);
            let mut setup = setup.clone();
            setup.seed = job.seed(setup.seed);
            let fleet = args.fleet(&spec, (setup, classes), gpus_each)?;
            Ok(simulate_live(&fleet, Keep::default())?)
        };
        found.push((text.clone(), search(args, said, axes, with)?));
    }
    Ok(if args.json {
        report::policy_search_json(&found)
    } else {
        report::policy_search_text(&found)
    })
}

fn search(
    args: &FleetArgs,
    said: &FleetSpec,
    axes: Vec<Axis>,
    run: impl Fn(&PolicyJob, &[&'static str]) -> Result<LiveRun, Failure> + Sync,
) -> Result<PolicySearchAnswer, Failure> {
    let names: Vec<&'static str> = axes.iter().map(|axis| axis.name).collect();
    let window_s = args.spec(said).window_or_usual_s();
    let mut search = PolicySearch::new(axes, args.search.trials.get() as usize, window_s);
    loop {
        let jobs = search.next_jobs();
        if let Some(answer) = search.answer() {
            return Ok(answer);
        }
        let runs = pool::map(&jobs, args.threads.count(), |job| run(job, &names));
        search.accept(&runs.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
}
