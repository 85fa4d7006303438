//! Other people's files, to typed observations.
//!
//! ```text
//!   bytes ──text──▶ lines ──table, json──▶ raw rows ──trace──▶ ImportedTrace ──▶ sim_core::Trace
//!                                               └────servegen──▶ rates, clients, lengths
//! ```
//!
//! A file says what it is by what is in it, never by its name. Nothing that a file holds makes this
//! crate panic, and nothing is passed over in silence: a line that cannot be used is counted and
//! the first few are kept with the reason; whatever is read otherwise than written is a note.

mod alias;
mod clock;
mod count;
mod error;
pub mod servegen;
mod table;
mod text;
pub mod trace;

pub use error::ImportError;
