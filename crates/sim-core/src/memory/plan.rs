//! From an architecture and a deployment to blocks, tokens and concurrency.

use super::{
    Architecture, Budget, EngineRules, EngineVersion, Given, Hold, KvElement, KvLayout, LayerCache,
    MemoryError, Mixer, RankWeights, StatePages, WeightBytes, architecture::in_reach,
};

/// Ranks beyond this are no deployment of one model.
const MOST_RANKS: u64 = 4096;
/// Tokens of a context or a step.
const MOST_TOKENS: u64 = 1 << 32;

/// How a model is divided among GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// Ranks that share each layer.
    pub tp: u64,
    /// Stages that layers are dealt to.
    pub pp: u64,
    /// Replicas of attention, each with requests and KV cache of its own, that share the experts.
    pub dp: u64,
    /// Ranks that share the tokens of a request's full attention (within `tp`).
    pub dcp: u64,
    /// Whether ranks hold whole experts instead of a part of each.
    pub has_expert_parallelism: bool,
}

impl Default for Parallelism {
    fn default() -> Self {
        Self { tp: 1, pp: 1, dp: 1, dcp: 1, has_expert_parallelism: false }
    }
}

/// One GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gpu {
    /// Memory that the driver reports, bytes: an “80 GB” H100 has 79.19 GiB.
    pub total_bytes: f64,
    /// Whether the ranks of a node reduce over NVLink or its like, whose buffers take memory.
    pub has_fast_links: bool,
    /// Whether the engine's fixed costs were measured on it.
    pub is_measured: bool,
}

/// How a model is served.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// The GPU.
    pub gpu: Gpu,
    /// What the engine's version does.
    pub rules: EngineRules,
    /// How the model is divided.
    pub parallel: Parallelism,
    /// Share of the GPU's memory that the engine may take, above 0 to 1.
    pub utilization: f64,
    /// Longest request, tokens.
    pub max_model_len: u64,
    /// Most tokens of one step.
    pub max_num_batched_tokens: u64,
    /// Most requests that run at once.
    pub max_num_seqs: u64,
    /// Bytes of the weights.
    pub weight_bytes: WeightBytes,
    /// How keys and values are stored.
    pub kv_element: KvElement,
    /// Tokens of one block of attention, where nothing asks for longer ones; `None` for the engine's
    /// choice: 64 for sparse latent attention, otherwise 16.
    pub block_tokens: Option<u64>,
    /// Whether states of recurrent layers are kept so that prefixes can be found again.
    pub caches_states: bool,
    /// Whether layers with windows keep less (the hybrid allocator) or all tokens.
    pub has_hybrid_allocator: bool,
    /// Tokens that speculative decoding drafts in a step.
    pub drafted_tokens: u64,
    /// Whether CUDA graphs are captured.
    pub has_cuda_graphs: bool,
    /// Terms that are known.
    pub given: Given,
    /// Blocks as logged or set (`num_gpu_blocks`), which then stand for the computed ones.
    pub num_blocks: Option<u64>,
}

impl Deployment {
    /// One GPU with the defaults of an engine's version: BF16, 8,192 tokens a step, 1,024 requests.
    pub fn on(gpu: Gpu, version: EngineVersion, max_model_len: u64) -> Self {
        let rules = EngineRules::of(version);
        Self {
            gpu,
            rules,
            parallel: Parallelism::default(),
            utilization: rules.utilization,
            max_model_len,
            max_num_batched_tokens: 8192,
            max_num_seqs: 1024,
            weight_bytes: WeightBytes::plain(2.0),
            kv_element: KvElement::Bytes(2),
            block_tokens: None,
            caches_states: rules.caches_states,
            has_hybrid_allocator: true,
            drafted_tokens: 0,
            has_cuda_graphs: true,
            given: Given::default(),
            num_blocks: None,
        }
    }
}

/// One stage of the pipeline, on each of its GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct StagePlan {
    /// How many layers it has.
    pub layers: usize,
    /// What its weights are made of.
    pub weights: RankWeights,
    /// Its budget.
    pub budget: Budget,
    /// Bytes that one block takes here; zero where the stage keeps no cache.
    pub block_bytes: u64,
    /// Blocks that fit here.
    pub blocks: u64,
}

/// What fits.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPlan {
    /// The stages, first to last.
    pub stages: Vec<StagePlan>,
    /// The stage with the fewest blocks, which all have to keep to.
    pub tightest_stage: usize,
    /// How layers share blocks.
    pub layout: KvLayout,
    /// Blocks of the pool (`num_gpu_blocks`); one data-parallel replica has so many.
    pub num_blocks: u64,
    /// Blocks of a request of `max_model_len` tokens.
    pub blocks_per_request: u64,
    /// The log's “Maximum concurrency for `max_model_len` tokens per request”.
    pub max_concurrency: f64,
    /// The log's “GPU KV cache size” in tokens, as the engine's version counts them.
    pub logged_tokens: u64,
    step_tokens: u64,
    dcp: u64,
}

impl MemoryPlan {
    /// How many requests of so many tokens fit at once. One block of the pool is never given out.
    pub fn requests_that_fit(&self, tokens: u64) -> u64 {
        let needed = self.layout.blocks_per_request(tokens, self.step_tokens, self.dcp);
        self.num_blocks.saturating_sub(1).checked_div(needed).unwrap_or(0)
    }

    /// The longest request that fits alone, up to `most` tokens; zero if not even one token does.
    pub fn longest_request(&self, most: u64) -> u64 {
        let fits = |tokens| self.requests_that_fit(tokens) > 0;
        if !fits(1) {
            return 0;
        }
        let (mut fitting, mut beyond) = (1, most.saturating_add(1));
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        fitting
    }

    /// The stage with the fewest blocks.
    pub fn tightest(&self) -> Option<&StagePlan> {
        self.stages.get(self.tightest_stage)
    }
}

/// What fits of a model in a deployment.
///
/// # Errors
///
/// If a number is out of range, or the engine would refuse the division of the model.
pub fn plan(
    architecture: &Architecture,
    deployment: &Deployment,
) -> Result<MemoryPlan, MemoryError> {
    architecture.check()?;
    check(architecture, deployment)?;
    let (caches, owners) = caches(architecture, deployment)?;
    let layout = KvLayout::of(&caches, &deployment.rules)?;
    let mut stages = Vec::new();
    let mut begin = 0;
    for (stage, count) in stage_layers(architecture.layers.len(), deployment.parallel.pp) {
        let layers = architecture.layers.get(begin..begin + count).unwrap_or_default();
        let weights = RankWeights::of(
            architecture,
            &deployment.weight_bytes,
            &deployment.parallel,
            stage,
            layers,
        );
        let is_last = stage + 1 == deployment.parallel.pp;
        let budget = Budget::of(architecture, deployment, weights.total_bytes(), count, is_last);
        let is_here = |cache: usize| {
            owners.get(cache).is_some_and(|layer| (begin..begin + count).contains(layer))
        };
        let block_bytes = layout.block_bytes(is_here);
        let blocks = whole(budget.kv_bytes).checked_div(block_bytes).unwrap_or(0);
        stages.push(StagePlan { layers: count, weights, budget, block_bytes, blocks });
        begin += count;
    }
    let cached = stages.iter().enumerate().filter(|(_, stage)| stage.block_bytes > 0);
    let tightest_stage = cached.min_by_key(|(_, stage)| stage.blocks).map_or(0, |(index, _)| index);
    let fitting = stages.get(tightest_stage).map_or(0, |stage| stage.blocks);
    Ok(counted(deployment, layout, stages, tightest_stage, fitting))
}

fn counted(
    deployment: &Deployment,
    layout: KvLayout,
    stages: Vec<StagePlan>,
    tightest_stage: usize,
    fitting: u64,
) -> MemoryPlan {
    let dcp = deployment.parallel.dcp;
    let num_blocks = deployment.num_blocks.unwrap_or(fitting);
    let step_tokens = deployment.max_num_batched_tokens;
    let blocks_per_request = layout.blocks_per_request(deployment.max_model_len, step_tokens, dcp);
    let max_concurrency =
        if blocks_per_request == 0 { 0.0 } else { num_blocks as f64 / blocks_per_request as f64 };
    let logged_tokens = if deployment.rules.logs_tokens_by_concurrency {
        // The engine truncates this very product.
        (max_concurrency * deployment.max_model_len as f64) as u64
    } else {
        let even = num_blocks.checked_div(layout.groups.len() as u64).unwrap_or(0);
        even * layout.least_block_tokens() * dcp
    };
    MemoryPlan {
        stages,
        tightest_stage,
        layout,
        num_blocks,
        blocks_per_request,
        max_concurrency,
        logged_tokens,
        step_tokens,
        dcp,
    }
}

/// How many layers each stage has: equal shares, and what is left over to the stages before the last,
/// from the back, since the last has the output projection (vLLM, `distributed/utils.py`).
fn stage_layers(layers: usize, pp: u64) -> impl Iterator<Item = (u64, usize)> {
    let stages = pp as usize;
    let (even, rest) = (layers / stages, layers % stages);
    (0..stages).map(move |stage| {
        let from_back = stages - stage;
        let is_longer = from_back >= 2 && from_back < rest + 2;
        (stage as u64, even + usize::from(is_longer))
    })
}

/// The caches of all layers, with the layer that each belongs to.
fn caches(
    architecture: &Architecture,
    deployment: &Deployment,
) -> Result<(Vec<LayerCache>, Vec<usize>), MemoryError> {
    let block_tokens = block_tokens(architecture, deployment);
    let (tp, element) = (deployment.parallel.tp, deployment.kv_element);
    let mut caches = Vec::new();
    let mut owners = Vec::new();
    let state = state_cache(architecture, deployment, block_tokens)?;
    let attention_block = state.map_or(block_tokens, |state| state.attention_block_tokens);
    for (index, layer) in architecture.layers.iter().enumerate() {
        for mixer in &layer.mixers {
            let cache = match (mixer, state) {
                (Mixer::Recurrent(_), Some(state)) => Some(state.cache),
                _ => LayerCache::of_attention(mixer, element, tp, attention_block),
            };
            let indexer = match mixer {
                Mixer::Latent(latent) => LayerCache::of_indexer(latent, attention_block),
                Mixer::Attention(_) | Mixer::Recurrent(_) => None,
            };
            for mut cache in cache.into_iter().chain(indexer) {
                if !deployment.has_hybrid_allocator && !matches!(cache.hold, Hold::State(_)) {
                    cache.hold = Hold::All;
                }
                caches.push(cache);
                owners.push(index);
            }
        }
    }
    Ok((caches, owners))
}

/// The page of recurrent layers, and the blocks of attention that are made as large.
#[derive(Clone, Copy)]
struct StateCache {
    cache: LayerCache,
    attention_block_tokens: u64,
}

/// States take whole pages, so blocks of attention become so long that a page of theirs holds a state
/// (vLLM, `HybridAttentionMambaModelConfig`): a multiple of the kernel's block, and of the recurrence's
/// chunk where states of all blocks are kept.
fn state_cache(
    architecture: &Architecture,
    deployment: &Deployment,
    block_tokens: u64,
) -> Result<Option<StateCache>, MemoryError> {
    let tp = deployment.parallel.tp;
    let model_bytes = deployment.weight_bytes.plain as u64;
    let element = match architecture.state_element_bytes {
        0 => model_bytes,
        bytes => bytes,
    };
    let mixers = || architecture.layers.iter().flat_map(|layer| &layer.mixers);
    let drafted = deployment.drafted_tokens;
    let recurrences = mixers().filter_map(|mixer| match mixer {
        Mixer::Recurrent(recurrent) => Some(recurrent),
        Mixer::Attention(_) | Mixer::Latent(_) => None,
    });
    let largest = recurrences
        .map(|it| (it.state_bytes(tp, model_bytes, element, drafted), it.chunk_tokens()))
        .max();
    let Some((state_bytes, chunk)) = largest else { return Ok(None) };
    let per_token = mixers()
        .filter_map(|mixer| LayerCache::of_attention(mixer, deployment.kv_element, tp, 1))
        .map(|cache| cache.page_bytes)
        .max();
    let keeps_all = deployment.caches_states && chunk.is_some();
    let pages = if keeps_all {
        StatePages::PerBlock
    } else {
        StatePages::Fixed(if deployment.caches_states { 2 } else { 1 } + drafted)
    };
    let step =
        if keeps_all { common_multiple(block_tokens, chunk.unwrap_or(1)) } else { block_tokens };
    let (attention_block_tokens, page_bytes) = match per_token {
        Some(bytes) => {
            let tokens = step * state_bytes.div_ceil(step.saturating_mul(bytes)).max(1);
            (tokens, tokens.saturating_mul(bytes))
        }
        None => (block_tokens, state_bytes),
    };
    if page_bytes == 0 || page_bytes > 1 << 45 {
        let fix = "no GPU holds a page of it; check the dimensions of the recurrent layers";
        return Err(MemoryError::new(
            "the state of a request",
            &format!("{state_bytes} bytes"),
            fix,
        ));
    }
    let state_block = if deployment.caches_states && per_token.is_some() {
        attention_block_tokens
    } else {
        deployment.max_model_len
    };
    let cache = LayerCache {
        block_tokens: state_block,
        page_bytes,
        shape: super::CacheShape { heads: 0, key_dim: state_bytes, value_dim: 0 },
        hold: Hold::State(pages),
    };
    Ok(Some(StateCache { cache, attention_block_tokens }))
}

fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor.max(1) * b
}

fn block_tokens(architecture: &Architecture, deployment: &Deployment) -> u64 {
    let is_sparse = architecture
        .layers
        .iter()
        .flat_map(|layer| &layer.mixers)
        .any(|mixer| matches!(mixer, Mixer::Latent(latent) if latent.indexer.is_some()));
    deployment.block_tokens.unwrap_or(if is_sparse { 64 } else { 16 })
}

fn check(architecture: &Architecture, deployment: &Deployment) -> Result<(), MemoryError> {
    let Parallelism { tp, pp, dp, dcp, .. } = deployment.parallel;
    for (field, ranks) in [("tp", tp), ("pp", pp), ("dp", dp), ("dcp", dcp)] {
        in_reach(field, ranks, MOST_RANKS)?;
    }
    if pp > architecture.layers.len() as u64 {
        let fix = format!("give at most {}, the number of layers", architecture.layers.len());
        return Err(MemoryError::new("pp", &pp, fix));
    }
    if !tp.is_multiple_of(dcp) {
        return Err(MemoryError::new("dcp", &dcp, format!("give a divisor of tp, {tp}")));
    }
    in_reach("max_model_len", deployment.max_model_len, MOST_TOKENS)?;
    in_reach("max_num_batched_tokens", deployment.max_num_batched_tokens, MOST_TOKENS)?;
    in_reach("max_num_seqs", deployment.max_num_seqs, MOST_TOKENS)?;
    in_reach("block_size", deployment.block_tokens.unwrap_or(16), 1 << 16)?;
    if deployment.drafted_tokens > 64 {
        let fix = "give at most 64";
        return Err(MemoryError::new("drafted tokens", &deployment.drafted_tokens, fix));
    }
    let share = deployment.utilization;
    if !(share > 0.0 && share <= 1.0) {
        let fix = "give a share above 0 and up to 1, for example 0.9";
        return Err(MemoryError::new("gpu_memory_utilization", &share, fix));
    }
    let total = deployment.gpu.total_bytes;
    if !(total > 0.0 && total < 1e15) {
        return Err(MemoryError::new("the GPU's memory", &total, "give its bytes"));
    }
    let given = &deployment.given;
    let terms = [
        ("weights", given.weights_bytes),
        ("activation", given.activation_bytes),
        ("non_torch", given.non_torch_bytes),
        ("graphs", given.graph_bytes),
        ("kv_cache", given.kv_bytes),
    ];
    for (field, bytes) in terms {
        if bytes.is_some_and(|bytes| !(bytes.is_finite() && libm::fabs(bytes) < 1e15)) {
            let fix = "give the GiB of one GPU, as the log prints them";
            return Err(MemoryError::new(field, &"no number of bytes", fix));
        }
    }
    in_reach("num_gpu_blocks", deployment.num_blocks.unwrap_or(1), 1 << 50)?;
    heads_divide(architecture, tp)
}

/// More GPUs than share a layer anywhere.
const MOST_SHARED: u64 = 64;

/// vLLM refuses to divide heads unevenly, and takes keys and values only where they are divided or
/// repeated evenly (its `ModelConfig.verify_with_parallel_config` and `QKVParallelLinear`).
fn heads_divide(architecture: &Architecture, tp: u64) -> Result<(), MemoryError> {
    let heads: Vec<(u64, u64)> = architecture
        .layers
        .iter()
        .flat_map(|layer| &layer.mixers)
        .filter_map(|mixer| match mixer {
            Mixer::Attention(attention) => Some((attention.heads, attention.kv_heads)),
            Mixer::Latent(latent) => Some((latent.heads, 1)),
            Mixer::Recurrent(_) => None,
        })
        .collect();
    let is_even = |gpus: u64| {
        heads.iter().all(|&(heads, kv_heads)| {
            let kv_is_even = kv_heads.is_multiple_of(gpus) || gpus.is_multiple_of(kv_heads);
            heads.is_multiple_of(gpus) && kv_is_even
        })
    };
    if is_even(tp) {
        return Ok(());
    }
    let even = (1..=MOST_SHARED).filter(|gpus| is_even(*gpus));
    let even: Vec<String> = even.map(|gpus| gpus.to_string()).collect();
    let (heads, kv_heads) = heads.first().copied().unwrap_or((1, 1));
    let fix = format!(
        "give a number that shares out {heads} attention heads and {kv_heads} of keys and values: {}",
        even.join(", ")
    );
    Err(MemoryError::new("tp", &tp, fix))
}

/// Bytes as a whole number; nothing where there is less than nothing.
fn whole(bytes: f64) -> u64 {
    if bytes > 0.0 { bytes as u64 } else { 0 }
}
