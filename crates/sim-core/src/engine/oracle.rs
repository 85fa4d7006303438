//! The obvious engine: it loops over every running request in every step. Slow on purpose; the
//! fast engine is tested against it.

use std::collections::VecDeque;

use crate::{
    measure::{Finished, Recorder, Run, Step, ValueRun},
    setup::{Setup, SetupError},
    step_time::{StepModel, StepShape},
    workload::{Request, Requests},
};

use super::{EngineBounds, Keep, has_arrived};

struct Running {
    request: Request,
    start_s: f64,
    computed_tokens: u64,
    generated_tokens: u64,
    first_token_s: f64,
}

/// Simulate `setup` step by step and request by request.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub(super) fn reference_by_oracle(setup: &Setup, keep: Keep) -> Result<Run, SetupError> {
    setup.check()?;
    let requests: Vec<Request> = Requests::new(&setup.workload, setup.seed).collect();
    let bounds = EngineBounds::new(&setup.engine, &StepModel::new(&setup.step_time));
    let total = requests.len() as u64;
    let mut recorder = Recorder::new(setup.slo, bounds, total, keep.precision, keep.requests)
        .judging(&setup.workload);
    let mut coming = requests.into_iter().peekable();
    let (mut waiting, mut running) = (VecDeque::new(), Vec::new());
    let mut now_s = 0.0;
    loop {
        while let Some(request) = coming.next_if(|request| has_arrived(request.arrival_s, now_s)) {
            recorder.arrived(&request);
            if request.final_tokens() > setup.engine.kv_capacity_tokens {
                recorder.rejected(&request);
            } else {
                waiting.push_back(request);
            }
        }
        if waiting.is_empty() && running.is_empty() {
            let Some(request) = coming.peek() else { break };
            now_s = request.arrival_s;
            continue;
        }
        step(setup, &mut now_s, &mut waiting, &mut running, &mut recorder);
    }
    let run = recorder.finish((waiting.len() + running.len()) as u64);
    debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
    Ok(run)
}

/// Compose a step, take it, and hand out its tokens.
fn step(
    setup: &Setup,
    now_s: &mut f64,
    waiting: &mut VecDeque<Request>,
    running: &mut Vec<Running>,
    recorder: &mut Recorder,
) {
    let chunks = compose(setup, *now_s, waiting, running, recorder);
    let shape = StepShape {
        tokens: chunks.iter().sum(),
        sequences: chunks.len() as u64,
        context_tokens: running.iter().map(|r| r.computed_tokens + r.generated_tokens).sum(),
    };
    let step_s = setup.step_time.step_s(&shape);
    *now_s += step_s;
    let decoding = running.iter().filter(|r| r.generated_tokens > 0).count() as u64;
    recorder.stepped(&Step {
        gaps: ValueRun { first: step_s, slope: 0.0, count: 1, weight: decoding },
        total_s: step_s,
        compute_bound: setup.step_time.is_compute_bound(&shape),
        running: running.len() as u64,
        kv_tokens: running.iter().map(|r| r.request.final_tokens()).sum(),
    });
    for (r, tokens) in running.iter_mut().zip(chunks) {
        if r.computed_tokens < r.request.input_tokens {
            r.computed_tokens += tokens;
            if r.computed_tokens < r.request.input_tokens {
                continue;
            }
        }
        r.generated_tokens += 1;
        if r.generated_tokens == 1 {
            r.first_token_s = *now_s;
        }
    }
    running.retain(|r| {
        let done = r.generated_tokens == r.request.output_tokens;
        if done {
            recorder.finished(&Finished {
                request: r.request,
                start_s: r.start_s,
                first_token_s: r.first_token_s,
                finish_s: *now_s,
            });
        }
        !done
    });
}

/// Tokens for each running request in order, after admitting whoever can be admitted. Requests
/// beyond the end of the list get nothing in this step.
fn compose(
    setup: &Setup,
    now_s: f64,
    waiting: &mut VecDeque<Request>,
    running: &mut Vec<Running>,
    recorder: &mut Recorder,
) -> Vec<u64> {
    let mut budget = i128::from(setup.engine.max_num_batched_tokens);
    let mut chunks = Vec::new();
    for r in running.iter() {
        let remaining = i128::from(r.request.input_tokens - r.computed_tokens);
        let tokens = if remaining == 0 { 1 } else { remaining.min(budget) };
        if tokens <= 0 {
            break;
        }
        chunks.push(tokens as u64);
        budget -= tokens;
    }
    let mut kv_tokens: u64 = running.iter().map(|r| r.request.final_tokens()).sum();
    while budget > 0 && (running.len() as u64) < setup.engine.max_num_seqs {
        let Some(request) = waiting.front().copied() else { break };
        if kv_tokens + request.final_tokens() > setup.engine.kv_capacity_tokens {
            break;
        }
        waiting.pop_front();
        kv_tokens += request.final_tokens();
        recorder.admitted(now_s - request.arrival_s);
        running.push(Running {
            request,
            start_s: now_s,
            computed_tokens: 0,
            generated_tokens: 0,
            first_token_s: 0.0,
        });
        let tokens = i128::from(request.input_tokens).min(budget);
        chunks.push(tokens as u64);
        budget -= tokens;
    }
    chunks
}
