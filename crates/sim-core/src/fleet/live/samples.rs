//! What a monitoring system would have scraped of each replica.

use crate::measure::Finished;

/// Upper bounds of vLLM's buckets of the time to first token, in seconds
/// (`vllm/v1/metrics/loggers.py`, as the others).
const TTFT_BOUNDS_S: [f64; 22] = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];
/// Those of the time per output token.
const TPOT_BOUNDS_S: [f64; 19] = [
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];
/// Those of whole requests, and of what they waited.
const REQUEST_BOUNDS_S: [f64; 21] = [
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];

/// A histogram that only grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// Upper bounds in seconds, each included.
    pub bounds_s: &'static [f64],
    /// Values up to each bound and above the one before, and above the last.
    pub counts: Vec<u64>,
    /// Sum of the values in seconds.
    pub sum_s: f64,
}

impl Buckets {
    fn new(bounds_s: &'static [f64]) -> Self {
        Self { bounds_s, counts: vec![0; bounds_s.len() + 1], sum_s: 0.0 }
    }

    fn record(&mut self, value_s: f64) {
        let bucket = self.bounds_s.partition_point(|&bound_s| bound_s < value_s);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum_s += value_s;
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What a replica has counted since it became ready.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaCounters {
    /// Requests that ended.
    pub finished: u64,
    /// Tokens of their prompts.
    pub prompt_tokens: u64,
    /// Time to first token.
    pub ttft: Buckets,
    /// Mean time per output token of a request; one of a single token has none.
    pub tpot: Buckets,
    /// From arrival to the last token.
    pub e2e: Buckets,
    /// From arrival to the first step.
    pub queue: Buckets,
}

impl Default for ReplicaCounters {
    fn default() -> Self {
        Self {
            finished: 0,
            prompt_tokens: 0,
            ttft: Buckets::new(&TTFT_BOUNDS_S),
            tpot: Buckets::new(&TPOT_BOUNDS_S),
            e2e: Buckets::new(&REQUEST_BOUNDS_S),
            queue: Buckets::new(&REQUEST_BOUNDS_S),
        }
    }
}

impl ReplicaCounters {
    pub(super) fn ended(&mut self, ended: &Finished) {
        let request = &ended.request;
        self.finished += 1;
        self.prompt_tokens += request.input_tokens;
        self.ttft.record(ended.first_token_s - request.arrival_s);
        self.e2e.record(ended.finish_s - request.arrival_s);
        self.queue.record(ended.start_s - request.arrival_s);
        if request.output_tokens > 1 {
            let gaps = (request.output_tokens - 1) as f64;
            self.tpot.record((ended.finish_s - ended.first_token_s) / gaps);
        }
    }
}

/// A replica at one scrape.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSample {
    /// When, in seconds.
    pub at_s: f64,
    /// The replica's number.
    pub replica: u64,
    /// Requests running.
    pub running: u64,
    /// Requests waiting on it.
    pub waiting: u64,
    /// Share of its KV cache in use, 0 to 1.
    pub kv_usage: f64,
    /// Tokens generated.
    pub generated_tokens: u64,
    /// Tokens of prompts found in its cache.
    pub cached_tokens: u64,
    /// What it has counted.
    pub counters: ReplicaCounters,
}

/// What is before the replicas at one scrape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSample {
    /// When, in seconds.
    pub at_s: f64,
    /// Requests that no replica could take.
    pub queued: u64,
    /// Requests that wait for one another.
    pub deferred: u64,
}

/// All scrapes of a run, in order of time, and at one time of replicas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Of replicas.
    pub replicas: Vec<ReplicaSample>,
    /// Of what is before them.
    pub line: Vec<LineSample>,
}
