//! The `headroom` command line: how many GPUs, at what latency, from a terminal or a script.
//!
//! ```text
//!   words, link, JSON ──▶ Scenario ──▶ planner's jobs ──threads──▶ answer ──report──▶ stdout, files
//! ```

mod args;
mod commands;
mod failure;
mod fleet_settings;
mod input;
mod measured_files;
mod memory_settings;
mod output;
mod pool;
mod prices;
mod progress;
mod trace;
mod typed;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::{
    args::{Cli, Command},
    failure::{BAD_INPUT, Failure},
};

fn main() -> ExitCode {
    let parsed = args::command().try_get_matches().and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let is_error = error.use_stderr();
            // Help and version are no errors. A reader that went away wants no more of either.
            let _ = shown(error).print();
            return if is_error { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS };
        }
    };
    match run(&cli) {
        Ok(code) => code,
        Err(failure) => {
            output::complain(&failure.to_string());
            ExitCode::from(failure.code())
        }
    }
}

/// The error as it may be printed: of what was typed, whatever would steer a terminal is shown instead.
fn shown(error: clap::Error) -> clap::Error {
    let typed: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into()).collect();
    let visible: Vec<String> = typed.iter().map(|word| quantity::visible(word)).collect();
    if typed == visible {
        return error;
    }
    args::command().try_get_matches_from(visible).err().unwrap_or(error)
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Plan(args) => commands::plan::run(args),
        Command::Why(args) => commands::why::run(args),
        Command::Alternatives(args) => commands::alternatives::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Tornado(args) => commands::tornado::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Replicas(args) => commands::replicas::run(args),
        Command::Slots(args) => commands::replicas::slots(args),
        Command::Check(args) => commands::check::run(args),
        Command::Sweep(args) => commands::sweep::run(args),
        Command::Simulate(args) => commands::simulate::run(args),
        Command::Experiment(args) => commands::experiment::run(args),
        Command::Fleet(args) => commands::fleet::run(args),
        Command::Chart(args) => commands::chart::run(args),
        Command::Link(args) => commands::link::run(args),
        Command::Know(args) => commands::know::run(args),
        Command::Catalog(args) => commands::catalog::run(args),
        Command::Memory(args) => commands::memory::run(args),
        Command::Fit(args) => commands::fit::run(args),
        Command::Calibrate(args) => commands::calibrate::run(args),
        Command::Curve(args) => commands::curve::run(args),
    }
}
