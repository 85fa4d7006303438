//! What is asked of a GPU: a rate, or in a closed loop a number of users.
//!
//! In an open loop more is sent per second; in a closed one more users send, each the next request
//! only after its last one was answered. How much `N` users ask for follows from how they are
//! served: with `Z` seconds to think and an answer after `R` seconds it is `N / (Z + R)` per second
//! (the interactive response time law; Denning and Buzen, "The Operational Analysis of Queueing
//! Network Models", 1978). So beyond `ceiling · Z` users plus those whom the slots hold every
//! further one only makes the others wait.

use sim_core::{
    Setup,
    clients::{Pacing, Population},
    engine::Attendance,
    float::lesser,
};

use crate::job::{Job, job_at};

/// How many times its target a mean wait has to be for nothing to hold any more.
const HOPELESS: f64 = 2.0;

/// What grows from one run to the next: the load of a job is in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Demand {
    /// Requests per second.
    Rate,
    /// Users of a closed loop.
    Users {
        /// How long each thinks on average, seconds.
        think_s: f64,
        /// Whether they keep to a schedule, however late the answers come.
        on_schedule: bool,
    },
}

impl Demand {
    /// What a scenario asks by.
    pub(crate) const fn of(attendance: &Attendance) -> Self {
        match attendance.clients.population {
            Population::Open | Population::Sessions => Self::Rate,
            Population::Closed { think, pacing, .. } => Self::Users {
                think_s: think.mean_s(),
                on_schedule: matches!(pacing, Pacing::OnSchedule),
            },
        }
    }

    /// The load that just fills an engine of so many slots, which finishes `ceiling_per_s`.
    pub(crate) fn full(self, ceiling_per_s: f64, slots: u64) -> f64 {
        match self {
            Self::Rate => ceiling_per_s,
            Self::Users { think_s, on_schedule: true } => ceiling_per_s * think_s,
            Self::Users { think_s, on_schedule: false } => ceiling_per_s * think_s + slots as f64,
        }
    }

    /// The load above which nothing holds that is to begin within `ttft_s`.
    pub(crate) fn most(self, ceiling_per_s: f64, slots: u64, ttft_s: f64) -> f64 {
        let full = self.full(ceiling_per_s, slots);
        match self {
            Self::Users { on_schedule: false, .. } => full + HOPELESS * ceiling_per_s * ttft_s,
            _ => full,
        }
    }

    /// Whether a load can be served for ever: users who wait for their answers never ask for more
    /// than is finished.
    pub(crate) fn is_stable(self, load: f64, ceiling_per_s: f64) -> bool {
        match self {
            Self::Rate => load < ceiling_per_s,
            Self::Users { think_s, on_schedule: true } => load / think_s < ceiling_per_s,
            Self::Users { on_schedule: false, .. } => true,
        }
    }

    /// The least load there is to ask about, for one that counts as idle.
    pub(crate) fn least(self, idle: f64) -> f64 {
        if self == Self::Rate { idle } else { 1.0 }
    }

    /// A load as it is simulated: there are no parts of users.
    pub(crate) fn simulated(self, load: f64) -> f64 {
        if self == Self::Rate { load } else { whole_users(load) as f64 }
    }

    /// The run of a set-up and its clients at a load.
    pub(crate) fn job(self, base: (&Setup, &Attendance), load: f64, replication: u32) -> Job {
        let (setup, attendance) = base;
        // The rate of a closed loop plays no part.
        let rate_per_s = if self == Self::Rate { load } else { 1.0 };
        let mut job = job_at(setup, rate_per_s, replication);
        job.attendance = *attendance;
        if let Population::Closed { users, .. } = &mut job.attendance.clients.population {
            *users = whole_users(load);
        }
        job
    }
}

/// The same clients where arrivals are given, so that no users decide when they send.
pub(crate) fn open_loop(attendance: &Attendance) -> Attendance {
    match attendance.clients.population {
        // They come at the rate that is asked about.
        Population::Sessions => *attendance,
        Population::Open | Population::Closed { .. } => recorded(attendance),
    }
}

/// The same clients where a recording says who sends what.
pub(crate) fn recorded(attendance: &Attendance) -> Attendance {
    let mut attendance = *attendance;
    attendance.clients.population = Population::Open;
    attendance
}

fn whole_users(load: f64) -> u64 {
    // A float beyond the range of u64 saturates.
    (lesser(load, MOST_USERS) as u64).max(1)
}

/// Most users of one engine that are simulated.
const MOST_USERS: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: Demand = Demand::Users { think_s: 10.0, on_schedule: false };
    const SCHEDULED: Demand = Demand::Users { think_s: 10.0, on_schedule: true };

    #[test]
    fn users_fill_an_engine_while_they_think_and_while_they_are_served() {
        assert_eq!(Demand::Rate.full(25.0, 256), 25.0);
        assert_eq!(SCHEDULED.full(25.0, 256), 250.0);
        assert_eq!(WAITING.full(25.0, 256), 506.0);
        assert_eq!(WAITING.most(25.0, 256, 1.0), 556.0);
        assert_eq!(Demand::Rate.most(25.0, 256, 1.0), 25.0);
    }

    #[test]
    fn only_users_who_wait_never_ask_for_too_much() {
        assert!(Demand::Rate.is_stable(24.9, 25.0) && !Demand::Rate.is_stable(25.0, 25.0));
        assert!(SCHEDULED.is_stable(249.0, 25.0) && !SCHEDULED.is_stable(250.0, 25.0));
        assert!(WAITING.is_stable(1e6, 25.0));
    }

    #[test]
    fn there_are_no_parts_of_users() {
        assert_eq!(WAITING.simulated(3.9), 3.0);
        assert_eq!(WAITING.simulated(0.2), 1.0);
        assert_eq!(WAITING.simulated(f64::INFINITY), 1e6);
        assert_eq!(Demand::Rate.simulated(3.9), 3.9);
    }
}
