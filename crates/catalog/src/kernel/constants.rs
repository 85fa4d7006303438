//! Fitted constants by name, and the step time that they make.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sim_core::{
    memory::Architecture,
    step_time::kernel::{
        ExpertKernels, GpuRates, Kernel, KernelError, KernelInput, Overheads, Spread,
    },
};

use super::{Deployment, KernelDataError, ROLES, Role, effects, formats};

const CONSTANTS: &str = include_str!("../../../../assets/kernel/constants.json");
/// No kernel reaches more of the bandwidth.
const MOST_BANDWIDTH_SHARE: f64 = 0.97;
/// Nodes of a reduction's curve that are recorded in decode graphs: messages up to 8 MiB.
const SMALL_REDUCTIONS: usize = 10;

/// A fitted constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value: seconds, a share or a factor.
    pub value: f64,
    /// What it was drawn to.
    pub prior: f64,
    /// Standard deviation of its logarithm around that.
    pub spread: f64,
    /// Measured runs that it matters for.
    pub rows: u64,
}

#[derive(Deserialize)]
struct File {
    source: String,
    date: String,
    constants: Vec<Constant>,
}

/// All fitted constants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constants {
    /// What they were fitted on.
    pub source: String,
    /// When.
    pub date: String,
    by_name: BTreeMap<String, Constant>,
}

impl Constants {
    /// Those that come with the program.
    ///
    /// # Errors
    /// If the compiled-in data are broken.
    pub fn builtin() -> Result<Self, KernelDataError> {
        let file: File = serde_json::from_str(CONSTANTS)
            .map_err(|error| KernelDataError::Broken(error.to_string()))?;
        let named = |constant: Constant| (constant.name.clone(), constant);
        let by_name = file.constants.into_iter().map(named).collect();
        Ok(Self { source: file.source, date: file.date, by_name })
    }

    /// A constant that was fitted.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Constant> {
        self.by_name.get(name)
    }

    /// A quantity of a deployment: the product of its constants, and whether all of them were fitted.
    #[must_use]
    pub fn value(&self, role: Role, deployment: &Deployment) -> (f64, bool) {
        let effects = effects(deployment);
        let of_role = effects.iter().filter(|effect| effect.role == role);
        of_role.fold((1.0, true), |(value, is_fitted), effect| match self.get(&effect.name) {
            Some(constant) => (value * constant.value, is_fitted),
            None => (value * effect.prior, false),
        })
    }

    /// The step time of a network whose requests have prompts of so many tokens. Of what was never
    /// measured, constants are at their priors.
    ///
    /// # Errors
    /// If the network has a part that is not modelled.
    pub fn kernel(
        &self,
        architecture: &Architecture,
        deployment: &Deployment,
        gpu: &GpuRates,
        spread: Spread,
        prompt_tokens: f64,
    ) -> Result<Kernel, KernelError> {
        let mut sums = [0.0; ROLES];
        for effect in effects(deployment) {
            let value = self.get(&effect.name).map_or(effect.prior, |constant| constant.value);
            sums[effect.role as usize] += libm::log(value);
        }
        kernel(architecture, deployment, gpu, spread, &sums, prompt_tokens)
    }
}

/// The step time of a network from the sums of its constants' logarithms, by role. `prompt_tokens` of each
/// request pass the server's tokeniser.
///
/// # Errors
/// If the network has a part that is not modelled.
pub fn kernel(
    architecture: &Architecture,
    deployment: &Deployment,
    gpu: &GpuRates,
    spread: Spread,
    sums: &[f64; ROLES],
    prompt_tokens: f64,
) -> Result<Kernel, KernelError> {
    let of = |role: Role| libm::exp(sums[role as usize]);
    let mut formats = formats(deployment, gpu);
    let rate = of(Role::Rate);
    for format in [&mut formats.mixing, &mut formats.dense, &mut formats.head, &mut formats.experts]
    {
        format.flops *= rate;
    }
    let mut gpu = *gpu;
    gpu.bandwidth_share *= of(Role::Traffic);
    if gpu.bandwidth_share > MOST_BANDWIDTH_SHARE {
        gpu.bandwidth_share = MOST_BANDWIDTH_SHARE;
    }
    let reduce = of(Role::Reduce);
    for curve in &mut gpu.reduce {
        let mut before_s = 0.0;
        for (at, time_s) in curve.times_s.iter_mut().enumerate() {
            if at < SMALL_REDUCTIONS {
                *time_s *= reduce;
            }
            if *time_s < before_s {
                *time_s = before_s;
            }
            before_s = *time_s;
        }
    }
    let overheads = Overheads {
        layer_s: of(Role::Layer),
        expert_layer_s: if deployment.has_experts { of(Role::ExpertLayer) } else { 0.0 },
        prompt_layer_s: of(Role::PromptLayer),
        step_s: of(Role::Step),
        sequence_s: of(Role::Sequence),
        api_s: of(Role::Api) + of(Role::ApiToken) * prompt_tokens,
    };
    let experts = ExpertKernels {
        compute_share: of(Role::ExpertRate),
        bandwidth_share: of(Role::ExpertTraffic),
        padding_tokens: of(Role::Padding),
        routing_exponent: of(Role::Routing),
    };
    Kernel::new(&KernelInput { architecture, formats, gpu, spread, overheads, experts })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

    use super::*;
    use crate::kernel::{Engine, Precision, VersionClass, kernel_gpu};

    fn deployment(client: &str) -> Deployment {
        Deployment {
            engine: Engine::Vllm,
            version: VersionClass::Late,
            generation: 9,
            precision: Precision::Half,
            has_experts: false,
            has_ranks: false,
            client: client.to_owned(),
            kv_bytes: None,
        }
    }

    #[test]
    fn constants_come_with_the_program() {
        let constants = Constants::builtin().unwrap();
        assert!(constants.source.contains("headroom fit"));
        let layer = constants.get("vllm.layer_s").unwrap();
        assert!(layer.value > 1e-6 && layer.value < 1e-4 && layer.rows > 100, "{layer:?}");
        for constant in constants.by_name.values() {
            assert!(constant.value > 0.0 && constant.spread > 0.0, "{constant:?}");
        }
    }

    #[test]
    fn what_was_never_measured_stays_at_its_prior_and_says_so() {
        let constants = Constants::builtin().unwrap();
        let (measured_s, is_fitted) = constants.value(Role::Api, &deployment("guidellm"));
        let (nobodys_s, is_all_fitted) = constants.value(Role::Api, &deployment(""));
        assert!(is_fitted && !is_all_fitted);
        assert!(measured_s > 1e-3 && measured_s < nobodys_s, "{measured_s} {nobodys_s}");
    }

    #[test]
    fn a_lone_decode_takes_little_more_than_its_weights() {
        let constants = Constants::builtin().unwrap();
        let network = crate::checkpoint("llama-3.1-8b").unwrap().config.architecture;
        let gpu = kernel_gpu("h100-sxm").unwrap().rates();
        let kernel =
            constants.kernel(&network, &deployment(""), &gpu, Spread::tensor(1), 1000.0).unwrap();
        // Published single-stream runs: 6.5 to 7.1 ms a token.
        let step_s = kernel.engine_step_s(1.0, 1.0, 1000.0);
        assert!(step_s > 6e-3 && step_s < 8e-3, "{step_s}");
    }
}
