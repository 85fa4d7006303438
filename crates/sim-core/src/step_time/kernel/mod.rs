//! The accurate model: a step as the sum of its kernels.
//!
//! Each layer is matrix products, attention, reductions over ranks and a fixed cost. A matrix product is a
//! smooth roofline (`roofline.rs`); experts read those weights that the step's tokens visit; attention of a
//! prompt is arithmetic over pairs of tokens, attention of a decode reads its context. Rates are a GPU's
//! peaks times the shares that timed kernels reach ([`GpuRates`]); what an engine spends beside kernels is
//! fitted ([`Overheads`]).
//!
//! At a fixed batch the time of a step is a line in the total context, so that many steps are one
//! arithmetic series. Engines tell a step by its tokens, its sequences and its context alone
//! ([`Kernel::lines`]); what they do not tell, how long the prompts are and how much of the context a
//! window sees, is taken from the mean lengths of the workload ([`Kernel::for_lengths`]).

mod build;
mod constants;
mod roofline;
#[cfg(test)]
mod tests;

pub use build::{KernelError, KernelInput};
pub use constants::{
    ExpertKernels, Format, Formats, GpuRates, Overheads, REDUCE_BYTES, Reduction, Spread,
};

use serde::{Deserialize, Serialize};

use roofline::{Projection, overlapped_s};

use super::ContextLines;
use crate::{
    float::{greater, lesser},
    setup::SetupError,
};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Windowed {
    window_tokens: f64,
    pair_s: f64,
    context_s: f64,
}

/// A network on its GPUs: every coefficient that a step needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    projections: [Projection; MOST_PROJECTIONS],
    projection_count: u64,
    experts: Experts,
    windows: [Windowed; MOST_WINDOWS],
    head: Projection,
    pair_s: f64,
    prompt_token_s: f64,
    context_s: f64,
    decode_s: f64,
    token_s: f64,
    fixed_s: f64,
    /// A step with prompts on top.
    prompt_step_s: f64,
    reduction: Reduction,
    reductions: f64,
    reduced_bytes_per_token: f64,
    step_s: f64,
    sequence_s: f64,
    stages: f64,
    api_s: f64,
    /// Mean prompt of the workload, tokens.
    prompt_mean: f64,
    /// Mean context of a request that decodes, tokens.
    context_mean: f64,
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
        let memory_s = self.weights_s_per_expert * visited + self.activations_s_per_token * tokens;
        overlapped_s(self.compute_s_per_visit * padded, memory_s)
    }
}

impl Kernel {
    /// Time of a step in seconds.
    #[must_use]
    pub fn step_s(&self, shape: &KernelShape) -> f64 {
        let part = self.micro_batch(shape);
        let prompt = self.prompt_s(part.prompt_tokens, part.prompt_pairs, |windowed| {
            lesser(part.prompt_pairs, part.prompt_tokens * windowed.window_tokens)
        });
        let mut context_s = self.context_s * part.context_tokens;
        for windowed in &self.windows {
            let seen = lesser(part.context_tokens, part.decodes * windowed.window_tokens);
            context_s += windowed.context_s * seen;
        }
        let sampled = part.decodes + part.ending_prompts;
        self.batch_s(part.prompt_tokens, part.decodes, sampled, prompt)
            + context_s
            + self.step_s
            + self.sequence_s * (shape.decodes + shape.ending_prompts)
    }

    /// The same for a workload with these mean lengths, in tokens.
    #[must_use]
    pub fn for_lengths(self, input_tokens: f64, output_tokens: f64) -> Self {
        let context_mean = input_tokens + 0.5 * output_tokens;
        Self { prompt_mean: input_tokens, context_mean, ..self }
    }

    /// The same with two factors: `memory` on what weights, cache and fixed overheads take, `compute` on
    /// arithmetic and on what each token takes beside. With factors of one it is the same to the bit.
    #[must_use]
    pub fn scaled(self, memory: f64, compute: f64) -> Self {
        let experts = Experts {
            compute_s_per_visit: self.experts.compute_s_per_visit * compute,
            weights_s_per_expert: self.experts.weights_s_per_expert * memory,
            activations_s_per_token: self.experts.activations_s_per_token * memory,
            ..self.experts
        };
        let windowed = |it: Windowed| Windowed {
            pair_s: it.pair_s * compute,
            context_s: it.context_s * memory,
            ..it
        };
        Self {
            projections: self.projections.map(|it| it.scaled(memory, compute)),
            head: self.head.scaled(memory, compute),
            experts,
            windows: self.windows.map(windowed),
            pair_s: self.pair_s * compute,
            prompt_token_s: self.prompt_token_s * compute,
            token_s: self.token_s * compute,
            decode_s: self.decode_s * compute,
            sequence_s: self.sequence_s * compute,
            prompt_step_s: self.prompt_step_s * compute,
            context_s: self.context_s * memory,
            fixed_s: self.fixed_s * memory,
            step_s: self.step_s * memory,
            reductions: self.reductions * memory,
            ..self
        }
    }

    /// The same with another time outside the engine, seconds.
    #[must_use]
    pub const fn with_api_s(self, api_s: f64) -> Self {
        Self { api_s, ..self }
    }

    /// Time of a step as a line in the context, for a batch that an engine tells by its tokens and
    /// sequences: each sequence has one token, and what is more is of prompts of mean length.
    #[must_use]
    pub fn lines(&self, tokens: f64, sequences: f64) -> ContextLines {
        let prompt_tokens = greater(0.0, tokens - sequences) / self.stages;
        let decodes = lesser(tokens, sequences) / self.stages;
        let reach = 0.5 * self.prompt_mean;
        let prompt = self.prompt_s(prompt_tokens, prompt_tokens * reach, |windowed| {
            prompt_tokens * lesser(reach, windowed.window_tokens)
        });
        ContextLines {
            flat_s: 0.0,
            base_s: self.batch_s(prompt_tokens, decodes, decodes, prompt),
            slope_s: self.slope_s(),
            overhead_s: self.step_s + self.sequence_s * sequences,
        }
    }

    /// Time of an engine's step with so much context in all, seconds: the sum that
    /// [`Self::lines`] puts in order.
    #[must_use]
    pub fn engine_step_s(&self, tokens: f64, sequences: f64, context_tokens: f64) -> f64 {
        let decodes = lesser(tokens, sequences);
        let prompt_tokens = greater(0.0, tokens - sequences);
        let reach = 0.5 * self.prompt_mean;
        let mut all = *self;
        all.pair_s = self.pair_s * reach;
        all.context_s = self.slope_s() * self.stages;
        for windowed in &mut all.windows {
            all.pair_s += windowed.pair_s * lesser(reach, windowed.window_tokens);
            *windowed = Windowed::default();
        }
        let shape = KernelShape {
            prompt_tokens,
            prompt_pairs: prompt_tokens,
            decodes,
            context_tokens,
            ending_prompts: 0.0,
        };
        all.step_s(&shape) + self.sequence_s * (sequences - decodes)
    }

    /// Time outside the engine before a request's first token, seconds.
    #[must_use]
    pub const fn api_s(&self) -> f64 {
        self.api_s
    }

    /// The least time that a token can take, seconds: that of its arithmetic.
    #[must_use]
    pub fn least_s_per_token(&self) -> f64 {
        let products = &self.projections[..self.projection_count as usize];
        let dense: f64 = products.iter().map(|product| product.compute_s_per_token).sum();
        (dense + self.experts.active * self.experts.compute_s_per_visit) / self.stages
    }

    /// Check every coefficient.
    ///
    /// # Errors
    /// If one is negative or no number, or nothing takes time.
    pub fn check(&self) -> Result<(), SetupError> {
        let one = self.lines(1.0, 1.0);
        let prompt = self.lines(2.0, 1.0);
        let terms = [
            ("step.base_s", one.base_s + one.overhead_s),
            ("step.prompt_s", prompt.base_s - one.base_s),
            ("step.slope_s", one.slope_s),
            ("step.api_s", self.api_s),
        ];
        for (field, value) in terms {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SetupError::OutOfDomain {
                    field,
                    value,
                    requirement: "finite and 0 or more",
                });
            }
        }
        Ok(())
    }

    /// For each token of context, seconds: windows see their share of the mean context.
    fn slope_s(&self) -> f64 {
        let seen = |windowed: &Windowed| {
            if windowed.window_tokens < self.context_mean {
                windowed.context_s * (windowed.window_tokens / self.context_mean)
            } else {
                windowed.context_s
            }
        };
        (self.context_s + self.windows.iter().map(seen).sum::<f64>()) / self.stages
    }

    /// Attention of prompts, seconds.
    fn prompt_s(&self, tokens: f64, pairs: f64, windowed_pairs: impl Fn(&Windowed) -> f64) -> f64 {
        let windowed: f64 = self.windows.iter().map(|it| it.pair_s * windowed_pairs(it)).sum();
        self.prompt_token_s * tokens + self.pair_s * pairs + windowed
    }

    /// A step without its context and what the engine spends on it, seconds.
    fn batch_s(&self, prompt_tokens: f64, decodes: f64, sampled: f64, prompt_s: f64) -> f64 {
        let tokens = prompt_tokens + decodes;
        let mut batch_s = self.fixed_s
            + self.products_s(tokens)
            + self.head.step_s(sampled)
            + self.token_s * tokens
            + self.decode_s * decodes
            + prompt_s;
        if self.reductions > 0.0 {
            let bytes = self.reduced_bytes_per_token * tokens;
            batch_s += self.reductions * self.reduction.time_s(bytes);
        }
        if prompt_tokens > 0.0 { batch_s + self.prompt_step_s } else { batch_s }
    }

    fn products_s(&self, tokens: f64) -> f64 {
        let products = &self.projections[..self.projection_count as usize];
        products.iter().map(|product| product.step_s(tokens)).sum::<f64>()
            + self.experts.step_s(tokens)
    }

    /// The part of a step that one of the pipeline's micro-batches is.
    fn micro_batch(&self, shape: &KernelShape) -> KernelShape {
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
