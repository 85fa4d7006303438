//! The golden cases.

use serde_json::Value;
use sim_core::memory::{
    Architecture, Attention, EngineVersion, FeedForward, GIB, Hold, LatentAttention, Layer, Mixer,
    Reach, plan,
};

use super::{H100, apart};
use sim_core::memory::Deployment;

fn cases(kind: &str) -> Vec<Value> {
    let text = include_str!("../../golden/memory/golden_cases.json");
    let all: Vec<Value> = serde_json::from_str(text).expect("the file is whole");
    let cases: Vec<Value> = all.into_iter().filter(|case| case["kind"] == kind).collect();
    assert!(cases.len() >= 4, "{kind}");
    cases
}

fn whole(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}

fn layer(mixer: Mixer) -> Layer {
    Layer { mixers: vec![mixer], feed_forward: FeedForward::None }
}

#[test]
fn hybrid_models_reach_the_logged_concurrency_to_the_printed_digit() {
    for case in cases("hybrid_concurrency") {
        let (arch, groups) = (&case["arch"], &case["groups"]);
        let full = Attention::full(0, whole(&arch["kv_heads"]), whole(&arch["head_dim"]));
        let sliding = Attention { reach: Reach::Window(whole(&arch["window"])), ..full };
        let of = |attention: Attention, count: &Value| {
            vec![layer(Mixer::Attention(attention)); whole(count) as usize]
        };
        let layers = [of(sliding, &arch["sliding"]), of(full, &arch["full"])].concat();
        let architecture = Architecture { layers, ..Architecture::default() };
        let version = EngineVersion { minor: 19 };
        let mut deployment = Deployment::on(H100, version, whole(&case["max_model_len"]));
        deployment.parallel.tp = whole(&case["tp"]);
        deployment.max_num_batched_tokens = whole(&case["max_num_batched_tokens"]);
        deployment.num_blocks = Some(whole(&case["num_blocks"]));
        let name = &case["name"];
        let found = plan(&architecture, &deployment).expect("it can be planned");
        let expected = case["expect_max_concurrency_2dp"].as_f64().expect("a number");
        assert_eq!(format!("{:.2}", found.max_concurrency), format!("{expected:.2}"), "{name}");
        assert_eq!(found.logged_tokens, whole(&case["expect_tokens_legacy_log"]), "{name}");
        let count = |is_full: bool| {
            let groups = found.layout.groups.iter();
            groups.filter(|group| (group.cache.hold == Hold::All) == is_full).count() as u64
        };
        assert_eq!(count(true), whole(&groups["full"]), "{name}");
        assert_eq!(count(false), whole(&groups["sliding"]), "{name}");
        let per_group = found.layout.layers_per_group() as u64;
        assert_eq!(per_group, whole(&groups["layers_per_group"]), "{name}");
    }
}

#[test]
fn budgets_and_token_counts_are_those_of_the_log() {
    for case in cases("budget_and_tokens") {
        let spec = &case["spec"];
        let mixer = match spec["mla"].as_u64() {
            Some(dim) => Mixer::Latent(LatentAttention {
                heads: 0,
                q_rank: 0,
                kv_rank: dim - 64,
                rope_dim: 64,
                nope_dim: 0,
                value_dim: 0,
                indexer: None,
            }),
            None => Mixer::Attention(Attention::full(0, whole(&spec["kv"]), whole(&spec["hd"]))),
        };
        let layers = vec![layer(mixer); whole(&spec["L"]) as usize];
        let architecture = Architecture { layers, ..Architecture::default() };
        let gib = |field: &str| case[field].as_f64().expect("a number") * GIB;
        let version = EngineVersion { minor: 19 };
        let mut deployment = Deployment::on(H100, version, whole(&case["max_model_len"]));
        let name = case["name"].as_str().expect("a name");
        deployment.parallel.tp = if name.contains("TP2") { 2 } else { 1 };
        deployment.utilization = case["gmu"].as_f64().expect("a number");
        deployment.gpu.total_bytes = gib("gpu_total_gib");
        deployment.given.weights_bytes = Some(gib("weights_gib"));
        deployment.given.activation_bytes = Some(gib("activation_gib"));
        deployment.given.non_torch_bytes = Some(gib("non_torch_gib"));
        let found = plan(&architecture, &deployment).expect("it can be planned");
        let stage = found.tightest().expect("there is a stage");
        let off = libm::fabs(stage.budget.kv_bytes - gib("expect_kv_gib")) / GIB;
        assert!(off <= 0.02, "{name}: {off} GiB");
        let per_token = case["expect_bytes_per_token_per_gpu"].as_str().expect("a text");
        assert_eq!(found.layout.bytes_per_token().to_string(), per_token, "{name}");
        let expected = |field: &str| case[field].as_f64().expect("a number");
        // The log prints GiB to a hundredth; that is what is left between them.
        for (value, field) in [
            (found.num_blocks as f64, "expect_blocks"),
            (found.logged_tokens as f64, "expect_tokens"),
            (found.max_concurrency, "expect_max_concurrency"),
        ] {
            assert!(apart(value, expected(field)) < 0.001, "{name}: {field} {value}");
        }
        // With the logged number of blocks, all else follows exactly.
        deployment.num_blocks = Some(whole(&case["expect_blocks"]));
        let found = plan(&architecture, &deployment).expect("it can be planned");
        assert_eq!(found.logged_tokens, whole(&case["expect_tokens"]), "{name}");
        let printed = format!("{:.2}", found.max_concurrency);
        assert_eq!(printed, format!("{:.2}", expected("expect_max_concurrency")), "{name}");
    }
}
