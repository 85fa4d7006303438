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
        AttemptCounts, Awaited, ClientSpec, ClientTime, GivenUpWork, RETRIES_SAVED, SessionCounts,
        patience_s, retry_wait_s, throttle_point,
    },
    engine::{
        inbox::{Aborted, Inbox},
        waiting_line::{OverloadPolicy, Taken, Waiting, WaitingLine},
    },
    float::{greater, lesser},
    measure::{Distribution, Finished, Outcome, Recorder},
    workload::Request,
};

use super::{AttendedSetup, senders::Senders, servable::Servable, throttle::Window};

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

/// What came of offering the engine whose turn it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::engine) enum Offer {
    /// It waits on, and everybody with it.
    Blocked,
    /// It was dropped; it is somebody else's turn.
    Dropped,
    /// It is served from now on.
    Served(Request),
}

/// The clients and the line of one engine.
#[derive(Clone, Debug)]
pub(in crate::engine) struct AttendedLine {
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
    pub(super) fn into_counts(self) -> (AttemptCounts, Distribution, Option<SessionCounts>) {
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

/// What engines ask and tell, whatever their rules.
impl AttendedLine {
    /// Users' requests in all.
    pub(in crate::engine) fn total(&self) -> u64 {
        self.senders.total()
    }

    /// When an idle engine has something to do: a time that may have passed. `None`: never again.
    pub(in crate::engine) fn wake_s(&self) -> Option<f64> {
        if self.line.len() > 0 {
            return Some(f64::NEG_INFINITY);
        }
        let next_s = self.next_event_s();
        (next_s < f64::INFINITY).then_some(next_s)
    }

    /// The clients act, up to and including a time in seconds.
    pub(in crate::engine) fn hear_until(&mut self, seen_until_s: f64, recorder: &mut Recorder) {
        while self.next_event_s() <= seen_until_s {
            self.happen(recorder);
        }
        self.head_expires_s = f64::INFINITY;
    }

    /// The clients act, up to just before a time in seconds.
    pub(in crate::engine) fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder) {
        while self.next_event_s() < now_s {
            self.happen(recorder);
        }
    }

    /// The next running attempt that its client has given up, and that the engine is to free.
    pub(in crate::engine) fn abort(
        &mut self,
        now_s: f64,
        recorder: &mut Recorder,
    ) -> Option<Aborted> {
        while let Some(index) = self.to_free.pop_front() {
            let attempt = &mut self.attempts[index];
            let Place::Running(slot) = attempt.place else { continue };
            attempt.place = Place::Gone;
            recorder.released(now_s - attempt.sent_s, now_s);
            return Some(Aborted { slot, first_token_step: attempt.first_token_step });
        }
        None
    }

    /// An attempt that was aborted had got so many tokens.
    pub(in crate::engine) fn waste(&mut self, tokens: u64) {
        self.counts.wasted_tokens += tokens;
    }

    /// How many wait.
    pub(in crate::engine) fn waiting_len(&self) -> u64 {
        self.line.len()
    }

    /// Since when the one has waited that has waited longest, in seconds.
    pub(in crate::engine) fn oldest_s(&mut self) -> Option<f64> {
        let attempts = &self.attempts;
        self.line.oldest_s(|ticket| attempts[ticket.attempt].place == Place::Waiting)
    }

    /// Whose turn it is. To the engine an attempt is a request.
    pub(in crate::engine) fn head(&mut self) -> Option<Request> {
        let ticket = self.head_ticket()?;
        Some(self.as_request(&ticket))
    }

    fn head_ticket(&mut self) -> Option<Ticket> {
        let attempts = &self.attempts;
        self.line.head(|ticket| attempts[ticket.attempt].place == Place::Waiting)
    }

    fn as_request(&self, ticket: &Ticket) -> Request {
        let wanted = &self.wanted[self.attempts[ticket.attempt].wanted];
        Request { index: ticket.attempt as u64, arrival_s: ticket.sent_s, ..wanted.request }
    }

    /// Offer the engine whose turn it is, which `fits` or does not; the policy of the line decides
    /// whether it is dropped.
    pub(in crate::engine) fn offer(
        &mut self,
        fits: bool,
        now_s: f64,
        recorder: &mut Recorder,
    ) -> Offer {
        let Some(head) = self.head_ticket() else { return Offer::Blocked };
        if !fits && !self.line.is_too_late(&head, now_s) {
            let longest_s = self.overload.max_wait_s.unwrap_or(f64::INFINITY);
            self.head_expires_s = head.sent_s + longest_s;
            return Offer::Blocked;
        }
        let attempts = &self.attempts;
        let is_there = |ticket: &Ticket| attempts[ticket.attempt].place == Place::Waiting;
        match self.line.take(now_s, is_there) {
            None => Offer::Blocked,
            Some(Taken::Dropped(ticket)) => {
                self.drop_waiting(ticket.attempt, now_s, recorder);
                Offer::Dropped
            }
            Some(Taken::Served(ticket)) => Offer::Served(self.as_request(&ticket)),
        }
    }

    /// An idle engine cannot admit whose turn it is, and nothing that is to come could change
    /// that: without a way out it would be asked for ever.
    pub(in crate::engine) fn refuse_head(&mut self, now_s: f64, recorder: &mut Recorder) {
        let Some(ticket) = self.head_ticket() else { return };
        self.line.left();
        let attempt = &mut self.attempts[ticket.attempt];
        attempt.place = Place::Gone;
        let Attempt { wanted, sent_s, given_up, .. } = *attempt;
        recorder.waited_in_vain(now_s - sent_s);
        if !given_up {
            self.turn_away_for_good(wanted, now_s, recorder);
        }
    }

    /// An admitted attempt has a place in the engine.
    pub(in crate::engine) fn started(&mut self, index: u64, slot: u32) {
        self.attempts[index as usize].place = Place::Running(slot);
    }

    /// Engine time in seconds that the line has cost since it was last asked for.
    pub(in crate::engine) fn take_extra_work_s(&mut self) -> f64 {
        std::mem::take(&mut self.extra_work_s)
    }

    /// When something happens that could change what the engine works on; `has_room`: somebody
    /// could be admitted.
    pub(in crate::engine) fn change_s(&self, has_room: bool) -> Option<f64> {
        let gives_back =
            self.spec.patience.is_some_and(|patience| patience.work == GivenUpWork::Abandoned);
        let change_s = if has_room {
            lesser(self.next_event_s(), self.head_expires_s)
        } else if self.overload.rejection_cost_s > 0.0 {
            // A rejection makes the next step longer.
            self.next_event_s()
        } else if gives_back {
            // Of those sent meanwhile nobody runs.
            self.next_giving_up_s()
        } else {
            f64::INFINITY
        };
        (change_s < f64::INFINITY).then_some(change_s)
    }

    /// An attempt got its first token in the step that made it so many taken.
    pub(in crate::engine) fn first_token(&mut self, index: u64, step: u64) {
        self.attempts[index as usize].first_token_step = Some(step);
    }

    /// An attempt got its last token.
    pub(in crate::engine) fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        let attempt = &mut self.attempts[finished.request.index as usize];
        attempt.place = Place::Gone;
        let Attempt { wanted, sent_s, given_up, .. } = *attempt;
        let output_tokens = finished.request.output_tokens;
        if given_up {
            self.counts.wasted_tokens += output_tokens;
            recorder.released(finished.finish_s - sent_s, finished.finish_s);
            return;
        }
        let Wanted { request, key, .. } = self.wanted[wanted];
        // The engine may have cut it short.
        let request = Request { output_tokens, ..request };
        self.counts.completed += 1;
        self.ttft_from_send.record(finished.first_token_s - sent_s);
        recorder.finished_late_sent(&Finished { request, ..*finished }, sent_s - request.arrival_s);
        if self.spec.throttle.is_some() {
            self.window.add(finished.finish_s, true);
        }
        self.senders.ended(key, true, finished.finish_s);
    }

    /// To what the draws of an attempt's request belong, in the whole of a stream that is dealt out.
    pub(in crate::engine) fn draws_of(&self, index: u64) -> u64 {
        self.senders.draws_of(self.wanted[self.attempts[index as usize].wanted].key)
    }
}

impl Inbox for AttendedLine {
    const ATTENDED: bool = true;

    fn total(&self) -> u64 {
        self.total()
    }

    fn wake_s(&self) -> Option<f64> {
        self.wake_s()
    }

    fn hear_until(&mut self, seen_until_s: f64, recorder: &mut Recorder) {
        self.hear_until(seen_until_s, recorder);
    }

    fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder) {
        self.hear_before(now_s, recorder);
    }

    fn abort(&mut self, now_s: f64, steps: u64, recorder: &mut Recorder) -> Option<Aborted> {
        let aborted = self.abort(now_s, recorder)?;
        if let Some(first) = aborted.first_token_step {
            self.waste(steps + 1 - first);
        }
        Some(aborted)
    }

    fn is_waiting(&self, _: f64) -> bool {
        self.waiting_len() > 0
    }

    fn take(
        &mut self,
        now_s: f64,
        _: f64,
        free_kv_tokens: u64,
        recorder: &mut Recorder,
    ) -> Option<Request> {
        loop {
            let fits = self.head()?.final_tokens() <= free_kv_tokens;
            match self.offer(fits, now_s, recorder) {
                Offer::Blocked => return None,
                Offer::Dropped => {}
                Offer::Served(request) => {
                    recorder.admitted(now_s - request.arrival_s);
                    return Some(request);
                }
            }
        }
    }

    fn pass(&mut self, _: &mut Recorder) {}

    fn refuse_head(&mut self, now_s: f64, recorder: &mut Recorder) {
        self.refuse_head(now_s, recorder);
    }

    fn started(&mut self, index: u64, slot: u32) {
        self.started(index, slot);
    }

    fn take_extra_work_s(&mut self) -> f64 {
        self.take_extra_work_s()
    }

    fn cut_s(&self, has_room: bool, _: bool) -> Option<f64> {
        self.change_s(has_room)
    }

    fn first_token(&mut self, index: u64, step: u64) {
        self.first_token(index, step);
    }

    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        self.finished(finished, recorder);
    }

    fn in_flight(&self, _: u64, recorder: &Recorder) -> u64 {
        recorder.unended()
    }
}

fn next_s(moments: &BinaryHeap<Reverse<Moment>>) -> f64 {
    moments.peek().map_or(f64::INFINITY, |Reverse(moment)| moment.at_s)
}
