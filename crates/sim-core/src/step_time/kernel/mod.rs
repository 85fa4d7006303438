//! The accurate model: a step as the sum of its kernels.
//!
//! Each layer is matrix products, attention, reductions over ranks and a fixed cost. A matrix product is a
//! smooth roofline ([`roofline`]); experts read those weights that the step's tokens visit; attention of a
//! prompt is arithmetic over pairs of tokens, attention of a decode reads its context. Rates are a GPU's
//! peaks times the shares that timed kernels reach ([`GpuRates`]); what an engine spends beside kernels is
//! fitted ([`Overheads`]).
//!
//! At a fixed batch a step that only decodes is a line in the total context, so that many steps are one
//! arithmetic series.

mod build;
mod constants;
mod roofline;

pub use build::{KernelError, KernelInput};
pub use constants::{
    ExpertKernels, Format, Formats, GpuRates, Overheads, REDUCE_BYTES, Reduction, Spread,
};

use roofline::{Projection, overlapped_s};

use crate::float::{greater, lesser};

/// Kinds of matrix products of a network; no network has more.
const MOST_PROJECTIONS: usize = 14;
/// Kinds of windows.
const MOST_WINDOWS: usize = 2;

/// What one step processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelShape {
    /// Prompt tokens computed.
    pub prompt_tokens: f64,
    /// Pairs of a prompt token and one it looks back at: `Σ p (c + p/2)` for `p` tokens after `c`.
    pub prompt_pairs: f64,
    /// Sequences that decode.
    pub decodes: f64,
    /// Their tokens of context, together.
    pub context_tokens: f64,
    /// Prompts that end in this step, so that their first token is sampled.
    pub ending_prompts: f64,
}

/// Experts of all layers alike.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Experts {
    count: f64,
    active: f64,
    /// Time to compute one token of one expert, all layers, seconds.
    compute_s_per_visit: f64,
    /// Time to read one expert, all layers, seconds.
    weights_s_per_expert: f64,
    /// Time to move one token to and from its experts, all layers, seconds.
    activations_s_per_token: f64,
    padding_tokens: f64,
    routing_exponent: f64,
}

/// Attention layers that look back over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Windowed {
    window_tokens: f64,
    pair_s: f64,
    context_s: f64,
}

/// A network on its GPUs: every coefficient that a step needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    projections: [Projection; MOST_PROJECTIONS],
    projection_count: usize,
    experts: Experts,
    windows: [Windowed; MOST_WINDOWS],
    head: Projection,
    pair_s: f64,
    prompt_token_s: f64,
    context_s: f64,
    decode_s: f64,
    token_s: f64,
    fixed_s: f64,
    least_prompt_step_s: f64,
    reduction: Reduction,
    reductions: f64,
    reduced_bytes_per_token: f64,
    step_s: f64,
    sequence_s: f64,
    stages: f64,
    api_s: f64,
}

/// A step that only decodes, as a line in the context: `base_s + slope_s · context`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeLine {
    /// Without context, seconds.
    pub base_s: f64,
    /// For each token of context, seconds.
    pub slope_s: f64,
}

impl Experts {
    /// Experts that so many tokens visit.
    fn visited(&self, tokens: f64) -> f64 {
        if tokens <= 0.0 {
            return 0.0;
        }
        let chosen = libm::pow(tokens, self.routing_exponent);
        let missed = libm::pow(1.0 - self.active / self.count, chosen);
        self.count * (1.0 - missed)
    }

    fn step_s(&self, tokens: f64) -> f64 {
        if self.count <= 0.0 {
            return 0.0;
        }
        let visits = self.active * tokens;
        let visited = self.visited(tokens);
        let padded = visits + self.padding_tokens * lesser(visited, visits);
        let memory_s =
            self.weights_s_per_expert * visited + self.activations_s_per_token * tokens;
        overlapped_s(self.compute_s_per_visit * padded, memory_s)
    }
}

impl Kernel {
    /// Time of a step in seconds.
    #[must_use]
    pub fn step_s(&self, shape: &KernelShape) -> f64 {
        let part = self.micro_batch(shape);
        let tokens = part.prompt_tokens + part.decodes;
        let sampled = part.decodes + part.ending_prompts;
        let mut work_s = self.fixed_s
            + self.products_s(tokens)
            + self.head.step_s(sampled)
            + self.token_s * tokens
            + self.prompt_token_s * part.prompt_tokens
            + self.pair_s * part.prompt_pairs
            + self.context_s * part.context_tokens
            + self.decode_s * part.decodes;
        if self.reductions > 0.0 {
            work_s += self.reductions
                * self.reduction.time_s(self.reduced_bytes_per_token * tokens);
        }
        for windowed in &self.windows {
            let reach = windowed.window_tokens;
            work_s += windowed.pair_s * lesser(part.prompt_pairs, part.prompt_tokens * reach)
                + windowed.context_s * lesser(part.context_tokens, part.decodes * reach);
        }
        if part.prompt_tokens > 0.0 {
            work_s = greater(work_s, self.least_prompt_step_s);
        }
        work_s + self.step_s + self.sequence_s * (shape.decodes + shape.ending_prompts)
    }

    /// Time outside the engine before a request's first token, seconds.
    #[must_use]
    pub const fn api_s(&self) -> f64 {
        self.api_s
    }

    fn products_s(&self, tokens: f64) -> f64 {
        let products = &self.projections[..self.projection_count];
        products.iter().map(|product| product.step_s(tokens)).sum::<f64>()
            + self.experts.step_s(tokens)
    }

    /// The part of a step that one of the pipeline's micro-batches is.
    fn micro_batch(&self, shape: &KernelShape) -> KernelShape {
        if self.stages <= 1.0 {
            return *shape;
        }
        let of = |whole: f64| whole / self.stages;
        KernelShape {
            prompt_tokens: of(shape.prompt_tokens),
            prompt_pairs: of(shape.prompt_pairs),
            decodes: of(shape.decodes),
            context_tokens: of(shape.context_tokens),
            ending_prompts: of(shape.ending_prompts),
        }
    }
}
