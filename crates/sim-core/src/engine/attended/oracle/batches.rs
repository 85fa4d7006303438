//! The obvious engine of whole batches, from event to event and step by step.

use crate::{
    engine::{
        BatchSetup,
        batch_oracle::{self, Member},
    },
    float::{greater, lesser},
};

use super::{State, Turn, World, seen_until_s};

/// Serve batch after batch until nobody is left.
pub(super) fn serve(world: &mut World<'_>, setup: &BatchSetup) {
    let mut batches = 0;
    loop {
        let seen_until_s = seen_until_s(world.now_s);
        world.hear(|at_s| at_s <= seen_until_s);
        let next_s = world.next_event().map(|event| event.0);
        let line = world.line();
        let since_s = line.iter().map(|i| world.attempts[*i].sent_s);
        let Some(oldest_s) = since_s.min_by(f64::total_cmp) else {
            let Some(next_s) = next_s else { return };
            world.now_s = greater(world.now_s, next_s);
            continue;
        };
        let expired_s = oldest_s + setup.rule.max_delay_s;
        if (line.len() as u64) < setup.rule.max_batch && world.now_s < expired_s {
            world.now_s = lesser(next_s.unwrap_or(f64::INFINITY), expired_s);
            continue;
        }
        let batch = world.take_batch(setup.rule.max_batch as usize);
        if !batch.is_empty() {
            world.serve_batch(setup, &batch, batches);
            batches += 1;
        }
    }
}

impl World<'_> {
    fn take_batch(&mut self, most: usize) -> Vec<usize> {
        let mut batch = Vec::new();
        while batch.len() < most {
            let Some(&index) = self.line().first() else { break };
            if let Turn::Served = self.turn_of(index, true) {
                self.attempts[index].state = State::Running;
                self.attempts[index].start_s = self.now_s;
                batch.push(index);
            }
        }
        batch
    }

    fn serve_batch(&mut self, setup: &BatchSetup, batch: &[usize], batches: usize) {
        let wanted = |world: &Self, index: usize| world.attempts[index].wanted;
        let lead = self.wanted[wanted(self, batch[0])].key;
        let noise = batch_oracle::noise(setup, self.place_of(lead), batches);
        let mut members = Vec::new();
        for &index in batch {
            self.recorder.admitted(greater(0.0, self.now_s - self.attempts[index].sent_s));
            members.push(Member::new(self.wanted[wanted(self, index)].request));
        }
        let prompts = members.iter().map(|member| member.request.input_tokens).sum();
        let extra_s = std::mem::take(&mut self.extra_work_s);
        let Self { now_s, recorder, .. } = self;
        batch_oracle::step(setup, (noise, extra_s), prompts, &mut members, now_s, recorder);
        let first_token_s = self.now_s;
        self.hear(|at_s| at_s < first_token_s);
        for &index in batch {
            self.attempts[index].first_token_s = first_token_s;
            self.attempts[index].generated_tokens = 1;
        }
        while members.iter().any(|member| !member.is_done()) {
            let tokens = members.len() as u64;
            let Self { now_s, recorder, .. } = self;
            batch_oracle::step(setup, (noise, 0.0), tokens, &mut members, now_s, recorder);
        }
        let end_s = self.now_s;
        self.hear(|at_s| at_s < end_s);
        for (&index, member) in batch.iter().zip(&members) {
            self.finish(index, member.request.output_tokens);
        }
    }
}
