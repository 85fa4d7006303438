//! The free constants, and which of them a deployment's kernels and overheads are made of.
//!
//! A quantity is a product: of a constant of its engine, say, and of factors near one for a generation of
//! kernels, a class of versions, a client. Logarithms are fitted, so that products are sums; each is drawn
//! to its prior as tightly as its spread says. Of what was never measured a factor stays at its prior, one.

use super::{Deployment, Precision};

/// What a constant is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Each layer of a step, seconds.
    Layer,
    /// Each step, seconds.
    Step,
    /// Each sequence that gets a token, seconds.
    Sequence,
    /// Each layer with experts on top, seconds.
    ExpertLayer,
    /// Each layer of a step with prompts on top, seconds.
    PromptLayer,
    /// Each request outside the engine, seconds.
    Api,
    /// The same for each token of its prompt, seconds.
    ApiToken,
    /// Arithmetic rate of matrix products beside what timed kernels reach.
    Rate,
    /// Bandwidth of matrix products beside what timed kernels reach.
    Traffic,
    /// Arithmetic rate of experts beside that of other products.
    ExpertRate,
    /// Bandwidth of experts beside that of other products.
    ExpertTraffic,
    /// Tokens computed for nothing for each expert that is visited.
    Padding,
    /// Tokens choose experts as this power of their number.
    Routing,
    /// Time of small reductions beside what timed kernels take.
    Reduce,
}

/// How many roles there are.
pub const ROLES: usize = 14;

/// A constant in one of its roles.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Its role.
    pub role: Role,
    /// Its name; a constant may have several roles.
    pub name: String,
    /// What it is drawn to, and where a fit begins.
    pub prior: f64,
    /// Standard deviation of its logarithm around that.
    pub spread: f64,
}

/// The constants that a deployment's step is made of.
#[must_use]
pub fn effects(deployment: &Deployment) -> Vec<Effect> {
    let engine = deployment.engine.name();
    let version = [engine, ".", deployment.version.name()].concat();
    let path =
        format!("{engine}.generation-{}.{}", deployment.generation, deployment.precision.name());
    let kind = if deployment.has_experts { "experts" } else { "dense" };
    let mut all = Effects(Vec::new());
    all.add(Role::Layer, engine, "layer_s", 12e-6, 0.5);
    all.add(Role::Step, engine, "step_s", 0.7e-3, 0.5);
    all.add(Role::Sequence, engine, "sequence_s", 8e-6, 0.5);
    all.add(Role::PromptLayer, &[engine, ".", kind].concat(), "prompt_layer_s", 15e-6, 1.0);
    all.add(Role::ApiToken, "any", "api_token_s", 1e-6, 0.5);
    if deployment.client.is_empty() {
        all.add(Role::Api, "any-client", "api_s", 8e-3, 0.7);
    } else {
        let client = deployment.client.as_str();
        all.add(Role::Api, client, "api_s", 8e-3, 0.7);
        let place = format!("{client}.{engine}.generation-{}", deployment.generation);
        all.add(Role::Api, &place, "api", 1.0, 0.4);
    }
    all.add(Role::Api, engine, "api", 1.0, 0.3);
    all.add(Role::Api, &version, "api", 1.0, 0.3);
    all.add(Role::Rate, &path, "rate", 1.0, 0.15);
    all.add(Role::Traffic, &path, "traffic", 1.0, 0.1);
    if deployment.has_ranks {
        all.add(Role::Reduce, engine, "reduce", 1.0, 0.3);
    }
    if deployment.has_experts {
        let is_mxfp4 = deployment.precision == Precision::Mxfp4;
        of_experts(&mut all, engine, &version, &path, is_mxfp4);
    }
    all.0
}

fn of_experts(all: &mut Effects, engine: &str, version: &str, path: &str, is_mxfp4: bool) {
    all.add(Role::ExpertLayer, engine, "expert_layer_s", 25e-6, 0.5);
    all.add(Role::ExpertLayer, version, "expert_layer", 1.0, 0.3);
    all.add(Role::ExpertLayer, path, "expert_layer", 1.0, 0.3);
    all.add(Role::ExpertRate, "any", "expert_rate", 0.3, 0.5);
    if is_mxfp4 {
        // Kernels of their own, far better than those for other formats.
        all.add(Role::ExpertRate, "mxfp4", "expert_rate", 1.5, 0.5);
    }
    all.add(Role::ExpertRate, version, "expert_rate", 1.0, 0.2);
    all.add(Role::ExpertRate, path, "expert_rate", 1.0, 0.3);
    all.add(Role::ExpertTraffic, path, "expert_traffic", 1.0, 0.2);
    all.add(Role::Padding, "any", "padding_tokens", 16.0, 0.5);
    all.add(Role::Routing, "any", "routing_exponent", 0.9, 0.2);
}

struct Effects(Vec<Effect>);

impl Effects {
    fn add(&mut self, role: Role, of: &str, what: &str, prior: f64, spread: f64) {
        self.0.push(Effect { role, name: [of, ".", what].concat(), prior, spread });
    }
}
