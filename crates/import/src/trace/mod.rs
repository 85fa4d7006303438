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

use sim_core::{PromptBlocks, SetupError, Trace, TraceRow};
use std::sync::Arc;

pub use summary::{LengthSummary, TraceSummary};

use crate::{
    error::{ImportError, file_label},
    text,
};

/// How many skipped rows are kept with their reasons; all are counted.
pub const SKIPPED_KEPT: usize = 20;
/// The largest blocks of prompts that are looked for are this power of two in tokens.
const LARGEST_BLOCK_POWER: u32 = 12;

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
    /// The recording for a simulation, with what its prompts have in common where that can be told.
    /// Sessions stay behind.
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
        let trace = Trace::new(self.rows.iter().map(row).collect())?;
        Ok(match self.tokens_per_block() {
            Some(tokens_per_block) => {
                let of_row = self.rows.iter().map(|row| Arc::from(&*row.prefix_hashes)).collect();
                trace.with_blocks(PromptBlocks { tokens_per_block, of_row })
            }
            None => trace,
        })
    }

    /// Tokens of a block of prompts, told from how many blocks prompts have: a power of two, with which
    /// every prompt that has any has as many as it is long. `None` where there are none, or where no size
    /// fits.
    #[must_use]
    pub fn tokens_per_block(&self) -> Option<u64> {
        let with_blocks = || self.rows.iter().filter(|row| !row.prefix_hashes.is_empty());
        with_blocks().next()?;
        let fits = |tokens: u64| {
            with_blocks().all(|row| {
                let blocks = row.prefix_hashes.len() as u64;
                // The last, shorter block has a number in some recordings and none in others.
                row.input_tokens.div_ceil(tokens) == blocks || row.input_tokens / tokens == blocks
            })
        };
        // The largest: one long prompt tells sizes apart, many short ones may not.
        (0..=LARGEST_BLOCK_POWER).rev().map(|power| 1 << power).find(|&tokens| fits(tokens))
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
    trace.notes.extend(on_what_is_shared(&trace));
    Ok(trace)
}

/// What becomes of blocks that prompts share, and of conversations.
fn on_what_is_shared(trace: &ImportedTrace) -> Vec<String> {
    let mut notes = Vec::new();
    if trace.rows.iter().any(|row| !row.prefix_hashes.is_empty()) {
        notes.push(match trace.tokens_per_block() {
            Some(tokens) => format!(
                "Its prompts share blocks of {tokens} tokens. A prefix cache finds them again \
                 (sched.rules=vllm-0.33 and sched.prefix_caching=on); otherwise each prompt is computed whole."
            ),
            None => "Its prompts share blocks, but of no one size, so that each prompt is computed whole."
                .to_owned(),
        });
    }
    if trace.rows.iter().any(|row| row.session.is_some()) {
        notes.push(
            "Which requests follow each other in a conversation is not replayed: each request counts \
             for itself."
                .to_owned(),
        );
    }
    notes
}
