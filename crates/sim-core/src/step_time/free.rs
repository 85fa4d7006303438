//! The few constants of a step time that a calibration may move.

use super::StepTimeSpec;

/// A constant that a calibration may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeConstant {
    /// The setting that holds it.
    pub key: &'static str,
    /// Its value; for a factor on what a model knows, one.
    pub value: f64,
    /// How loosely its logarithm is drawn to that: as a residual of [`crate::least_squares::SCALE`] weighs where it is
    /// so far away. Loose, since points of one machine scatter far less than machines do.
    pub spread: f64,
    /// Least and greatest value.
    pub bounds: (f64, f64),
}

/// A fixed time that is zero has no logarithm; this little is as good.
const NEXT_TO_NOTHING_S: f64 = 1e-6;

impl StepTimeSpec {
    /// The constants that measurements of a deployment can tell: few, so that few points do.
    ///
    /// What a data sheet or an architecture says (parameters, bytes, peaks) stays; what of it is reached, and
    /// what an engine spends beside, is free.
    #[must_use]
    pub fn free_constants(&self) -> Vec<FreeConstant> {
        let free = |key, value: f64, spread, bounds| FreeConstant { key, value, spread, bounds };
        let time = |key, value: f64| {
            let value = if value > NEXT_TO_NOTHING_S { value } else { NEXT_TO_NOTHING_S };
            free(key, value, 3.0, (NEXT_TO_NOTHING_S, 10.0))
        };
        match *self {
            Self::Affine { fixed_s, per_item_s } => {
                vec![time("step.fixed_s", fixed_s), time("step.per_item_s", per_item_s)]
            }
            Self::Roofline { bandwidth_bytes_per_s, mfu, overhead_s, .. } => vec![
                free(
                    "step.bandwidth",
                    bandwidth_bytes_per_s,
                    1.0,
                    // No kernel moves more than the data sheet says.
                    (0.1 * bandwidth_bytes_per_s, bandwidth_bytes_per_s),
                ),
                free("step.mfu", mfu, 1.0, (0.01, 1.0)),
                time("step.overhead_s", overhead_s),
            ],
            Self::QueueModel { alpha_s, beta_s, gamma_s, .. } => {
                let small = |key, value: f64| {
                    let value = if value > 1e-12 { value } else { 1e-12 };
                    free(key, value, 3.0, (1e-12, 1.0))
                };
                vec![
                    time("step.alpha_s", alpha_s),
                    small("step.beta_s", beta_s),
                    small("step.gamma_s", gamma_s),
                ]
            }
            #[cfg(feature = "kernel")]
            Self::Kernel(ref kernel) => vec![
                free("step.memory_factor", 1.0, 1.0, (0.1, 10.0)),
                free("step.compute_factor", 1.0, 1.0, (0.1, 10.0)),
                time("step.api_s", kernel.api_s()),
            ],
        }
    }

    /// The same with other values of [`Self::free_constants`], in their order. What is not given stays.
    #[must_use]
    pub fn with_free_constants(&self, values: &[f64]) -> Self {
        let or = |at: usize, kept: f64| values.get(at).copied().unwrap_or(kept);
        let mut spec = *self;
        match &mut spec {
            Self::Affine { fixed_s, per_item_s } => {
                *fixed_s = or(0, *fixed_s);
                *per_item_s = or(1, *per_item_s);
            }
            Self::Roofline { bandwidth_bytes_per_s, mfu, overhead_s, .. } => {
                *bandwidth_bytes_per_s = or(0, *bandwidth_bytes_per_s);
                *mfu = or(1, *mfu);
                *overhead_s = or(2, *overhead_s);
            }
            Self::QueueModel { alpha_s, beta_s, gamma_s, .. } => {
                *alpha_s = or(0, *alpha_s);
                *beta_s = or(1, *beta_s);
                *gamma_s = or(2, *gamma_s);
            }
            #[cfg(feature = "kernel")]
            Self::Kernel(kernel) => {
                let api_s = or(2, kernel.api_s());
                *kernel = kernel.scaled(or(0, 1.0), or(1, 1.0)).with_api_s(api_s);
            }
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_go_in_as_they_come_out() {
        let specs = [
            StepTimeSpec::Affine { fixed_s: 0.02, per_item_s: 5e-4 },
            StepTimeSpec::Roofline {
                params: 8e9,
                weight_bytes: 16e9,
                kv_bytes_per_token: 131_072.0,
                peak_flops: 989e12,
                bandwidth_bytes_per_s: 3.35e12,
                mfu: 0.5,
                overhead_s: 5e-4,
            },
            StepTimeSpec::QueueModel {
                alpha_s: 5e-3,
                beta_s: 5e-5,
                gamma_s: 5e-8,
                input_tokens: 1000.0,
                output_tokens: 200.0,
            },
        ];
        for spec in specs {
            let free = spec.free_constants();
            let values: Vec<f64> = free.iter().map(|it| it.value).collect();
            assert_eq!(spec.with_free_constants(&values), spec);
            assert_eq!(spec.with_free_constants(&[]), spec);
            let changed: Vec<f64> = values.iter().map(|it| it * 0.9).collect();
            let found: Vec<f64> = spec
                .with_free_constants(&changed)
                .free_constants()
                .iter()
                .map(|it| it.value)
                .collect();
            assert_eq!(found, changed);
            assert!(
                free.iter().all(|it| it.bounds.0 < it.value && it.value <= it.bounds.1),
                "{free:?}"
            );
        }
    }
}
