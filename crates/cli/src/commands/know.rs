//! `headroom know`.

use std::process::ExitCode;

use planner::{Proof, ProofJob};

use crate::{args::KnowArgs, failure::Failure, input, output, pool, progress::Progress};

pub(crate) fn run(args: &KnowArgs) -> Result<ExitCode, Failure> {
    let scenario = input::scenario(&args.scenario)?;
    input::caution(&scenario.cautions(), false);
    let ledger = scenario.resolve().map(|resolved| resolved.ledger).unwrap_or_default();
    let mut proof = Proof::new(args.proof_seed);
    {
        let progress = Progress::start();
        progress.expect(proof.progress().1);
        loop {
            let jobs = proof.next_jobs();
            if jobs.is_empty() {
                break;
            }
            proof.accept(pool::each(&jobs, ProofJob::run, args.threads.count(), &progress));
        }
    }
    let answer = proof.answer();
    let assumptions = report::assumptions(&ledger);
    output::print(&if args.json {
        report::know_json(answer, &assumptions)
    } else {
        report::know_text(answer, &assumptions)
    })?;
    Ok(output::code(answer.holds()))
}
