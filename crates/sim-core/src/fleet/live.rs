//! A fleet over time: full engines behind a router, started and drained as an autoscaler asks.
//!
//! ```text
//!   requests ──▶ router ──▶ engines ──▶ recorder ──▶ LiveRun
//!                  ▲           │ gauges, scraped every so often
//!                replicas ◀── autoscaler
//! ```
//!
//! One clock for all, from event to event. At equal times: arrivals, ends of steps, replicas that come
//! up or go, faults, the autoscaler, the scrape, the end of a window. An engine is looked at when its
//! steps change something, and not in between, so that the cost of a fleet is that of its events.
//!
//! A request that was on a replica that is lost goes to another from its beginning; its user waits.

use std::{cmp::Reverse, collections::BinaryHeap, collections::VecDeque};

use crate::{
    engine::{EngineBounds, Fed, Keep, Rules, Waiting, seen_until_s},
    float::{from_count, greater, lesser},
    measure::{Finished, Recorder},
    setup::{Setup, SetupError},
    step_time::StepModel,
    workload::{Request, RequestSource, Requests},
};

use super::{
    autoscale::{
        hpa::Phase,
        schedule::{Calendar, Floor},
    },
    life::{Change, Lives, Stage},
    nodes::NodePool,
    outcome::{FleetWindow, LiveRun},
    policy::{Controller, Gauges, Observed, PodView, Policy},
    router::{Router, Routing},
    start_up::StartUp,
};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The oldest ready replica is lost.
    ReplicaLoss,
    /// The node of the oldest ready replica is lost, with everybody on it.
    NodeLoss,
    /// No metric can be had for so many seconds.
    MetricOutage(f64),
}

/// A fleet and all that acts on it.
#[derive(Clone, Debug)]
pub struct LiveFleet {
    /// The whole traffic, and each replica's engine.
    pub setup: Setup,
    /// Who gets which request.
    pub router: Router,
    /// How many replicas there should be.
    pub policy: Policy,
    /// Floors by the clock, whatever the policy says.
    pub floors: Vec<Floor>,
    /// When in the week it begins.
    pub calendar: Calendar,
    /// How replicas start.
    pub start_up: StartUp,
    /// Where they run.
    pub nodes: NodePool,
    /// Replicas that are ready at the beginning.
    pub initial_replicas: u32,
    /// Time between two scrapes of the replicas in seconds.
    pub scrape_s: f64,
    /// Whether replicas that start count as idle in what is scraped, and not at all otherwise.
    pub counts_warming: bool,
    /// How long a draining replica may take, in seconds; what it then still has starts again.
    pub drain_grace_s: f64,
    /// Width of the windows of the results in seconds.
    pub window_s: f64,
    /// How long after the last arrival to go on for those that are not served, in seconds.
    pub patience_s: f64,
    /// What goes wrong, and when, in order of time.
    pub faults: Vec<(f64, Fault)>,
}

/// A replica that takes or has taken requests.
#[derive(Clone, Debug)]
struct Server {
    id: u64,
    engine: Fed,
    is_draining: bool,
    /// Tells events of now from those of before.
    version: u64,
    /// Requests routed to it, and what its counters were at the last scrape.
    routed: u64,
    scraped: Scraped,
    gauges: Option<Gauges>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Scraped {
    at_s: f64,
    routed: u64,
    tokens: u64,
    busy_s: f64,
}

/// A time at which an engine is to be looked at; times are ordered as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Due {
    at_s: f64,
    id: u64,
    version: u64,
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_s
            .total_cmp(&other.at_s)
            .then((self.id, self.version).cmp(&(other.id, other.version)))
    }
}

/// A fleet as it runs, to be advanced in slices: looking at it changes nothing.
#[derive(Debug)]
pub struct FleetSimulation {
    fleet: LiveFleet,
    model: StepModel,
    recorder: Recorder,
    requests: Requests,
    offered: u64,
    routing: Routing,
    controller: Controller,
    lives: Lives,
    life_next_s: f64,
    /// In order of decision.
    servers: Vec<Server>,
    /// Places of those that get requests.
    open: Vec<usize>,
    /// Replicas on a node, and those of them that are ready.
    placed: (u64, u64),
    due: BinaryHeap<Reverse<Due>>,
    /// Requests that no replica could take.
    line: VecDeque<Waiting>,
    queued_scraped: f64,
    finished: Vec<Finished>,
    faults: VecDeque<(f64, Fault)>,
    blind_until_s: f64,
    next_scrape_s: f64,
    next_window_s: f64,
    window: FleetWindow,
    windows: Vec<FleetWindow>,
    desired: i32,
    last_arrival_s: f64,
    tokens: (f64, f64, f64),
    in_system: u64,
    replica_s: (f64, f64),
    last_s: f64,
    peak_ready: u32,
    restarted: u64,
}

/// Simulate a fleet.
///
/// # Errors
/// A number outside its domain, or rules other than the reference.
pub fn simulate_live(fleet: &LiveFleet, keep: Keep) -> Result<LiveRun, SetupError> {
    let mut live = FleetSimulation::new(fleet.clone(), keep)?;
    while live.advance(u64::MAX) {}
    Ok(live.finish())
}

impl FleetSimulation {
    /// A fleet at its beginning.
    ///
    /// # Errors
    /// A number outside its domain, or rules other than the reference.
    pub fn new(fleet: LiveFleet, keep: Keep) -> Result<Self, SetupError> {
        let setup = &fleet.setup;
        setup.check()?;
        if !matches!(setup.rules, Rules::Reference) {
            return Err(SetupError::NoLiveRules);
        }
        for (field, value) in [("fleet.scrape", fleet.scrape_s), ("fleet.window", fleet.window_s)] {
            if !(value > 0.0 && value.is_finite()) {
                let requirement = "above 0 seconds";
                return Err(SetupError::OutOfDomain { field, value, requirement });
            }
        }
        if !(0.0..f64::INFINITY).contains(&fleet.patience_s) {
            let (field, value) = ("fleet.patience", fleet.patience_s);
            let requirement = "0 seconds or more, and finite";
            return Err(SetupError::OutOfDomain { field, value, requirement });
        }
        let model = StepModel::new(&setup.step_time);
        let requests = Requests::new(&setup.workload, setup.seed);
        let bounds = EngineBounds::new(&setup.engine, &model);
        let recorder =
            Recorder::new(setup.slo, bounds, requests.total(), keep.precision, keep.requests)
                .judging(&setup.workload);
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
        let routing = Routing::new(fleet.router, setup.seed);
        let mut live = Self {
            routing,
            controller: Controller::new(fleet.policy.clone(), floors, ready),
            faults: fleet.faults.iter().copied().collect(),
            next_scrape_s: fleet.scrape_s,
            next_window_s: fleet.window_s,
            fleet,
            model,
            recorder,
            requests,
            offered: 0,
            lives,
            life_next_s: f64::INFINITY,
            servers: Vec::new(),
            open: Vec::new(),
            placed: (0, 0),
            due: BinaryHeap::new(),
            line: VecDeque::new(),
            queued_scraped: 0.0,
            finished: Vec::new(),
            blind_until_s: f64::NEG_INFINITY,
            window: FleetWindow::empty(0.0),
            windows: Vec::new(),
            desired: ready,
            last_arrival_s: 0.0,
            tokens: (0.0, 0.0, 0.0),
            in_system: 0,
            replica_s: (0.0, 0.0),
            last_s: 0.0,
            peak_ready: 0,
            restarted: 0,
        };
        live.follow(&begun, 0.0);
        Ok(live)
    }

    /// Let up to `events` events happen; whether there is more.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// How many requests have come, and how many will in all.
    #[must_use]
    pub fn offered_of(&self) -> (u64, u64) {
        (self.offered, self.requests.total())
    }

    /// The next event; whether there is more.
    fn step(&mut self) -> bool {
        let arrival_s = self.requests.peek().map(|request| request.arrival_s);
        if arrival_s.is_none() && self.in_system == 0 {
            return false;
        }
        while let Some(Reverse(due)) = self.due.peek() {
            let is_current =
                self.server(due.id).is_some_and(|at| self.servers[at].version == due.version);
            if is_current {
                break;
            }
            self.due.pop();
        }
        let engine_s = self.due.peek().map_or(f64::INFINITY, |Reverse(due)| due.at_s);
        let fault_s = self.faults.front().map_or(f64::INFINITY, |&(at_s, _)| at_s);
        let others = [
            self.life_next_s,
            fault_s,
            self.controller.next_s(),
            self.next_scrape_s,
            self.next_window_s,
        ];
        let other_s = others.into_iter().fold(f64::INFINITY, lesser);
        if let Some(arrival_s) = arrival_s
            && arrival_s <= seen_until_s(engine_s)
            && arrival_s <= other_s
        {
            self.pass_time(arrival_s);
            self.arrive(arrival_s);
            return true;
        }
        if arrival_s.is_none()
            && lesser(engine_s, other_s) > self.last_arrival_s + self.fleet.patience_s
        {
            return false;
        }
        if engine_s <= other_s {
            self.pass_time(engine_s);
            self.advance_engine();
            return true;
        }
        self.pass_time(other_s);
        if self.life_next_s <= other_s {
            let changes = self.lives.advance(other_s);
            self.follow(&changes, other_s);
        } else if fault_s <= other_s {
            self.break_something(other_s);
        } else if self.controller.next_s() <= other_s {
            self.sync(other_s);
        } else if self.next_scrape_s <= other_s {
            self.scrape(other_s);
        } else {
            self.close_window(other_s);
        }
        true
    }

    fn server(&self, id: u64) -> Option<usize> {
        self.servers.binary_search_by_key(&id, |server| server.id).ok()
    }

    fn pass_time(&mut self, now_s: f64) {
        let passed_s = greater(now_s - self.last_s, 0.0);
        let (placed, ready) = self.placed;
        self.replica_s.0 += from_count(placed) * passed_s;
        self.replica_s.1 += from_count(placed - ready) * passed_s;
        self.last_s = greater(now_s, self.last_s);
    }

    fn arrive(&mut self, now_s: f64) {
        let Some(request) = self.requests.next() else { return };
        self.recorder.arrived(&request);
        self.last_arrival_s = now_s;
        self.offered += 1;
        self.window.offered += 1;
        if request.final_tokens() > self.fleet.setup.engine.kv_capacity_tokens {
            self.recorder.rejected(&request);
            self.window.rejected += 1;
            return;
        }
        self.in_system += 1;
        let waiting = Waiting { request, since_s: request.arrival_s };
        // Nobody overtakes those who wait already.
        if !self.line.is_empty() || !self.send(waiting, now_s) {
            self.line.push_back(waiting);
        }
    }

    /// Send a request to a replica; whether one took it.
    fn send(&mut self, waiting: Waiting, now_s: f64) -> bool {
        let (open, servers) = (&self.open, &self.servers);
        let engine = |index: usize| &servers[open[index]].engine;
        let Some(chosen) = self.routing.choose(open.len(), engine, &waiting.request) else {
            return false;
        };
        let at = open[chosen];
        let server = &mut self.servers[at];
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
    fn plan(&mut self, at: usize) {
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
            self.count(ended);
        }
        let has_ended = !finished.is_empty();
        finished.clear();
        self.finished = finished;
        if self.servers[at].is_draining && self.servers[at].engine.in_flight() == 0 {
            let changes = self.lives.remove(id, at_s);
            self.follow(&changes, at_s);
        }
        if has_ended && self.routing.router() == Router::SharedQueue {
            self.send_waiting(at_s);
        }
    }

    fn count(&mut self, ended: &Finished) {
        self.recorder.finished(ended);
        self.in_system -= 1;
        let Request { arrival_s, input_tokens, output_tokens, .. } = ended.request;
        self.tokens.0 += input_tokens as f64;
        self.tokens.1 += output_tokens as f64;
        self.tokens.2 += 1.0;
        let ttft_s = ended.first_token_s - arrival_s;
        let gaps = from_count(output_tokens.saturating_sub(1).max(1));
        let tpot_s = (ended.finish_s - ended.first_token_s) / gaps;
        self.window.served += 1;
        self.window.ttft.record(ttft_s);
        // A class has a target of its own.
        let slo = match self.fleet.setup.workload.source.whole() {
            RequestSource::Mixed(mix) => mix.classes.get(ended.request.class as usize),
            _ => None,
        }
        .map_or(self.fleet.setup.slo, |class| class.slo);
        self.window.slo_met += u64::from(slo.is_met(ttft_s, tpot_s));
    }

    /// Let the servers follow the lives of their replicas.
    fn follow(&mut self, changes: &[Change], now_s: f64) {
        for &Change { id, stage, at_s } in changes {
            match stage {
                Stage::Ready => {
                    let server = Server {
                        id,
                        engine: Fed::new(self.fleet.setup.engine, at_s),
                        is_draining: false,
                        version: 0,
                        routed: 0,
                        scraped: Scraped { at_s, ..Scraped::default() },
                        gauges: None,
                    };
                    let at = self.servers.partition_point(|other| other.id < id);
                    self.servers.insert(at, server);
                }
                Stage::Draining => self.drain(id, now_s),
                Stage::Gone => self.lose(id, now_s),
                Stage::Decided | Stage::Starting(_) => {}
            }
        }
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
        if self.servers[at].engine.in_flight() == 0 {
            let changes = self.lives.remove(id, now_s);
            self.follow(&changes, now_s);
        }
    }

    /// A replica is gone; what it still had goes to others, before those who wait.
    fn lose(&mut self, id: u64, now_s: f64) {
        let Some(at) = self.server(id) else { return };
        let server = self.servers.remove(at);
        let orphans = server.engine.lose(now_s, &mut self.recorder);
        self.restarted += orphans.len() as u64;
        for orphan in orphans.into_iter().rev() {
            self.line.push_front(orphan);
        }
    }

    fn break_something(&mut self, now_s: f64) {
        let Some((_, fault)) = self.faults.pop_front() else { return };
        let oldest = self.lives.replicas().iter().find(|replica| replica.stage == Stage::Ready);
        let changes = match (fault, oldest.copied()) {
            (Fault::MetricOutage(seconds), _) => {
                self.blind_until_s = greater(self.blind_until_s, now_s + seconds);
                return;
            }
            (Fault::ReplicaLoss, Some(replica)) => self.lives.remove(replica.id, now_s),
            (Fault::NodeLoss, Some(replica)) => match replica.node {
                Some(node) => self.lives.lose_node(node, now_s),
                None => return,
            },
            (_, None) => return,
        };
        self.follow(&changes, now_s);
    }

    fn sync(&mut self, now_s: f64) {
        let observed = self.observe(now_s);
        self.desired = self.controller.sync(&observed).max(0);
        let changes = self.lives.scale_to(self.desired as usize, now_s);
        self.follow(&changes, now_s);
    }

    fn observe(&self, now_s: f64) -> Observed {
        let pod = |replica: &super::life::Replica| {
            let gauges = match replica.stage {
                Stage::Ready | Stage::Draining => {
                    self.server(replica.id).and_then(|at| self.servers[at].gauges)
                }
                Stage::Starting(_) if self.fleet.counts_warming => {
                    Some(Gauges { at_s: now_s, ..Gauges::default() })
                }
                _ => None,
            };
            PodView {
                phase: if replica.node.is_some() { Phase::Running } else { Phase::Pending },
                is_deleted: replica.stage == Stage::Draining,
                is_ready: replica.stage == Stage::Ready,
                since_s: replica.since_s,
                start_s: replica.node.map(|_| replica.decided_s),
                gauges,
            }
        };
        let (input, output, count) = self.tokens;
        let mean = |sum: f64| if count > 0.0 { sum / count } else { 0.0 };
        Observed {
            replicas: self.lives.wanted() as i32,
            pods: self.lives.replicas().iter().map(pod).collect(),
            queued: self.queued_scraped,
            in_system: from_count(self.in_system),
            mean_tokens: (mean(input), mean(output)),
            is_blind: now_s < self.blind_until_s,
        }
    }

    fn scrape(&mut self, now_s: f64) {
        self.next_scrape_s = now_s + self.fleet.scrape_s;
        if now_s < self.blind_until_s {
            return;
        }
        self.queued_scraped = from_count(self.line.len() as u64);
        let kv_capacity = from_count(self.fleet.setup.engine.kv_capacity_tokens);
        for server in &mut self.servers {
            let engine = &server.engine;
            let now = Scraped {
                at_s: now_s,
                routed: server.routed,
                tokens: engine.generated_tokens(),
                busy_s: engine.busy_s(now_s),
            };
            let before = server.scraped;
            let passed_s = now_s - before.at_s;
            let rate = |amount: f64| if passed_s > 0.0 { amount / passed_s } else { 0.0 };
            server.gauges = Some(Gauges {
                at_s: now_s,
                running: from_count(engine.running()),
                waiting: from_count(engine.waiting()),
                kv_tokens: from_count(engine.kv_tokens()),
                kv_capacity,
                request_rate: rate(from_count(now.routed - before.routed)),
                token_rate: rate(from_count(now.tokens - before.tokens)),
                busy: lesser(rate(now.busy_s - before.busy_s), 1.0),
            });
            server.scraped = now;
        }
    }

    fn close_window(&mut self, now_s: f64) {
        self.next_window_s = now_s + self.fleet.window_s;
        let mut window = std::mem::replace(&mut self.window, FleetWindow::empty(now_s));
        let capacity = from_count(self.fleet.setup.engine.kv_capacity_tokens);
        let (mut sum, mut most, mut ready) = (0.0, 0.0, 0.0);
        window.waiting = self.line.len() as u64;
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
        let (decided, _) = self.lives.decided_and_gone();
        LiveRun {
            total: self.recorder.finish(self.in_system),
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
