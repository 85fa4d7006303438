//! Models with recurrent layers: blocks of attention as large as a state.

use sim_core::memory::{GIB, KvElement, plan};

use super::{deployment, model};

/// A published start-up log of a hybrid model.
struct Log {
    model: &'static str,
    version: u32,
    max_model_len: u64,
    kv_element: u64,
    caches_states: bool,
    /// The pool as printed, GiB, or the blocks that fit the printed tokens.
    pool: Pool,
    block_tokens: u64,
    tokens: u64,
    concurrency: &'static str,
}

enum Pool {
    Gib(f64),
    Blocks(u64),
}

const LOGS: [Log; 5] = [
    Log {
        model: "qwen3.6-35b-a3b",
        version: 24,
        max_model_len: 131_072,
        kv_element: 1,
        caches_states: true,
        pool: Pool::Gib(5.98),
        block_tokens: 2096,
        tokens: 567_978,
        concurrency: "4.33",
    },
    Log {
        model: "qwen3.6-35b-a3b",
        version: 20,
        max_model_len: 65_536,
        kv_element: 1,
        caches_states: true,
        pool: Pool::Gib(82.42),
        block_tokens: 2096,
        tokens: 2_158_880,
        concurrency: "108.50",
    },
    Log {
        model: "qwen3.5-9b",
        version: 16,
        max_model_len: 16_384,
        kv_element: 1,
        caches_states: true,
        pool: Pool::Gib(2.43),
        block_tokens: 1056,
        tokens: 39_072,
        concurrency: "6.82",
    },
    Log {
        model: "qwen3.5-27b",
        version: 19,
        max_model_len: 32_768,
        kv_element: 2,
        caches_states: false,
        pool: Pool::Blocks(1487),
        block_tokens: 784,
        tokens: 290_864,
        concurrency: "33.04",
    },
    Log {
        model: "qwen3.8-27b",
        version: 20,
        max_model_len: 65_536,
        kv_element: 2,
        caches_states: true,
        pool: Pool::Gib(48.8),
        block_tokens: 784,
        tokens: 199_136,
        concurrency: "11.32",
    },
];

#[test]
fn logged_tokens_and_concurrency_come_out_to_the_printed_digit() {
    for log in LOGS {
        let config = model(log.model).expect("it is in the catalogue");
        let mut served = deployment(&config, log.version, log.max_model_len);
        served.kv_element = KvElement::Bytes(log.kv_element);
        served.caches_states = log.caches_states;
        match log.pool {
            Pool::Gib(gib) => served.given.kv_bytes = Some(gib * GIB),
            Pool::Blocks(blocks) => served.num_blocks = Some(blocks),
        }
        let found = plan(&config.architecture, &served).expect("it can be planned");
        let name = format!("{} under 0.{}", log.model, log.version);
        let blocks = found.layout.groups.iter().map(|group| group.cache.block_tokens).min();
        assert_eq!(blocks, Some(log.block_tokens), "{name}");
        assert_eq!(found.logged_tokens, log.tokens, "{name}");
        assert_eq!(format!("{:.2}", found.max_concurrency), log.concurrency, "{name}");
    }
}
