//! Set-up, build, serve, test and size budget: the only place that knows a shell.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program talks to the person at the terminal"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the bans keep the simulation deterministic; this program measures elapsed time"
)]

mod bench;
mod build;
mod hash;
mod html;
mod instructions;
mod late;
mod module;
mod order;
mod parity;
mod process;
mod reencoded;
mod rename;
mod serve;
mod setup;
mod short_names;
mod shrink;
mod size;
mod test;
mod workspace;

use std::process::ExitCode;
use test::Stage;
use workspace::Workspace;

const HELP: &str = "\
Headroom's tasks. Each does its own set-up first.

Usage: cargo xtask <COMMAND>

Commands:
  setup                           find or install all tools
  build                           build the optimised static site in dist/
  serve [--port N] [--no-build]   build the site and serve it on 127.0.0.1 (port 8080 by default)
  test [STAGE...]                 run all tests, or only the named stages
  bench                           time the simulator: native, WASM, and a reference in Python
  size                            check the built site against its size budget
  help                            show this text

Stages of `test`, in their order:
";

/// What the person asked for.
#[derive(Debug, PartialEq)]
enum Task {
    Help,
    Setup,
    Build,
    Serve { port: Option<u16>, build: bool },
    Test(Vec<&'static Stage>),
    Size,
    Bench,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match parse(&arguments) {
        Ok(task) => task,
        Err(message) => {
            eprintln!("{message}\n`cargo xtask help` lists all of them.");
            return ExitCode::from(2);
        }
    };
    match run(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    let workspace = Workspace::locate()?;
    match task {
        Task::Help => {
            print!("{HELP}{}", test::describe_stages());
            Ok(())
        }
        Task::Setup => setup::run(&workspace),
        Task::Build => build::run(&workspace),
        Task::Serve { port, build } => serve::run(&workspace, port, build),
        Task::Test(stages) => test::run(&workspace, &stages),
        Task::Size => size::run(&workspace),
        Task::Bench => bench::run(&workspace),
    }
}

/// Reads the arguments. The error is a message that names what would have been valid.
fn parse(arguments: &[String]) -> Result<Task, String> {
    let Some((command, rest)) = arguments.split_first() else { return Ok(Task::Help) };
    let alone = |task: Task| match rest.first() {
        None => Ok(task),
        Some(extra) => Err(format!("`{command}` takes no arguments, but got `{extra}`.")),
    };
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(Task::Help),
        _ if rest.iter().any(|word| word == "--help" || word == "-h") => Ok(Task::Help),
        "setup" => alone(Task::Setup),
        "build" => alone(Task::Build),
        "size" => alone(Task::Size),
        "bench" => alone(Task::Bench),
        "serve" => parse_serve(rest),
        "test" => {
            rest.iter().map(|name| parse_stage(name)).collect::<Result<_, _>>().map(Task::Test)
        }
        _ => Err(format!(
            "unknown command `{command}`; valid are: setup, build, serve, test, size, bench, help."
        )),
    }
}

fn parse_serve(arguments: &[String]) -> Result<Task, String> {
    let (mut port, mut build) = (None, true);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--port", value)) => Some(value),
            None if word == "--port" => Some(words.next().map_or("", String::as_str)),
            None if word == "--no-build" => {
                build = false;
                None
            }
            _ => return Err(format!("unknown `{word}`; `serve` takes --port N and --no-build.")),
        };
        if let Some(value) = value {
            let number = value.parse();
            port = Some(number.map_err(|_| {
                format!(
                    "`--port` takes a number from 0 (any free port) to 65535, but got `{value}`."
                )
            })?);
        }
    }
    Ok(Task::Serve { port, build })
}

fn parse_stage(name: &str) -> Result<&'static Stage, String> {
    let names: Vec<&str> = test::STAGES.iter().map(|stage| stage.name).collect();
    test::STAGES
        .iter()
        .find(|stage| stage.name == name)
        .ok_or_else(|| format!("unknown stage `{name}`; valid are: {}.", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn nothing_and_every_kind_of_help_is_help() {
        for line in ["", "help", "--help", "-h", "serve --help", "test -h"] {
            assert_eq!(parsed(line), Ok(Task::Help), "{line}");
        }
    }

    #[test]
    fn serve_takes_a_port_in_both_spellings() {
        let at_9000 = Ok(Task::Serve { port: Some(9000), build: true });
        assert_eq!(parsed("serve --port 9000"), at_9000);
        assert_eq!(parsed("serve --port=9000"), at_9000);
        assert_eq!(parsed("serve --no-build"), Ok(Task::Serve { port: None, build: false }));
    }

    #[test]
    fn what_is_not_valid_is_refused_with_what_is() {
        for (line, hint) in [
            ("biuld", "valid are: setup, build"),
            ("serve --prot 1", "--port N and --no-build"),
            ("serve --port", "takes a number"),
            ("serve --port 70000", "takes a number"),
            ("test fmt bowser", "browser"),
            ("size now", "takes no arguments"),
        ] {
            let message = parsed(line).expect_err(line);
            assert!(message.contains(hint), "{line}: {message}");
        }
    }

    #[test]
    fn stages_are_taken_by_name() {
        let Ok(Task::Test(stages)) = parsed("test size fmt") else { panic!("valid stages") };
        let names: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["size", "fmt"]);
    }
}
