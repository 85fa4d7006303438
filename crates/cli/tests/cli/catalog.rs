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
    let found = json(&["catalog", "qwen2.5-7b-int4", "--json"]);
    assert_eq!(found["models"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["gpus"].as_array().map(Vec::len), Some(0));
}
