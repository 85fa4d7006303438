//! Models and GPUs of the wide catalogue, and engines that are set up on several GPUs.

use scenario::{Provenance, Remedy, ResolveError, Resolved, Scenario};
use sim_core::StepTimeSpec;

fn with(settings: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::preset();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|notice| panic!("{notice}"));
    }
    scenario
}

fn resolved(settings: &[(&str, &str)]) -> Resolved {
    with(settings).resolve().unwrap_or_else(|error| panic!("{error}"))
}

const LLAMA: &[(&str, &str)] =
    &[("model", "llama-3.3-70b"), ("gpu", "h100"), ("deploy.tp", "4"), ("engine", "vllm@0.19")];

#[test]
fn an_engine_does_what_its_gpus_do_together() {
    let resolved = resolved(LLAMA);
    let StepTimeSpec::Roofline { params, weight_bytes, kv_bytes_per_token, peak_flops, .. } =
        resolved.setup.step_time
    else {
        panic!("a roofline");
    };
    // 70.6 billion parameters, of which a table of 1.05 billion is only looked up in.
    assert!((69.0e9..70.0e9).contains(&params), "{params}");
    assert!((141.0e9..141.5e9).contains(&weight_bytes), "{weight_bytes}");
    assert_eq!(kv_bytes_per_token, 2.0 * 80.0 * 8.0 * 128.0 * 2.0);
    assert!((peak_flops / 4.0 / 989e12 - 1.0).abs() < 0.001, "{peak_flops}");
    // The memory is that of one of them.
    assert_eq!(resolved.memory.weight_bytes * 4.0, weight_bytes);
    assert!(resolved.memory.total_bytes < 80.0 * 1.074e9);
    let blocks = resolved.ledger.get("kv.num_gpu_blocks").map_or(0.0, |entry| entry.value);
    assert_eq!(resolved.setup.engine.kv_capacity_tokens as f64, blocks * 16.0);
    assert!((27_000.0..30_000.0).contains(&blocks), "{blocks}");
}

#[test]
fn every_number_says_where_it_is_from_and_how_far_it_may_be_off() {
    let ledger = resolved(LLAMA).ledger;
    let kind = |key: &str| ledger.get(key).map(|entry| entry.kind);
    assert_eq!(kind("step.params"), Some(Provenance::Derived));
    assert_eq!(kind("step.bandwidth"), Some(Provenance::Published));
    assert_eq!(kind("memory.total_bytes"), Some(Provenance::Measured));
    assert_eq!(kind("memory.activation_bytes"), Some(Provenance::Derived));
    assert_eq!(kind("step.exchange_s"), Some(Provenance::Assumed));
    assert!(ledger.0.iter().all(|entry| !entry.source.is_empty()), "{ledger:?}");
    let tokens = ledger.get("kv.capacity_tokens").expect("a capacity");
    let (low, high) = (tokens.low.expect("a band"), tokens.high.expect("a band"));
    assert!(low < tokens.value && tokens.value < high && high < 1.1 * tokens.value, "{tokens:?}");
    // Nothing was measured of another version.
    let newer = resolved(&[LLAMA, &[("engine", "vllm@0.30")]].concat()).ledger;
    let activation = newer.get("memory.activation_bytes").map(|entry| entry.kind);
    assert_eq!(activation, Some(Provenance::Assumed));
}

#[test]
fn formats_change_weights_cache_and_peak() {
    let plain = resolved(LLAMA);
    let light = resolved(&[LLAMA, &[("weights", "fp8"), ("kv_dtype", "fp8")]].concat());
    let value = |of: &Resolved, key: &str| of.ledger.get(key).map_or(f64::NAN, |entry| entry.value);
    let ratio = |key: &str| value(&light, key) / value(&plain, key);
    assert!((0.50..0.53).contains(&ratio("step.weight_bytes")), "{}", ratio("step.weight_bytes"));
    assert_eq!(ratio("step.kv_bytes_per_token"), 0.5);
    assert_eq!(ratio("step.params"), 1.0);
    assert!((1.99..2.01).contains(&ratio("step.peak_flops")));
    assert!(ratio("kv.capacity_tokens") > 2.5);
}

#[test]
fn blocks_that_were_logged_stand_for_computed_ones() {
    let resolved = resolved(&[LLAMA, &[("kv.num_gpu_blocks", "27000")]].concat());
    assert_eq!(resolved.setup.engine.kv_capacity_tokens, 27_000 * 16);
    let entry = resolved.ledger.get("kv.num_gpu_blocks").expect("an entry");
    assert_eq!((entry.kind, entry.formula.as_deref()), (Provenance::Given, None));
    let typed = [LLAMA, &[("kv.num_gpu_blocks", "27000"), ("kv.capacity_tokens", "5000")]].concat();
    assert_eq!(self::resolved(&typed).setup.engine.kv_capacity_tokens, 5_000);
}

#[test]
fn names_of_the_short_list_alone_keep_the_rule_of_links() {
    let ledger = resolved(&[("model", "llama-3.1-8b"), ("gpu", "a100")]).ledger;
    assert!(ledger.get("memory.reserve_bytes").is_some());
    assert!(ledger.get("memory.activation_bytes").is_none());
    for wide in [&[("model", "qwen3-8b-fp8")][..], &[("gpu", "h20")], &[("deploy.tp", "1")]] {
        let ledger = resolved(wide).ledger;
        assert!(ledger.get("memory.activation_bytes").is_some(), "{wide:?}");
    }
}

#[test]
fn windows_hold_less_of_long_requests() {
    let gemma = [("model", "gemma-3-27b"), ("gpu", "h100"), ("deploy.tp", "2")];
    let tokens = |input: &str| {
        let all = [&gemma[..], &[("in", input)]].concat();
        resolved(&all).setup.engine.kv_capacity_tokens
    };
    assert!(tokens("60000") > 2 * tokens("2000"), "{} {}", tokens("60000"), tokens("2000"));
}

#[test]
fn what_does_not_fit_names_the_smallest_changes_that_do() {
    let error = with(&[("model", "llama-3.3-70b"), ("gpu", "h100")]).resolve();
    let Err(error @ ResolveError::DoesNotFit { .. }) = error else { panic!("{error:?}") };
    let typed: Vec<String> = error.remedies().iter().map(Remedy::typed).collect();
    assert!(typed.contains(&"deploy.tp=2".to_owned()), "{typed:?}");
    assert!(typed.iter().any(|remedy| remedy.starts_with("weights=")), "{typed:?}");
    assert!(typed.iter().any(|remedy| remedy.starts_with("gpu=")), "{typed:?}");
    for remedy in error.remedies() {
        let mut better = with(&[("model", "llama-3.3-70b"), ("gpu", "h100")]);
        for (key, value) in remedy.changes() {
            better.set(key, value).expect("a change");
        }
        assert!(better.resolve().is_ok(), "{remedy:?}");
    }
}

#[test]
fn a_division_that_the_engine_refuses_is_said() {
    let error = resolved_error(&[("model", "llama-3.3-70b"), ("gpu", "h100"), ("deploy.tp", "7")]);
    assert!(error.contains('7'), "{error}");
    let unknown = with(&[]).set("model", "lama-3.3-70b").expect_err("no such model").message;
    assert!(unknown.contains("did you mean"), "{unknown}");
}

fn resolved_error(settings: &[(&str, &str)]) -> String {
    with(settings).resolve().expect_err("it cannot be had").to_string()
}

#[test]
fn links_keep_the_deployment() {
    let scenario = with(LLAMA);
    let link = scenario.to_link();
    assert!(link.ends_with("&model=llama-3.3-70b&deploy.tp=4&engine=vllm-0.19"), "{link}");
    assert_eq!(Scenario::from_link(&link).scenario, scenario);
}
