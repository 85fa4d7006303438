//! What makes a whole file unusable, and the wording of messages.

/// A file that cannot be used, with what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Nothing but blanks.
    #[error("{file} is empty; choose a file with a header line and at least one row")]
    Empty {
        /// The file, as shown to people.
        file: String,
    },
    /// Packed or encoded in a way that is not read here.
    #[error("{file} is {what}; {remedy}")]
    Unreadable {
        /// The file, as shown to people.
        file: String,
        /// What it seems to be.
        what: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A gzip file that does not unpack.
    #[error(
        "{file} is a gzip file that cannot be unpacked ({problem}); copy or download it again, \
         or unpack it first"
    )]
    BrokenGzip {
        /// The file, as shown to people.
        file: String,
        /// What the unpacker says.
        problem: String,
    },
    /// More than would fit the memory of a page.
    #[error("{file} holds more than {limit_mib} MiB of text; keep a part of its lines")]
    TooLarge {
        /// The file, as shown to people.
        file: String,
        /// The most that is read.
        limit_mib: u64,
    },
    /// JSON that does not parse.
    #[error("{file}, line {line}, column {column}: not valid JSON ({problem}); {remedy}")]
    BrokenJson {
        /// The file, as shown to people.
        file: String,
        /// One-based line.
        line: usize,
        /// One-based column, counted in bytes.
        column: usize,
        /// What the parser says.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// No column, or no key, has a needed name.
    #[error("{file}, line {line}: no {kind} for {missing}; it has {found}. {remedy}")]
    MissingColumns {
        /// The file, as shown to people.
        file: String,
        /// One-based line of the nearest thing to a header.
        line: u64,
        /// `column` or `key`.
        kind: &'static str,
        /// What is missing.
        missing: String,
        /// What there is.
        found: String,
        /// What to do about it.
        remedy: String,
    },
    /// A known kind of file, but not the one that was asked for.
    #[error("{file} holds {what}; {remedy}")]
    AnotherKind {
        /// The file, as shown to people.
        file: String,
        /// What it holds.
        what: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// JSON, but of nothing that is known.
    #[error(
        "{file} is no result of a load test that is known: its keys are {found}. Known are vllm bench serve, \
         SGLang’s bench_serving, GuideLLM, AIPerf, inference-perf and llmperf, and tables with columns such \
         as concurrency,input_tokens,output_tokens,ttft_ms,tpot_ms"
    )]
    NoBenchmark {
        /// The file, as shown to people.
        file: String,
        /// What there is.
        found: String,
    },
    /// A load test in which nothing was answered.
    #[error(
        "{file}: none of its {} requests was answered, so that it measures nothing; look for the reason in \
         the server’s log and measure again", quantity::count(*failed)
    )]
    AllFailed {
        /// The file, as shown to people.
        file: String,
        /// Requests that failed.
        failed: u64,
    },
    /// More than a result of a load test has.
    #[error(
        "{file} holds more than {} values, which no result of a load test has; save it without single requests", quantity::count(*most)
    )]
    TooManyValues {
        /// The file, as shown to people.
        file: String,
        /// The most that are read.
        most: u64,
    },
    /// A log that tells nothing about memory or versions.
    #[error(
        "{file} has none of the lines of a vLLM start-up that tell its version, its weights or its KV cache; \
         give the whole log, from the first line of the start"
    )]
    NoStartUp {
        /// The file, as shown to people.
        file: String,
    },
    /// A header with nothing under it.
    #[error("{file} has a header and no row under it; add at least one")]
    NoRows {
        /// The file, as shown to people.
        file: String,
    },
    /// A header with nothing usable under it.
    #[error("{file}: none of its rows ({}) can be used; the first is {place}: {reason}", quantity::count(*rows as u64))]
    NothingUsable {
        /// The file, as shown to people.
        file: String,
        /// Rows under the header.
        rows: usize,
        /// Place of the first bad row, for example `line 2`.
        place: String,
        /// Why it cannot be used, and what would be right.
        reason: String,
    },
    /// A value in a table that is used whole or not at all.
    #[error("{file}, line {line}: {reason}")]
    BadValue {
        /// The file, as shown to people.
        file: String,
        /// One-based line.
        line: u64,
        /// Column, value and remedy.
        reason: String,
    },
}

/// A file's name for the start of a sentence.
pub(crate) fn file_label(name_hint: Option<&str>) -> String {
    match name_hint {
        Some(name) if !name.trim().is_empty() => quoted(name.trim()),
        _ => "This file".to_owned(),
    }
}

/// A text in quotation marks, fit for a sentence: one line, and not too long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let head: String = text.chars().take(LONGEST).collect();
    let mut shown = quantity::visible(&head);
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("“{shown}”")
}

/// A few names, quoted and separated by commas.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 12;
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut shown: Vec<String> =
        names.iter().take(MOST).map(|name| quoted(name.as_ref())).collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_kept_on_one_line() {
        assert_eq!(quoted("a\nb\u{1b}[2J"), "“a\\u{a}b\\u{1b}[2J”");
        assert_eq!(quoted(&"x".repeat(50)).chars().count(), 43);
        assert_eq!(listed::<&str>(&[]), "none");
        assert!(listed(&["a"; 20]).ends_with("“a”, 8 more"));
    }

    #[test]
    fn a_file_without_a_name_is_this_file() {
        assert_eq!(file_label(None), "This file");
        assert_eq!(file_label(Some("  ")), "This file");
        assert_eq!(file_label(Some("a.csv")), "“a.csv”");
    }
}
