//! One question at a time, in slices.
//!
//! No browser in here: the clock and the post box come from the caller, so the same code is tested
//! natively.

use std::{collections::VecDeque, sync::Arc};

use planner::{Job, Plan};
use protocol::{FromWorker, Question, ToWorker, Traffic};
use sim_core::{Progress, Run, Simulation, Trace};

use crate::{
    aside::Aside,
    calibrate_task, fleet_task, pools_task, proof_task,
    recording_task::{self, Taken},
};

/// How long one slice may take, in milliseconds. A cancel waits for at most about this long.
const SLICE_MS: f64 = 8.0;

/// Simulation events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;

/// Time between two signs of life, in milliseconds.
const PROGRESS_MS: f64 = 80.0;

/// What is said where a recording cannot be read a second time.
const NO_RECORDING: &str = "The recording cannot be read any more. Choose its file again.";

/// The worker's whole state.
#[derive(Default)]
pub(crate) struct Session {
    task: Option<Task>,
    /// Goes on whenever there is no plan to work on.
    proof: Option<(u64, Box<dyn Aside>)>,
    /// Goes on before the proof.
    pools: Option<(u64, Box<dyn Aside>)>,
    /// Goes on before both: a fleet over time, or another long question.
    long: Option<(u64, Box<dyn Aside>)>,
    /// Goes on before all three.
    calibration: Option<(u64, Box<dyn Aside>)>,
    /// What questions about a recording are about.
    recording: Option<Arc<Trace>>,
}

/// A question in progress.
struct Task {
    generation: u64,
    plan: Plan,
    jobs: VecDeque<Job>,
    running: Option<Simulation>,
    runs: Vec<Run>,
    answered: bool,
    last_sign_ms: f64,
}

impl Session {
    /// Takes a message. A plan replaces whatever is running; a cancel for another generation is
    /// late and ignored.
    pub(crate) fn receive(&mut self, message: ToWorker, post: &mut dyn FnMut(FromWorker)) {
        match message {
            ToWorker::Plan { generation, question, quick } => {
                self.task = self.plan(&question, quick).map(|plan| Task::new(generation, plan));
                if self.task.is_none() {
                    post(FromWorker::Refused { generation, message: NO_RECORDING.to_owned() });
                }
            }
            ToWorker::Pools { generation, question, asked } => {
                let trace = self.recording.as_ref();
                let task = pools_task::begin(generation, &question, asked, trace);
                self.pools = Some((generation, task));
            }
            ToWorker::Long { generation, packed } => {
                let task = fleet_task::begin(generation, &packed, self.recording.as_ref());
                self.long = Some((generation, task));
            }
            ToWorker::Calibrate { generation, packed } => {
                self.calibration = Some((generation, calibrate_task::begin(generation, &packed)));
            }
            ToWorker::ForgetRecording => self.recording = None,
            // What becomes a file of the browser is not for here.
            ToWorker::WriteRecording { .. } => {}
            ToWorker::Prove { generation, seed } => {
                self.proof = Some((generation, proof_task::begin(generation, seed)));
            }
            ToWorker::Cancel { generation } => {
                if self.task.as_ref().is_some_and(|task| task.generation == generation) {
                    self.task = None;
                }
                if self.proof.as_ref().is_some_and(|(proof, _)| *proof == generation) {
                    self.proof = None;
                }
                if self.long.as_ref().is_some_and(|(long, _)| *long == generation) {
                    self.long = None;
                }
                if self.calibration.as_ref().is_some_and(|(now, _)| *now == generation) {
                    self.calibration = None;
                }
            }
        }
    }

    /// The plan that answers a question; none where its recording is not there.
    fn plan(&self, question: &Question, quick: bool) -> Option<Plan> {
        if let Traffic::Recorded { recorded_per_s, .. } = question.traffic {
            let trace = self.recording.as_ref()?;
            return Some(recording_task::plan(question, trace, recorded_per_s));
        }
        let plan = if quick { Plan::quick } else { Plan::new };
        Some(plan(&question.resolved()))
    }

    /// Takes what was made of a file. A recording takes the place of the one before.
    pub(crate) fn record(&mut self, taken: Taken) -> FromWorker {
        let Taken { trace, packed } = taken;
        let is_recording = trace.is_some();
        if is_recording {
            self.recording = trace;
        }
        FromWorker::FileRead { is_recording, packed }
    }

    /// The recording.
    pub(crate) const fn recording(&self) -> Option<&Arc<Trace>> {
        self.recording.as_ref()
    }

    /// Whether there is work for another slice.
    pub(crate) fn is_busy(&self) -> bool {
        self.task.is_some()
            || [&self.calibration, &self.long, &self.pools, &self.proof]
                .into_iter()
                .any(Option::is_some)
    }

    /// Works for one slice.
    pub(crate) fn work(&mut self, clock_ms: &dyn Fn() -> f64, post: &mut dyn FnMut(FromWorker)) {
        let start_ms = clock_ms();
        let Some(task) = &mut self.task else {
            self.go_on_aside(&|| clock_ms() - start_ms >= SLICE_MS, post);
            return;
        };
        let mut done = false;
        while !done {
            done = task.advance(post);
            let now_ms = clock_ms();
            if !done && now_ms - task.last_sign_ms >= PROGRESS_MS {
                task.last_sign_ms = now_ms;
                post(task.progress());
            }
            if now_ms - start_ms >= SLICE_MS {
                break;
            }
        }
        if done {
            self.task = None;
        }
    }

    /// A slice of what goes on beside plans: whole pieces, so that a cancel may wait for one of them.
    fn go_on_aside(&mut self, is_over: &dyn Fn() -> bool, post: &mut dyn FnMut(FromWorker)) {
        let slots = [&mut self.calibration, &mut self.long, &mut self.pools, &mut self.proof];
        let Some(slot) = slots.into_iter().find(|slot| slot.is_some()) else { return };
        let Some((_, task)) = slot else { return };
        let mut done = false;
        while !done {
            done = task.advance(post);
            if is_over() {
                break;
            }
        }
        if done {
            *slot = None;
        }
    }
}

impl Task {
    fn new(generation: u64, plan: Plan) -> Self {
        Self {
            generation,
            plan,
            jobs: VecDeque::new(),
            running: None,
            runs: Vec::new(),
            answered: false,
            last_sign_ms: f64::NEG_INFINITY,
        }
    }

    /// One small piece of work; true once the question is answered for good.
    fn advance(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        if let Some(simulation) = &mut self.running {
            if simulation.advance(EVENTS_PER_LOOK) == Progress::Done
                && let Some(simulation) = self.running.take()
            {
                self.runs.push(simulation.finish());
            }
            return false;
        }
        if let Some(job) = self.jobs.pop_front() {
            match job.start() {
                Ok(simulation) => self.running = Some(simulation),
                Err(error) => {
                    let (generation, message) = (self.generation, error.to_string());
                    post(FromWorker::Refused { generation, message });
                    return true;
                }
            }
            return false;
        }
        self.next_round(post)
    }

    /// Hands the finished round back and fetches the next one.
    fn next_round(&mut self, post: &mut dyn FnMut(FromWorker)) -> bool {
        if !self.runs.is_empty() {
            self.plan.accept(&std::mem::take(&mut self.runs));
        }
        self.jobs = self.plan.next_jobs().into();
        let complete = self.jobs.is_empty();
        if complete || !self.answered {
            self.post_answer(complete, post);
        }
        complete
    }

    fn post_answer(&mut self, complete: bool, post: &mut dyn FnMut(FromWorker)) {
        let generation = self.generation;
        match self.plan.answer() {
            Some(answer) => {
                self.answered = true;
                post(FromWorker::Answer { generation, answer: Box::new(answer.clone()), complete });
            }
            None if complete => post(FromWorker::Refused {
                generation,
                message: "No run of this scenario could be finished.".into(),
            }),
            None => {}
        }
    }

    fn progress(&self) -> FromWorker {
        let (done, total) = self.plan.progress();
        FromWorker::Progress { generation: self.generation, done, total }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use protocol::Question;
    use scenario::Scenario;

    use super::*;

    fn plan(generation: u64, quick: bool) -> ToWorker {
        let mut scenario = Scenario::preset();
        scenario.sim.requests = 200;
        scenario.sim.replications = 4;
        let question = Question::of(&scenario.resolve().unwrap()).unwrap();
        ToWorker::Plan { generation, question: Box::new(question), quick }
    }

    /// Works until there is nothing left to do; each look at the clock takes a millisecond.
    fn work_out(session: &mut Session) -> (Vec<FromWorker>, u32) {
        let (mut news, mut slices) = (Vec::new(), 0);
        let now = Cell::new(0.0);
        let clock = || {
            now.set(now.get() + 1.0);
            now.get()
        };
        while session.is_busy() {
            session.work(&clock, &mut |message| news.push(message));
            slices += 1;
        }
        (news, slices)
    }

    fn answers(news: &[FromWorker]) -> Vec<(u64, bool, u32)> {
        let told = |message: &FromWorker| match message {
            FromWorker::Answer { generation, answer, complete } => {
                Some((*generation, *complete, answer.replications))
            }
            _ => None,
        };
        news.iter().filter_map(told).collect()
    }

    #[test]
    fn a_plan_is_answered_early_and_then_for_good() {
        let mut session = Session::default();
        session.receive(plan(3, false), &mut |_| {});
        let (news, slices) = work_out(&mut session);
        assert_eq!(answers(&news), [(3, false, 1), (3, true, 4)]);
        assert!(slices > 10, "{slices} slices: others get a word in");
        assert!(news.iter().any(|message| matches!(message, FromWorker::Progress { .. })));
    }

    #[test]
    fn a_quick_plan_is_answered_once() {
        let mut session = Session::default();
        session.receive(plan(4, true), &mut |_| {});
        let (news, _) = work_out(&mut session);
        assert_eq!(answers(&news), [(4, true, 1)]);
    }

    #[test]
    fn a_newer_plan_replaces_the_one_at_work() {
        let mut session = Session::default();
        session.receive(plan(1, false), &mut |_| {});
        let now = Cell::new(0.0);
        let clock = || now.replace(now.get() + SLICE_MS);
        session.work(&clock, &mut |_| {});
        assert!(session.is_busy());
        session.receive(plan(2, true), &mut |_| {});
        let (news, _) = work_out(&mut session);
        assert_eq!(answers(&news), [(2, true, 1)]);
    }

    /// Whether each told proof was complete.
    fn proofs(news: &[FromWorker]) -> Vec<bool> {
        let told = |message: &FromWorker| match message {
            FromWorker::Proof { answer, .. } => Some(answer.is_complete()),
            _ => None,
        };
        news.iter().filter_map(told).collect()
    }

    #[test]
    fn a_proof_fills_in_and_gives_way_to_plans() {
        let mut session = Session::default();
        session.receive(ToWorker::Prove { generation: 1, seed: 1 }, &mut |_| {});
        session.receive(plan(2, true), &mut |_| {});
        let (news, slices) = work_out(&mut session);
        assert_eq!(answers(&news), [(2, true, 1)]);
        let plan_at = news.iter().position(|m| matches!(m, FromWorker::Answer { .. }));
        let proof_at = news.iter().position(|m| matches!(m, FromWorker::Proof { .. }));
        assert!(plan_at < proof_at, "{plan_at:?} {proof_at:?}");
        let told = proofs(&news);
        assert!(told.len() > 10 && slices > 10, "{} {slices}", told.len());
        assert!(told.iter().rev().skip(1).all(|complete| !complete) && told.ends_with(&[true]));
    }

    #[test]
    fn a_proof_can_be_cancelled_without_the_plan() {
        let mut session = Session::default();
        session.receive(ToWorker::Prove { generation: 1, seed: 1 }, &mut |_| {});
        session.receive(plan(2, true), &mut |_| {});
        session.receive(ToWorker::Cancel { generation: 1 }, &mut |_| {});
        let (news, _) = work_out(&mut session);
        assert!(proofs(&news).is_empty());
        assert_eq!(answers(&news), [(2, true, 1)]);
    }

    /// A question about a recording is refused without one, and answered as the planner answers it.
    #[test]
    fn a_recording_is_planned_for_once_it_is_there() {
        let mut question = Question::of(&Scenario::preset().resolve().unwrap()).unwrap();
        question.ask_of_recording(1.0);
        let ask = |generation| ToWorker::Plan {
            generation,
            question: Box::new(question.clone()),
            quick: false,
        };
        let mut session = Session::default();
        let mut refused = Vec::new();
        session.receive(ask(1), &mut |message| refused.push(message));
        assert!(matches!(&refused[..], [FromWorker::Refused { generation: 1, .. }]));
        assert!(!session.is_busy());

        let bytes = include_bytes!("../../../tests/golden/roofline/roofline_rate1.csv");
        let news = session.record(Taken::of(recording_task::read("rate1.csv", bytes)));
        assert!(matches!(news, FromWorker::FileRead { is_recording: true, .. }), "{news:?}");
        let other = session.record(Taken::of(recording_task::read("none.csv", b"")));
        assert!(matches!(other, FromWorker::FileRead { is_recording: false, .. }), "{other:?}");
        session.receive(ask(2), &mut |_| {});
        let (news, _) = work_out(&mut session);
        let Some(FromWorker::Answer { answer, complete: true, .. }) = news.last() else {
            panic!("{news:?}")
        };
        let capacity = answer.capacity_per_s.unwrap().value;
        assert!((22.5..22.7).contains(&capacity), "{capacity}");

        session.receive(ToWorker::ForgetRecording, &mut |_| {});
        session.receive(ask(3), &mut |_| {});
        assert!(!session.is_busy());
    }

    #[test]
    fn only_the_present_plan_can_be_cancelled() {
        let mut session = Session::default();
        session.receive(plan(5, true), &mut |_| {});
        session.receive(ToWorker::Cancel { generation: 4 }, &mut |_| {});
        assert!(session.is_busy());
        session.receive(ToWorker::Cancel { generation: 5 }, &mut |_| {});
        assert!(!session.is_busy());
    }
}
