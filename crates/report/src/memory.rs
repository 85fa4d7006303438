//! Telling a memory plan: every term of the budget, and what is made of the rest.

use charts::MemoryPart;
use quantity::{count, number_fixed};
use serde_json::{Value, json};
use sim_core::float::greater;
use sim_core::memory::{
    ActivationFeatures, ActivationModel, Basis, Deployment, GIB, Hold, KvLayout, MemoryPlan,
    StagePlan, StatePages, Term,
};

use crate::table;

/// A plan with the names that belong to it.
#[derive(Clone, Debug)]
pub struct MemoryTelling<'a> {
    /// The model, with its precision.
    pub model: String,
    /// Where the facts of the architecture are from.
    pub model_source: String,
    /// Where the format of the weights is known from; may be empty.
    pub weights_source: String,
    /// The GPU.
    pub gpu: String,
    /// Where its memory is said; empty where it follows from the nominal memory.
    pub gpu_source: String,
    /// The architecture.
    pub architecture: &'a sim_core::memory::Architecture,
    /// How it is served.
    pub deployment: &'a Deployment,
    /// What fits.
    pub plan: &'a MemoryPlan,
    /// Contexts for which the requests that fit are told, tokens.
    pub contexts: Vec<u64>,
    /// Changes that make a request of the full length fit, where it does not; each was tried.
    pub remedies: Vec<String>,
}

/// The memory of one GPU in parts, for a bar: what the engine takes, what is left of it for the cache, and what it
/// leaves alone.
pub fn memory_parts(plan: &MemoryPlan) -> Vec<MemoryPart> {
    let Some(stage) = plan.tightest() else { return Vec::new() };
    let budget = &stage.budget;
    let part = |name: &str, bytes: f64, colour| MemoryPart { name: name.to_owned(), bytes, colour };
    vec![
        part("Weights", budget.weights.bytes, 1),
        part("Activations at their peak", budget.activation.bytes, 3),
        part("Outside the framework", budget.non_torch.bytes, 4),
        part("CUDA graphs", budget.graphs.bytes, 5),
        part("KV cache", greater(budget.kv_bytes, 0.0), 2),
        part("Left alone", budget.total_bytes * (1.0 - budget.utilization), 0),
    ]
}

/// Whether at least one request of the full length fits.
pub fn memory_fits(plan: &MemoryPlan, deployment: &Deployment) -> bool {
    plan.requests_that_fit(deployment.max_model_len) > 0
}

/// All of it as text.
pub fn memory_text(telling: &MemoryTelling<'_>) -> String {
    let Some(stage) = telling.plan.tightest() else { return String::new() };
    let mut parts = vec![heading(telling), budget_table(telling, stage), kv_text(telling, stage)];
    if !telling.remedies.is_empty() {
        parts.push(format!(
            "A request of {} tokens does not fit. It does with:\n  {}\n",
            count(telling.deployment.max_model_len),
            telling.remedies.join("\n  ")
        ));
    } else if !memory_fits(telling.plan, telling.deployment) {
        parts.push(format!(
            "A request of {} tokens does not fit.\n",
            count(telling.deployment.max_model_len)
        ));
    }
    parts.join("\n")
}

fn heading(telling: &MemoryTelling<'_>) -> String {
    let deployment = telling.deployment;
    let parallel = &deployment.parallel;
    let mut ways = vec![format!("tp {}", parallel.tp)];
    for (name, ranks) in [("pp", parallel.pp), ("dp", parallel.dp), ("dcp", parallel.dcp)] {
        if ranks > 1 {
            ways.push(format!("{name} {ranks}"));
        }
    }
    if parallel.has_expert_parallelism {
        ways.push("expert parallel".to_owned());
    }
    let gpus = parallel.tp * parallel.pp * parallel.dp;
    let stages = if parallel.pp > 1 {
        let stage = telling.plan.tightest_stage + 1;
        format!(
            "Terms are those of stage {stage} of {}, which has the fewest blocks.\n",
            parallel.pp
        )
    } else {
        String::new()
    };
    let weights = match telling.weights_source.as_str() {
        "" => String::new(),
        source => format!("Weights, {source}\n"),
    };
    format!(
        "{} on {gpus} × {} ({}), {}\nArchitecture, {}\n{weights}{stages}",
        telling.model,
        telling.gpu,
        ways.join(", "),
        deployment.rules.version,
        telling.model_source,
    )
}

fn gib(bytes: f64) -> String {
    number_fixed(bytes / GIB, 2)
}

/// Copies, without digits that mean nothing.
fn times(copies: f64) -> String {
    number_fixed(copies, 2)
}

fn known(term: &Term) -> &'static str {
    match term.basis {
        Basis::Given => "given",
        Basis::Derived => "computed",
        Basis::Fitted => {
            "fitted to 38 start-up logs of this version on this GPU (llm-d-planner, 2026-04)"
        }
        Basis::Assumed => "assumed: no logs of this version on this GPU",
    }
}

fn budget_table(telling: &MemoryTelling<'_>, stage: &StagePlan) -> String {
    let budget = &stage.budget;
    let source = if telling.gpu_source.is_empty() {
        "assumed from the nominal memory".to_owned()
    } else {
        format!("as the driver reports it; {}", telling.gpu_source)
    };
    let requested = budget.total_bytes * budget.utilization;
    let term = |name: &str, term: &Term, formula: String| {
        let how = match term.basis {
            Basis::Given => known(term).to_owned(),
            _ if formula.is_empty() => known(term).to_owned(),
            _ => format!("{}: {formula}", known(term)),
        };
        [format!("− {name}"), gib(term.bytes), how]
    };
    let left = if budget.kv_half_width_bytes > 0.0 {
        format!("what is left, ± {} GiB", gib(budget.kv_half_width_bytes))
    } else {
        "what is left".to_owned()
    };
    let graphs = if budget.graphs.bytes > 0.0 {
        "0.2 GiB and 0.022 for each layer".to_owned()
    } else if telling.deployment.rules.reserves_graphs {
        "in the activations, or none are captured".to_owned()
    } else {
        "nothing is kept for them before version 0.21".to_owned()
    };
    let rows = [
        ["GPU memory".to_owned(), gib(budget.total_bytes), source],
        ["× utilisation".to_owned(), gib(requested), utilisation(telling)],
        term("weights", &budget.weights, weights_formula(stage)),
        term("activations", &budget.activation, activation_formula(telling)),
        term("outside the framework", &budget.non_torch, String::new()),
        term("CUDA graphs", &budget.graphs, graphs),
        ["= KV cache".to_owned(), gib(budget.kv_bytes), left],
    ];
    table::ragged(&["term, one GPU", "GiB", "how it is known"], &rows)
}

/// The share of the memory, and whose it is.
fn utilisation(telling: &MemoryTelling<'_>) -> String {
    let deployment = telling.deployment;
    let share = quantity::number(deployment.utilization);
    let rules = &deployment.rules;
    let whose = if deployment.utilization == rules.utilization {
        format!("the default of {}", rules.version)
    } else {
        format!(
            "given; the default of {} is {}",
            rules.version,
            quantity::number(rules.utilization)
        )
    };
    format!("gpu_memory_utilization {share}, {whose}")
}

fn weights_formula(stage: &StagePlan) -> String {
    let weights = &stage.weights;
    let parts = [
        ("embeddings and output", weights.vocabulary_bytes),
        ("attention and recurrences", weights.mixing_bytes),
        ("dense layers and routers", weights.dense_bytes),
        ("experts", weights.expert_bytes),
        ("towers", weights.tower_bytes),
        ("rotary tables", weights.rotary_bytes),
    ];
    let told = parts.iter().filter(|(_, bytes)| *bytes > 0.0);
    told.map(|(name, bytes)| format!("{name} {}", gib(*bytes))).collect::<Vec<_>>().join(", ")
}

fn activation_formula(telling: &MemoryTelling<'_>) -> String {
    let plan = telling.plan;
    let is_last = plan.tightest_stage + 1 == plan.stages.len();
    let of = ActivationFeatures::of(telling.architecture, telling.deployment, is_last);
    let model = ActivationModel::of(&telling.deployment.rules);
    let parts = [
        (model.logits, of.logit_bytes, "logits"),
        (model.stream, of.stream_bytes, "residual stream"),
        (model.experts, of.expert_bytes, "experts’ buffers"),
        (1.0, model.towers_bytes * of.towers, "inputs of towers"),
    ];
    let told = parts.iter().filter(|(_, bytes, _)| *bytes > 0.0);
    let words = told.map(|(copies, bytes, name)| match *copies {
        1.0 => format!("{} for {name}", gib(*bytes)),
        copies => format!("{} × {} of {name}", times(copies), gib(*bytes)),
    });
    words.collect::<Vec<_>>().join(" + ")
}

fn kv_text(telling: &MemoryTelling<'_>, stage: &StagePlan) -> String {
    let (plan, deployment) = (telling.plan, telling.deployment);
    let layout = &plan.layout;
    let mut lines = vec![format!(
        "KV cache: {} bytes per token on one GPU{}",
        quantity::whole(layout.bytes_per_token()),
        if layout.groups.iter().any(|group| group.cache.hold != Hold::All) {
            ", beside what windows and states hold"
        } else {
            ""
        }
    )];
    lines.extend(group_lines(layout));
    let origin = if deployment.num_blocks.is_some() { "as given" } else { "computed" };
    lines.push(format!(
        "  blocks: {} of {}, {origin}",
        count(plan.num_blocks),
        quantity::memory(stage.block_bytes as f64)
    ));
    lines.push(format!(
        "  GPU KV cache size, as the engine logs it: {} tokens",
        count(plan.logged_tokens)
    ));
    lines.push(format!(
        "  Maximum concurrency for {} tokens per request: {}x ({} blocks each)",
        count(deployment.max_model_len),
        number_fixed(plan.max_concurrency, 2),
        count(plan.blocks_per_request)
    ));
    for tokens in &telling.contexts {
        let fit = plan.requests_that_fit(*tokens);
        let limit = if fit > deployment.max_num_seqs {
            format!(", of which max_num_seqs lets {} run", count(deployment.max_num_seqs))
        } else {
            String::new()
        };
        let requests = quantity::counted(fit, "request", "requests");
        lines.push(format!("  {requests} of {} tokens at once{limit}", count(*tokens)));
    }
    let longest = plan.longest_request(deployment.max_model_len);
    lines.push(format!("  longest request that fits: {} tokens", count(longest)));
    if deployment.parallel.dp > 1 {
        lines.push(format!(
            "  each of the {} replicas of attention has such a pool of its own",
            deployment.parallel.dp
        ));
    }
    lines.join("\n") + "\n"
}

fn group_lines(layout: &KvLayout) -> Vec<String> {
    let line = |group: &sim_core::memory::CacheGroup| {
        let layers = quantity::counted(group.layers.len() as u64, "cache", "caches");
        format!(
            "  group of {layers}: {}, blocks of {} tokens, pages of {}",
            hold_words(group.cache.hold),
            count(group.cache.block_tokens),
            quantity::memory(group.cache.page_bytes as f64)
        )
    };
    if layout.groups.len() < 2 && layout.groups.iter().all(|group| group.cache.hold == Hold::All) {
        return Vec::new();
    }
    let mut lines: Vec<String> = layout.groups.iter().map(line).collect();
    if layout.padding_layers() > 0 {
        let padding = quantity::counted(layout.padding_layers() as u64, "slot", "slots");
        lines.push(format!("  {padding} of the groups are padding"));
    }
    lines
}

fn hold_words(hold: Hold) -> String {
    match hold {
        Hold::All => "all tokens".to_owned(),
        Hold::Window(tokens) => format!("a window of {} tokens", count(tokens)),
        Hold::Chunk(tokens) => format!("chunks of {} tokens", count(tokens)),
        Hold::State(StatePages::Fixed(1)) => "one state per request".to_owned(),
        Hold::State(StatePages::Fixed(pages)) => format!("{pages} states per request"),
        Hold::State(StatePages::PerBlock) => "a state per block".to_owned(),
    }
}

/// All of it as JSON, in SI units.
pub fn memory_json(telling: &MemoryTelling<'_>) -> String {
    let (plan, deployment) = (telling.plan, telling.deployment);
    let document = json!({
        "kind": "memory",
        "schema": crate::SCHEMA,
        "model": telling.model,
        "model_source": telling.model_source,
        "weights_source": telling.weights_source,
        "gpu": telling.gpu,
        "gpu_source": telling.gpu_source,
        "engine": deployment.rules.version.to_string(),
        "is_measured_version": deployment.rules.is_measured && deployment.gpu.is_measured,
        "tp": deployment.parallel.tp,
        "pp": deployment.parallel.pp,
        "dp": deployment.parallel.dp,
        "dcp": deployment.parallel.dcp,
        "max_model_len_tokens": deployment.max_model_len,
        "max_num_batched_tokens": deployment.max_num_batched_tokens,
        "max_num_seqs": deployment.max_num_seqs,
        "stages": plan.stages.iter().map(stage_json).collect::<Vec<_>>(),
        "tightest_stage": plan.tightest_stage,
        "groups": plan.layout.groups.iter().map(group_json).collect::<Vec<_>>(),
        "kv_bytes_per_token": plan.layout.bytes_per_token(),
        "num_blocks": plan.num_blocks,
        "blocks_per_request": plan.blocks_per_request,
        "max_concurrency": plan.max_concurrency,
        "kv_cache_size_tokens": plan.logged_tokens,
        "fits": memory_fits(plan, deployment),
        "requests_that_fit": telling.contexts.iter().map(|tokens| json!({
            "tokens": tokens,
            "requests": plan.requests_that_fit(*tokens),
        })).collect::<Vec<_>>(),
        "longest_request_tokens": plan.longest_request(deployment.max_model_len),
        "remedies": telling.remedies,
    });
    format!("{document:#}\n")
}

fn stage_json(stage: &StagePlan) -> Value {
    let term = |term: &Term| {
        json!({
            "bytes": term.bytes,
            "half_width_bytes": term.half_width_bytes,
            "basis": match term.basis {
                Basis::Given => "given",
                Basis::Derived => "derived",
                Basis::Fitted => "fitted",
                Basis::Assumed => "assumed",
            },
        })
    };
    let budget = &stage.budget;
    json!({
        "layers": stage.layers,
        "total_bytes": budget.total_bytes,
        "utilization": budget.utilization,
        "weights": term(&budget.weights),
        "activation": term(&budget.activation),
        "non_torch": term(&budget.non_torch),
        "cuda_graphs": term(&budget.graphs),
        "kv_bytes": budget.kv_bytes,
        "kv_half_width_bytes": budget.kv_half_width_bytes,
        "block_bytes": stage.block_bytes,
        "blocks": stage.blocks,
    })
}

fn group_json(group: &sim_core::memory::CacheGroup) -> Value {
    json!({
        "caches": group.layers.len(),
        "holds": hold_words(group.cache.hold),
        "block_tokens": group.cache.block_tokens,
        "page_bytes": group.cache.page_bytes,
    })
}
