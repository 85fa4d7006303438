//! What is left for KV cache: total × utilisation, less weights, activations and what lies outside the
//! framework.

use super::{Architecture, EngineRules, GIB, plan::Deployment};

/// Where a term comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Given, for example from an engine's log.
    Given,
    /// Computed from the architecture and the settings.
    Derived,
    /// By a formula whose constants were fitted to logs of this version.
    Fitted,
    /// By the same formula, for a version or a GPU without data.
    Assumed,
}

/// One term of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Bytes on one GPU.
    pub bytes: f64,
    /// How far it may be off, bytes.
    pub half_width_bytes: f64,
    /// Where it comes from.
    pub basis: Basis,
}

/// The budget of one GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// All memory that the driver reports.
    pub total_bytes: f64,
    /// Share of it that the engine may take, 0 to 1.
    pub utilization: f64,
    /// Weights.
    pub weights: Term,
    /// Peak of activations in the profiling step, without CUDA graphs.
    pub activation: Term,
    /// What driver, libraries and communication take.
    pub non_torch: Term,
    /// What is kept for CUDA graphs beforehand; zero in versions that keep nothing.
    pub graphs: Term,
    /// What is left; negative where the model does not fit.
    pub kv_bytes: f64,
    /// How far that may be off, bytes: all terms off to the same side.
    pub kv_half_width_bytes: f64,
}

/// Terms that are known from a log, in bytes on one GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    /// Weights.
    pub weights_bytes: Option<f64>,
    /// Peak of activations, as logged: from 0.21 on it holds the estimate of the graphs, so that this
    /// then counts as nothing more.
    pub activation_bytes: Option<f64>,
    /// What lies outside the framework.
    pub non_torch_bytes: Option<f64>,
    /// The estimate of CUDA graphs, where it is not in the activations.
    pub graph_bytes: Option<f64>,
    /// The KV cache itself: all other terms then only explain it.
    pub kv_bytes: Option<f64>,
}

/// What the peak of activations depends on, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActivationFeatures {
    /// Logits of all sequences, in 32 bits.
    pub logit_bytes: f64,
    /// The residual stream of one step.
    pub stream_bytes: f64,
    /// Inputs and outputs of all experts that the step's tokens visit.
    pub expert_bytes: f64,
    /// One for a model with towers, zero without.
    pub towers: f64,
}

/// How much of each is held at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationModel {
    /// Copies of the logits.
    pub logits: f64,
    /// Copies of the residual stream.
    pub stream: f64,
    /// Copies of the experts' buffers.
    pub experts: f64,
    /// What the profiled inputs of towers take, bytes.
    pub towers_bytes: f64,
}

/// Fitted by least squares to the 38 start-up logs of vLLM 0.19 on H100 that print the peak
/// (`tests/golden/memory`); the test that reads them fits them again.
pub const PLAIN_ACTIVATION: ActivationModel =
    ActivationModel { logits: 3.63, stream: 1.85, experts: 1.06, towers_bytes: 0.146 * GIB };

impl ActivationModel {
    /// The model for a version: only the sampler's share was seen to change.
    pub fn of(rules: &EngineRules) -> Self {
        Self { logits: rules.bytes_per_logit / 4.0, ..PLAIN_ACTIVATION }
    }

    /// Bytes at the peak.
    pub fn peak_bytes(&self, features: &ActivationFeatures) -> f64 {
        self.logits * features.logit_bytes
            + self.stream * features.stream_bytes
            + self.experts * features.expert_bytes
            + self.towers_bytes * features.towers
    }
}

impl ActivationFeatures {
    /// Of the last stage of a pipeline, which samples, or of another.
    pub fn of(architecture: &Architecture, deployment: &Deployment, is_last: bool) -> Self {
        let tokens = deployment.max_num_batched_tokens as f64;
        let hidden = architecture.hidden_size;
        let element = deployment.weight_bytes.plain;
        let sequences = deployment.max_num_seqs.min(deployment.max_num_batched_tokens) as f64;
        let vocab = architecture.vocab_size.div_ceil(64) * 64;
        let (active, width) = architecture.most_active_experts();
        // One buffer for the wider of the experts' first product and last, one for what is between.
        let width = width as f64 / deployment.parallel.tp as f64;
        let wider = crate::float::greater(2.0 * width, hidden as f64);
        let per_token = if active == 0 { 0.0 } else { active as f64 * (wider + width) };
        Self {
            logit_bytes: if is_last { sequences * vocab as f64 * 4.0 } else { 0.0 },
            stream_bytes: tokens * hidden as f64 * element,
            expert_bytes: tokens * per_token * 2.0,
            towers: if architecture.tower_params > 0.0 { 1.0 } else { 0.0 },
        }
    }
}

/// What the graphs of a model take: 0.2 GiB and 22 MiB for each layer, the line through the sizes that
/// vLLM 0.19 logs on H100.
pub(crate) fn graph_bytes(layers: usize) -> f64 {
    (0.2 + 0.022 * layers as f64) * GIB
}

impl Term {
    /// What is given, or else what was found. What is assumed may be off by `assumed_gib`, what was fitted
    /// by a fifth of that: the spread of the logs about the formulas.
    fn of(given: Option<f64>, found: f64, basis: Basis, assumed_gib: f64) -> Self {
        let half_width_bytes = assumed_gib * GIB;
        match (given, basis) {
            (Some(bytes), _) => Self { bytes, half_width_bytes: 0.0, basis: Basis::Given },
            (None, Basis::Fitted) => {
                Self { bytes: found, half_width_bytes: half_width_bytes / 5.0, basis }
            }
            (None, _) => Self { bytes: found, half_width_bytes, basis },
        }
    }
}

impl Budget {
    /// The sum of a stage.
    pub(crate) fn of(
        architecture: &Architecture,
        deployment: &Deployment,
        weights_bytes: f64,
        layers: usize,
        is_last: bool,
    ) -> Self {
        let rules = &deployment.rules;
        let given = &deployment.given;
        let fitted = if rules.is_measured && deployment.gpu.is_measured {
            Basis::Fitted
        } else {
            Basis::Assumed
        };
        let features = ActivationFeatures::of(architecture, deployment, is_last);
        let peak = ActivationModel::of(rules).peak_bytes(&features);
        let is_linked = deployment.parallel.tp > 1 && deployment.gpu.has_fast_links;
        let non_torch =
            if is_linked { rules.non_torch_linked_bytes } else { rules.non_torch_alone_bytes };
        // A logged peak holds the graphs already.
        let reserves =
            rules.reserves_graphs && deployment.has_cuda_graphs && given.activation_bytes.is_none();
        let graphs = if reserves { graph_bytes(layers) } else { 0.0 };
        let total_bytes = deployment.gpu.total_bytes;
        let mut budget = Self {
            total_bytes,
            utilization: deployment.utilization,
            weights: Term::of(given.weights_bytes, weights_bytes, Basis::Derived, 0.3),
            activation: Term::of(given.activation_bytes, peak, fitted, 1.5),
            non_torch: Term::of(given.non_torch_bytes, non_torch, fitted, 1.0),
            graphs: if reserves {
                Term::of(given.graph_bytes, graphs, Basis::Assumed, 1.0)
            } else {
                Term::of(given.graph_bytes, 0.0, Basis::Derived, 0.0)
            },
            kv_bytes: 0.0,
            kv_half_width_bytes: 0.0,
        };
        let terms = [budget.weights, budget.activation, budget.non_torch, budget.graphs];
        if given.kv_bytes.is_none() {
            budget.kv_half_width_bytes = terms.iter().map(|term| term.half_width_bytes).sum();
        }
        budget.kv_bytes = given.kv_bytes.unwrap_or(
            total_bytes * budget.utilization - terms.iter().map(|term| term.bytes).sum::<f64>(),
        );
        budget
    }
}
