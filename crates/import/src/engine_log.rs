//! The log of a vLLM server's start: versions, settings, and how it shared out the memory.
//!
//! Each rank of an engine logs for itself, in any order and between other lines; what differs from rank to
//! rank is taken from the tightest one. Lines go by what they say: every version has moved them to other files.

use crate::error::{ImportError, file_label};
use crate::text;

/// Lines of a log that are looked at.
const MOST_LINES: usize = 2_000_000;
/// Characters of a line that are looked at: progress bars are rewritten in place.
const LONGEST_LINE: usize = 20_000;
/// How much of a text tells whether it is a log.
const LOOKED_AT: usize = 400_000;

/// What an engine said of itself. Sizes are in GiB, as logged, for each GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineLog {
    /// Version of vLLM, as in `0.19.0`.
    pub version: Option<String>,
    /// The model, as it was asked for.
    pub model: Option<String>,
    /// GPUs that share each layer.
    pub tp: Option<u64>,
    /// Stages of a pipeline.
    pub pp: Option<u64>,
    /// Copies of the attention layers.
    pub dp: Option<u64>,
    /// Format of the weights where it is not the checkpoint's own.
    pub quantization: Option<String>,
    /// Format of keys and values: `auto`, `fp8` …
    pub kv_cache_dtype: Option<String>,
    /// Longest request, tokens.
    pub max_model_len: Option<u64>,
    /// Tokens of a step.
    pub max_num_batched_tokens: Option<u64>,
    /// Requests that run at once.
    pub max_num_seqs: Option<u64>,
    /// Share of the memory that it may take.
    pub gpu_memory_utilization: Option<f64>,
    /// Whether the KV cache is kept after use.
    pub prefix_caching: Option<bool>,
    /// Whether a step is scheduled while the one before it runs.
    pub asynchronous: Option<bool>,
    /// Memory of a GPU.
    pub gpu_memory_gib: Option<f64>,
    /// Weights.
    pub weights_gib: Option<f64>,
    /// Most that a step's activations took.
    pub peak_activation_gib: Option<f64>,
    /// What lies outside the memory that PyTorch counts.
    pub non_torch_gib: Option<f64>,
    /// CUDA graphs.
    pub cuda_graph_gib: Option<f64>,
    /// Room for the KV cache.
    pub kv_cache_gib: Option<f64>,
    /// “GPU KV cache size”, tokens.
    pub kv_cache_tokens: Option<u64>,
    /// “Maximum concurrency”: tokens of a request, and how many such requests fit.
    pub max_concurrency: Option<(u64, f64)>,
    /// Blocks, where they are logged.
    pub num_gpu_blocks: Option<u64>,
    /// Loading the model, seconds.
    pub load_s: Option<f64>,
    /// Profiling, cache and warm-up, seconds.
    pub init_s: Option<f64>,
    /// Why the start failed, in the log's own words.
    pub failure: Option<String>,
}

/// Whether a text is such a log.
pub(crate) fn is_log(text: &str) -> bool {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let head = &text[..end.unwrap_or(0)];
    let signs = [
        "vLLM API server version",
        "Initializing a V1 LLM engine",
        "Initializing an LLM engine",
        "GPU KV cache size:",
        "Available KV cache memory:",
        "Model loading took",
        "# GPU blocks:",
    ];
    !head.trim_start().starts_with(['{', '[']) && signs.iter().any(|sign| head.contains(sign))
        || head.contains("(EngineCore") && head.contains("INFO")
}

/// Read the log of a start. `name_hint` is the file's name and is used in messages only.
///
/// # Errors
/// The bytes are no text, or no line of a start is among them.
pub fn read(name_hint: Option<&str>, bytes: &[u8]) -> Result<EngineLog, ImportError> {
    let file = file_label(name_hint);
    let decoded = text::decode(&file, bytes)?;
    read_text(&file, &decoded.text)
}

pub(crate) fn read_text(file: &str, text: &str) -> Result<EngineLog, ImportError> {
    let mut log = EngineLog::default();
    for line in text.lines().take(MOST_LINES) {
        let end = (0..=LONGEST_LINE.min(line.len())).rev().find(|at| line.is_char_boundary(*at));
        log.line(&line[..end.unwrap_or(0)]);
    }
    let is_anything = log.weights_gib.is_some()
        || log.kv_cache_gib.is_some()
        || log.kv_cache_tokens.is_some()
        || log.num_gpu_blocks.is_some()
        || log.version.is_some();
    if is_anything { Ok(log) } else { Err(ImportError::NoStartUp { file: file.to_owned() }) }
}

impl EngineLog {
    fn line(&mut self, line: &str) {
        self.versions(line);
        if let Some(settings) =
            after(line, "non-default args:").or_else(|| after(line, "with config:"))
        {
            self.settings(settings);
        }
        self.memory(line);
        self.cache(line);
        self.times(line);
        self.failures(line);
        if line.contains("Asynchronous scheduling is enabled") {
            self.asynchronous = Some(true);
        }
        if let Some(tokens) = after(line, "max_num_batched_tokens=").and_then(whole) {
            self.max_num_batched_tokens = Some(tokens);
        }
    }

    fn versions(&mut self, line: &str) {
        let told = after(line, "vLLM API server version ")
            .or_else(|| after(line, "LLM engine (v"))
            .or_else(|| after(line, "█  version "));
        let version = told.map(|rest| {
            let is_of_it = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
            rest.trim_start().trim_start_matches('v').split(|c| !is_of_it(c)).next().unwrap_or("")
        });
        if let Some(version) = version.filter(|it| it.starts_with(|c: char| c.is_ascii_digit())) {
            self.version.get_or_insert_with(|| version.to_owned());
        }
    }

    /// `key=value, …` of a configuration, or `'key': value, …` of Python's arguments.
    fn settings(&mut self, text: &str) {
        let value = |keys: &[&str]| keys.iter().find_map(|key| setting(text, key));
        let number = |keys: &[&str]| value(keys).and_then(|it| whole(&it));
        let word = |keys: &[&str]| value(keys).filter(|it| it != "None" && !it.is_empty());
        put(&mut self.model, word(&["model", "model_tag"]));
        put(&mut self.tp, number(&["tensor_parallel_size"]));
        put(&mut self.pp, number(&["pipeline_parallel_size"]));
        put(&mut self.dp, number(&["data_parallel_size"]));
        put(&mut self.quantization, word(&["quantization"]));
        put(&mut self.kv_cache_dtype, word(&["kv_cache_dtype"]));
        put(&mut self.max_model_len, number(&["max_model_len", "max_seq_len"]));
        put(&mut self.max_num_batched_tokens, number(&["max_num_batched_tokens"]));
        put(&mut self.max_num_seqs, number(&["max_num_seqs"]));
        let share = value(&["gpu_memory_utilization"]).and_then(|it| decimal(&it));
        put(&mut self.gpu_memory_utilization, share.filter(|it| *it > 0.0 && *it <= 1.0));
        let caches = value(&["enable_prefix_caching"]);
        put(&mut self.prefix_caching, caches.map(|it| it == "True"));
        put(&mut self.num_gpu_blocks, number(&["num_gpu_blocks_override"]));
    }

    fn memory(&mut self, line: &str) {
        let gib = |mark: &str| after(line, mark).and_then(decimal).filter(|it| *it > 0.0);
        // Until the engine tells more exactly what it took, this is the weights.
        larger(&mut self.weights_gib, gib("Model loading took "));
        larger(&mut self.weights_gib, gib("weights memory: "));
        larger(&mut self.peak_activation_gib, gib("torch peak memory increase: "));
        larger(&mut self.non_torch_gib, gib("non-torch forward increase memory: "));
        if let Some(rest) = after(line, "Actual usage is ") {
            let part = |what: &str| rest.split(what).next().filter(|it| it.len() < rest.len());
            let last =
                |text: &str| decimal(text.rsplit([',', ' ']).find(|it| decimal(it).is_some())?);
            larger(&mut self.weights_gib, part(" GiB for weight").and_then(last));
            larger(&mut self.peak_activation_gib, part(" GiB for peak activation").and_then(last));
            larger(&mut self.non_torch_gib, part(" GiB for non-torch").and_then(last));
            larger(&mut self.cuda_graph_gib, part(" GiB for CUDAGraph").and_then(last));
        }
        if let Some((_, rest)) =
            after(line, "Free memory on device (").and_then(|it| it.split_once('/'))
        {
            put(&mut self.gpu_memory_gib, decimal(rest));
        }
        if line.contains("Graph capturing finished") {
            larger(&mut self.cuda_graph_gib, gib("took "));
            if let Some(took) = line.rsplit("took ").next().and_then(decimal) {
                larger(&mut self.cuda_graph_gib, Some(took).filter(|it| *it > 0.0));
            }
        }
        smaller(&mut self.kv_cache_gib, gib("Available KV cache memory: "));
    }

    fn cache(&mut self, line: &str) {
        if let Some(tokens) = after(line, "GPU KV cache size: ").and_then(whole) {
            let least = self.kv_cache_tokens.map_or(tokens, |known| known.min(tokens));
            self.kv_cache_tokens = Some(least);
        }
        if let Some(rest) = after(line, "Maximum concurrency for ") {
            let times = after(rest, "per request: ").and_then(decimal);
            if let (Some(tokens), Some(times)) = (whole(rest), times) {
                let is_tighter = self.max_concurrency.is_none_or(|known| times < known.1);
                if is_tighter {
                    self.max_concurrency = Some((tokens, times));
                }
            }
        }
        for mark in ["# GPU blocks: ", "num_gpu_blocks is: ", "num_gpu_blocks: "] {
            put(&mut self.num_gpu_blocks, after(line, mark).and_then(whole));
        }
    }

    fn times(&mut self, line: &str) {
        if let Some(rest) = after(line, "Model loading took ")
            && let Some((_, seconds)) = rest.split_once(" and ")
        {
            larger(&mut self.load_s, decimal(seconds));
        }
        if line.contains("init engine (") {
            larger(&mut self.init_s, after(line, ") took ").and_then(decimal));
        }
    }

    fn failures(&mut self, line: &str) {
        let signs = [
            "No available memory for the cache blocks",
            "is larger than the available KV cache memory",
            "is larger than the maximum number of tokens that can be stored in KV cache",
            "CUDA out of memory",
            "Engine core initialization failed",
            "is less than desired GPU memory utilization",
        ];
        if self.failure.is_none() && signs.iter().any(|sign| line.contains(sign)) {
            const LONGEST: usize = 300;
            let plain = line.rsplit("Error: ").next().unwrap_or(line).trim();
            self.failure = Some(plain.chars().take(LONGEST).collect());
        }
    }

    /// Tokens of a block, as far as both are known.
    #[must_use]
    pub fn blocks_of(&self, block_tokens: u64) -> Option<u64> {
        self.num_gpu_blocks.or_else(|| self.kv_cache_tokens.map(|it| it / block_tokens.max(1)))
    }
}

/// The rest of a line after a mark.
fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest)
}

/// A whole number at the start, with or without commas between thousands.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', '\'', '"']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    text[..end].replace(',', "").parse().ok()
}

/// A decimal number at the start.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', '\'', '"', '(']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok().filter(|number: &f64| number.is_finite())
}

/// The value of a key, as Python prints it, without its quotes.
fn setting(text: &str, key: &str) -> Option<String> {
    let quoted = ["'", key, "': "].concat();
    let rest = after(text, &quoted).or_else(|| {
        let plain = [key, "="].concat();
        let starts = text.match_indices(&plain).map(|(at, _)| at);
        let is_whole = |at: &usize| {
            text[..*at].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
        };
        starts.into_iter().find(is_whole).map(|at| &text[at + plain.len()..])
    })?;
    let rest = rest.trim_start();
    let value = match rest.chars().next()? {
        mark @ ('\'' | '"') => rest[1..].split(mark).next()?,
        _ => rest.split([',', '}', ')', ' ']).next()?,
    };
    Some(value.trim().to_owned())
}

fn put<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

fn larger(slot: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value
        && slot.is_none_or(|known| value > known)
    {
        *slot = Some(value);
    }
}

fn smaller(slot: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value
        && slot.is_none_or(|known| value < known)
    {
        *slot = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_python_prints_them() {
        let text = "model='/m', speculative_config=None, max_seq_len=2068, a_model='x', tensor_parallel_size=2, q=None";
        assert_eq!(setting(text, "model").as_deref(), Some("/m"));
        assert_eq!(setting(text, "max_seq_len").as_deref(), Some("2068"));
        assert_eq!(
            setting("{'max_num_seqs': 64, 'kv_cache_dtype': 'fp8'}", "kv_cache_dtype").as_deref(),
            Some("fp8")
        );
        assert_eq!(setting("", "model"), None);
    }

    #[test]
    fn numbers_are_read_up_to_their_end() {
        assert_eq!((whole("2,560,976 tokens"), whole("x")), (Some(2_560_976), None));
        assert_eq!((decimal("34.38 GiB"), decimal("16.07GiB;")), (Some(34.38), Some(16.07)));
        assert_eq!((decimal("1."), decimal(".")), (Some(1.0), None));
    }
}
