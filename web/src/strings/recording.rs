//! What is said of recordings.

use protocol::{Lengths, Recording};
use quantity::{NARROW_SPACE, count, counted, duration, number, rate};

pub(crate) const RECORDING: &str = "Recorded traffic";
pub(crate) const NO_RECORDING: &str = "none";
pub(crate) const CHOOSE_FILE: &str = "Choose a trace, or drop it here";
pub(crate) const CHOOSE_HELP: &str = "A table with arrival, prompt and answer columns, an Azure or \
     Mooncake trace, or JSON lines, packed with gzip or not. It stays in this browser.";
pub(crate) const READER_NOT_LOADED: &str =
    "What reads files could not be loaded. Look at the connection, then choose the file again.";
pub(crate) const TOO_MUCH_TO_READ: &str = "The file was too much for the memory of this page, and the \
     calculation stopped. Keep a part of its lines.";
pub(crate) const RECORDED_AT: &str = "Counts as recorded at";
pub(crate) const RECORDED_AT_SPOKEN: &str = "Counts as recorded at, requests per second";
pub(crate) const SAVE_FILE: &str = "Save as file";
pub(crate) const REMOVE_RECORDING: &str = "Remove";
pub(crate) const HOW_IT_WAS_READ: &str = "How it was read";
pub(crate) const ROWS_LEFT_OUT: &str = "Rows left out";
pub(crate) const UNDERSTOOD: &str = "What was understood of the recording";
pub(crate) const NOT_IN_LINKS: &str = "A recording is not part of links.";

/// “azure.csv, 19,366 requests”.
pub(crate) fn recording_summary(name: &str, requests: u64) -> String {
    format!("{name}, {}", counted(requests, "request", "requests"))
}

/// “azure.csv: choose it again”.
pub(crate) fn recording_lost(name: &str) -> String {
    [name, ": choose it again"].concat()
}

/// After a reload, which has lost the file.
pub(crate) fn choose_again(name: &str) -> String {
    [
        "The recording ",
        name,
        " went with the page that had it. Choose the file again under Recorded traffic; until then \
         requests are drawn as set here.",
    ]
    .concat()
}

/// “Reading azure.csv…”.
pub(crate) fn reading(name: &str) -> String {
    format!("Reading {name}…")
}

/// “azure.csv: 19,366 requests take the place of arrivals, lengths and classes.”
pub(crate) fn recording_taken(name: &str, requests: u64) -> String {
    format!(
        "{name}: {} in place of arrivals, lengths and classes.",
        counted(requests, "request", "requests")
    )
}

/// In the place of the controls of lengths.
pub(crate) fn recorded_lengths(recording: &Recording) -> String {
    let Recording { name, input, output, .. } = recording;
    format!(
        "From {name}: {} in and {} out on average.",
        quantity::tokens(input.mean),
        quantity::tokens(output.mean)
    )
}

/// “This scenario is too big for a link (it holds a trace of 19,000 requests).”
pub(crate) fn too_big_for_link(requests: u64) -> String {
    format!(
        "This scenario is too big for a link (it holds a trace of {}).",
        counted(requests, "request", "requests")
    )
}

/// “Saved as azure.headroom.csv.”
pub(crate) fn saved_as(name: &str) -> String {
    format!("Saved as {name}. Drop it here to open it again.")
}

/// Names and values of what was understood.
pub(crate) fn recording_facts(recording: &Recording) -> [(&'static str, String); 6] {
    [
        ("Format", recording.format.clone()),
        ("Requests", count(recording.requests)),
        ("Time span", duration(recording.span_s)),
        ("Mean rate", rate(recording.mean_rate_per_s)),
        ("Prompt", lengths(&recording.input)),
        ("Answer", lengths(&recording.output)),
    ]
}

fn lengths(lengths: &Lengths) -> String {
    format!(
        "{} on average; P50 {}, P99 {}, longest {}",
        quantity::tokens(lengths.mean),
        count(lengths.p50),
        count(lengths.p99),
        count(lengths.max)
    )
}

/// How the gaps between arrivals are spread.
pub(crate) fn burstiness_of(gap_cv: f64) -> String {
    let like = if gap_cv < 0.7 {
        "more even than independent users"
    } else if gap_cv > 1.3 {
        "burstier than independent users"
    } else {
        "as of independent users"
    };
    format!("Gaps between arrivals vary by {} times their mean: {like}.", number(gap_cv))
}

/// What the rate of the scenario makes of the recording.
pub(crate) fn replayed(rate_per_s: f64, recorded_per_s: f64) -> String {
    format!(
        "For {} on all GPUs the same requests come {} times as fast, shared among the GPUs.",
        rate(rate_per_s),
        number(rate_per_s / recorded_per_s)
    )
}

/// That the longest requests are longer than the model takes.
pub(crate) fn beyond_context(largest: u64, context_tokens: u64) -> String {
    format!(
        "The largest request has {} tokens, more than the {} that this model takes. Choose a model \
         with a longer context, or cut such rows.",
        count(largest),
        count(context_tokens)
    )
}

/// What was typed as the rate of a recording is none.
pub(crate) fn no_recorded_rate(text: &str, recorded_per_s: f64) -> String {
    format!(
        "“{text}” is no rate above 0. Give for example 5{NARROW_SPACE}req/s. Still using {}.",
        rate(recorded_per_s)
    )
}
