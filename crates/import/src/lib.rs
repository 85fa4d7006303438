//! Other people's files, to typed observations.
//!
//! ```text
//!   bytes ──text──▶ lines ──table, json──▶ raw rows ──trace──▶ ImportedTrace ──▶ sim_core::Trace
//!                                               └────servegen──▶ rates, clients, lengths
//!   bytes ──text──▶ json, tables ──bench──▶ a server at several loads
//!                 └▶ lines ──engine_log──▶ what an engine said of itself when it started
//! ```
//!
//! A file says what it is by what is in it, never by its name. Nothing that a file holds makes this
//! crate panic, and nothing is passed over in silence: a line that cannot be used is counted and
//! the first few are kept with the reason; whatever is read otherwise than written is a note.

mod alias;
pub mod bench;
mod clock;
mod count;
pub mod engine_log;
mod error;
mod json;
pub mod servegen;
mod table;
mod text;
pub mod trace;

use bench::Benchmark;
use engine_log::EngineLog;
pub use error::ImportError;

/// What a server told of itself, or what a client measured of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// The log of an engine's start.
    Log(Box<EngineLog>),
    /// The result of a load test.
    Benchmark(Benchmark),
}

/// Read a start-up log or the result of a load test, whichever it is. `name_hint` is the file's name and
/// is used in messages only.
///
/// # Errors
/// The bytes are no text, or neither of the two.
pub fn observe(name_hint: Option<&str>, bytes: &[u8]) -> Result<Observed, ImportError> {
    let file = error::file_label(name_hint);
    let decoded = text::decode(&file, bytes)?;
    if engine_log::is_log(&decoded.text) {
        return engine_log::read_text(&file, &decoded.text).map(|log| Observed::Log(Box::new(log)));
    }
    let mut found = bench::read_text(&file, &decoded.text)?;
    found.notes.splice(0..0, decoded.notes);
    Ok(Observed::Benchmark(found))
}
