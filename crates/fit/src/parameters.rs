//! The constants that are fitted.

use std::collections::BTreeMap;

use sim_core::step_time::kernel::{ExpertKernels, Kernel, KernelError, KernelInput, Overheads};

use crate::setting::{EngineKind, Precision, Setting};

/// What a constant is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Role {
    Layer, Step, Sequence, ExpertLayer, PromptLayer, Api, ApiToken, Rate, Traffic, ExpertRate, ExpertTraffic, Padding, Exponent, Cache, Reduce,
}
const ROLES: usize = 15;

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
    index: BTreeMap<String, usize>,
    /// Options.
    pub options: String,
}

/// name of an engine
pub fn engine_name(e: EngineKind) -> &'static str {
    ["vllm", "trtllm", "sglang"][e as usize]
}

impl Model {
    /// A model for settings
    pub fn new(settings: &[Setting], options: &str) -> Self {
        let mut model = Self { parameters: Vec::new(), index: BTreeMap::new(), options: options.to_owned() };
        for setting in settings {
            for (_, name, prior, spread) in model.effects(setting) {
                if !model.index.contains_key(&name) {
                    model.index.insert(name.clone(), model.parameters.len());
                    model.parameters.push(Parameter { name, prior, spread });
                }
            }
        }
        model
    }

    /// Whether a constant matters for a setting.
    pub fn matters(&self, at: usize, setting: &Setting) -> bool {
        setting.terms.iter().any(|it| it.1 == at)
    }

    /// bind
    pub fn bind(&self, setting: &mut Setting) {
        setting.terms = self.effects(setting).into_iter().filter_map(|(role, name, _, _)| self.index.get(&name).map(|at| (role, *at))).collect();
    }

    fn effects(&self, s: &Setting) -> Vec<(Role, String, f64, f64)> {
        use Role::*;
        let has = |o: &str| self.options.contains(o);
        let e = engine_name(s.engine);
        let mut all = Vec::new();
        let mut add = |role: Role, name: String, prior: f64, spread: f64| all.push((role, name, prior, spread));
        add(Layer, format!("{e}.layer_s"), 12e-6, 0.5);
        add(Step, format!("{e}.step_s"), 0.7e-3, 0.5);
        add(Sequence, format!("{e}.sequence_s"), 8e-6, 0.5);
        if has("floor") { add(PromptLayer, format!("{e}.prompt_layer_s"), 60e-6, 0.5); } else { add(PromptLayer, "prompt_layer_s".into(), 60e-6, 0.01); }
        if has("client") {
            add(Api, format!("{}.api_s", s.client), 15e-3, 0.5);
            add(Api, format!("{e}.api"), 1.0, 0.3);
        } else {
            add(Api, format!("{e}.api_s"), 13e-3, 0.5);
        }
        if has("token") { add(ApiToken, "api_token_s".into(), 1e-6, 0.5); }
        if has("version") {
            add(Layer, format!("{e}.{}.layer", s.version_class), 1.0, 0.3);
            add(Step, format!("{e}.{}.step", s.version_class), 1.0, 0.3);
            add(Sequence, format!("{e}.{}.sequence", s.version_class), 1.0, 0.3);
            add(Api, format!("{e}.{}.api", s.version_class), 1.0, 0.3);
            if s.has_experts { add(ExpertLayer, format!("{e}.{}.expert_layer", s.version_class), 1.0, 0.3); }
        }
        if has("cache") { add(Cache, format!("{e}.cache"), 1.0, 0.1); }
        if has("reduce") && s.spread.ranks > 1 { add(Reduce, format!("{e}.reduce"), 1.0, 0.3); }
        let path = format!("{e}.g{}.{:?}", s.generation, s.precision);
        let g = s.generation;
        if has("gen") { add(Layer, format!("{e}.g{g}.layer"), 1.0, 0.3); }
        if has("dpath") { add(Rate, format!("{path}.rate"), 1.0, 0.15); add(Traffic, format!("{path}.traffic"), 1.0, 0.1); }
        let fam = &s.family;
        let fs = if has("wide") { 2.0 } else { 1.0 };
        if has("fam") {
            add(Layer, format!("{fam}.layer"), 1.0, 0.2 * fs);
            add(Step, format!("{fam}.step"), 1.0, 0.2 * fs);
            add(Rate, format!("{fam}.rate"), 1.0, 0.1 * fs);
            add(Traffic, format!("{fam}.traffic"), 1.0, 0.07 * fs);
            add(Sequence, format!("{fam}.sequence"), 1.0, 0.3 * fs);
            if s.has_experts {
                add(ExpertLayer, format!("{fam}.expert_layer"), 1.0, 0.2 * fs);
                add(ExpertRate, format!("{fam}.expert_rate"), 1.0, 0.2 * fs);
                add(ExpertTraffic, format!("{fam}.expert_traffic"), 1.0, 0.15 * fs);
            }
        }
        if has("fapi") { add(Api, format!("{fam}.api"), 1.0, 0.3); }
        if s.has_experts {
            add(ExpertLayer, format!("{e}.expert_layer_s"), 25e-6, 0.5);
            add(ExpertRate, "experts.compute_share".into(), 0.3, 0.5);
            add(Padding, "experts.padding_tokens".into(), 16.0, 0.5);
            add(Exponent, "experts.routing_exponent".into(), 0.9, 0.2);
            if s.precision == Precision::Mxfp4 { add(ExpertRate, "experts.mxfp4".into(), 1.5, 0.5); }
            if has("path") {
                add(ExpertRate, format!("{path}.expert_rate"), 1.0, 0.3);
                add(ExpertTraffic, format!("{path}.expert_traffic"), 1.0, 0.2);
                add(ExpertLayer, format!("{path}.expert_layer"), 1.0, 0.3);
            }
            if has("ep") && s.spread.expert_ranks > 1 {
                add(ExpertRate, format!("{e}.ep.rate"), 1.0, 0.3);
                add(ExpertTraffic, format!("{e}.ep.traffic"), 1.0, 0.3);
                add(ExpertLayer, format!("{e}.ep.layer"), 1.0, 0.3);
                add(Api, format!("{e}.ep.api"), 1.0, 0.3);
            }
            if has("dp") && s.spread.attention_groups > 1 {
                add(ExpertRate, format!("{e}.dp.rate"), 1.0, 0.3);
                add(ExpertTraffic, format!("{e}.dp.traffic"), 1.0, 0.3);
                add(ExpertLayer, format!("{e}.dp.layer"), 1.0, 0.5);
                add(Step, format!("{e}.dp.step"), 1.0, 0.5);
            }
        }
        all
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
        let mut sums = [0.0; ROLES];
        for &(role, at) in &setting.terms {
            sums[role as usize] += logs[at];
        }
        let of = |role: Role| libm::exp(sums[role as usize]);
        let has = |role: Role| setting.terms.iter().any(|it| it.0 == role);
        let mut formats = setting.formats;
        let rate = of(Role::Rate);
        formats.mixing.flops *= rate;
        formats.dense.flops *= rate;
        formats.head.flops *= rate;
        formats.experts.flops *= rate;
        let mut gpu = setting.gpu;
        gpu.bandwidth_share *= of(Role::Traffic);
        gpu.cache_share *= of(Role::Cache);
        if gpu.cache_share > 0.97 { gpu.cache_share = 0.97; }
        if gpu.bandwidth_share > 0.97 { gpu.bandwidth_share = 0.97; }
        let reduce = of(Role::Reduce);
        for curve in &mut gpu.reduce { curve.times_s = curve.times_s.map(|t| t * reduce); }
        Kernel::new(&KernelInput {
            architecture: &setting.architecture,
            formats,
            gpu,
            spread: setting.spread,
            overheads: Overheads {
                layer_s: of(Role::Layer),
                step_s: of(Role::Step),
                sequence_s: of(Role::Sequence),
                expert_layer_s: if has(Role::ExpertLayer) { of(Role::ExpertLayer) } else { 0.0 },
                prompt_layer_s: of(Role::PromptLayer),
                api_s: of(Role::Api) + if has(Role::ApiToken) { of(Role::ApiToken) * setting.isl } else { 0.0 },
            },
            experts: ExpertKernels {
                compute_share: of(Role::ExpertRate),
                bandwidth_share: of(Role::ExpertTraffic),
                padding_tokens: of(Role::Padding),
                routing_exponent: of(Role::Exponent),
            },
        })
    }
}
