//! Batches that are formed whole and served whole: sequential, dynamic and static batching.
//!
//! A batch starts at the latest of three times: when the engine is free, when the oldest waiting
//! request has arrived, and the earlier of "the batch is full" and "the oldest has waited the
//! maximum delay". It then prefills all its prompts in one step, and decodes until its longest
//! output is done: slots whose request is finished stay occupied, and every result is returned at
//! the end. With outputs of one token this is a dynamic batcher for one-pass models (the rule that
//! Triton documents as `max_batch_size` and `max_queue_delay_microseconds`); with a batch of one it
//! is the M/G/1 queue.

use std::{collections::VecDeque, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    float::{greater, lesser},
    measure::{Finished, Recorder, Run, Step, ValueRun},
    random::{Purpose, Stream},
    setup::{SetupError, Slo},
    sort,
    step_time::{StepModel, StepTimeSpec},
    workload::{Request, Requests, Workload},
};

use super::{EngineBounds, Keep, has_arrived, jump::Jump};

/// When a batch is formed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchRule {
    /// Most requests in one batch.
    pub max_batch: u64,
    /// Longest time in seconds that the oldest waiting request is held back for company.
    pub max_delay_s: f64,
}

/// By what factor the time of a batch differs from its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ServiceNoise {
    /// Not at all.
    None,
    /// Lognormal with mean 1; the draw belongs to the batch's first request.
    LogNormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// The k-th batch has the k-th recorded factor; batches beyond the recording have 1.
    Recorded(Arc<[f64]>),
}

/// Everything a run of whole batches depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSetup {
    /// Who sends what, and when.
    pub workload: Workload,
    /// When a batch is formed.
    pub rule: BatchRule,
    /// How long one step takes.
    pub step_time: StepTimeSpec,
    /// By what factor that varies.
    pub noise: ServiceNoise,
    /// What counts as good enough.
    pub slo: Slo,
    /// Root of every random stream.
    pub seed: u64,
}

impl BatchSetup {
    /// Check every number.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check(&self) -> Result<(), SetupError> {
        self.workload.check()?;
        self.step_time.check()?;
        self.slo.check()?;
        let bad =
            |field, value, requirement| Err(SetupError::OutOfDomain { field, value, requirement });
        if self.rule.max_batch == 0 {
            return bad("batch.max_batch", 0.0, "1 or more");
        }
        let delay_s = self.rule.max_delay_s;
        if !(delay_s.is_finite() && delay_s >= 0.0) {
            return bad("batch.max_delay_s", delay_s, "finite and 0 or more");
        }
        match &self.noise {
            ServiceNoise::LogNormal { sigma } if !(0.0..=10.0).contains(sigma) => {
                bad("batch.noise.sigma", *sigma, "between 0 and 10")
            }
            ServiceNoise::Recorded(factors) => {
                match factors.iter().find(|factor| !(factor.is_finite() && **factor > 0.0)) {
                    Some(&factor) => bad("batch.noise", factor, "finite and above 0"),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

impl BatchSetup {
    /// The books of a run of so many requests.
    pub(super) fn recorder(&self, keep: Keep, total: u64) -> Recorder {
        let bounds = EngineBounds {
            max_num_seqs: self.rule.max_batch,
            kv_capacity_tokens: u64::MAX,
            least_s_per_token: 0.0,
            #[cfg(feature = "kernel")]
            api_s: StepModel::new(&self.step_time).api_s(),
        };
        Recorder::new(self.slo, bounds, total, keep).judging(&self.workload)
    }
}

/// Simulate whole batches to the last one.
///
/// # Errors
/// The set-up holds a number outside its domain.
pub fn simulate_batches(setup: &BatchSetup, keep: Keep) -> Result<Run, SetupError> {
    setup.check()?;
    let mut batcher = Batcher::new(setup, keep);
    while batcher.serve_one() {}
    let run = batcher.recorder.finish(0);
    debug_assert!(run.verify() == Ok(()), "{:?}", run.verify());
    Ok(run)
}

struct Batcher<'a> {
    setup: &'a BatchSetup,
    service: BatchService,
    requests: Requests,
    /// Requests looked at but not served: at most one batch.
    ahead: VecDeque<Request>,
    free_s: f64,
    recorder: Recorder,
}

impl<'a> Batcher<'a> {
    fn new(setup: &'a BatchSetup, keep: Keep) -> Self {
        let requests = Requests::new(&setup.workload, setup.seed);
        Self {
            setup,
            service: BatchService::new(setup),
            recorder: setup.recorder(keep, requests.total()),
            requests,
            ahead: VecDeque::new(),
            free_s: 0.0,
        }
    }

    /// Form and serve the next batch; false when no request is left.
    fn serve_one(&mut self) -> bool {
        let most = self.setup.rule.max_batch;
        while (self.ahead.len() as u64) < most
            && let Some(request) = self.requests.next()
        {
            self.ahead.push_back(request);
        }
        let Some(lead) = self.ahead.front() else { return false };
        let full_s = if self.ahead.len() as u64 == most {
            self.ahead.back().map_or(f64::INFINITY, |last| last.arrival_s)
        } else {
            f64::INFINITY
        };
        let expired_s = lead.arrival_s + self.setup.rule.max_delay_s;
        let start_s = greater(greater(self.free_s, lead.arrival_s), lesser(full_s, expired_s));
        let size = self.ahead.iter().take_while(|r| has_arrived(r.arrival_s, start_s)).count();
        self.serve(start_s, size);
        true
    }

    fn serve(&mut self, start_s: f64, size: usize) {
        let lead = self.ahead.front().map_or(0, |request| request.index);
        self.service.begin(self.requests.place_in_whole(lead));
        for request in self.ahead.iter().take(size) {
            self.recorder.arrived(request);
            self.recorder.admitted(start_s - request.arrival_s);
            self.service.join(request);
        }
        let first_token_s = start_s + self.service.prefill(0.0, &mut self.recorder);
        let end_s = first_token_s + self.service.decode(&mut self.recorder);
        for request in self.ahead.drain(..size) {
            self.recorder.finished(&Finished { request, start_s, first_token_s, finish_s: end_s });
        }
        self.free_s = end_s;
    }
}

/// What serving a batch takes, one batch after the other.
#[derive(Clone, Debug)]
pub(super) struct BatchService {
    model: StepModel,
    noise: ServiceNoise,
    seed: u64,
    batches: usize,
    /// By what factor the batch in service takes longer than its model says.
    factor: f64,
    /// Prompts of the batch in service, in tokens.
    input_tokens: u64,
    /// Outputs of the batch in service; kept to be reused.
    outputs: Vec<u64>,
}

impl BatchService {
    pub(super) fn new(setup: &BatchSetup) -> Self {
        Self {
            model: StepModel::new(&setup.step_time),
            noise: setup.noise.clone(),
            seed: setup.seed,
            batches: 0,
            factor: 1.0,
            input_tokens: 0,
            outputs: Vec::new(),
        }
    }

    /// Begin with the next batch, whose noise belongs to the request at a place of the whole stream.
    pub(super) fn begin(&mut self, place: u64) {
        self.factor = match &self.noise {
            ServiceNoise::None => 1.0,
            ServiceNoise::LogNormal { sigma } => {
                let mut stream = Stream::of_request(self.seed, Purpose::Service, place);
                libm::exp(sigma * stream.normal() - 0.5 * sigma * sigma)
            }
            ServiceNoise::Recorded(factors) => factors.get(self.batches).copied().unwrap_or(1.0),
        };
        self.batches += 1;
        self.input_tokens = 0;
        self.outputs.clear();
    }

    pub(super) fn join(&mut self, request: &Request) {
        self.input_tokens += request.input_tokens;
        self.outputs.push(request.output_tokens);
    }

    /// Prefill all prompts in one step, with `extra_s` seconds of other work; the time it takes in
    /// seconds.
    pub(super) fn prefill(&mut self, extra_s: f64, recorder: &mut Recorder) -> f64 {
        sort::whole(&mut self.outputs);
        let sequences = self.outputs.len() as u64;
        let lines = self.model.lines(self.input_tokens, sequences);
        let jump = Jump::along(&lines, 0, 0, 1);
        let step_s = self.factor * jump.first_s + extra_s;
        let gaps = ValueRun { first: step_s, slope: 0.0, count: 1, weight: 0 };
        record(&jump, gaps, step_s, recorder, sequences);
        step_s
    }

    /// Decode until the longest output is done; the time it takes in seconds. The slots of finished
    /// requests are computed along, with nothing to show for it.
    pub(super) fn decode(&mut self, recorder: &mut Recorder) -> f64 {
        let sequences = self.outputs.len() as u64;
        let lines = self.model.lines(sequences, sequences);
        let mut context = self.input_tokens + sequences;
        let (mut total_s, mut step) = (0.0, 1);
        for index in 0..self.outputs.len() {
            let decoding = (self.outputs.len() - index) as u64;
            while step < self.outputs[index] {
                let jump = Jump::along(&lines, context, sequences, self.outputs[index] - step);
                let jump_s = self.factor * jump.total_s(jump.steps);
                let gaps = ValueRun {
                    first: self.factor * jump.first_s,
                    slope: self.factor * jump.slope_s,
                    count: jump.steps,
                    weight: decoding,
                };
                record(&jump, gaps, jump_s, recorder, sequences);
                total_s += jump_s;
                context += sequences * jump.steps;
                step += jump.steps;
            }
        }
        total_s
    }
}

fn record(jump: &Jump, gaps: ValueRun, total_s: f64, recorder: &mut Recorder, running: u64) {
    let compute_bound = jump.compute_bound;
    recorder.stepped(&Step { gaps, total_s, compute_bound, running, kv_tokens: 0 });
}
