use sim_core::memory::{FeedForward, Reach, Recurrent};

use super::*;

fn read(text: &str) -> ModelConfig {
    read_config(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> String {
    read_config(text).expect_err("it is refused").to_string()
}

/// A dense configuration, with other fields behind.
fn dense(more: &str) -> String {
    format!(
        r#"{{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 8,
        "num_key_value_heads": 2, "vocab_size": 100, "intermediate_size": 128{more}}}"#
    )
}

fn reaches(config: &ModelConfig) -> String {
    let letter = |layer: &Layer| match layer.mixers.as_slice() {
        [Mixer::Attention(attention)] => match attention.reach {
            Reach::Full if attention.shares_cache => 'f',
            Reach::Full => 'F',
            Reach::Window(_) => 'S',
            Reach::Chunk(_) => 'C',
        },
        [Mixer::Latent(_)] => 'L',
        [Mixer::Recurrent(_)] => 'R',
        [Mixer::Attention(_), Mixer::Recurrent(_)] => 'B',
        _ => '-',
    };
    config.architecture.layers.iter().map(letter).collect()
}

#[test]
fn a_plain_model_is_read_with_its_defaults() {
    let config = read(&dense(""));
    assert_eq!(reaches(&config), "FFFFFF");
    let Mixer::Attention(attention) = &config.architecture.layers[0].mixers[0] else {
        panic!("it has attention");
    };
    assert_eq!((attention.heads, attention.kv_heads, attention.key_dim), (8, 2, 8));
    let dense = FeedForward::Dense { width: 128, matrices: 3 };
    assert_eq!(config.architecture.layers[5].feed_forward, dense);
    assert!(!config.architecture.tied_embeddings);
    assert_eq!((config.precision.as_str(), config.kv_element), ("BF16", None));
    assert_eq!(read(r#"{"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"vocab_size":9,"n_positions":32}"#)
        .architecture.rotary_dim, 0);
}

#[test]
fn windows_follow_lists_intervals_and_the_rules_of_families() {
    let with = |family: &str, more: &str| reaches(&read(&dense(more).replace("llama", family)));
    let window = r#", "sliding_window": 16"#;
    assert_eq!(with("mistral", window), "SSSSSS");
    assert_eq!(with("mistral", r#", "sliding_window": null"#), "FFFFFF");
    assert_eq!(with("qwen2", window), "FFFFFF");
    assert_eq!(with("qwen2", r#", "sliding_window": 16, "use_sliding_window": false"#), "FFFFFF");
    assert_eq!(with("gemma2", window), "SFSFSF");
    assert_eq!(with("gpt_oss", window), "SFSFSF");
    assert_eq!(with("gemma3_text", window), "SSSSSF");
    assert_eq!(
        with("gemma3_text", r#", "sliding_window": 16, "sliding_window_pattern": 3"#),
        "SSFSSF"
    );
    assert_eq!(with("cohere2", window), "SSSFSS");
    assert_eq!(
        with("exaone4", r#", "sliding_window": 16, "sliding_window_pattern": "LLG""#),
        "SSGSSG".replace('G', "F")
    );
    let list = r#", "sliding_window": 16, "layer_types": ["full_attention", "sliding_attention",
        "full_attention", "full_attention", "full_attention", "sliding_attention", "full_attention"]"#;
    assert_eq!(with("any", list), "FSFFFS");
    assert_eq!(with("llama4_text", r#", "attention_chunk_size": 32"#), "CCCFCC");
    let ropes = r#", "attention_chunk_size": 32, "no_rope_layers": [0, 1, 1, 0, 1, 1]"#;
    assert_eq!(with("llama4_text", ropes), "FCCFCC");
    let pattern = r#", "sliding_window": 16, "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0]"#;
    assert_eq!(with("mimo", pattern), "FSSSSF");
    let shared = r#", "sliding_window": 16, "num_kv_shared_layers": 1"#;
    assert_eq!(with("gemma3n_text", shared), "SSSSFS");
    let last = read(&dense(shared).replace("llama", "gemma3n_text"));
    let Mixer::Attention(attention) = &last.architecture.layers[5].mixers[0] else {
        panic!("it has attention");
    };
    assert!(attention.shares_cache);
}

#[test]
fn recurrences_are_told_from_attention() {
    let with = |family: &str, more: &str| read(&dense(more).replace("llama", family));
    let delta = r#", "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 16,
        "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4, "mamba_ssm_dtype": "float32""#;
    let next = with("qwen3_next", delta);
    assert_eq!(reaches(&next), "RRRFRR");
    assert_eq!(next.architecture.state_element_bytes, 4);
    let mamba = r#", "mamba_n_heads": 4, "mamba_d_head": 32, "mamba_d_state": 16, "mamba_n_groups": 1,
        "layer_types": ["mamba", "mamba", "attention", "mamba", "mamba", "mamba"]"#;
    let granite = with("granitemoehybrid", mamba);
    assert_eq!(reaches(&granite), "RRFRRR");
    let Mixer::Recurrent(Recurrent::Mamba2 { heads, head_dim, taps, .. }) =
        granite.architecture.layers[0].mixers[0]
    else {
        panic!("it is a Mamba-2 layer");
    };
    assert_eq!((heads, head_dim, taps), (4, 32, 4));
    let nemotron = r#", "mamba_num_heads": 4, "mamba_head_dim": 32, "ssm_state_size": 16,
        "n_groups": 2, "conv_kernel": 4, "chunk_size": 64, "hybrid_override_pattern": "M-M*-M|M""#;
    let nemotron = with("nemotron_h", nemotron);
    assert_eq!(reaches(&nemotron), "R-RF-RR");
    assert_eq!(nemotron.architecture.layers[3].feed_forward, FeedForward::None);
    let ungated = FeedForward::Dense { width: 128, matrices: 2 };
    assert_eq!(nemotron.architecture.layers[1].feed_forward, ungated);
    let jamba = r#", "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 4,
        "attn_layer_period": 4, "attn_layer_offset": 2"#;
    assert_eq!(reaches(&with("jamba", jamba)), "RRFRRR");
    let kimi = r#", "kv_lora_rank": 32, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
        "linear_attn_config": {"num_heads": 4, "head_dim": 16, "short_conv_kernel_size": 4,
        "kda_layers": [1, 2, 3, 5], "full_attn_layers": [4, 6]}"#;
    assert_eq!(reaches(&with("kimi_linear", kimi)), "RRRLRL");
    let falcon = r#", "mamba_n_heads": 4, "mamba_d_head": 32, "mamba_d_state": 16"#;
    assert_eq!(reaches(&with("falcon_h1", falcon)), "BBBBBB");
    let lfm = r#", "conv_L_cache": 3, "full_attn_idxs": [1, 4]"#;
    assert_eq!(reaches(&with("lfm2", lfm)), "RFRRFR");
    let lightning = r#", "attn_type_list": [0, 0, 1, 0, 0, 1]"#;
    assert_eq!(reaches(&with("minimax_m1", lightning)), "RRFRRF");
}

#[test]
fn experts_stand_in_the_layers_that_have_them() {
    let with = |more: &str| {
        let config = read(&dense(&format!(
            r#", "num_experts_per_tok": 2, "moe_intermediate_size": 32{more}"#
        )));
        let letter = |layer: &Layer| match layer.feed_forward {
            FeedForward::Experts { shared_width: 0, .. } => 'E',
            FeedForward::Experts { .. } => 'X',
            _ => 'd',
        };
        config.architecture.layers.iter().map(letter).collect::<String>()
    };
    assert_eq!(with(r#", "num_experts": 8"#), "EEEEEE");
    assert_eq!(with(r#", "num_experts": 8, "decoder_sparse_step": 2"#), "dEdEdE");
    assert_eq!(with(r#", "num_experts": 8, "mlp_only_layers": [0, 5]"#), "dEEEEd");
    assert_eq!(
        with(r#", "n_routed_experts": 8, "n_shared_experts": 1, "first_k_dense_replace": 2"#),
        "ddXXXX"
    );
    assert_eq!(with(r#", "n_routed_experts": 8, "moe_layer_freq": [0, 1, 1, 0, 1, 1]"#), "dEEdEE");
    assert_eq!(with(r#", "num_experts": 8, "shared_expert_intermediate_size": 64"#), "XXXXXX");
    assert_eq!(with(r#", "num_local_experts": 8, "interleave_moe_layer_step": 3"#), "ddEddE");
    assert_eq!(with(r#", "num_experts": 1"#), "dddddd");
}

#[test]
fn the_language_model_is_found_inside_and_towers_beside_it() {
    let inner = dense(r#", "tie_word_embeddings": true"#);
    let vision = r#"{"hidden_size": 32, "num_hidden_layers": 3, "intermediate_size": 64}"#;
    let nested = read(&format!(
        r#"{{"model_type": "gemma3", "text_config": {inner}, "vision_config": {vision}}}"#
    ));
    assert_eq!(reaches(&nested), "FFFFFF");
    assert!(nested.architecture.tied_embeddings);
    let tower = 3 * (4 * 32 * 32 + 2 * 32 * 64) + 32 * 64 + 64 * 64;
    assert_eq!(nested.architecture.tower_params, f64::from(tower));
    let twice = read(&format!(r#"{{"thinker_config": {{"text_config": {inner}}}}}"#));
    assert_eq!(twice.architecture.layers, nested.architecture.layers);
}

#[test]
fn precision_is_that_of_the_quantisation() {
    let with = |quantisation: &str| {
        let config = read(&dense(&format!(r#", "quantization_config": {quantisation}"#)));
        let bytes = config.weight_bytes;
        (config.precision, bytes.mixing, bytes.experts, config.kv_element)
    };
    let named = |name: &str, mixing: f64, experts: f64| (name.to_owned(), mixing, experts, None);
    let block = 1.0 + 4.0 / 16_384.0;
    assert_eq!(
        with(r#"{"quant_method": "fp8", "weight_block_size": [128, 128]}"#),
        named("FP8", block, block)
    );
    let int4 = 0.5 + 2.5 / 128.0;
    assert_eq!(
        with(r#"{"quant_method": "awq", "bits": 4, "group_size": 128}"#),
        named("INT4", int4, int4)
    );
    assert_eq!(
        with(r#"{"quant_method": "gptq", "bits": 8, "group_size": -1}"#),
        named("INT8", 1.0 + 3.0 / 128.0, 1.0 + 3.0 / 128.0)
    );
    assert_eq!(with(r#"{"quant_method": "mxfp4"}"#), named("MXFP4", 2.0, 0.53125));
    let nvfp4 = r#"{"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8",
        "ignore": ["lm_head", "model.layers.*.self_attn*"]}"#;
    assert_eq!(with(nvfp4), ("NVFP4".to_owned(), 2.0, 0.5625, Some(KvElement::Bytes(1))));
    let packed = r#"{"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups":
        {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
        "kv_cache_scheme": {"num_bits": 8, "type": "float"}}"#;
    assert_eq!(with(packed), ("FP8".to_owned(), 1.0, 1.0, Some(KvElement::Bytes(1))));
    assert!(
        refused(&dense(r#", "quantization_config": {"quant_method": "magic"}"#)).contains("magic")
    );
    assert!(
        refused(&dense(r#", "quantization_config": {"quant_method": "awq", "bits": 99}"#))
            .contains("99")
    );
}

#[test]
fn words_that_only_python_writes_are_read() {
    let config = dense(
        r#", "time_step_limit": [0.0, Infinity], "x": -Infinity, "y": NaN, "note": "NaN \" Infinity""#,
    );
    assert_eq!(reaches(&read(&config)), "FFFFFF");
    assert_eq!(without_bare_words(r#"["NaN \\", NaN]"#), r#"["NaN \\", null]"#);
}

#[test]
fn what_cannot_be_used_is_refused_with_the_field_and_a_remedy() {
    for (text, words) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("\u{0}\u{1}PNG", "not JSON"),
        ("[1, 2]", "a list instead of an object"),
        ("3", "a number instead of an object"),
        ("{}", "lacks num_hidden_layers"),
        (r#"{"num_hidden_layers": 2}"#, "lacks num_attention_heads"),
        (r#"{"num_hidden_layers": -2}"#, "num_hidden_layers is -2"),
        (r#"{"num_hidden_layers": 1e300}"#, "must be a whole number"),
        (r#"{"num_hidden_layers": 1000000}"#, "from 1 to 4096"),
        (r#"{"num_hidden_layers": "many"}"#, r#"num_hidden_layers is "many""#),
        (r#"{"model_type": "t5", "is_encoder_decoder": true}"#, "an encoder and a decoder"),
        (r#"{"model_type": "deepseek_v4"}"#, "kv_cache_gib"),
    ] {
        let error = refused(text);
        assert!(error.contains(words), "{text}: {error}");
    }
    for (more, words) in [
        (r#", "num_key_value_heads": 0"#, "num_key_value_heads is 0"),
        (r#", "head_dim": 99999999"#, "head_dim is 99999999"),
        (r#", "layer_types": ["full_attention"]"#, "a list of 6 layers"),
        (r#", "layer_types": [7, 7, 7, 7, 7, 7]"#, "layer_types is 7"),
        (r#", "layer_types": "all""#, "must be a list"),
        (r#", "sliding_window": "wide""#, "sliding_window"),
        (r#", "num_experts": 8"#, "num_experts_per_tok"),
        (r#", "tie_word_embeddings": "yes""#, "true or false"),
        (r#", "kv_lora_rank": 512"#, "lacks qk_rope_head_dim"),
        (r#", "vision_config": {"hidden_size": 1e18, "depth": 4}"#, "hidden_size is 1e+18"),
    ] {
        // A field that stands twice has the value of the second.
        let error = read_config(&dense(more)).expect_err(more).to_string();
        assert!(error.contains(words), "{more}: {error}");
    }
    // Nested beyond reason.
    let deep = "[".repeat(100_000);
    assert!(refused(&deep).contains("not JSON"));
    let long = refused(&dense(&format!(r#", "num_experts": "{}""#, "x".repeat(100_000))));
    assert!(long.len() < 300, "{}", long.len());
}

#[test]
fn symmetric_integers_have_no_zero_points() {
    let bytes = |symmetric: &str| {
        let text = format!(
            r#"{{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
                "vocab_size": 64, "quantization_config": {{"quant_method": "compressed-tensors",
                "config_groups": {{"group_0": {{"weights": {{"num_bits": 4, "type": "int",
                "group_size": 32{symmetric}}}}}}}}}}}"#
        );
        read_config(&text).expect("it is sound").weight_bytes.experts
    };
    assert_eq!(bytes(r#", "symmetric": true"#), 0.5 + 2.0 / 32.0);
    assert_eq!(bytes(""), 0.5 + 2.0 / 32.0);
    assert_eq!(bytes(r#", "symmetric": false"#), 0.5 + 2.5 / 32.0);
}
