//! One network by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use super::*;
use crate::memory::{Architecture, Attention, FeedForward, Layer, Mixer};

const HALF: Format = Format { bytes: 2.0, flops: 0.81 * 989e12 };
const NOTHING: Overheads = Overheads {
    layer_s: 0.0,
    expert_layer_s: 0.0,
    prompt_layer_s: 0.0,
    step_s: 0.0,
    sequence_s: 0.0,
    api_s: 0.0,
};
const ALL_OF_IT: ExpertKernels = ExpertKernels {
    compute_share: 1.0,
    bandwidth_share: 1.0,
    padding_tokens: 0.0,
    routing_exponent: 1.0,
};
const H100: GpuRates = GpuRates {
    flops_16: 989e12,
    flops_8: 1979e12,
    flops_4: 0.0,
    bandwidth_bytes_per_s: 3.35e12,
    share_16: 0.81,
    share_8: 0.58,
    share_4: 0.0,
    bandwidth_share: 0.85,
    cache_share: 0.85,
    reduce: [Reduction { times_s: [5e-6; 13] }; 3],
};

fn network(feed_forward: FeedForward) -> Architecture {
    let mixers = vec![Mixer::Attention(Attention::full(32, 8, 128))];
    Architecture {
        hidden_size: 4096,
        vocab_size: 128_256,
        layers: vec![Layer { mixers, feed_forward }; 32],
        ..Architecture::default()
    }
}

fn llama_8b() -> Architecture {
    network(FeedForward::Dense { width: 14336, matrices: 3 })
}

fn kernel(architecture: &Architecture, spread: Spread, overheads: Overheads) -> Kernel {
    let formats = Formats { mixing: HALF, dense: HALF, experts: HALF, head: HALF, kv_bytes: 2.0 };
    let experts = ALL_OF_IT;
    Kernel::new(&KernelInput { architecture, formats, gpu: H100, spread, overheads, experts })
        .unwrap()
}

fn decode(decodes: f64, context: f64) -> KernelShape {
    KernelShape { decodes, context_tokens: decodes * context, ..KernelShape::default() }
}

#[test]
fn factors_stretch_what_they_are_of() {
    let kernel = kernel(&llama_8b(), Spread::tensor(1), NOTHING);
    assert_eq!(kernel.scaled(1.0, 1.0), kernel);
    let decode = decode(4.0, 1000.0);
    let prompt = KernelShape {
        prompt_tokens: 8000.0,
        prompt_pairs: 3.2e7,
        ending_prompts: 1.0,
        ..KernelShape::default()
    };
    let ratio = |memory: f64, compute: f64, shape: &KernelShape| {
        kernel.scaled(memory, compute).step_s(shape) / kernel.step_s(shape)
    };
    // All of a step is of one kind or the other.
    for shape in [&decode, &prompt] {
        assert!((ratio(2.0, 2.0, shape) - 2.0).abs() < 1e-9);
    }
    assert!(ratio(2.0, 1.0, &decode) > 1.9 && ratio(1.0, 2.0, &decode) < 1.1);
    assert!(ratio(1.0, 2.0, &prompt) > 1.8 && ratio(2.0, 1.0, &prompt) < 1.2);
    assert_eq!(kernel.with_api_s(0.5).api_s(), 0.5);
}

#[test]
fn a_lone_decode_reads_the_weights_once() {
    let kernel = kernel(&llama_8b(), Spread::tensor(1), NOTHING);
    let step_s = kernel.step_s(&decode(1.0, 0.0));
    // 32 layers of 218.1 million parameters and an output projection of 525.3 million, two bytes each,
    // at 85 % of 3.35 TB/s; 4 products of 4 µs a layer; little else.
    let weights_s = 2.0 * (32.0 * 218.103_808e6 + 525.336_576e6) / (0.85 * 3.35e12);
    let others_s = step_s - weights_s - 32.0 * 4.0 * 4e-6;
    assert!(others_s > 0.0 && others_s < 20e-6, "{others_s}");
}

#[test]
fn context_is_read_at_131072_bytes_a_token() {
    let kernel = kernel(&llama_8b(), Spread::tensor(1), NOTHING);
    let slope_s = kernel.lines(1.0, 1.0).slope_s;
    assert!((slope_s - 131_072.0 / (0.85 * 3.35e12)).abs() < 1e-15);
    let more_s = kernel.step_s(&decode(8.0, 2000.0)) - kernel.step_s(&decode(8.0, 1000.0));
    assert!((more_s - 8000.0 * slope_s).abs() < 1e-9);
}

#[test]
fn a_long_prompt_is_arithmetic() {
    let kernel = kernel(&llama_8b(), Spread::tensor(1), NOTHING);
    let tokens = 8192.0;
    let shape = KernelShape { prompt_tokens: tokens, ..KernelShape::default() };
    let products_s = 2.0 * tokens * 32.0 * 218.103_808e6 / HALF.flops;
    // Norms and activations move 20 numbers of the width and 6 of the feed-forward part a token, attention
    // 4 of each head.
    let moved = 32.0 * (20.0 * 4096.0 + 6.0 * 14336.0) / 0.42 + 32.0 * 4.0 * 40.0 * 128.0 / 0.38;
    let expected_s = products_s + moved * tokens / 3.35e12;
    let step_s = kernel.step_s(&shape);
    assert!((step_s - expected_s).abs() < 0.02 * expected_s, "{step_s} {expected_s}");
    let pairs = KernelShape { prompt_pairs: 0.5 * tokens * tokens, ..shape };
    // 4 FLOP for each pair, head and element.
    let attention_s = 4.0 * 32.0 * 32.0 * 128.0 * 0.5 * tokens * tokens / (0.68 * 989e12);
    assert!((kernel.step_s(&pairs) - step_s - attention_s).abs() < 1e-9);
}

#[test]
fn few_tokens_visit_few_experts() {
    let experts =
        FeedForward::Experts { count: 128, active: 8, width: 1536, shared_width: 0, matrices: 3 };
    let kernel = kernel(&network(experts), Spread::tensor(1), NOTHING);
    assert!((kernel.experts.visited(1.0) - 8.0).abs() < 1e-9);
    assert!(kernel.experts.visited(16.0) < 16.0 * 8.0);
    assert!((kernel.experts.visited(4096.0) - 128.0).abs() < 1e-6);
    // One token reads eight experts in each layer, two bytes a parameter.
    let read_s = 32.0 * 8.0 * 3.0 * 4096.0 * 1536.0 * 2.0 / (0.85 * 3.35e12);
    let step_s = kernel.experts.step_s(1.0);
    assert!(step_s > read_s && step_s < 1.01 * read_s, "{step_s} {read_s}");
}

#[test]
fn ranks_share_the_work_and_pay_for_reductions() {
    let network = llama_8b();
    let (one, four) = (
        kernel(&network, Spread::tensor(1), NOTHING),
        kernel(&network, Spread::tensor(4), NOTHING),
    );
    // All weights are shared; two reductions of 5 µs a layer come on top.
    let fixed_s = 32.0 * 4.0 * 4e-6;
    let shape = decode(1.0, 0.0);
    let shared_s = (one.step_s(&shape) - fixed_s) / 4.0;
    let expected_s = shared_s + fixed_s + 64.0 * 5e-6;
    assert!((four.step_s(&shape) - expected_s).abs() < 0.01 * expected_s);
    // Eight KV heads on sixteen ranks: each keeps one.
    let sixteen = kernel(&network, Spread::tensor(16), NOTHING);
    let eight = kernel(&network, Spread::tensor(8), NOTHING);
    assert_eq!(sixteen.lines(1.0, 1.0).slope_s, eight.lines(1.0, 1.0).slope_s);
}

#[test]
fn stages_work_on_parts_of_the_batch() {
    let network = llama_8b();
    let spread = Spread { stages: 2, ..Spread::tensor(1) };
    let (whole, staged) =
        (kernel(&network, Spread::tensor(1), NOTHING), kernel(&network, spread, NOTHING));
    // All layers are passed, with half of the batch each time.
    let expected_s = whole.step_s(&decode(32.0, 1000.0));
    assert!((staged.step_s(&decode(64.0, 1000.0)) - expected_s).abs() < 1e-12);
}

#[test]
fn overheads_are_what_they_say() {
    let overheads = Overheads {
        layer_s: 10e-6,
        expert_layer_s: 1.0,
        prompt_layer_s: 20e-6,
        step_s: 1e-3,
        sequence_s: 5e-6,
        api_s: 10e-3,
    };
    let network = llama_8b();
    let bare = kernel(&network, Spread::tensor(1), NOTHING);
    let dressed = kernel(&network, Spread::tensor(1), overheads);
    let shape = decode(10.0, 100.0);
    let more_s = dressed.step_s(&shape) - bare.step_s(&shape);
    // No layer has experts, and nothing is prefilled.
    assert!((more_s - (32.0 * 10e-6 + 1e-3 + 10.0 * 5e-6)).abs() < 1e-12);
    let prompt = KernelShape { prompt_tokens: 100.0, ending_prompts: 1.0, ..shape };
    let more_s = dressed.step_s(&prompt) - bare.step_s(&prompt);
    assert!((more_s - (32.0 * 30e-6 + 1e-3 + 11.0 * 5e-6)).abs() < 1e-12);
    assert_eq!(dressed.api_s(), 10e-3);
}

#[test]
fn reductions_are_interpolated_and_never_shrink() {
    let mut times_s = [5e-6; 13];
    for (index, time_s) in times_s.iter_mut().enumerate().skip(6) {
        *time_s = 5e-6 * (index - 4) as f64;
    }
    let reduction = Reduction { times_s };
    assert_eq!(reduction.time_s(0.0), 5e-6);
    assert_eq!(reduction.time_s(REDUCE_BYTES[6]), 10e-6);
    assert!((reduction.time_s(1.5 * REDUCE_BYTES[6]) - 12.5e-6).abs() < 1e-15);
    assert!((reduction.time_s(2.0 * REDUCE_BYTES[12]) - 80e-6).abs() < 1e-15);
}

#[test]
fn what_is_not_modelled_is_said() {
    let mut network = llama_8b();
    network.layers[0].feed_forward =
        FeedForward::Experts { count: 8, active: 2, width: 1024, shared_width: 0, matrices: 3 };
    network.layers[1].feed_forward =
        FeedForward::Experts { count: 16, active: 2, width: 1024, shared_width: 0, matrices: 3 };
    let formats = Formats { mixing: HALF, dense: HALF, experts: HALF, head: HALF, kv_bytes: 2.0 };
    let input = KernelInput {
        architecture: &network,
        formats,
        gpu: H100,
        spread: Spread::tensor(1),
        overheads: NOTHING,
        experts: ALL_OF_IT,
    };
    let error = Kernel::new(&input).unwrap_err().to_string();
    assert!(error.contains("step.kind=roofline"), "{error}");
    let spread = Spread { stages: 0, ..Spread::tensor(1) };
    let error = Kernel::new(&KernelInput { spread, ..input }).unwrap_err().to_string();
    assert!(error.contains("step.stages"), "{error}");
}
