//! Obvious clients before the obvious engines: every list is searched from end to end, every running
//! request is looked at in every step. Slow on purpose; the fast ones are tested against them.

mod batches;
mod reference;
mod vllm;

use crate::{
    clients::{
        AttemptCounts, Awaited, GivenUpWork, Pacing, Population, RETRIES_SAVED, first_think_s,
        patience_s, retry_wait_s, think_s, throttle_point,
    },
    engine::{
        EngineBounds, Keep, Rules, ServiceOrder, Speculation, seen_until_s,
        seldom::{batch_setup, vllm_setup},
        sessions_oracle::ObviousSessions,
        speculation::Acceptances,
        vllm::{Answered, Before, Request as Asked, Scheduler, VllmRun},
        waiting_line::CodelState,
    },
    float::greater,
    measure::{Distribution, Finished, Outcome, Recorder},
    setup::SetupError,
    step_time::StepModel,
    workload::{Request, Requests},
};

use super::{AttendedRun, AttendedSetup, Offer};

/// A user's request and how it goes.
struct Wanted {
    request: Request,
    key: u64,
    attempts: u32,
    before: Option<Before>,
}

/// What becomes of whoever's turn it is.
enum Turn {
    Waits,
    Dropped,
    Served,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Waiting,
    Running,
    Gone,
}

struct Attempt {
    wanted: usize,
    sent_s: f64,
    /// When its client gives it up.
    patient_until_s: f64,
    state: State,
    given_up: bool,
    to_free: bool,
    start_s: f64,
    computed_tokens: u64,
    generated_tokens: u64,
    first_token_s: f64,
    /// What becomes of its drafts, once it runs.
    acceptances: Option<Acceptances>,
}

/// A first attempt to come.
struct Send {
    at_s: f64,
    key: u64,
    intended_s: f64,
}

struct World<'a> {
    setup: &'a AttendedSetup,
    /// A scheduler to ask whether it takes a request at all.
    probe: Option<Scheduler>,
    now_s: f64,
    drawn: Vec<Request>,
    sends: Vec<Send>,
    retries: Vec<(f64, usize)>,
    wanted: Vec<Wanted>,
    attempts: Vec<Attempt>,
    codel: CodelState,
    extra_work_s: f64,
    saved_retries: f64,
    ended: Vec<(f64, bool)>,
    recorder: Recorder,
    counts: AttemptCounts,
    ttft_from_send: Distribution,
    sessions: Option<ObviousSessions>,
}

/// Simulate step by step, request by request and client by client.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_attended_by_oracle(
    setup: &AttendedSetup,
    keep: Keep,
) -> Result<AttendedRun, SetupError> {
    setup.check()?;
    let mut world = World::new(setup, keep)?;
    let mut counts = None;
    match &setup.setup.rules {
        Rules::Reference | Rules::Speculative(_) => reference::serve(&mut world),
        Rules::VllmV1(rules) => counts = Some(vllm::serve(&mut world, *rules)?),
        Rules::WholeBatches { max_delay_s, noise } => {
            batches::serve(&mut world, &batch_setup(&setup.setup, *max_delay_s, noise));
        }
    }
    let in_flight = world.recorder.unended();
    let run = world.recorder.finish(in_flight);
    let run = match counts {
        Some(counts) => VllmRun::new(run, counts, true).run,
        None => run,
    };
    debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
    let sessions = world.sessions.map(|sessions| sessions.counts());
    let (attempts, ttft_from_send) = (world.counts, world.ttft_from_send);
    Ok(AttendedRun { run, attempts, ttft_from_send, sessions })
}

impl<'a> World<'a> {
    fn new(setup: &'a AttendedSetup, keep: Keep) -> Result<Self, SetupError> {
        let inner = &setup.setup;
        let drawn: Vec<Request> = Requests::new(&inner.workload, inner.seed).collect();
        let total = drawn.len() as u64;
        let mut recorder = match &inner.rules {
            Rules::WholeBatches { max_delay_s, noise } => {
                batch_setup(inner, *max_delay_s, noise).recorder(keep, total)
            }
            rules => {
                let bounds = match rules {
                    Rules::VllmV1(rules) => vllm_setup(inner, *rules).bounds(),
                    _ => EngineBounds::new(&inner.engine, &StepModel::new(&inner.step_time)),
                };
                Recorder::new(inner.slo, bounds, total, keep).judging(&inner.workload)
            }
        };
        let probe = match &inner.rules {
            Rules::VllmV1(rules) => Some(Scheduler::new(vllm_setup(inner, *rules).vllm)?),
            _ => None,
        };
        let sessions = (setup.clients.population == Population::Sessions)
            .then(|| ObviousSessions::new(inner))
            .flatten();
        let sends = match setup.clients.population {
            Population::Sessions => sessions
                .iter()
                .flat_map(ObviousSessions::first_sends)
                .map(|(at_s, key)| Send { at_s, key, intended_s: at_s })
                .collect(),
            Population::Open => drawn
                .iter()
                .map(|r| Send { at_s: r.arrival_s, key: r.index, intended_s: r.arrival_s })
                .collect(),
            Population::Closed { users, think, .. } => {
                recorder.set_unpaced();
                (0..users)
                    .map(|key| (key, first_think_s(&think, inner.seed, key)))
                    .map(|(key, at_s)| Send { at_s, key, intended_s: at_s })
                    .collect()
            }
        };
        Ok(Self {
            setup,
            probe,
            now_s: 0.0,
            drawn,
            sends,
            retries: Vec::new(),
            wanted: Vec::new(),
            attempts: Vec::new(),
            codel: CodelState::default(),
            extra_work_s: 0.0,
            saved_retries: 0.0,
            ended: Vec::new(),
            recorder,
            counts: AttemptCounts::default(),
            ttft_from_send: Distribution::new(keep.precision),
            sessions,
        })
    }

    /// The time of the next event, its kind (send, retry, giving up) and its place in the list of
    /// its kind. At the same time in this order.
    fn next_event(&self) -> Option<(f64, u8, usize)> {
        let sends = self.sends.iter().enumerate().map(|(i, send)| (send.at_s, 0, send.key, i));
        let retries =
            self.retries.iter().enumerate().map(|(i, retry)| (retry.0, 1, retry.1 as u64, i));
        let patient = |attempt: &Attempt| attempt.given_up || attempt.state == State::Gone;
        let losing = self
            .attempts
            .iter()
            .enumerate()
            .filter(|(_, attempt)| attempt.patient_until_s < f64::INFINITY && !patient(attempt))
            .filter(|(_, attempt)| {
                attempt.generated_tokens == 0
                    || self.setup.clients.patience.is_some_and(|p| p.awaits == Awaited::Answer)
            })
            .map(|(i, attempt)| (attempt.patient_until_s, 2, i as u64, i));
        sends
            .chain(retries)
            .chain(losing)
            .min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))))
            .map(|(at_s, kind, _, index)| (at_s, kind, index))
    }

    fn hear(&mut self, is_due: impl Fn(f64) -> bool) {
        while let Some((at_s, kind, index)) = self.next_event()
            && is_due(at_s)
        {
            match kind {
                0 => self.send(index),
                1 => {
                    let (at_s, wanted) = self.retries.remove(index);
                    self.attempt(wanted, at_s);
                }
                _ => self.give_up(index, at_s),
            }
        }
    }

    fn send(&mut self, index: usize) {
        let Send { at_s, key, intended_s } = self.sends.remove(index);
        let index = self.wanted.len();
        let (drawn, before) = match &mut self.sessions {
            Some(sessions) => sessions.send(key),
            None => (self.drawn[key as usize % self.drawn.len()], None),
        };
        let request = Request { index: index as u64, arrival_s: intended_s, ..drawn };
        self.recorder.arrived(&request);
        self.wanted.push(Wanted { request, key, attempts: 0, before });
        if self.wanted.len() == self.drawn.len() {
            self.sends.clear();
        }
        let budget = self.setup.clients.retries.and_then(|retries| retries.budget);
        self.saved_retries += budget.unwrap_or(0.0);
        if self.saved_retries > RETRIES_SAVED {
            self.saved_retries = RETRIES_SAVED;
        }
        self.attempt(index, at_s);
    }

    fn attempt(&mut self, index: usize, now_s: f64) {
        let number = self.wanted[index].attempts;
        self.wanted[index].attempts += 1;
        let request = self.wanted[index].request;
        if let Some(throttle) = self.setup.clients.throttle {
            let recent = |end: &&(f64, bool)| end.0 > now_s - throttle.window_s;
            let requests = self.ended.iter().filter(recent).count() as f64;
            let accepts = self.ended.iter().filter(recent).filter(|end| end.1).count() as f64;
            let p = (requests - throttle.k * accepts) / (requests + 1.0);
            let point = throttle_point(self.setup.setup.seed, self.wanted[index].key, number);
            if point <= p {
                self.counts.throttled += 1;
                return self.unanswered(index, Outcome::Throttled, now_s);
            }
        }
        self.counts.sent += 1;
        let never_fits = self.never_fits(&request);
        let limit = self.setup.overload.queue_limit.unwrap_or(u64::MAX);
        if never_fits || self.line().len() as u64 >= limit {
            self.counts.rejected += 1;
            self.extra_work_s += self.setup.overload.rejection_cost_s;
            if never_fits {
                self.counts.never_fit += 1;
                self.wanted[index].attempts = u32::MAX;
            }
            return self.unanswered(index, Outcome::Rejected, now_s);
        }
        let (seed, key) = (self.setup.setup.seed, self.wanted[index].key);
        let patient_until_s = match self.setup.patience_of(request.class) {
            Some(time) => now_s + patience_s(&time, seed, key, number),
            None => f64::INFINITY,
        };
        self.attempts.push(Attempt {
            wanted: index,
            sent_s: now_s,
            patient_until_s,
            state: State::Waiting,
            given_up: false,
            to_free: false,
            start_s: 0.0,
            computed_tokens: 0,
            generated_tokens: 0,
            first_token_s: 0.0,
            acceptances: None,
        });
    }

    /// Whether no engine of its kind could ever serve a request.
    fn never_fits(&mut self, request: &Request) -> bool {
        match (&self.setup.setup.rules, &mut self.probe) {
            (Rules::WholeBatches { .. }, _) => false,
            (_, Some(probe)) => probe
                .add(&Asked {
                    prompt_tokens: request.input_tokens,
                    output_tokens: request.output_tokens,
                    ..Asked::default()
                })
                .is_err(),
            _ => {
                request.final_tokens() + self.drafts().tokens
                    > self.setup.setup.engine.kv_capacity_tokens
            }
        }
    }

    fn give_up(&mut self, index: usize, now_s: f64) {
        let is_told = self.setup.clients.patience.is_some_and(|p| p.work == GivenUpWork::Abandoned);
        let attempt = &mut self.attempts[index];
        attempt.given_up = true;
        if is_told && attempt.state == State::Waiting {
            attempt.state = State::Gone;
            self.recorder.waited_in_vain(now_s - attempt.sent_s);
        } else if is_told {
            attempt.to_free = true;
        }
        let wanted = attempt.wanted;
        self.counts.abandoned += 1;
        self.unanswered(wanted, Outcome::Abandoned, now_s);
    }

    fn unanswered(&mut self, index: usize, how: Outcome, now_s: f64) {
        self.ended.push((now_s, false));
        let attempts = self.wanted[index].attempts;
        if let Some(retries) = self.setup.clients.retries
            && attempts < retries.max_attempts
        {
            if retries.budget.is_none() || self.saved_retries >= 1.0 {
                if retries.budget.is_some() {
                    self.saved_retries -= 1.0;
                }
                self.counts.retries += 1;
                let key = self.wanted[index].key;
                let seed = self.setup.setup.seed;
                let mut wait_s = retry_wait_s(&retries.wait, seed, key, attempts - 1);
                if how == Outcome::Rejected && retries.honours_retry_after {
                    wait_s = greater(wait_s, self.setup.overload.retry_after_s.unwrap_or(0.0));
                }
                self.retries.push((now_s + wait_s, index));
                return;
            }
            self.counts.forbidden += 1;
        }
        self.recorder.unanswered(&self.wanted[index].request, how, now_s);
        self.next_of_user(index, None, now_s);
    }

    /// A request of a closed loop or of a session has ended: its user's next one.
    fn next_of_user(&mut self, index: usize, attempt: Option<u64>, now_s: f64) {
        if let Some(sessions) = &mut self.sessions {
            let Wanted { request, key, .. } = &self.wanted[index];
            let answered = attempt.map(|attempt| Answered {
                request: request.index,
                attempt,
                input_tokens: request.input_tokens,
            });
            let next = sessions.next_send(*key, answered, now_s);
            if let Some((at_s, key)) = next
                && self.wanted.len() < self.drawn.len()
            {
                self.sends.push(Send { at_s, key, intended_s: at_s });
            }
            return;
        }
        let Population::Closed { users, think, pacing } = self.setup.clients.population else {
            return;
        };
        let last = &self.wanted[index];
        let key = last.key + users;
        if self.wanted.len() < self.drawn.len() {
            let from_s = match pacing {
                Pacing::AfterAnswer => now_s,
                Pacing::OnSchedule => last.request.arrival_s,
            };
            let intended_s = from_s + think_s(&think, self.setup.setup.seed, key);
            self.sends.push(Send { at_s: greater(intended_s, now_s), key, intended_s });
        }
    }

    /// Who waits, in the order of service.
    fn line(&self) -> Vec<usize> {
        let waits = |i: &usize| self.attempts[*i].state == State::Waiting;
        let mut line: Vec<usize> = (0..self.attempts.len()).filter(waits).collect();
        match self.setup.line_policy().order {
            ServiceOrder::OldestFirst => {}
            ServiceOrder::NewestFirst => line.reverse(),
            ServiceOrder::ByPriority => {
                let ranks = self.setup.ranks();
                let class = |i: &usize| self.wanted[self.attempts[*i].wanted].request.class;
                line.sort_by_key(|i| ranks.get(class(i) as usize).copied().unwrap_or(0));
            }
        }
        line
    }

    fn final_tokens(&self, attempt: usize) -> u64 {
        self.wanted[self.attempts[attempt].wanted].request.final_tokens()
    }

    /// The place of a request in the whole stream of which this is a part.
    fn place_of(&self, key: u64) -> u64 {
        let inner = &self.setup.setup;
        match self.setup.clients.population {
            Population::Open => Requests::new(&inner.workload, inner.seed).place_in_whole(key),
            Population::Closed { .. } | Population::Sessions => key,
        }
    }

    /// How tokens are drafted.
    fn drafts(&self) -> Speculation {
        match self.setup.setup.rules {
            Rules::Speculative(speculation) => speculation,
            _ => Speculation::NONE,
        }
    }

    fn input_tokens(&self, attempt: usize) -> u64 {
        self.wanted[self.attempts[attempt].wanted].request.input_tokens
    }

    /// What becomes of an attempt whose turn it is and that fits, or does not.
    fn turn_of(&mut self, index: usize, fits: bool) -> Turn {
        let waited_s = self.now_s - self.attempts[index].sent_s;
        let limit_s = self.setup.overload.max_wait_s.unwrap_or(f64::INFINITY);
        let too_late = waited_s > limit_s;
        if !too_late && !fits {
            return Turn::Waits;
        }
        let is_last = self.line().len() == 1;
        let controlled = self
            .setup
            .overload
            .codel
            .is_some_and(|codel| self.codel.drops(&codel, self.now_s, waited_s, is_last));
        if too_late || controlled {
            self.drop_waiting(index, waited_s);
            return Turn::Dropped;
        }
        Turn::Served
    }

    fn drop_waiting(&mut self, index: usize, waited_s: f64) {
        self.attempts[index].state = State::Gone;
        self.recorder.waited_in_vain(waited_s);
        if !self.attempts[index].given_up {
            self.counts.dropped += 1;
            self.unanswered(self.attempts[index].wanted, Outcome::Dropped, self.now_s);
        }
    }

    /// An attempt has got its last token, so many in all.
    fn finish(&mut self, index: usize, output_tokens: u64) {
        let attempt = &mut self.attempts[index];
        attempt.state = State::Gone;
        if attempt.given_up {
            self.counts.wasted_tokens += output_tokens;
            self.recorder.released(self.now_s - attempt.sent_s, self.now_s);
            return;
        }
        let request = Request { output_tokens, ..self.wanted[attempt.wanted].request };
        self.counts.completed += 1;
        self.ttft_from_send.record(attempt.first_token_s - attempt.sent_s);
        let finished = Finished {
            request,
            start_s: attempt.start_s,
            first_token_s: attempt.first_token_s,
            finish_s: self.now_s,
        };
        let sent_late_s = attempt.sent_s - request.arrival_s;
        let wanted = attempt.wanted;
        self.recorder.finished_late_sent(&finished, sent_late_s);
        self.ended.push((self.now_s, true));
        self.next_of_user(wanted, Some(index as u64), self.now_s);
    }
}
