//! Recordings: read, replayed and written.
//!
//! A page loads what is in here only when somebody brings a recording: the ways here are doors, which
//! must stay functions of their own.

use std::{fmt::Write as _, sync::Arc};

use import::trace::{ImportedTrace, LengthSummary};
use planner::Plan;
use protocol::{Lengths, Question, Recording, Saved};
use quantity::Unit;
use sim_core::Trace;

/// Most bytes of a file that are taken into memory: beyond it no text of a trace would be, either.
pub(crate) const MOST_BYTES: f64 = (256 << 20) as f64;
/// What a file that a page saved begins with.
const SAVED: &str = "# headroom recorded=";
/// Header of the table under it.
const HEADER: &str = "arrival_s,input_tokens,output_tokens";

/// What was made of a file.
pub(crate) struct Taken {
    /// Its requests, if it is a recording.
    pub(crate) trace: Option<Arc<Trace>>,
    /// What a page has to know of it: a [`Recording`], or the reason why it is none.
    pub(crate) packed: Vec<u8>,
}

impl Taken {
    /// Packs what was read.
    pub(crate) fn of(read: Result<(Trace, Recording), String>) -> Self {
        match read {
            Ok((trace, recording)) => {
                Self { trace: Some(Arc::new(trace)), packed: protocol::pack(&recording) }
            }
            Err(message) => Self { trace: None, packed: protocol::pack(&message) },
        }
    }
}

/// Reads the bytes of a file.
///
/// # Errors
/// What is wrong with it and what to change, in sentences.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<(Trace, Recording), String> {
    let imported =
        import::trace::read(Some(name), bytes).map_err(|error| sentence(&error.to_string()))?;
    let summary = imported.summary();
    let (Some(mean_rate_per_s), Some(gap_cv)) = (summary.mean_rate_per_s, summary.gap_cv) else {
        // Where lines cannot be used, what is left may be too little because of them.
        let refused = skipped(&imported).into_iter().next();
        return Err(match refused {
            Some(line) => format!(
                "“{name}”: what is left without the lines that cannot be used ({} of them) has no \
                 rate to scale. {line} Put them right.",
                quantity::count(imported.skipped.len() as u64)
            ),
            None => format!(
                "“{name}”: all its requests ({}) arrive at the same time, so there is no rate to \
                 scale. Give them times that differ.",
                quantity::count(summary.requests)
            ),
        });
    };
    let trace = imported.to_trace().map_err(|error| sentence(&error.to_string()))?;
    let recording = Recording {
        name: name.to_owned(),
        format: imported.format.name().to_owned(),
        requests: summary.requests,
        span_s: summary.span_s,
        mean_rate_per_s,
        gap_cv,
        input: lengths(summary.input_tokens),
        output: lengths(summary.output_tokens),
        largest_request_tokens: trace.largest_request_tokens(),
        saved: saved(bytes),
        skipped: skipped(&imported),
        notes: imported.notes,
    };
    Ok((trace, recording))
}

const fn lengths(summary: LengthSummary) -> Lengths {
    let LengthSummary { mean, p50, p99, max } = summary;
    Lengths { mean, p50, p99, max }
}

fn skipped(imported: &ImportedTrace) -> Vec<String> {
    let told = |row: &import::trace::Skipped| format!("Line {}: {}.", row.line, row.reason);
    imported.skipped.iter().map(told).collect()
}

/// What a page wrote above the table, if one did.
fn saved(bytes: &[u8]) -> Option<Saved> {
    let line = bytes.strip_prefix(SAVED.as_bytes())?.split(|&byte| byte == b'\n').next()?;
    let (rate, link) = std::str::from_utf8(line).ok()?.trim_end().split_once('&')?;
    let recorded_per_s = quantity::parse(rate, Unit::RequestsPerSecond).ok()?;
    (recorded_per_s > 0.0).then(|| Saved { link: link.to_owned(), recorded_per_s })
}

/// A message as a sentence: it begins and ends as one.
pub(crate) fn sentence(message: &str) -> String {
    let mut sentence = message.to_owned();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !message.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// The question how many GPUs serve a recording; a door.
#[inline(never)]
pub(crate) fn plan(question: &Question, trace: &Arc<Trace>, recorded_per_s: f64) -> Plan {
    plan_late(question, trace, recorded_per_s)
}

#[inline(never)]
fn plan_late(question: &Question, trace: &Arc<Trace>, recorded_per_s: f64) -> Plan {
    Plan::replaying(&question.resolved(), Arc::clone(trace), recorded_per_s)
}

/// A recording as a table, with the link of a scenario, and the rate at which it counts as recorded,
/// in a comment above it. Whatever reads tables of requests reads it, too.
pub(crate) fn write(trace: &Trace, link: &str) -> String {
    let mut text = [SAVED, link, "\n", HEADER, "\n"].concat();
    for row in trace.rows() {
        // A string takes whatever is written to it.
        let _ = writeln!(text, "{},{},{}", row.arrival_s, row.input_tokens, row.output_tokens);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "arrival_s,input_tokens,output_tokens\n0.5,100,20\n2.5,300,40\n1.5,x,1\n";

    fn refusal(bytes: &[u8]) -> String {
        read("a.csv", bytes).expect_err("no recording")
    }

    #[test]
    fn what_was_understood_is_told() {
        let (trace, recording) = read("a.csv", TABLE.as_bytes()).expect("a recording");
        assert_eq!(trace.rows().len(), 2);
        assert_eq!((recording.requests, recording.span_s), (2, 2.0));
        assert_eq!((recording.mean_rate_per_s, recording.largest_request_tokens), (0.5, 340));
        assert_eq!((recording.input.mean, recording.output.max), (200.0, 40));
        assert_eq!(recording.saved, None);
        let [line] = &recording.skipped[..] else { panic!("{:?}", recording.skipped) };
        assert!(line.starts_with("Line 4: input_tokens is “x”"), "{line}");
        assert!(recording.notes.iter().any(|note| note.starts_with("1 of 3 rows left out")));
    }

    #[test]
    fn what_prompts_share_is_told_and_kept() {
        let bytes =
            include_bytes!("../../../tests/golden/traces/mooncake_synthetic_first150.jsonl");
        let (trace, recording) = read("m.jsonl", bytes).expect("a recording");
        assert_eq!((trace.rows().len(), recording.format.as_str()), (150, "Mooncake trace"));
        let is_told = |recording: &Recording| {
            recording.notes.iter().any(|note| note.contains("share blocks of 512 tokens"))
        };
        assert!(is_told(&recording), "{:?}", recording.notes);
        let blocks = trace.blocks().expect("its prompts share some");
        assert_eq!((blocks.tokens_per_block, blocks.of_row.len()), (512, 150));
        let (_, plain) = read("a.csv", TABLE.as_bytes()).expect("a recording");
        assert!(!is_told(&plain));
    }

    #[test]
    fn a_saved_recording_comes_back_with_its_scenario() {
        let (trace, _) = read("a.csv", TABLE.as_bytes()).expect("a recording");
        let text = write(&trace, "1.25&v=1&rate=40&ttft=500ms");
        let (again, recording) = read("b.csv", text.as_bytes()).expect("a recording");
        assert_eq!(again, trace);
        let expected = Saved { link: "v=1&rate=40&ttft=500ms".to_owned(), recorded_per_s: 1.25 };
        assert_eq!(recording.saved, Some(expected));
        assert!(recording.skipped.is_empty());
    }

    #[test]
    fn hostile_files_end_in_sentences() {
        let binary: Vec<u8> =
            (0..4_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let zipped = b"PK\x03\x04rest".to_vec();
        let cut = b"\x1f\x8b\x08\0\0\0\0\0cut".to_vec();
        let same = b"arrival_s,input_tokens,output_tokens\n1,5,5\n1,5,5\n".to_vec();
        for bytes in [Vec::new(), b" \n".to_vec(), binary, zipped, cut, same, b"{\"a\":".to_vec()] {
            let said = refusal(&bytes);
            assert!(said.ends_with('.') && said.len() > 40, "{said}");
            assert!(said.contains("a.csv"), "{said}");
        }
        assert!(refusal(b"a,b\n1,2\n").contains("arrival"));
    }
}
