//! Who can never be served, and why.

use crate::workload::Request;

use super::spec::VllmSpec;

/// Why a request can never be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The prompt leaves no room for an output token within the longest sequence.
    #[error(
        "a prompt of {prompt_tokens} tokens leaves no room for output within max_model_len \
         {max_model_len}; shorten the prompt or raise max_model_len"
    )]
    PromptFillsModel {
        /// Prompt length.
        prompt_tokens: u64,
        /// Longest prompt and output together.
        max_model_len: u64,
    },
    /// Alone in the pool, it would still run out of blocks before its last token.
    #[error(
        "the request needs {needed_blocks} blocks of KV cache and there are {usable_blocks}; \
         shorten it or add memory"
    )]
    NeverFits {
        /// Blocks it holds when its last token is computed.
        needed_blocks: u64,
        /// Blocks in the pool, without the null block.
        usable_blocks: u64,
    },
    /// It asks for no output.
    #[error("the request asks for no output token; ask for 1 or more")]
    NoOutput,
    /// Requests are numbered with 32 bits.
    #[error("the scheduler has been given 2^32 requests; start a new one")]
    TooManyRequests,
}

/// Why a scheduler can never serve a request; `None`: it can.
pub(in crate::engine) fn refusal_of(request: &Request, spec: &VllmSpec) -> Option<Refusal> {
    Lengths::new(request.input_tokens, request.output_tokens, spec).check(spec).err()
}

/// A request as a scheduler counts it, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Prompt; an empty one counts as one token, the one that begins every sequence.
    pub(super) prompt_tokens: u64,
    /// Prompt and output when it ends.
    pub(super) final_tokens: u64,
}

impl Lengths {
    #[inline]
    pub(super) fn new(prompt_tokens: u64, output_tokens: u64, spec: &VllmSpec) -> Self {
        let prompt_tokens = prompt_tokens.max(1);
        let final_tokens = prompt_tokens.saturating_add(output_tokens).min(spec.max_model_len);
        Self { prompt_tokens, final_tokens }
    }

    /// Whether a request of these lengths, alone in the engine, gets to its end.
    #[inline]
    pub(super) const fn check(self, spec: &VllmSpec) -> Result<(), Refusal> {
        if self.prompt_tokens >= spec.max_model_len {
            return Err(Refusal::PromptFillsModel {
                prompt_tokens: self.prompt_tokens,
                max_model_len: spec.max_model_len,
            });
        }
        if self.final_tokens == self.prompt_tokens {
            return Err(Refusal::NoOutput);
        }
        // The last token is sampled, never computed.
        let most_tokens = self.final_tokens - 1;
        if most_tokens > spec.kv_capacity_tokens() {
            let needed_blocks = spec.blocks_for(most_tokens);
            return Err(Refusal::NeverFits { needed_blocks, usable_blocks: spec.usable_blocks() });
        }
        Ok(())
    }
}
