//! Clients that wait, give up and try again, before an engine whose line has an overload policy.
//!
//! What clients do happens at its own moment, between the engine's steps: one event after the other
//! in order of time; at the same moment first sends before retries before clients that give up. The
//! engine looks at the line between its steps. Memory grows with the number of attempts.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, VecDeque},
};

use crate::{
    clients::{
        AttemptCounts, Awaited, ClientSpec, GivenUpWork, RETRIES_SAVED, SessionCounts,
        retry_wait_s, throttle_point,
    },
    float::{greater, lesser},
    measure::{Distribution, Finished, Outcome, Recorder},
    workload::Request,
};

use super::{
    attended::{AttendedSetup, Senders},
    inbox::{Aborted, Inbox},
    waiting_line::{OverloadPolicy, Taken, Waiting, WaitingLine},
};

/// What a user wants.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// As it was meant to be sent first; the index counts in order of sending.
    request: Request,
    /// What its draws belong to.
    key: u64,
    /// Attempts begun.
    attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Waiting,
    Running(u32),
    /// It has left the server.
    Gone,
}

/// One attempt that was sent.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    wanted: usize,
    sent_s: f64,
    place: Place,
    /// How many steps had been taken when its first token came.
    first_token_step: Option<u64>,
    given_up: bool,
}

/// A place in the line.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    attempt: usize,
    sent_s: f64,
    rank: usize,
}

impl Waiting for Ticket {
    fn since_s(&self) -> f64 {
        self.sent_s
    }

    fn rank(&self) -> usize {
        self.rank
    }
}

/// A retry to come, ordered by time and then by request.
#[derive(Clone, Copy, Debug)]
struct Retry {
    at_s: f64,
    wanted: usize,
}

impl PartialEq for Retry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Retry {}

impl PartialOrd for Retry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Retry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.wanted.cmp(&other.wanted))
    }
}

/// The account of adaptive throttling.
#[derive(Clone, Debug, Default)]
struct Window {
    /// When attempts ended, and whether they were accepted.
    ended: VecDeque<(f64, bool)>,
    accepted: u64,
}

impl Window {
    fn add(&mut self, now_s: f64, accepted: bool) {
        self.ended.push_back((now_s, accepted));
        self.accepted += u64::from(accepted);
    }

    fn rejection_probability(&mut self, now_s: f64, k: f64, window_s: f64) -> f64 {
        while let Some(&(ended_s, accepted)) = self.ended.front()
            && ended_s <= now_s - window_s
        {
            self.ended.pop_front();
            self.accepted -= u64::from(accepted);
        }
        let requests = self.ended.len() as f64;
        greater(0.0, (requests - k * self.accepted as f64) / (requests + 1.0))
    }
}

/// The clients and the line of one engine.
#[derive(Clone, Debug)]
pub(super) struct AttendedLine {
    spec: ClientSpec,
    overload: OverloadPolicy,
    seed: u64,
    kv_capacity_tokens: u64,
    /// The line's queue by class.
    ranks: Vec<usize>,
    senders: Senders,
    wanted: Vec<Wanted>,
    attempts: Vec<Attempt>,
    line: WaitingLine<Ticket>,
    retries: BinaryHeap<Reverse<Retry>>,
    /// Attempts that may be given up, in order of sending and so in order of giving up.
    impatient: VecDeque<usize>,
    /// Running attempts that were given up and are still to be freed.
    to_free: VecDeque<usize>,
    /// When whoever is next and does not fit will have waited too long.
    head_expires_s: f64,
    extra_work_s: f64,
    /// What the retry budget has saved.
    saved_retries: f64,
    window: Window,
    counts: AttemptCounts,
    ttft_from_send: Distribution,
}

impl AttendedLine {
    pub(super) fn new(setup: &AttendedSetup, recorder: &Recorder) -> Self {
        Self {
            spec: setup.clients,
            overload: setup.overload,
            seed: setup.setup.seed,
            kv_capacity_tokens: setup.setup.engine.kv_capacity_tokens,
            ranks: setup.ranks(),
            senders: Senders::new(setup),
            wanted: Vec::new(),
            attempts: Vec::new(),
            line: WaitingLine::new(setup.overload),
            retries: BinaryHeap::new(),
            impatient: VecDeque::new(),
            to_free: VecDeque::new(),
            head_expires_s: f64::INFINITY,
            extra_work_s: 0.0,
            saved_retries: 0.0,
            window: Window::default(),
            counts: AttemptCounts::default(),
            ttft_from_send: Distribution::new(recorder.precision()),
        }
    }

    /// What became of the attempts, their times from being sent to the first token, and what became
    /// of the sessions, if there are any.
    pub(super) fn into_counts(self) -> (AttemptCounts, Distribution, Option<SessionCounts>) {
        let sessions = self.senders.sessions();
        (self.counts, self.ttft_from_send, sessions)
    }

    fn next_retry_s(&self) -> f64 {
        self.retries.peek().map_or(f64::INFINITY, |Reverse(retry)| retry.at_s)
    }

    fn next_giving_up_s(&self) -> f64 {
        match (self.spec.patience, self.impatient.front()) {
            (Some(patience), Some(&attempt)) => self.attempts[attempt].sent_s + patience.after_s,
            _ => f64::INFINITY,
        }
    }

    fn next_event_s(&self) -> f64 {
        lesser(self.senders.next_s(), lesser(self.next_retry_s(), self.next_giving_up_s()))
    }

    /// Let the next event happen.
    fn happen(&mut self, recorder: &mut Recorder) {
        let now_s = self.next_event_s();
        if self.senders.next_s() <= now_s {
            self.send_first(now_s, recorder);
        } else if self.next_retry_s() <= now_s {
            if let Some(Reverse(retry)) = self.retries.pop() {
                self.attempt(retry.wanted, now_s, recorder);
            }
        } else if let Some(attempt) = self.impatient.pop_front() {
            self.lose_patience(attempt, now_s, recorder);
        }
    }

    fn send_first(&mut self, now_s: f64, recorder: &mut Recorder) {
        let Some((key, drawn)) = self.senders.send() else { return };
        let request = Request { index: self.wanted.len() as u64, ..drawn };
        recorder.arrived(&request);
        self.wanted.push(Wanted { request, key, attempts: 0 });
        if let Some(budget) = self.spec.retries.and_then(|retries| retries.budget) {
            self.saved_retries = lesser(RETRIES_SAVED, self.saved_retries + budget);
        }
        self.attempt(self.wanted.len() - 1, now_s, recorder);
    }

    /// Begin an attempt, and send it unless the client thinks better of it.
    fn attempt(&mut self, index: usize, now_s: f64, recorder: &mut Recorder) {
        let wanted = &mut self.wanted[index];
        let number = wanted.attempts;
        wanted.attempts += 1;
        let Wanted { request, key, .. } = *wanted;
        if let Some(throttle) = self.spec.throttle {
            let p = self.window.rejection_probability(now_s, throttle.k, throttle.window_s);
            if p > 0.0 && throttle_point(self.seed, key, number) <= p {
                self.counts.throttled += 1;
                return self.unanswered(index, Outcome::Throttled, now_s, recorder);
            }
        }
        self.counts.sent += 1;
        if request.final_tokens() > self.kv_capacity_tokens {
            // No retry could help.
            self.counts.rejected += 1;
            self.extra_work_s += self.overload.rejection_cost_s;
            if self.spec.throttle.is_some() {
                self.window.add(now_s, false);
            }
            return self.end_unanswered(index, Outcome::Rejected, now_s, recorder);
        }
        let rank = self.ranks.get(request.class as usize).copied().unwrap_or(0);
        let attempt = self.attempts.len();
        if self.line.join(Ticket { attempt, sent_s: now_s, rank }).is_err() {
            self.counts.rejected += 1;
            self.extra_work_s += self.overload.rejection_cost_s;
            return self.unanswered(index, Outcome::Rejected, now_s, recorder);
        }
        self.attempts.push(Attempt {
            wanted: index,
            sent_s: now_s,
            place: Place::Waiting,
            first_token_step: None,
            given_up: false,
        });
        if self.spec.patience.is_some() {
            self.impatient.push_back(attempt);
        }
    }

    /// A client has waited as long as it will.
    fn lose_patience(&mut self, index: usize, now_s: f64, recorder: &mut Recorder) {
        let Some(patience) = self.spec.patience else { return };
        let attempt = &mut self.attempts[index];
        let is_answered = match patience.awaits {
            Awaited::FirstToken => attempt.first_token_step.is_some(),
            Awaited::Answer => false,
        };
        if is_answered || attempt.place == Place::Gone {
            return;
        }
        attempt.given_up = true;
        let Attempt { wanted, sent_s, place, .. } = *attempt;
        if patience.work == GivenUpWork::Abandoned {
            if place == Place::Waiting {
                attempt.place = Place::Gone;
                self.line.left();
                recorder.waited_in_vain(now_s - sent_s);
            } else {
                self.to_free.push_back(index);
            }
        }
        self.counts.abandoned += 1;
        self.unanswered(wanted, Outcome::Abandoned, now_s, recorder);
    }

    /// An attempt ended without an answer: the client tries again or gives up for good.
    fn unanswered(&mut self, index: usize, how: Outcome, now_s: f64, recorder: &mut Recorder) {
        if self.spec.throttle.is_some() {
            self.window.add(now_s, false);
        }
        match self.spec.retries {
            Some(retries) if self.wanted[index].attempts < retries.max_attempts => {
                if retries.budget.is_some() {
                    if self.saved_retries < 1.0 {
                        self.counts.forbidden += 1;
                        return self.end_unanswered(index, how, now_s, recorder);
                    }
                    self.saved_retries -= 1.0;
                }
                self.counts.retries += 1;
                let Wanted { key, attempts, .. } = self.wanted[index];
                let own_s = retry_wait_s(&retries.wait, self.seed, key, attempts - 1);
                let told_s = match self.overload.retry_after_s {
                    Some(told_s) if retries.honours_retry_after && how == Outcome::Rejected => {
                        told_s
                    }
                    _ => 0.0,
                };
                let at_s = now_s + greater(own_s, told_s);
                self.retries.push(Reverse(Retry { at_s, wanted: index }));
            }
            _ => self.end_unanswered(index, how, now_s, recorder),
        }
    }

    fn end_unanswered(&mut self, index: usize, how: Outcome, now_s: f64, recorder: &mut Recorder) {
        let Wanted { request, key, .. } = self.wanted[index];
        recorder.unanswered(&request, how, now_s);
        self.senders.ended(key, false, now_s);
    }

    /// The server dropped an attempt whose turn it was.
    fn drop_waiting(&mut self, index: usize, now_s: f64, recorder: &mut Recorder) {
        let attempt = &mut self.attempts[index];
        attempt.place = Place::Gone;
        let Attempt { wanted, sent_s, given_up, .. } = *attempt;
        recorder.waited_in_vain(now_s - sent_s);
        if !given_up {
            self.counts.dropped += 1;
            self.unanswered(wanted, Outcome::Dropped, now_s, recorder);
        }
    }
}

impl Inbox for AttendedLine {
    const ATTENDED: bool = true;

    fn total(&self) -> u64 {
        self.senders.total()
    }

    fn wake_s(&self) -> Option<f64> {
        if self.line.len() > 0 {
            return Some(f64::NEG_INFINITY);
        }
        let next_s = self.next_event_s();
        (next_s < f64::INFINITY).then_some(next_s)
    }

    fn hear_until(&mut self, seen_until_s: f64, recorder: &mut Recorder) {
        while self.next_event_s() <= seen_until_s {
            self.happen(recorder);
        }
        self.head_expires_s = f64::INFINITY;
    }

    fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder) {
        while self.next_event_s() < now_s {
            self.happen(recorder);
        }
    }

    fn abort(&mut self, now_s: f64, steps: u64, recorder: &mut Recorder) -> Option<Aborted> {
        while let Some(index) = self.to_free.pop_front() {
            let attempt = &mut self.attempts[index];
            let Place::Running(slot) = attempt.place else { continue };
            attempt.place = Place::Gone;
            if let Some(first) = attempt.first_token_step {
                self.counts.wasted_tokens += steps + 1 - first;
            }
            recorder.released(now_s - attempt.sent_s, now_s);
            return Some(Aborted { slot, first_token_step: attempt.first_token_step });
        }
        None
    }

    fn is_waiting(&self, _: f64) -> bool {
        self.line.len() > 0
    }

    fn take(
        &mut self,
        now_s: f64,
        _: f64,
        free_kv_tokens: u64,
        recorder: &mut Recorder,
    ) -> Option<Request> {
        loop {
            let attempts = &self.attempts;
            let is_there = |ticket: &Ticket| attempts[ticket.attempt].place == Place::Waiting;
            let head = self.line.head(is_there)?;
            let attempt = attempts[head.attempt];
            let request = self.wanted[attempt.wanted].request;
            if request.final_tokens() > free_kv_tokens && !self.line.is_too_late(&head, now_s) {
                let longest_s = self.overload.max_wait_s.unwrap_or(f64::INFINITY);
                self.head_expires_s = head.sent_s + longest_s;
                return None;
            }
            match self.line.take(now_s, is_there)? {
                Taken::Dropped(ticket) => self.drop_waiting(ticket.attempt, now_s, recorder),
                Taken::Served(ticket) => {
                    recorder.admitted(now_s - ticket.sent_s);
                    // To the engine an attempt is a request.
                    let index = ticket.attempt as u64;
                    return Some(Request { index, arrival_s: ticket.sent_s, ..request });
                }
            }
        }
    }

    fn pass(&mut self, _: &mut Recorder) {}

    fn started(&mut self, index: u64, slot: u32) {
        self.attempts[index as usize].place = Place::Running(slot);
    }

    fn take_extra_work_s(&mut self) -> f64 {
        std::mem::take(&mut self.extra_work_s)
    }

    fn cut_s(&self, has_room: bool, _: bool) -> Option<f64> {
        let gives_back =
            self.spec.patience.is_some_and(|patience| patience.work == GivenUpWork::Abandoned);
        let cut_s = if has_room {
            lesser(self.next_event_s(), self.head_expires_s)
        } else if self.overload.rejection_cost_s > 0.0 {
            // A rejection makes the next step longer.
            self.next_event_s()
        } else if gives_back {
            // Whoever may be running was sent before; those sent meanwhile give up later.
            self.next_giving_up_s()
        } else {
            f64::INFINITY
        };
        (cut_s < f64::INFINITY).then_some(cut_s)
    }

    fn first_token(&mut self, index: u64, step: u64) {
        self.attempts[index as usize].first_token_step = Some(step);
    }

    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        let attempt = &mut self.attempts[finished.request.index as usize];
        attempt.place = Place::Gone;
        let Attempt { wanted, sent_s, given_up, .. } = *attempt;
        if given_up {
            self.counts.wasted_tokens += finished.request.output_tokens;
            recorder.released(finished.finish_s - sent_s, finished.finish_s);
            return;
        }
        let Wanted { request, key, .. } = self.wanted[wanted];
        self.counts.completed += 1;
        self.ttft_from_send.record(finished.first_token_s - sent_s);
        recorder.finished_late_sent(&Finished { request, ..*finished }, sent_s - request.arrival_s);
        if self.spec.throttle.is_some() {
            self.window.add(finished.finish_s, true);
        }
        self.senders.ended(key, true, finished.finish_s);
    }

    fn in_flight(&self, _: u64, recorder: &Recorder) -> u64 {
        recorder.unended()
    }
}
