//! The scheduler in time: arrivals in, step times around it, measures out. It touches every
//! request of every step; a faster engine is to be tested against it.

use std::{collections::VecDeque, iter::Peekable};

use crate::{
    engine::{
        Keep, has_arrived,
        vllm::{Standings, VllmCounts, VllmRun, VllmSetup},
    },
    float::greater,
    measure::{Finished, Recorder, Step, ValueRun},
    setup::SetupError,
    step_time::{StepShape, StepTimeSpec},
    workload::{Request, Requests},
};

use super::{
    decision::{Completion, Decision},
    request::{Request as Asked, RequestId},
    scheduler::Scheduler,
};

/// A request on its way through the engine.
#[derive(Clone, Copy, Debug)]
struct Journey {
    request: Request,
    /// Since when it waits, where it does.
    waits_since_s: Option<f64>,
    start_s: Option<f64>,
    first_token_s: f64,
    last_token_s: f64,
    /// Tokens computed, or lost to a preemption.
    computed_tokens: u64,
}

/// Simulate `setup` to its last token, step by step and request by request.
///
/// With `steps_in_flight` above 1 a step is composed when the one before it begins, so that it
/// sees neither its outputs nor what arrives while it runs.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_vllm_by_oracle(setup: &VllmSetup, keep: Keep) -> Result<VllmRun, SetupError> {
    setup.check()?;
    let requests = Requests::new(&setup.workload, setup.seed);
    let mut driver = Driver {
        step_time: setup.step_time,
        standings: setup.standings.clone(),
        scheduler: Scheduler::new(setup.vllm)?,
        recorder: Recorder::new(setup.slo, setup.bounds(), requests.total(), keep)
            .judging(&setup.workload),
        coming: requests.peekable(),
        journeys: Vec::new(),
        in_flight: VecDeque::new(),
        now_s: 0.0,
        counts: VllmCounts::default(),
    };
    while driver.advance() {}
    Ok(driver.finish())
}

struct Driver {
    step_time: StepTimeSpec,
    standings: Standings,
    scheduler: Scheduler,
    recorder: Recorder,
    coming: Peekable<Requests>,
    /// By request number of the scheduler.
    journeys: Vec<Journey>,
    /// Steps composed and not yet done, first to last.
    in_flight: VecDeque<Decision>,
    now_s: f64,
    counts: VllmCounts,
}

impl Driver {
    /// Go on to the end of the next step, or to the next arrival; `false` if there is neither.
    fn advance(&mut self) -> bool {
        self.receive();
        self.compose();
        if let Some(decision) = self.in_flight.pop_front() {
            self.execute(&decision);
            return true;
        }
        let Some(request) = self.coming.peek() else { return false };
        self.now_s = request.arrival_s;
        true
    }

    /// Hand over whoever has arrived.
    fn receive(&mut self) {
        let now_s = self.now_s;
        while let Some(request) =
            self.coming.next_if(|request| has_arrived(request.arrival_s, now_s))
        {
            self.recorder.arrived(&request);
            let standing = self.standings.of(&request);
            let asked = Asked {
                prompt_tokens: request.input_tokens,
                output_tokens: request.output_tokens,
                priority: standing.priority,
                arrival: request.index,
                content: standing.content.clone(),
            };
            if let Err(refusal) = self.scheduler.add(&asked) {
                self.counts.refuse(&refusal);
                self.recorder.rejected(&request);
                continue;
            }
            self.journeys.push(Journey {
                request,
                waits_since_s: Some(request.arrival_s),
                start_s: None,
                first_token_s: 0.0,
                last_token_s: 0.0,
                computed_tokens: 0,
            });
        }
    }

    /// Compose as many steps ahead as may be in flight.
    fn compose(&mut self) {
        while (self.in_flight.len() as u64) < self.scheduler.spec().steps_in_flight
            && self.scheduler.has_requests()
        {
            let decision = self.scheduler.schedule();
            self.note(&decision);
            if !decision.is_empty() {
                self.in_flight.push_back(decision);
            } else if decision.preempted.is_empty() || !self.in_flight.is_empty() {
                // Nothing to do until an output or a request comes.
                break;
            }
        }
    }

    /// Keep account of who waits, and of what is lost and found.
    fn note(&mut self, decision: &Decision) {
        for &id in &decision.preempted {
            self.counts.preemptions += 1;
            self.journeys[id.index()].waits_since_s = Some(self.now_s);
        }
        for &(id, cached_tokens) in &decision.cached_tokens {
            self.counts.cached_tokens += cached_tokens;
            let journey = &mut self.journeys[id.index()];
            self.counts.recomputed_tokens += journey.computed_tokens.saturating_sub(cached_tokens);
            stop_waiting(journey, self.now_s, &mut self.recorder);
        }
        for scheduled in &decision.scheduled {
            self.journeys[scheduled.id.index()].computed_tokens =
                scheduled.context_tokens + scheduled.tokens;
        }
    }

    /// Take a step.
    fn execute(&mut self, decision: &Decision) {
        let started_s = self.now_s;
        let shape = StepShape {
            tokens: decision.tokens(),
            sequences: decision.scheduled.len() as u64,
            // A decode reads the keys and values of all tokens so far, its own included.
            context_tokens: decision
                .scheduled
                .iter()
                .map(|scheduled| scheduled.context_tokens + u64::from(scheduled.decodes))
                .sum(),
        };
        let step_s = self.step_time.step_s(&shape);
        let running = self.scheduler.running().len() as u64;
        let kv_tokens = self.kv_tokens();
        self.now_s += step_s;
        for &id in &decision.new {
            self.journeys[id.index()].start_s = Some(started_s);
        }
        let completion = self.scheduler.complete(decision);
        let weight = self.hand_out(&completion, started_s);
        self.recorder.stepped(&Step {
            gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight },
            total_s: step_s,
            compute_bound: self.step_time.is_compute_bound(&shape),
            running,
            kv_tokens,
        });
        for &id in &completion.finished {
            self.end(id);
        }
    }

    fn kv_tokens(&self) -> u64 {
        let spec = self.scheduler.spec();
        (spec.usable_blocks() - self.scheduler.free_blocks()) * spec.block_size
    }

    /// Give sampled tokens to their requests. Returns how many gaps between tokens were exactly
    /// this step; other gaps are recorded here.
    fn hand_out(&mut self, completion: &Completion, started_s: f64) -> u64 {
        let mut one_step = 0;
        for &id in &completion.sampled {
            let output_tokens = self.scheduler.output_tokens(id);
            let journey = &mut self.journeys[id.index()];
            if output_tokens == 1 {
                journey.first_token_s = self.now_s;
            } else if journey.last_token_s == started_s {
                one_step += 1;
            } else {
                self.recorder.gap(self.now_s - journey.last_token_s);
            }
            journey.last_token_s = self.now_s;
        }
        one_step
    }

    /// A request got its last token.
    fn end(&mut self, id: RequestId) {
        let journey = &mut self.journeys[id.index()];
        // Its last token may have been on its way when it was preempted.
        stop_waiting(journey, self.now_s, &mut self.recorder);
        let mut request = journey.request;
        // The longest sequence of the model may have cut it short.
        request.output_tokens = self.scheduler.output_tokens(id);
        self.recorder.finished(&Finished {
            request,
            start_s: journey.start_s.unwrap_or(request.arrival_s),
            first_token_s: journey.first_token_s,
            finish_s: self.now_s,
        });
    }

    fn finish(self) -> VllmRun {
        let in_flight = self.scheduler.running().len() + self.scheduler.waiting_len();
        VllmRun::new(self.recorder.finish(in_flight as u64), self.counts, in_flight == 0)
    }
}

/// Count the time a request has waited as time in the system.
fn stop_waiting(journey: &mut Journey, now_s: f64, recorder: &mut Recorder) {
    if let Some(since_s) = journey.waits_since_s.take() {
        // An arrival may be seen a rounding error early.
        recorder.admitted(greater(0.0, now_s - since_s));
    }
}
