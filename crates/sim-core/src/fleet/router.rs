//! Which replica a request goes to.

use crate::{
    engine::Fed,
    random::{Purpose, Stream},
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

    /// Which of `count` ready replicas, in order of decision, a request goes to; `None` if it has to
    /// wait.
    pub(super) fn choose<'a>(
        &mut self,
        count: usize,
        ready: impl Fn(usize) -> &'a Fed,
        request: &Request,
    ) -> Option<usize> {
        if count == 0 {
            return None;
        }
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
