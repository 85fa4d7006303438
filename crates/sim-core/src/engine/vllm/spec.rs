//! The settings of a vLLM scheduler, by the names its users know.

use serde::{Deserialize, Serialize};

use crate::setup::SetupError;

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// First come, first served.
    Fcfs,
    /// The lowest priority value first; among equals the earliest arrival.
    Priority,
}

/// Which release's rules are followed where they changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// Up to 0.11: no full-prompt gate, no watermark, no prefill interval; the long-prefill
    /// threshold holds for a lone request too; freed blocks all go to the end of the free list;
    /// a request that preempts itself ends the pass over the running requests.
    V0_11,
    /// 0.33.0.
    V0_33,
}

impl Version {
    /// Whether blocks can be kept free when a request is admitted.
    pub(in crate::engine) const fn has_watermark(self) -> bool {
        matches!(self, Self::V0_33)
    }

    /// Whether the long-prefill threshold is lifted for a request that is alone.
    pub(super) const fn spares_a_lone_prompt(self) -> bool {
        matches!(self, Self::V0_33)
    }

    /// Whether freed blocks without a hash are reused before all others.
    pub(super) const fn reuses_unhashed_first(self) -> bool {
        matches!(self, Self::V0_33)
    }

    /// Whether, under `priority`, the pass goes on after a request has preempted itself.
    pub(super) const fn goes_on_after_self_preemption(self) -> bool {
        matches!(self, Self::V0_33)
    }
}

/// Everything that the scheduler's decisions depend on, beside the requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VllmSpec {
    /// Whose rules.
    pub version: Version,
    /// Tokens per block of KV cache.
    pub block_size: u64,
    /// Blocks in the pool. One of them is the null block, which never holds a token.
    pub num_blocks: u64,
    /// Requests that may run at once.
    pub max_num_seqs: u64,
    /// Tokens one step may process.
    pub max_num_batched_tokens: u64,
    /// Longest prompt and output together, in tokens.
    pub max_model_len: u64,
    /// Who goes first.
    pub policy: Policy,
    /// Whether blocks that hold the same tokens are shared and kept after use.
    pub prefix_caching: bool,
    /// Whether a prompt may be spread over several steps.
    pub chunked_prefill: bool,
    /// Most tokens of one prompt in a step while there are other requests; 0 for no limit.
    pub long_prefill_token_threshold: u64,
    /// Whether a request is admitted only if all of its tokens fit, not just its first chunk.
    pub scheduler_reserve_full_isl: bool,
    /// Share of the blocks kept free when a request is admitted beside running ones.
    pub watermark: f64,
    /// Steps in flight at once: 1 is synchronous, 2 is asynchronous scheduling.
    pub steps_in_flight: u64,
    /// Steps from one that works on prompts to the next while others decode; 1 for no wait.
    pub prefill_schedule_interval: u64,
}

/// Many times any GPU's pool; the block pool keeps an entry for each.
pub(in crate::engine) const MOST_BLOCKS: u64 = 1 << 24;

impl VllmSpec {
    /// The defaults of a release for a pool of `num_blocks` blocks of 16 tokens.
    #[must_use]
    pub const fn of_version(version: Version, num_blocks: u64, max_model_len: u64) -> Self {
        Self {
            version,
            block_size: 16,
            num_blocks,
            max_num_seqs: 128,
            max_num_batched_tokens: 2048,
            max_model_len,
            policy: Policy::Fcfs,
            prefix_caching: true,
            chunked_prefill: true,
            long_prefill_token_threshold: 0,
            scheduler_reserve_full_isl: matches!(version, Version::V0_33),
            watermark: 0.0,
            steps_in_flight: match version {
                Version::V0_11 => 1,
                Version::V0_33 => 2,
            },
            prefill_schedule_interval: 1,
        }
    }

    /// Blocks that can hold tokens: all but the null block.
    #[must_use]
    pub const fn usable_blocks(&self) -> u64 {
        self.num_blocks.saturating_sub(1)
    }

    /// Tokens that the pool can hold.
    #[must_use]
    pub const fn kv_capacity_tokens(&self) -> u64 {
        self.usable_blocks().saturating_mul(self.block_size)
    }

    /// Blocks that hold `tokens`.
    #[must_use]
    pub const fn blocks_for(&self, tokens: u64) -> u64 {
        tokens.div_ceil(self.block_size)
    }

    /// Blocks that the watermark keeps free.
    pub(super) fn watermark_blocks(&self) -> u64 {
        // Rounded down, and a share of all blocks, the null block included.
        (self.watermark * self.num_blocks as f64) as u64
    }

    pub(super) const fn is_async(&self) -> bool {
        self.steps_in_flight > 1
    }

    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.check_sizes()?;
        if !(self.watermark >= 0.0 && self.watermark < 1.0) {
            return Err(SetupError::OutOfDomain {
                field: "vllm.watermark",
                value: self.watermark,
                requirement: "at least 0 and below 1",
            });
        }
        if !self.chunked_prefill && self.max_num_batched_tokens < self.max_model_len {
            return Err(out_of_domain(
                "vllm.max_num_batched_tokens",
                self.max_num_batched_tokens,
                "at least max_model_len while chunked prefill is off",
            ));
        }
        self.check_version()
    }

    fn check_sizes(&self) -> Result<(), SetupError> {
        /// Far above the block sizes of any attention kernel.
        const LARGEST_BLOCK: u64 = 1 << 16;
        for (field, value, least, requirement) in [
            ("vllm.block_size", self.block_size, 1, "1 or more"),
            ("vllm.num_blocks", self.num_blocks, 2, "2 or more: one is the null block"),
            ("vllm.max_num_seqs", self.max_num_seqs, 1, "1 or more"),
            ("vllm.max_num_batched_tokens", self.max_num_batched_tokens, 1, "1 or more"),
            ("vllm.max_model_len", self.max_model_len, 2, "2 or more"),
            ("vllm.steps_in_flight", self.steps_in_flight, 1, "1 or more"),
            ("vllm.prefill_schedule_interval", self.prefill_schedule_interval, 1, "1 or more"),
        ] {
            if value < least {
                return Err(out_of_domain(field, value, requirement));
            }
        }
        if self.steps_in_flight > 2 {
            return Err(out_of_domain(
                "vllm.steps_in_flight",
                self.steps_in_flight,
                "1 (synchronous) or 2 (asynchronous scheduling)",
            ));
        }
        if self.num_blocks > MOST_BLOCKS {
            return Err(out_of_domain("vllm.num_blocks", self.num_blocks, "at most 2^24"));
        }
        if self.block_size > LARGEST_BLOCK {
            return Err(out_of_domain("vllm.block_size", self.block_size, "at most 2^16"));
        }
        Ok(())
    }

    /// What the older release does not know cannot be asked of it.
    fn check_version(&self) -> Result<(), SetupError> {
        if self.version == Version::V0_33 {
            return Ok(());
        }
        if self.scheduler_reserve_full_isl {
            return Err(out_of_domain(
                "vllm.scheduler_reserve_full_isl",
                1,
                "off for versions up to 0.11",
            ));
        }
        if self.watermark > 0.0 && !self.version.has_watermark() {
            return Err(SetupError::OutOfDomain {
                field: "vllm.watermark",
                value: self.watermark,
                requirement: "0 for versions up to 0.11",
            });
        }
        if self.prefill_schedule_interval > 1 {
            return Err(out_of_domain(
                "vllm.prefill_schedule_interval",
                self.prefill_schedule_interval,
                "1 for versions up to 0.11",
            ));
        }
        Ok(())
    }
}

fn out_of_domain(field: &'static str, value: u64, requirement: &'static str) -> SetupError {
    SetupError::OutOfDomain { field, value: value as f64, requirement }
}
