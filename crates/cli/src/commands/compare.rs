//! `headroom compare`.

use std::process::ExitCode;

use planner::{Compare, Cost};
use scenario::{Resolved, Scenario};

use crate::{
    args::{CompareArgs, ScenarioArgs},
    failure::Failure,
    input::{self, Asked, Word},
    output, pool,
    progress::Progress,
};

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let (first, second) = both(&args.words)?;
    let both = (&first.scenario, &second.scenario);
    let resolved = |name: &str, scenario: &Scenario| -> Result<Resolved, Failure> {
        let refused = |error: &dyn std::fmt::Display| Failure::input(format!("{name}: {error}"));
        scenario.resolve().map_err(|error| refused(&error))
    };
    let (a, b) = (resolved("A", both.0)?, resolved("B", both.1)?);
    let mut compare = Compare::new(&a, &b);
    let progress = Progress::start();
    loop {
        let jobs = compare.next_jobs();
        if jobs.is_empty() {
            break;
        }
        progress.expect(compare.progress().1);
        compare.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    drop(progress);
    let answer = compare.finish()?.ok_or_else(|| {
        Failure::input("the comparison ended without an answer; this is a fault of the program")
    })?;
    let priced = |asked: &Asked, resolved: &Resolved, answer| {
        let price = asked.money.price_of(&asked.scenario)?;
        let each = asked.scenario.gpus_per_engine();
        let cost = Cost::of(answer, resolved, each, price.per_hour, asked.money.average_load)?;
        Some((cost, price))
    };
    let costs = [priced(&first, &a, &answer.answers[0]), priced(&second, &b, &answer.answers[1])];
    output::print(&if args.json {
        let value = |it: &Option<(Cost, report::Price)>| {
            it.as_ref().map(|(cost, price)| report::cost_value(cost, price))
        };
        report::compare_json(&answer, both, [value(&costs[0]), value(&costs[1])])
    } else {
        let of = |it: &'_ Option<(Cost, report::Price)>| it.as_ref().map(|(cost, _)| *cost);
        let [a, b] = [of(&costs[0]), of(&costs[1])];
        report::compare_text(&answer, both, [a.as_ref(), b.as_ref()])
    })?;
    Ok(output::code(answer.capacity_change.is_some()))
}

/// The two scenarios: the words before `vs` and those after it. Where only settings stand after it, they
/// change the first. A single link of the page that holds a pinned scenario is both.
fn both(words: &[String]) -> Result<(Asked, Asked), Failure> {
    if let [only] = words
        && matches!(Word::of(only)?, Word::Link(_))
        && let Some(pinned) = Scenario::versus(only)
    {
        input::tell(&pinned.notices);
        return Ok((asked(vec![pinned.scenario.to_link()])?, asked(vec![only.clone()])?));
    }
    let place = words.iter().position(|word| word == "vs");
    let (first, second) = match (place, words) {
        (Some(place), _) => (words[..place].to_vec(), words[place + 1..].to_vec()),
        (None, [a, b]) => (vec![a.clone()], vec![b.clone()]),
        (None, _) => {
            return Err(Failure::input(
                "compare: put vs between the two, for example headroom compare gpu=h100-sxm vs gpu=h200.",
            ));
        }
    };
    if second.is_empty() {
        return Err(Failure::input(
            "compare: nothing stands after vs. Give what differs, for example gpu=h200.",
        ));
    }
    let mut are_settings = true;
    for word in &second {
        are_settings &= !matches!(Word::of(word)?, Word::Link(_) | Word::File(_));
    }
    let second = if are_settings { [&first[..], &second].concat() } else { second };
    Ok((asked(first)?, asked(second)?))
}

/// One side, which has a rate.
fn asked(words: Vec<String>) -> Result<Asked, Failure> {
    let asked = input::asked(&ScenarioArgs { words, preset: None, json_file: None })?.told();
    match asked.job {
        Some(_) => Err(Failure::input(
            "demand: a job has no rate, so that there is nothing to compare. Give a rate.",
        )),
        None => Ok(asked),
    }
}
