//! How long one engine iteration takes.
//!
//! Each model gives, for a fixed batch, its step time as lines in the total context:
//! `max(flat, base + slope · context) + overhead`. While nothing enters or leaves the batch the
//! context grows by a constant a step, so that many steps are one arithmetic series.

mod free;
pub mod kernel;

pub use free::FreeConstant;
use serde::{Deserialize, Serialize};

use crate::{
    float::{from_count, greater},
    setup::SetupError,
    workload::RequestSource,
};

/// The constants of a step-time model.
#[cfg_attr(
    feature = "kernel",
    allow(clippy::large_enum_variant, reason = "one of a set-up, copied once a run")
)]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepTimeSpec {
    /// `fixed_s + per_item_s · sequences`.
    Affine {
        /// Time of a step whatever its batch, in seconds.
        fixed_s: f64,
        /// Time each sequence of the batch adds, in seconds.
        per_item_s: f64,
    },
    /// `max(2 · params · tokens / (peak_flops · mfu), (weight_bytes + kv_bytes_per_token · context)
    /// / bandwidth_bytes_per_s) + overhead_s`: the greater of the time to compute and the time to
    /// read the weights and the KV cache.
    Roofline {
        /// Parameters that each token computes with (the activated ones of a mixture of experts).
        params: f64,
        /// Bytes of weights read in each step.
        weight_bytes: f64,
        /// Bytes of keys and values per token of context.
        kv_bytes_per_token: f64,
        /// Peak arithmetic rate in FLOP/s.
        peak_flops: f64,
        /// Memory bandwidth in bytes per second.
        bandwidth_bytes_per_s: f64,
        /// Share of the peak that is reached, 0 to 1 (model FLOP utilisation).
        mfu: f64,
        /// Fixed time per step in seconds: scheduling, kernel launches.
        overhead_s: f64,
    },
    /// `alpha_s + n · δ` with `n` sequences in the batch, where
    /// `δ = beta_s · (i + o) / (o + 1) + gamma_s · (i + o/2)`: the iteration of the llm-d workload
    /// variant autoscaler (WVA, `pkg/analyzer/queueanalyzer.go`).
    ///
    /// `δ` is a request's own work, averaged over its one prefill and its `o` decode iterations, so
    /// that a step costs the same whether it prefills or decodes. `i` and `o` are the mean lengths
    /// of the workload, as in WVA, also where lengths vary: a long request costs a step no more
    /// than a short one, it only stays for more steps. [`StepTimeSpec::for_workload`] puts them in.
    QueueModel {
        /// Time of an iteration whatever its batch, in seconds.
        alpha_s: f64,
        /// Compute time per token, in seconds.
        beta_s: f64,
        /// Time to access one token of KV cache, in seconds.
        gamma_s: f64,
        /// Mean prompt `i`, in tokens.
        input_tokens: f64,
        /// Mean output `o`, in tokens.
        output_tokens: f64,
    },
    /// The sum of a step's kernels and of what the engine spends beside them.
    #[cfg(feature = "kernel")]
    Kernel(kernel::Kernel),
}

/// What one step processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepShape {
    /// Tokens computed: one per decoding sequence, and the prefill chunks.
    pub tokens: u64,
    /// Sequences in the batch.
    pub sequences: u64,
    /// Tokens of context before the step, over all running sequences.
    pub context_tokens: u64,
}

/// Step time of a fixed batch as lines in the total context:
/// `max(flat_s, base_s + slope_s · context_tokens) + overhead_s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextLines {
    /// The part that does not depend on context and competes with the line.
    pub flat_s: f64,
    /// The line at zero context.
    pub base_s: f64,
    /// Seconds per token of context.
    pub slope_s: f64,
    /// Added to the greater of the two.
    pub overhead_s: f64,
}

impl StepTimeSpec {
    /// Check every constant.
    ///
    /// # Errors
    /// The first constant outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        match *self {
            Self::Affine { fixed_s, per_item_s } => {
                at_least_zero("step.fixed_s", fixed_s)?;
                at_least_zero("step.per_item_s", per_item_s)?;
                if fixed_s + per_item_s > 0.0 {
                    Ok(())
                } else {
                    Err(out_of_domain("step.fixed_s", fixed_s, "above 0 if step.per_item_s is 0"))
                }
            }
            Self::Roofline {
                params,
                weight_bytes,
                kv_bytes_per_token,
                peak_flops,
                bandwidth_bytes_per_s,
                mfu,
                overhead_s,
            } => {
                above_zero("step.params", params)?;
                above_zero("step.weight_bytes", weight_bytes)?;
                at_least_zero("step.kv_bytes_per_token", kv_bytes_per_token)?;
                above_zero("step.peak_flops", peak_flops)?;
                above_zero("step.bandwidth", bandwidth_bytes_per_s)?;
                if !(mfu > 0.0 && mfu <= 1.0) {
                    return Err(out_of_domain("step.mfu", mfu, "above 0 and at most 1"));
                }
                at_least_zero("step.overhead_s", overhead_s)
            }
            Self::QueueModel { alpha_s, beta_s, gamma_s, input_tokens, output_tokens } => {
                above_zero("step.alpha_s", alpha_s)?;
                at_least_zero("step.beta_s", beta_s)?;
                at_least_zero("step.gamma_s", gamma_s)?;
                at_least_zero("step.input_tokens", input_tokens)?;
                above_zero("step.output_tokens", output_tokens)
            }
            #[cfg(feature = "kernel")]
            Self::Kernel(ref kernel) => kernel.check(),
        }
    }

    /// The same model for another workload: the queueing model and the kernel model take the
    /// workload's mean lengths, the others know no lengths.
    #[must_use]
    pub fn for_workload(self, source: &RequestSource) -> Self {
        match self {
            Self::QueueModel { alpha_s, beta_s, gamma_s, .. } => {
                let (input_tokens, output_tokens) = source.mean_tokens();
                Self::QueueModel { alpha_s, beta_s, gamma_s, input_tokens, output_tokens }
            }
            #[cfg(feature = "kernel")]
            Self::Kernel(kernel) => {
                let (input_tokens, output_tokens) = source.mean_tokens();
                Self::Kernel(kernel.for_lengths(input_tokens, output_tokens))
            }
            Self::Affine { .. } | Self::Roofline { .. } => self,
        }
    }

    /// Step time in seconds, straight from the published formula. The simulator's fast engine uses
    /// [`StepModel`], which must agree with this to rounding.
    #[must_use]
    pub fn step_s(&self, shape: &StepShape) -> f64 {
        let (compute_s, memory_s, overhead_s) = self.terms(shape);
        greater(compute_s, memory_s) + overhead_s
    }

    /// Whether arithmetic, not memory traffic, sets the pace of a step. Only `Roofline` tells the
    /// two apart.
    #[must_use]
    pub fn is_compute_bound(&self, shape: &StepShape) -> bool {
        let (compute_s, memory_s, _) = self.terms(shape);
        compute_s > memory_s
    }

    fn terms(&self, shape: &StepShape) -> (f64, f64, f64) {
        match *self {
            Self::Affine { fixed_s, per_item_s } => {
                (0.0, fixed_s + per_item_s * shape.sequences as f64, 0.0)
            }
            Self::Roofline {
                params,
                weight_bytes,
                kv_bytes_per_token,
                peak_flops,
                bandwidth_bytes_per_s,
                mfu,
                overhead_s,
            } => (
                2.0 * params * shape.tokens as f64 / (peak_flops * mfu),
                (weight_bytes + kv_bytes_per_token * shape.context_tokens as f64)
                    / bandwidth_bytes_per_s,
                overhead_s,
            ),
            Self::QueueModel { alpha_s, beta_s, gamma_s, input_tokens, output_tokens } => {
                let each_s = queue_model_each_s(beta_s, gamma_s, input_tokens, output_tokens);
                (0.0, alpha_s + shape.sequences as f64 * each_s, 0.0)
            }
            #[cfg(feature = "kernel")]
            Self::Kernel(ref kernel) => {
                let [tokens, sequences, context] =
                    [shape.tokens, shape.sequences, shape.context_tokens].map(|count| count as f64);
                (0.0, kernel.engine_step_s(tokens, sequences, context), 0.0)
            }
        }
    }
}

/// What one sequence adds to an iteration of the queueing model, `δ`, in seconds.
fn queue_model_each_s(beta_s: f64, gamma_s: f64, input_tokens: f64, output_tokens: f64) -> f64 {
    beta_s * (input_tokens + output_tokens) / (output_tokens + 1.0)
        + gamma_s * (input_tokens + 0.5 * output_tokens)
}

/// A step-time model with its divisions done beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepModel {
    flat_s_per_token: f64,
    base_s: f64,
    base_s_per_sequence: f64,
    slope_s: f64,
    overhead_s: f64,
    #[cfg(feature = "kernel")]
    kernel: Option<kernel::Kernel>,
}

impl StepModel {
    /// Nothing takes time.
    const NONE: Self = Self {
        flat_s_per_token: 0.0,
        base_s: 0.0,
        base_s_per_sequence: 0.0,
        slope_s: 0.0,
        overhead_s: 0.0,
        #[cfg(feature = "kernel")]
        kernel: None,
    };

    /// Prepare a checked specification.
    #[must_use]
    pub fn new(spec: &StepTimeSpec) -> Self {
        match *spec {
            StepTimeSpec::Affine { fixed_s, per_item_s } => {
                Self { base_s: fixed_s, base_s_per_sequence: per_item_s, ..Self::NONE }
            }
            StepTimeSpec::Roofline {
                params,
                weight_bytes,
                kv_bytes_per_token,
                peak_flops,
                bandwidth_bytes_per_s,
                mfu,
                overhead_s,
            } => Self {
                flat_s_per_token: 2.0 * params / (peak_flops * mfu),
                base_s: weight_bytes / bandwidth_bytes_per_s,
                slope_s: kv_bytes_per_token / bandwidth_bytes_per_s,
                overhead_s,
                ..Self::NONE
            },
            // At a fixed batch the decode line is flat: the context is in the mean lengths.
            StepTimeSpec::QueueModel { alpha_s, beta_s, gamma_s, input_tokens, output_tokens } => {
                Self {
                    base_s: alpha_s,
                    base_s_per_sequence: queue_model_each_s(
                        beta_s,
                        gamma_s,
                        input_tokens,
                        output_tokens,
                    ),
                    ..Self::NONE
                }
            }
            #[cfg(feature = "kernel")]
            StepTimeSpec::Kernel(ref kernel) => Self {
                flat_s_per_token: kernel.least_s_per_token(),
                kernel: Some(*kernel),
                ..Self::NONE
            },
        }
    }

    /// The least time in seconds that a token can take, whatever the batch: the arithmetic ceiling.
    #[must_use]
    pub const fn least_s_per_token(&self) -> f64 {
        self.flat_s_per_token
    }

    /// Time outside the engine before a request's first token, in seconds.
    #[cfg(feature = "kernel")]
    #[must_use]
    pub fn api_s(&self) -> f64 {
        self.kernel.as_ref().map_or(0.0, kernel::Kernel::api_s)
    }

    /// The lines of a batch with `tokens` and `sequences`.
    #[must_use]
    pub fn lines(&self, tokens: u64, sequences: u64) -> ContextLines {
        self.lines_of_fluid(from_count(tokens), from_count(sequences))
    }

    /// The lines of a batch on average, where tokens and sequences need not be whole.
    #[must_use]
    pub fn lines_of_fluid(&self, tokens: f64, sequences: f64) -> ContextLines {
        #[cfg(feature = "kernel")]
        if let Some(kernel) = &self.kernel {
            return kernel.lines(tokens, sequences);
        }
        ContextLines {
            flat_s: self.flat_s_per_token * tokens,
            base_s: self.base_s + self.base_s_per_sequence * sequences,
            slope_s: self.slope_s,
            overhead_s: self.overhead_s,
        }
    }
}

fn above_zero(field: &'static str, value: f64) -> Result<(), SetupError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(out_of_domain(field, value, "finite and above 0"))
    }
}

fn at_least_zero(field: &'static str, value: f64) -> Result<(), SetupError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(out_of_domain(field, value, "finite and 0 or more"))
    }
}

fn out_of_domain(field: &'static str, value: f64, requirement: &'static str) -> SetupError {
    SetupError::OutOfDomain { field, value, requirement }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        theory::IterationModel,
        workload::{ArrivalProcess, LengthSpec},
    };

    const QWEN_7B_ON_H100: StepTimeSpec = StepTimeSpec::Roofline {
        params: 7.6e9,
        weight_bytes: 15.2e9,
        kv_bytes_per_token: 57344.0,
        peak_flops: 989e12,
        bandwidth_bytes_per_s: 3.35e12,
        mfu: 0.5,
        overhead_s: 0.5e-3,
    };

    #[test]
    fn a_lone_prefill_is_compute_and_a_lone_decode_reads_the_weights() {
        let prefill = StepShape { tokens: 1024, sequences: 1, context_tokens: 0 };
        // 2 · 7.6e9 · 1024 / 494.5e12 = 31.476 ms, and half a millisecond.
        assert!((QWEN_7B_ON_H100.step_s(&prefill) - 0.031_975_8).abs() < 1e-6);
        assert!(QWEN_7B_ON_H100.is_compute_bound(&prefill));
        let decode = StepShape { tokens: 1, sequences: 1, context_tokens: 1024 };
        // 15.2e9 / 3.35e12 = 4.537 ms, the context's 17.5 µs, and the overhead.
        assert!((QWEN_7B_ON_H100.step_s(&decode) - 0.005_054_8).abs() < 1e-6);
        assert!(!QWEN_7B_ON_H100.is_compute_bound(&decode));
    }

    fn queue_model(input_tokens: f64, output_tokens: f64) -> StepTimeSpec {
        StepTimeSpec::QueueModel {
            alpha_s: 6.958e-3,
            beta_s: 42e-6,
            gamma_s: 23e-9,
            input_tokens,
            output_tokens,
        }
    }

    #[test]
    fn the_queue_model_is_the_iteration_of_the_theory() {
        for (input_tokens, output_tokens) in [(0.0, 1.0), (512.0, 128.0), (8_000.5, 300.25)] {
            let spec = queue_model(input_tokens, output_tokens);
            assert_eq!(spec.check(), Ok(()));
            let theory =
                IterationModel::new(6.958e-3, 42e-6, 23e-9, input_tokens, output_tokens).unwrap();
            for sequences in [0, 1, 7, 256] {
                // Neither the tokens of a step nor its context matter.
                for (tokens, context_tokens) in [(sequences, 0), (8192, 1_000_000)] {
                    let shape = StepShape { tokens, sequences, context_tokens };
                    let expected_s = theory.iteration_s(sequences as f64);
                    assert!((spec.step_s(&shape) - expected_s).abs() <= 1e-15 * expected_s);
                }
            }
        }
        // By hand: 42 µs · 640 / 129 + 23 ns · 576 = 208.372 µs + 13.248 µs for each sequence.
        let shape = StepShape { tokens: 10, sequences: 10, context_tokens: 0 };
        let step_s = queue_model(512.0, 128.0).step_s(&shape);
        assert!((step_s - (6.958e-3 + 10.0 * 221.620e-6)).abs() < 1e-8, "{step_s}");
    }

    #[test]
    fn the_queue_model_takes_the_mean_lengths_of_a_workload() {
        let source = RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s: 1.0,
            input: LengthSpec::Uniform { min_tokens: 100, max_tokens: 300 },
            output: LengthSpec::Fixed { tokens: 50 },
        };
        assert_eq!(queue_model(1.0, 1.0).for_workload(&source), queue_model(200.0, 50.0));
        assert_eq!(QWEN_7B_ON_H100.for_workload(&source), QWEN_7B_ON_H100);
    }

    #[test]
    fn the_prepared_model_agrees_with_the_formula() {
        let affine = StepTimeSpec::Affine { fixed_s: 0.04, per_item_s: 0.005 };
        for spec in [QWEN_7B_ON_H100, affine, queue_model(512.0, 128.0)] {
            let model = StepModel::new(&spec);
            for tokens in [0, 1, 100, 8192] {
                for context_tokens in [0, 1, 50_000, 2_000_000] {
                    let shape = StepShape { tokens, sequences: tokens.min(40), context_tokens };
                    let lines = model.lines(shape.tokens, shape.sequences);
                    let line_s = lines.base_s + lines.slope_s * context_tokens as f64;
                    let step_s = greater(lines.flat_s, line_s) + lines.overhead_s;
                    let expected_s = spec.step_s(&shape);
                    assert!((step_s - expected_s).abs() <= 1e-15 + 1e-14 * expected_s);
                }
            }
        }
    }

    #[test]
    fn constants_outside_their_domain_are_named() {
        let bad = StepTimeSpec::Affine { fixed_s: 0.0, per_item_s: 0.0 };
        assert!(bad.check().unwrap_err().to_string().contains("step.fixed_s"));
        let StepTimeSpec::Roofline {
            params,
            weight_bytes,
            kv_bytes_per_token,
            peak_flops,
            bandwidth_bytes_per_s,
            overhead_s,
            ..
        } = QWEN_7B_ON_H100
        else {
            unreachable!()
        };
        let bad = StepTimeSpec::Roofline {
            params,
            weight_bytes,
            kv_bytes_per_token,
            peak_flops,
            bandwidth_bytes_per_s,
            mfu: f64::NAN,
            overhead_s,
        };
        assert!(bad.check().unwrap_err().to_string().contains("step.mfu"));
        for (bad, field) in [
            (queue_model(f64::NAN, 1.0), "step.input_tokens"),
            (queue_model(1.0, 0.0), "step.output_tokens"),
        ] {
            assert!(bad.check().unwrap_err().to_string().contains(field));
        }
    }
}
