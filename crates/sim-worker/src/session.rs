//! One question at a time, in slices.
//!
//! No browser in here: the clock and the post box come from the caller, so the same code is tested
//! natively.

use std::collections::VecDeque;

use planner::{Job, Plan};
use protocol::{FromWorker, ToWorker};
use sim_core::{Progress, Run, Simulation};

/// How long one slice may take, in milliseconds. A cancel waits for at most about this long.
const SLICE_MS: f64 = 8.0;

/// Simulation events between two looks at the clock.
const EVENTS_PER_LOOK: u64 = 512;

/// Time between two signs of life, in milliseconds.
const PROGRESS_MS: f64 = 80.0;

/// The worker's whole state.
#[derive(Default)]
pub(crate) struct Session {
    task: Option<Task>,
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
    pub(crate) fn receive(&mut self, message: ToWorker) {
        match message {
            ToWorker::Plan { generation, question, quick } => {
                let plan = if quick { Plan::quick } else { Plan::new };
                self.task = Some(Task::new(generation, plan(&question.resolved())));
            }
            ToWorker::Cancel { generation } => {
                if self.task.as_ref().is_some_and(|task| task.generation == generation) {
                    self.task = None;
                }
            }
        }
    }

    /// Whether there is work for another slice.
    pub(crate) fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Works for one slice.
    pub(crate) fn work(&mut self, clock_ms: &dyn Fn() -> f64, post: &mut dyn FnMut(FromWorker)) {
        let Some(task) = &mut self.task else { return };
        let start_ms = clock_ms();
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
