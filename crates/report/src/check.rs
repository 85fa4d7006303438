//! Assertions over an answer, for scripts: `gpus<=8`, `ttft_p99<=800ms`.

use std::fmt;

use planner::{Estimate, LoadPoint, PlanAnswer, Verdict};
use quantity::{ParseError, Unit};
use scenario::Scenario;
use serde::Serialize;
use serde_json::json;

use crate::json::{SCHEMA, document};

/// A figure that can be asserted: its name, what it is, and where an answer holds it.
pub struct AnswerFigure {
    /// What is typed. A unit at its end may be left out: `ttft_p99` is `ttft_p99_s`, whose bound then
    /// has one.
    pub name: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    unit: Unit,
    read: fn(&PlanAnswer) -> Option<Estimate>,
}

/// Every figure that can be asserted, in the order in which they are listed.
pub const ANSWER_FIGURES: &[AnswerFigure] = &[
    figure("gpus", "GPUs with headroom", Unit::Gpus, |answer| {
        sized(answer).map(|fleet| Estimate {
            value: fleet.with_headroom as f64,
            low: fleet.with_headroom_low as f64,
            high: fleet.with_headroom_high as f64,
        })
    }),
    figure("gpus_without_headroom", "GPUs without headroom", Unit::Gpus, |answer| {
        sized(answer).map(|fleet| certain(fleet.without_headroom as f64))
    }),
    figure(
        "carried_per_s",
        "rate that the GPUs carry at the target",
        Unit::RequestsPerSecond,
        |answer| sized(answer).map(|fleet| certain(fleet.carried_per_s)),
    ),
    figure(
        "capacity_per_s",
        "rate that one GPU sustains at the target",
        Unit::RequestsPerSecond,
        |answer| answer.capacity_per_s,
    ),
    figure(
        "ceiling_per_s",
        "rate that one GPU can finish at all",
        Unit::RequestsPerSecond,
        |answer| answer.ceiling_per_s,
    ),
    figure("slo_share", "share that meets the target", Unit::Share, |answer| {
        planned(answer).map(|point| point.slo_share)
    }),
    figure("ttft_p50_s", "median time to first token", Unit::Seconds, |answer| {
        percentile(answer, 50.0, |point| point.ttft_p50_s)
    }),
    figure("ttft_p99_s", "P99 of the time to first token", Unit::Seconds, |answer| {
        percentile(answer, 99.0, |point| point.ttft_p99_s)
    }),
    figure("tpot_p50_s", "median time per output token", Unit::Seconds, |answer| {
        percentile(answer, 50.0, |point| point.tpot_p50_s)
    }),
    figure("tpot_p99_s", "P99 of the time per output token", Unit::Seconds, |answer| {
        percentile(answer, 99.0, |point| point.tpot_p99_s)
    }),
    figure("itl_p50_s", "median gap between tokens", Unit::Seconds, |answer| {
        percentile(answer, 50.0, |point| point.itl_p50_s)
    }),
    figure("itl_p99_s", "P99 of the gaps between tokens", Unit::Seconds, |answer| {
        percentile(answer, 99.0, |point| point.itl_p99_s)
    }),
    figure("e2e_p50_s", "median end-to-end latency", Unit::Seconds, |answer| {
        percentile(answer, 50.0, |point| point.e2e_p50_s)
    }),
    figure("e2e_p99_s", "P99 of the end-to-end latency", Unit::Seconds, |answer| {
        percentile(answer, 99.0, |point| point.e2e_p99_s)
    }),
    figure(
        "goodput_per_s",
        "requests a second on one GPU that meet the target",
        Unit::RequestsPerSecond,
        |answer| planned(answer).map(|point| point.goodput_per_s),
    ),
    figure(
        "output_tokens_per_s",
        "output tokens a second of one GPU",
        Unit::TokensPerSecond,
        |answer| planned(answer).map(|point| point.output_tokens_per_s),
    ),
    figure("busy_share", "share of the time in which a step runs", Unit::Share, |answer| {
        planned(answer).map(|point| certain(point.busy_share))
    }),
    figure("kv_peak_share", "share of the KV cache in use at its peak", Unit::Share, |answer| {
        planned(answer).map(|point| certain(point.kv_peak_share))
    }),
    figure(
        "requests_that_fit",
        "largest requests that the KV cache holds at once",
        Unit::Count,
        |answer| sized(answer).map(|_| certain(answer.requests_that_fit as f64)),
    ),
];

/// Ends of names that say a unit.
const UNIT_ENDS: [&str; 3] = ["_per_s", "_s", "_share"];

const fn figure(
    name: &'static str,
    meaning: &'static str,
    unit: Unit,
    read: fn(&PlanAnswer) -> Option<Estimate>,
) -> AnswerFigure {
    AnswerFigure { name, meaning, unit, read }
}

const fn certain(value: f64) -> Estimate {
    Estimate { value, low: value, high: value }
}

fn sized(answer: &PlanAnswer) -> Option<planner::FleetSize> {
    match answer.verdict {
        Verdict::Sized(fleet) => Some(fleet),
        _ => None,
    }
}

fn planned(answer: &PlanAnswer) -> Option<&LoadPoint> {
    answer.planned.as_ref().filter(|_| sized(answer).is_some())
}

fn percentile(
    answer: &PlanAnswer,
    percent: f64,
    read: fn(&LoadPoint) -> Estimate,
) -> Option<Estimate> {
    planned(answer).filter(|point| point.has_percentile(percent)).map(read)
}

/// How a figure is held against its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
}

impl Relation {
    /// Longest first, so that `<=` is not read as `<`.
    const ALL: [(&'static str, Self); 5] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtMost => value <= bound,
            Self::Below => value < bound,
            Self::AtLeast => value >= bound,
            Self::Above => value > bound,
            Self::Equal => value == bound,
        }
    }
}

/// One assertion: a figure of the answer, a relation, and a bound.
pub struct Assertion {
    text: String,
    figure: &'static AnswerFigure,
    relation: Relation,
    bound: f64,
}

/// Why a text is no assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssertionError {
    /// Nothing in it compares.
    NoRelation {
        /// What was typed.
        text: String,
    },
    /// No figure has that name.
    UnknownFigure {
        /// What was typed.
        text: String,
        /// The name in it.
        name: String,
    },
    /// A time without a unit, where the name says none.
    NoUnit {
        /// What was typed.
        text: String,
    },
    /// The bound cannot be read.
    Bound {
        /// What was typed.
        text: String,
        /// Why.
        error: ParseError,
    },
}

impl fmt::Display for AssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRelation { text } => write!(
                f,
                "“{text}” compares nothing; write a figure, one of <= < >= > ==, and a bound, for \
                 example gpus<=8"
            ),
            Self::UnknownFigure { text, name } => {
                write!(f, "“{text}”: no figure is called “{name}”; there are")?;
                for (position, figure) in ANSWER_FIGURES.iter().enumerate() {
                    let before = if position == 0 { " " } else { ", " };
                    write!(f, "{before}{}", figure.name)?;
                }
                Ok(())
            }
            Self::NoUnit { text } => write!(
                f,
                "“{text}”: the bound needs a unit, for example 800ms; or write the name with its \
                 unit, such as ttft_p99_s<=0.8"
            ),
            Self::Bound { text, error } => write!(f, "“{text}”: {error}"),
        }
    }
}

impl std::error::Error for AssertionError {}

impl Assertion {
    /// Reads `figure relation bound`; the bound may have a unit, and without one is in the figure’s
    /// own, which the name of a time must then say.
    ///
    /// # Errors
    ///
    /// What cannot be read, with what may be written instead.
    pub fn read(text: &str) -> Result<Self, AssertionError> {
        let text = text.trim();
        let parts = Relation::ALL.iter().find_map(|(sign, relation)| {
            text.split_once(sign).map(|(name, bound)| (name.trim(), *relation, bound))
        });
        let (name, relation, bound) =
            parts.ok_or_else(|| AssertionError::NoRelation { text: text.to_owned() })?;
        let figure = ANSWER_FIGURES.iter().find(|figure| is_called(figure, name));
        let figure = figure.ok_or_else(|| AssertionError::UnknownFigure {
            text: text.to_owned(),
            name: name.to_owned(),
        })?;
        // Settings take bare times in milliseconds, figures are in seconds: a bare one would be guessed.
        let is_bare = bound.trim().ends_with(|last: char| last.is_ascii_digit() || last == '.');
        if figure.unit == Unit::Seconds && is_bare && figure.name != name {
            return Err(AssertionError::NoUnit { text: text.to_owned() });
        }
        let bound = quantity::parse(bound, figure.unit)
            .map_err(|error| AssertionError::Bound { text: text.to_owned(), error })?;
        Ok(Self { text: text.to_owned(), figure, relation, bound })
    }
}

fn is_called(figure: &AnswerFigure, name: &str) -> bool {
    let short = UNIT_ENDS.iter().find_map(|end| figure.name.strip_suffix(end));
    figure.name == name || short == Some(name)
}

/// What became of one assertion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// As it was typed.
    pub assertion: String,
    /// Whether it holds.
    pub holds: bool,
    /// Whether it holds at one end of the figure’s 95 % interval and not at the other.
    pub is_close: bool,
    /// The figure; `None` where the answer withholds it.
    pub figure: Option<Estimate>,
    /// The figure in words, and why an assertion fails that has none.
    pub reason: String,
}

/// Holds an answer against assertions. `strict` asks that they hold at both ends of the 95 %
/// intervals.
#[must_use]
pub fn check(answer: &PlanAnswer, assertions: &[Assertion], strict: bool) -> Vec<Checked> {
    assertions.iter().map(|assertion| checked(answer, assertion, strict)).collect()
}

fn checked(answer: &PlanAnswer, assertion: &Assertion, strict: bool) -> Checked {
    let Assertion { text, figure, relation, bound } = assertion;
    let Some(found) = (figure.read)(answer) else {
        return Checked {
            assertion: text.clone(),
            holds: false,
            is_close: false,
            figure: None,
            reason: withheld(answer, figure),
        };
    };
    let at = |value| relation.holds(value, *bound);
    let (low, high) = (at(found.low), at(found.high));
    Checked {
        assertion: text.clone(),
        holds: at(found.value) && (!strict || (low && high)),
        is_close: low != high || low != at(found.value),
        figure: Some(found),
        reason: in_words(figure, found),
    }
}

/// “P99 of the time to first token: 310 ms, 290 ms to 340 ms”.
fn in_words(figure: &AnswerFigure, found: Estimate) -> String {
    let shown = |value| quantity::format(value, figure.unit);
    let value = shown(found.value);
    if found.low < found.high {
        format!("{}: {value}, {} to {}", figure.meaning, shown(found.low), shown(found.high))
    } else {
        format!("{}: {value}", figure.meaning)
    }
}

/// Why the answer has no such figure.
fn withheld(answer: &PlanAnswer, figure: &AnswerFigure) -> String {
    let because = match &answer.verdict {
        Verdict::Sized(_) => "the planned load is not stable, so nothing can be said of it",
        Verdict::OutOfReach { .. } => "even an idle engine misses the target",
        Verdict::DoesNotFit { .. } => "the model does not fit",
        Verdict::NoRoom { .. } => "the KV cache does not hold one request",
        Verdict::TooLong { sentence, .. } => sentence,
    };
    format!("{}: withheld; {because}", figure.meaning)
}

/// One line for each assertion, and one that counts.
#[must_use]
pub fn check_text(checked: &[Checked]) -> String {
    let mut text = String::new();
    for one in checked {
        let mark = if one.holds { "holds" } else { "FAILS" };
        let close = if one.is_close { "; too close to call" } else { "" };
        text.push_str(&format!("{mark}  {}  ({}{close})\n", one.assertion, one.reason));
    }
    let failed = checked.iter().filter(|one| !one.holds).count();
    let all = quantity::counted(checked.len() as u64, "assertion", "assertions");
    text.push_str(&match failed {
        0 => format!("Nothing fails of {all}.\n"),
        n => format!("{} of {all} failed.\n", quantity::count(n as u64)),
    });
    text
}

/// The same for machines.
#[must_use]
pub fn check_json(checked: &[Checked], scenario: &Scenario) -> String {
    document(&json!({
        "schema": SCHEMA,
        "kind": "check",
        "link": scenario.to_link(),
        "holds": checked.iter().all(|one| one.holds),
        "assertions": checked,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreadable(text: &str) -> String {
        Assertion::read(text).map_or_else(|error| error.to_string(), |_| "it was read".to_owned())
    }

    fn read(text: &str) -> (&'static str, Relation, f64) {
        let assertion = Assertion::read(text).unwrap_or_else(|error| panic!("{error}"));
        (assertion.figure.name, assertion.relation, assertion.bound)
    }

    #[test]
    fn figures_go_by_their_names_with_and_without_units() {
        assert_eq!(read("gpus<=8"), ("gpus", Relation::AtMost, 8.0));
        assert_eq!(read(" ttft_p99_s < 0.8 "), ("ttft_p99_s", Relation::Below, 0.8));
        assert_eq!(read("ttft_p99<=800ms"), ("ttft_p99_s", Relation::AtMost, 0.8));
        assert_eq!(read("slo>=99%"), ("slo_share", Relation::AtLeast, 0.99));
        assert_eq!(read("capacity > 20 req/s"), ("capacity_per_s", Relation::Above, 20.0));
        assert_eq!(read("gpus==6"), ("gpus", Relation::Equal, 6.0));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_can() {
        assert!(unreadable("gpus").contains("for example gpus<=8"));
        assert!(unreadable("gpu<=8").contains("no figure is called “gpu”; there are gpus, "));
        assert!(unreadable("gpus<=many").contains("“many” is not"));
        assert!(unreadable("ttft_p99<=4 GB").contains("“4 GB” is not"));
        assert!(unreadable("ttft_p99<=100").contains("needs a unit, for example 800ms"));
        assert!(unreadable("gpus<=").contains("“gpus<=”"));
        assert!(unreadable("<=").contains("no figure is called “”"));
    }

    #[test]
    fn short_names_are_unambiguous() {
        for figure in ANSWER_FIGURES {
            let called = |name| ANSWER_FIGURES.iter().filter(|one| is_called(one, name)).count();
            assert_eq!(called(figure.name), 1, "{}", figure.name);
        }
    }
}
