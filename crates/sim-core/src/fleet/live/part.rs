//! A fleet as a part of something larger: a pool, or one model of several.

use crate::{
    engine::Waiting,
    fleet::life::Lives,
    measure::Finished,
    workload::{Request, Requests},
};

use super::{FleetSimulation, LiveFleet, faults::TrafficClock};

/// What a fleet does for the whole of which it is a part; nothing where it stands alone.
#[derive(Debug, Default)]
pub(in crate::fleet) struct Part {
    /// Its requests are handed to it; how many users' there are.
    pub(in crate::fleet) users: Option<u64>,
    /// Its requests come with the cache of their prompt, which a lost replica loses: they then go back.
    pub(in crate::fleet) brings_caches: bool,
    /// Somebody else says how many replicas it has.
    pub(in crate::fleet) is_led: bool,
    /// Whether what ended is handed over, and what has been since that was last taken, with its
    /// replica.
    pub(in crate::fleet) hands_over: bool,
    pub(in crate::fleet) ended: Vec<(u64, Finished)>,
    /// Requests that went back, and those of them that were not taken yet.
    pub(in crate::fleet) returned: u64,
    pub(in crate::fleet) back: Vec<Request>,
    /// How often replicas have come to another stage.
    pub(in crate::fleet) changes: u64,
}

impl Part {
    /// Hand over what ended on a replica; whether that is done.
    pub(super) fn hand_over(&mut self, replica: u64, finished: &[Finished]) -> bool {
        if self.hands_over {
            self.ended.extend(finished.iter().map(|ended| (replica, *ended)));
        }
        self.hands_over && !finished.is_empty()
    }
}

/// Where requests come from.
#[derive(Debug)]
pub(super) enum Incoming {
    /// The workload, on the clock of its traffic.
    Drawn(Box<(Requests, TrafficClock)>),
    /// The whole, which hands over so many users' requests.
    Handed(u64),
}

impl Incoming {
    pub(super) fn new(fleet: &LiveFleet, part: &Part) -> Self {
        let setup = &fleet.setup;
        part.users.map_or_else(
            || {
                let requests = Requests::new(&setup.workload, setup.seed);
                Self::Drawn(Box::new((requests, TrafficClock::new(&fleet.faults))))
            },
            Self::Handed,
        )
    }

    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Drawn(drawn) => drawn.0.total(),
            Self::Handed(users) => *users,
        }
    }

    pub(super) fn next(&mut self) -> Option<Request> {
        match self {
            Self::Drawn(drawn) => drawn.0.next().map(|request| drawn.1.moved(request)),
            Self::Handed(_) => None,
        }
    }
}

impl FleetSimulation {
    /// What ended since this was last asked, with its replica.
    pub(in crate::fleet) fn take_ended(&mut self) -> Vec<(u64, Finished)> {
        std::mem::take(&mut self.part.ended)
    }

    /// What went back since this was last asked.
    pub(in crate::fleet) fn take_returned(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.part.back)
    }

    /// When something happens here next, in seconds.
    pub(in crate::fleet) fn next_event_s(&mut self) -> f64 {
        self.upcoming().1
    }

    /// Let that happen.
    pub(in crate::fleet) fn take_next(&mut self) {
        let (turn, at_s) = self.upcoming();
        self.take(turn, at_s);
    }

    /// A request comes, now.
    pub(in crate::fleet) fn hand(&mut self, request: Request) {
        self.pass_time(request.arrival_s);
        self.next = Some(request);
        self.arrive(request.arrival_s);
    }

    /// So many replicas are asked for.
    pub(in crate::fleet) fn ask(&mut self, desired: i32, now_s: f64) {
        self.pass_time(now_s);
        self.desired = desired.max(0);
        let changes = self.lives.scale_to(self.desired as usize, now_s);
        self.follow(&changes, now_s);
    }

    /// How many replicas are asked for.
    pub(in crate::fleet) const fn desired(&self) -> i32 {
        self.desired
    }

    /// A replica sends a cache for so many seconds after those that it sends already; when that begins
    /// and ends. `None` if there is no such replica.
    pub(in crate::fleet) fn send_cache(
        &mut self,
        replica: u64,
        for_s: f64,
        now_s: f64,
    ) -> Option<(f64, f64)> {
        let at = self.server(replica)?;
        let server = &mut self.servers[at];
        let begin_s = crate::float::greater(server.sends_until_s, now_s);
        server.sends_until_s = begin_s + for_s;
        Some((begin_s, server.sends_until_s))
    }

    /// Whether there is such a replica.
    pub(in crate::fleet) fn has_replica(&self, replica: u64) -> bool {
        self.server(replica).is_some()
    }

    /// Whether its traffic is over: everybody has come, and is answered or was waited for in vain.
    pub(in crate::fleet) fn is_over(&mut self) -> bool {
        let at_s = self.last_s;
        self.next.is_none()
            && (self.in_system == 0 || at_s > self.last_arrival_s + self.fleet.patience_s)
    }

    /// There may be so many nodes from now on.
    pub(in crate::fleet) fn allow_nodes(&mut self, most: u32, now_s: f64) {
        self.pass_time(now_s);
        let changes = self.lives.allow_nodes(most, now_s);
        self.follow(&changes, now_s);
    }

    /// A replica's node is taken; whether there was one to take.
    pub(in crate::fleet) fn reclaim_one(&mut self, kills: bool, now_s: f64) -> bool {
        self.pass_time(now_s);
        let Some(changes) = self.lives.reclaim_one(kills, now_s) else { return false };
        self.follow(&changes, now_s);
        true
    }

    /// The replicas and their nodes.
    pub(in crate::fleet) const fn lives(&mut self) -> &mut Lives {
        &mut self.lives
    }

    /// How often replicas have come to another stage.
    pub(in crate::fleet) const fn changes(&self) -> u64 {
        self.part.changes
    }

    /// Time passes up to the end of the whole.
    pub(in crate::fleet) fn pass_until(&mut self, end_s: f64) {
        self.pass_time(end_s);
    }

    /// What a lost replica had goes back to where it came from.
    pub(super) fn give_back(&mut self, orphans: &[Waiting], now_s: f64) {
        for Waiting { request, since_s, .. } in orphans {
            self.recorder.admitted(now_s - since_s);
            self.recorder.released(now_s - request.arrival_s, now_s);
            self.in_system -= 1;
            self.part.returned += 1;
            self.part.back.push(*request);
        }
    }
}
