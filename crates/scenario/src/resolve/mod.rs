//! From a scenario to plain numbers, each with where it comes from.

mod changes;
#[cfg(feature = "networks")]
pub(crate) mod deployed;
mod error;
#[cfg(feature = "kernel")]
mod kernel_step;
mod ledger;
mod memory;
mod numbers;
mod plain_step;
mod remedy;
mod traffic;
mod untyped;

use sim_core::{Setup, Workload, engine::Attendance};

use crate::schema::Scenario;

pub use error::ResolveError;
pub use ledger::{Ledger, LedgerEntry, Provenance};
pub use memory::Memory;
pub use remedy::Remedy;
pub use untyped::Untyped;

/// A scenario in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// What the simulator needs, at the scenario's rate on one GPU; questions put other rates in.
    pub setup: Setup,
    /// How clients and the line before the engine behave.
    pub attendance: Attendance,
    /// Names of the classes of requests in the order of the set-up; none without classes.
    pub classes: Vec<String>,
    /// Where each number comes from.
    pub ledger: Ledger,
    /// Room wanted above the planned load, 0.25 for 25 %.
    pub headroom: f64,
    /// Runs with different random numbers.
    pub replications: u32,
    /// How the memory of one GPU is shared out.
    pub memory: Memory,
    /// What the step time would be without numbers that were typed.
    pub untyped: Vec<Untyped>,
}

/// The requests of a scenario, without looking anything up; none if they make no stream.
pub(crate) fn workload(scenario: &Scenario) -> Option<Workload> {
    let source = traffic::Traffic::of(scenario).ok()?.source();
    let workload = Workload { source, requests: scenario.sim.requests };
    workload.check().ok().map(|()| workload)
}

impl Scenario {
    /// Look up what is named, compute what follows, and say of each number where it comes from.
    ///
    /// # Errors
    ///
    /// If a name is not in the catalogue, the model does not fit the GPU, the memory left cannot
    /// hold the largest request, the model cannot take a length, the rules have no clients that
    /// react, or a number is out of its domain.
    /// Where something can be done about it, the error holds the smallest changes that work.
    pub fn resolve(&self) -> Result<Resolved, ResolveError> {
        let mut resolved = numbers::resolve(self).map_err(|error| remedy::suggest(self, error))?;
        resolved.untyped = untyped::of(self, &resolved);
        Ok(resolved)
    }

    /// Whether it resolves. Nothing is tried that might help if it does not.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        numbers::resolve(self).is_ok()
    }

    /// The figures of the engine as far as they can be looked up and computed, with their sources:
    /// what a scenario without a set-up has in place of [`Resolved::ledger`].
    #[must_use]
    pub fn figures(&self) -> Ledger {
        numbers::figures(self)
    }
}
