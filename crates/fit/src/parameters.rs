//! The constants that are fitted.

use sim_core::step_time::kernel::{ExpertKernels, Kernel, KernelError, KernelInput, Overheads};

use crate::setting::{EngineKind, Precision, Setting};

/// A free constant: logarithms are fitted.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where a fit begins, and what it is drawn to.
    pub prior: f64,
    /// Standard deviation of its logarithm around that.
    pub spread: f64,
}

/// All free constants.
#[derive(Clone, Debug)]
pub struct Model {
    /// In order.
    pub parameters: Vec<Parameter>,
}

const ENGINES: [&str; 3] = ["vllm", "trtllm", "sglang"];

impl Model {
    /// The study's model: 19 constants.
    pub fn study() -> Self {
        let mut model = Self { parameters: Vec::new() };
        for engine in ENGINES {
            model.add(&format!("{engine}.layer_s"), 9e-6, 0.5);
            model.add(&format!("{engine}.step_s"), 0.9e-3, 0.5);
            model.add(&format!("{engine}.sequence_s"), 5e-6, 0.5);
            model.add(&format!("{engine}.expert_layer_s"), 20e-6, 0.5);
            model.add(&format!("{engine}.api_s"), 13e-3, 0.5);
        }
        model.add("experts.compute_share", 0.5, 0.5);
        model.add("experts.padding_tokens", 16.0, 0.5);
        model.add("experts.routing_exponent", 1.0, 0.5);
        model.add("experts.mxfp4", 1.0, 0.5);
        model
    }

    fn add(&mut self, name: &str, prior: f64, spread: f64) {
        self.parameters.push(Parameter { name: name.to_owned(), prior, spread });
    }

    /// Whether a constant matters for a setting.
    pub fn matters(&self, at: usize, setting: &Setting) -> bool {
        let engine = setting.engine as usize;
        let name = &self.parameters[at].name;
        if let Some(known) = ENGINES.iter().position(|it| name.starts_with(&format!("{it}."))) {
            return known == engine;
        }
        !name.starts_with("experts.") || setting.has_experts
    }

    /// Logarithms of the priors.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|it| libm::log(it.prior)).collect()
    }

    /// The step time of a setting with these logarithms.
    ///
    /// # Errors
    /// If the network has a part that is not modelled.
    pub fn kernel(&self, setting: &Setting, logs: &[f64]) -> Result<Kernel, KernelError> {
        let of = |at: usize| libm::exp(logs[at]);
        let engine = 5 * setting.engine as usize;
        let mut formats = setting.formats;
        if setting.precision == Precision::Mxfp4 {
            formats.experts.flops *= of(18);
        }
        Kernel::new(&KernelInput {
            architecture: &setting.architecture,
            formats,
            gpu: setting.gpu,
            spread: setting.spread,
            overheads: Overheads {
                layer_s: of(engine),
                step_s: of(engine + 1),
                sequence_s: of(engine + 2),
                expert_layer_s: of(engine + 3),
                api_s: of(engine + 4),
            },
            experts: ExpertKernels {
                compute_share: of(15),
                bandwidth_share: 1.0,
                padding_tokens: of(16),
                routing_exponent: of(17),
            },
        })
    }
}
const _: EngineKind = EngineKind::Vllm;
