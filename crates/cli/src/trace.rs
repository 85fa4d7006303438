//! Recordings as CSV: one request per row.

use std::{path::Path, sync::Arc};

use csv::StringRecord;
use sim_core::{Trace, TraceRow};

use crate::{args::TraceArgs, failure::Failure, input};

/// The columns that are read, wherever they stand; others are passed over.
const COLUMNS: [&str; 3] = ["arrival_s", "input_tokens", "output_tokens"];

/// A recording and the rate at which it counts as made, per second.
pub(crate) struct Recording {
    pub(crate) trace: Arc<Trace>,
    pub(crate) rate_per_s: f64,
}

/// The recording that was asked for, if one was.
pub(crate) fn recording(args: &TraceArgs) -> Result<Option<Recording>, Failure> {
    let Some(path) = &args.trace else { return Ok(None) };
    let trace = Arc::new(read(path)?);
    let rate_per_s = args.trace_rate.or_else(|| trace.mean_rate_per_s()).ok_or_else(|| {
        Failure::input(format!(
            "{}: all requests arrive at once, so there is no rate to scale. Give it with --trace-rate.",
            path.display()
        ))
    })?;
    Ok(Some(Recording { trace, rate_per_s }))
}

/// Read a recording.
pub(crate) fn read(path: &Path) -> Result<Trace, Failure> {
    input::check_file(path)?;
    let text = input::read_text(path)?;
    let file = File { name: path.display().to_string() };
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| file.broken(&error))?.clone();
    let places = file.places(&header)?;
    let mut rows: Vec<TraceRow> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| file.broken(&error))?;
        let previous_s = rows.last().map_or(0.0, |row| row.arrival_s);
        rows.push(file.row(&record, places, previous_s)?);
    }
    Trace::new(rows).map_err(|error| Failure::input(format!("{}: {error}", file.name)))
}

/// The file, for messages.
struct File {
    name: String,
}

impl File {
    /// Where each column stands.
    fn places(&self, header: &StringRecord) -> Result<[usize; 3], Failure> {
        let mut places = [0; 3];
        for (place, name) in places.iter_mut().zip(COLUMNS) {
            let found = header.iter().position(|title| title.eq_ignore_ascii_case(name));
            *place = found.ok_or_else(|| {
                let titles: Vec<&str> = header.iter().collect();
                Failure::input(format!(
                    "{}, line 1: no column “{name}” among “{}”. The first line must name the columns {}.",
                    self.name,
                    titles.join(","),
                    COLUMNS.join(",")
                ))
            })?;
        }
        Ok(places)
    }

    fn row(
        &self,
        record: &StringRecord,
        [arrival, input, output]: [usize; 3],
        previous_s: f64,
    ) -> Result<TraceRow, Failure> {
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |place: usize| record.get(place).unwrap_or("");
        let wrong = |name: &str, place: usize, what: &str| {
            Failure::input(format!(
                "{}, line {line}, column {name}: “{}” {what}",
                self.name,
                cell(place)
            ))
        };
        let time = "is no time. Give seconds from the start, 0 or more, for example 12.5.";
        let arrival_s: f64 = cell(arrival)
            .parse()
            .ok()
            .filter(|s: &f64| s.is_finite() && *s >= 0.0)
            .ok_or_else(|| wrong(COLUMNS[0], arrival, time))?;
        if arrival_s < previous_s {
            let what = "is before the row above it. Sort the rows by arrival_s.";
            return Err(wrong(COLUMNS[0], arrival, what));
        }
        let tokens = |name: &str, place: usize, least: u64| {
            let what = format!(
                "is no number of tokens. Give a whole number from {least} to 1000000000, for example 256."
            );
            tokens(cell(place))
                .filter(|tokens| (least..=1_000_000_000).contains(tokens))
                .ok_or_else(|| wrong(name, place, &what))
        };
        Ok(TraceRow {
            arrival_s,
            input_tokens: tokens(COLUMNS[1], input, 0)?,
            output_tokens: tokens(COLUMNS[2], output, 1)?,
        })
    }

    fn broken(&self, error: &csv::Error) -> Failure {
        Failure::input(format!("{}: {error}. Save it as CSV with commas.", self.name))
    }
}

/// A whole number, also where a spreadsheet wrote it as 256.0.
fn tokens(text: &str) -> Option<u64> {
    let whole = text.split_once('.').map_or(Some(text), |(whole, zeros)| {
        zeros.bytes().all(|digit| digit == b'0').then_some(whole)
    })?;
    whole.parse().ok()
}
