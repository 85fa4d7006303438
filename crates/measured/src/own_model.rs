//! A model by its Hugging Face `config.json`: the settings that stand for it.
//!
//! A scenario names its model, and a link holds no file. So what memory and step time need of an architecture goes
//! into the settings that replace the catalogue's figures, counted from the dimensions by the catalogue's own rule.

use catalog::ModelConfig;
use quantity::editable;
use scenario::Scenario;
use sim_core::memory::{Deployment, EngineVersion, Gpu, plan};

use crate::MeasuredError;

/// How much of a text tells whether it is a `config.json`.
const LOOKED_AT: usize = 200_000;

/// Whether a file is the configuration of a model.
pub(crate) fn is_config(bytes: &[u8]) -> bool {
    let head = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head);
    let has = |key: &str| head.contains(key);
    head.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        && (has("\"model_type\"") || has("\"architectures\""))
        && ["\"hidden_size\"", "\"n_embd\"", "\"d_model\"", "\"dim\""].iter().any(|key| has(key))
}

/// Keys of settings, each with its value as one would type it.
pub(crate) type Settings = Vec<(&'static str, String)>;

/// Settings that stand for a model on the scenario's GPU.
///
/// # Errors
/// The configuration cannot be understood, or the engine cannot set such a model up.
pub(crate) fn settings(
    file: &str,
    bytes: &[u8],
    scenario: &Scenario,
) -> Result<(ModelConfig, Settings), MeasuredError> {
    let refused = |reason: String| MeasuredError::NoModel { file: file.to_owned(), reason };
    let text = String::from_utf8_lossy(bytes);
    let config = catalog::read_config(text.trim_start_matches('\u{feff}'))
        .map_err(|error| refused(error.to_string()))?;
    let device = catalog::device(&scenario.gpu).map_err(|error| refused(error.to_string()))?;
    let gpu = Gpu {
        total_bytes: device.total_bytes,
        has_fast_links: device.has_fast_links,
        is_measured: device.is_measured,
    };
    let mut deployment = Deployment::on(gpu, EngineVersion::MEASURED, config.context_tokens);
    deployment.weight_bytes = config.weight_bytes;
    if let Some(element) = config.kv_element {
        deployment.kv_element = element;
    }
    let found =
        plan(&config.architecture, &deployment).map_err(|error| refused(error.to_string()))?;
    let weights = found.tightest().map_or(0.0, |stage| stage.budget.weights.bytes);
    let settings = vec![
        ("step.params", editable(config.architecture.parameters().active.round())),
        ("step.weight_bytes", editable(weights.round())),
        ("step.kv_bytes_per_token", editable(found.layout.bytes_per_token())),
    ];
    Ok((config, settings))
}

#[cfg(test)]
mod tests {
    use crate::{MeasuredFiles, Seen};

    use super::*;

    const LLAMA: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
        "tie_word_embeddings": false, "rms_norm_eps": 1e-05, "rope_theta": 500000.0}"#;

    #[test]
    fn a_config_says_what_the_catalogue_says_of_the_same_model() {
        let mut files = MeasuredFiles::new(Scenario::preset(), Vec::new());
        let seen = files.add("config.json", LLAMA.as_bytes()).unwrap();
        assert!(matches!(seen, Seen::Model(config) if config.family == "llama"));
        let mut known = Scenario::preset();
        known.set("model", "llama-3.1-8b").unwrap();
        let figures = |scenario: &Scenario| {
            let ledger = scenario.resolve().unwrap().ledger;
            ["step.params", "step.weight_bytes", "step.kv_bytes_per_token"]
                .map(|key| ledger.get(key).unwrap().value)
        };
        let (own, known) = (figures(&files.scenario), figures(&known));
        for (own, known) in own.iter().zip(known) {
            assert!((own / known - 1.0).abs() < 0.08, "{own} {known}");
        }
        assert_eq!(own[2], 131_072.0);
        let link = files.scenario.to_link();
        assert_eq!(Scenario::from_link(&link).scenario, files.scenario);
    }

    #[test]
    fn what_is_no_model_is_refused_with_the_reason() {
        let mut files = MeasuredFiles::new(Scenario::preset(), Vec::new());
        for text in [
            LLAMA.replace("\"num_hidden_layers\": 32", "\"num_hidden_layers\": -3"),
            LLAMA.replace("\"vocab_size\": 128256,", ""),
            LLAMA.replace('}', ""),
        ] {
            let said = files.add("config.json", text.as_bytes()).unwrap_err().to_string();
            assert!(said.starts_with("config.json") && said.len() > 30, "{said}");
        }
        assert!(files.taken.is_empty());
    }
}
