//! Two pools as they run, from event to event.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use crate::{
    engine::{EngineBounds, Keep, seen_until_s},
    fleet::{
        Transfers,
        live::{FleetSimulation, Part, Samples, TrafficClock},
        outcome::{FleetWindow, LiveRun},
    },
    float::{from_count, greater, lesser},
    measure::{Distribution, Finished, Recorder},
    setup::SetupError,
    step_time::StepModel,
    workload::{Request, Requests},
};

use super::{PooledFleet, PooledRun, Scaling};

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Journey {
    /// As the user sent it.
    request: Request,
    start_s: f64,
    first_token_s: f64,
}

/// A cache on its way; in order of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Transfer {
    at_s: f64,
    /// Whose it is.
    index: u64,
    /// The prefill replica, until the last byte is sent; then only the latency is left.
    from: Option<u64>,
    /// When its first token came.
    since_s: f64,
}

impl Eq for Transfer {}

impl PartialOrd for Transfer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Transfer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.index.cmp(&other.index))
    }
}

/// Two pools as they run, to be advanced in slices: looking at them changes nothing.
#[derive(Debug)]
pub struct PooledSimulation {
    fleet: PooledFleet,
    prefill: FleetSimulation,
    decode: FleetSimulation,
    requests: Requests,
    traffic: TrafficClock,
    next: Option<Request>,
    /// Of those that have come and have not ended, by their numbers.
    journeys: BTreeMap<u64, Journey>,
    under_way: BinaryHeap<Reverse<Transfer>>,
    transfers: Transfers,
    lost_transfers: u64,
    recorder: Recorder,
    windows: Vec<FleetWindow>,
    last_arrival_s: f64,
    last_s: f64,
    /// Time of requests on their way from one pool to the other, in seconds.
    under_way_s: f64,
    restarted: u64,
    events: u64,
}

impl PooledSimulation {
    /// Two pools at their beginning.
    ///
    /// # Errors
    /// As [`PooledFleet::check`], or more replicas at the beginning than have room.
    pub fn new(fleet: PooledFleet, keep: Keep) -> Result<Self, SetupError> {
        fleet.check()?;
        let setup = &fleet.prefill.setup;
        let mut requests = Requests::new(&setup.workload, setup.seed);
        let total = requests.total();
        let bounds = EngineBounds::new(&setup.engine, &StepModel::new(&setup.step_time));
        let recorder = Recorder::new(setup.slo, bounds, total, keep).judging(&setup.workload);
        let traffic = TrafficClock::new(&fleet.prefill.faults);
        let next = requests.next().map(|request| traffic.moved(request));
        let of_pool = Keep { requests: false, ..keep };
        let led = |is_prefill| match fleet.scaling {
            Scaling::Apart => false,
            Scaling::AsOne { by_prefill, .. } => by_prefill != is_prefill,
        };
        let part =
            |is_led| Part { users: Some(total), is_led, hands_over: true, ..Part::default() };
        let prefill = FleetSimulation::of_part(fleet.prefill.clone(), part(led(true)), of_pool)?;
        let brings = Part { brings_caches: true, ..part(led(false)) };
        let mut decode = fleet.decode.clone();
        decode.setup = setup.clone();
        let decode = FleetSimulation::of_part(decode, brings, of_pool)?;
        let (times, waits) = (Distribution::new(keep.precision), Distribution::new(keep.precision));
        Ok(Self {
            prefill,
            decode,
            requests,
            traffic,
            next,
            journeys: BTreeMap::new(),
            under_way: BinaryHeap::new(),
            transfers: Transfers { bytes: 0.0, busy_s: 0.0, times, waits },
            lost_transfers: 0,
            recorder,
            windows: Vec::new(),
            last_arrival_s: 0.0,
            last_s: 0.0,
            under_way_s: 0.0,
            restarted: 0,
            events: 0,
            fleet,
        })
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

    fn step(&mut self) -> bool {
        if self.next.is_none() && self.journeys.is_empty() {
            return false;
        }
        let arrival_s = self.next.map_or(f64::INFINITY, |request| request.arrival_s);
        let transfer_s =
            self.under_way.peek().map_or(f64::INFINITY, |Reverse(transfer)| transfer.at_s);
        let (prefill_s, decode_s) = (self.prefill.next_event_s(), self.decode.next_event_s());
        let pools_s = lesser(prefill_s, decode_s);
        let at_s = lesser(lesser(arrival_s, transfer_s), pools_s);
        if self.next.is_none() && at_s > self.last_arrival_s + self.fleet.prefill.patience_s {
            return false;
        }
        self.events += 1;
        self.last_s = greater(self.last_s, at_s);
        // Whoever comes at the end of a step is seen by the next.
        if arrival_s <= transfer_s && arrival_s <= seen_until_s(pools_s) {
            self.arrive();
        } else if transfer_s <= seen_until_s(pools_s) {
            self.land();
        } else if prefill_s <= decode_s {
            self.prefill.take_next();
            self.send_caches(prefill_s);
            self.follow_the_leader(prefill_s);
        } else {
            self.decode.take_next();
            self.answer();
            self.begin_again(decode_s);
            self.follow_the_leader(decode_s);
        }
        true
    }

    /// The window of now.
    fn window(&mut self) -> &mut FleetWindow {
        let at = self.prefill.windows().len();
        let width_s = self.fleet.prefill.window_s;
        while self.windows.len() <= at {
            let start_s = self.windows.len() as f64 * width_s;
            self.windows.push(FleetWindow::empty(start_s));
        }
        &mut self.windows[at]
    }

    fn arrive(&mut self) {
        let Some(request) = self.next.take() else { return };
        self.next = self.requests.next().map(|request| self.traffic.moved(request));
        self.last_arrival_s = request.arrival_s;
        self.recorder.arrived(&request);
        self.window().offered += 1;
        if request.final_tokens() > self.fleet.prefill.setup.engine.kv_capacity_tokens {
            self.recorder.rejected(&request);
            self.window().rejected += 1;
            return;
        }
        let journey = Journey { request, start_s: f64::NAN, first_token_s: f64::NAN };
        self.journeys.insert(request.index, journey);
        self.prefill.hand(Request { output_tokens: 1, ..request });
    }

    /// Send the caches of the prompts that were completed.
    fn send_caches(&mut self, now_s: f64) {
        let mut ended = self.prefill.take_ended();
        // Prompts that one step completes are sent in the order in which they came.
        ended.sort_by_key(|(_, ended)| ended.request.index);
        for (replica, ended) in ended {
            let index = ended.request.index;
            let Some(journey) = self.journeys.get_mut(&index) else { continue };
            journey.start_s = ended.start_s;
            journey.first_token_s = ended.first_token_s;
            let Journey { request, .. } = *journey;
            if request.output_tokens == 1 {
                self.end(index, &Finished { request, ..ended });
            } else {
                let bytes = self.fleet.link.kv_bytes_per_token * from_count(request.input_tokens);
                let sending_s = bytes / self.fleet.link.bytes_per_s;
                let since_s = ended.finish_s;
                let sent = self.prefill.send_cache(replica, sending_s, since_s);
                let (begin_s, at_s) = sent.unwrap_or((since_s, since_s));
                self.transfers.bytes += bytes;
                self.transfers.busy_s += sending_s;
                self.transfers.waits.record(begin_s - since_s);
                let transfer = Transfer { at_s, index, from: Some(replica), since_s };
                self.under_way.push(Reverse(transfer));
            }
            self.prefill.end_drained(replica, now_s);
        }
    }

    /// The next cache has been sent, or is there.
    fn land(&mut self) {
        let Some(Reverse(transfer)) = self.under_way.pop() else { return };
        let Transfer { at_s, index, from, since_s } = transfer;
        if let Some(replica) = from {
            if self.prefill.has_replica(replica) {
                let at_s = at_s + self.fleet.link.latency_s;
                self.under_way.push(Reverse(Transfer { at_s, from: None, ..transfer }));
                // It may have waited for that alone.
                self.prefill.end_drained(replica, transfer.at_s);
            } else {
                self.lost_transfers += 1;
                self.under_way_s += at_s - since_s;
                self.go_back(index, at_s);
            }
            return;
        }
        self.under_way_s += at_s - since_s;
        self.transfers.times.record(at_s - since_s);
        let Some(&Journey { request, .. }) = self.journeys.get(&index) else { return };
        self.decode.hand(Request {
            arrival_s: at_s,
            // The first token, whose keys and values the decode replica computes itself.
            input_tokens: request.input_tokens + 1,
            output_tokens: request.output_tokens - 1,
            ..request
        });
    }

    /// A request begins again with its prompt.
    fn go_back(&mut self, index: u64, now_s: f64) {
        let Some(&Journey { request, .. }) = self.journeys.get(&index) else { return };
        self.restarted += 1;
        self.prefill.hand(Request { arrival_s: now_s, output_tokens: 1, ..request });
    }

    /// Let those begin again whose caches were lost with their decode replica.
    fn begin_again(&mut self, now_s: f64) {
        for request in self.decode.take_returned() {
            self.go_back(request.index, now_s);
        }
    }

    /// Tell of those that got their last token in the decode pool.
    fn answer(&mut self) {
        for (replica, ended) in self.decode.take_ended() {
            let index = ended.request.index;
            let Some(&Journey { request, start_s, first_token_s }) = self.journeys.get(&index)
            else {
                continue;
            };
            self.recorder.gap(ended.first_token_s - first_token_s);
            let finish_s = ended.finish_s;
            self.end(index, &Finished { request, start_s, first_token_s, finish_s });
            self.decode.end_drained(replica, finish_s);
        }
    }

    fn end(&mut self, index: u64, finished: &Finished) {
        self.journeys.remove(&index);
        self.recorder.finished(finished);
        let Finished { request, first_token_s, finish_s, .. } = *finished;
        let ttft_s = first_token_s - request.arrival_s;
        let gaps = from_count(request.output_tokens.saturating_sub(1).max(1));
        let slo = self.fleet.prefill.setup.slo_of(&request);
        let is_met = slo.is_met(ttft_s, (finish_s - first_token_s) / gaps);
        let window = self.window();
        window.served += 1;
        window.slo_met += u64::from(is_met);
        window.ttft.record(ttft_s);
    }

    /// Where both pools are scaled as one, the other has as many units as the leader asks for.
    fn follow_the_leader(&mut self, now_s: f64) {
        let Scaling::AsOne { by_prefill, unit } = self.fleet.scaling else { return };
        let (leader, follower, each) = if by_prefill {
            (&mut self.prefill, &mut self.decode, unit)
        } else {
            (&mut self.decode, &mut self.prefill, (unit.1, unit.0))
        };
        let units = leader.desired().max(0).unsigned_abs().div_ceil(each.0);
        let (mine, others) = ((units * each.0) as i32, (units * each.1) as i32);
        if leader.desired() != mine {
            leader.ask(mine, now_s);
        }
        if follower.desired() != others {
            follower.ask(others, now_s);
            self.begin_again(now_s);
        }
    }

    /// What happened.
    #[must_use]
    pub fn finish(mut self) -> PooledRun {
        let end_s = self.last_s;
        self.prefill.pass_until(end_s);
        self.decode.pass_until(end_s);
        for Reverse(transfer) in &self.under_way {
            self.under_way_s += greater(end_s - transfer.since_s, 0.0);
        }
        let mut users = self.recorder.finish(self.journeys.len() as u64);
        let (prefill, decode) = (self.prefill.finish(), self.decode.finish());
        for run in [&prefill.total, &decode.total] {
            users.steps += run.steps;
            users.slot_steps += run.slot_steps;
            users.step_times.busy_s += run.step_times.busy_s;
            users.step_times.compute_bound_s += run.step_times.compute_bound_s;
            users.in_system_request_s += run.in_system_request_s;
            users.running_request_s += run.running_request_s;
            users.peak_running = users.peak_running.max(run.peak_running);
            users.summed_peak_running += run.peak_running;
            users.peak_kv_tokens = users.peak_kv_tokens.max(run.peak_kv_tokens);
            users.itl.merge(&run.itl);
        }
        // A cache on its way is in the system, too.
        users.in_system_request_s += self.under_way_s;
        users.cached_tokens = prefill.total.cached_tokens;
        let mut windows = self.windows;
        let pairs = prefill.windows.iter().zip(&decode.windows);
        while windows.len() < prefill.windows.len() {
            windows.push(FleetWindow::empty(windows.len() as f64 * self.fleet.prefill.window_s));
        }
        for (window, (first, second)) in windows.iter_mut().zip(pairs) {
            window.start_s = first.start_s;
            window.add_replicas(first);
            window.add_replicas(second);
        }
        let restarted = prefill.restarted + self.restarted;
        let users = of_both((&prefill, &decode), users, windows, (end_s, restarted, self.events));
        let (transfers, lost_transfers) = (self.transfers, self.lost_transfers);
        PooledRun { users, prefill, decode, transfers, lost_transfers }
    }
}

/// The run of both pools, with what users saw.
fn of_both(
    (prefill, decode): (&LiveRun, &LiveRun),
    total: crate::measure::Run,
    windows: Vec<FleetWindow>,
    (end_s, restarted, events): (f64, u64, u64),
) -> LiveRun {
    let both = |of: fn(&LiveRun) -> f64| of(prefill) + of(decode);
    let most = |window: &FleetWindow| window.replicas[2];
    let mut faults: Vec<_> = prefill
        .faults
        .iter()
        .zip(0_usize..)
        .map(|(fault, index)| (*fault, prefill, index))
        .chain(decode.faults.iter().zip(0_usize..).map(|(fault, index)| (*fault, decode, index)))
        .collect();
    faults.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let happened = faults.iter().filter(|(_, run, index)| *index < run.faults_struck.len());
    let struck = |(_, run, index): &(_, &LiveRun, usize)| run.faults_struck[*index];
    let begun_again = |(_, run, index): &(_, &LiveRun, usize)| run.faults_restarted[*index];
    LiveRun {
        end_s,
        replica_s: both(|run| run.replica_s),
        unready_s: both(|run| run.unready_s),
        node_s: both(|run| run.node_s),
        gpus_per_node: prefill.gpus_per_node,
        gpus_per_replica: prefill.gpus_per_replica,
        decided: prefill.decided + decode.decided,
        peak_ready: windows.iter().map(most).max().unwrap_or(0),
        restarted,
        provisioned: prefill.provisioned.and(decode.provisioned),
        faults_struck: happened.clone().map(struck).collect(),
        faults_restarted: happened.map(begun_again).collect(),
        faults: faults.iter().map(|(fault, _, _)| *fault).collect(),
        returned: 0,
        samples: Samples::default(),
        events: events + prefill.events + decode.events,
        total,
        windows,
    }
}
