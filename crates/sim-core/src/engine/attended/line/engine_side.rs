//! What engines ask of clients and line, and tell them.

use crate::{
    clients::GivenUpWork,
    engine::{
        inbox::{Aborted, Inbox},
        vllm::{Answered, Prompt},
        waiting_line::Taken,
    },
    float::lesser,
    measure::{Finished, Recorder},
    workload::Request,
};

use super::{Attempt, AttendedLine, Place, Ticket, Wanted};

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

    /// What it asks, where its prompt may be asked again: by the next attempt, or in the next turn of a
    /// session.
    pub(in crate::engine) fn prompt(&mut self) -> Option<Prompt> {
        let ticket = self.head_ticket()?;
        let Wanted { request, before, .. } = &self.wanted[self.attempts[ticket.attempt].wanted];
        let tries_again = self.spec.retries.is_some_and(|retries| retries.max_attempts > 1);
        (tries_again || before.is_some()).then(|| Prompt {
            before: before.clone(),
            request: request.index,
            tokens: request.input_tokens,
        })
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
        let answered = Answered {
            request: request.index,
            attempt: finished.request.index,
            input_tokens: request.input_tokens,
        };
        self.senders.ended(key, Some(answered), finished.finish_s);
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
