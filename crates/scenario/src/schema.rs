//! What a person says.

use serde::{Deserialize, Serialize};
use sim_core::{
    ArrivalProcess, LengthSpec, Slo,
    clients::ClientTime,
    workload::{OnOff, Turns},
};

use crate::{
    class::ClassSpec,
    fleet::FleetSpec,
    overload::{Clients, ClosedLoop, Overload},
    profile::Profile,
    rules::SchedRules,
};

/// A scenario: which model on which GPU, for what traffic, at what target.
///
/// Plain data without names resolved. The derived serialisation is for messages between threads of
/// one build; what people keep are links and JSON files, written by [`Scenario::to_link`] and
/// [`Scenario::to_json`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Catalogue slug of the model.
    pub model: String,
    /// Catalogue slug of the GPU.
    pub gpu: String,
    /// Requests per second over all GPUs, where the profile is 1.
    pub rate_per_s: f64,
    /// Length of prompts, tokens.
    pub input: LengthSpec,
    /// Length of answers, tokens.
    pub output: LengthSpec,
    /// How the gaps between arrivals are distributed.
    pub arrivals: ArrivalProcess,
    /// Bursts and lulls over them, if any.
    pub bursts: Option<OnOff>,
    /// Users in place of a rate, if any; then nothing is left of the pattern.
    pub closed: Option<ClosedLoop>,
    /// How the rate changes over time.
    pub profile: Profile,
    /// How many requests make a session, each with all that was said before in its prompt.
    pub turns: Turns,
    /// From an answer to the next turn of a session.
    pub think: ClientTime,
    /// Tokens with which all prompts begin alike.
    pub shared_prefix_tokens: u64,
    /// Requests that differ from the others, in the order of their names.
    pub classes: Vec<ClassSpec>,
    /// What counts as good enough.
    pub slo: Slo,
    /// Room wanted above the planned load, 0.25 for 25 %.
    pub headroom: f64,
    /// Limits of the scheduler.
    pub sched: Sched,
    /// How the engine forms its steps.
    pub rules: SchedRules,
    /// What vLLM's rules can be told beside.
    pub vllm: VllmOptions,
    /// Speculative decoding.
    pub spec: Spec,
    /// Replicas that only prefill, and replicas that only decode.
    pub disagg: Disagg,
    /// What the line does when more comes than can be served.
    pub overload: Overload,
    /// How long clients wait, and whether they try again.
    pub clients: Clients,
    /// Constants of the step time that replace the catalogue's.
    pub step: StepOverrides,
    /// KV cache size in tokens; computed from the GPU's memory if absent.
    pub kv_capacity_tokens: Option<u64>,
    /// How an engine is set up on its GPUs.
    pub deploy: Deploy,
    /// How much is simulated.
    pub sim: Sim,
    /// The fleet over time.
    pub fleet: FleetSpec,
}

/// Limits of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sched {
    /// Tokens one step may process.
    pub max_num_batched_tokens: u64,
    /// Requests that may run at once.
    pub max_num_seqs: u64,
}

/// How an engine is set up on its GPUs. Where all of it is absent and model and GPU are of the short
/// list, memory is shared out by the rule that link version 1 froze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deploy {
    /// GPUs that share each layer of one engine; one if absent.
    pub tp: Option<u64>,
    /// The engine and its version, a place in [`crate::ENGINES`]; the first is the last one read.
    pub engine: u8,
    /// The format of the weights, a place in [`crate::WEIGHTS`]; the first is the checkpoint's own.
    pub weights: u8,
    /// The format of keys and values, a place in [`crate::KV_DTYPES`]; the first is the checkpoint's own.
    pub kv_dtype: u8,
    /// Blocks as the engine logged them, in place of computed ones.
    pub num_gpu_blocks: Option<u64>,
}

impl Deploy {
    /// Whether any of it was said.
    #[must_use]
    pub fn is_asked_for(&self) -> bool {
        *self != Self::default()
    }
}

/// What vLLM's rules can be told beside the limits. Other rules have none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VllmOptions {
    /// Whether a step is scheduled while the one before it runs.
    pub asynchronous: bool,
    /// Whether requests go by the priority of their class, not in order of arrival.
    pub by_priority: bool,
    /// Whether KV cache is kept after use and found again by what it holds.
    pub prefix_caching: bool,
    /// Most tokens of one prompt in a step while others wait or run; 0 for no limit.
    pub long_prefill_token_threshold: u64,
    /// Share of the KV cache kept free when a request is admitted, 0 to 1.
    pub watermark: f64,
}

/// Speculative decoding. See [`sim_core::engine::Speculation`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Tokens drafted for each sequence in a step; 0 for none.
    pub tokens: u64,
    /// How often a drafted token is kept, 0 to 1.
    pub acceptance: f64,
    /// Time of a draft as a share of a decode step, 0 to 1.
    pub draft_cost: f64,
}

/// Prefill and decode on replicas of their own, in a single run. See
/// [`sim_core::fleet::Disaggregated`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagg {
    /// Replicas that prefill; 0 for none.
    pub prefill: u64,
    /// Replicas that decode; 0 for none.
    pub decode: u64,
    /// Bandwidth of the link of a prefill replica, Gbit/s.
    pub link_gbps: f64,
    /// Latency of a transfer, seconds.
    pub latency_s: f64,
}

impl Disagg {
    /// Whether there are both kinds of replicas.
    #[must_use]
    pub const fn is_asked_for(&self) -> bool {
        self.prefill > 0 && self.decode > 0
    }
}

/// Constants of the step time that a person typed. What is absent comes from the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepOverrides {
    /// Which model of the step time; roofline if absent.
    pub kind: Option<StepKind>,
    /// Parameters each token computes with.
    pub params: Option<f64>,
    /// Bytes of weights read in each step.
    pub weight_bytes: Option<f64>,
    /// Bytes of KV cache per token of context.
    pub kv_bytes_per_token: Option<f64>,
    /// Dense peak of the arithmetic, FLOP/s.
    pub peak_flops: Option<f64>,
    /// Memory bandwidth, bytes per second.
    pub bandwidth: Option<f64>,
    /// Share of the peak that is reached, 0 to 1.
    pub mfu: Option<f64>,
    /// Fixed time per step, seconds.
    pub overhead_s: Option<f64>,
    /// Affine: time of a step whatever its batch, seconds.
    pub fixed_s: Option<f64>,
    /// Affine: time that each sequence adds, seconds.
    pub per_item_s: Option<f64>,
    /// Queue model: time of an iteration whatever its batch, seconds.
    pub alpha_s: Option<f64>,
    /// Queue model: compute time per token, seconds.
    pub beta_s: Option<f64>,
    /// Queue model: time to access one token of KV cache, seconds.
    pub gamma_s: Option<f64>,
    /// Kernel: factor on the time that memory and fixed overheads take.
    pub memory_factor: Option<f64>,
    /// Kernel: factor on the time that arithmetic takes.
    pub compute_factor: Option<f64>,
    /// Kernel: time outside the engine before a first token, seconds.
    pub api_s: Option<f64>,
    /// How many measured points the constants were fitted to, if they were.
    pub calibrated_on: Option<u64>,
}

/// A model of the step time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepKind {
    /// The greater of the time to compute and the time to read weights and KV cache.
    Roofline,
    /// A constant and a time per sequence.
    Affine,
    /// A constant and a request’s mean work per sequence, from the workload’s mean lengths.
    QueueModel,
    /// The sum of a step’s kernels and of what the engine spends beside them.
    Kernel,
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sim {
    /// Requests in each run.
    pub requests: u64,
    /// Runs with different random numbers, from which the intervals come.
    pub replications: u32,
    /// Root of every random number.
    pub seed: u64,
}

impl Scenario {
    /// GPUs that one engine has; other step times than the roofline's are of whatever they were measured on.
    #[must_use]
    pub fn gpus_per_engine(&self) -> u64 {
        if self.knows_memory() { self.deploy.tp.unwrap_or(1) } else { 1 }
    }

    /// The scenario that the page opens with: Qwen2.5-7B on one H100, 100 req/s.
    #[must_use]
    pub fn preset() -> Self {
        crate::defaults::v1()
    }
}

impl Default for Scenario {
    fn default() -> Self {
        Self::preset()
    }
}
