//! `headroom export`.

use std::process::ExitCode;

use report::Deployment;

use super::plan::{self, Depth, Planned};
use crate::{
    args::{ExportArgs, ExportKind},
    failure::Failure,
    input, output,
};

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let scenario = input::scenario(&args.scenario)?;
    input::caution(&scenario.cautions(), false);
    let Planned { answer, resolved } =
        plan::answer(&scenario, None, Depth::Full, args.threads.count())?;
    let deployment =
        resolved.as_ref().and_then(|resolved| Deployment::of(&answer, &scenario, resolved));
    let Some(deployment) = deployment else {
        // Nothing to run: the words go where they cannot be taken for a command.
        output::to_stderr(&report::plan_text(&report::tell(&answer, &scenario)));
        return Ok(output::code(false));
    };
    output::print(&match args.what {
        ExportKind::Vllm => report::serve_command(&scenario, &deployment),
        ExportKind::Bench => report::bench_command(&scenario, &deployment),
        ExportKind::K8s => report::kubernetes(&scenario, &deployment),
    })?;
    Ok(ExitCode::SUCCESS)
}
