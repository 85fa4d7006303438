//! An engine whose clients react, and whose line has an overload policy: the door to it.
//!
//! Beside [`simulate`](super::simulate), not inside: a [`Setup`] is what every engine can do. Clients
//! and line are the same before every engine ([`line`]): an engine tells what it did and asks whose
//! turn it is, and whether that one fits only the engine knows. To an engine an attempt is a request,
//! but that the prefix cache of vLLM's rules knows all attempts at one by their prompt.

mod batches;
mod line;
#[cfg(any(test, feature = "oracle"))]
mod oracle;
mod senders;
mod servable;
mod throttle;

use serde::{Deserialize, Serialize};

use crate::{
    clients::{
        AttemptCounts, ClientSpec, ClientTime, Patience, PatienceTime, Population, SessionCounts,
    },
    measure::{Distribution, Recorder, Run},
    setup::{Setup, SetupError},
    workload::{Mix, RequestSource, Requests},
};

use super::{
    Jobs, Keep, Progress, Rules,
    seldom::{batch_setup, vllm_setup},
    sessions::mix_of,
    simulation::ReferenceSimulation,
    stepwise::Stepwise,
    vllm::{Policy, VllmEngine},
    waiting_line::{OverloadPolicy, ServiceOrder},
};

use batches::AttendedBatches;
pub(super) use line::{AttendedLine, Offer};
#[cfg(any(test, feature = "oracle"))]
pub use oracle::simulate_attended_by_oracle;

/// Everything a run with clients that react depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct AttendedSetup {
    /// The workload and the engine.
    pub setup: Setup,
    /// How clients behave.
    pub clients: ClientSpec,
    /// What the engine's line does when more comes than can be served.
    pub overload: OverloadPolicy,
}

/// How clients and the line before an engine behave, whatever the workload and the engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attendance {
    /// How clients behave.
    pub clients: ClientSpec,
    /// What the engine's line does when more comes than can be served.
    pub overload: OverloadPolicy,
}

impl Attendance {
    /// Clients that send, wait for ever and never try again, in a line without a policy.
    pub const OPEN: Self = Self { clients: ClientSpec::OPEN, overload: OverloadPolicy::UNBOUNDED };

    /// Whether nobody reacts to anything, so that every engine can do it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::OPEN
    }

    /// The users of a closed loop, if it is one.
    #[must_use]
    pub const fn users(&self) -> Option<u64> {
        match self.clients.population {
            Population::Open | Population::Sessions => None,
            Population::Closed { users, .. } => Some(users),
        }
    }

    /// The same before a given engine under a given workload.
    #[must_use]
    pub fn before(self, setup: &Setup) -> AttendedSetup {
        AttendedSetup { setup: setup.clone(), clients: self.clients, overload: self.overload }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct AttendedRun {
    /// The users' view: each request once, with latencies from when it was meant to be sent first.
    /// Integrals over time, and [`Run::verify`], are of the attempts in the system.
    pub run: Run,
    /// What became of the attempts.
    pub attempts: AttemptCounts,
    /// Of the attempts that were answered, the time in seconds from being sent to the first token:
    /// what a client measures that does not know when it meant to send.
    pub ttft_from_send: Distribution,
    /// What became of the sessions, where clients have any.
    pub sessions: Option<SessionCounts>,
}

impl AttendedSetup {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.setup.check()?;
        self.clients.check()?;
        self.overload.check()?;
        if self.clients.population == Population::Sessions {
            mix_of(&self.setup)?;
        }
        if let (Population::Closed { users, .. }, RequestSource::Dealt(_)) =
            (self.clients.population, &self.setup.workload.source)
        {
            return Err(SetupError::OutOfDomain {
                field: "clients.users",
                value: users as f64,
                requirement: "left out where requests are dealt out among replicas",
            });
        }
        Ok(())
    }

    /// Users' requests in all.
    fn total(&self) -> u64 {
        Requests::new(&self.setup.workload, self.setup.seed).total()
    }

    fn mix(&self) -> Option<&Mix> {
        match self.setup.workload.source.whole() {
            RequestSource::Mixed(mix) => Some(mix),
            _ => None,
        }
    }

    /// What the line does. A scheduler that goes by priority takes the most important from it,
    /// unless it is told to take the newest.
    fn line_policy(&self) -> OverloadPolicy {
        let by_priority = match self.setup.rules {
            Rules::VllmV1(rules) => rules.policy == Policy::Priority,
            _ => false,
        };
        let order = match self.overload.order {
            ServiceOrder::OldestFirst if by_priority => ServiceOrder::ByPriority,
            order => order,
        };
        OverloadPolicy { order, ..self.overload }
    }

    /// How long those wait for an answer who want a request of a class; `None`: for ever.
    fn patience_of(&self, class: u32) -> Option<ClientTime> {
        match self.clients.patience {
            None => None,
            Some(Patience { time: PatienceTime::Same(time), .. }) => Some(time),
            Some(Patience { time: PatienceTime::OfClass, .. }) => {
                self.mix()?.classes.get(class as usize)?.patience
            }
        }
    }

    /// Of each class, how many other priorities go before its own.
    fn ranks(&self) -> Vec<usize> {
        let Some(mix) = self.mix() else { return Vec::new() };
        let mut priorities: Vec<_> = mix.classes.iter().map(|class| class.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let rank = |priority| priorities.partition_point(|&other| other < priority);
        mix.classes.iter().map(|class| rank(class.priority)).collect()
    }
}

/// Simulate until every request has ended and the server works for nobody any more.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_attended(setup: &AttendedSetup, keep: Keep) -> Result<AttendedRun, SetupError> {
    let mut simulation = AttendedSimulation::new(setup, keep)?;
    while simulation.advance(u64::MAX) != Progress::Done {}
    Ok(simulation.finish())
}

/// One engine with clients that react, advanced piece by piece.
#[derive(Clone, Debug)]
pub struct AttendedSimulation {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Reference(Box<ReferenceSimulation<AttendedLine>>),
    Vllm(Box<VllmEngine<AttendedLine>>),
    Batches(Box<AttendedBatches>),
    /// With drafts.
    Stepwise(Box<Stepwise>),
}

impl AttendedSimulation {
    /// Prepare a run.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn new(setup: &AttendedSetup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let line = |recorder: &mut Recorder| {
            if matches!(setup.clients.population, Population::Closed { .. }) {
                recorder.set_unpaced();
            }
            AttendedLine::new(setup, recorder)
        };
        let (inner, total) = (&setup.setup, setup.total());
        let engine = match &inner.rules {
            Rules::Reference => {
                Engine::Reference(Box::new(ReferenceSimulation::new(inner, keep, total, line)))
            }
            Rules::VllmV1(rules) => {
                let vllm = vllm_setup(inner, *rules);
                vllm.check()?;
                Engine::Vllm(Box::new(VllmEngine::new(&vllm, keep, total, line)))
            }
            Rules::WholeBatches { max_delay_s, noise } => {
                let batches = batch_setup(inner, *max_delay_s, noise);
                batches.check()?;
                Engine::Batches(Box::new(AttendedBatches::new(&batches, keep, total, line)))
            }
            Rules::Speculative(speculation) => {
                let jobs = |recorder: &mut Recorder| Jobs::Line(Box::new(line(recorder)));
                Engine::Stepwise(Box::new(Stepwise::new(inner, *speculation, keep, total, jobs)))
            }
        };
        Ok(Self { engine })
    }

    /// Take up to `most` jumps; of whole batches, so many batches.
    pub fn advance(&mut self, most: u64) -> Progress {
        match &mut self.engine {
            Engine::Reference(engine) => engine.advance(most),
            Engine::Vllm(engine) => engine.advance(most),
            Engine::Batches(engine) => engine.advance(most),
            Engine::Stepwise(engine) => engine.advance(most),
        }
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub fn finish(self) -> AttendedRun {
        let with_line = |(run, line): (Run, AttendedLine)| (run, line.into_counts());
        let (run, counts) = match self.engine {
            Engine::Reference(engine) => with_line(engine.finish()),
            Engine::Vllm(engine) => {
                let (vllm, line) = engine.finish();
                with_line((vllm.run, line))
            }
            Engine::Batches(engine) => with_line(engine.finish()),
            Engine::Stepwise(engine) => {
                let (run, jobs) = engine.finish();
                (run, jobs.into_counts())
            }
        };
        let (attempts, ttft_from_send, sessions) = counts;
        debug_assert!(sessions.is_none_or(|sessions| sessions.verify(run.offered) == Ok(())));
        AttendedRun { run, attempts, ttft_from_send, sessions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clients::Pacing,
        engine::{ServiceNoise, Speculation, VllmRules, vllm::Version},
        setup::{EngineSpec, Slo},
        step_time::StepTimeSpec,
        workload::{ArrivalProcess, Deal, LengthSpec, Workload},
    };

    fn attended(rules: Rules) -> AttendedSetup {
        let length = LengthSpec::Fixed { tokens: 5 };
        let source = RequestSource::Generated {
            process: ArrivalProcess::Poisson,
            rate_per_s: 1.0,
            input: length,
            output: length,
        };
        AttendedSetup {
            setup: Setup {
                workload: Workload { source, requests: 10 },
                engine: EngineSpec {
                    max_num_batched_tokens: 100,
                    max_num_seqs: 2,
                    kv_capacity_tokens: 100,
                },
                rules,
                step_time: StepTimeSpec::Affine { fixed_s: 0.01, per_item_s: 0.0 },
                slo: Slo { ttft_s: 1.0, tpot_s: 1.0, share: 0.99 },
                seed: 0,
            },
            clients: ClientSpec::OPEN,
            overload: OverloadPolicy::UNBOUNDED,
        }
    }

    #[test]
    fn what_has_no_clients_that_react_is_refused() {
        let batches = Rules::WholeBatches { max_delay_s: 0.0, noise: ServiceNoise::None };
        let vllm = Rules::VllmV1(VllmRules::plain(Version::V0_33));
        let drafts =
            Rules::Speculative(Speculation { tokens: 4, acceptance: 0.8, draft_cost: 0.1 });
        for rules in [Rules::Reference, batches, vllm, drafts] {
            assert_eq!(attended(rules).check(), Ok(()));
        }

        let mut dealt = attended(Rules::Reference);
        let source = Box::new(dealt.setup.workload.source);
        dealt.setup.workload.source =
            RequestSource::Dealt(Deal { source, replicas: 2, replica: 0 });
        assert_eq!(dealt.check(), Ok(()));
        dealt.clients.population = Population::Closed {
            users: 1,
            think: ClientTime::Fixed { mean_s: 1.0 },
            pacing: Pacing::AfterAnswer,
        };
        let refused = dealt.check();
        assert!(
            matches!(refused, Err(SetupError::OutOfDomain { field: "clients.users", .. })),
            "{refused:?}"
        );
    }
}
