//! An engine whose clients react, and whose line has an overload policy: the door to it.
//!
//! Beside [`simulate`](super::simulate), not inside: a [`Setup`] is what every engine can do, and
//! only the `reference` rules have clients that react so far.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    clients::{
        AttemptCounts, ClientSpec, Pacing, Population, SessionCounts, ThinkTime, first_think_s,
        think_s,
    },
    float::greater,
    measure::{Distribution, Recorder, Run},
    setup::{Setup, SetupError},
    workload::{Request, RequestSource, Requests},
};

use super::{
    Keep, Progress, Rules,
    attended_line::AttendedLine,
    sessions::{SessionSenders, mix_of},
    simulation::ReferenceSimulation,
    waiting_line::OverloadPolicy,
};

/// Everything a run with clients that react depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct AttendedSetup {
    /// The workload and the engine, which follows the `reference` rules.
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
    /// The first field outside its domain, or rules whose engine has no clients that react.
    pub fn check(&self) -> Result<(), SetupError> {
        self.setup.check()?;
        self.clients.check()?;
        self.overload.check()?;
        if self.setup.rules != Rules::Reference {
            return Err(SetupError::NoAttendedRules);
        }
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
    pub(super) fn total(&self) -> u64 {
        Requests::new(&self.setup.workload, self.setup.seed).total()
    }

    /// Of each class, how many other priorities go before its own.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let RequestSource::Mixed(mix) = self.setup.workload.source.whole() else {
            return Vec::new();
        };
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
/// The set-up holds a number outside its domain, or rules without clients that react.
pub fn simulate_attended(setup: &AttendedSetup, keep: Keep) -> Result<AttendedRun, SetupError> {
    let mut simulation = AttendedSimulation::new(setup, keep)?;
    while simulation.advance(u64::MAX) != Progress::Done {}
    Ok(simulation.finish())
}

/// One engine with clients that react, advanced piece by piece.
#[derive(Clone, Debug)]
pub struct AttendedSimulation {
    engine: Box<ReferenceSimulation<AttendedLine>>,
}

impl AttendedSimulation {
    /// Prepare a run.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain, or rules without clients that react.
    pub fn new(setup: &AttendedSetup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let line = |recorder: &mut Recorder| {
            if matches!(setup.clients.population, Population::Closed { .. }) {
                recorder.set_unpaced();
            }
            AttendedLine::new(setup, recorder)
        };
        let engine = ReferenceSimulation::new(&setup.setup, keep, setup.total(), line);
        Ok(Self { engine: Box::new(engine) })
    }

    /// Take up to `most` jumps.
    pub fn advance(&mut self, most: u64) -> Progress {
        self.engine.advance(most)
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub fn finish(self) -> AttendedRun {
        let (run, line) = self.engine.finish();
        let (attempts, ttft_from_send, sessions) = line.into_counts();
        debug_assert!(sessions.is_none_or(|sessions| sessions.verify(run.offered) == Ok(())));
        AttendedRun { run, attempts, ttft_from_send, sessions }
    }
}

/// Who sends the first attempt of which request when.
#[derive(Clone, Debug)]
pub(super) enum Senders {
    /// As the workload says.
    Open(Box<Requests>),
    /// Each user after the end of its last request.
    Closed(Box<Users>),
    /// The next turn of each session after the answer to the last one.
    Sessions(Box<SessionSenders>),
}

/// The users of a closed loop.
#[derive(Clone, Debug)]
pub(super) struct Users {
    seed: u64,
    think: ThinkTime,
    pacing: Pacing,
    /// The lengths of each request, by its key; those of keys beyond come round again.
    drawn: Vec<Request>,
    /// How many may still be sent: as many as the workload has, whoever sends them.
    to_send: u64,
    /// Of each user, what it sends next, or sent last, and when it meant to.
    users: Vec<User>,
    /// Requests that are going to be sent, by time and then by key.
    going_to_send: BTreeSet<(TimeBits, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct User {
    key: u64,
    intended_s: f64,
}

/// The bits of a time that is not negative: they are in its order.
type TimeBits = u64;

impl Senders {
    pub(super) fn new(setup: &AttendedSetup) -> Self {
        if setup.clients.population == Population::Sessions
            && let Ok(mix) = mix_of(&setup.setup)
        {
            let requests = setup.setup.workload.requests;
            return Self::Sessions(Box::new(SessionSenders::new(mix, requests, setup.setup.seed)));
        }
        let requests = Requests::new(&setup.setup.workload, setup.setup.seed);
        let Population::Closed { users, think, pacing } = setup.clients.population else {
            return Self::Open(Box::new(requests));
        };
        let drawn: Vec<_> = requests.collect();
        let number = if drawn.is_empty() { 0 } else { users };
        let mut closed = Users {
            seed: setup.setup.seed,
            think,
            pacing,
            to_send: drawn.len() as u64,
            drawn,
            users: (0..number).map(|key| User { key, intended_s: 0.0 }).collect(),
            going_to_send: BTreeSet::new(),
        };
        for user in 0..number {
            let think_s = first_think_s(&closed.think, closed.seed, user);
            closed.will_send(user as usize, think_s, 0.0);
        }
        Self::Closed(Box::new(closed))
    }

    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Open(requests) => requests.total(),
            Self::Closed(users) => users.drawn.len() as u64,
            Self::Sessions(sessions) => sessions.total(),
        }
    }

    /// When the next first attempt is sent; infinite when none is in sight.
    pub(super) fn next_s(&self) -> f64 {
        let next_s = match self {
            Self::Open(requests) => requests.peek().map(|request| request.arrival_s),
            Self::Closed(users) => {
                users.going_to_send.first().map(|(bits, _)| f64::from_bits(*bits))
            }
            Self::Sessions(sessions) => sessions.next_s(),
        };
        next_s.unwrap_or(f64::INFINITY)
    }

    /// Send it: what its draws belong to, and the request as it was meant to be sent.
    pub(super) fn send(&mut self) -> Option<(u64, Request)> {
        match self {
            Self::Open(requests) => requests.next().map(|request| (request.index, request)),
            Self::Closed(users) => users.send(),
            Self::Sessions(sessions) => sessions.send(),
        }
    }

    /// The request of a key has ended, with or without an answer.
    pub(super) fn ended(&mut self, key: u64, is_answered: bool, now_s: f64) {
        match self {
            Self::Open(_) => {}
            Self::Closed(users) => users.ended(key, now_s),
            Self::Sessions(sessions) => sessions.ended(key, is_answered, now_s),
        }
    }

    /// What became of the sessions, where there are any.
    pub(super) const fn sessions(&self) -> Option<SessionCounts> {
        match self {
            Self::Sessions(sessions) => Some(sessions.counts()),
            Self::Open(_) | Self::Closed(_) => None,
        }
    }
}

impl Users {
    fn send(&mut self) -> Option<(u64, Request)> {
        let (_, key) = self.going_to_send.pop_first()?;
        self.to_send -= 1;
        if self.to_send == 0 {
            self.going_to_send.clear();
        }
        let user = key % self.users.len() as u64;
        let intended_s = self.users[user as usize].intended_s;
        let drawn = self.drawn[(key % self.drawn.len() as u64) as usize];
        Some((key, Request { arrival_s: intended_s, ..drawn }))
    }

    fn ended(&mut self, key: u64, now_s: f64) {
        let number = self.users.len() as u64;
        let user = (key % number) as usize;
        self.users[user].key = key + number;
        if self.to_send > 0 {
            let from_s = match self.pacing {
                Pacing::AfterAnswer => now_s,
                Pacing::OnSchedule => self.users[user].intended_s,
            };
            let think_s = think_s(&self.think, self.seed, key + number);
            self.will_send(user, from_s + think_s, now_s);
        }
    }

    /// A user means to send its next request at a time, which may have passed.
    fn will_send(&mut self, index: usize, intended_s: f64, now_s: f64) {
        let user = &mut self.users[index];
        user.intended_s = intended_s;
        let send_s = greater(intended_s, now_s);
        self.going_to_send.insert((send_s.to_bits(), user.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::ServiceNoise,
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
        assert_eq!(attended(Rules::Reference).check(), Ok(()));
        let batches = Rules::WholeBatches { max_delay_s: 0.0, noise: ServiceNoise::None };
        assert_eq!(attended(batches).check(), Err(SetupError::NoAttendedRules));

        let mut dealt = attended(Rules::Reference);
        let source = Box::new(dealt.setup.workload.source);
        dealt.setup.workload.source =
            RequestSource::Dealt(Deal { source, replicas: 2, replica: 0 });
        assert_eq!(dealt.check(), Ok(()));
        dealt.clients.population = Population::Closed {
            users: 1,
            think: ThinkTime::Fixed { mean_s: 1.0 },
            pacing: Pacing::AfterAnswer,
        };
        let refused = dealt.check();
        assert!(
            matches!(refused, Err(SetupError::OutOfDomain { field: "clients.users", .. })),
            "{refused:?}"
        );
    }
}
