//! The network of a measured run's checkpoint.

use serde::Deserialize;
use serde_json::{Map, Value};
use sim_core::memory::Architecture;

const NETWORKS: &str = include_str!("../../../assets/kernel/networks.json");
/// What repositories add to the name of a network, outermost first.
const ENDINGS: [&str; 10] = [
    "-fp8-kv",
    "-fp8",
    "-nvfp4",
    "-awq",
    "-hf",
    "-2507",
    "-instruct",
    "-v0.1",
    "-0528",
    "-instruct",
];

#[derive(Deserialize)]
struct Networks {
    checkpoints: Vec<Network>,
}

#[derive(Deserialize)]
struct Network {
    slug: String,
    repository: String,
    aliases: Vec<String>,
    config: Map<String, Value>,
}

/// A checkpoint's name without its maker, its format and its release: runs of the same network are alike.
pub(crate) fn bare_name(model: &str) -> String {
    let lower = model.to_lowercase();
    let tail = lower.rsplit('/').next().unwrap_or(&lower);
    let bare = ENDINGS.iter().fold(tail, |name, end| name.strip_suffix(end).unwrap_or(name));
    match bare {
        "glm-5.2" => "glm-5".to_owned(),
        "deepseek-v3.1" | "deepseek-v3.2" => "deepseek-v3".to_owned(),
        other => other.to_owned(),
    }
}

/// The architecture of a checkpoint: of the catalogue, or of those that only measured runs need.
pub(crate) fn network(model: &str) -> Option<Architecture> {
    let bare = bare_name(model);
    let named = catalog::checkpoint(&bare).or_else(|_| catalog::checkpoint(model));
    if let Ok(checkpoint) = named {
        return Some(checkpoint.config.architecture);
    }
    let own: Networks = serde_json::from_str(NETWORKS).ok()?;
    let found = own.checkpoints.iter().find(|it| {
        it.slug == bare || it.repository == model || it.aliases.iter().any(|alias| alias == model)
    })?;
    let text = serde_json::to_string(&found.config).ok()?;
    catalog::read_config(&text).ok().map(|config| config.architecture)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

    use super::*;

    #[test]
    fn names_of_one_network_are_alike() {
        assert_eq!(bare_name("meta-llama/Llama-3.1-8B-Instruct"), "llama-3.1-8b");
        assert_eq!(bare_name("nvidia/Llama-3.1-8B-Instruct-FP8"), "llama-3.1-8b");
        assert_eq!(bare_name("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"), "qwen3-235b-a22b");
    }

    #[test]
    fn every_network_of_the_file_is_understood() {
        let own: Networks = serde_json::from_str(NETWORKS).unwrap();
        for network in own.checkpoints {
            let text = serde_json::to_string(&network.config).unwrap();
            let config = catalog::read_config(&text).unwrap();
            assert!(!config.architecture.layers.is_empty(), "{}", network.slug);
        }
    }
}
