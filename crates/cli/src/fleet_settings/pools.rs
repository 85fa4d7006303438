//! Options of prefill and decode pools.

use clap::{Args, ValueEnum};
use scenario::{FleetSpec, Scenario};
use sim_core::{
    Setup, StepTimeSpec,
    fleet::{
        Link,
        live::LiveFleet,
        pooled::{PooledFleet, Scaling},
    },
};

use super::{
    FleetArgs,
    readers::{amount, some_amount},
};
use crate::failure::Failure;

/// Bytes per second of a Gbit/s.
const GBIT: f64 = 1e9 / 8.0;

#[derive(Args, Clone, Debug)]
pub(crate) struct PoolArgs {
    /// Compute prompts on replicas of their own, whose number this policy decides, given as for
    /// --compare (with initial, too); beside as many GPUs used together under the other options.
    #[arg(
        long, value_name = "POLICY", allow_hyphen_values = true, requires = "decode",
        conflicts_with_all = ["compare", "trace", "openmetrics", "svg", "csv", "defer"]
    )]
    pub(crate) prefill: Option<String>,
    /// The policy of the replicas that compute the rest.
    #[arg(long, value_name = "POLICY", allow_hyphen_values = true, requires = "prefill")]
    pub(crate) decode: Option<String>,
    /// Scale both as one, in the proportion of their first replicas, by the policy of one of them.
    #[arg(long, value_enum, value_name = "POOL", requires = "prefill")]
    as_one: Option<PoolName>,
    /// What one prefill replica can send, Gbit/s (disagg.link_gbps) [default: 400].
    #[arg(long, value_name = "X", value_parser = some_amount, allow_hyphen_values = true, requires = "prefill")]
    link_gbps: Option<f64>,
    /// From the last byte sent to the cache being usable, seconds (disagg.latency).
    #[arg(long, value_name = "S", value_parser = amount, allow_hyphen_values = true, requires = "prefill")]
    link_latency: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PoolName {
    /// The prefill replicas.
    Prefill,
    /// The decode replicas.
    Decode,
}

impl FleetArgs {
    /// The pools that are meant, and the same GPUs used together.
    pub(crate) fn pooled(
        &self,
        scenario: &Scenario,
        (setup, classes): (&Setup, &[String]),
        gpus_each: u64,
    ) -> Result<Option<(PooledFleet, LiveFleet)>, Failure> {
        let Some((prefill, decode)) = self.pools.prefill.as_ref().zip(self.pools.decode.as_ref())
        else {
            return Ok(None);
        };
        let StepTimeSpec::Roofline { kv_bytes_per_token, .. } = setup.step_time else {
            return Err(Failure::input(format!(
                "step.kind={}: how many bytes of KV cache a replica sends is not known. Give \
                 step.kind=roofline, or leave --prefill and --decode out.",
                scenario.get("step.kind").unwrap_or_default()
            )));
        };
        let said = &scenario.fleet;
        let pool = |name: &str, text: &str| -> Result<(FleetSpec, LiveFleet), Failure> {
            let option = ["--", name].concat();
            let mut args = self.with(&option, text)?;
            args.fault = Self::faults_of(&self.fault, name);
            let spec = args.spec(said);
            let fleet = args.fleet(&spec, (setup.clone(), classes), gpus_each)?;
            Ok((spec, fleet))
        };
        let (of_prefill, prefill) = pool("prefill", prefill)?;
        let (of_decode, decode) = pool("decode", decode)?;
        let mut args = self.clone();
        args.fault = Self::faults_of(&self.fault, "together");
        let mut spec = args.spec(said);
        spec.max = of_prefill.max + of_decode.max;
        spec.min = of_prefill.min + of_decode.min;
        spec.initial = Some(of_prefill.first() + of_decode.first());
        let together = args.fleet(&spec, (setup.clone(), classes), gpus_each)?;
        let unit = (prefill.initial_replicas.max(1), decode.initial_replicas.max(1));
        let scaling = self.pools.as_one.map_or(Scaling::Apart, |pool| Scaling::AsOne {
            by_prefill: pool == PoolName::Prefill,
            unit,
        });
        let link = Link {
            bytes_per_s: self.pools.link_gbps.unwrap_or(scenario.disagg.link_gbps) * GBIT,
            latency_s: self.pools.link_latency.unwrap_or(scenario.disagg.latency_s),
            kv_bytes_per_token,
        };
        Ok(Some((PooledFleet { prefill, decode, link, scaling }, together)))
    }

    /// Faults of a pool: those that name it, and those that name none; of no pool the latter alone.
    fn faults_of(all: &[String], pool: &str) -> Vec<String> {
        let of_pool = |text: &String| match text.split_once('.') {
            Some((name, rest)) if name == pool => Some(rest.to_owned()),
            Some(("prefill" | "decode", _)) => None,
            _ => Some(text.clone()),
        };
        all.iter().filter_map(of_pool).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_belongs_to_the_pool_that_it_names() {
        let all = ["decode.replica@60", "stall:1.5@20"].map(str::to_owned);
        assert_eq!(FleetArgs::faults_of(&all, "decode"), ["replica@60", "stall:1.5@20"]);
        assert_eq!(FleetArgs::faults_of(&all, "prefill"), ["stall:1.5@20"]);
        assert_eq!(FleetArgs::faults_of(&all, "together"), ["stall:1.5@20"]);
    }
}
