//! Bytes of KV cache per token, and concurrency, against logged ones.

use sim_core::memory::{Hold, MemoryPlan, plan};

use super::{Row, apart, printed, rows};

/// What the model makes of a row's own pool.
fn planned(row: &Row) -> Option<(MemoryPlan, f64)> {
    let (config, mut deployment) = row.served()?;
    let pool = row.gib("kv_cache_gib_per_gpu")?;
    deployment.given.kv_bytes = Some(pool);
    let found = plan(&config.architecture, &deployment);
    Some((found.unwrap_or_else(|error| panic!("{}: {error}", row.text("model"))), pool))
}

#[test]
fn bytes_per_token_are_within_half_a_percent_of_the_logs() {
    let (mut all, mut close) = (0, 0);
    let mut far = Vec::new();
    for row in rows() {
        let derived = row.number("formula_kv_bytes_per_token_per_gpu");
        let (Some(logged), Some(_)) = (row.number("implied_kv_bytes_per_token_per_gpu"), derived)
        else {
            continue;
        };
        let (found, pool) = planned(&row).expect("models with a formula are named");
        all += 1;
        let per_token = pool / found.logged_tokens as f64;
        if apart(per_token, logged) <= 0.005 {
            close += 1;
        } else {
            far.push(format!("{} pp {}", row.text("model"), row.text("pp")));
        }
    }
    assert!(all >= 59, "{all}");
    // A pipeline logs the memory of its first stage and the tokens of its tightest.
    assert!(far.iter().all(|row| !row.ends_with("pp 1")), "{far:?}");
    assert!(f64::from(close) >= 0.95 * f64::from(all), "{close} of {all}: {far:?}");
}

#[test]
fn models_of_every_kind_have_their_logged_tokens() {
    let mut seen = 0;
    for row in rows() {
        let kinds = ["GLM-5.1", "gemma-4-31b", "Qwen3.6", "Kimi", "Scout", "gpt-oss"];
        let Some(logged) = row.number("kv_cache_tokens_logged") else { continue };
        if !kinds.iter().any(|kind| row.text("model").contains(kind)) {
            continue;
        }
        let Some((found, _)) = planned(&row) else { continue };
        seen += 1;
        let off = apart(found.logged_tokens as f64, logged);
        // The pool is printed to a hundredth of a GiB, and some pools are small.
        assert!(off < 0.003, "{}: {} for {logged}", row.text("model"), found.logged_tokens);
    }
    assert!(seen >= 16, "{seen}");
}

#[test]
fn every_logged_concurrency_of_a_hybrid_model_comes_out_to_the_printed_digit() {
    let mut seen = 0;
    for row in rows() {
        let Some((config, mut deployment)) = row.served() else { continue };
        let logged = row.text("max_concurrency_x_logged");
        let Some(blocks) = row.whole("num_gpu_blocks").filter(|_| !logged.is_empty()) else {
            continue;
        };
        deployment.num_blocks = Some(blocks);
        let found = plan(&config.architecture, &deployment).expect("it can be planned");
        if found.layout.groups.iter().all(|group| group.cache.hold == Hold::All) {
            continue;
        }
        seen += 1;
        // Some rows carry what was made of the tokens in the place of the blocks.
        let tokens = row.whole("kv_cache_tokens_logged").expect("it is there");
        if found.logged_tokens != tokens {
            let groups = found.layout.groups.len() as u64;
            deployment.num_blocks = Some(blocks * groups);
        }
        let found = plan(&config.architecture, &deployment).expect("it can be planned");
        assert_eq!(found.logged_tokens, tokens, "{}", row.text("model"));
        assert_eq!(printed(found.max_concurrency, logged), logged, "{}", row.text("model"));
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn every_logged_concurrency_of_a_plain_model_comes_out_to_the_printed_digit() {
    let mut seen = 0;
    for row in rows() {
        let Some((config, mut deployment)) = row.served() else { continue };
        let logged = row.text("max_concurrency_x_logged");
        let Some(blocks) = row.whole("num_gpu_blocks").filter(|_| !logged.is_empty()) else {
            continue;
        };
        deployment.num_blocks = Some(blocks);
        let found = plan(&config.architecture, &deployment).expect("it can be planned");
        if found.layout.groups.iter().any(|group| group.cache.hold != Hold::All) {
            continue;
        }
        seen += 1;
        let tokens = row.whole("kv_cache_tokens_logged").expect("it is there");
        assert_eq!(found.logged_tokens, tokens, "{}", row.text("model"));
        assert_eq!(printed(found.max_concurrency, logged), logged, "{}", row.text("model"));
    }
    assert!(seen >= 45, "{seen}");
}
