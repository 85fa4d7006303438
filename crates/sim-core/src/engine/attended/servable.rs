//! Which requests an engine can serve at all, however empty it is.

use crate::{
    engine::{Rules, seldom::vllm_setup, vllm},
    setup::Setup,
    workload::Request,
};

/// What bounds a request, whoever else is there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Servable {
    /// Memory for its final length, in tokens.
    Within(u64),
    /// vLLM's blocks, and the longest sequence of its model.
    ByVllm(vllm::VllmSpec),
    /// Nothing.
    Always,
}

impl Servable {
    pub(super) fn new(setup: &Setup) -> Self {
        match &setup.rules {
            Rules::VllmV1(rules) => Self::ByVllm(vllm_setup(setup, *rules).vllm),
            Rules::WholeBatches { .. } => Self::Always,
            Rules::Reference => Self::Within(setup.engine.kv_capacity_tokens),
            // Drafts are written before they are verified.
            Rules::Speculative(speculation) => {
                Self::Within(setup.engine.kv_capacity_tokens.saturating_sub(speculation.tokens))
            }
        }
    }

    pub(super) fn holds(&self, request: &Request) -> bool {
        match self {
            Self::Within(capacity_tokens) => request.final_tokens() <= *capacity_tokens,
            Self::ByVllm(spec) => vllm::refusal_of(request, spec).is_none(),
            Self::Always => true,
        }
    }
}
