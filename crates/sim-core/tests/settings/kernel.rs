//! Random networks on random GPUs, for the kernel model.
#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use sim_core::{
    StepTimeSpec,
    memory::{
        Architecture, Attention, FeedForward, LatentAttention, Layer, Mixer, Reach, Recurrent,
    },
    step_time::kernel::{
        ExpertKernels, Format, Formats, GpuRates, Kernel, KernelInput, Overheads, Reduction, Spread,
    },
};

/// Layers of one kind of mixing and one kind of feed-forward part.
fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let heads = (1_u64..5).prop_map(|power| 1 << power);
    let reach = prop_oneof![2 => Just(Reach::Full), 1 => (16_u64..4096).prop_map(Reach::Window)];
    let attention =
        (heads, 1_u64..9, reach, any::<bool>()).prop_map(|(heads, kv_heads, reach, is_gated)| {
            let whole = Attention::full(heads * 8, kv_heads, 64);
            Mixer::Attention(Attention { reach, is_gated, ..whole })
        });
    let latent = (0_u64..2, 1_u64..9).prop_map(|(q, heads)| {
        Mixer::Latent(LatentAttention {
            heads: heads * 8,
            q_rank: q * 1536,
            kv_rank: 512,
            rope_dim: 64,
            nope_dim: 128,
            value_dim: 128,
            indexer: None,
        })
    });
    let delta = (1_u64..5).prop_map(|heads| {
        Mixer::Recurrent(Recurrent::GatedDelta {
            key_heads: heads,
            value_heads: 2 * heads,
            key_dim: 128,
            value_dim: 128,
            taps: 4,
        })
    });
    let mixer = prop_oneof![3 => attention, 1 => latent, 1 => delta];
    let feed_forward = prop_oneof![
        (64_u64..20_000, 2_u64..4)
            .prop_map(|(width, matrices)| FeedForward::Dense { width, matrices }),
        (0_u64..2).prop_map(|shared| FeedForward::Experts {
            count: 64,
            active: 6,
            width: 768,
            shared_width: shared * 512,
            matrices: 3,
        }),
    ];
    let layer = (mixer, feed_forward)
        .prop_map(|(mixer, feed_forward)| Layer { mixers: vec![mixer], feed_forward });
    (prop::collection::vec(layer, 1..3), 1_usize..40).prop_map(|(kinds, count)| {
        kinds.iter().cycle().take(kinds.len() * count).cloned().collect()
    })
}

fn gpu() -> impl Strategy<Value = GpuRates> {
    (1e14_f64..3e15, 5e11_f64..8e12, 3e-6_f64..3e-5).prop_map(
        |(flops_16, bandwidth_bytes_per_s, latency_s)| {
            let mut times_s = [latency_s; 13];
            for (index, time_s) in times_s.iter_mut().enumerate() {
                *time_s *= (1 << index) as f64;
            }
            GpuRates {
                flops_16,
                flops_8: 2.0 * flops_16,
                flops_4: 0.0,
                bandwidth_bytes_per_s,
                share_16: 0.8,
                share_8: 0.6,
                share_4: 0.0,
                bandwidth_share: 0.8,
                cache_share: 0.85,
                reduce: [Reduction { times_s }; 3],
            }
        },
    )
}

fn spreads() -> impl Strategy<Value = Spread> {
    (0_u32..4, 0_u32..4, any::<bool>(), 1_u64..4).prop_map(|(ranks, groups, whole, stages)| {
        let ranks = 1 << ranks;
        Spread {
            ranks,
            attention_groups: (1 << groups).min(ranks),
            expert_ranks: if whole { ranks } else { 1 },
            stages,
        }
    })
}

/// Kernels of random networks.
pub(crate) fn kernels() -> impl Strategy<Value = Kernel> {
    let overheads = (0.0_f64..5e-5, 1e-6_f64..2e-3, 0.0_f64..4e-5, 0.0_f64..1e-4, 0.0_f64..0.05);
    let sizes = (8_u64..64, 1_000_u64..200_000);
    let experts = (0.1_f64..1.0, 0.3_f64..1.0, 0.0_f64..40.0, 0.5_f64..1.0);
    (layers(), gpu(), spreads(), overheads, sizes, experts).prop_map(
        |(layers, gpu, spread, overheads, (width, vocab_size), experts)| {
            let architecture = Architecture {
                hidden_size: width * 128,
                vocab_size,
                layers,
                ..Architecture::default()
            };
            let format = Format { bytes: 2.0, flops: gpu.flops_16 * gpu.share_16 };
            let formats = Formats {
                mixing: format,
                dense: format,
                experts: Format { bytes: 1.0, flops: gpu.flops_8 * gpu.share_8 },
                head: format,
                kv_bytes: 2.0,
            };
            let (layer_s, step_s, sequence_s, expert_layer_s, api_s) = overheads;
            let input = KernelInput {
                architecture: &architecture,
                formats,
                gpu,
                spread,
                overheads: Overheads {
                    layer_s,
                    expert_layer_s,
                    prompt_layer_s: layer_s,
                    step_s,
                    sequence_s,
                    api_s,
                },
                experts: ExpertKernels {
                    compute_share: experts.0,
                    bandwidth_share: experts.1,
                    padding_tokens: experts.2,
                    routing_exponent: experts.3,
                },
            };
            Kernel::new(&input).expect("every part of it is modelled")
        },
    )
}

/// The same as step times of a set-up.
pub(crate) fn kernel_step_times() -> impl Strategy<Value = StepTimeSpec> {
    kernels().prop_map(StepTimeSpec::Kernel)
}
