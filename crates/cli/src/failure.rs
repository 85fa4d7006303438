//! Why a command gives no result, and the exit code that says so.

use std::{fmt, io, path::Path};

/// The scenario has no answer: the target cannot be met, or the model does not fit.
pub(crate) const IMPOSSIBLE: u8 = 1;
/// Something that was typed or read cannot be used.
pub(crate) const BAD_INPUT: u8 = 2;
/// A file or stream could not be read or written.
pub(crate) const IO_ERROR: u8 = 3;

/// Why a command gives no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad input: field, value and remedy in words.
    Input(String),
    /// The operating system refused.
    Io {
        /// What was tried: “reading trace.csv”.
        what: String,
        /// What it said.
        error: io::Error,
    },
}

impl Failure {
    /// Bad input.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input(message.into())
    }

    /// Reading a file failed.
    pub(crate) fn reading(path: &Path, error: io::Error) -> Self {
        Self::Io { what: format!("reading {}", path.display()), error }
    }

    /// Writing a file failed.
    pub(crate) fn writing(path: &Path, error: io::Error) -> Self {
        Self::Io { what: format!("writing {}", path.display()), error }
    }

    /// The exit code.
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Input(_) => BAD_INPUT,
            Self::Io { .. } => IO_ERROR,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) => f.write_str(message),
            Self::Io { what, error } => write!(f, "{what} failed: {error}"),
        }
    }
}

impl From<sim_core::SetupError> for Failure {
    fn from(error: sim_core::SetupError) -> Self {
        Self::input(error.to_string())
    }
}
