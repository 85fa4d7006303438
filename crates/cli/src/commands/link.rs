//! `headroom link`.

use std::{fmt::Write as _, process::ExitCode};

use scenario::{CLASS_PREFIX, NoticeKind, Scenario, field};

use crate::{
    args::LinkArgs,
    failure::{BAD_INPUT, Failure},
    input, output,
};

pub(crate) fn run(args: &LinkArgs) -> Result<ExitCode, Failure> {
    if quantity::visible(&args.base) != args.base {
        return Err(Failure::input(format!(
            "--base {}: an address has no such characters. Give it as it stands in the address bar, \
             for example https://example.org/headroom/.",
            args.base
        )));
    }
    let link = input::link_of(&args.scenario);
    if let Some(link) = link.filter(|_| !args.json && !input::has_settings(&args.scenario)) {
        return explain(link);
    }
    let scenario = input::scenario(&args.scenario)?;
    input::caution(&scenario.cautions(), false);
    output::print(&if args.json {
        scenario.to_json()
    } else {
        format!("{}#{}\n", args.base.trim_end_matches('#'), scenario.to_link())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Every setting of a link, and what in it was not taken as written.
fn explain(link: &str) -> Result<ExitCode, Failure> {
    let parsed = Scenario::from_link(link);
    output::print(&explanation(&parsed.scenario))?;
    input::tell(&parsed.notices);
    input::caution(&parsed.scenario.cautions(), false);
    let is_whole = parsed.notices.iter().all(|notice| notice.kind != NoticeKind::Invalid);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
}

fn explanation(scenario: &Scenario) -> String {
    let defaults = Scenario::preset();
    let mut text = String::new();
    for (key, value) in scenario.entries() {
        let mark = if value == defaults.get(&key) { " " } else { "*" };
        let value = value.unwrap_or_else(|| "from the catalogue".to_owned());
        let label = match key.strip_prefix(CLASS_PREFIX) {
            Some(name) => format!("Class {name}"),
            None => field(&key).map_or_else(String::new, |field| field.label.to_owned()),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {key:<30} {value:<24} {label}");
    }
    text.push_str("* differs from the default\n");
    text
}
