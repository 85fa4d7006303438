//! The catalogue, listed.

use super::{json, printed};

#[test]
fn all_of_it_is_listed_with_its_sources() {
    let text = printed(&["catalog"]);
    for slug in ["qwen2.5-7b", "llama-3.1-70b", "h100-sxm", "mi300x"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{slug} "))), "{slug}: {text}");
    }
    assert!(text.contains("Sources"), "{text}");
    let models = printed(&["catalog", "models"]);
    assert!(models.contains("qwen2.5-7b") && !models.contains("h100-sxm"), "{models}");
    assert!(!printed(&["catalog", "gpus"]).contains("qwen2.5-7b"));
    let engines = printed(&["catalog", "engines"]);
    assert!(engines.contains("vllm@0.11") && engines.contains("vllm@0.33"), "{engines}");
    assert!(!engines.contains("h100-sxm"));
    assert!(printed(&["catalog", "vllm@0.21"]).contains("gpu_memory_utilization 0.92"));
}

#[test]
fn one_entry_is_told_figure_by_figure() {
    let text = printed(&["catalog", "gpus", "h100-sxm"]);
    let line = text.lines().find(|line| line.starts_with("bandwidth_bytes_per_s"));
    let line = line.expect("the figure is there");
    for part in ["3,350,000,000,000", "bytes/s", "Published", "NVIDIA"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn json_has_every_figure_with_its_source() {
    let all = json(&["catalog", "--json"]);
    assert_eq!((&all["kind"], &all["schema"]), (&"catalog".into(), &1.into()));
    for part in ["models", "gpus"] {
        for entry in all[part].as_array().expect("a list") {
            assert!(entry["slug"].is_string(), "{entry}");
            for (name, figure) in entry["figures"].as_object().expect("figures") {
                assert!(figure["value"].as_f64().is_some_and(|value| value > 0.0), "{name}");
                assert!(figure["source"].as_str().is_some_and(|s| !s.is_empty()), "{name}");
            }
        }
    }
    assert!(all["models"].as_array().map_or(0, Vec::len) >= 80);
    assert!(all["gpus"].as_array().map_or(0, Vec::len) >= 30);
    assert_eq!(all["engines"].as_array().map_or(0, Vec::len), 23);
    for model in all["models"].as_array().expect("a list") {
        assert!(model["facts"]["source"].as_str().is_some_and(|it| !it.is_empty()), "{model}");
        assert!(model["params"].as_f64().is_some_and(|params| params > 1e8), "{model}");
        for files in model["files"].as_array().expect("a list") {
            assert!(files["computed_bytes"].as_f64().is_some_and(|bytes| bytes > 1e8), "{files}");
        }
    }
    let found = json(&["catalog", "qwen2.5-7b-int4", "--json"]);
    assert_eq!(found["models"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["gpus"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_model_is_told_layer_by_layer_with_the_source_of_its_facts() {
    let text = printed(&["catalog", "models", "qwen3-next-80b-a3b"]);
    for part in [
        "36 layers gated delta net: 16 × 128 keys, 32 × 128 values",
        "12 layers attention: 16 heads, 2 KV × 256, gated",
        "10 of 512 experts of 512, 512 shared",
        "Qwen--Qwen3-Next-80B-A3B-Thinking_config.json",
        "FP8",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let kimi = printed(&["catalog", "kimi-k2"]);
    assert!(kimi.contains("latent attention: 64 heads, q rank 1,536, kv rank 512 + 64"), "{kimi}");
}
