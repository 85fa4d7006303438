//! The obvious engine of whole batches: it waits from event to event, and takes every step of a
//! batch by itself, looking at each of its requests.

use std::collections::VecDeque;

use crate::{
    float::{greater, lesser},
    measure::{Finished, Recorder, Run, Step, ValueRun},
    random::{Purpose, Stream},
    setup::SetupError,
    step_time::StepShape,
    workload::{Request, Requests},
};

use super::{BatchSetup, EngineBounds, Keep, ServiceNoise, has_arrived};

/// A request of the batch in service.
struct Member {
    request: Request,
    /// Tokens whose keys and values its slot holds.
    context_tokens: u64,
    /// Output tokens, those beyond its own end not counted.
    generated_tokens: u64,
}

/// Simulate whole batches step by step and request by request.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub(super) fn batches_by_oracle(setup: &BatchSetup, keep: Keep) -> Result<Run, SetupError> {
    setup.check()?;
    let requests = Requests::new(&setup.workload, setup.seed);
    let bounds = EngineBounds {
        max_num_seqs: setup.rule.max_batch,
        kv_capacity_tokens: u64::MAX,
        least_s_per_token: 0.0,
        #[cfg(feature = "kernel")]
        api_s: crate::step_time::StepModel::new(&setup.step_time).api_s(),
    };
    let mut recorder =
        Recorder::new(setup.slo, bounds, requests.total(), keep.precision, keep.requests)
            .judging(&setup.workload);
    let place_of = requests.clone();
    let mut coming = requests.peekable();
    let mut waiting: VecDeque<Request> = VecDeque::new();
    let (mut now_s, mut batches) = (0.0, 0);
    loop {
        while let Some(request) = coming.next_if(|request| has_arrived(request.arrival_s, now_s)) {
            recorder.arrived(&request);
            waiting.push_back(request);
        }
        let next_s = coming.peek().map_or(f64::INFINITY, |request| request.arrival_s);
        let Some(lead) = waiting.front().copied() else {
            if coming.peek().is_none() {
                break;
            }
            now_s = greater(now_s, next_s);
            continue;
        };
        let expired_s = lead.arrival_s + setup.rule.max_delay_s;
        let is_full = waiting.len() as u64 >= setup.rule.max_batch;
        if !is_full && now_s < expired_s {
            now_s = lesser(next_s, expired_s);
            continue;
        }
        let size = (waiting.len() as u64).min(setup.rule.max_batch) as usize;
        let batch: Vec<Request> = waiting.drain(..size).collect();
        let place = place_of.place_in_whole(lead.index);
        let noise = noise(setup, place, batches);
        serve(setup, noise, batch, &mut now_s, &mut recorder);
        batches += 1;
    }
    let run = recorder.finish(0);
    debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
    Ok(run)
}

fn noise(setup: &BatchSetup, place: u64, batches: usize) -> f64 {
    match &setup.noise {
        ServiceNoise::None => 1.0,
        ServiceNoise::LogNormal { sigma } => {
            let normal = Stream::of_request(setup.seed, Purpose::Service, place).normal();
            libm::exp(sigma * normal - 0.5 * sigma * sigma)
        }
        ServiceNoise::Recorded(factors) => factors.get(batches).copied().unwrap_or(1.0),
    }
}

/// Prefill everybody's prompt in one step, then decode until everybody has all tokens.
fn serve(
    setup: &BatchSetup,
    noise: f64,
    batch: Vec<Request>,
    now_s: &mut f64,
    recorder: &mut Recorder,
) {
    let start_s = *now_s;
    let mut members: Vec<Member> = batch
        .into_iter()
        .map(|request| Member { request, context_tokens: 0, generated_tokens: 0 })
        .collect();
    for member in &members {
        recorder.admitted(start_s - member.request.arrival_s);
    }
    let prompts = members.iter().map(|member| member.request.input_tokens).sum();
    step(setup, noise, prompts, &mut members, now_s, recorder);
    let first_token_s = *now_s;
    while members.iter().any(|member| member.generated_tokens < member.request.output_tokens) {
        let tokens = members.len() as u64;
        step(setup, noise, tokens, &mut members, now_s, recorder);
    }
    for Member { request, .. } in members {
        recorder.finished(&Finished { request, start_s, first_token_s, finish_s: *now_s });
    }
}

/// One step on `tokens` tokens: each slot gets one more, wanted or not.
fn step(
    setup: &BatchSetup,
    noise: f64,
    tokens: u64,
    members: &mut [Member],
    now_s: &mut f64,
    recorder: &mut Recorder,
) {
    let shape = StepShape {
        tokens,
        sequences: members.len() as u64,
        context_tokens: members.iter().map(|member| member.context_tokens).sum(),
    };
    let step_s = noise * setup.step_time.step_s(&shape);
    *now_s += step_s;
    let is_decoding = |member: &&Member| {
        member.generated_tokens > 0 && member.generated_tokens < member.request.output_tokens
    };
    let decoding = members.iter().filter(is_decoding).count() as u64;
    recorder.stepped(&Step {
        gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight: decoding },
        total_s: step_s,
        compute_bound: setup.step_time.is_compute_bound(&shape),
        running: members.len() as u64,
        kv_tokens: 0,
    });
    for member in members {
        let is_prefill = member.context_tokens == 0;
        member.context_tokens += if is_prefill { member.request.input_tokens + 1 } else { 1 };
        member.generated_tokens = (member.generated_tokens + 1).min(member.request.output_tokens);
    }
}
