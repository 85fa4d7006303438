//! Standard output, standard error and files, without a panic when a reader goes away.

use std::{
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

use crate::failure::Failure;

/// Write a result to standard output. A closed pipe (`headroom … | head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::Io { what: "writing to standard output".to_owned(), error }),
        Ok(()) => Ok(()),
    }
}

/// Write a file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::writing(path, error))
}

/// Tell what went wrong.
pub(crate) fn complain(message: &str) {
    to_stderr(&format!("error: {message}\n"));
}

/// Tell what was not taken as written.
pub(crate) fn note(message: &str) {
    to_stderr(&format!("note: {message}\n"));
}

/// Write to standard error. There is nobody left to tell if that fails.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A clause as the end of a sentence: with a full stop, unless it asks something.
pub(crate) fn sentence(clause: &str) -> String {
    let ends = clause.ends_with(['.', '?', '!']);
    if ends { clause.to_owned() } else { [clause, "."].concat() }
}

/// Exit code of an answer that was printed.
pub(crate) fn code(is_possible: bool) -> ExitCode {
    if is_possible { ExitCode::SUCCESS } else { ExitCode::from(crate::failure::IMPOSSIBLE) }
}
