//! What an engine that goes step by step is given to do, and who is told of what became of it.

use crate::{
    clients::{AttemptCounts, SessionCounts},
    measure::{Distribution, Finished, Recorder},
    setup::{EngineSpec, Setup},
    workload::{Request, Requests},
};

use super::{
    attended::AttendedLine,
    inbox::{Aborted, Inbox},
    speculation::Speculation,
};

/// A request as it comes to an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// What the engine has to do. Where it holds tokens already there is no prompt left, and every
    /// token of the output is decoded.
    pub(crate) request: Request,
    /// Tokens of its context whose keys and values come with it, in place of a prompt.
    pub(crate) held_tokens: u64,
    /// Its place in the whole stream of requests, to which its random numbers belong.
    pub(crate) key: u64,
}

impl Job {
    /// Tokens of KV cache that it needs: its final length, and the drafts of its last step, which
    /// are written before they are verified.
    pub(crate) const fn kv_tokens(&self, speculation: &Speculation) -> u64 {
        self.held_tokens + self.request.final_tokens() + speculation.tokens
    }
}

/// What stands before the engine.
#[derive(Clone, Debug)]
pub(crate) enum Jobs {
    /// Whoever comes waits in order of arrival for as long as it takes.
    Stream(Box<Stream>),
    /// Clients that react, and a line with a policy.
    Line(Box<AttendedLine>),
}

/// Jobs in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    rest: Rest,
    /// The next one that is not running and can ever be served.
    next: Option<Job>,
    total: u64,
    /// The largest that can be served, in KV tokens.
    capacity_tokens: u64,
    speculation: Speculation,
}

#[derive(Clone, Debug)]
enum Rest {
    Requests(Requests),
    Given(std::vec::IntoIter<Job>),
}

impl Rest {
    fn next(&mut self) -> Option<Job> {
        match self {
            Self::Requests(requests) => {
                let request = requests.next()?;
                let key = requests.place_in_whole(request.index);
                Some(Job { request, held_tokens: 0, key })
            }
            Self::Given(jobs) => jobs.next(),
        }
    }
}

impl Stream {
    fn new(rest: Rest, total: u64, engine: &EngineSpec, speculation: Speculation) -> Self {
        let capacity_tokens = engine.kv_capacity_tokens;
        Self { rest, next: None, total, capacity_tokens, speculation }
    }

    /// Look at the next job that can ever be served; turn away those that cannot.
    fn meet_next(&mut self, recorder: &mut Recorder) {
        self.next = None;
        while let Some(job) = self.rest.next() {
            recorder.arrived(&job.request);
            if job.kv_tokens(&self.speculation) <= self.capacity_tokens {
                self.next = Some(job);
                return;
            }
            recorder.rejected(&job.request);
        }
    }
}

impl Jobs {
    /// The requests of a workload.
    pub(crate) fn of_workload(setup: &Setup, speculation: Speculation) -> Self {
        let requests = Requests::new(&setup.workload, setup.seed);
        let total = requests.total();
        let rest = Rest::Requests(requests);
        Self::Stream(Box::new(Stream::new(rest, total, &setup.engine, speculation)))
    }

    /// A list in order of arrival.
    pub(crate) fn given(jobs: Vec<Job>, engine: &EngineSpec, speculation: Speculation) -> Self {
        let total = jobs.len() as u64;
        let rest = Rest::Given(jobs.into_iter());
        Self::Stream(Box::new(Stream::new(rest, total, engine, speculation)))
    }

    /// The first of them comes into sight.
    pub(super) fn open(&mut self, recorder: &mut Recorder) {
        if let Self::Stream(stream) = self {
            stream.meet_next(recorder);
        }
    }

    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.total,
            Self::Line(line) => line.total(),
        }
    }

    /// When an idle engine has something to do: a time that may have passed. `None`: never again.
    pub(super) fn wake_s(&self) -> Option<f64> {
        match self {
            Self::Stream(stream) => stream.next.map(|job| job.request.arrival_s),
            Self::Line(line) => line.wake_s(),
        }
    }

    /// The clients act, up to and including a time in seconds.
    pub(super) fn hear_until(&mut self, seen_until_s: f64, recorder: &mut Recorder) {
        if let Self::Line(line) = self {
            line.hear_until(seen_until_s, recorder);
        }
    }

    /// The clients act, up to just before a time in seconds.
    pub(super) fn hear_before(&mut self, now_s: f64, recorder: &mut Recorder) {
        if let Self::Line(line) = self {
            line.hear_before(now_s, recorder);
        }
    }

    /// The next running job to be freed.
    pub(super) fn abort(&mut self, now_s: f64, recorder: &mut Recorder) -> Option<Aborted> {
        match self {
            Self::Stream(_) => None,
            Self::Line(line) => line.abort(now_s, recorder),
        }
    }

    /// A job that was aborted had got so many tokens.
    pub(super) fn waste(&mut self, tokens: u64) {
        if let Self::Line(line) = self {
            line.waste(tokens);
        }
    }

    /// The next job to be admitted, where so many KV tokens are enough for it.
    pub(super) fn take(
        &mut self,
        (now_s, seen_until_s): (f64, f64),
        free_tokens: u64,
        speculation: &Speculation,
        recorder: &mut Recorder,
    ) -> Option<Job> {
        match self {
            Self::Stream(stream) => {
                let job = stream.next?;
                let arrival_s = job.request.arrival_s;
                if arrival_s > seen_until_s || job.kv_tokens(speculation) > free_tokens {
                    return None;
                }
                recorder.admitted(now_s - arrival_s);
                stream.meet_next(recorder);
                Some(job)
            }
            Self::Line(line) => {
                let for_all_but_drafts = free_tokens.saturating_sub(speculation.tokens);
                let request = line.take(now_s, seen_until_s, for_all_but_drafts, recorder)?;
                Some(Job { request, held_tokens: 0, key: line.draws_of(request.index) })
            }
        }
    }

    /// An idle engine cannot admit whoever is next.
    pub(super) fn refuse_head(&mut self, now_s: f64, recorder: &mut Recorder) {
        if let Self::Line(line) = self {
            line.refuse_head(now_s, recorder);
        }
    }

    /// An admitted job got a slot.
    pub(super) fn started(&mut self, index: u64, slot: u32) {
        if let Self::Line(line) = self {
            line.started(index, slot);
        }
    }

    /// Engine time in seconds that the line has cost since it was last asked for.
    pub(super) fn take_extra_work_s(&mut self) -> f64 {
        match self {
            Self::Stream(_) => 0.0,
            Self::Line(line) => line.take_extra_work_s(),
        }
    }

    /// A job got its first token in the step that made it so many taken.
    pub(super) fn first_token(&mut self, index: u64, step: u64) {
        if let Self::Line(line) = self {
            line.first_token(index, step);
        }
    }

    /// A job got its last token.
    pub(super) fn finished(&mut self, finished: &Finished, recorder: &mut Recorder) {
        match self {
            Self::Stream(_) => recorder.finished(finished),
            Self::Line(line) => line.finished(finished, recorder),
        }
    }

    /// Users' requests that have not ended, given how many are running.
    pub(super) fn in_flight(&self, running: u64, recorder: &Recorder) -> u64 {
        match self {
            Self::Stream(stream) => running + u64::from(stream.next.is_some()),
            Self::Line(_) => recorder.unended(),
        }
    }

    /// What became of the attempts and of the sessions; nothing where nobody reacts.
    pub(super) fn into_counts(self) -> (AttemptCounts, Distribution, Option<SessionCounts>) {
        match self {
            Self::Stream(_) => (AttemptCounts::default(), Distribution::default(), None),
            Self::Line(line) => line.into_counts(),
        }
    }
}
