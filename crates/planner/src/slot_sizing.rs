//! Servers with slots, sized by Little's law, with the queue simulated beside the arithmetic.
//!
//! `L = λ W` says how many slots are busy on average, and so how many replicas have that many at a given
//! load. It says nothing of waiting: at a load of one hundred per cent, however many slots there are, whoever
//! comes while all are busy waits, and the queue grows for as long as one watches.

use serde::{Deserialize, Serialize};
use sim_core::{
    ArrivalProcess, LengthSpec, RequestSource, SetupError, Workload,
    engine::{OverloadPolicy, ServiceTime, SlotsSetup, simulate_slots},
    theory::little,
};

/// Requests of each run.
const REQUESTS: u64 = 200_000;

/// What is asked of servers with slots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotDemand {
    /// Requests per second, Poisson.
    pub rate_per_s: f64,
    /// Mean time that a request holds a slot, seconds; exponential.
    pub service_s: f64,
    /// Slots of a replica.
    pub slots: u64,
    /// Part of the slots that is to be busy on average, 0 to 1.
    pub load: f64,
}

/// One number of replicas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotReplicas {
    /// How many.
    pub replicas: u64,
    /// Part of their slots that is busy on average by Little's law.
    pub busy_share: f64,
    /// Whether more can be finished than comes: otherwise times only tell how long one watched.
    pub is_stable: bool,
    /// Mean and 99th percentile of the wait for a slot, seconds, where each replica has a queue of its own and
    /// its even part of the requests.
    pub split_wait_s: (f64, f64),
    /// The same with one queue for all.
    pub pooled_wait_s: (f64, f64),
}

/// How many replicas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotSizing {
    /// What was asked.
    pub demand: SlotDemand,
    /// Slots that are busy on average, `λ S`.
    pub busy_slots: f64,
    /// Replicas with every slot busy, and one to watch beside: rounded up.
    pub at_full_load: SlotReplicas,
    /// Replicas at the load that was asked for.
    pub at_load: SlotReplicas,
}

/// Size servers with slots, and simulate both numbers of replicas.
///
/// # Errors
/// A number outside its domain.
pub fn size_slots(demand: SlotDemand) -> Result<SlotSizing, SetupError> {
    let SlotDemand { rate_per_s, service_s, slots, load } = demand;
    let refused = |field, value| SetupError::OutOfDomain {
        field,
        value,
        requirement: "above 0 and finite, a load at most 1",
    };
    let busy_slots = little::in_system(rate_per_s, service_s)
        .map_err(|_| refused("rate × service", rate_per_s * service_s))?;
    let replicas = |load: f64| -> Result<u64, SetupError> {
        let found = little::replicas(rate_per_s, service_s, slots, load)
            .map_err(|_| refused("load", load))?;
        // A float beyond the range of u64 saturates.
        Ok((found as u64).max(1))
    };
    Ok(SlotSizing {
        demand,
        busy_slots,
        at_full_load: simulated(&demand, busy_slots, replicas(1.0)?)?,
        at_load: simulated(&demand, busy_slots, replicas(load)?)?,
    })
}

fn simulated(
    demand: &SlotDemand,
    busy_slots: f64,
    replicas: u64,
) -> Result<SlotReplicas, SetupError> {
    let all = replicas as f64 * demand.slots as f64;
    let wait = |slots: u64, rate_per_s: f64| -> Result<(f64, f64), SetupError> {
        let unit = LengthSpec::Fixed { tokens: 1 };
        let source = RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s,
            input: unit,
            output: unit,
        };
        let run = simulate_slots(&SlotsSetup {
            workload: Workload { source, requests: REQUESTS },
            slots,
            service: ServiceTime::Exponential { mean_s: demand.service_s },
            overload: OverloadPolicy::UNBOUNDED,
            useful_within_s: 1e12,
            horizon_s: None,
            seed: 1,
        })?;
        let percentile = run.wait.percentile(99.0).unwrap_or(0.0);
        Ok((run.wait.mean().unwrap_or(0.0), percentile))
    };
    Ok(SlotReplicas {
        replicas,
        busy_share: busy_slots / all,
        is_stable: busy_slots < all,
        split_wait_s: wait(demand.slots, demand.rate_per_s / replicas as f64)?,
        pooled_wait_s: wait(demand.slots.saturating_mul(replicas), demand.rate_per_s)?,
    })
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test stops at the first surprise")]
mod tests {
    use sim_core::theory::Mmc;

    use super::*;

    const PUBLISHED: SlotDemand =
        SlotDemand { rate_per_s: 8.0, service_s: 2.0, slots: 4, load: 0.6 };

    /// 8 per second for 2 s each are 16 busy slots: 4 replicas of 4 at 100 %, 7 at 60 %.
    #[test]
    fn the_published_sizing() {
        let sizing = size_slots(PUBLISHED).expect("it runs");
        assert_eq!(sizing.busy_slots, 16.0);
        assert_eq!((sizing.at_full_load.replicas, sizing.at_load.replicas), (4, 7));
        assert!(!sizing.at_full_load.is_stable && sizing.at_load.is_stable);
        // With every slot busy the queue grows as long as one watches.
        assert!(sizing.at_full_load.split_wait_s.0 > 10.0, "{sizing:?}");
        assert!(sizing.at_load.split_wait_s.0 < 0.3, "{sizing:?}");
        // One queue for all is never worse.
        assert!(sizing.at_load.pooled_wait_s.0 < sizing.at_load.split_wait_s.0);
    }

    /// The simulated waits are Erlang's.
    #[test]
    fn waits_are_those_of_theory() {
        let at = size_slots(PUBLISHED).expect("it runs").at_load;
        let mean = |rate_per_s: f64, servers: u64| {
            let queue = Mmc::new(rate_per_s, 2.0, servers).expect("a queue");
            queue.mean_response_s() - 2.0
        };
        let split = mean(8.0 / 7.0, 4);
        assert!((at.split_wait_s.0 / split - 1.0).abs() < 0.05, "{at:?} {split}");
        let pooled = mean(8.0, 28);
        assert!((at.pooled_wait_s.0 - pooled).abs() < 0.002, "{at:?} {pooled}");
    }

    #[test]
    fn what_is_no_demand_is_refused() {
        for demand in [
            SlotDemand { load: 1.5, ..PUBLISHED },
            SlotDemand { slots: 0, ..PUBLISHED },
            SlotDemand { rate_per_s: 0.0, ..PUBLISHED },
            SlotDemand { service_s: f64::NAN, ..PUBLISHED },
        ] {
            assert!(size_slots(demand).is_err(), "{demand:?}");
        }
    }
}
