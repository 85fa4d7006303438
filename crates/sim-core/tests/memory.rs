//! The memory model on random architectures, and on its edges.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use sim_core::memory::{
    Architecture, Attention, Deployment, EngineRules, EngineVersion, FeedForward, GIB, Gpu, Hold,
    Indexer, KvElement, KvLayout, LatentAttention, Layer, LayerCache, MemoryPlan, Mixer,
    PagePolicy, Parallelism, Reach, Recurrent, StatePages, plan,
};

const GPU: Gpu = Gpu { total_bytes: 80.0 * GIB, has_fast_links: true, is_measured: false };

fn layer(mixer: Mixer) -> Layer {
    Layer { mixers: vec![mixer], feed_forward: FeedForward::Dense { width: 512, matrices: 3 } }
}

fn architecture(layers: Vec<Layer>) -> Architecture {
    Architecture { hidden_size: 256, vocab_size: 1000, layers, ..Architecture::default() }
}

fn served(version: u32) -> Deployment {
    Deployment::on(GPU, EngineVersion { minor: version }, 8192)
}

fn attention(kv_heads: u64, head_dim: u64, reach: Reach) -> Mixer {
    Mixer::Attention(Attention { reach, ..Attention::full(0, kv_heads, head_dim) })
}

fn planned(layers: Vec<Layer>, deployment: &Deployment) -> MemoryPlan {
    plan(&architecture(layers), deployment).expect("it can be planned")
}

fn any_mixer() -> impl Strategy<Value = Mixer> {
    let reach = prop_oneof![
        Just(Reach::Full),
        (1_u64..5000).prop_map(Reach::Window),
        Just(Reach::Window(1024)),
        Just(Reach::Chunk(2048)),
    ];
    let delta = Recurrent::GatedDelta {
        key_heads: 16,
        value_heads: 32,
        key_dim: 128,
        value_dim: 128,
        taps: 4,
    };
    prop_oneof![
        4 => reach.prop_map(|reach| attention(4, 64, reach)),
        1 => Just(Mixer::Recurrent(delta)),
    ]
}

proptest! {
    #[test]
    fn groups_share_out_all_layers_and_blocks_fill_no_more_than_the_pool(
        mixers in prop::collection::vec(any_mixer(), 1..60),
        version in 11_u32..=33,
        pp in 1_u64..4,
    ) {
        let count = mixers.len();
        let mut deployment = served(version);
        deployment.parallel.pp = pp.min(count as u64);
        let found = planned(mixers.into_iter().map(layer).collect(), &deployment);
        let mut seen: Vec<usize> =
            found.layout.groups.iter().flat_map(|group| group.layers.clone()).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
        prop_assert_eq!(found.stages.iter().map(|stage| stage.layers).sum::<usize>(), count);
        let pages: Vec<u64> = found.layout.groups.iter().map(|it| it.cache.page_bytes).collect();
        prop_assert!(found.layout.groups.len() == 1 || pages.iter().all(|page| *page == pages[0]));
        for stage in &found.stages {
            let used = (stage.block_bytes * found.num_blocks) as f64;
            prop_assert!(stage.block_bytes == 0 || used <= stage.budget.kv_bytes);
            prop_assert!(stage.blocks >= found.num_blocks || stage.block_bytes == 0);
        }
        let tightest = found.tightest().expect("there is a stage");
        let left = tightest.budget.kv_bytes - (tightest.block_bytes * found.num_blocks) as f64;
        prop_assert!(left < tightest.block_bytes as f64, "a further block would fit");
    }

    #[test]
    fn a_longer_request_never_holds_less_and_fewer_of_them_fit(
        mixers in prop::collection::vec(any_mixer(), 1..30),
        tokens in 1_u64..200_000,
        more in 0_u64..5000,
    ) {
        let deployment = served(24);
        let found = planned(mixers.into_iter().map(layer).collect(), &deployment);
        prop_assert!(found.requests_that_fit(tokens) >= found.requests_that_fit(tokens + more));
        let longest = found.longest_request(300_000);
        prop_assert!(longest == 300_000 || found.requests_that_fit(longest + 1) == 0);
        prop_assert!(longest == 0 || found.requests_that_fit(longest) > 0);
    }

    #[test]
    fn no_number_is_too_wild(
        dims in prop::array::uniform12(prop_oneof![
            Just(0_u64), Just(1), Just(u64::MAX), Just(1 << 40), 0_u64..100_000
        ]),
        share in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), 0.0_f64..2.0],
        element in prop_oneof![
            Just(KvElement::Bytes(1)), Just(KvElement::Nvfp4), Just(KvElement::SparseLatentFp8),
            Just(KvElement::ScaledPerTokenHead)
        ],
    ) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = dims;
        let latent = LatentAttention {
            heads: a, q_rank: b, kv_rank: c, rope_dim: d, nope_dim: e, value_dim: f,
            indexer: Some(Indexer { heads: g, dim: h }),
        };
        let mamba =
            Recurrent::Mamba2 { heads: a, head_dim: b, state: c, groups: d, taps: e, chunk: f };
        let experts =
            FeedForward::Experts { count: g, active: h, width: i, shared_width: j, matrices: 3 };
        let all = [
            attention(k, l, Reach::Window(a)),
            Mixer::Latent(latent),
            Mixer::Recurrent(mamba),
            Mixer::Recurrent(Recurrent::Linear { heads: i, head_dim: j }),
        ];
        for mixer in all {
            let layers = vec![Layer { mixers: vec![mixer], feed_forward: experts }; 2];
            let wild = Architecture {
                hidden_size: k, vocab_size: l, max_positions: a, rotary_dim: b, rotary_tables: c,
                ..architecture(layers)
            };
            let mut deployment = served(24);
            deployment.utilization = share;
            deployment.kv_element = element;
            deployment.max_model_len = c;
            deployment.max_num_batched_tokens = d;
            deployment.parallel =
                Parallelism { tp: e, pp: f, dp: g, dcp: h, has_expert_parallelism: true };
            // An answer or an error, never a panic.
            if let Ok(found) = plan(&wild, &deployment) {
                let _ = (found.requests_that_fit(i), found.longest_request(j));
            }
        }
    }
}

#[test]
fn heads_are_divided_and_then_replicated() {
    for (tp, heads) in [(1, 4), (2, 2), (4, 1), (8, 1)] {
        let mut deployment = served(19);
        deployment.parallel.tp = tp;
        let found = planned(vec![layer(attention(4, 128, Reach::Full)); 94], &deployment);
        let expected = (2 * 94 * heads * 128 * 2) as f64;
        assert_eq!(found.layout.bytes_per_token(), expected, "tp {tp}");
    }
    // The compressed vector of latent attention is for all heads: every rank holds it.
    let latent = LatentAttention {
        heads: 128,
        q_rank: 1536,
        kv_rank: 512,
        rope_dim: 64,
        nope_dim: 128,
        value_dim: 128,
        indexer: None,
    };
    for tp in [1, 8] {
        let mut deployment = served(19);
        deployment.parallel.tp = tp;
        let found = planned(vec![layer(Mixer::Latent(latent)); 61], &deployment);
        assert_eq!(found.layout.bytes_per_token(), 70_272.0, "tp {tp}");
        deployment.kv_element = KvElement::Bytes(1);
        let found = planned(vec![layer(Mixer::Latent(latent)); 61], &deployment);
        assert_eq!(found.layout.bytes_per_token(), 35_136.0, "tp {tp}");
        deployment.kv_element = KvElement::SparseLatentFp8;
        let found = planned(vec![layer(Mixer::Latent(latent)); 61], &deployment);
        assert_eq!(found.layout.bytes_per_token(), 40_016.0, "tp {tp}");
    }
}

#[test]
fn elements_take_their_bytes_with_their_scales() {
    let per_token = |element: KvElement| {
        let mut deployment = served(24);
        deployment.kv_element = element;
        planned(vec![layer(attention(8, 128, Reach::Full)); 32], &deployment)
            .layout
            .bytes_per_token()
    };
    assert_eq!(per_token(KvElement::Bytes(4)), 262_144.0);
    assert_eq!(per_token(KvElement::Bytes(2)), 131_072.0);
    assert_eq!(per_token(KvElement::Bytes(1)), 65_536.0);
    // Two 32-bit scales for each of eight heads in 32 layers.
    assert_eq!(per_token(KvElement::ScaledPerTokenHead), 65_536.0 + 32.0 * 8.0 * 8.0);
    // 64 bytes of elements and 8 of scales for each of 512 keys and values.
    assert_eq!(per_token(KvElement::Nvfp4), 512.0 * 72.0);
}

#[test]
fn a_window_saves_only_what_a_step_does_not_fill() {
    let cache = |hold: Hold| LayerCache {
        block_tokens: 16,
        page_bytes: 1024,
        shape: sim_core::memory::CacheShape { heads: 1, key_dim: 16, value_dim: 16 },
        hold,
    };
    let window = cache(Hold::Window(1024));
    assert_eq!(window.blocks(8192, 8192, 1), 513);
    assert_eq!(window.blocks(100_000, 2048, 1), 193);
    assert_eq!(cache(Hold::Chunk(8192)).blocks(100_000, 8192, 1), 1024);
    assert_eq!(cache(Hold::All).blocks(8193, 2048, 1), 513);
    assert_eq!(cache(Hold::All).blocks(8192, 2048, 4), 128);
    assert_eq!(cache(Hold::State(StatePages::Fixed(2))).blocks(8192, 2048, 1), 2);
    assert_eq!(cache(Hold::State(StatePages::PerBlock)).blocks(40, 2048, 1), 3);
    // Without the hybrid allocator a window saves nothing.
    let layers = || {
        let sliding = vec![layer(attention(4, 64, Reach::Window(1024))); 5];
        [sliding, vec![layer(attention(4, 64, Reach::Full))]].concat()
    };
    let mut deployment = served(19);
    deployment.max_model_len = 65_536;
    let with = planned(layers(), &deployment);
    deployment.has_hybrid_allocator = false;
    let without = planned(layers(), &deployment);
    assert_eq!(without.layout.groups.len(), 1);
    assert!(with.max_concurrency > 3.0 * without.max_concurrency);
}

#[test]
fn kinds_of_nearly_the_same_number_are_padded_instead_of_split() {
    let layers = |full: usize, sliding: usize| {
        let sliding = vec![layer(attention(8, 64, Reach::Window(128))); sliding];
        [vec![layer(attention(8, 64, Reach::Full)); full], sliding].concat()
    };
    let shape = |version: u32, full: usize, sliding: usize| {
        let found = planned(layers(full, sliding), &served(version)).layout;
        (found.groups.len(), found.layers_per_group(), found.padding_layers())
    };
    assert_eq!(shape(19, 12, 12), (2, 12, 0));
    // With a drafter that has one more.
    assert_eq!(shape(19, 13, 12), (2, 13, 1));
    assert_eq!(shape(19, 10, 52), (7, 10, 8));
    assert_eq!(shape(19, 10, 13), (3, 10, 7));
    assert_eq!(shape(20, 10, 13), (2, 13, 3));
}

#[test]
fn pages_are_made_equal_padded_or_refused() {
    let cache = |page_bytes: u64, hold: Hold| LayerCache {
        block_tokens: 16,
        page_bytes,
        shape: sim_core::memory::CacheShape { heads: 1, key_dim: page_bytes, value_dim: 0 },
        hold,
    };
    let rules =
        |pages: PagePolicy| EngineRules { pages, ..EngineRules::of(EngineVersion::MEASURED) };
    // Longer blocks for the smaller page.
    let even = [cache(4096, Hold::All), cache(8192, Hold::Window(1024))];
    let layout = KvLayout::of(&even, &rules(PagePolicy::Refuse)).expect("8192 is twice 4096");
    assert_eq!(layout.groups[0].cache.block_tokens, 32);
    assert_eq!(layout.block_bytes(|_| true), 8192);
    let odd = [cache(4160, Hold::All), cache(8192, Hold::Window(1024))];
    let error = KvLayout::of(&odd, &rules(PagePolicy::Refuse)).expect_err("there is no factor");
    assert!(error.to_string().contains("8192"), "{error}");
    let padded = KvLayout::of(&odd, &rules(PagePolicy::Pad)).expect("it is padded");
    assert_eq!(padded.groups[0].cache.block_tokens, 16);
    assert_eq!(padded.groups[0].cache.page_bytes, 8192);
    // Pages of one type need not be equal: each layer has its own.
    let one_type = [cache(4160, Hold::All), cache(8192, Hold::All)];
    let layout = KvLayout::of(&one_type, &rules(PagePolicy::Refuse)).expect("one group");
    assert_eq!((layout.groups.len(), layout.block_bytes(|_| true)), (1, 4160 + 8192));
}

#[test]
fn a_state_makes_blocks_of_attention_as_large_as_itself() {
    let delta = Recurrent::GatedDelta {
        key_heads: 16,
        value_heads: 32,
        key_dim: 128,
        value_dim: 128,
        taps: 4,
    };
    // Conv: 3 × 8,192 elements of 2 bytes; state: 32 × 128 × 128 of 4.
    assert_eq!(delta.state_bytes(1, 2, 4, 0), 2_146_304);
    assert_eq!(delta.state_bytes(2, 2, 4, 0), 1_073_152);
    assert_eq!(delta.state_bytes(1, 2, 4, 1), 2_146_304 + 8192 * 2);
    // A recurrence alone: one page per layer and request.
    let mut deployment = served(19);
    let found = planned(vec![layer(Mixer::Recurrent(delta)); 24], &deployment);
    assert_eq!(found.blocks_per_request, 1);
    assert_eq!(found.layout.block_bytes(|_| true), 24 * (49_152 + 1_048_576));
    // States of all blocks are kept where the kernel works in chunks.
    let mamba =
        Recurrent::Mamba2 { heads: 48, head_dim: 64, state: 128, groups: 1, taps: 4, chunk: 256 };
    deployment.caches_states = true;
    let layers = vec![layer(Mixer::Recurrent(mamba)), layer(attention(4, 128, Reach::Full))];
    let found = planned(layers, &deployment);
    let attention_blocks =
        found.layout.groups.iter().find(|group| group.cache.hold == Hold::All).expect("attention");
    assert!(attention_blocks.cache.block_tokens.is_multiple_of(256));
    assert_eq!(
        found.blocks_per_request,
        2 * 8192_u64.div_ceil(attention_blocks.cache.block_tokens)
    );
}

#[test]
fn a_layer_that_reads_anothers_cache_keeps_none() {
    let shared = Attention { shares_cache: true, ..Attention::full(8, 2, 64) };
    let own = layer(Mixer::Attention(Attention::full(8, 2, 64)));
    let layers = vec![own, layer(Mixer::Attention(shared))];
    assert_eq!(planned(layers, &served(19)).layout.bytes_per_token(), 2.0 * 2.0 * 64.0 * 2.0);
}

#[test]
fn stages_get_even_shares_and_the_last_none_of_the_rest() {
    let stages = |layers: usize, pp: u64| {
        let mut deployment = served(19);
        deployment.parallel.pp = pp;
        let found = planned(vec![layer(attention(4, 64, Reach::Full)); layers], &deployment);
        found.stages.iter().map(|stage| stage.layers).collect::<Vec<_>>()
    };
    assert_eq!(stages(32, 4), [8, 8, 8, 8]);
    assert_eq!(stages(27, 2), [14, 13]);
    assert_eq!(stages(61, 4), [15, 15, 16, 15]);
    assert_eq!(stages(6, 4), [1, 2, 2, 1]);
}

#[test]
fn experts_are_shared_by_all_ranks_and_attention_by_those_of_one_replica() {
    let experts =
        FeedForward::Experts { count: 64, active: 8, width: 1024, shared_width: 0, matrices: 3 };
    let mixer = attention(8, 128, Reach::Full);
    let layers = vec![Layer { mixers: vec![mixer], feed_forward: experts }; 4];
    let of = |parallel: Parallelism| {
        let mut deployment = served(19);
        deployment.parallel = parallel;
        planned(layers.clone(), &deployment).stages[0].weights
    };
    let alone = of(Parallelism::default());
    assert_eq!(alone.expert_bytes, (4 * 64 * 3 * 256 * 1024 * 2) as f64);
    let by_tensor = of(Parallelism { tp: 8, ..Parallelism::default() });
    let by_data = of(Parallelism { dp: 8, ..Parallelism::default() });
    let by_experts =
        of(Parallelism { dp: 8, has_expert_parallelism: true, ..Parallelism::default() });
    for divided in [by_tensor, by_data, by_experts] {
        assert_eq!(divided.expert_bytes * 8.0, alone.expert_bytes);
    }
    assert!(by_tensor.mixing_bytes < alone.mixing_bytes);
    assert_eq!(by_data.mixing_bytes, alone.mixing_bytes);
    // Whole experts do not divide evenly: someone has one more.
    let uneven = of(Parallelism { tp: 48, has_expert_parallelism: true, ..Parallelism::default() });
    assert_eq!(uneven.expert_bytes * 32.0, alone.expert_bytes);
}

#[test]
fn a_measured_number_of_blocks_stands_for_the_computed() {
    let mut deployment = served(19);
    deployment.num_blocks = Some(1000);
    let found = planned(vec![layer(attention(4, 64, Reach::Full)); 8], &deployment);
    assert_eq!(found.num_blocks, 1000);
    assert_eq!(found.logged_tokens, 16_000);
    assert_eq!(found.max_concurrency, 1000.0 / 512.0);
    // One block is never given out.
    assert_eq!(found.requests_that_fit(16 * 333), 3);
    assert_eq!(found.requests_that_fit(16 * 334), 2);
    assert_eq!(found.longest_request(1 << 20), 999 * 16);
}

#[test]
fn versions_are_read_and_others_refused() {
    for (text, minor) in [("vllm@0.19", 19), ("vLLM@v0.22.1", 22), ("0.11", 11), ("vllm", 33)] {
        assert_eq!(text.parse(), Ok(EngineVersion { minor }), "{text}");
    }
    for text in ["", "vllm@", "vllm@0.9", "vllm@1.0", "sglang@0.5", "vllm@0.34", "0.x"] {
        let error = text.parse::<EngineVersion>().expect_err(text);
        assert!(error.to_string().contains("vllm@0.19"), "{error}");
    }
    assert_eq!(EngineVersion { minor: 19 }.to_string(), "vllm@0.19");
    let graphs = |version: u32| {
        let found = planned(vec![layer(attention(4, 64, Reach::Full)); 32], &served(version));
        found.stages[0].budget.graphs.bytes
    };
    assert_eq!(graphs(20), 0.0);
    assert!(graphs(21) > 0.5 * GIB);
}

#[test]
fn what_is_assumed_has_a_wider_band_than_what_was_measured() {
    let layers = || vec![layer(attention(4, 64, Reach::Full)); 32];
    let band = |gpu: Gpu, version: u32| {
        let mut deployment = served(version);
        deployment.gpu = gpu;
        planned(layers(), &deployment).stages[0].budget.kv_half_width_bytes / GIB
    };
    let measured = Gpu { is_measured: true, ..GPU };
    assert!(band(measured, 19) <= 1.0);
    assert!(band(measured, 24) >= 3.0 && band(GPU, 19) > 2.0);
    let mut deployment = served(24);
    deployment.given.kv_bytes = Some(10.0 * GIB);
    let known = planned(layers(), &deployment);
    assert_eq!(known.stages[0].budget.kv_half_width_bytes, 0.0);
    assert_eq!(known.stages[0].budget.kv_bytes, 10.0 * GIB);
}

#[test]
fn what_the_engine_would_refuse_is_refused_with_a_remedy() {
    let full = Mixer::Attention(Attention::full(20, 4, 64));
    let with = |change: fn(&mut Deployment)| {
        let mut deployment = served(19);
        change(&mut deployment);
        let layers = vec![layer(full.clone()); 4];
        plan(&architecture(layers), &deployment).expect_err("it is refused").to_string()
    };
    for (error, words) in [
        (with(|it| it.parallel.tp = 8), "shares out 20 attention heads"),
        (with(|it| it.parallel.tp = 0), "tp is 0"),
        (with(|it| it.parallel.pp = 5), "at most 4"),
        (with(|it| it.parallel.dcp = 2), "divisor of tp"),
        (with(|it| it.utilization = 1.2), "gpu_memory_utilization is 1.2"),
        (with(|it| it.max_model_len = 0), "max_model_len is 0"),
        (with(|it| it.num_blocks = Some(0)), "num_gpu_blocks is 0"),
        (with(|it| it.given.weights_bytes = Some(f64::NAN)), "weights"),
    ] {
        assert!(error.contains(words), "{error}");
    }
    let none = plan(&architecture(Vec::new()), &served(19)).expect_err("there are no layers");
    assert!(none.to_string().contains("layers is 0"), "{none}");
}
