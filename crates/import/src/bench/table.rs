//! Load tests in tables: a row a load.
//!
//! Columns go by their words, in any order: a metric (`ttft`, `tpot`, `itl`, `e2e`), a statistic (`mean`,
//! `p50`, `p90`, `p99`), a unit (`ms`, `s`). Without a statistic it is the mean. Beside them `concurrency`
//! or `rate` for the load (or both as `load_mode` and `load`), and lengths under the names of traces.

use crate::{
    alias, count,
    error::{ImportError, listed, quoted},
    table::{self, Header, Row},
};

use super::{BenchmarkFormat, Gathered, Load, MOST_POINTS, MeasuredPoint, Times};

/// A TPOT without a unit below this is in seconds: two tokens a second.
const MOST_TPOT_S: f64 = 0.5;
/// Columns of a table that is read; more are a bomb.
const MOST_COLUMNS: usize = 1000;
/// Names of several words, and what they are here.
const PHRASES: [(&str, &str); 12] = [
    ("time to first token", "ttft"),
    ("first token latency", "ttft"),
    ("time per output token", "tpot"),
    ("inter token latency", "itl"),
    ("intertoken latency", "itl"),
    ("end to end latency", "e2e"),
    ("end to end", "e2e"),
    ("e2e latency", "e2e"),
    ("request latency", "e2e"),
    ("output throughput", "output tok s"),
    ("request throughput", "req s"),
    ("max concurrency", "concurrency"),
];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Time(Metric, Statistic, Unit),
    InFlight,
    Rate,
    LoadMode,
    LoadValue,
    Input,
    Output,
    Requests,
    Failed,
    Completed,
    RequestsPerSecond,
    OutputPerSecond,
    Setting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    Ttft,
    Tpot,
    Itl,
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    Mean,
    Median,
    P90,
    P99,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Seconds,
    Untold,
}

pub(super) fn read(file: &str, text: &str) -> Result<Gathered, ImportError> {
    if let Some(error) = another_kind(file, text) {
        return Err(error);
    }
    let found = table::headers(text).find_map(|header| {
        let columns: Vec<Option<Column>> =
            header.names.iter().take(MOST_COLUMNS).map(|name| column(name)).collect();
        let has_time = columns.iter().flatten().any(|it| matches!(it, Column::Time(..)));
        (has_time && header.names.len() > 1).then_some((header, columns))
    });
    let Some((header, columns)) = found else { return Err(no_header(file, text)) };
    let mut gathered = Gathered::new(BenchmarkFormat::Table, "line");
    gathered.may_be_seconds = columns
        .iter()
        .flatten()
        .filter(|it| matches!(it, Column::Time(..)))
        .all(|it| matches!(it, Column::Time(_, _, Unit::Milliseconds)));
    let mut untold = Vec::new();
    for row in table::rows_under(text, &header) {
        if gathered.points.len() + gathered.skipped_total >= MOST_POINTS {
            return Err(ImportError::TooManyValues {
                file: file.to_owned(),
                most: MOST_POINTS as u64,
            });
        }
        match point(&row, &header, &columns) {
            Ok((point, has_untold)) => {
                untold.push(has_untold);
                gathered.points.push((row.line, point));
            }
            Err(reason) => gathered.skip(row.line, reason),
        }
    }
    settle_units(&mut gathered, &untold);
    Ok(gathered)
}

/// The words of a column's name.
fn words(name: &str) -> String {
    let spaced: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    PHRASES.iter().fold(joined, |name, (phrase, word)| name.replace(phrase, word))
}

fn column(name: &str) -> Option<Column> {
    let text = words(name);
    let words: Vec<&str> = text.split(' ').collect();
    let has = |word: &str| words.contains(&word);
    if let Some(metric) = metric(&words) {
        let is_other =
            ["std", "stddev", "min", "max", "p95", "p25", "p75", "p999", "slo", "target"];
        if is_other.iter().any(|word| has(word)) {
            return None;
        }
        return Some(Column::Time(metric, statistic(&words)?, unit(&words)));
    }
    let lengths = alias::Columns::find(&[name]);
    match text.as_str() {
        "concurrency" | "in flight" | "users" | "num concurrent requests" | "streams" | "conc" => {
            Some(Column::InFlight)
        }
        "rate" | "request rate" | "qps" | "rps" | "requested rate" | "offered rate"
        | "rate per s" => Some(Column::Rate),
        "load mode" => Some(Column::LoadMode),
        "load" => Some(Column::LoadValue),
        "isl" | "random input len" => Some(Column::Input),
        "osl" | "random output len" => Some(Column::Output),
        "requests" | "n requests" | "num prompts" | "num requests" => Some(Column::Requests),
        "completed" | "successful requests" | "successful" => Some(Column::Completed),
        "failed" | "errors" | "errored requests" | "failures" => Some(Column::Failed),
        "req s" | "requests per s" | "requests s" | "achieved rate" | "requests per second" => {
            Some(Column::RequestsPerSecond)
        }
        "output tok s" | "output tokens per s" | "output tokens s" | "output tokens per second" => {
            Some(Column::OutputPerSecond)
        }
        _ if lengths.input.is_some() => Some(Column::Input),
        _ if lengths.output.is_some() => Some(Column::Output),
        "model" | "gpu" | "tp" | "engine" | "engine version" | "weight dtype" | "run id"
        | "source" => Some(Column::Setting),
        _ => None,
    }
}

fn metric(words: &[&str]) -> Option<Metric> {
    words.iter().find_map(|word| match *word {
        "ttft" => Some(Metric::Ttft),
        "tpot" => Some(Metric::Tpot),
        "itl" => Some(Metric::Itl),
        "e2e" | "e2el" => Some(Metric::Whole),
        _ => None,
    })
}

/// The mean where nothing is said; none where it is a statistic that is not used.
fn statistic(words: &[&str]) -> Option<Statistic> {
    let mut found = None;
    for word in words {
        found = match *word {
            "mean" | "avg" | "average" => Some(Statistic::Mean),
            "median" | "p50" => Some(Statistic::Median),
            "p90" => Some(Statistic::P90),
            "p99" => Some(Statistic::P99),
            _ => found,
        };
    }
    Some(found.unwrap_or(Statistic::Mean))
}

fn unit(words: &[&str]) -> Unit {
    let is = |names: &[&str]| words.iter().any(|word| names.contains(word));
    if is(&["ms", "msec", "milliseconds"]) {
        Unit::Milliseconds
    } else if is(&["s", "sec", "secs", "seconds"]) {
        Unit::Seconds
    } else {
        Unit::Untold
    }
}

/// A row's point, and which of its times have no unit.
fn point(
    row: &Row,
    header: &Header,
    columns: &[Option<Column>],
) -> Result<(MeasuredPoint, Vec<(Metric, Statistic)>), String> {
    if let Some(reason) = row.misfit(header.names.len()) {
        return Err(reason);
    }
    let mut point = MeasuredPoint::default();
    let (mut untold, mut mode, mut value, mut itl) =
        (Vec::new(), String::new(), None, Times::default());
    let mut sent = None;
    for (index, column) in columns.iter().enumerate() {
        let (Some(column), Some(text)) = (column, row.field(index)) else { continue };
        if text.is_empty() || text.eq_ignore_ascii_case("n/a") || text == "-" {
            continue;
        }
        let name = &header.names[index];
        match column {
            Column::LoadMode => mode = text.to_ascii_lowercase(),
            Column::Setting => point.set(name, text),
            Column::Rate if is_unthrottled(text) => {}
            Column::LoadValue if is_unthrottled(text) => {}
            _ => {
                let number = number(name, text, header.decimal_comma())?;
                match column {
                    Column::Time(metric, statistic, unit) => {
                        let times = match metric {
                            Metric::Ttft => &mut point.ttft,
                            Metric::Tpot => &mut point.tpot,
                            Metric::Itl => &mut itl,
                            Metric::Whole => &mut point.e2e,
                        };
                        let scale = if *unit == Unit::Seconds { 1.0 } else { 1e-3 };
                        *slot(times, *statistic) = Some(number * scale);
                        if *unit == Unit::Untold {
                            untold.push((*metric, *statistic));
                        }
                    }
                    Column::InFlight => point.load = Load::InFlight(number as u64),
                    Column::Rate => point.load = Load::PerSecond(number),
                    Column::LoadValue => value = Some(number),
                    Column::Input => point.input_tokens = Some(number),
                    Column::Output => point.output_tokens = Some(number),
                    Column::Requests => sent = Some(number as u64),
                    Column::Completed => point.completed = Some(number as u64),
                    Column::Failed => point.failed = number as u64,
                    Column::RequestsPerSecond => point.requests_per_s = Some(number),
                    Column::OutputPerSecond => point.output_tokens_per_s = Some(number),
                    Column::LoadMode | Column::Setting => {}
                }
            }
        }
    }
    if let Some(load) = told_load(&mode, value, sent) {
        point.load = load;
    }
    if point.completed.is_none() {
        point.completed = sent.map(|sent| sent.saturating_sub(point.failed));
    }
    // Gaps between the pieces of a stream are those between tokens unless a stream bundles them.
    if point.tpot == Times::default() {
        point.tpot = Times { mean_s: itl.mean_s, ..Times::default() };
    }
    point.name = super::load_name(point.load);
    Ok((point, untold))
}

fn is_unthrottled(text: &str) -> bool {
    text.eq_ignore_ascii_case("inf") || text.eq_ignore_ascii_case("infinity")
}

fn told_load(mode: &str, value: Option<f64>, sent: Option<u64>) -> Option<Load> {
    match (mode, value) {
        ("concurrency" | "closed", Some(value)) => Some(Load::InFlight(value as u64)),
        ("rate" | "open", Some(value)) => Some(Load::PerSecond(value)),
        ("offline" | "burst", value) => value.map(|it| it as u64).or(sent).map(Load::AtOnce),
        _ => None,
    }
}

const fn slot(times: &mut Times, statistic: Statistic) -> &mut Option<f64> {
    match statistic {
        Statistic::Mean => &mut times.mean_s,
        Statistic::Median => &mut times.p50_s,
        Statistic::P90 => &mut times.p90_s,
        Statistic::P99 => &mut times.p99_s,
    }
}

fn number(name: &str, text: &str, decimal_comma: bool) -> Result<f64, String> {
    // Some exports write the unit into each cell.
    let bare = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/').trim();
    count::finite(bare, decimal_comma)
        .filter(|number| *number >= 0.0)
        .ok_or_else(|| format!("{name} is {}, which is no number of 0 or more", quoted(text)))
}

/// Times without a unit were read as milliseconds; if TPOT says that they are seconds, they are.
fn settle_units(gathered: &mut Gathered, untold: &[Vec<(Metric, Statistic)>]) {
    if untold.iter().all(Vec::is_empty) {
        return;
    }
    let times =
        gathered.points.iter().filter_map(|it| it.1.tpot.typical_s().or(it.1.ttft.typical_s()));
    let are_seconds = times.map(|time_s| time_s * 1e3).all(|value| value < MOST_TPOT_S);
    if are_seconds {
        for ((_, point), names) in gathered.points.iter_mut().zip(untold) {
            for &(metric, statistic) in names {
                let times = match metric {
                    Metric::Ttft => &mut point.ttft,
                    Metric::Tpot | Metric::Itl => &mut point.tpot,
                    Metric::Whole => &mut point.e2e,
                };
                if let Some(value) = slot(times, statistic) {
                    *value *= 1e3;
                }
            }
        }
    }
    let unit = if are_seconds { "seconds" } else { "milliseconds" };
    gathered.note(format!(
        "Times in columns without a unit are read as {unit}, by their size; end their names with _ms or _s."
    ));
}

/// Tables that say less than the file beside them, and pages that are no tables.
fn another_kind(file: &str, text: &str) -> Option<ImportError> {
    let mut starts = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(40);
    let first = starts.next()?;
    let (what, remedy) = if first.starts_with("Metric,") {
        (
            "AIPerf’s or GenAI-Perf’s metrics as a table, which does not tell the load",
            "choose the .json file beside it",
        )
    } else if first.starts_with("Run Info,") || first.starts_with("Benchmark,Benchmark") {
        (
            "GuideLLM’s table, whose rows may be shifted against its header",
            "choose the .json report beside it",
        )
    } else if first.starts_with("# HELP ") || starts.any(|line| line.starts_with("# HELP ")) {
        (
            "a server’s metrics page, which adds up all that it has served",
            "give the result of a load test, or the log of the server’s start",
        )
    } else {
        return None;
    };
    Some(ImportError::AnotherKind { file: file.to_owned(), what, remedy })
}

fn no_header(file: &str, text: &str) -> ImportError {
    let nearest = table::headers(text).max_by_key(|header| {
        (header.names.iter().filter(|name| column(name).is_some()).count(), header.names.len())
    });
    let (names, line) = nearest.map_or((Vec::new(), 1), |it| (it.names, it.line));
    ImportError::MissingColumns {
        file: file.to_owned(),
        line,
        kind: "column",
        missing: "TTFT or TPOT".to_owned(),
        found: listed(&names),
        remedy: "Name the columns in the first line, for example \
                 concurrency,input_tokens,output_tokens,ttft_ms,tpot_ms"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_by_their_words() {
        let time = |metric, statistic, unit| Some(Column::Time(metric, statistic, unit));
        use {Metric::*, Statistic::*, Unit::*};
        for (name, want) in [
            ("ttft_mean_ms", time(Ttft, Mean, Milliseconds)),
            ("Mean TTFT (ms)", time(Ttft, Mean, Milliseconds)),
            ("P99 Time to First Token [s]", time(Ttft, P99, Seconds)),
            ("tpot", time(Tpot, Mean, Untold)),
            ("median_tpot_ms", time(Tpot, Median, Milliseconds)),
            ("End-to-End Latency (s)", time(Whole, Mean, Seconds)),
            ("ttft_std_ms", None),
            ("max_concurrency", Some(Column::InFlight)),
            ("Request rate", Some(Column::Rate)),
            ("output_tok_s", Some(Column::OutputPerSecond)),
            ("req_s", Some(Column::RequestsPerSecond)),
            ("isl", Some(Column::Input)),
            ("Output Tokens", Some(Column::Output)),
            ("comment", None),
        ] {
            assert_eq!(column(name), want, "{name}");
        }
    }
}
