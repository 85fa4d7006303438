//! Clients that wait, give up and try again, before an engine whose line has an overload policy.
//!
//! What clients do happens at its own moment, between the engine's steps: one event after the other
//! in order of time; at the same moment first sends before retries before clients that give up. The
//! engine looks at the line between its steps. Memory grows with the number of attempts.

mod engine_side;

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, VecDeque},
};

use crate::{
    clients::{
        AttemptCounts, Awaited, ClientSpec, ClientTime, GivenUpWork, RETRIES_SAVED, SessionCounts,
        patience_s, retry_wait_s, throttle_point,
    },
    engine::{
        vllm::Before,
        waiting_line::{OverloadPolicy, Waiting, WaitingLine},
    },
    float::{greater, lesser},
    measure::{Distribution, Outcome, Recorder},
    workload::Request,
};

pub(in crate::engine) use engine_side::Offer;

use super::{AttendedSetup, senders::Senders, servable::Servable, throttle::Window};

/// What a user wants.
#[derive(Clone, Debug)]
struct Wanted {
    /// As it was meant to be sent first; the index counts in order of sending.
    request: Request,
    /// What its draws belong to.
    key: u64,
    /// Attempts begun.
    attempts: u32,
    /// What it finds in its conversation, where it is a turn of a session.
    before: Option<Before>,
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

/// Something to come, ordered by time and then by whose it is: a request's retry, or an attempt's
/// giving up.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at_s: f64,
    whose: usize,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.whose.cmp(&other.whose))
    }
}

/// The clients and the line of one engine.
#[derive(Clone, Debug)]
pub(crate) struct AttendedLine {
    spec: ClientSpec,
    overload: OverloadPolicy,
    seed: u64,
    /// What the engine can serve at all.
    servable: Servable,
    /// The line's queue by class.
    ranks: Vec<usize>,
    /// How long clients wait, by class; without classes there is one.
    patience: Vec<Option<ClientTime>>,
    senders: Senders,
    wanted: Vec<Wanted>,
    attempts: Vec<Attempt>,
    line: WaitingLine<Ticket>,
    retries: BinaryHeap<Reverse<Moment>>,
    /// Attempts that may be given up.
    impatient: BinaryHeap<Reverse<Moment>>,
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
        let overload = setup.line_policy();
        let classes = setup.mix().map_or(1, |mix| mix.classes.len() as u32);
        Self {
            spec: setup.clients,
            overload,
            seed: setup.setup.seed,
            servable: Servable::new(&setup.setup),
            ranks: setup.ranks(),
            patience: (0..classes).map(|class| setup.patience_of(class)).collect(),
            senders: Senders::new(setup),
            wanted: Vec::new(),
            attempts: Vec::new(),
            line: WaitingLine::new(overload),
            retries: BinaryHeap::new(),
            impatient: BinaryHeap::new(),
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
    pub(in crate::engine) fn into_counts(
        self,
    ) -> (AttemptCounts, Distribution, Option<SessionCounts>) {
        let sessions = self.senders.sessions();
        (self.counts, self.ttft_from_send, sessions)
    }

    fn next_retry_s(&self) -> f64 {
        next_s(&self.retries)
    }

    fn next_giving_up_s(&self) -> f64 {
        next_s(&self.impatient)
    }

    pub(super) fn next_event_s(&self) -> f64 {
        lesser(self.senders.next_s(), lesser(self.next_retry_s(), self.next_giving_up_s()))
    }

    /// Let the next event happen.
    fn happen(&mut self, recorder: &mut Recorder) {
        let now_s = self.next_event_s();
        if self.senders.next_s() <= now_s {
            self.send_first(now_s, recorder);
        } else if self.next_retry_s() <= now_s {
            if let Some(Reverse(retry)) = self.retries.pop() {
                self.attempt(retry.whose, now_s, recorder);
            }
        } else if let Some(Reverse(end)) = self.impatient.pop() {
            self.lose_patience(end.whose, now_s, recorder);
        }
    }

    fn send_first(&mut self, now_s: f64, recorder: &mut Recorder) {
        let Some((key, drawn, before)) = self.senders.send() else { return };
        let request = Request { index: self.wanted.len() as u64, ..drawn };
        recorder.arrived(&request);
        self.wanted.push(Wanted { request, key, attempts: 0, before });
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
        if !self.servable.holds(&request) {
            return self.turn_away_for_good(index, now_s, recorder);
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
        let class = (request.class as usize).min(self.patience.len() - 1);
        if let Some(patience) = self.patience[class] {
            let at_s = now_s + patience_s(&patience, self.seed, key, number);
            self.impatient.push(Reverse(Moment { at_s, whose: attempt }));
        }
    }

    /// The engine can never serve this; no retry could help.
    fn turn_away_for_good(&mut self, index: usize, now_s: f64, recorder: &mut Recorder) {
        self.counts.rejected += 1;
        self.counts.never_fit += 1;
        self.extra_work_s += self.overload.rejection_cost_s;
        if self.spec.throttle.is_some() {
            self.window.add(now_s, false);
        }
        self.end_unanswered(index, Outcome::Rejected, now_s, recorder);
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
                self.retries.push(Reverse(Moment { at_s, whose: index }));
            }
            _ => self.end_unanswered(index, how, now_s, recorder),
        }
    }

    fn end_unanswered(&mut self, index: usize, how: Outcome, now_s: f64, recorder: &mut Recorder) {
        let Wanted { request, key, .. } = self.wanted[index];
        recorder.unanswered(&request, how, now_s);
        self.senders.ended(key, None, now_s);
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

fn next_s(moments: &BinaryHeap<Reverse<Moment>>) -> f64 {
    moments.peek().map_or(f64::INFINITY, |Reverse(moment)| moment.at_s)
}

#[cfg(test)]
mod tests;
