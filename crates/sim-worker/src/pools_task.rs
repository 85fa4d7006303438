//! Prefill and decode pools under way, behind one door.
//!
//! A page loads what [`begin`] leads to only when somebody asks for pools; see `proof_task`.

use std::{hint::black_box, sync::Arc};

use protocol::{
    FromWorker, PoolsAnswer, PoolsAsked, PoolsOutcome, PoolsSeen, PoolsSent, Question, Traffic,
};
use sim_core::{
    Keep, RequestSource, Run, Setup, SetupError, StepTimeSpec, Trace,
    fleet::{Disaggregated, DisaggregatedRun, Link, RoundRobin},
    measure::Verdict,
    simulate,
};

use crate::{aside::Aside, recording_task::sentence};

/// Bytes per second of a Gbit/s.
const GBIT: f64 = 1e9 / 8.0;
/// Most requests of a run: the pools are simulated in one go, which must not take for long.
const MOST_REQUESTS: u64 = 50_000;

/// Begins the runs that the page calls `generation`. Requests are those of `trace` where the question
/// is about a recording.
#[inline(never)]
pub(crate) fn begin(
    generation: u64,
    question: &Question,
    asked: PoolsAsked,
    trace: Option<&Arc<Trace>>,
) -> Box<dyn Aside> {
    begin_late(generation, question, asked, trace)
}

/// A door stays with the first part itself, so it is as thin as can be.
#[inline(never)]
fn begin_late(
    generation: u64,
    question: &Question,
    asked: PoolsAsked,
    trace: Option<&Arc<Trace>>,
) -> Box<dyn Aside> {
    let stage = Stage::begin(question, asked, trace).unwrap_or_else(Stage::Refused);
    black_box(Box::new(PoolsTask { generation, asked, stage }))
}

struct PoolsTask {
    generation: u64,
    asked: PoolsAsked,
    stage: Stage,
}

enum Stage {
    /// Nothing is simulated yet.
    Ready(Box<(Disaggregated, RoundRobin)>),
    /// The pools are, and some of the replicas that do both.
    Together(Box<(DisaggregatedRun, RoundRobin)>, Vec<Run>),
    /// There is nothing to simulate; why.
    Refused(String),
}

impl Stage {
    fn begin(
        question: &Question,
        asked: PoolsAsked,
        trace: Option<&Arc<Trace>>,
    ) -> Result<Self, String> {
        let mut setup = question.resolved().setup;
        if let (Traffic::Recorded { rate_per_s, recorded_per_s }, Some(trace)) =
            (&question.traffic, trace)
        {
            setup.workload.requests = trace.rows().len() as u64;
            let speed = rate_per_s / recorded_per_s;
            setup.workload.source = RequestSource::Replay { trace: Arc::clone(trace), speed };
        }
        setup.workload.requests = setup.workload.requests.min(MOST_REQUESTS);
        if !question.attendance.is_open() {
            return Err(REACTING.to_owned());
        }
        let link = link(&setup, asked)?;
        let pools = Disaggregated::new(&setup, (asked.prefill, asked.decode), link)
            .map_err(|error| said(&error))?;
        let together =
            RoundRobin::new(&setup, asked.prefill + asked.decode).map_err(|error| said(&error))?;
        Ok(Self::Ready(Box::new((pools, together))))
    }
}

/// Why clients that react are not simulated in pools.
const REACTING: &str = "Prefill and decode pools have no queue limits, deadlines or clients that \
     react. Leave these settings out to see them.";
/// Why step times without memory are not.
const NO_BYTES: &str = "How many bytes of KV cache a replica sends is not known with this step time. \
     Use the roofline to see the pools.";

fn said(error: &SetupError) -> String {
    sentence(&error.to_string())
}

fn link(setup: &Setup, asked: PoolsAsked) -> Result<Link, String> {
    let StepTimeSpec::Roofline { kv_bytes_per_token, .. } = setup.step_time else {
        return Err(NO_BYTES.to_owned());
    };
    let bytes_per_s = asked.link_gbps * GBIT;
    Ok(Link { bytes_per_s, latency_s: asked.latency_s, kv_bytes_per_token })
}

impl Aside for PoolsTask {
    /// The pools, or one of the replicas that do both.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        let stage = std::mem::replace(&mut self.stage, Stage::Refused(String::new()));
        let outcome = match stage {
            Stage::Ready(both) => {
                let run = both.0.simulate(Keep::default());
                self.stage = Stage::Together(Box::new((run, both.1)), Vec::new());
                return false;
            }
            Stage::Together(both, mut runs) if (runs.len() as u64) < both.1.replicas() => {
                match simulate(&both.1.setup_of(runs.len() as u64), Keep::default()) {
                    Ok(run) => {
                        runs.push(run);
                        self.stage = Stage::Together(both, runs);
                        return false;
                    }
                    Err(error) => Err(said(&error)),
                }
            }
            Stage::Together(both, runs) => {
                let (pools, fleet) = *both;
                let together = fleet.merge(runs);
                together
                    .map(|together| answer(self.asked, &pools, &together.total))
                    .ok_or_else(String::new)
            }
            Stage::Refused(message) => Err(message),
        };
        let packed = protocol::pack::<PoolsOutcome>(&outcome);
        post(FromWorker::Pools { generation: self.generation, packed });
        true
    }
}

fn answer(asked: PoolsAsked, pools: &DisaggregatedRun, together: &Run) -> PoolsAnswer {
    let total = &pools.total;
    let duration_s = total.duration_s();
    let busy = |runs: &[Run]| {
        let busy_s: f64 = runs.iter().map(|run| run.step_times.busy_s).sum();
        part(busy_s, duration_s * runs.len() as f64)
    };
    let transfers = &pools.transfers;
    let sent = transfers.times.mean().map(|mean_s| PoolsSent {
        caches: transfers.times.count(),
        mean_bytes: transfers.bytes / transfers.times.count() as f64,
        mean_s,
        wait_s: transfers.waits.mean().unwrap_or(0.0),
        links_busy: part(transfers.busy_s, duration_s * pools.prefill.len() as f64),
    });
    PoolsAnswer {
        asked,
        requests: total.offered,
        busy: (busy(&pools.prefill), busy(&pools.decode)),
        sent,
        apart: seen(total),
        together: seen(together),
    }
}

fn part(some: f64, whole: f64) -> f64 {
    if whole > 0.0 { some / whole } else { 0.0 }
}

fn seen(run: &Run) -> PoolsSeen {
    PoolsSeen {
        is_overloaded: run.judgement().verdict == Verdict::Overloaded,
        ttft_p50_s: run.ttft.percentile(50.0),
        ttft_p99_s: run.ttft.percentile(99.0),
        tpot_p50_s: run.tpot.percentile(50.0),
        tpot_p99_s: run.tpot.percentile(99.0),
        itl_p99_s: run.itl.percentile(99.0),
        goodput_per_s: run.goodput_per_s(),
        slo_share: run.slo_share(),
    }
}

#[cfg(test)]
mod tests {
    use scenario::Scenario;

    use super::*;

    const ASKED: PoolsAsked =
        PoolsAsked { prefill: 1, decode: 2, link_gbps: 400.0, latency_s: 1e-3 };

    fn question(settings: &[(&str, &str)]) -> Question {
        let mut scenario = Scenario::preset();
        for (key, value) in [("rate", "12"), ("sim.requests", "600")].iter().chain(settings) {
            scenario.set(key, value).unwrap();
        }
        Question::of(&scenario.resolve().unwrap()).unwrap()
    }

    fn outcome(question: &Question) -> PoolsOutcome {
        let mut task = begin(4, question, ASKED, None);
        let (mut told, mut pieces) = (Vec::new(), 0);
        while !task.advance(&mut |message| told.push(message)) {
            pieces += 1;
        }
        assert!(pieces <= 4, "{pieces}");
        match told.pop() {
            Some(FromWorker::Pools { generation: 4, packed }) if told.is_empty() => {
                protocol::unpack(&packed).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pools_stand_beside_the_same_replicas_doing_both() {
        let asked = question(&[]);
        let answer = outcome(&asked).unwrap();
        let setup = asked.resolved().setup;
        let fleet = RoundRobin::new(&setup, 3).unwrap();
        let total =
            sim_core::fleet::simulate_fleet(&fleet, Keep::default()).unwrap().unwrap().total;
        assert_eq!(answer.together.ttft_p99_s, total.ttft.percentile(99.0));
        assert_eq!(answer.requests, 600);
        let sent = answer.sent.unwrap();
        assert_eq!((sent.caches, sent.mean_bytes), (600, 1_024.0 * 57_344.0));
        // Nobody's decoding is held up by a prompt.
        assert!(answer.apart.itl_p99_s < answer.together.itl_p99_s, "{answer:?}");
        assert!((0.01..1.0).contains(&answer.busy.0) && !answer.apart.is_overloaded);
    }

    #[test]
    fn what_pools_cannot_do_is_said() {
        for (settings, word) in [
            ([("overload.queue_limit", "5")], "clients that react"),
            ([("step.kind", "affine")], "roofline"),
            ([("sched.rules", "static")], "reference"),
        ] {
            let message = outcome(&question(&settings)).unwrap_err();
            assert!(message.contains(word) && message.ends_with('.'), "{message}");
        }
    }
}
