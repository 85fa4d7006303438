//! The free constants of a set of measured runs.

use std::collections::BTreeMap;

use catalog::kernel::{ROLES, Role, effects, kernel};
use sim_core::step_time::kernel::Kernel;

use crate::setting::Setting;

/// A free constant. Its logarithm is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where a fit begins, and what it is drawn to.
    pub prior: f64,
    /// Standard deviation of its logarithm around that.
    pub spread: f64,
    /// Runs that it matters for.
    pub rows: u64,
}

/// All free constants, and which of them matter for which run.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// In the order of their names.
    pub parameters: Vec<Parameter>,
    places: BTreeMap<String, usize>,
}

impl Model {
    /// The constants that these runs depend on.
    pub fn of<'a>(settings: impl Iterator<Item = &'a Setting>) -> Self {
        let mut by_name: BTreeMap<String, Parameter> = BTreeMap::new();
        for effect in settings.flat_map(|setting| effects(&setting.deployment)) {
            let (prior, spread) = (effect.prior, effect.spread);
            let name = effect.name;
            let parameter =
                by_name.entry(name.clone()).or_insert(Parameter { name, prior, spread, rows: 0 });
            parameter.rows += 1;
        }
        let parameters: Vec<Parameter> = by_name.into_values().collect();
        let place = |(at, parameter): (usize, &Parameter)| (parameter.name.clone(), at);
        let places = parameters.iter().enumerate().map(place).collect();
        Self { parameters, places }
    }

    /// The constants of a run with their roles. One that no run of the fit depends on is left out: it stays
    /// at its prior.
    #[must_use]
    pub fn terms(&self, setting: &Setting) -> Terms {
        let mut terms = Terms::default();
        for effect in effects(&setting.deployment) {
            match self.places.get(&effect.name) {
                Some(&at) => terms.free.push((effect.role, at)),
                None => terms.fixed[effect.role as usize] += libm::log(effect.prior),
            }
        }
        terms
    }

    /// Logarithms of the priors.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| libm::log(parameter.prior)).collect()
    }
}

/// What a run's step time is made of.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Free constants by their place.
    pub free: Vec<(Role, usize)>,
    fixed: [f64; ROLES],
}

impl Terms {
    /// The step time of a run with these logarithms; none if its network is not modelled.
    #[must_use]
    pub fn kernel(&self, setting: &Setting, logs: &[f64]) -> Option<Kernel> {
        let mut sums = self.fixed;
        for &(role, at) in &self.free {
            sums[role as usize] += logs[at];
        }
        let Setting { architecture, deployment, gpu, spread, prompt_tokens, .. } = setting;
        kernel(architecture, deployment, gpu, *spread, &sums, *prompt_tokens).ok()
    }
}
