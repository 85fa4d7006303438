//! What the line does when more comes than can be served, and how clients take it.

use serde::{Deserialize, Serialize};
use sim_core::{
    clients::{
        Awaited, ClientSpec, ClientTime, GivenUpWork, Pacing, Patience, PatienceTime, Population,
        Retries, RetryWait, Throttle,
    },
    engine::{Attendance, Codel, OverloadPolicy, ServiceOrder},
};

use crate::{
    caution::Needy,
    class::ClassSpec,
    field::{Field, Group},
    schema::Scenario,
};

/// What the line before an engine does under overload. Numbers that are 0 ask for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Who is served next, and whether waits are controlled.
    pub policy: LinePolicy,
    /// Most requests that may wait; 0 for no limit.
    pub queue_limit: u64,
    /// Longest wait before a request is dropped instead of served, seconds; 0 for no limit.
    pub deadline_s: f64,
    /// Controlled delay: wait that a standing queue may have, seconds.
    pub codel_target_s: f64,
    /// Controlled delay: how long waits are above it before the first drop, seconds.
    pub codel_interval_s: f64,
    /// Engine time that turning one request away takes, seconds.
    pub rejection_cost_s: f64,
    /// How long a rejected client is told to wait, seconds; 0 where it is told nothing.
    pub retry_after_s: f64,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinePolicy {
    /// The one that has waited longest.
    Fifo,
    /// The one that came last.
    Lifo,
    /// The most important class; among equals the one that has waited longest.
    Priority,
    /// The one that has waited longest, under controlled delay.
    Codel,
}

/// How clients behave. Numbers that are 0 ask for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clients {
    /// How long they wait on average before they give an attempt up, seconds; 0 for as long as it
    /// takes. A class may have its own.
    pub patience_s: f64,
    /// How that differs from one attempt to the next.
    pub patience_spread: Spread,
    /// Standard deviation of its logarithm, where it is lognormal.
    pub patience_sigma: f64,
    /// Whether they wait for the whole answer, or for its first token.
    pub await_answer: bool,
    /// Whether the server works on for those that have gone.
    pub work_is_finished: bool,
    /// How often they try again.
    pub retries: u64,
    /// Longest wait before the first retry, seconds; 0 for none.
    pub backoff_s: f64,
    /// Longest wait before any retry, seconds.
    pub backoff_cap_s: f64,
    /// Retries allowed per first attempt over all clients, 1 for one each; 0 for no bound.
    pub retry_budget: f64,
    /// Whether they turn their own attempts away while the server does.
    pub throttle: bool,
    /// Attempts that may be sent for each one accepted.
    pub throttle_k: f64,
    /// How far back that looks, seconds.
    pub throttle_window_s: f64,
}

/// How a time varies about its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// Not at all.
    Fixed,
    /// Exponentially.
    Exponential,
    /// Lognormally.
    LogNormal,
}

/// A fixed number of users in place of a rate, over all GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosedLoop {
    /// How many.
    pub users: u64,
    /// Seconds between an answer and the next request, on average: exponentially distributed. With
    /// a schedule the time between two requests, always the same.
    pub think_s: f64,
    /// Whether each keeps to a schedule, however late the answers come.
    pub on_schedule: bool,
}

impl Overload {
    /// Everybody waits in order of arrival. Never to be changed: links leave out what equals it.
    pub(crate) const V1: Self = Self {
        policy: LinePolicy::Fifo,
        queue_limit: 0,
        deadline_s: 0.0,
        codel_target_s: 0.1,
        codel_interval_s: 1.0,
        rejection_cost_s: 0.0,
        retry_after_s: 0.0,
    };

    fn to_policy(self) -> OverloadPolicy {
        let codel = Codel { target_s: self.codel_target_s, interval_s: self.codel_interval_s };
        OverloadPolicy {
            queue_limit: (self.queue_limit > 0).then_some(self.queue_limit),
            max_wait_s: asked(self.deadline_s),
            order: match self.policy {
                LinePolicy::Fifo | LinePolicy::Codel => ServiceOrder::OldestFirst,
                LinePolicy::Lifo => ServiceOrder::NewestFirst,
                LinePolicy::Priority => ServiceOrder::ByPriority,
            },
            codel: (self.policy == LinePolicy::Codel).then_some(codel),
            rejection_cost_s: self.rejection_cost_s,
            retry_after_s: asked(self.retry_after_s),
        }
    }
}

impl Clients {
    /// Everybody waits for ever and tries once. Never to be changed: links leave out what equals it.
    pub(crate) const V1: Self = Self {
        patience_s: 0.0,
        patience_spread: Spread::Fixed,
        patience_sigma: 1.0,
        await_answer: false,
        work_is_finished: false,
        retries: 0,
        backoff_s: 1.0,
        backoff_cap_s: 60.0,
        retry_budget: 0.0,
        throttle: false,
        throttle_k: 2.0,
        throttle_window_s: 120.0,
    };

    /// A time of that mean after which clients give up; `None` where there is none.
    pub(crate) fn patience(&self, mean_s: f64) -> Option<ClientTime> {
        asked(mean_s).map(|mean_s| match self.patience_spread {
            Spread::Fixed => ClientTime::Fixed { mean_s },
            Spread::Exponential => ClientTime::Exponential { mean_s },
            Spread::LogNormal => ClientTime::LogNormal { mean_s, sigma: self.patience_sigma },
        })
    }

    fn to_spec(self, population: Population, by_class: bool) -> ClientSpec {
        let time = if by_class {
            Some(PatienceTime::OfClass)
        } else {
            self.patience(self.patience_s).map(PatienceTime::Same)
        };
        let patience = |time| Patience {
            time,
            awaits: if self.await_answer { Awaited::Answer } else { Awaited::FirstToken },
            work: if self.work_is_finished {
                GivenUpWork::StillDone
            } else {
                GivenUpWork::Abandoned
            },
        };
        let wait = match asked(self.backoff_s) {
            Some(base_s) => RetryWait::Backoff { base_s, cap_s: self.backoff_cap_s },
            None => RetryWait::Immediate,
        };
        let retries = Retries {
            max_attempts: u32::try_from(self.retries).unwrap_or(u32::MAX).saturating_add(1),
            wait,
            honours_retry_after: true,
            budget: asked(self.retry_budget),
        };
        let throttle = Throttle { k: self.throttle_k, window_s: self.throttle_window_s };
        ClientSpec {
            population,
            patience: time.map(patience),
            retries: (self.retries > 0).then_some(retries),
            throttle: self.throttle.then_some(throttle),
        }
    }
}

impl ClosedLoop {
    /// The same as the simulator takes it.
    #[must_use]
    pub const fn to_population(self) -> Population {
        let Self { users, think_s: mean_s, on_schedule } = self;
        let (think, pacing) = if on_schedule {
            (ClientTime::Fixed { mean_s }, Pacing::OnSchedule)
        } else {
            (ClientTime::Exponential { mean_s }, Pacing::AfterAnswer)
        };
        Population::Closed { users, think, pacing }
    }
}

/// A number that asks for something.
fn asked(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

impl Spread {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Exponential => "exponential",
            Self::LogNormal => "lognormal",
        }
    }

    /// The spread of a word; none for any other.
    pub(crate) fn of_word(word: &str) -> Self {
        let all = [Self::Exponential, Self::LogNormal];
        all.into_iter().find(|spread| spread.word() == word).unwrap_or(Self::Fixed)
    }
}

impl LinePolicy {
    const ALL: [Self; 4] = [Self::Fifo, Self::Lifo, Self::Priority, Self::Codel];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lifo => "lifo",
            Self::Priority => "priority",
            Self::Codel => "codel",
        }
    }

    /// The policy of a word; first come, first served for any other.
    pub(crate) fn of_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|policy| policy.word() == word).unwrap_or(Self::Fifo)
    }
}

impl Scenario {
    /// How the simulator's clients and line behave. Under vLLM's rules the priorities of the line
    /// are those of its scheduler.
    pub(crate) fn attendance(&self) -> Attendance {
        let mut overload = self.overload;
        if self.rules.are_vllms() && overload.policy == LinePolicy::Priority {
            overload.policy = LinePolicy::Fifo;
        }
        let population = match self.closed {
            Some(closed) => closed.to_population(),
            None if self.has_sessions() => Population::Sessions,
            None => Population::Open,
        };
        let clients = self.clients.to_spec(population, self.has_class_patience());
        Attendance { clients, overload: overload.to_policy() }
    }

    /// Whether some class has a patience of its own, so that each has one of its own.
    fn has_class_patience(&self) -> bool {
        let differs = |class: &ClassSpec| match class.patience_s {
            // That these wait for ever says something only beside others who do not.
            Some(mean_s) => mean_s > 0.0 || self.clients.patience_s > 0.0,
            None => false,
        };
        self.classes.iter().any(differs)
    }

    /// How long clients of a class wait, where each has its own patience.
    pub(crate) fn class_patience(&self, class: Option<&ClassSpec>) -> Option<ClientTime> {
        let own_s = class.and_then(|class| class.patience_s);
        let mean_s = own_s.unwrap_or(self.clients.patience_s);
        self.clients.patience(mean_s).filter(|_| self.has_class_patience())
    }

    /// Whether clients react or the line has a policy.
    #[must_use]
    pub fn reacts(&self) -> bool {
        !self.attendance().is_open()
    }

    /// Whether a setting of traffic, overload or clients has what it needs for anything to follow
    /// from it; others need nothing here.
    #[must_use]
    pub fn has_needs_of(&self, key: &str) -> bool {
        let needs = OVERLOAD_NEEDS.iter().find(|(needy, _)| needy.contains(&key));
        needs.is_none_or(|(_, needs)| needs.iter().all(|need| (need.is_met)(self)))
    }

    /// Whether the rate changes over time. A closed loop has no rate of its own.
    #[must_use]
    pub fn changes_over_time(&self) -> bool {
        self.closed.is_none() && !self.profile.is_constant()
    }

    /// Whether vLLM's scheduler goes by priority, whichever of the two settings says so.
    pub(crate) fn vllm_by_priority(&self) -> bool {
        self.vllm.by_priority || self.overload.policy == LinePolicy::Priority
    }
}

/// What has to be set so that another setting counts.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Key of the setting that decides.
    pub key: &'static str,
    /// A value of it that lets the other one count.
    pub value: &'static str,
    /// Whether it does.
    pub is_met: fn(&Scenario) -> bool,
}

const CODEL: Need = Need { key: "overload.policy", value: "codel", is_met: has_codel };
const FULL_QUEUE: Need = Need {
    key: "overload.queue_limit",
    value: "100",
    is_met: |scenario| scenario.overload.queue_limit > 0,
};
const TURNED_AWAY: Need = Need {
    key: "overload.queue_limit",
    value: "100",
    is_met: |scenario| turns_away(scenario) || is_impatient(scenario),
};
const PATIENCE: Need = Need { key: "clients.patience", value: "10", is_met: is_impatient };
const VARIED: Need = Need {
    key: "clients.patience_spread",
    value: "lognormal",
    is_met: |scenario| scenario.clients.patience_spread == Spread::LogNormal,
};
const RETRIES: Need =
    Need { key: "clients.retries", value: "3", is_met: |scenario| scenario.clients.retries > 0 };
const BACKOFF: Need = Need {
    key: "clients.backoff",
    value: "1",
    is_met: |scenario| scenario.clients.backoff_s > 0.0,
};
const THROTTLE: Need =
    Need { key: "clients.throttle", value: "on", is_met: |scenario| scenario.clients.throttle };
const TURNS: Need = Need { key: "turns", value: "5", is_met: Scenario::asks_for_turns };
const OPEN_LOOP: Need =
    Need { key: "arrivals", value: "poisson", is_met: |scenario| scenario.closed.is_none() };

/// Which settings of traffic, overload and clients need what so that anything follows from them.
pub static OVERLOAD_NEEDS: &[Needy] = &[
    (&["rate", "profile", "turns"], &[OPEN_LOOP]),
    (&["think"], &[OPEN_LOOP, TURNS]),
    (&["overload.codel_target", "overload.codel_interval"], &[CODEL]),
    (&["overload.rejection_cost"], &[FULL_QUEUE]),
    (&["overload.retry_after"], &[FULL_QUEUE, RETRIES]),
    (&["clients.awaits", "clients.abandoned", "clients.patience_spread"], &[PATIENCE]),
    (&["clients.patience_sigma"], &[PATIENCE, VARIED]),
    (&["clients.retries", "clients.throttle"], &[TURNED_AWAY]),
    (&["clients.backoff", "clients.retry_budget"], &[RETRIES]),
    (&["clients.backoff_cap"], &[RETRIES, BACKOFF]),
    (&["clients.throttle_k", "clients.throttle_window"], &[THROTTLE]),
];

fn has_codel(scenario: &Scenario) -> bool {
    scenario.overload.policy == LinePolicy::Codel
}

/// Whether anybody gives up.
fn is_impatient(scenario: &Scenario) -> bool {
    scenario.clients.patience_s > 0.0 || scenario.has_class_patience()
}

/// Whether the server turns requests away or drops them.
fn turns_away(scenario: &Scenario) -> bool {
    let Overload { queue_limit, deadline_s, .. } = scenario.overload;
    queue_limit > 0 || deadline_s > 0.0 || has_codel(scenario)
}

/// Whether anything follows from a setting of overload or clients; other settings count as if.
pub(crate) fn is_in_force(scenario: &Scenario, field: &Field) -> bool {
    let asks_nothing =
        field.group == Group::Overload && (field.default == "0" || field.none.is_some());
    !asks_nothing && scenario.has_needs_of(field.key)
}
