//! Random set-ups of vLLM's rules and of whole batches.

use proptest::prelude::*;
use sim_core::{
    EngineSpec, Rules, Setup,
    engine::{
        ServiceNoise, Speculation, VllmRules,
        vllm::{Policy, Version},
    },
};

use crate::settings::setups;

fn vllm_rules() -> impl Strategy<Value = Rules> {
    let threshold = prop_oneof![2 => Just(0_u64), 1 => 1_u64..300];
    let watermark = prop_oneof![2 => Just(0.0), 1 => 0.0_f64..0.5];
    (any::<[bool; 4]>(), threshold, watermark).prop_map(
        |([is_new, asynchronous, by_priority, prefix_caching], threshold, watermark)| {
            Rules::VllmV1(VllmRules {
                version: if is_new { Version::V0_33 } else { Version::V0_11 },
                asynchronous,
                policy: if by_priority { Policy::Priority } else { Policy::Fcfs },
                prefix_caching,
                long_prefill_token_threshold: threshold,
                watermark: if is_new { watermark } else { 0.0 },
            })
        },
    )
}

fn batch_rules() -> impl Strategy<Value = Rules> {
    let delay = prop_oneof![1 => Just(0.0), 2 => 0.0_f64..2.0];
    let noise = prop_oneof![
        2 => Just(ServiceNoise::None),
        1 => (0.0_f64..1.0).prop_map(|sigma| ServiceNoise::LogNormal { sigma }),
        1 => prop::collection::vec(0.1_f64..5.0, 0..40)
            .prop_map(|factors| ServiceNoise::Recorded(factors.into())),
    ];
    (delay, noise).prop_map(|(max_delay_s, noise)| Rules::WholeBatches { max_delay_s, noise })
}

/// Static and dynamic batches as they come; a third of them one request at a time.
pub(crate) fn with_batches() -> impl Strategy<Value = Setup> {
    (setups(), batch_rules(), 0..3).prop_map(|(setup, rules, kind)| {
        let alone = EngineSpec { max_num_seqs: 1, ..setup.engine };
        Setup { rules, engine: if kind == 0 { alone } else { setup.engine }, ..setup }
    })
}

/// With drafts; where none are kept, and where all are.
pub(crate) fn with_drafts() -> impl Strategy<Value = Setup> {
    let acceptance = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 5 => 0.0_f64..1.0];
    let speculation =
        (0_u64..12, acceptance, 0.0_f64..0.5).prop_map(|(tokens, acceptance, draft_cost)| {
            Speculation { tokens, acceptance, draft_cost }
        });
    (setups(), speculation)
        .prop_map(|(setup, drafts)| Setup { rules: Rules::Speculative(drafts), ..setup })
}

pub(crate) fn with_vllm() -> impl Strategy<Value = Setup> {
    (setups(), vllm_rules()).prop_map(|(mut setup, rules)| {
        // A block at least.
        setup.engine.kv_capacity_tokens = setup.engine.kv_capacity_tokens.max(16);
        Setup { rules, ..setup }
    })
}
