//! What holds for every network, GPU and batch.

#[path = "settings/kernel.rs"]
mod kernel;

use kernel::{kernel_step_times, kernels};
use proptest::prelude::*;
use sim_core::step_time::{StepModel, StepTimeSpec, kernel::KernelShape};

fn shapes() -> impl Strategy<Value = KernelShape> {
    let prompts = prop_oneof![Just(0.0), 1.0_f64..20_000.0];
    (prompts, 0.0_f64..50_000.0, 0_u64..2_000, 1.0_f64..100_000.0).prop_map(
        |(prompt_tokens, looks_back, decodes, context)| KernelShape {
            prompt_tokens,
            prompt_pairs: prompt_tokens * looks_back,
            decodes: decodes as f64,
            context_tokens: decodes as f64 * context,
            ending_prompts: if prompt_tokens > 0.0 { 1.0 } else { 0.0 },
        },
    )
}

proptest! {
    #[test]
    fn times_are_finite_positive_and_grow_with_the_work(
        kernel in kernels(),
        shape in shapes(),
        more in 1.0_f64..3.0,
    ) {
        let step_s = kernel.step_s(&shape);
        prop_assert!(step_s.is_finite() && step_s > 0.0, "{step_s}");
        let larger = [
            KernelShape { prompt_tokens: shape.prompt_tokens * more, ..shape },
            KernelShape { prompt_pairs: shape.prompt_pairs * more, ..shape },
            KernelShape { context_tokens: shape.context_tokens * more, ..shape },
            KernelShape { decodes: shape.decodes * more, ..shape },
        ];
        for shape in larger {
            let larger_s = kernel.step_s(&shape);
            prop_assert!(larger_s >= step_s * (1.0 - 1e-12), "{larger_s} < {step_s}: {shape:?}");
        }
    }

    #[test]
    fn an_engine_s_step_is_a_line_in_its_context(
        kernel in kernels(),
        input in 1.0_f64..20_000.0,
        output in 1.0_f64..4_000.0,
        tokens in 0_u64..20_000,
        sequences in 0_u64..2_000,
        context in 0_u64..5_000_000,
    ) {
        let kernel = kernel.for_lengths(input, output);
        let [tokens, sequences, context] = [tokens, sequences, context].map(|count| count as f64);
        let lines = kernel.lines(tokens, sequences);
        let line_s = lines.base_s + lines.slope_s * context + lines.overhead_s;
        let step_s = kernel.engine_step_s(tokens, sequences, context);
        prop_assert!((line_s - step_s).abs() <= 1e-12 * step_s, "{line_s} {step_s}");
        prop_assert!(lines.base_s > 0.0 && lines.slope_s >= 0.0);
    }

    #[test]
    fn the_ceiling_of_arithmetic_is_below_every_step(
        spec in kernel_step_times(),
        tokens in 1_u64..20_000,
    ) {
        prop_assert_eq!(spec.check(), Ok(()));
        let StepTimeSpec::Kernel(kernel) = &spec else { unreachable!() };
        let least_s = StepModel::new(&spec).least_s_per_token() * tokens as f64;
        let step_s = kernel.engine_step_s(tokens as f64, 1.0, 0.0);
        prop_assert!(least_s <= step_s * (1.0 + 1e-9), "{least_s} {step_s}");
    }
}
