//! The `vllm-v1` rules in time: arrivals in, step times around them, measures out.

use crate::{
    engine::{Keep, Progress, has_arrived, jump::Jump},
    float::greater,
    measure::{Finished, Recorder, Step as Taken, ValueRun},
    setup::SetupError,
    step_time::StepModel,
    workload::Requests,
};

use super::{
    counting::{Composer, State, Step},
    front::{Front, Stream},
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
#[derive(Clone, Debug)]
pub struct VllmSimulation {
    engine: VllmEngine<Stream>,
}

impl VllmSimulation {
    /// Prepare a run.
    ///
    /// # Errors
    /// The set-up holds a number outside its domain.
    pub fn new(setup: &VllmSetup, keep: Keep) -> Result<Self, SetupError> {
        setup.check()?;
        let requests = Requests::new(&setup.workload, setup.seed);
        let total = requests.total();
        Ok(Self { engine: VllmEngine::new(setup, keep, total, |_| Stream(requests)) })
    }

    /// Take up to `most` jumps.
    pub fn advance(&mut self, most: u64) -> Progress {
        self.engine.advance(most)
    }

    /// The measures. A simulation that is not [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub fn finish(self) -> VllmRun {
        self.engine.finish().0
    }
}

/// The engine behind whatever stands before it.
///
/// With `steps_in_flight` above 1 a step is composed when the one before it begins, so that it
/// sees neither its outputs nor what arrives while it runs.
#[derive(Clone, Debug)]
pub(in crate::engine) struct VllmEngine<F> {
    model: StepModel,
    /// Who is not known to the scheduler yet, and is told what becomes of it.
    front: F,
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
}

impl<F: Front> VllmEngine<F> {
    /// Prepare a run of a checked set-up, in which so many users' requests come.
    pub(in crate::engine) fn new(
        setup: &VllmSetup,
        keep: Keep,
        total: u64,
        open: impl FnOnce(&mut Recorder) -> F,
    ) -> Self {
        let mut recorder =
            Recorder::new(setup.slo, setup.bounds(), total, keep).judging(&setup.workload);
        Self {
            model: StepModel::new(&setup.step_time),
            front: open(&mut recorder),
            now_s: 0.0,
            composer: Composer::new(setup.vllm, setup.standings.clone()),
            composed: Box::default(),
            pending: Box::default(),
            has_pending: false,
            interrupted: Vec::new(),
            recorder,
            counts: VllmCounts::default(),
        }
    }

    /// Take up to `most` jumps.
    ///
    /// On its own, so that its registers are: merged into its callers it is slower.
    #[inline(never)]
    pub(in crate::engine) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if !self.advance_once() {
                return Progress::Done;
            }
        }
        Progress::Running { ended: self.recorder.ended(), total: self.front.total() }
    }

    /// The measures, and what stood before the engine. A simulation that is not
    /// [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub(in crate::engine) fn finish(self) -> (VllmRun, F) {
        let in_flight = self.front.in_flight(&self.recorder);
        // Of an engine that still works for clients that have gone, the books are open too.
        let is_over = in_flight == 0 && !self.composer.has_requests() && !self.front.has_line();
        (VllmRun::new(self.recorder.finish(in_flight), self.counts, is_over), self.front)
    }

    /// Go on to the end of the next step and of all that are like it, or to the next arrival;
    /// `false` if there is neither.
    fn advance_once(&mut self) -> bool {
        self.receive();
        let has_requests = self.composer.has_requests() || self.front.has_line();
        if has_requests && self.compose() {
            self.note();
            if self.composer.spec().is_async() {
                self.take_pending_and_repeat();
            } else {
                self.take_and_repeat();
            }
            return true;
        }
        if has_requests {
            self.note();
        }
        if self.has_pending {
            let extra_s = self.front.take_extra_work_s();
            self.take_pending(extra_s);
        } else if self.composer.news().preempted.is_empty() {
            // Nothing to do until something happens.
            let Some(next_s) = self.front.wait(self.now_s, &mut self.recorder) else {
                return false;
            };
            self.now_s = next_s;
        }
        true
    }

    /// Whoever has come is here, and whoever has gone is not.
    #[inline]
    fn receive(&mut self) {
        self.front.receive(self.now_s, &mut self.composer, &mut self.recorder, &mut self.counts);
        if F::ATTENDED {
            while let Some(aborted) = self.front.abort(self.now_s, &mut self.recorder) {
                self.free(aborted.slot);
            }
        }
    }

    /// Free a request that nobody waits for.
    fn free(&mut self, id: u32) {
        let journey = self.composer.journey(id);
        if matches!(journey.state(), State::Waiting | State::Leaving) {
            self.recorder.admitted(greater(0.0, self.now_s - journey.times.waits_since_s));
        }
        if self.has_pending {
            let decodes = self.composer.decodes_now(id);
            self.pending.forget(id, decodes);
            self.interrupted.retain(|&other| other != id);
        }
        let tokens = self.composer.abort(id);
        self.front.waste(tokens);
    }

    #[inline]
    fn compose(&mut self) -> bool {
        let mut line = self.front.newcomers(self.now_s, &mut self.recorder);
        self.composer.compose(&mut line, &mut self.composed)
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
        let extra_s = self.front.take_extra_work_s();
        let more = if extra_s > 0.0 { 0 } else { self.composer.steady_steps(&self.composed) };
        let mut jump = self.jump(&self.composed, 1 + more);
        if extra_s > 0.0 {
            jump.first_s += extra_s;
        }
        if more > 0
            && let Some(change_s) = self.change_s()
        {
            jump.stop_at_arrival(self.now_s, change_s);
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
        let extra_s = if self.has_pending { self.front.take_extra_work_s() } else { 0.0 };
        let is_alone = !self.has_pending || !self.pending.ending.is_empty() || extra_s > 0.0;
        let more = if is_alone { 0 } else { self.like_it() };
        if self.has_pending {
            self.take_pending(extra_s);
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
        if let Some(change_s) = self.change_s() {
            let now_s = self.now_s + self.jump(&self.pending, 1).total_s(1);
            if has_arrived(change_s, now_s) {
                return 0;
            }
            jump.stop_at_arrival(now_s, change_s);
        }
        jump.steps
    }

    /// When something happens that can change what is like the step just composed.
    fn change_s(&self) -> Option<f64> {
        self.front.change_s(self.composer.heeds_arrivals(&self.composed))
    }

    /// Take the step on its way, and `extra_s` seconds of other work with it.
    #[inline(never)]
    fn take_pending(&mut self, extra_s: f64) {
        // It takes the place of the one just composed while it is at work.
        std::mem::swap(&mut self.composed, &mut self.pending);
        self.has_pending = false;
        let mut jump = self.jump(&self.composed, 1);
        if F::ATTENDED {
            jump.first_s += extra_s;
        }
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
        if F::ATTENDED {
            if self.composer.running_len() == 0 {
                // All it was for have gone meanwhile.
                self.recorder.ran_until(self.now_s);
            }
            self.front.hear_before(self.now_s, &mut self.recorder);
        }
    }

    /// The outputs of the step composed last come back.
    #[inline(always)]
    fn complete_composed(&mut self) {
        let Self { composer, composed, recorder, front, .. } = self;
        let now_s = self.now_s;
        for &id in &composed.fresh {
            let journey = composer.journey_mut(id);
            let times = &mut journey.times;
            if times.first_token_s.is_nan() {
                times.first_token_s = now_s;
                front.first_token(journey.request.index);
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
            end(composer, front, recorder, id, now_s);
        }
    }
}

/// A request got its last token.
#[inline]
fn end<F: Front>(
    composer: &mut Composer,
    front: &mut F,
    recorder: &mut Recorder,
    id: u32,
    now_s: f64,
) {
    let journey = composer.journey(id);
    let times = journey.times;
    if journey.state() == State::Leaving {
        recorder.admitted(greater(0.0, now_s - times.waits_since_s));
    }
    let mut request = journey.request;
    request.output_tokens = journey.output_tokens();
    let finished = Finished {
        request,
        start_s: times.start_s,
        first_token_s: times.first_token_s,
        finish_s: now_s,
    };
    front.finished(&finished, recorder);
    composer.end(id);
}
