//! Request traces: when each request was sent, and how long its prompt and output were.
//!
//! | format | told by | times |
//! |---|---|---|
//! | plain table | a header with an arrival, a prompt and an output column | seconds, unless the column's name or the values say otherwise |
//! | Azure LLM inference | `TIMESTAMP`, `ContextTokens`, `GeneratedTokens` | dates, counted from the first request |
//! | Mooncake | JSON lines with `timestamp`, `input_length`, `output_length` | milliseconds |
//! | JSON records | JSON lines, or one array of objects, with keys named like a table's columns | as for a plain table |
//! | AIPerf records | JSON lines with `metadata` and `metrics` | nanoseconds since 1970, counted from the first request |
//!
//! Names of columns may come in any order and in many spellings:
//!
//! - arrival: `arrival`, `arrival_time`, `arrived_at`, `timestamp`, `request_time`, `send_time`,
//!   `sent_at`, `submit_time`, `start_time`, `time`, `t`, each also with `_s`, `_ms`, `_us`, `_ns`;
//! - prompt: `input`, `prompt`, `context`, `prefill` or `request` with `_tokens`, `_length` or
//!   `_len`; `isl`;
//! - output: `output`, `generated`, `completion`, `decode`, `response` or `generation` with the
//!   same endings; `osl`;
//! - optional: `hash_ids` (blocks of the prompt that requests share), `session_id` or
//!   `conversation_id`.
//!
//! Case, blanks and underscores make no difference. Separators are commas, semicolons, tabs or
//! bars; files may be packed with gzip.

mod collector;
mod delimited;
mod json;
mod summary;

use sim_core::{SetupError, Trace, TraceRow};

pub use summary::{LengthSummary, TraceSummary};

use crate::{
    error::{ImportError, file_label},
    text,
};

/// How many skipped rows are kept with their reasons; all are counted.
pub const SKIPPED_KEPT: usize = 20;

/// What a trace was written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// A table with named columns.
    Table,
    /// The Azure LLM inference trace.
    Azure,
    /// Mooncake's JSON lines.
    Mooncake,
    /// JSON objects with the keys of a table.
    JsonRecords,
    /// AIPerf's records, one request a line.
    AiperfRecords,
}

impl TraceFormat {
    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Azure => "Azure LLM inference trace",
            Self::Mooncake => "Mooncake trace",
            Self::JsonRecords => "JSON records",
            Self::AiperfRecords => "AIPerf records",
        }
    }
}

/// One request as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRequest {
    /// When it was sent, in seconds. Dates and times since 1970 count from the first request,
    /// other times are as written.
    pub arrival_s: f64,
    /// Prompt length.
    pub input_tokens: u64,
    /// Output length, 1 or more.
    pub output_tokens: u64,
    /// Blocks of the prompt, in order: equal ids are equal text after an equal beginning.
    pub prefix_hashes: Vec<u64>,
    /// Conversation, numbered from 0 in order of appearance in the file.
    pub session: Option<u64>,
}

/// A row that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// One-based line of the file; in a JSON array, the one-based number of the item.
    pub line: u64,
    /// Column, value and remedy, in words.
    pub reason: String,
}

/// A trace read from a file, with everything that was not taken as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedTrace {
    /// What it was written as.
    pub format: TraceFormat,
    /// In order of arrival; at least one.
    pub rows: Vec<ImportedRequest>,
    /// The first [`SKIPPED_KEPT`] rows that are not used.
    pub skipped: Vec<Skipped>,
    /// How many rows are not used, the kept ones included.
    pub skipped_total: usize,
    /// Whole sentences on how the file was read.
    pub notes: Vec<String>,
}

impl ImportedTrace {
    /// The recording for a simulation. Prefix blocks and sessions stay behind.
    ///
    /// # Errors
    /// The rows were changed after reading so that they cannot be replayed; as they were read,
    /// they can.
    pub fn to_trace(&self) -> Result<Trace, SetupError> {
        let row = |request: &ImportedRequest| TraceRow {
            arrival_s: request.arrival_s,
            input_tokens: request.input_tokens,
            output_tokens: request.output_tokens,
        };
        Trace::new(self.rows.iter().map(row).collect())
    }

    /// Rate, lengths and burstiness.
    #[must_use]
    pub fn summary(&self) -> TraceSummary {
        TraceSummary::of(&self.rows)
    }
}

/// Read a request trace. `name_hint` is the file's name and is used in messages only.
///
/// # Errors
/// The bytes are no text, no known format, or hold no usable request.
pub fn read(name_hint: Option<&str>, bytes: &[u8]) -> Result<ImportedTrace, ImportError> {
    let file = file_label(name_hint);
    let decoded = text::decode(&file, bytes)?;
    let mut trace = if decoded.text.trim_start().starts_with(['{', '[']) {
        json::read(&file, &decoded.text)?
    } else {
        delimited::read(&file, &decoded.text)?
    };
    trace.notes.splice(0..0, decoded.notes);
    Ok(trace)
}
