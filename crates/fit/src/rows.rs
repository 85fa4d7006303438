//! Measured runs as they stand in the file.

use std::io::Read;

use serde::Deserialize;

/// Why a file of measured runs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// The file is no table, or a row is broken.
    #[error("row {row}: {message}; give the columns of a file of measured runs, comma-separated")]
    Broken {
        /// Which row, counted from one after the head.
        row: usize,
        /// What is wrong.
        message: String,
    },
}

/// One measured run. Empty cells are what was not reported.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Who measured it.
    pub source: String,
    /// The checkpoint, by its repository.
    pub model: String,
    /// The GPU.
    pub gpu: String,
    /// Tensor-parallel ranks.
    pub tp: Option<u64>,
    /// The engine.
    pub engine: String,
    /// Its version.
    pub engine_version: String,
    /// Precision of the weights.
    pub weight_dtype: String,
    /// Prompt, tokens.
    pub isl: Option<f64>,
    /// Output, tokens.
    pub osl: Option<f64>,
    /// `concurrency`, `rate` or `offline`.
    pub load_mode: String,
    /// Requests in flight, or per second.
    pub load: String,
    /// Median time to the first token, milliseconds.
    pub ttft_p50_ms: Option<f64>,
    /// Mean time to the first token, milliseconds.
    pub ttft_mean_ms: Option<f64>,
    /// Mean time per further token, milliseconds.
    pub tpot_mean_ms: Option<f64>,
    /// Mean time to the last token, milliseconds.
    pub e2e_mean_ms: Option<f64>,
    /// Tokens of output per second, all GPUs.
    pub output_tok_s: Option<f64>,
    /// GPUs.
    pub n_gpus: Option<u64>,
    /// Ranks with experts of their own.
    pub ep: Option<String>,
    /// Groups with requests of their own.
    pub dp: Option<u64>,
    /// Speculative decoding, where it is told.
    pub spec_decode: String,
    /// How lengths vary.
    pub isl_dist: String,
    /// Requests measured.
    pub n_requests: Option<f64>,
    /// The most that run at once.
    pub max_num_seqs: Option<u64>,
    /// Tokens of a step.
    pub max_num_batched_tokens: Option<f64>,
    /// How much is known, from A+ to C.
    pub quality: String,
    /// When.
    pub date: String,
    /// Which run.
    pub run_id: String,
}

impl Row {
    /// What tells the curves of one set-up apart: the run, or its lengths where runs are not told.
    pub(crate) fn curve(&self) -> String {
        if let Some((run, _)) = self.run_id.split_once("/stage") {
            return run.to_owned();
        }
        if self.isl_dist.contains("nominal (") {
            return self.isl_dist.clone();
        }
        let whole = self.ep.as_deref().unwrap_or_default();
        let (input, output) = (self.isl.unwrap_or(0.0), self.osl.unwrap_or(0.0));
        format!("{input} {output} {whole} {} {}", self.engine_version, self.source)
    }
}

/// Read a table of measured runs.
///
/// # Errors
/// If it is no table or a row is broken.
pub fn read_rows(text: impl Read) -> Result<Vec<Row>, RowError> {
    let mut reader = csv::Reader::from_reader(text);
    let read = |(index, row): (usize, Result<Row, csv::Error>)| {
        row.map_err(|error| RowError::Broken { row: index + 1, message: error.to_string() })
    };
    reader.deserialize().enumerate().map(read).collect()
}
