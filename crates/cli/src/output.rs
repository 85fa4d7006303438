//! Standard output, standard error and files, without a panic when a reader goes away.

use std::{
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

use scenario::Notice;

use crate::{failure::Failure, input};

/// Write a result to standard output. A closed pipe (`headroom … | head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::Io { what: "writing to standard output".to_owned(), error }),
        Ok(()) => Ok(()),
    }
}

/// How a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Sentences and tables, for people.
    Text,
    /// One object.
    Json,
    /// Rows.
    Csv,
}

impl Form {
    /// By the options for the other two.
    pub(crate) const fn of(is_json: bool, is_csv: bool) -> Self {
        match (is_json, is_csv) {
            (true, _) => Self::Json,
            (_, true) => Self::Csv,
            _ => Self::Text,
        }
    }
}

/// Write an answer, first of all what of its scenario was not taken as written: above the text, as
/// `notices` of the object, and beside rows on standard error.
pub(crate) fn print_answer(form: Form, text: &str, notices: &[Notice]) -> Result<(), Failure> {
    let lines = || notices.iter().map(|notice| noted(&input::named(notice, &notice.message)));
    match form {
        Form::Text if notices.is_empty() => print(text),
        Form::Text => print(&format!("{}\n{text}", lines().collect::<String>())),
        Form::Json => {
            lines().for_each(|line| to_stderr(&line));
            print(&report::json_with_notices(text, notices))
        }
        Form::Csv => {
            lines().for_each(|line| to_stderr(&line));
            print(text)
        }
    }
}

/// Write a file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::writing(path, error))
}

/// Tell what went wrong.
pub(crate) fn complain(message: &str) {
    to_stderr(&format!("error: {}\n", quantity::visible(message)));
}

/// Tell what was not taken as written.
pub(crate) fn note(message: &str) {
    to_stderr(&noted(message));
}

/// “note: …”, a line.
fn noted(message: &str) -> String {
    format!("note: {}\n", quantity::visible(message))
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
