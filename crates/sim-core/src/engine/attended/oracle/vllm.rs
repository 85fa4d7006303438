//! The obvious engine of vLLM's rules: its scheduler, which looks at every request in every step, with
//! its new requests in the clients' line instead of its own queue.

use std::collections::VecDeque;

use crate::{
    engine::{
        VllmRules,
        seldom::vllm_setup,
        vllm::{
            Completion, Decision, Line, Prompt, Request as Asked, RequestId, Scheduler, Standings,
            VllmCounts,
        },
    },
    float::greater,
    measure::{Step, ValueRun},
    setup::SetupError,
    step_time::StepShape,
};

use super::{Offer, State, Turn, World, seen_until_s};

/// An attempt in the scheduler.
struct Journey {
    attempt: usize,
    /// Since when it waits, where it does.
    waits_since_s: Option<f64>,
    last_token_s: f64,
    /// Tokens computed, or lost to a preemption.
    computed_tokens: u64,
}

struct Driver<'a, 'b> {
    world: &'a mut World<'b>,
    standings: Standings,
    scheduler: Scheduler,
    /// By request number of the scheduler.
    journeys: Vec<Journey>,
    /// Steps composed and not yet done, first to last.
    in_flight: VecDeque<Decision>,
    counts: VllmCounts,
}

/// Serve whoever comes until nobody is left.
pub(super) fn serve(world: &mut World<'_>, rules: VllmRules) -> Result<VllmCounts, SetupError> {
    let setup = vllm_setup(&world.setup.setup, rules);
    let mut driver = Driver {
        world,
        standings: setup.standings,
        scheduler: Scheduler::new(setup.vllm)?,
        journeys: Vec::new(),
        in_flight: VecDeque::new(),
        counts: VllmCounts::default(),
    };
    while driver.advance() {}
    debug_assert_eq!(driver.scheduler.verify(), Ok(()));
    Ok(driver.counts)
}

/// The clients' line before the scheduler.
struct AtTheLine<'a, 'b> {
    world: &'a mut World<'b>,
    standings: &'a Standings,
    journeys: &'a mut Vec<Journey>,
}

impl Line for AtTheLine<'_, '_> {
    fn number(&self) -> usize {
        self.world.line().len()
    }

    fn head(&mut self) -> Option<Asked> {
        let attempt = *self.world.line().first()?;
        let wanted = &self.world.wanted[self.world.attempts[attempt].wanted];
        let request = wanted.request;
        let standing = self.standings.of(&request);
        // Whether anybody will ask it again is of no account: where nobody does, nothing is found.
        let prompt = Prompt {
            before: wanted.before.clone(),
            request: request.index,
            tokens: request.input_tokens,
        };
        let content = standing.content.of_attempt(&prompt, attempt as u64);
        Some(Asked {
            prompt_tokens: request.input_tokens,
            output_tokens: request.output_tokens,
            priority: standing.priority,
            arrival: attempt as u64,
            content,
        })
    }

    fn offer(&mut self, fits: bool, id: RequestId) -> Offer {
        let Some(&attempt) = self.world.line().first() else { return Offer::Blocked };
        match self.world.turn_of(attempt, fits) {
            Turn::Waits => return Offer::Blocked,
            Turn::Dropped => return Offer::Dropped,
            Turn::Served => {}
        }
        debug_assert_eq!(id.index(), self.journeys.len());
        let of = &mut self.world.attempts[attempt];
        of.state = State::Running;
        self.journeys.push(Journey {
            attempt,
            waits_since_s: Some(of.sent_s),
            last_token_s: 0.0,
            computed_tokens: 0,
        });
        Offer::Served(self.world.wanted[of.wanted].request)
    }
}

impl Driver<'_, '_> {
    /// Go on to the end of the next step, or to the next event; `false` if there is neither.
    fn advance(&mut self) -> bool {
        self.hear();
        self.compose();
        if let Some(decision) = self.in_flight.pop_front() {
            self.execute(&decision);
            return true;
        }
        let Some((next_s, ..)) = self.world.next_event() else { return false };
        self.world.now_s = greater(self.world.now_s, next_s);
        true
    }

    /// Clients act until now.
    fn hear(&mut self) {
        let seen_until_s = seen_until_s(self.world.now_s);
        self.world.hear(|at_s| at_s <= seen_until_s);
        self.free();
    }

    /// Abort whoever's client has gone and told.
    fn free(&mut self) {
        for index in 0..self.journeys.len() {
            let journey = &mut self.journeys[index];
            let attempt = &mut self.world.attempts[journey.attempt];
            if !attempt.to_free || attempt.state != State::Running {
                continue;
            }
            let now_s = self.world.now_s;
            attempt.state = State::Gone;
            self.world.counts.wasted_tokens += attempt.generated_tokens;
            if let Some(since_s) = journey.waits_since_s.take() {
                self.world.recorder.admitted(greater(0.0, now_s - since_s));
            }
            self.world.recorder.released(now_s - attempt.sent_s, now_s);
            self.scheduler.abort(RequestId::of_index(index));
        }
    }

    /// Compose as many steps ahead as may be in flight.
    fn compose(&mut self) {
        while (self.in_flight.len() as u64) < self.scheduler.spec().steps_in_flight
            && (self.scheduler.has_requests() || !self.world.line().is_empty())
        {
            let mut line = AtTheLine {
                world: &mut *self.world,
                standings: &self.standings,
                journeys: &mut self.journeys,
            };
            let decision = self.scheduler.schedule_with(&mut line);
            self.note(&decision);
            if !decision.is_empty() {
                self.in_flight.push_back(decision);
            } else if decision.preempted.is_empty() || !self.in_flight.is_empty() {
                // Nothing to do until an output or a request comes.
                break;
            }
            if (self.in_flight.len() as u64) < self.scheduler.spec().steps_in_flight {
                // Whoever was dropped may have tried again at once.
                self.hear();
            }
        }
    }

    /// Keep account of who waits, and of what is lost and found.
    fn note(&mut self, decision: &Decision) {
        let now_s = self.world.now_s;
        for &id in &decision.preempted {
            self.counts.preemptions += 1;
            self.journeys[id.index()].waits_since_s = Some(now_s);
        }
        for &(id, cached_tokens) in &decision.cached_tokens {
            self.counts.cached_tokens += cached_tokens;
            let journey = &mut self.journeys[id.index()];
            self.counts.recomputed_tokens += journey.computed_tokens.saturating_sub(cached_tokens);
            if let Some(since_s) = journey.waits_since_s.take() {
                // An arrival may be seen a rounding error early.
                self.world.recorder.admitted(greater(0.0, now_s - since_s));
            }
        }
        for scheduled in &decision.scheduled {
            self.journeys[scheduled.id.index()].computed_tokens =
                scheduled.context_tokens + scheduled.tokens;
        }
    }

    /// Take a step.
    fn execute(&mut self, decision: &Decision) {
        let started_s = self.world.now_s;
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
        let extra_s = std::mem::take(&mut self.world.extra_work_s);
        let step_time = &self.world.setup.setup.step_time;
        let step_s = step_time.step_s(&shape) + extra_s;
        let running = self.scheduler.running().len() as u64;
        let spec = self.scheduler.spec();
        let kv_tokens = (spec.usable_blocks() - self.scheduler.free_blocks()) * spec.block_size;
        self.world.now_s += step_s;
        let now_s = self.world.now_s;
        for &id in &decision.new {
            self.world.attempts[self.journeys[id.index()].attempt].start_s = started_s;
        }
        if running == 0 {
            self.world.recorder.ran_until(now_s);
        }
        self.world.hear(|at_s| at_s < now_s);
        let completion = self.scheduler.complete(decision);
        let weight = self.hand_out(&completion, started_s);
        self.world.recorder.stepped(&Step {
            gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight },
            total_s: step_s,
            compute_bound: step_time.is_compute_bound(&shape),
            running,
            kv_tokens,
        });
        for &id in &completion.finished {
            self.end(id);
        }
    }

    /// Give sampled tokens to their requests. Returns how many gaps between tokens were exactly
    /// this step; other gaps are recorded here.
    fn hand_out(&mut self, completion: &Completion, started_s: f64) -> u64 {
        let mut one_step = 0;
        for &id in &completion.sampled {
            let output_tokens = self.scheduler.output_tokens(id);
            let journey = &mut self.journeys[id.index()];
            let attempt = &mut self.world.attempts[journey.attempt];
            attempt.generated_tokens = output_tokens;
            if output_tokens == 1 {
                attempt.first_token_s = self.world.now_s;
            } else if journey.last_token_s == started_s {
                one_step += 1;
            } else {
                self.world.recorder.gap(self.world.now_s - journey.last_token_s);
            }
            journey.last_token_s = self.world.now_s;
        }
        one_step
    }

    /// A request got its last token, which may have been on its way when it was preempted.
    fn end(&mut self, id: RequestId) {
        let journey = &mut self.journeys[id.index()];
        if let Some(since_s) = journey.waits_since_s.take() {
            self.world.recorder.admitted(self.world.now_s - since_s);
        }
        let attempt = journey.attempt;
        self.world.finish(attempt, self.scheduler.output_tokens(id));
    }
}
