//! Who sends the first attempt of which request when.

use std::collections::BTreeSet;

use crate::{
    clients::{ClientTime, Pacing, Population, SessionCounts, first_think_s, think_s},
    engine::{
        sessions::{SessionSenders, mix_of},
        vllm::{Answered, Before},
    },
    float::greater,
    workload::{Request, Requests},
};

use super::AttendedSetup;

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
    think: ClientTime,
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
            return Self::Sessions(Box::new(SessionSenders::new(mix, &setup.setup)));
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

    /// The place in the whole of a stream that is dealt out, to which the draws of a key belong.
    pub(super) fn draws_of(&self, key: u64) -> u64 {
        match self {
            Self::Open(requests) => requests.place_in_whole(key),
            Self::Closed(_) | Self::Sessions(_) => key,
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

    /// Send it: what its draws belong to, the request as it was meant to be sent, and what it finds in
    /// its conversation, where it is a turn of a session.
    pub(super) fn send(&mut self) -> Option<(u64, Request, Option<Before>)> {
        match self {
            Self::Open(requests) => requests.next().map(|request| (request.index, request, None)),
            Self::Closed(users) => users.send().map(|(key, request)| (key, request, None)),
            Self::Sessions(sessions) => sessions.send(),
        }
    }

    /// The request of a key has ended, with the answer to an attempt or without any.
    pub(super) fn ended(&mut self, key: u64, answered: Option<Answered>, now_s: f64) {
        match self {
            Self::Open(_) => {}
            Self::Closed(users) => users.ended(key, now_s),
            Self::Sessions(sessions) => sessions.ended(key, answered, now_s),
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
