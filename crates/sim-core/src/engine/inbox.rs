//! What stands before an engine: who may be admitted, and who is told of what became of it.

use crate::{
    measure::{Finished, Recorder},
    setup::Setup,
    workload::{Request, Requests},
};

/// A running request that its client has given up and that the engine is to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aborted {
    /// Its slot.
    pub(super) slot: u32,
    /// How many steps had been taken when it got its first token.
    pub(super) first_token_step: Option<u64>,
}

/// The clients of an engine and its waiting line, as the engine sees them.
///
/// Within a step the order is: before its tokens are handed out, the clients act up to the end of
/// the step before ([`hear_before`](Self::hear_before)); then come first and last tokens; then, as
/// the next step begins, the clients act up to now ([`hear_until`](Self::hear_until)), the aborted
/// are freed, and the waiting are admitted.
pub(super) trait Inbox {
    /// Whether clients react to what happens. Where they don't, what follows from it compiles to
    /// nothing.
    const ATTENDED: bool;

    /// How many users' requests there are in all.
    fn total(&self) -> u64;

    /// When an idle engine has something to do: a time that may have passed. `None`: never again.
    fn wake_s(&self) -> Option<f64>;

    /// The clients act, up to and including a time in seconds.
    fn hear_until(&mut self, seen_until_s: f64, recorder: &mut Recorder);

    /// The clients act, up to just before a time in seconds.
    fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder);

    /// The next running request to be freed, now that so many steps have been taken.
    fn abort(&mut self, now_s: f64, steps: u64, recorder: &mut Recorder) -> Option<Aborted>;

    /// Whether somebody may be waiting.
    fn is_waiting(&self, seen_until_s: f64) -> bool;

    /// The next request to be admitted, where it fits; [`pass`](Self::pass) follows when it has
    /// been.
    fn take(
        &mut self,
        now_s: f64,
        seen_until_s: f64,
        free_kv_tokens: u64,
        recorder: &mut Recorder,
    ) -> Option<Request>;

    /// The request that was taken has been admitted.
    fn pass(&mut self, recorder: &mut Recorder);

    /// An idle engine cannot admit whoever is next.
    fn refuse_head(&mut self, now_s: f64, recorder: &mut Recorder);

    /// An admitted request got a slot.
    fn started(&mut self, index: u64, slot: u32);

    /// Engine time in seconds that the line has cost since it was last asked for.
    fn take_extra_work_s(&mut self) -> f64;

    /// When something happens that could change the engine's batch, before the batch itself does.
    /// `has_room`: somebody could be admitted; `is_waiting`: there is somebody who could not.
    fn cut_s(&self, has_room: bool, is_waiting: bool) -> Option<f64>;

    /// A request got its first token in the step that made it so many taken.
    fn first_token(&mut self, index: u64, step: u64);

    /// A request got its last token.
    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder);

    /// Users' requests that have not ended, given how many are running.
    fn in_flight(&self, running: u64, recorder: &Recorder) -> u64;
}

/// The open loop: clients that send, wait for ever and never try again. Nobody needs to be kept in
/// a line: it is the part of the stream that has arrived.
#[derive(Clone, Debug)]
pub(super) struct OpenLoop {
    /// The rest of the workload, from the next request that is not running yet; that one may have
    /// arrived already.
    requests: Requests,
    /// When the next request arrives; infinite after the last.
    next_arrival_s: f64,
    kv_capacity_tokens: u64,
}

impl OpenLoop {
    pub(super) fn new(setup: &Setup, recorder: &mut Recorder) -> Self {
        let mut open = Self {
            requests: Requests::new(&setup.workload, setup.seed),
            next_arrival_s: f64::INFINITY,
            kv_capacity_tokens: setup.engine.kv_capacity_tokens,
        };
        open.meet_next(recorder);
        open
    }

    /// Look at the next request that can ever be served; turn away those that cannot.
    #[inline(always)]
    fn meet_next(&mut self, recorder: &mut Recorder) {
        while let Some(request) = self.requests.peek() {
            recorder.arrived(request);
            if request.final_tokens() <= self.kv_capacity_tokens {
                self.next_arrival_s = request.arrival_s;
                return;
            }
            recorder.rejected(request);
            self.requests.pass();
        }
        self.next_arrival_s = f64::INFINITY;
    }
}

impl Inbox for OpenLoop {
    const ATTENDED: bool = false;

    fn total(&self) -> u64 {
        self.requests.total()
    }

    #[inline]
    fn wake_s(&self) -> Option<f64> {
        self.requests.peek().is_some().then_some(self.next_arrival_s)
    }

    #[inline]
    fn hear_until(&mut self, _: f64, _: &mut Recorder) {}

    #[inline]
    fn hear_before(&mut self, _: f64, _: &mut Recorder) {}

    #[inline]
    fn abort(&mut self, _: f64, _: u64, _: &mut Recorder) -> Option<Aborted> {
        None
    }

    #[inline]
    fn is_waiting(&self, seen_until_s: f64) -> bool {
        self.next_arrival_s <= seen_until_s
    }

    #[inline(always)]
    fn take(
        &mut self,
        now_s: f64,
        seen_until_s: f64,
        free_kv_tokens: u64,
        recorder: &mut Recorder,
    ) -> Option<Request> {
        if self.next_arrival_s > seen_until_s {
            return None;
        }
        let request = *self.requests.peek()?;
        if request.final_tokens() > free_kv_tokens {
            return None;
        }
        recorder.admitted(now_s - request.arrival_s);
        Some(request)
    }

    #[inline(always)]
    fn pass(&mut self, recorder: &mut Recorder) {
        self.requests.pass();
        self.meet_next(recorder);
    }

    /// Whoever fits into an empty cache is admitted to an idle engine.
    #[inline]
    fn refuse_head(&mut self, _: f64, _: &mut Recorder) {}

    #[inline]
    fn started(&mut self, _: u64, _: u32) {}

    #[inline]
    fn take_extra_work_s(&mut self) -> f64 {
        0.0
    }

    #[inline]
    fn cut_s(&self, has_room: bool, is_waiting: bool) -> Option<f64> {
        (has_room && !is_waiting).then_some(self.next_arrival_s)
    }

    #[inline]
    fn first_token(&mut self, _: u64, _: u64) {}

    #[inline(always)]
    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        recorder.finished(finished);
    }

    fn in_flight(&self, running: u64, _: &Recorder) -> u64 {
        running + u64::from(self.requests.peek().is_some())
    }
}
