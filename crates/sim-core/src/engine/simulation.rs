//! The fast engine: O(1) per step, and closed-form jumps while nothing changes.
//!
//! No step touches who runs (`running.rs`), and step times are lines in the context, so that many steps
//! which change nothing are one jump.

use crate::{
    measure::{Recorder, Run},
    setup::Setup,
    step_time::StepModel,
};

use super::{
    EngineBounds, Keep,
    inbox::Inbox,
    jump::Jump,
    running::{Batch, Running},
    seen_until_s,
};

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running {
        /// Requests that have ended.
        ended: u64,
        /// Requests in all.
        total: u64,
    },
    /// Every request has ended.
    Done,
}

/// The reference rules under one workload, advanced piece by piece.
#[derive(Clone, Debug)]
pub(super) struct ReferenceSimulation<I> {
    model: StepModel,
    /// Who is not running yet.
    inbox: I,
    running: Running,
    recorder: Recorder,
}

impl<I: Inbox> ReferenceSimulation<I> {
    /// Prepare a run of a checked set-up, in which so many users' requests come.
    pub(super) fn new(
        setup: &Setup,
        keep: Keep,
        total: u64,
        open: impl FnOnce(&mut Recorder) -> I,
    ) -> Self {
        let model = StepModel::new(&setup.step_time);
        let mut recorder =
            Recorder::new(setup.slo, EngineBounds::new(&setup.engine, &model), total, keep)
                .judging(&setup.workload);
        let inbox = open(&mut recorder);
        Self { model, inbox, running: Running::new(setup.engine, 0.0), recorder }
    }

    /// Take up to `most` jumps.
    ///
    /// On its own, so that its registers are: merged into its callers it is slower, most of all in
    /// WASM.
    #[inline(never)]
    pub(super) fn advance(&mut self, most: u64) -> Progress {
        for _ in 0..most {
            if self.running.number() == 0 {
                let Some(wake_s) = self.inbox.wake_s() else { return Progress::Done };
                if wake_s > seen_until_s(self.running.now_s) {
                    self.running.now_s = wake_s;
                }
            }
            self.advance_once();
        }
        Progress::Running { ended: self.recorder.ended(), total: self.inbox.total() }
    }

    /// The measures, and what stood before the engine. A simulation that is not
    /// [`Progress::Done`] reports what has ended so far.
    #[must_use]
    pub(super) fn finish(self) -> (Run, I) {
        let in_flight = self.inbox.in_flight(self.running.number(), &self.recorder);
        // Of a server that still works for clients that have gone, the books are open too.
        let is_over = self.running.number() == 0 && self.inbox.wake_s().is_none();
        let run = self.recorder.finish(in_flight);
        debug_assert!(!is_over || run.verify() == Ok(()), "{:?}", run.verify());
        (run, self.inbox)
    }

    /// Compose one step, take it, and as many more as change nothing.
    fn advance_once(&mut self) {
        let seen_until_s = seen_until_s(self.running.now_s);
        if I::ATTENDED {
            self.hear_clients(seen_until_s);
        }
        let running_before = self.running.number();
        let mut budget = self.running.budget();
        let chunk = self.running.continue_prompt(&mut budget);
        let has_room = budget > 0 && running_before < self.running.spec().max_num_seqs;
        let is_waiting = self.inbox.is_waiting(seen_until_s);
        let admitted = if has_room && is_waiting {
            self.admit(budget, running_before, seen_until_s)
        } else {
            Admitted::default()
        };
        let decoding = self.running.decoding();
        let batch = Batch {
            tokens: decoding + chunk + admitted.tokens,
            running: running_before + admitted.requests,
        };
        // The prompt begun earlier, if it takes part; whoever is admitted joins it.
        let sequences = decoding + u64::from(chunk > 0) + admitted.requests;
        let changes = admitted.requests > 0 || self.running.completes_prompts();
        if I::ATTENDED && batch.running == 0 {
            // Whoever waited was dropped, or can never be admitted.
            self.inbox.refuse_head(self.running.now_s, &mut self.recorder);
            return;
        }
        let extra_s = self.inbox.take_extra_work_s();
        let alone = changes || extra_s > 0.0;
        let most = if alone { 1 } else { self.running.steps_until_change(chunk) };
        let lines = self.model.lines(batch.tokens, sequences);
        let mut jump = Jump::along(&lines, self.running.context_tokens(), batch.tokens, most);
        if extra_s > 0.0 {
            jump.first_s += extra_s;
        }
        if jump.steps > 1
            && let Some(cut_s) = self.inbox.cut_s(has_room, is_waiting)
        {
            jump.stop_at_arrival(self.running.now_s, cut_s);
        }
        self.running.take(&batch, &jump, &mut self.recorder);
        self.inbox.hear_before(self.running.now_s, &mut self.recorder);
        if changes {
            self.first_tokens();
        } else {
            self.running.computed_prompt(chunk * jump.steps);
        }
        self.last_tokens();
    }

    /// Admit waiting requests in order of arrival while budget, slots and memory last.
    fn admit(&mut self, mut budget: u64, mut running: u64, seen_until_s: f64) -> Admitted {
        let mut admitted = Admitted::default();
        while budget > 0
            && running < self.running.spec().max_num_seqs
            && let Some(request) = self.inbox.take(
                self.running.now_s,
                seen_until_s,
                self.running.free_kv_tokens(),
                &mut self.recorder,
            )
        {
            let (slot, chunk) = self.running.begin(request, 0, &mut budget);
            self.inbox.started(request.index, slot);
            running += 1;
            admitted.requests += 1;
            admitted.tokens += chunk;
            self.inbox.pass(&mut self.recorder);
        }
        admitted
    }

    /// Give their first token to the requests whose prompt this step completed.
    fn first_tokens(&mut self) {
        while let Some((slot, index, is_over)) = self.running.first_token() {
            self.inbox.first_token(index, self.running.step());
            if is_over {
                self.release(slot);
            }
        }
    }

    /// Let go of the requests that got their last token in this step.
    fn last_tokens(&mut self) {
        while let Some(slot) = self.running.last_token() {
            if !(I::ATTENDED && self.running.has_gone(slot)) {
                self.release(slot);
            }
        }
    }

    /// Let the clients do what they do until now, and free what they gave up.
    fn hear_clients(&mut self, seen_until_s: f64) {
        self.inbox.hear_until(seen_until_s, &mut self.recorder);
        let (now_s, step) = (self.running.now_s, self.running.step());
        while let Some(aborted) = self.inbox.abort(now_s, step, &mut self.recorder) {
            self.running.free(&aborted);
        }
    }

    fn release(&mut self, slot: u32) {
        let finished = self.running.release(slot);
        self.inbox.finished(&finished, &mut self.recorder);
    }
}

/// What one step admitted.
#[derive(Clone, Copy, Debug, Default)]
struct Admitted {
    requests: u64,
    tokens: u64,
}
