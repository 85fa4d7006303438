//! `headroom tornado`.

use std::process::ExitCode;

use charts::{Style, theme, tornado_svg};
use planner::{PlanAnswer, Sensitivity, Uncertain, What};
use quantity::Unit;
use scenario::{Scenario, field};

use super::chart::is_svg;
use crate::{args::TornadoArgs, failure::Failure, input, output, pool, progress::Progress};

/// Width of the drawing, and height of a bar and of what stands around, CSS px.
const WIDTH_PX: f64 = 760.0;
const BAR_PX: f64 = 34.0;
const AROUND_PX: f64 = 60.0;

pub(crate) fn run(args: &TornadoArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.chart {
        is_svg("--chart", path)?;
    }
    let asked = input::asked(&args.scenario)?.told();
    let scenario = &asked.scenario;
    if asked.job.is_some() {
        return Err(Failure::input(
            "demand: a job has no rate. Give a rate, users or tokens a day.",
        ));
    }
    let price = asked.money.price_of(scenario).map(|price| price.per_hour);
    let resolved = match scenario.resolve() {
        Ok(resolved) => resolved,
        Err(error) => {
            let answer = PlanAnswer::impossible(scenario, &error)
                .ok_or_else(|| Failure::input(error.to_string()))?;
            output::print(&report::plan_text(&report::tell(&answer, scenario)))?;
            return Ok(output::code(false));
        }
    };
    let mut inputs = Uncertain::all(scenario, &resolved, price.as_ref());
    for text in &args.range {
        put_range(text, scenario, &mut inputs)?;
    }
    let mut question = Sensitivity::new(scenario, &resolved, inputs, price);
    let progress = Progress::start();
    loop {
        let jobs = question.next_jobs();
        if jobs.is_empty() {
            break;
        }
        progress.expect(question.progress().1);
        question.accept(&pool::run_all(&jobs, args.threads.count(), &progress)?);
    }
    drop(progress);
    let Some(answer) = question.answer().flatten() else {
        output::print(&(report::WHY_OUT_OF_REACH.to_owned() + "\n"))?;
        return Ok(output::code(false));
    };
    if let Some(path) = &args.chart {
        let data = report::tornado_data(&answer);
        let style = Style::svg(WIDTH_PX, AROUND_PX + BAR_PX * data.bars.len() as f64);
        let svg = tornado_svg(&data, &theme::LIGHT, &style)
            .map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(path, &svg)?;
    }
    output::print(&if args.json {
        report::sensitivity_json(&answer, scenario)
    } else {
        report::sensitivity_text(&answer)
    })?;
    Ok(output::code(true))
}

/// `rate=80%..150%` or `step.mfu=0.4..0.6`: a range of one’s own, for an input that is there or for any
/// other number of the scenario.
fn put_range(text: &str, scenario: &Scenario, inputs: &mut Vec<Uncertain>) -> Result<(), Failure> {
    let wrong = |problem: &str| {
        Failure::input(format!(
            "--range {text}: {problem} Write for example rate=80%..150%, in=0.5..2 or step.mfu=0.4..0.6."
        ))
    };
    let (key, ends) = text.split_once('=').ok_or_else(|| wrong("it has no range."))?;
    let (low, high) =
        ends.split_once("..").ok_or_else(|| wrong("a range has two ends with .. between."))?;
    let (what, label, unit) = match key.trim() {
        "rate" | "users" => (What::Load, "Request rate", Unit::Percent),
        "in" => (What::Prompts, "Prompt length", Unit::Percent),
        "out" => (What::Answers, "Answer length", Unit::Percent),
        key => {
            let field = field(key).filter(|field| field.is_number());
            let field = field.ok_or_else(|| wrong("no number of a scenario has that key."))?;
            (What::Setting(key.to_owned()), field.label, field.quantity)
        }
    };
    let is_part = unit == Unit::Percent && !matches!(what, What::Setting(_));
    let end = |text: &str| {
        let value = if is_part && !text.contains('%') {
            quantity::parse(text, Unit::Number)
        } else {
            quantity::parse(text, unit).map(|value| value * unit.in_base())
        };
        value.map_err(|error| wrong(&format!("{error}.")))
    };
    let range = (end(low)?, end(high)?);
    if !(range.0 > 0.0 && range.0 < range.1) {
        return Err(wrong("the lower end, above 0, comes first."));
    }
    let label = label.to_owned();
    let own = Uncertain { what, label, range, source: "given".to_owned() };
    for end in [range.0, range.1] {
        if own.put(scenario, end).is_none() {
            return Err(wrong("the scenario cannot take one of the ends."));
        }
    }
    match inputs.iter_mut().find(|input| input.what == own.what) {
        Some(input) => *input = Uncertain { label: input.label.clone(), ..own },
        None => inputs.push(own),
    }
    Ok(())
}
