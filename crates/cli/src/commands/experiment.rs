//! `headroom experiment`.

use std::process::ExitCode;

use planner::experiments::{Experiment, Findings, experiments};

use crate::{args::ExperimentArgs, failure::Failure, output, pool};

pub(crate) fn run(args: &ExperimentArgs) -> Result<ExitCode, Failure> {
    let all = experiments();
    let chosen: Vec<Experiment> = match args.name.as_deref() {
        None | Some("list") => {
            output::print(&report::experiments_text(&all))?;
            return Ok(ExitCode::SUCCESS);
        }
        Some("all") => all,
        Some(name) => {
            let found: Vec<Experiment> = all.into_iter().filter(|each| each.name == name).collect();
            if found.is_empty() {
                return Err(Failure::input(format!(
                    "{name}: there is no such experiment. headroom experiment list names them."
                )));
            }
            found
        }
    };
    let found = pool::map(&chosen, args.threads.count(), Experiment::run);
    let found: Vec<Findings> = found.into_iter().collect::<Result<_, _>>()?;
    let pairs = chosen.iter().zip(&found);
    let texts: Vec<String> = if args.json {
        pairs.map(|(each, findings)| report::experiment_json(each, findings)).collect()
    } else {
        pairs.map(|(each, findings)| report::experiment_text(each, findings)).collect()
    };
    output::print(&match texts.as_slice() {
        [one] => one.clone(),
        all if args.json => format!("[\n{}]\n", all.join(",\n")),
        all => all.join("\n\n"),
    })?;
    Ok(output::code(found.iter().all(Findings::holds)))
}
