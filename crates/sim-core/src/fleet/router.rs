//! Which replica a request goes to.

use crate::{
    engine::Fed,
    random::{Purpose, Stream, split_mix},
    workload::Request,
};

/// How requests are spread over the replicas that are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Router {
    /// One line for all: a request goes to the replica with the fewest that could begin it, or waits
    /// until one can.
    SharedQueue,
    /// In turn.
    RoundRobin,
    /// By chance.
    Random,
    /// To the one with the fewest requests.
    LeastInFlight,
    /// To that of two, by chance, with fewer requests.
    PowerOfTwo,
    /// To the one with the fewest KV tokens in use and due.
    LeastKv,
    /// Prompts that begin alike to the same replica, which has their beginning in its cache, however
    /// full it is; others to the one with the fewest requests. Rendezvous hashing (Thaler,
    /// Ravishankar 1996): a replica that comes or goes moves its own beginnings only.
    PrefixAffinity,
}

/// A router with what it remembers.
#[derive(Clone, Debug)]
pub(super) struct Routing {
    router: Router,
    stream: Stream,
    turn: usize,
}

impl Routing {
    pub(super) fn new(router: Router, seed: u64) -> Self {
        Self { router, stream: Stream::new(seed, Purpose::Routing), turn: 0 }
    }

    pub(super) const fn router(&self) -> Router {
        self.router
    }

    /// Which of `count` ready replicas, in order of decision and with their numbers, a request goes to
    /// whose prompt begins as others of its group; `None` if it has to wait.
    pub(super) fn choose<'a>(
        &mut self,
        count: usize,
        seat: impl Fn(usize) -> (u64, &'a Fed),
        request: &Request,
        prefix_group: Option<u64>,
    ) -> Option<usize> {
        if count == 0 {
            return None;
        }
        let ready = |index| seat(index).1;
        let load = |&index: &usize| (ready(index).in_flight(), index);
        let any = |stream: &mut Stream| {
            let share = 1.0 - stream.uniform();
            ((share * count as f64) as usize).min(count - 1)
        };
        match self.router {
            Router::SharedQueue => {
                (0..count).filter(|&index| ready(index).could_begin(request)).min_by_key(load)
            }
            Router::RoundRobin => {
                let index = self.turn % count;
                self.turn += 1;
                Some(index)
            }
            Router::Random => Some(any(&mut self.stream)),
            Router::PrefixAffinity => match prefix_group {
                Some(group) => {
                    (0..count).max_by_key(|&index| split_mix(split_mix(group) ^ seat(index).0))
                }
                None => (0..count).min_by_key(load),
            },
            Router::LeastInFlight => (0..count).min_by_key(load),
            Router::PowerOfTwo => {
                let pair = [any(&mut self.stream), any(&mut self.stream)];
                pair.into_iter().min_by_key(load)
            }
            Router::LeastKv => (0..count).min_by_key(|&index| {
                let engine = ready(index);
                (engine.kv_tokens() + engine.waiting_tokens(), index)
            }),
        }
    }
}
