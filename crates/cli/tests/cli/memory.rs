//! `headroom memory`.

use super::{file, headroom, json, printed};

/// What the program says on standard error, with its exit code.
fn refused(arguments: &[&str], code: i32) -> String {
    let output = headroom(arguments).assert().code(code).get_output().stderr.clone();
    String::from_utf8(output).expect("it prints UTF-8")
}

#[test]
fn every_term_of_a_logged_start_is_explained() {
    let text = printed(&[
        "memory",
        "model=llama-3.1-8b",
        "gpu=h100",
        "engine=vllm@0.19",
        "gpu_memory_utilization=0.95",
        "max_model_len=8192",
        "context=2048,8192",
    ]);
    // Columns are as wide as their contents.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "llama-3.1-8b in BF16 on 1 × H100 SXM 80 GB (tp 1), vllm@0.19",
        "meta-llama/Llama-3.1-8B-Instruct",
        "GPU memory 79.19",
        "× utilisation 75.23",
        "− weights 14.99",
        "− activations 1.8",
        "3.63 × 0.49 of logits",
        "− outside the framework",
        "= KV cache 58.1",
        "131,072 bytes per token",
        "Maximum concurrency for 8,192 tokens per request: 58.1",
        "requests of 2,048 tokens at once",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_logged_hybrid_model_comes_out_to_the_printed_digit() {
    // Gemma 3 27B on H100 under vLLM 0.19, by name and by its numbers.
    let settings = ["engine=vllm@0.19", "gpu=h100", "max_model_len=8192", "num_gpu_blocks=15997"];
    let by_numbers =
        ["layers=62", "sliding_layers=52", "window=1024", "kv_heads=16", "head_dim=128"];
    for model in [&["model=google/gemma-3-27b-it"][..], &by_numbers] {
        let arguments = [&["memory", "--json"], model, &settings].concat();
        let found = json(&arguments);
        assert_eq!(found["kv_cache_size_tokens"], 36_560, "{found}");
        let concurrency = found["max_concurrency"].as_f64().expect("a number");
        assert_eq!(format!("{concurrency:.2}"), "4.46");
        assert_eq!(found["groups"].as_array().map(Vec::len), Some(7));
    }
}

#[test]
fn logged_terms_stand_for_computed_ones() {
    let found = json(&[
        "memory",
        "--json",
        "layers=27",
        "latent_dim=576",
        "tp=2",
        "gpu_memory_gib=79.19",
        "gpu_memory_utilization=0.95",
        "weights_gib=15.53",
        "activation_gib=2.85",
        "non_torch_gib=2.07",
        "max_model_len=8192",
        "engine=0.19",
    ]);
    assert_eq!(found["kv_bytes_per_token"], 31_104.0);
    let stage = &found["stages"][0];
    let kv_gib = stage["kv_bytes"].as_f64().expect("a number") / 1_073_741_824.0;
    assert!((kv_gib - 54.78).abs() < 0.01, "{kv_gib}");
    assert_eq!(stage["weights"]["basis"], "given");
    assert_eq!(stage["kv_half_width_bytes"], 0.0);
}

#[test]
fn a_config_file_is_read_whatever_its_encoding_marks() {
    let config = "\u{feff}{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"num_hidden_layers\": 36, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"head_dim\": 128, \"intermediate_size\": 12288, \"vocab_size\": 151936, \"max_position_embeddings\": 40960, \"rope_scaling\": null, \"x\": NaN}";
    let path = file("memory-config.json", config);
    let by_file = json(&["memory", "--json", "--config", &path, "gpu=h200-sxm"]);
    let by_name = json(&["memory", "--json", "model=qwen3-8b", "gpu=h200-sxm"]);
    assert_eq!(by_file["stages"], by_name["stages"]);
    assert_eq!(by_file["is_measured_version"], false);
}

#[test]
fn what_does_not_fit_has_remedies_that_were_tried() {
    let arguments = ["memory", "model=llama-3.1-70b", "gpu=h100", "max_model_len=8192"];
    let output = headroom(&arguments).assert().code(1).get_output().stdout.clone();
    let text = String::from_utf8(output).expect("it prints UTF-8");
    assert!(text.contains("does not fit. It does with:"), "{text}");
    assert!(text.contains("\n  tp=4\n") || text.contains("\n  tp=2\n"), "{text}");
    assert!(text.contains("weights=int4") || text.contains("weights=fp8"), "{text}");
    for line in
        text.lines().filter(|line| line.starts_with("  tp=") || line.starts_with("  weights="))
    {
        let with = [&arguments[..], &[line.trim()]].concat();
        headroom(&with).assert().success();
    }
}

#[test]
fn versions_differ_as_the_engines_do() {
    let pool = |version: &str| {
        let engine = format!("engine={version}");
        let settings = ["model=llama-3.1-8b", "gpu=h100", "gpu_memory_utilization=0.9"];
        let found = json(&[&["memory", "--json", &engine], &settings[..]].concat());
        let stage = &found["stages"][0];
        let basis = stage["activation"]["basis"].as_str().map(str::to_owned);
        (stage["kv_bytes"].as_f64().expect("a number"), basis.expect("a text"))
    };
    let (old, _) = pool("vllm@0.11");
    let (measured, basis) = pool("vllm@0.19");
    let (newer, assumed) = pool("vllm@0.24");
    assert!(old < measured && newer < measured, "{old} {measured} {newer}");
    assert_eq!((basis.as_str(), assumed.as_str()), ("fitted", "assumed"));
}

#[test]
fn hostile_files_end_in_a_clear_message() {
    let large = "[".to_owned() + &" ".repeat(9 << 20);
    for (name, text, words) in [
        ("memory-cut.json", "{\"hidden_size\": 40", "not JSON"),
        ("memory-list.json", "[]", "a list instead of an object"),
        ("memory-large.json", &large, "larger than 8 MiB"),
        ("memory-empty.json", "", "not JSON"),
        ("memory-deep.json", &"[".repeat(500_000), "not JSON"),
        ("memory-other.json", "{\"a\": 1}", "lacks num_hidden_layers"),
    ] {
        let path = file(name, text);
        let message = refused(&["memory", "--config", &path], 2);
        assert!(message.contains(words) && message.len() < 600, "{name}: {message}");
    }
    let binary = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory-binary.json");
    std::fs::write(&binary, [0xff_u8, 0xfe, 0, 1, 2]).expect("the folder can be written to");
    let path = binary.to_str().expect("a path in UTF-8");
    assert!(refused(&["memory", "--config", path], 2).contains("UTF-8"));
    assert!(refused(&["memory", "--config", "no-such-file.json"], 3).contains("no-such-file"));
}

#[test]
fn settings_that_cannot_be_used_are_refused_with_a_remedy() {
    for (words, message) in [
        (&["memory"][..], "Which model?"),
        (
            &["memory", "model=llama-3.1-8b", "layers=3", "kv_heads=1", "head_dim=8"],
            "one of model=",
        ),
        (&["memory", "model=lama-3.1-8b"], "llama-3.1-8b"),
        (&["memory", "model=llama-3.1-8b", "gpu=h1000"], "GPU"),
        (&["memory", "model=llama-3.1-8b", "tp=3"], "shares out 32 attention heads"),
        (&["memory", "model=llama-3.1-8b", "tp=two"], "tp=two"),
        (&["memory", "model=llama-3.1-8b", "engine=vllm@0.5"], "vllm@0.19"),
        (&["memory", "model=llama-3.1-8b", "max-model-length=8"], "max_model_len"),
        (&["memory", "model=llama-3.1-8b", "gpu_memory_utilization=nan"], "a number"),
        (&["memory", "model=llama-3.1-8b", "fast"], "key=value"),
        (&["memory", "layers=3"], "kv_heads"),
        (&["memory", "layers=99999999999", "kv_heads=1", "head_dim=8"], "from 1 to 4096"),
    ] {
        let told = refused(words, 2);
        assert!(told.contains(message), "{words:?}: {told}");
    }
}

#[test]
fn versions_are_compared_with_what_they_changed() {
    let text = printed(&["memory", "model=gemma-3-27b", "gpu=h100", "tp=2", "--versions"]);
    for part in
        ["vllm@0.19", "vllm@0.21", "0.92 of the memory instead of 0.90", "vllm@0.23", "padded"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("vllm@0.18"), "{text}");
    let all = json(&["memory", "model=gemma-3-27b", "gpu=h100", "tp=2", "--versions", "--json"]);
    let versions = all["versions"].as_array().expect("a list");
    assert_eq!(versions.len(), 15);
    let kv = |at: usize| versions[at]["kv_bytes"].as_f64().expect("a number");
    // From 0.20 to 0.21 two hundredths of the memory are won, and the graphs taken off.
    assert!(kv(2) > kv(1) && kv(1) == kv(0), "{versions:?}");
}

#[test]
fn a_bar_of_the_memory_is_drawn() {
    let path = file("memory.svg", "");
    printed(&["memory", "model=llama-3.1-8b", "gpu=h100", "--svg", &path]);
    let svg = std::fs::read_to_string(&path).expect("it was written");
    for part in ["<svg", "Weights", "KV cache", "CUDA graphs", "Left alone"] {
        assert!(svg.contains(part), "{part}");
    }
}
