//! Options of several models on one quota of GPUs.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};
use scenario::FleetError;
use sim_core::fleet::shared::{Reclaim, SharedFleet, Tenant};

use super::{FleetArgs, refused};
use crate::{args::ScenarioArgs, failure::Failure, input, typed::requests};

#[derive(Args, Clone, Debug)]
pub(crate) struct SharedArgs {
    /// Simulate several models on so many GPUs: each a --model.
    #[arg(
        long, value_name = "N", value_parser = requests, allow_hyphen_values = true, requires = "model",
        conflicts_with_all = ["compare", "trace", "openmetrics", "svg", "csv", "defer", "prefill", "requests"]
    )]
    pub(crate) quota_gpus: Option<NonZeroU32>,
    /// A model with its priority and its scenario: settings, a link or a .json file, with blanks
    /// between. Who has a higher priority takes GPUs from who has a lower one. The options apply to
    /// all models; its own fleet.* settings say what differs. May be repeated.
    #[arg(
        long,
        value_name = "NAME:PRIORITY=SCENARIO",
        allow_hyphen_values = true,
        requires = "quota_gpus"
    )]
    model: Vec<String>,
    /// How GPUs are taken from a replica.
    #[arg(long, value_enum, default_value = "drain", requires = "quota_gpus")]
    reclaim: ReclaimName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReclaimName {
    /// It gets nothing more, and its grace period for what it has.
    Drain,
    /// At once; what it has begins again on another.
    Kill,
}

/// A model as it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) priority: i32,
    pub(crate) window_s: f64,
}

impl FleetArgs {
    /// The models that are meant, if any, and what they are called.
    pub(crate) fn shared(&self) -> Result<Option<(SharedFleet, Vec<Named>)>, Failure> {
        let Some(quota) = self.shared.quota_gpus else { return Ok(None) };
        if !self.scenario.words.is_empty() {
            return Err(Failure::input(format!(
                "{}: with --quota-gpus every model has a scenario of its own. Write it into its \
                 --model.",
                self.scenario.words.join(" ")
            )));
        }
        let (mut tenants, mut names) = (Vec::new(), Vec::new());
        for text in &self.shared.model {
            let (tenant, named) = self.tenant(text)?;
            tenants.push(tenant);
            names.push(named);
        }
        let reclaim = match self.shared.reclaim {
            ReclaimName::Drain => Reclaim::Drain,
            ReclaimName::Kill => Reclaim::Kill,
        };
        let quota_gpus = quota.get();
        let needed: u64 = tenants
            .iter()
            .map(|Tenant { fleet, .. }| {
                u64::from(fleet.nodes.initial_nodes) * u64::from(fleet.nodes.gpus_per_node)
            })
            .sum();
        if needed > u64::from(quota_gpus) {
            return Err(Failure::input(format!(
                "--quota-gpus {quota_gpus}: the models begin with {needed} GPUs. Give {needed} or more, or \
                 a smaller fleet.initial."
            )));
        }
        Ok(Some((SharedFleet { tenants, quota_gpus, reclaim }, names)))
    }

    /// `chat:10=rate=20 fleet.max=8`.
    fn tenant(&self, text: &str) -> Result<(Tenant, Named), Failure> {
        let error = |why: &str| {
            Failure::input(format!(
                "--model {text}: {why}. Give it as NAME:PRIORITY=SCENARIO, for example \
                 'chat:10=rate=20 fleet.max=8'."
            ))
        };
        let (head, words) = text.split_once('=').ok_or_else(|| error("there is no scenario"))?;
        let (name, priority) = head.split_once(':').ok_or_else(|| error("there is no priority"))?;
        let priority: i32 =
            priority.trim().parse().map_err(|_| error("the priority is no whole number"))?;
        if name.is_empty() {
            return Err(error("there is no name"));
        }
        let of_model = |failure: Failure| match failure {
            Failure::Input(message) => Failure::input(format!("--model {name}: {message}")),
            other => other,
        };
        let words = words.split_whitespace().map(str::to_owned).collect();
        let args = ScenarioArgs { words, preset: None, json_file: None };
        let scenario = input::scenario(&args).map_err(of_model)?;
        let fleet_error = |error: FleetError| of_model(refused(error));
        scenario.check_fleet().map_err(fleet_error)?;
        let resolved =
            scenario.resolve().map_err(|error| of_model(Failure::input(error.to_string())))?;
        let spec = self.spec(&scenario.fleet);
        let mut setup = resolved.setup;
        setup.workload.requests = spec.requests(&setup.workload.source).map_err(fleet_error)?;
        let mut fleet = self
            .fleet(&spec, (setup, &resolved.classes), scenario.gpus_per_engine())
            .map_err(of_model)?;
        // Nodes that nobody uses would be GPUs that nobody else can have.
        fleet.nodes.initial_nodes = fleet.initial_replicas;
        let named = Named { name: name.to_owned(), priority, window_s: fleet.window_s };
        Ok((Tenant { fleet, priority }, named))
    }
}
