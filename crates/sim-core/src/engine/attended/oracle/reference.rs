//! The obvious engine of the reference rules: every running attempt is looked at in every step.

use crate::{
    engine::{speculation::Acceptances, stepwise::drafting_s},
    float::greater,
    measure::{Step, ValueRun},
    step_time::StepShape,
};

use super::{State, Turn, World, seen_until_s};

/// The attempts that hold a slot, in order of admission.
type Running = Vec<usize>;

/// Serve whoever comes until nobody is left.
pub(super) fn serve(world: &mut World<'_>) {
    let mut running = Running::new();
    loop {
        if running.is_empty() && world.line().is_empty() {
            let Some((next_s, ..)) = world.next_event() else { return };
            world.now_s = greater(world.now_s, next_s);
        }
        world.step(&mut running);
    }
}

impl World<'_> {
    /// Compose a step, take it, and hand out its tokens.
    fn step(&mut self, running: &mut Running) {
        let seen_until_s = seen_until_s(self.now_s);
        self.hear(|at_s| at_s <= seen_until_s);
        self.free(running);
        let chunks = self.compose(running);
        if running.is_empty() {
            return;
        }
        let context =
            |i: &usize| self.attempts[*i].computed_tokens + self.attempts[*i].generated_tokens;
        let shape = StepShape {
            tokens: chunks.iter().sum(),
            sequences: chunks.len() as u64,
            context_tokens: running.iter().map(context).sum(),
        };
        let step_time = &self.setup.setup.step_time;
        let decodes = |i: &&usize| self.attempts[**i].generated_tokens > 0;
        let weight = running.iter().filter(decodes).count() as u64;
        let plain = StepShape {
            tokens: weight,
            sequences: weight,
            context_tokens: running.iter().filter(decodes).map(context).sum(),
        };
        let drafts = self.drafts();
        let mut step_s = step_time.step_s(&shape);
        if drafts.tokens > 0 && weight > 0 {
            step_s += drafting_s(&drafts, step_time.step_s(&plain));
        }
        step_s += std::mem::take(&mut self.extra_work_s);
        self.now_s += step_s;
        self.recorder.stepped(&Step {
            gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight },
            total_s: step_s,
            compute_bound: step_time.is_compute_bound(&shape),
            running: running.len() as u64,
            kv_tokens: running.iter().map(|i| self.kv_tokens(*i)).sum(),
        });
        let now_s = self.now_s;
        self.hear(|at_s| at_s < now_s);
        self.hand_out(running, &chunks);
    }

    fn free(&mut self, running: &mut Running) {
        for index in std::mem::take(running) {
            let attempt = &mut self.attempts[index];
            if attempt.to_free {
                attempt.state = State::Gone;
                self.counts.wasted_tokens += attempt.generated_tokens;
                self.recorder.released(self.now_s - attempt.sent_s, self.now_s);
            } else {
                running.push(index);
            }
        }
    }

    /// Tokens for each running attempt in order, after admitting whoever can be admitted.
    fn compose(&mut self, running: &mut Running) -> Vec<u64> {
        let mut budget = i128::from(self.setup.setup.engine.max_num_batched_tokens);
        let width = i128::from(self.drafts().width());
        let mut chunks = Vec::new();
        for &index in running.iter() {
            let left = i128::from(self.input_tokens(index) - self.attempts[index].computed_tokens);
            let tokens = if left == 0 { width } else { left.min(budget) };
            if tokens <= 0 {
                break;
            }
            chunks.push(tokens as u64);
            budget -= tokens;
        }
        let engine = self.setup.setup.engine;
        while budget > 0 && (running.len() as u64) < engine.max_num_seqs {
            let Some(&index) = self.line().first() else { break };
            let held: u64 = running.iter().map(|i| self.kv_tokens(*i)).sum();
            let fits = held + self.kv_tokens(index) <= engine.kv_capacity_tokens;
            match self.turn_of(index, fits) {
                Turn::Waits => break,
                Turn::Dropped => continue,
                Turn::Served => {}
            }
            self.recorder.admitted(self.now_s - self.attempts[index].sent_s);
            self.attempts[index].state = State::Running;
            self.attempts[index].start_s = self.now_s;
            let place = self.place_of(self.wanted[self.attempts[index].wanted].key);
            let acceptances = Acceptances::new(self.setup.setup.seed, place);
            self.attempts[index].acceptances = Some(acceptances);
            running.push(index);
            let tokens = i128::from(self.input_tokens(index)).min(budget);
            chunks.push(tokens as u64);
            budget -= tokens;
        }
        chunks
    }

    /// Tokens that an attempt reserves: drafts are written before they are verified.
    fn kv_tokens(&self, attempt: usize) -> u64 {
        self.final_tokens(attempt) + self.drafts().tokens
    }

    /// Tokens that a decode yields, of which so many are left.
    fn decoded(&mut self, attempt: usize, left: u64) -> u64 {
        let drafts = self.drafts();
        match &mut self.attempts[attempt].acceptances {
            Some(acceptances) if drafts.tokens > 0 => acceptances.next(&drafts).min(left),
            _ => 1,
        }
    }

    fn hand_out(&mut self, running: &mut Running, chunks: &[u64]) {
        for (place, index) in std::mem::take(running).into_iter().enumerate() {
            let input_tokens = self.input_tokens(index);
            let output_tokens = self.wanted[self.attempts[index].wanted].request.output_tokens;
            let generated_tokens = self.attempts[index].generated_tokens;
            let mut yielded = 1;
            if generated_tokens > 0 && place < chunks.len() {
                yielded = self.decoded(index, output_tokens - generated_tokens);
            }
            let attempt = &mut self.attempts[index];
            let is_served = place < chunks.len();
            if is_served && attempt.computed_tokens < input_tokens {
                attempt.computed_tokens += chunks[place];
            }
            if is_served && attempt.computed_tokens == input_tokens {
                if attempt.generated_tokens == 0 {
                    attempt.first_token_s = self.now_s;
                }
                attempt.generated_tokens += yielded;
                self.recorder.came_together(yielded - 1);
            }
            if attempt.generated_tokens < output_tokens {
                running.push(index);
            } else {
                let output_tokens = self.attempts[index].generated_tokens;
                self.finish(index, output_tokens);
            }
        }
    }
}
