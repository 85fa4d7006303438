//! What stands before the scheduler: requests that come and wait in its own queue, or clients and a
//! line of theirs, from which the scheduler takes whoever has never run.

use crate::{
    engine::{
        attended::{AttendedLine, Offer},
        inbox::Aborted,
        seen_until_s,
    },
    float::greater,
    measure::{Finished, Recorder},
    workload::{Request, Requests},
};

use super::{
    content::Prompt,
    counting::{Composer, Newcomers, NoLine},
    setup::VllmCounts,
};

/// The clients of the engine as it sees them. Where they do not react, what follows from it compiles
/// to nothing.
pub(in crate::engine) trait Front {
    /// Whether clients react to what happens.
    const ATTENDED: bool;

    /// Those who have never run and do not stand in the scheduler's own queue.
    type Newcomers<'a>: Newcomers
    where
        Self: 'a;

    /// Users' requests in all.
    fn total(&self) -> u64;

    /// Requests come, up to now.
    fn receive(
        &mut self,
        now_s: f64,
        composer: &mut Composer,
        recorder: &mut Recorder,
        counts: &mut VllmCounts,
    );

    /// The next request of the engine that it is to free.
    fn abort(&mut self, now_s: f64, recorder: &mut Recorder) -> Option<Aborted>;

    /// A request that was freed had got so many output tokens.
    fn waste(&mut self, tokens: u64);

    /// Who may be admitted now, beside those in the scheduler's own queue.
    fn newcomers<'a>(&'a mut self, now_s: f64, recorder: &'a mut Recorder) -> Self::Newcomers<'a>;

    /// Whether anybody stands in a line of its own.
    fn has_line(&self) -> bool;

    /// Nobody can be admitted, and nothing runs. When that can change, in seconds; `None`: never.
    fn wait(&mut self, now_s: f64, recorder: &mut Recorder) -> Option<f64>;

    /// When something happens that could change what the scheduler works on; `has_room`: somebody
    /// who comes could.
    fn change_s(&self, has_room: bool) -> Option<f64>;

    /// Engine time in seconds that clients have cost since it was last asked for.
    fn take_extra_work_s(&mut self) -> f64;

    /// The clients act, up to just before a time in seconds.
    fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder);

    /// A request got its first token.
    fn first_token(&mut self, index: u64);

    /// A request got its last token.
    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder);

    /// Users' requests that have come and not ended.
    fn in_flight(&self, recorder: &Recorder) -> u64;
}

/// The rest of the workload; its next request has not arrived yet.
#[derive(Clone, Debug)]
pub(super) struct Stream(pub(super) Requests);

impl Front for Stream {
    const ATTENDED: bool = false;

    type Newcomers<'a> = NoLine;

    fn total(&self) -> u64 {
        self.0.total()
    }

    /// Hand over whoever has arrived; turn away those that can never be served.
    #[inline]
    fn receive(
        &mut self,
        now_s: f64,
        composer: &mut Composer,
        recorder: &mut Recorder,
        counts: &mut VllmCounts,
    ) {
        let seen_until_s = seen_until_s(now_s);
        while let Some(request) = self.0.peek()
            && request.arrival_s <= seen_until_s
        {
            recorder.arrived(request);
            if let Err(refusal) = composer.add(request) {
                counts.refuse(&refusal);
                recorder.rejected(request);
            }
            self.0.pass();
        }
    }

    #[inline]
    fn abort(&mut self, _: f64, _: &mut Recorder) -> Option<Aborted> {
        None
    }

    fn waste(&mut self, _: u64) {}

    #[inline]
    fn newcomers<'a>(&'a mut self, _: f64, _: &'a mut Recorder) -> NoLine {
        NoLine
    }

    #[inline]
    fn has_line(&self) -> bool {
        false
    }

    #[inline]
    fn wait(&mut self, _: f64, _: &mut Recorder) -> Option<f64> {
        self.0.peek().map(|next| next.arrival_s)
    }

    #[inline]
    fn change_s(&self, has_room: bool) -> Option<f64> {
        let next = self.0.peek()?;
        has_room.then_some(next.arrival_s)
    }

    #[inline]
    fn take_extra_work_s(&mut self) -> f64 {
        0.0
    }

    #[inline]
    fn hear_before(&mut self, _: f64, _: &mut Recorder) {}

    #[inline]
    fn first_token(&mut self, _: u64) {}

    #[inline(always)]
    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        recorder.finished(finished);
    }

    fn in_flight(&self, recorder: &Recorder) -> u64 {
        recorder.unended()
    }
}

impl Front for AttendedLine {
    const ATTENDED: bool = true;

    type Newcomers<'a> = AtTheLine<'a>;

    fn total(&self) -> u64 {
        self.total()
    }

    fn receive(
        &mut self,
        now_s: f64,
        _: &mut Composer,
        recorder: &mut Recorder,
        _: &mut VllmCounts,
    ) {
        self.hear_until(seen_until_s(now_s), recorder);
    }

    fn abort(&mut self, now_s: f64, recorder: &mut Recorder) -> Option<Aborted> {
        self.abort(now_s, recorder)
    }

    fn waste(&mut self, tokens: u64) {
        self.waste(tokens);
    }

    fn newcomers<'a>(&'a mut self, now_s: f64, recorder: &'a mut Recorder) -> AtTheLine<'a> {
        AtTheLine { line: self, now_s, recorder }
    }

    fn has_line(&self) -> bool {
        self.waiting_len() > 0
    }

    fn wait(&mut self, now_s: f64, recorder: &mut Recorder) -> Option<f64> {
        if self.waiting_len() > 0 {
            self.refuse_head(now_s, recorder);
            return Some(now_s);
        }
        Some(greater(now_s, self.wake_s()?))
    }

    fn change_s(&self, has_room: bool) -> Option<f64> {
        self.change_s(has_room)
    }

    fn take_extra_work_s(&mut self) -> f64 {
        self.take_extra_work_s()
    }

    fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder) {
        self.hear_before(now_s, recorder);
    }

    fn first_token(&mut self, index: u64) {
        // Which step it was is asked of no one.
        self.first_token(index, 0);
    }

    fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        self.finished(finished, recorder);
    }

    fn in_flight(&self, recorder: &Recorder) -> u64 {
        recorder.unended()
    }
}

/// The line at a moment.
pub(in crate::engine) struct AtTheLine<'a> {
    line: &'a mut AttendedLine,
    now_s: f64,
    recorder: &'a mut Recorder,
}

impl Newcomers for AtTheLine<'_> {
    const IN_LINE: bool = true;

    fn number(&self) -> u64 {
        self.line.waiting_len()
    }

    fn head(&mut self) -> Option<Request> {
        self.line.head()
    }

    fn prompt(&mut self) -> Option<Prompt> {
        self.line.prompt()
    }

    fn offer(&mut self, fits: bool) -> Offer {
        self.line.offer(fits, self.now_s, self.recorder)
    }

    fn started(&mut self, index: u64, id: u32) {
        self.line.started(index, id);
    }
}
