//! A fleet as it runs, from event to event.

use std::{cmp::Reverse, collections::BinaryHeap, collections::VecDeque};

use crate::{
    engine::{EngineBounds, Fed, Keep, Waiting, seen_until_s},
    fleet::{
        life::{Change, Lives, Stage},
        outcome::{FleetWindow, LiveRun},
        policy::{Controller, Totals},
        router::{Router, Routing},
    },
    float::{from_count, greater, lesser},
    measure::{Finished, Recorder},
    setup::SetupError,
    step_time::StepModel,
    workload::{Request, RequestSource, SharedPrefix},
};

use super::{
    LiveFleet,
    breakdowns::{Breakdowns, Struck},
    faults::Fault,
    part::{Incoming, Part},
    samples::Samples,
    server::{Due, Server},
};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A request comes.
    Arrival,
    /// An engine is to be looked at.
    Engine,
    /// Replicas, faults, the autoscaler, a scrape, or the end of a window.
    Other,
}

/// A fleet as it runs, to be advanced in slices: looking at it changes nothing.
#[derive(Debug)]
pub struct FleetSimulation {
    pub(super) fleet: LiveFleet,
    model: StepModel,
    pub(super) recorder: Recorder,
    pub(super) samples: Samples,
    incoming: Incoming,
    total: u64,
    pub(super) offered: u64,
    /// The next request to come.
    pub(super) next: Option<Request>,
    /// What it does for the whole of which it is a part.
    pub(super) part: Part,
    routing: Routing,
    pub(super) controller: Controller,
    pub(super) lives: Lives,
    life_next_s: f64,
    /// In order of decision.
    pub(super) servers: Vec<Server>,
    /// Places of those that get requests.
    open: Vec<usize>,
    /// Replicas on a node, and those of them that are ready.
    placed: (u64, u64),
    pub(super) due: BinaryHeap<Reverse<Due>>,
    /// Requests that no replica could take.
    pub(super) line: VecDeque<Waiting>,
    /// Requests of the deferred class that wait for one another, and how many of them do not.
    pub(super) deferred: VecDeque<Waiting>,
    deferrable: u64,
    pub(super) queued_scraped: f64,
    pub(super) deferred_scraped: f64,
    finished: Vec<Finished>,
    pub(super) faults: VecDeque<(f64, Fault)>,
    pub(super) breakdowns: Breakdowns,
    pub(super) struck: Vec<Struck>,
    pub(super) blind_until_s: f64,
    pub(super) next_scrape_s: f64,
    next_window_s: f64,
    window: FleetWindow,
    pub(super) windows: Vec<FleetWindow>,
    pub(super) desired: i32,
    pub(super) last_arrival_s: f64,
    /// Of those answered.
    pub(super) totals: Totals,
    pub(super) in_system: u64,
    replica_s: (f64, f64),
    pub(super) last_s: f64,
    events: u64,
    /// Of replicas that are no more.
    cached_tokens: u64,
    peak_ready: u32,
    pub(super) restarted: u64,
}

impl FleetSimulation {
    /// A fleet at its beginning.
    ///
    /// # Errors
    /// As [`LiveFleet::check`], or more replicas at the beginning than have room.
    pub fn new(fleet: LiveFleet, keep: Keep) -> Result<Self, SetupError> {
        Self::of_part(fleet, Part::default(), keep)
    }

    /// A fleet that may be a part of something.
    pub(in crate::fleet) fn of_part(
        fleet: LiveFleet,
        part: Part,
        keep: Keep,
    ) -> Result<Self, SetupError> {
        fleet.check()?;
        let setup = &fleet.setup;
        let model = StepModel::new(&setup.step_time);
        let mut incoming = Incoming::new(&fleet, &part);
        let total = incoming.total();
        let bounds = EngineBounds::new(&setup.engine, &model);
        let recorder = Recorder::new(setup.slo, bounds, total, keep).judging(&setup.workload);
        let mut lives = Lives::new(fleet.start_up, fleet.nodes, fleet.drain_grace_s, setup.seed)?;
        let begun = lives.begin_ready(fleet.initial_replicas as usize);
        if begun.len() < fleet.initial_replicas as usize {
            return Err(SetupError::OutOfDomain {
                field: "fleet.initial_replicas",
                value: f64::from(fleet.initial_replicas),
                requirement: "no more than have room on the nodes of the beginning",
            });
        }
        let ready = fleet.initial_replicas as i32;
        let floors = (fleet.floors.clone(), fleet.calendar);
        let (routing, seed_faults) =
            (Routing::new(fleet.router, setup.seed), fleet.faults.iter().copied().collect());
        let next = incoming.next();
        let breakdowns = Breakdowns::new(fleet.reliability, setup.seed);
        let mut live = Self {
            routing,
            faults: seed_faults,
            controller: Controller::new(fleet.policy.clone(), floors, ready),
            next_scrape_s: fleet.scrape_s,
            next_window_s: fleet.window_s,
            fleet,
            model,
            recorder,
            samples: Samples::default(),
            incoming,
            total,
            offered: 0,
            next,
            part,
            lives,
            life_next_s: f64::INFINITY,
            servers: Vec::new(),
            open: Vec::new(),
            placed: (0, 0),
            due: BinaryHeap::new(),
            line: VecDeque::new(),
            deferred: VecDeque::new(),
            deferrable: 0,
            queued_scraped: 0.0,
            deferred_scraped: 0.0,
            finished: Vec::new(),
            breakdowns,
            struck: Vec::new(),
            blind_until_s: f64::NEG_INFINITY,
            window: FleetWindow::empty(0.0),
            windows: Vec::new(),
            desired: ready,
            last_arrival_s: 0.0,
            totals: Totals::default(),
            in_system: 0,
            replica_s: (0.0, 0.0),
            last_s: 0.0,
            events: 0,
            cached_tokens: 0,
            peak_ready: 0,
            restarted: 0,
        };
        live.follow(&begun, 0.0);
        Ok(live)
    }

    /// Let up to `events` events happen; whether there is more.
    pub fn advance(&mut self, events: u64) -> bool {
        let end = self.events.saturating_add(events);
        while self.events < end {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// Let everything happen up to `until_s`, and the one event after it; whether there is more.
    pub fn advance_until(&mut self, until_s: f64) -> bool {
        while self.last_s <= until_s {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// The time of the last event in seconds.
    #[must_use]
    pub const fn now_s(&self) -> f64 {
        self.last_s
    }

    /// How many events there were.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// How many requests have come, and how many will in all.
    #[must_use]
    pub const fn offered_of(&self) -> (u64, u64) {
        (self.offered, self.total)
    }

    /// The windows that are over.
    #[must_use]
    pub fn windows(&self) -> &[FleetWindow] {
        &self.windows
    }

    /// The next event; whether there was one.
    fn step(&mut self) -> bool {
        if self.next.is_none() && self.in_system == 0 {
            return false;
        }
        let (turn, at_s) = self.upcoming();
        if self.next.is_none() && at_s > self.last_arrival_s + self.fleet.patience_s {
            return false;
        }
        self.take(turn, at_s);
        true
    }

    /// What happens next, and when.
    pub(super) fn upcoming(&mut self) -> (Turn, f64) {
        while let Some(Reverse(due)) = self.due.peek() {
            let is_current =
                self.server(due.id).is_some_and(|at| self.servers[at].version == due.version);
            if is_current {
                break;
            }
            self.due.pop();
        }
        let engine_s = self.due.peek().map_or(f64::INFINITY, |Reverse(due)| due.at_s);
        let others = [
            self.life_next_s,
            self.fault_s(),
            self.sync_s(),
            self.next_scrape_s,
            self.next_window_s,
        ];
        let other_s = others.into_iter().fold(f64::INFINITY, lesser);
        match self.next.map(|request| request.arrival_s) {
            Some(arrival_s) if arrival_s <= seen_until_s(engine_s) && arrival_s <= other_s => {
                (Turn::Arrival, arrival_s)
            }
            _ if engine_s <= other_s => (Turn::Engine, engine_s),
            _ => (Turn::Other, other_s),
        }
    }

    /// When the autoscaler acts next, in seconds.
    fn sync_s(&self) -> f64 {
        if self.part.is_led { f64::INFINITY } else { self.controller.next_s() }
    }

    /// Let happen what [`upcoming`](Self::upcoming) told.
    pub(super) fn take(&mut self, turn: Turn, at_s: f64) {
        self.events += 1;
        self.pass_time(at_s);
        match turn {
            Turn::Arrival => self.arrive(at_s),
            Turn::Engine => self.advance_engine(),
            Turn::Other if self.life_next_s <= at_s => {
                let changes = self.lives.advance(at_s);
                self.follow(&changes, at_s);
            }
            Turn::Other if self.fault_s() <= at_s => self.break_something(at_s),
            Turn::Other if self.sync_s() <= at_s => self.sync(at_s),
            Turn::Other if self.next_scrape_s <= at_s => self.scrape(at_s),
            Turn::Other => self.close_window(at_s),
        }
    }

    pub(super) fn server(&self, id: u64) -> Option<usize> {
        self.servers.binary_search_by_key(&id, |server| server.id).ok()
    }

    pub(super) fn pass_time(&mut self, now_s: f64) {
        let passed_s = greater(now_s - self.last_s, 0.0);
        let (placed, ready) = self.placed;
        self.replica_s.0 += from_count(placed) * passed_s;
        self.replica_s.1 += from_count(placed - ready) * passed_s;
        self.last_s = greater(now_s, self.last_s);
    }

    pub(super) fn arrive(&mut self, now_s: f64) {
        let Some(request) = self.next.take() else { return };
        self.next = self.incoming.next();
        self.offered += 1;
        self.recorder.arrived(&request);
        self.last_arrival_s = now_s;
        self.window.offered += 1;
        if request.final_tokens() > self.fleet.setup.engine.kv_capacity_tokens {
            self.recorder.rejected(&request);
            self.window.rejected += 1;
            return;
        }
        self.in_system += 1;
        let waiting = Waiting { request, since_s: request.arrival_s, cached_tokens: 0 };
        if self.is_deferrable(&request) {
            if self.fleet.deferral.is_some_and(|deferral| self.deferrable >= deferral.at_once) {
                self.deferred.push_back(waiting);
                return;
            }
            self.deferrable += 1;
        }
        self.enter(waiting, now_s);
    }

    fn is_deferrable(&self, request: &Request) -> bool {
        self.fleet.deferral.is_some_and(|deferral| deferral.class == request.class)
    }

    /// A request comes to the router.
    fn enter(&mut self, waiting: Waiting, now_s: f64) {
        // Nobody overtakes those who wait already.
        if !self.line.is_empty() || !self.send(waiting, now_s) {
            self.line.push_back(waiting);
        }
    }

    /// How the prompt begins, if as others do.
    fn prefix(&self, request: &Request) -> Option<SharedPrefix> {
        let RequestSource::Mixed(mix) = self.fleet.setup.workload.source.whole() else {
            return None;
        };
        mix.classes.get(request.class as usize)?.shared_prefix
    }

    /// Send a request to a replica; whether one took it.
    fn send(&mut self, mut waiting: Waiting, now_s: f64) -> bool {
        let prefix = self.prefix(&waiting.request);
        let (open, servers) = (&self.open, &self.servers);
        let seat = |index: usize| {
            let server = &servers[open[index]];
            (server.id, &server.engine)
        };
        let group = prefix.map(|prefix| prefix.group);
        let Some(chosen) = self.routing.choose(open.len(), seat, &waiting.request, group) else {
            return false;
        };
        let at = open[chosen];
        let server = &mut self.servers[at];
        waiting.cached_tokens = if self.part.brings_caches {
            waiting.request.input_tokens
        } else {
            prefix.map_or(0, |prefix| server.use_prefix(prefix, self.fleet.cached_prefixes))
        };
        server.engine.arrive(waiting, now_s);
        server.routed += 1;
        self.plan(at);
        true
    }

    /// Send those who wait, in their order, as long as somebody takes them.
    fn send_waiting(&mut self, now_s: f64) {
        while let Some(&waiting) = self.line.front() {
            if !self.send(waiting, now_s) {
                return;
            }
            self.line.pop_front();
        }
    }

    /// Note when an engine is to be looked at next.
    pub(super) fn plan(&mut self, at: usize) {
        let server = &mut self.servers[at];
        server.version += 1;
        if let Some(at_s) = server.engine.next_s() {
            self.due.push(Reverse(Due { at_s, id: server.id, version: server.version }));
        }
    }

    fn advance_engine(&mut self) {
        let Some(Reverse(Due { at_s, id, .. })) = self.due.pop() else { return };
        let Some(at) = self.server(id) else { return };
        let mut finished = std::mem::take(&mut self.finished);
        self.servers[at].engine.advance(&self.model, &mut self.recorder, &mut finished);
        self.plan(at);
        for ended in &finished {
            if self.fleet.keeps_samples {
                self.servers[at].counters.ended(ended);
            }
            self.count(ended);
        }
        self.undefer(at_s);
        let has_ended = !finished.is_empty();
        let hands_over = self.part.hand_over(id, &finished);
        finished.clear();
        self.finished = finished;
        if !hands_over {
            self.end_drained(id, at_s);
        }
        if has_ended && self.routing.router() == Router::SharedQueue {
            self.send_waiting(at_s);
        }
    }

    /// Let those of the deferred class come whose turn it is.
    fn undefer(&mut self, now_s: f64) {
        let Some(deferral) = self.fleet.deferral else { return };
        while self.deferrable < deferral.at_once
            && let Some(waiting) = self.deferred.pop_front()
        {
            self.deferrable += 1;
            self.enter(waiting, now_s);
        }
    }

    fn count(&mut self, ended: &Finished) {
        self.recorder.finished(ended);
        self.in_system -= 1;
        self.deferrable -= u64::from(self.is_deferrable(&ended.request));
        let Request { arrival_s, input_tokens, output_tokens, .. } = ended.request;
        let ttft_s = ended.first_token_s - arrival_s;
        let gaps = from_count(output_tokens.saturating_sub(1).max(1));
        let tpot_s = (ended.finish_s - ended.first_token_s) / gaps;
        self.totals.answered += 1.0;
        self.totals.input_tokens += input_tokens as f64;
        self.totals.output_tokens += output_tokens as f64;
        self.totals.ttft_s += ttft_s;
        self.totals.tpot_s += tpot_s;
        self.window.served += 1;
        self.window.ttft.record(ttft_s);
        let slo = self.fleet.setup.slo_of(&ended.request);
        self.window.slo_met += u64::from(slo.is_met(ttft_s, tpot_s));
    }

    /// Let the servers follow the lives of their replicas.
    pub(super) fn follow(&mut self, changes: &[Change], now_s: f64) {
        for &Change { id, stage, at_s } in changes {
            match stage {
                Stage::Ready => {
                    self.breakdowns.of_replica(id, at_s);
                    let engine = Fed::new(self.fleet.setup.engine, at_s);
                    let server = Server::new(id, engine, at_s);
                    let at = self.servers.partition_point(|other| other.id < id);
                    self.servers.insert(at, server);
                }
                Stage::Draining => self.drain(id, now_s),
                Stage::Gone => self.lose(id, now_s),
                Stage::Decided | Stage::Starting(_) => {}
            }
        }
        self.part.changes += 1;
        self.breakdowns.of_nodes(self.lives.replicas(), now_s);
        let placed = self.lives.count(|stage| stage > Stage::Decided) as u64;
        let ready = self.lives.count(|stage| stage == Stage::Ready) as u64;
        self.placed = (placed, ready);
        self.peak_ready = self.peak_ready.max(ready as u32);
        self.open.clear();
        let places = self.servers.iter().enumerate().filter(|(_, server)| !server.is_draining);
        self.open.extend(places.map(|(at, _)| at));
        self.send_waiting(now_s);
        self.life_next_s = self.lives.next_s().unwrap_or(f64::INFINITY);
    }

    fn drain(&mut self, id: u64, now_s: f64) {
        let Some(at) = self.server(id) else { return };
        self.servers[at].is_draining = true;
        self.end_drained(id, now_s);
    }

    /// A draining replica that has nothing left to do is gone.
    pub(in crate::fleet) fn end_drained(&mut self, id: u64, now_s: f64) {
        let Some(at) = self.server(id) else { return };
        let Server { is_draining, version, sends_until_s, .. } = self.servers[at];
        if !is_draining || self.servers[at].engine.in_flight() > 0 {
            return;
        }
        if sends_until_s > now_s {
            self.due.push(Reverse(Due { at_s: sends_until_s, id, version }));
            return;
        }
        let changes = self.lives.remove(id, now_s);
        self.follow(&changes, now_s);
    }

    /// A replica is gone; what it still had goes to others, before those who wait.
    fn lose(&mut self, id: u64, now_s: f64) {
        let Some(at) = self.server(id) else { return };
        let server = self.servers.remove(at);
        self.cached_tokens += server.engine.cached_tokens();
        let orphans = server.engine.lose(now_s, &mut self.recorder);
        self.restarted += orphans.len() as u64;
        if self.part.brings_caches {
            self.give_back(&orphans, now_s);
            return;
        }
        for orphan in orphans.into_iter().rev() {
            self.line.push_front(orphan);
        }
    }

    fn close_window(&mut self, now_s: f64) {
        self.next_window_s = now_s + self.fleet.window_s;
        let mut window = std::mem::replace(&mut self.window, FleetWindow::empty(now_s));
        let capacity = from_count(self.fleet.setup.engine.kv_capacity_tokens);
        let (mut sum, mut most, mut ready) = (0.0, 0.0, 0.0);
        window.deferred = self.deferred.len() as u64;
        window.waiting = self.line.len() as u64 + window.deferred;
        for server in &self.servers {
            window.waiting += server.engine.waiting();
            window.running += server.engine.running();
            if !server.is_draining {
                let usage = from_count(server.engine.kv_tokens()) / capacity;
                sum += usage;
                most = greater(most, usage);
                ready += 1.0;
            }
        }
        window.kv_usage = (if ready > 0.0 { sum / ready } else { 0.0 }, most);
        for replica in self.lives.replicas() {
            let state = match replica.stage {
                Stage::Decided => 0,
                Stage::Starting(_) => 1,
                Stage::Ready => 2,
                Stage::Draining | Stage::Gone => 3,
            };
            window.replicas[state] += 1;
        }
        window.desired = self.desired;
        self.windows.push(window);
    }

    /// What happened.
    #[must_use]
    pub fn finish(mut self) -> LiveRun {
        let end_s = self.last_s;
        self.close_window(end_s);
        let cached = self.servers.iter().map(|server| server.engine.cached_tokens());
        let cached_tokens = self.cached_tokens + cached.sum::<u64>();
        let mut total = self.recorder.finish(self.in_system);
        total.cached_tokens = cached_tokens;
        let (decided, _) = self.lives.decided_and_gone();
        let happened = self.struck.iter().map(|struck| (struck.at_s, struck.fault));
        LiveRun {
            faults: happened.chain(self.faults).collect(),
            faults_struck: self.struck.iter().map(|struck| struck.has_struck).collect(),
            faults_restarted: self.struck.iter().map(|struck| struck.restarted).collect(),
            returned: self.part.returned,
            events: self.events,
            samples: self.samples,
            total,
            windows: self.windows,
            end_s,
            replica_s: self.replica_s.0,
            unready_s: self.replica_s.1,
            node_s: self.lives.nodes().node_s(end_s),
            gpus_per_node: self.fleet.nodes.gpus_per_node,
            gpus_per_replica: self.fleet.nodes.gpus_per_replica,
            decided,
            peak_ready: self.peak_ready,
            restarted: self.restarted,
            provisioned: self.lives.provisioned(),
        }
    }
}
