//! How far the answer may be off, in words, as a table, as JSON and as a tornado.

use charts::{TornadoBar, TornadoData};
use planner::{Bar, Outcome, SensitivityAnswer, Uncertain, What};
use quantity::{Unit, count, money, number};
use scenario::{Scenario, field};
use serde_json::{Value, json};

use crate::{
    json::{SCHEMA, document},
    table,
};

/// What the answer is, how far each input moves it, and all of them together.
#[must_use]
pub fn sensitivity_text(answer: &SensitivityAnswer) -> String {
    let rows: Vec<[String; 6]> = answer.bars.iter().map(sensitivity_cells).collect();
    let mut text = sensitivity_lines(answer).join("\n");
    text.push_str("\n\n");
    text.push_str(&table::ragged(&SENSITIVITY_COLUMNS, &rows));
    text.push_str(SENSITIVITY_NOTE);
    text
}

/// What is said beneath the bars.
pub const SENSITIVITY_NOTE: &str =
    "Every end is planned again, under the same users; numbers are before GPUs are rounded up.\n";

/// The sentences alone; of all inputs together nothing while no draw is made.
#[must_use]
pub fn sensitivity_lines(answer: &SensitivityAnswer) -> Vec<String> {
    let mut lines = vec![format!("As it stands: {}.", whole(&answer.base))];
    if answer.draws == 0 {
        return lines;
    }
    lines.push(match &answer.likely {
        Some((low, high)) => format!(
            "With all inputs somewhere in their ranges, 8 of 10 of {} draws lie from {} to {}.",
            answer.draws,
            whole(low),
            whole(high)
        ),
        None => format!(
            "With all inputs somewhere in their ranges, {} of {} draws have no answer at all: the target is \
             out of reach, or the model does not fit.",
            answer.without_answer, answer.draws
        ),
    });
    lines
}

/// Columns of [`sensitivity_cells`].
pub const SENSITIVITY_COLUMNS: [&str; 6] =
    ["input", "from", "to", "answer at the one", "at the other", "where the range is from"];

/// One input, its ends, and the answer at each.
#[must_use]
pub fn sensitivity_cells(bar: &Bar) -> [String; 6] {
    let [low, high] = ends(&bar.input);
    let answer =
        |end: &Option<Outcome>| end.as_ref().map_or_else(|| "out of reach".to_owned(), part);
    [
        bar.input.label.clone(),
        low,
        high,
        answer(&bar.low),
        answer(&bar.high),
        bar.input.source.clone(),
    ]
}

/// “5.7 GPUs, $17.96 an hour (6 GPUs)”.
fn whole(outcome: &Outcome) -> String {
    format!("{} (rounded up {})", part(outcome), count(outcome.gpus))
}

fn part(outcome: &Outcome) -> String {
    let gpus = format!("{} GPUs", number(outcome.gpus_unrounded));
    match outcome.per_hour {
        Some(dollars) => format!("{} an hour, {gpus}", money(dollars)),
        None => gpus,
    }
}

/// The ends of a range as people read them: “−20 %”, “0.4”, “$1.99”.
fn ends(input: &Uncertain) -> [String; 2] {
    let shown = |value: f64| match &input.what {
        What::Load | What::Prompts | What::Answers => quantity::change(value),
        What::Price => money(value),
        What::Setting(key) => {
            let unit = field(key).map_or(Unit::Number, |field| field.quantity);
            match unit {
                Unit::Number | Unit::Count => number(value),
                unit => quantity::format(value, unit),
            }
        }
    };
    [shown(input.range.0), shown(input.range.1)]
}

/// What a tornado draws: dollars an hour, or GPUs where there is no price. What is out of reach has no
/// bar to that side.
#[must_use]
pub fn tornado_data(answer: &SensitivityAnswer) -> TornadoData {
    let measure = |outcome: &Outcome| outcome.per_hour.unwrap_or(outcome.gpus_unrounded);
    let base = measure(&answer.base);
    let bar = |bar: &Bar| {
        let [low, high] = ends(&bar.input);
        let at = |end: &Option<Outcome>| end.as_ref().map_or(base, measure);
        let told = |text: String, end: &Option<Outcome>| {
            if end.is_some() { text } else { [&text, ": out of reach"].concat() }
        };
        TornadoBar {
            name: bar.input.label.clone(),
            ends: (told(low, &bar.low), told(high, &bar.high)),
            answers: (at(&bar.low), at(&bar.high)),
        }
    };
    let title = match answer.base.per_hour {
        Some(_) => "Dollars an hour, before GPUs are rounded up",
        None => "GPUs, before they are rounded up",
    };
    TornadoData { title: title.to_owned(), base, bars: answer.bars.iter().map(bar).collect() }
}

/// The same for machines.
#[must_use]
pub fn sensitivity_json(answer: &SensitivityAnswer, scenario: &Scenario) -> String {
    let bar = |bar: &Bar| -> Value {
        let (key, is_multiple) = match &bar.input.what {
            What::Load => ("rate", true),
            What::Prompts => ("in", true),
            What::Answers => ("out", true),
            What::Price => ("price", false),
            What::Setting(key) => (key.as_str(), false),
        };
        json!({
            "key": key,
            "label": bar.input.label,
            "range": [bar.input.range.0, bar.input.range.1],
            "range_is_a_multiple": is_multiple,
            "source": bar.input.source,
            "low": bar.low,
            "high": bar.high,
        })
    };
    document(&json!({
        "schema": SCHEMA,
        "kind": "sensitivity",
        "link": scenario.to_link(),
        "base": answer.base,
        "bars": answer.bars.iter().map(bar).collect::<Vec<_>>(),
        "likely": answer.likely,
        "draws": answer.draws,
        "draws_without_answer": answer.without_answer,
    }))
}
