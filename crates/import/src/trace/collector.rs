//! From raw rows of any format to a checked trace.

use std::collections::BTreeMap;

use crate::{
    clock::{Moment, Unit},
    count,
    error::{ImportError, quoted},
};

use super::{ImportedRequest, ImportedTrace, SKIPPED_KEPT, Skipped, TraceFormat};

/// How the raw rows of a file are to be understood.
pub(super) struct Reading {
    pub(super) format: TraceFormat,
    /// Name of the arrival's column, for messages; likewise the others.
    pub(super) arrival: String,
    pub(super) input: String,
    pub(super) output: String,
    /// What the arrival counts, where that is known.
    pub(super) unit: Option<Unit>,
    pub(super) decimal_comma: bool,
    /// What rows are counted in: `line` or `item`.
    pub(super) place: &'static str,
}

/// A row before any check; `None` where there is no such field.
pub(super) struct RawRow<'a> {
    pub(super) arrival: Option<&'a str>,
    pub(super) input: Option<&'a str>,
    pub(super) output: Option<&'a str>,
    /// Block ids, or why they cannot be read.
    pub(super) prefix_hashes: Result<Vec<u64>, String>,
    pub(super) session: Option<&'a str>,
}

/// Gathers rows, and counts what is not used.
pub(super) struct Collector {
    reading: Reading,
    rows: Vec<(Moment, ImportedRequest)>,
    skipped: Vec<Skipped>,
    skipped_total: usize,
    without_output: usize,
    sessions: BTreeMap<String, u64>,
    /// The earliest time as it was written.
    origin: Option<(i128, String)>,
}

impl Collector {
    pub(super) const fn new(reading: Reading) -> Self {
        Self {
            reading,
            rows: Vec::new(),
            skipped: Vec::new(),
            skipped_total: 0,
            without_output: 0,
            sessions: BTreeMap::new(),
            origin: None,
        }
    }

    /// Count a row as not used.
    pub(super) fn skip(&mut self, line: u64, reason: String) {
        self.skipped_total += 1;
        if self.skipped.len() < SKIPPED_KEPT {
            self.skipped.push(Skipped { line, reason });
        }
    }

    /// Check a row and keep it, or skip it with the reason.
    pub(super) fn take(&mut self, line: u64, raw: RawRow<'_>) {
        match self.checked(raw) {
            Ok(row) => self.rows.push(row),
            Err(reason) => self.skip(line, reason),
        }
    }

    fn checked(&mut self, raw: RawRow<'_>) -> Result<(Moment, ImportedRequest), String> {
        let Reading { arrival, input, output, decimal_comma, .. } = &self.reading;
        let arrival_text = present(arrival, raw.arrival, "give the time of the request")?;
        let moment =
            Moment::parse(arrival_text, self.reading.unit, *decimal_comma).ok_or_else(|| {
                format!(
                    "{arrival} is {}, which is no time; write seconds as in 12.5, or a date as in \
                     2023-11-16 18:15:46.68",
                    quoted(arrival_text)
                )
            })?;
        self.check_time(&moment, arrival_text)?;
        let input_tokens = tokens(input, raw.input, *decimal_comma)?;
        let output_tokens = tokens(output, raw.output, *decimal_comma)?;
        let prefix_hashes = raw.prefix_hashes?;
        if output_tokens == 0 {
            let reason =
                format!("{output} is 0; a request must produce at least 1 token to be replayed");
            self.without_output += 1;
            return Err(reason);
        }
        if self.origin.as_ref().is_none_or(|(ns, _)| moment.ns < *ns) {
            self.origin = Some((moment.ns, arrival_text.to_owned()));
        }
        let session = raw.session.filter(|name| !name.is_empty()).map(|name| self.session(name));
        let request = ImportedRequest {
            arrival_s: moment.s,
            input_tokens,
            output_tokens,
            prefix_hashes,
            session,
        };
        Ok((moment, request))
    }

    /// A time must be of the same kind as those above it, and not before the recording.
    fn check_time(&self, moment: &Moment, text: &str) -> Result<(), String> {
        let name = &self.reading.arrival;
        let absolute = self.rows.first().map(|(first, _)| first.is_absolute());
        if absolute.is_some_and(|absolute| absolute != moment.is_absolute()) {
            return Err(format!(
                "{name} is {}, unlike the rows above: some are times since 1970 and some seconds \
                 of a recording; use one of the two",
                quoted(text)
            ));
        }
        if moment.s < 0.0 {
            return Err(format!(
                "{name} is {}, before the start of the recording; count from the first request",
                quoted(text)
            ));
        }
        Ok(())
    }

    fn session(&mut self, name: &str) -> u64 {
        if let Some(&number) = self.sessions.get(name) {
            return number;
        }
        let number = self.sessions.len() as u64;
        self.sessions.insert(name.to_owned(), number);
        number
    }

    /// The trace, with `notes` of the format's reader first.
    pub(super) fn finish(
        mut self,
        file: &str,
        mut notes: Vec<String>,
    ) -> Result<ImportedTrace, ImportError> {
        if self.rows.is_empty() {
            return Err(self.nothing_usable(file));
        }
        self.note_unit(&mut notes);
        self.note_skipped(&mut notes);
        self.count_from_first(&mut notes);
        let mut rows: Vec<ImportedRequest> = self.rows.into_iter().map(|(_, row)| row).collect();
        sort(&mut rows, &mut notes);
        Ok(ImportedTrace {
            format: self.reading.format,
            rows,
            skipped: self.skipped,
            skipped_total: self.skipped_total,
            notes,
        })
    }

    fn nothing_usable(self, file: &str) -> ImportError {
        let file = file.to_owned();
        match self.skipped.into_iter().next() {
            Some(first) => ImportError::NothingUsable {
                file,
                rows: self.skipped_total,
                place: format!("{} {}", self.reading.place, first.line),
                reason: first.reason,
            },
            None => ImportError::NoRows { file },
        }
    }

    /// Say which unit was understood where nothing names it.
    fn note_unit(&self, notes: &mut Vec<String>) {
        let Some((first, _)) = self.rows.first() else { return };
        let is_date = self.origin.as_ref().is_some_and(|(_, text)| text.contains(':'));
        if self.reading.unit.is_some() || is_date {
            return;
        }
        let (unit, remedy) = match first.guessed {
            Some(unit) => (unit.name(), "by their size"),
            None => ("seconds", "for want of a unit; name the column with _ms if it counts those"),
        };
        notes.push(format!("Values of {} are read as {unit}, {remedy}.", self.reading.arrival));
    }

    fn note_skipped(&self, notes: &mut Vec<String>) {
        if self.without_output > 0 {
            notes.push(format!(
                "{} left out for want of an output: a request must produce at least 1 token.",
                counted(self.without_output, "request is", "requests are")
            ));
        }
        if let Some(first) = self.skipped.first() {
            notes.push(format!(
                "{} of {} left out; the first is {} {}: {}.",
                quantity::count(self.skipped_total as u64),
                counted(self.skipped_total + self.rows.len(), "row", "rows"),
                self.reading.place,
                first.line,
                first.reason
            ));
        }
    }

    /// Dates and times since 1970 become seconds from the earliest.
    fn count_from_first(&mut self, notes: &mut Vec<String>) {
        let Some((origin_ns, text)) = &self.origin else { return };
        if !self.rows.first().is_some_and(|(moment, _)| moment.is_absolute()) {
            return;
        }
        for (moment, row) in &mut self.rows {
            row.arrival_s = moment.seconds_since(*origin_ns);
        }
        notes.push(format!("Times count from the first request, at {}.", quoted(text)));
    }
}

fn sort(rows: &mut [ImportedRequest], notes: &mut Vec<String>) {
    let out_of_order = rows.windows(2).filter(|pair| pair[1].arrival_s < pair[0].arrival_s).count();
    if out_of_order > 0 {
        // Stable: requests of one time stay in the order of the file.
        rows.sort_by(|a, b| a.arrival_s.total_cmp(&b.arrival_s));
        notes.push(format!(
            "{} earlier than the row above; the rows were sorted by time.",
            counted(out_of_order, "request was", "requests were")
        ));
    }
}

fn counted(number: usize, one: &str, more: &str) -> String {
    quantity::counted(number as u64, one, more)
}

fn present<'a>(name: &str, field: Option<&'a str>, remedy: &str) -> Result<&'a str, String> {
    match field {
        None => Err(format!("no value for {name}; {remedy}")),
        Some("") => Err(format!("{name} is empty; {remedy}")),
        Some(text) => Ok(text),
    }
}

fn tokens(name: &str, field: Option<&str>, decimal_comma: bool) -> Result<u64, String> {
    let text = present(name, field, "give a whole number of tokens")?;
    count::tokens(text, decimal_comma)
        .map_err(|problem| format!("{name} is {}, {problem}", quoted(text)))
}
