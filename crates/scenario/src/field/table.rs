//! The table.

use quantity::Unit;

use super::{
    Access::{self, Length, OptionalReal, OptionalWhole, Real, Whole, Word},
    Field, Group, calibrated, deploy, fleet, overload, pools,
    slider::{Scale, Slider, Snap, StepSizes},
};

/// Every setting, in the order in which links write them.
pub static FIELDS: &[Field] = &[
    Field {
        help: "The model that answers, by its name in the catalogue.",
        example: "qwen2.5-7b",
        default: "qwen2.5-7b",
        ..word("model", "Model", Group::ModelAndGpu, Access::Model)
    },
    Field {
        help: "The GPU it runs on, by its name in the catalogue.",
        example: "h100-sxm",
        default: "h100-sxm",
        ..word("gpu", "GPU", Group::ModelAndGpu, Access::Gpu)
    },
    Field {
        unit: "req/s",
        quantity: Unit::RequestsPerSecond,
        help: "Requests that arrive per second at peak, over all GPUs; with a profile, where it is 1.",
        example: "100 or 1.5k",
        min: 0.1,
        max: 10_000.0,
        slider: Some(log_slider(0.1, 10_000.0, RATE_SNAPS)),
        default: "100",
        ..word(
            "rate",
            "Request rate",
            Group::Traffic,
            Real { get: |s| s.rate_per_s, put: |s, v| s.rate_per_s = v },
        )
    },
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "Length of a prompt; for a spread lognormal(median,sigma), lognormal(median,sigma,min,max), uniform(min,max) or quantiles(percentile:tokens,…) from 0 to 100.",
        example: "1024 or lognormal(512,0.9)",
        min: 0.0,
        max: 10_000_000.0,
        slider: Some(log_slider(16.0, 131_072.0, TOKEN_SNAPS)),
        default: "1024",
        ..word("in", "Prompt", Group::Traffic, Length { get: |s| s.input, put: |s, v| s.input = v })
    },
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "Length of an answer; for a spread lognormal(median,sigma), lognormal(median,sigma,min,max), uniform(min,max) or quantiles(percentile:tokens,…) from 0 to 100.",
        example: "256 or lognormal(200,0.7)",
        min: 1.0,
        max: 1_000_000.0,
        slider: Some(log_slider(1.0, 16_384.0, TOKEN_SNAPS)),
        default: "256",
        ..word(
            "out",
            "Answer",
            Group::Traffic,
            Length { get: |s| s.output, put: |s, v| s.output = v },
        )
    },
    Field {
        help: "Pattern of arrivals: poisson, even, gamma(shape), where a shape below 1 is burstier than Poisson, or onoff(burst,lull,share): bursts and lulls of these mean lengths, the rate in a lull a share of that in a burst, the mean rate as given; or closed(users,think): so many users over all GPUs, each of whom thinks for that time on average between an answer and the next request, or sends every so often with scheduled as a third word.",
        example: "poisson, even, gamma(0.5), onoff(20s,60s,0.1) or closed(200,10s)",
        min: 0.01,
        max: 100.0,
        choices: &["poisson", "gamma(0.5)", "even"],
        default: "poisson",
        ..word("arrivals", "Arrivals", Group::Arrivals, Access::Arrivals)
    },
    Field {
        help: "How the rate changes over time, in multiples of it: constant, step(time,factor), ramp(from,to,factor), spike(time,length,factor), daily(quietest hour as a share of the busiest), daily(24 factors), or points(time:factor,…), over and over with every:period.",
        example: "step(60s,2), ramp(0s,10min,3), spike(60s,30s,3), daily(0.3) or points(0s:1,10min:2)",
        choices: &["constant", "spike(60s,30s,3)", "daily(0.3)"],
        default: "constant",
        ..word("profile", "Rate profile", Group::Arrivals, Access::Profile)
    },
    Field {
        help: "Turns of a session, each a request: its prompt is all that was said before and the new prompt, and it is sent some time after the last answer. A number, uniform(least,most) or geometric(mean); 1 for single requests. The rate is still that of requests.",
        example: "5, uniform(2,8) or geometric(5)",
        default: "1",
        ..word("turns", "Turns of a session", Group::Arrivals, Access::Turns)
    },
    Field {
        help: "How long users think between an answer and their next turn: on average, exponentially distributed; or fixed(time) or lognormal(mean,sigma).",
        example: "10s, fixed(2s) or lognormal(30s,0.8)",
        default: "10s",
        ..word("think", "Time to think", Group::Arrivals, Access::Think)
    },
    Field {
        unit: "ms",
        quantity: Unit::Milliseconds,
        help: "Longest time from sending a request to its first token.",
        example: "500ms or 1s",
        min: 1.0,
        max: 600_000.0,
        slider: Some(log_slider(10.0, 60_000.0, TTFT_SNAPS)),
        default: "1000ms",
        ..word(
            "ttft",
            "TTFT at most",
            Group::Target,
            Real { get: |s| s.slo.ttft_s, put: |s, v| s.slo.ttft_s = v },
        )
    },
    Field {
        unit: "ms",
        quantity: Unit::Milliseconds,
        help: "Longest mean gap between tokens within one request.",
        example: "40ms",
        min: 0.1,
        max: 60_000.0,
        slider: Some(log_slider(1.0, 500.0, RATE_SNAPS_TPOT)),
        default: "40ms",
        ..word(
            "tpot",
            "TPOT at most",
            Group::Target,
            Real { get: |s| s.slo.tpot_s, put: |s, v| s.slo.tpot_s = v },
        )
    },
    Field {
        unit: "%",
        quantity: Unit::Percent,
        help: "Share of requests that must meet both targets.",
        example: "99% or 0.99",
        min: 50.0,
        max: 99.99,
        choices: &["95", "99", "99.9"],
        default: "99",
        ..word(
            "share",
            "Must hold for",
            Group::Target,
            Real { get: |s| s.slo.share, put: |s, v| s.slo.share = v },
        )
    },
    Field {
        unit: "%",
        quantity: Unit::Percent,
        help: "Room wanted above the planned load.",
        example: "25% or 0.25",
        min: 0.0,
        max: 100.0,
        slider: Some(Slider {
            min: 0.0,
            max: 100.0,
            scale: Scale::Linear,
            snap: Snap::Multiples(5.0),
            steps: StepSizes::Add([1.0, 5.0, 25.0]),
        }),
        default: "25",
        ..word(
            "headroom",
            "Headroom",
            Group::Target,
            Real { get: |s| s.headroom, put: |s, v| s.headroom = v },
        )
    },
    Field {
        help: "How the engine forms its steps: reference or vllm-0.33 (continuous batching), static, dynamic(delay) or sequential (whole batches).",
        example: "reference, vllm-0.33, vllm-0.11, static, dynamic(20ms) or sequential",
        choices: &["reference", "vllm-0.33", "static", "sequential"],
        default: "reference",
        ..word("sched.rules", "Scheduling rules", Group::Engine, Access::Rules)
    },
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "Tokens one step may process: decodes and prefill chunks together.",
        example: "8192",
        min: 1.0,
        max: 1_048_576.0,
        slider: Some(log_slider(128.0, 131_072.0, TOKEN_SNAPS)),
        default: "8192",
        ..word(
            "sched.max_num_batched_tokens",
            "Token budget",
            Group::Engine,
            Whole {
                get: |s| s.sched.max_num_batched_tokens,
                put: |s, v| s.sched.max_num_batched_tokens = v,
            },
        )
    },
    Field {
        unit: "sequences",
        quantity: Unit::Count,
        help: "Requests that may run at once on one GPU.",
        example: "256",
        min: 1.0,
        max: 65_536.0,
        slider: Some(log_slider(1.0, 4096.0, TOKEN_SNAPS)),
        default: "256",
        ..word(
            "sched.max_num_seqs",
            "Max sequences",
            Group::Engine,
            Whole { get: |s| s.sched.max_num_seqs, put: |s, v| s.sched.max_num_seqs = v },
        )
    },
    Field {
        help: "vLLM’s rules: whether a step is scheduled while the one before it runs.",
        example: "on or off",
        choices: ON_OFF,
        default: "off",
        ..word(
            "sched.async",
            "Asynchronous scheduling",
            Group::Engine,
            Word {
                get: |s| on_off(s.vllm.asynchronous),
                put: |s, v| s.vllm.asynchronous = v == "on",
            },
        )
    },
    Field {
        help: "vLLM’s rules: who goes first and who keeps its memory: by arrival (fcfs), or by the priority of the class.",
        example: "fcfs or priority",
        choices: &["fcfs", "priority"],
        default: "fcfs",
        ..word(
            "sched.policy",
            "Scheduling policy",
            Group::Engine,
            Word {
                get: |s| if s.vllm.by_priority { "priority" } else { "fcfs" },
                put: |s, v| s.vllm.by_priority = v == "priority",
            },
        )
    },
    Field {
        help: "vLLM’s rules: whether KV cache is kept after use, so that prompts that begin alike are computed once.",
        example: "on or off",
        choices: ON_OFF,
        default: "off",
        ..word(
            "sched.prefix_caching",
            "Prefix cache",
            Group::Engine,
            Word {
                get: |s| on_off(s.vllm.prefix_caching),
                put: |s, v| s.vllm.prefix_caching = v == "on",
            },
        )
    },
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "Tokens with which every prompt begins alike, such as a system prompt, its length included in that of the prompt; found again by the prefix cache.",
        example: "500",
        min: 0.0,
        max: 10_000_000.0,
        default: "0",
        ..word(
            "prefix",
            "Shared prefix",
            Group::Engine,
            Whole { get: |s| s.shared_prefix_tokens, put: |s, v| s.shared_prefix_tokens = v },
        )
    },
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "vLLM’s rules: most tokens of one prompt in a step, so that a long one leaves room for others; 0 for no limit.",
        example: "512",
        min: 0.0,
        max: 1_048_576.0,
        default: "0",
        ..word(
            "sched.long_prefill_token_threshold",
            "Long-prefill threshold",
            Group::Engine,
            Whole {
                get: |s| s.vllm.long_prefill_token_threshold,
                put: |s, v| s.vllm.long_prefill_token_threshold = v,
            },
        )
    },
    Field {
        unit: "%",
        quantity: Unit::Percent,
        help: "vLLM’s rules from 0.33: share of the KV cache kept free when a request is admitted beside running ones.",
        example: "1% or 0.01",
        min: 0.0,
        max: 90.0,
        default: "0",
        ..word(
            "sched.watermark",
            "Watermark",
            Group::Engine,
            Real { get: |s| s.vllm.watermark, put: |s, v| s.vllm.watermark = v },
        )
    },
    pools::SPEC_TOKENS,
    pools::SPEC_ACCEPTANCE,
    pools::SPEC_DRAFT_COST,
    pools::PREFILL,
    pools::DECODE,
    pools::LINK,
    pools::LATENCY,
    overload::POLICY,
    overload::QUEUE_LIMIT,
    overload::DEADLINE,
    overload::CODEL_TARGET,
    overload::CODEL_INTERVAL,
    overload::REJECTION_COST,
    overload::RETRY_AFTER,
    overload::PATIENCE,
    overload::PATIENCE_SPREAD,
    overload::PATIENCE_SIGMA,
    overload::AWAITS,
    overload::ABANDONED,
    overload::RETRIES,
    overload::BACKOFF,
    overload::BACKOFF_CAP,
    overload::RETRY_BUDGET,
    overload::THROTTLE,
    overload::THROTTLE_K,
    overload::THROTTLE_WINDOW,
    Field {
        unit: "tokens",
        quantity: Unit::Tokens,
        help: "Tokens the KV cache holds; computed from the GPU’s memory if absent.",
        example: "959123",
        min: 1.0,
        max: 1e12,
        ..word(
            "kv.capacity_tokens",
            "KV cache",
            Group::Memory,
            OptionalWhole { get: |s| s.kv_capacity_tokens, put: |s, v| s.kv_capacity_tokens = v },
        )
    },
    deploy::TP,
    deploy::ENGINE,
    deploy::WEIGHT_FORMAT,
    deploy::KV_DTYPE,
    deploy::NUM_GPU_BLOCKS,
    Field {
        help: STEP_KINDS.0,
        example: STEP_KINDS.1,
        choices: STEP_KINDS.2,
        ..word("step.kind", "Step-time model", Group::Accuracy, Access::StepKind)
    },
    Field {
        unit: "parameters",
        help: "Roofline: parameters each token computes with.",
        example: "7.6e9",
        min: 1e3,
        max: 1e15,
        quantity: Unit::Parameters,
        ..word(
            "step.params",
            "Parameters",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.params, put: |s, v| s.step.params = v },
        )
    },
    Field {
        unit: "bytes",
        help: "Roofline: bytes of weights read in each step.",
        example: "15.2GB",
        min: 1e3,
        max: 1e15,
        quantity: Unit::Bytes,
        ..word(
            "step.weight_bytes",
            "Weights",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.weight_bytes, put: |s, v| s.step.weight_bytes = v },
        )
    },
    Field {
        unit: "bytes",
        help: "Roofline: bytes of keys and values per token of context.",
        example: "57344",
        min: 1.0,
        max: 1e9,
        quantity: Unit::Bytes,
        ..word(
            "step.kv_bytes_per_token",
            "KV cache per token",
            Group::Accuracy,
            OptionalReal {
                get: |s| s.step.kv_bytes_per_token,
                put: |s, v| s.step.kv_bytes_per_token = v,
            },
        )
    },
    Field {
        unit: "FLOP/s",
        help: "Roofline: dense peak of the arithmetic.",
        example: "989e12",
        min: 1e9,
        max: 1e18,
        quantity: Unit::FlopsPerSecond,
        ..word(
            "step.peak_flops",
            "Peak compute",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.peak_flops, put: |s, v| s.step.peak_flops = v },
        )
    },
    Field {
        unit: "bytes/s",
        help: "Roofline: memory bandwidth.",
        example: "3.35e12",
        min: 1e6,
        max: 1e16,
        quantity: Unit::BytesPerSecond,
        ..word(
            "step.bandwidth",
            "Memory bandwidth",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.bandwidth, put: |s, v| s.step.bandwidth = v },
        )
    },
    Field {
        help: "Roofline: share of the peak that is reached.",
        example: "0.5 or 50%",
        min: 0.01,
        max: 1.0,
        quantity: Unit::Share,
        ..word(
            "step.mfu",
            "Compute efficiency",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.mfu, put: |s, v| s.step.mfu = v },
        )
    },
    Field {
        unit: "s",
        help: "Roofline: fixed time of each step.",
        example: "0.5ms or 0.0005",
        min: 0.0,
        max: 10.0,
        quantity: Unit::Seconds,
        ..word(
            "step.overhead_s",
            "Step overhead",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.overhead_s, put: |s, v| s.step.overhead_s = v },
        )
    },
    Field {
        unit: "s",
        help: "Affine: time of a step whatever its batch.",
        example: "20ms or 0.02",
        min: 0.0,
        max: 60.0,
        quantity: Unit::Seconds,
        ..word(
            "step.fixed_s",
            "Fixed step time",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.fixed_s, put: |s, v| s.step.fixed_s = v },
        )
    },
    Field {
        unit: "s",
        help: "Affine: time that each sequence adds to a step.",
        example: "0.5ms or 0.0005",
        min: 0.0,
        max: 60.0,
        quantity: Unit::Seconds,
        ..word(
            "step.per_item_s",
            "Time per sequence",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.per_item_s, put: |s, v| s.step.per_item_s = v },
        )
    },
    Field {
        unit: "s",
        help: "Queue model: time of a step whatever its batch.",
        example: "5ms or 0.005",
        min: 1e-6,
        max: 60.0,
        quantity: Unit::Seconds,
        ..word(
            "step.alpha_s",
            "Iteration base time",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.alpha_s, put: |s, v| s.step.alpha_s = v },
        )
    },
    Field {
        unit: "s",
        help: "Queue model: compute time per token.",
        example: "50us or 0.00005",
        min: 0.0,
        max: 1.0,
        quantity: Unit::Seconds,
        ..word(
            "step.beta_s",
            "Compute time per token",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.beta_s, put: |s, v| s.step.beta_s = v },
        )
    },
    Field {
        unit: "s",
        help: "Queue model: time to access one token of KV cache.",
        example: "50e-9",
        min: 0.0,
        max: 1.0,
        quantity: Unit::Seconds,
        ..word(
            "step.gamma_s",
            "KV access time per token",
            Group::Accuracy,
            OptionalReal { get: |s| s.step.gamma_s, put: |s, v| s.step.gamma_s = v },
        )
    },
    calibrated::MEMORY_FACTOR,
    calibrated::COMPUTE_FACTOR,
    calibrated::API,
    calibrated::CALIBRATED_ON,
    Field {
        unit: "requests",
        quantity: Unit::Count,
        help: "Requests in each run.",
        example: "2000",
        min: 10.0,
        max: 1_000_000.0,
        slider: Some(log_slider(100.0, 100_000.0, RATE_SNAPS)),
        default: "2000",
        ..word(
            "sim.requests",
            "Requests per run",
            Group::Accuracy,
            Whole { get: |s| s.sim.requests, put: |s, v| s.sim.requests = v },
        )
    },
    Field {
        unit: "runs",
        quantity: Unit::Count,
        help: "Runs with different random numbers, from which the intervals come.",
        example: "8",
        min: 1.0,
        max: 64.0,
        slider: Some(log_slider(4.0, 64.0, TOKEN_SNAPS)),
        default: "8",
        ..word(
            "sim.replications",
            "Runs",
            Group::Accuracy,
            Whole {
                get: |s| u64::from(s.sim.replications),
                put: |s, v| s.sim.replications = u32::try_from(v).unwrap_or(u32::MAX),
            },
        )
    },
    Field {
        help: "Root of every random number: the same seed gives the same answer to the bit.",
        example: "7",
        min: 0.0,
        max: u64::MAX as f64,
        quantity: Unit::Count,
        default: "0",
        ..word(
            "seed",
            "Seed",
            Group::Accuracy,
            Whole { get: |s| s.sim.seed, put: |s, v| s.sim.seed = v },
        )
    },
    fleet::POLICY,
    fleet::SIGNAL,
    fleet::TARGET,
    fleet::MIN,
    fleet::MAX,
    fleet::INITIAL,
    fleet::SCALE_DOWN_WINDOW,
    fleet::START,
    fleet::ROUTER,
    fleet::FAULT,
    fleet::FAULT_AT,
    fleet::DURATION,
    fleet::WINDOW,
];

const RATE_SNAPS: Snap = Snap::Decades(&[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
const RATE_SNAPS_TPOT: Snap = Snap::Decades(&[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]);
const TTFT_SNAPS: Snap = Snap::Decades(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
const TOKEN_SNAPS: Snap = Snap::Octaves(&[1.0, 1.5]);

const fn log_slider(min: f64, max: f64, snap: Snap) -> Slider {
    Slider { min, max, scale: Scale::Log, snap, steps: StepSizes::Multiply([1.01, 1.1, 2.0]) }
}

pub(super) const ON_OFF: &[&str] = &["off", "on"];

pub(super) const fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// A setting with nothing but its name; the table fills in the rest.
pub(super) const fn word(
    key: &'static str,
    label: &'static str,
    group: Group,
    access: Access,
) -> Field {
    Field {
        key,
        label,
        unit: "",
        quantity: Unit::Number,
        help: "",
        example: "",
        group,
        min: 0.0,
        max: 0.0,
        choices: &[],
        slider: None,
        none: None,
        default: "",
        access,
    }
}

/// Help, example and words of the models of the step time.
type Kinds = (&'static str, &'static str, &'static [&'static str]);

#[cfg(not(feature = "kernel"))]
const STEP_KINDS: Kinds = (
    "Model of the step time: roofline, affine for a constant and a time per sequence, or queue-model for a constant and a request’s mean work per sequence.",
    "roofline, affine or queue-model",
    &["roofline", "affine", "queue-model"],
);

#[cfg(feature = "kernel")]
const STEP_KINDS: Kinds = (
    "Model of the step time: roofline, kernel for the sum of a step’s kernels and measured overheads, affine for a constant and a time per sequence, or queue-model for a constant and a request’s mean work per sequence.",
    "roofline, kernel, affine or queue-model",
    &["roofline", "kernel", "affine", "queue-model"],
);
