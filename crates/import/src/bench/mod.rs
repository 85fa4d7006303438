//! Results of load tests: how fast a server answered, at one load or at several.
//!
//! | tool | told by | times |
//! |---|---|---|
//! | `vllm bench serve`, and its sweeps | `total_input_tokens` beside `mean_ttft_ms`, or `mean_ttft` in seconds | ms, or s without `_ms` |
//! | SGLang's `bench_serving` | the same with `mean_e2e_latency_ms`, one object a line | ms |
//! | GuideLLM 0.3 to 0.8 | `benchmarks` with `metrics` | ms, the whole request in s |
//! | AIPerf, GenAI-Perf | metrics with `unit` and `avg` | as each says |
//! | inference-perf | `load_summary` beside `successes` | s |
//! | llmperf | `results_ttft_s_mean` and the like, or its list of responses | s |
//! | a table | columns for TTFT or TPOT, and a load | as the columns say |
//!
//! What a tool calls by one name another calls by another, so that everything is turned into one meaning
//! here: TTFT from sending a request to its first token; TPOT from the first token to the last, divided by
//! the tokens after the first; end to end from sending to the last token. Where a file's TPOT means something
//! else, as that of llmperf, which includes the first token, it is worked out from the other two.

mod aiperf;
mod check;
mod flat;
mod guidellm;
mod inference_perf;
mod llmperf;
mod table;

use serde_json::Value;

use crate::{
    error::{ImportError, file_label, listed},
    json::{self, Object},
    text,
    trace::Skipped,
};

/// The largest part of a key or a name that is kept.
const LONGEST_NAME: usize = 120;
/// Points that one file may hold.
const MOST_POINTS: usize = 20_000;

/// What made a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchmarkFormat {
    /// `vllm bench serve`.
    VllmBench,
    /// SGLang's `bench_serving`.
    SglangBench,
    /// GuideLLM.
    GuideLlm,
    /// AIPerf or GenAI-Perf.
    Aiperf,
    /// inference-perf.
    InferencePerf,
    /// llmperf.
    Llmperf,
    /// A table with named columns.
    Table,
}

impl BenchmarkFormat {
    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VllmBench => "vllm bench serve",
            Self::SglangBench => "SGLang bench_serving",
            Self::GuideLlm => "GuideLLM",
            Self::Aiperf => "AIPerf",
            Self::InferencePerf => "inference-perf",
            Self::Llmperf => "llmperf",
            Self::Table => "table",
        }
    }
}

/// How requests were sent.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Load {
    /// So many in flight all the time, the next sent when one is answered.
    InFlight(u64),
    /// So many per second, whatever became of the others.
    PerSecond(f64),
    /// All at once.
    AtOnce(u64),
    /// The file does not tell.
    #[default]
    Untold,
}

/// How the gaps of a rate were spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gaps {
    /// All the same.
    Even,
    /// Independent users.
    Poisson,
    /// Gamma with this shape: burstier below one.
    Gamma(f64),
}

/// One measured time, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Mean over requests.
    pub mean_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// Ninetieth percentile.
    pub p90_s: Option<f64>,
    /// Ninety-ninth percentile.
    pub p99_s: Option<f64>,
}

impl Times {
    /// The mean; where it is not told, the median.
    #[must_use]
    pub fn typical_s(&self) -> Option<f64> {
        self.mean_s.or(self.p50_s)
    }

    const fn all_mut(&mut self) -> [&mut Option<f64>; 4] {
        [&mut self.mean_s, &mut self.p50_s, &mut self.p90_s, &mut self.p99_s]
    }

    fn scale(&mut self, factor: f64) {
        for value in self.all_mut().into_iter().flatten() {
            *value *= factor;
        }
    }

    /// Zero stands for what was not measured, and no time is negative.
    fn keep_positive(&mut self) {
        for slot in self.all_mut() {
            *slot = slot.filter(|value| value.is_finite() && *value > 0.0);
        }
    }
}

/// A server at one load, as a client saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredPoint {
    /// What tells it from the others: its place in the file, its load.
    pub name: String,
    /// How requests were sent.
    pub load: Load,
    /// How the gaps of a rate were spread; `None` where that is not told.
    pub gaps: Option<Gaps>,
    /// Requests that were answered.
    pub completed: Option<u64>,
    /// Requests that were not.
    pub failed: u64,
    /// From the first request to the last answer, seconds.
    pub duration_s: Option<f64>,
    /// Mean prompt, tokens.
    pub input_tokens: Option<f64>,
    /// Mean output, tokens.
    pub output_tokens: Option<f64>,
    /// From sending to the first token.
    pub ttft: Times,
    /// From the first token to the last, per token after the first.
    pub tpot: Times,
    /// From sending to the last token.
    pub e2e: Times,
    /// Requests answered per second.
    pub requests_per_s: Option<f64>,
    /// Tokens of output per second.
    pub output_tokens_per_s: Option<f64>,
    /// What else the file says of it: model, settings of a sweep.
    pub settings: Vec<(String, String)>,
}

/// Share of a rate below which a server did not keep up with it.
const KEPT_UP: f64 = 0.95;

impl MeasuredPoint {
    /// Whether more came than was answered: what was measured then tells how long the test was.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        match (self.load, self.requests_per_s) {
            (Load::PerSecond(asked), Some(done)) => done < KEPT_UP * asked,
            _ => false,
        }
    }

    /// A setting by its name.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        let cut = |text: &str| text.chars().take(LONGEST_NAME).collect::<String>();
        self.settings.push((cut(name), cut(&value.into())));
    }
}

/// What was read of a load test.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// What made it.
    pub format: BenchmarkFormat,
    /// In the order of the file; at least one.
    pub points: Vec<MeasuredPoint>,
    /// The first points that are not used, with the reason.
    pub skipped: Vec<Skipped>,
    /// How many are not used.
    pub skipped_total: usize,
    /// Whole sentences on how the file was read.
    pub notes: Vec<String>,
}

/// Read results of a load test. `name_hint` is the file's name and is used in messages only.
///
/// # Errors
/// The bytes are no text, no known format, or no request was answered.
pub fn read(name_hint: Option<&str>, bytes: &[u8]) -> Result<Benchmark, ImportError> {
    let file = file_label(name_hint);
    let decoded = text::decode(&file, bytes)?;
    let mut found = read_text(&file, &decoded.text)?;
    found.notes.splice(0..0, decoded.notes);
    Ok(found)
}

pub(crate) fn read_text(file: &str, text: &str) -> Result<Benchmark, ImportError> {
    let gathered = if text.trim_start().starts_with(['{', '[']) {
        from_documents(file, &json::documents(file, text)?)?
    } else {
        table::read(file, text)?
    };
    gathered.finish(file)
}

/// “16 in flight”, “2.5 req/s”.
fn load_name(load: Load) -> String {
    match load {
        Load::InFlight(count) => format!("{} in flight", quantity::count(count)),
        Load::PerSecond(rate) => quantity::rate(rate),
        Load::AtOnce(count) => format!("{} at once", quantity::count(count)),
        Load::Untold => "load untold".to_owned(),
    }
}

/// Points as they are found, before they are checked together.
struct Gathered {
    format: BenchmarkFormat,
    points: Vec<(u64, MeasuredPoint)>,
    skipped: Vec<Skipped>,
    skipped_total: usize,
    notes: Vec<String>,
    /// Whether the names of times say milliseconds, which some tools write above seconds.
    may_be_seconds: bool,
    /// What points are counted in: `line` or `item`.
    place: &'static str,
}

impl Gathered {
    const fn new(format: BenchmarkFormat, place: &'static str) -> Self {
        Self {
            format,
            points: Vec::new(),
            skipped: Vec::new(),
            skipped_total: 0,
            notes: Vec::new(),
            may_be_seconds: false,
            place,
        }
    }

    fn skip(&mut self, line: u64, reason: String) {
        self.skipped_total += 1;
        if self.skipped.len() < crate::trace::SKIPPED_KEPT {
            self.skipped.push(Skipped { line, reason });
        }
    }

    fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }
}

/// Tell what documents are by what is in them.
fn from_documents(file: &str, documents: &[(u64, Value)]) -> Result<Gathered, ImportError> {
    // A list is of runs, as sweeps write it, or of single answers.
    let items: Vec<(u64, &Object)> = match documents {
        [(_, Value::Array(items))] => {
            items.iter().zip(1..).filter_map(|(item, at)| Some((at, item.as_object()?))).collect()
        }
        lines => lines.iter().filter_map(|(at, it)| Some((*at, it.as_object()?))).collect(),
    };
    let is_list = matches!(documents, [(_, Value::Array(_))]) || documents.len() == 1;
    let place = if is_list { "item" } else { "line" };
    let Some((_, first)) = items.first() else { return Err(unknown(file, &Object::new())) };
    if items.len() > MOST_POINTS && !llmperf::is_response(first) {
        return Err(ImportError::TooManyValues { file: file.to_owned(), most: MOST_POINTS as u64 });
    }
    if let Some(error) = another_kind(file, first) {
        return Err(error);
    }
    if guidellm::is_report(first) {
        guidellm::read(file, first)
    } else if guidellm::is_record(first) {
        Ok(guidellm::records(&items))
    } else if inference_perf::is_stage(first) {
        inference_perf::read(file, &items)
    } else if llmperf::is_summary(first) {
        Ok(llmperf::summaries(&items))
    } else if llmperf::is_response(first) {
        llmperf::responses(file, &items)
    } else if aiperf::is_profile(first) {
        Ok(aiperf::read(&items))
    } else if flat::is_run(first) {
        Ok(flat::read(&items, place))
    } else {
        Err(unknown(file, first))
    }
}

/// Files that are near a load test and still none.
fn another_kind(file: &str, object: &Object) -> Option<ImportError> {
    let file = file.to_owned();
    if object.contains_key("metadata") && object.contains_key("metrics") {
        let what = "AIPerf’s single requests (profile_export.jsonl)";
        let remedy = "choose profile_export_aiperf.json beside it, which has the load, too; or \
                      replay the requests as a trace";
        return Some(ImportError::AnotherKind { file, what, remedy });
    }
    if object.contains_key("model_type") && object.contains_key("architectures") {
        let what = "a model’s config.json";
        let remedy = "give it to headroom memory --config";
        return Some(ImportError::AnotherKind { file, what, remedy });
    }
    None
}

fn unknown(file: &str, object: &Object) -> ImportError {
    let names: Vec<&String> = object.keys().collect();
    ImportError::NoBenchmark { file: file.to_owned(), found: listed(&names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_falls_behind_is_overloaded() {
        let point = |load, done| MeasuredPoint {
            load,
            requests_per_s: Some(done),
            ..MeasuredPoint::default()
        };
        assert!(point(Load::PerSecond(10.0), 9.0).is_overloaded());
        assert!(!point(Load::PerSecond(10.0), 9.9).is_overloaded());
        assert!(!point(Load::InFlight(100), 0.1).is_overloaded());
    }
}
