//! Memory against what engines log: `tests/golden/memory`, from published start-up logs of vLLM.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod budget;
mod cases;
mod logs;
mod states;

use catalog::{ModelConfig, checkpoint};
use sim_core::memory::{Deployment, EngineVersion, GIB, Gpu, KvElement, Parallelism, WeightBytes};

/// The memory of an H100 SXM as its driver reports it.
pub(crate) const H100: Gpu =
    Gpu { total_bytes: 79.19 * GIB, has_fast_links: true, is_measured: true };

/// The model of a checkpoint, whatever its repository.
pub(crate) fn model(name: &str) -> Option<ModelConfig> {
    let plain = name
        .replace("-fp8-dynamic", "")
        .replace("-quantized.w8a8", "")
        .replace("Meta-Llama", "Llama")
        .replace("-NVFP4-MTP", "")
        .replace("-NVFP4", "")
        .replace(" NVFP4", "");
    let plain = plain.split(" (").next().unwrap_or_default().trim().to_owned();
    checkpoint(&plain).ok().map(|found| found.config)
}

/// One rank of a model on an H100 under an engine's version.
pub(crate) fn deployment(config: &ModelConfig, version: u32, max_model_len: u64) -> Deployment {
    let mut deployment = Deployment::on(H100, EngineVersion { minor: version }, max_model_len);
    deployment.weight_bytes = config.weight_bytes;
    deployment
}

/// One row of the logs, by the names of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Row(std::collections::BTreeMap<String, String>);

impl Row {
    pub(crate) fn text(&self, column: &str) -> &str {
        self.0.get(column).expect("the column exists")
    }

    /// The number that the cell begins with.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).split_whitespace().next()?.parse().ok()
    }

    pub(crate) fn whole(&self, column: &str) -> Option<u64> {
        self.number(column).map(|number| number as u64)
    }

    pub(crate) fn gib(&self, column: &str) -> Option<f64> {
        self.number(column).map(|gib| gib * GIB)
    }

    pub(crate) fn version(&self) -> u32 {
        let text = self.text("vllm_version").trim_start_matches('~');
        text.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(19)
    }

    pub(crate) fn parallel(&self) -> Parallelism {
        let dcp = self.text("dp_or_dcp").strip_prefix("DCP").and_then(|it| it.split(' ').next());
        Parallelism {
            tp: self.whole("tp").unwrap_or(1),
            pp: self.whole("pp").unwrap_or(1),
            dcp: dcp.map_or(1, |it| it.parse().expect("a number")),
            ..Parallelism::default()
        }
    }

    /// The model and how it is served, or `None` where the model is not named.
    pub(crate) fn served(&self) -> Option<(ModelConfig, Deployment)> {
        let mut config = model(self.text("model"))?;
        if self.text("model").ends_with("MTP") && !self.text("dp_or_dcp").ends_with("mtp0") {
            // One speculative layer, unless the row says none, which keeps a cache like the last.
            let layers = &mut config.architecture.layers;
            layers.push(layers.last().expect("a model has layers").clone());
        }
        let max_model_len = self.whole("max_model_len").unwrap_or(config.context_tokens);
        let mut deployment = deployment(&config, self.version().max(11), max_model_len);
        deployment.parallel = self.parallel();
        deployment.max_num_batched_tokens = self.whole("max_num_batched_tokens").unwrap_or(8192);
        if let Some(share) = self.number("gpu_memory_utilization") {
            deployment.utilization = share;
        }
        let model = self.text("model").to_lowercase();
        let quantisation = self.text("quantization");
        if model.contains("fp8") || model.contains("w8a8") || quantisation == "fp8" {
            deployment.weight_bytes = WeightBytes::quantised(1.0, 2.0);
        }
        if self.text("dtype") == "float32" {
            deployment.weight_bytes = WeightBytes::plain(4.0);
            deployment.kv_element = KvElement::Bytes(4);
        }
        if self.text("kv_cache_dtype") == "fp8" {
            let is_sparse = model.starts_with("glm-5");
            deployment.kv_element =
                if is_sparse { KvElement::SparseLatentFp8 } else { KvElement::Bytes(1) };
        }
        Some((config, deployment))
    }
}

/// All rows of grades A to C.
pub(crate) fn rows() -> Vec<Row> {
    let text = include_bytes!("../../golden/memory/vllm_logs.csv");
    let rows = csv::Reader::from_reader(&text[..]).into_deserialize();
    rows.map(|row| Row(row.expect("the file is whole"))).collect()
}

/// Relative difference.
pub(crate) fn apart(value: f64, from: f64) -> f64 {
    libm::fabs(value / from - 1.0)
}

/// A number to as many decimals as it is printed with.
pub(crate) fn printed(value: f64, like: &str) -> String {
    let decimals = like.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    format!("{value:.decimals$}")
}
