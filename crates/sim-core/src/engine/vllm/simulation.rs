//! The `vllm-v1` rules in time: arrivals in, step times around them, measures out.

use crate::{
    engine::{Keep, Progress, has_arrived, jump::Jump, seen_until_s},
    float::greater,
    measure::{Finished, Recorder, Step as Taken, ValueRun},
    setup::SetupError,
    step_time::StepModel,
    workload::Requests,
};

use super::{
    counting::{Composer, State, Step},
    setup::{VllmCounts, VllmRun, VllmSetup},
};

/// Simulate `setup` to its last token.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_vllm(setup: &VllmSetup, keep: Keep) -> Result<VllmRun, SetupError> {
    let mut simulation = VllmSimulation::new(setup, keep)?;
    while simulation.advance(u64::MAX) != Progress::Done {}
    Ok(simulation.finish())
}

/// A run under the `vllm-v1` rules, advanced piece by piece.
///
/// With `steps_in_flight` above 1 a step is composed when the one before it begins, so that it
/// sees neither its outputs nor what arrives while it runs.
#[derive(Clone, Debug)]
pub struct VllmSimulation {
    model: StepModel,
    /// The rest of the workload; its next request has not arrived yet.
    requests: Requests,
    now_s: f64,
    composer: Composer,
    /// The step composed last.
    composed: Box<Step>,
    /// A step that was composed before it, and is on its way (asynchronous scheduling).
    pending: Box<Step>,
    has_pending: bool,
    /// Requests that decoded until now, and whose token of the pending step still counts.
    interrupted: Vec<u32>,
    recorder: Recorder,
    counts: VllmCounts,
    arrived: u64,
}

impl VllmSimulation {
    /// Prepare a run.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn new(setup: &VllmSetup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let requests = Requests::new(&setup.workload, setup.seed);
        let recorder = Recorder::new(
            setup.slo,
            setup.bounds(),
            requests.total(),
            keep.precision,
            keep.requests,
        )
        .judging(&setup.workload);
        Ok(Self {
            model: StepModel::new(&setup.step_time),
            requests,
            now_s: 0.0,
            composer: Composer::new(setup.vllm, setup.standings.clone()),
            composed: Box::default(),
            pending: Box::default(),
            has_pending: false,
            interrupted: Vec::new(),
            recorder,
            counts: VllmCounts::default(),
            arrived: 0,
        })
    }

    /// Take up to `most` jumps.
    ///
    /// On its own, so that its registers are: merged into its callers it is slower.
    #[inline(never)]
    pub fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if !self.advance_once() {
                return Progress::Done;
            }
        }
        Progress::Running { ended: self.recorder.ended(), total: self.requests.total() }
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub fn finish(self) -> VllmRun {
        let in_flight = self.arrived - self.recorder.ended();
        VllmRun::new(self.recorder.finish(in_flight), self.counts)
    }

    /// Go on to the end of the next step and of all that are like it, or to the next arrival;
    /// `false` if there is neither.
    fn advance_once(&mut self) -> bool {
        self.receive();
        if self.composer.has_requests() && self.composer.compose(&mut self.composed) {
            self.note();
            if self.composer.spec().is_async() {
                self.take_pending_and_repeat();
            } else {
                self.take_and_repeat();
            }
            return true;
        }
        if self.composer.has_requests() {
            self.note();
        }
        if self.has_pending {
            self.take_pending();
        } else if self.composer.news().preempted.is_empty() {
            // Nothing to do until a request comes.
            let Some(next) = self.requests.peek() else { return false };
            self.now_s = next.arrival_s;
        }
        true
    }

    /// Hand over whoever has arrived; turn away those that can never be served.
    #[inline]
    fn receive(&mut self) {
        let seen_until_s = seen_until_s(self.now_s);
        while let Some(request) = self.requests.peek()
            && request.arrival_s <= seen_until_s
        {
            self.recorder.arrived(request);
            self.arrived += 1;
            if let Err(refusal) = self.composer.add(request) {
                self.counts.refuse(&refusal);
                self.recorder.rejected(request);
            }
            self.requests.pass();
        }
    }

    /// Keep account of who waits, and of what is lost and found.
    #[inline(always)]
    fn note(&mut self) {
        let Self { composer, recorder, counts, .. } = self;
        for index in 0..composer.news().admitted.len() {
            let (id, cached_tokens) = composer.news().admitted[index];
            let journey = composer.journey(id);
            counts.cached_tokens += cached_tokens;
            counts.recomputed_tokens += journey.lost_tokens().saturating_sub(cached_tokens);
            // An arrival may be seen a rounding error early.
            recorder.admitted(greater(0.0, self.now_s - journey.times.waits_since_s));
        }
        if !composer.news().preempted.is_empty() || !composer.news().interrupted.is_empty() {
            self.note_losses();
        }
    }

    #[cold]
    fn note_losses(&mut self) {
        let news = self.composer.news();
        let (interrupted, preempted) = (news.interrupted.clone(), news.preempted.clone());
        if self.has_pending {
            self.interrupted.extend_from_slice(&interrupted);
        } else {
            for id in interrupted {
                self.composer.journey_mut(id).times.last_token_s = self.now_s;
            }
        }
        for id in preempted {
            self.counts.preemptions += 1;
            self.composer.journey_mut(id).times.waits_since_s = self.now_s;
        }
    }

    /// Synchronous: take the step just composed, and as many more as change nothing.
    #[inline]
    fn take_and_repeat(&mut self) {
        let more = self.composer.steady_steps(&self.composed);
        let mut jump = self.jump(&self.composed, 1 + more);
        if more > 0
            && let Some(arrival_s) = self.heeded_arrival_s()
        {
            jump.stop_at_arrival(self.now_s, arrival_s);
        }
        self.begin_composed();
        self.composer.repeat(jump.steps - 1, &mut self.composed);
        self.take(&jump, self.composed.decoding);
        self.complete_composed();
    }

    /// Asynchronous: take the step on its way, and all but the last of those that are like the one
    /// just composed, which stays on its way.
    #[inline(never)]
    fn take_pending_and_repeat(&mut self) {
        let more =
            if self.has_pending && self.pending.ending.is_empty() { self.like_it() } else { 0 };
        if self.has_pending {
            self.take_pending();
        }
        if more > 0 {
            let jump = self.jump(&self.composed, more);
            self.begin_composed();
            self.composer.repeat(jump.steps, &mut self.composed);
            self.take(&jump, self.composed.decoding);
        }
        std::mem::swap(&mut self.composed, &mut self.pending);
        self.has_pending = true;
    }

    /// How many more steps can be composed like the last one, each when the one before it begins.
    fn like_it(&self) -> u64 {
        let most = self.composer.steady_steps(&self.composed);
        if most == 0 {
            return 0;
        }
        let mut jump = self.jump(&self.composed, most);
        if let Some(arrival_s) = self.heeded_arrival_s() {
            let now_s = self.now_s + self.jump(&self.pending, 1).total_s(1);
            if has_arrived(arrival_s, now_s) {
                return 0;
            }
            jump.stop_at_arrival(now_s, arrival_s);
        }
        jump.steps
    }

    /// When the next request comes, if it can change what is like the step just composed.
    fn heeded_arrival_s(&self) -> Option<f64> {
        let next = self.requests.peek()?;
        self.composer.heeds_arrivals(&self.composed).then_some(next.arrival_s)
    }

    #[inline(never)]
    fn take_pending(&mut self) {
        // It takes the place of the one just composed while it is at work.
        std::mem::swap(&mut self.composed, &mut self.pending);
        self.has_pending = false;
        let jump = self.jump(&self.composed, 1);
        self.begin_composed();
        self.take(&jump, self.composed.decoding);
        self.complete_composed();
        std::mem::swap(&mut self.composed, &mut self.pending);
    }

    /// `step` and as many more as change nothing, `most` in all, on one branch of the step time.
    #[inline]
    fn jump(&self, step: &Step, most: u64) -> Jump {
        let lines = self.model.lines(step.tokens, step.sequences);
        Jump::along(&lines, step.context_tokens, step.tokens, most)
    }

    /// The step composed last begins.
    #[inline]
    fn begin_composed(&mut self) {
        for &id in &self.composed.new {
            self.composer.journey_mut(id).times.start_s = self.now_s;
        }
    }

    /// Advance time, and record what the steps did.
    #[inline(always)]
    fn take(&mut self, jump: &Jump, decoding: u64) {
        let total_s = jump.total_s(jump.steps);
        self.now_s += total_s;
        let spec = self.composer.spec();
        self.recorder.stepped(&Taken {
            gaps: ValueRun {
                first: jump.first_s,
                slope: jump.slope_s,
                count: jump.steps,
                weight: decoding,
            },
            total_s,
            compute_bound: jump.compute_bound,
            running: self.composer.running_len(),
            kv_tokens: (spec.usable_blocks() - self.composer.free_blocks()) * spec.block_size,
        });
    }

    /// The outputs of the step composed last come back.
    #[inline(always)]
    fn complete_composed(&mut self) {
        let Self { composer, composed, recorder, .. } = self;
        let now_s = self.now_s;
        for &id in &composed.fresh {
            let times = &mut composer.journey_mut(id).times;
            if times.first_token_s.is_nan() {
                times.first_token_s = now_s;
            } else {
                recorder.gap(now_s - times.last_token_s);
            }
            times.last_token_s = now_s;
        }
        if !self.interrupted.is_empty() {
            for id in self.interrupted.drain(..) {
                composer.journey_mut(id).times.last_token_s = now_s;
            }
        }
        for &id in &composed.ending {
            end(composer, recorder, id, now_s);
        }
    }
}

/// A request got its last token.
#[inline]
fn end(composer: &mut Composer, recorder: &mut Recorder, id: u32, now_s: f64) {
    let journey = composer.journey(id);
    let times = journey.times;
    if journey.state() == State::Leaving {
        recorder.admitted(greater(0.0, now_s - times.waits_since_s));
    }
    let mut request = journey.request;
    request.output_tokens = journey.output_tokens();
    recorder.finished(&Finished {
        request,
        start_s: times.start_s,
        first_token_s: times.first_token_s,
        finish_s: now_s,
    });
    composer.end(id);
}
