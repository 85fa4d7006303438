//! Identical replicas that get requests in turn: replica `k` of `n` the requests `k`, `k + n`, …
//!
//! The router looks at nothing, so that replicas do not influence one another: each is a run of its
//! own over its share of the one stream. Sessions are dealt out as a whole: a replica that gets one gets
//! all its turns, whose conversation it may still have in its cache. Shares are drawn, not stored; memory grows with what is in
//! flight.

use crate::{
    engine::{Keep, simulate},
    float::{from_count, greater, lesser},
    measure::{RequestRecord, Run},
    setup::{Setup, SetupError},
    sort,
    workload::{Deal, MAX_REPLICAS, RequestSource, Requests, share_of},
};

/// A fleet under one workload.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// The whole stream of requests, and each replica's engine.
    whole: Setup,
    replicas: u64,
    requests: u64,
}

/// What happened in a fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetRun {
    /// How many replicas served.
    pub replicas: u64,
    /// All replicas together: sums of counts and times, distributions over all values of all
    /// replicas. Its limits and peaks are those of one replica, the one that came closest. There is
    /// no settled throughput: the replicas settle each at its own time.
    pub total: Run,
}

impl RoundRobin {
    /// A fleet of `replicas` engines, each as in `whole`, which share the requests of `whole`.
    ///
    /// # Errors
    /// A number outside its domain, or fewer requests than replicas.
    pub fn new(whole: &Setup, replicas: u64) -> Result<Self, SetupError> {
        whole.check()?;
        let requests = Requests::new(&whole.workload, whole.seed).total();
        if replicas == 0 || replicas > MAX_REPLICAS.min(requests) {
            return Err(SetupError::OutOfDomain {
                field: "replicas",
                value: replicas as f64,
                requirement: "1 or more, at most 100,000, and no more than there are requests",
            });
        }
        let fleet = Self { whole: whole.clone(), replicas, requests };
        fleet.setup_of(0).check()?;
        Ok(fleet)
    }

    /// How many replicas there are.
    #[must_use]
    pub const fn replicas(&self) -> u64 {
        self.replicas
    }

    /// What replica `replica`, counted from 0, has to do.
    #[must_use]
    pub fn setup_of(&self, replica: u64) -> Setup {
        let mut setup = self.whole.clone();
        setup.workload.requests = share_of(self.requests, self.replicas, replica);
        let source = Box::new(setup.workload.source);
        let replicas = self.replicas;
        setup.workload.source = RequestSource::Dealt(Deal { source, replicas, replica });
        setup
    }

    /// Put the runs of all replicas together, in their order; `None` where there is not one of each.
    #[must_use]
    pub fn merge(&self, runs: Vec<Run>) -> Option<FleetRun> {
        if runs.len() as u64 != self.replicas {
            return None;
        }
        let requests = interleaved(&runs);
        let mut runs = runs.into_iter();
        let mut total = runs.next()?;
        for run in runs {
            add(&mut total, &run);
            total.settled_s = (0.0, 0.0);
            total.settled_requests = 0;
        }
        total.requests = requests;
        Some(FleetRun { replicas: self.replicas, total })
    }
}

/// Simulate all replicas of a fleet, one after the other.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_fleet(fleet: &RoundRobin, keep: Keep) -> Result<Option<FleetRun>, SetupError> {
    let run = |replica| simulate(&fleet.setup_of(replica), keep);
    Ok(fleet.merge((0..fleet.replicas()).map(run).collect::<Result<_, _>>()?))
}

/// Add another run's counts, times and values; keep the greater of the peaks.
fn add(total: &mut Run, other: &Run) {
    for (mine, theirs) in [
        (&mut total.offered, other.offered),
        (&mut total.completed, other.completed),
        (&mut total.rejected, other.rejected),
        (&mut total.dropped, other.dropped),
        (&mut total.abandoned, other.abandoned),
        (&mut total.throttled, other.throttled),
        (&mut total.in_flight, other.in_flight),
        (&mut total.slo_met, other.slo_met),
        (&mut total.input_tokens, other.input_tokens),
        (&mut total.output_tokens, other.output_tokens),
        (&mut total.steps, other.steps),
        (&mut total.slot_steps, other.slot_steps),
        (&mut total.summed_peak_running, other.summed_peak_running),
        (&mut total.preemptions, other.preemptions),
        (&mut total.recomputed_tokens, other.recomputed_tokens),
        (&mut total.cached_tokens, other.cached_tokens),
    ] {
        *mine += theirs;
    }
    for (mine, theirs) in [
        (&mut total.step_times.busy_s, other.step_times.busy_s),
        (&mut total.step_times.compute_bound_s, other.step_times.compute_bound_s),
        (&mut total.in_system_request_s, other.in_system_request_s),
        (&mut total.sojourn_request_s, other.sojourn_request_s),
        (&mut total.running_request_s, other.running_request_s),
    ] {
        *mine += theirs;
    }
    for (mine, theirs) in [
        (&mut total.ttft, &other.ttft),
        (&mut total.tpot, &other.tpot),
        (&mut total.itl, &other.itl),
        (&mut total.e2e, &other.e2e),
        (&mut total.queue_wait, &other.queue_wait),
    ] {
        mine.merge(theirs);
    }
    total.windows.add(&other.windows);
    for (mine, theirs) in total.classes.iter_mut().zip(&other.classes) {
        mine.add(theirs);
    }
    total.first_arrival_s = lesser(total.first_arrival_s, other.first_arrival_s);
    total.last_finish_s = greater(total.last_finish_s, other.last_finish_s);
    total.peak_running = total.peak_running.max(other.peak_running);
    total.peak_kv_tokens = total.peak_kv_tokens.max(other.peak_kv_tokens);
}

/// The requests of all replicas in order of arrival, where they were kept.
fn interleaved(runs: &[Run]) -> Option<Vec<RequestRecord>> {
    let kept: Vec<_> = runs.iter().map(|run| run.requests.as_deref()).collect::<Option<_>>()?;
    let longest = kept.iter().map(|requests| requests.len()).max()?;
    let row =
        |index| kept.iter().filter_map(move |requests: &&[RequestRecord]| requests.get(index));
    let dealt: Vec<RequestRecord> = (0..longest).flat_map(row).copied().collect();
    // Turns of sessions do not come in turn.
    let mut order: Vec<(f64, f64)> = dealt
        .iter()
        .zip(0_u64..)
        .map(|(record, place)| (record.arrival_s, from_count(place)))
        .collect();
    sort::by_first(&mut order);
    Some(order.iter().filter_map(|&(_, place)| dealt.get(place as usize).copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        measure::Precision,
        setup::{EngineSpec, Slo},
        step_time::StepTimeSpec,
        workload::{ArrivalProcess, LengthSpec, Trace, TraceRow, Workload},
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn whole(requests: u64) -> Setup {
        let spread = |median_tokens| LengthSpec::LogNormal {
            median_tokens,
            sigma: 0.8,
            min_tokens: 1,
            max_tokens: 4_000,
        };
        Setup {
            workload: Workload {
                source: RequestSource::Generated {
                    process: ArrivalProcess::Poisson,
                    rate_per_s: 40.0,
                    input: spread(700.0),
                    output: spread(90.0),
                },
                requests,
            },
            engine: EngineSpec {
                max_num_batched_tokens: 2_048,
                max_num_seqs: 64,
                kv_capacity_tokens: 100_000,
            },
            rules: crate::Rules::Reference,
            step_time: StepTimeSpec::Affine { fixed_s: 0.004, per_item_s: 0.0003 },
            slo: Slo { ttft_s: 1.0, tpot_s: 0.05, share: 0.99 },
            seed: 5,
        }
    }

    const KEEP: Keep = Keep { precision: Precision::Exact, requests: true, intervals: false };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Each replica gets every so many-th request of the one stream, however it is drawn.
        #[test]
        fn requests_are_dealt_in_turn(requests in 1_u64..700, replicas in 1_u64..200) {
            let replicas = replicas.min(requests);
            let setup = whole(requests);
            let all: Vec<_> = Requests::new(&setup.workload, setup.seed).collect();
            let fleet = RoundRobin::new(&setup, replicas).unwrap();
            for replica in 0..replicas {
                let share = fleet.setup_of(replica);
                let dealt = Requests::new(&share.workload, share.seed);
                prop_assert_eq!(dealt.total(), share.workload.requests);
                let place = |index| replica + replicas * index;
                let expected = all.iter().skip(replica as usize).step_by(replicas as usize);
                let mut number = 0;
                for (mine, theirs) in dealt.zip(expected) {
                    prop_assert_eq!((mine.index, place(mine.index)), (number, theirs.index));
                    prop_assert_eq!(mine.arrival_s, theirs.arrival_s);
                    prop_assert_eq!(mine.input_tokens, theirs.input_tokens);
                    prop_assert_eq!(mine.output_tokens, theirs.output_tokens);
                    number += 1;
                }
                prop_assert_eq!(number, share_of(requests, replicas, replica));
            }
        }

        /// Against replicas that replay a recording of their own share: the same times, and
        /// percentiles over all values.
        #[test]
        fn a_fleet_is_its_replicas(requests in 1_u64..900, replicas in 1_u64..7) {
            let replicas = replicas.min(requests);
            let setup = whole(requests);
            let fleet = RoundRobin::new(&setup, replicas).unwrap();
            let FleetRun { total, .. } = simulate_fleet(&fleet, KEEP).unwrap().unwrap();
            prop_assert_eq!(total.offered, requests);
            prop_assert_eq!(total.completed + total.rejected, requests);
            let records = total.requests.as_deref().unwrap();
            let all: Vec<_> = Requests::new(&setup.workload, setup.seed).collect();
            prop_assert_eq!(records.len(), all.len());
            let mut waits = Vec::new();
            for replica in 0..replicas {
                let own = || all.iter().skip(replica as usize).step_by(replicas as usize);
                let rows = own().map(|request| TraceRow {
                    arrival_s: request.arrival_s,
                    input_tokens: request.input_tokens,
                    output_tokens: request.output_tokens,
                });
                let trace = Arc::new(Trace::new(rows.collect()).unwrap());
                let mut alone = setup.clone();
                alone.workload.source = RequestSource::Replay { trace, speed: 1.0 };
                let run = simulate(&alone, KEEP).unwrap();
                let of_fleet = records.iter().skip(replica as usize).step_by(replicas as usize);
                for (mine, theirs) in of_fleet.zip(run.requests.as_deref().unwrap()) {
                    prop_assert_eq!(mine, theirs);
                    waits.push(mine.first_token_s - mine.arrival_s);
                }
            }
            waits.sort_unstable_by(f64::total_cmp);
            let rank = (waits.len() * 9).div_ceil(10);
            prop_assert_eq!(total.ttft.percentile(90.0), Some(waits[rank - 1]));
            prop_assert_eq!(total.ttft.count(), requests);
        }
    }

    #[test]
    fn impossible_fleets_are_refused() {
        let setup = whole(10);
        for replicas in [0, 11, u64::MAX] {
            let error = RoundRobin::new(&setup, replicas).unwrap_err();
            assert!(error.to_string().starts_with("replicas is "), "{error}");
        }
        let fleet = RoundRobin::new(&setup, 3).unwrap();
        assert_eq!(fleet.merge(Vec::new()), None);
        assert!(RoundRobin::new(&fleet.setup_of(1), 2).is_err());
    }
}
