//! The `vllm-v1` rules against decision traces of the real scheduler, step for step.

use std::collections::VecDeque;

use serde::Deserialize;
use sim_core::engine::vllm::{
    Completion, Content, CountedScheduler, Decision, Policy, Refusal, Request, RequestId,
    Scheduler, Version, VllmSpec,
};

/// What the obvious scheduler and the counting one have in common.
trait Decides {
    fn start(spec: VllmSpec, requests: &[Request]) -> Self;
    fn add(&mut self, request: &Request) -> Result<RequestId, Refusal>;
    fn has_requests(&self) -> bool;
    fn abort(&mut self, id: RequestId);
    fn schedule(&mut self) -> Decision;
    fn complete(&mut self, decision: &Decision) -> Completion;
    fn running(&self) -> Vec<RequestId>;
    fn waiting(&self) -> Vec<RequestId>;
    fn free_blocks(&self) -> u64;
    fn computed_tokens(&self, id: RequestId) -> u64;
}

impl Decides for Scheduler {
    fn start(spec: VllmSpec, _: &[Request]) -> Self {
        Self::new(spec).unwrap_or_else(|error| panic!("{error}"))
    }
    fn add(&mut self, request: &Request) -> Result<RequestId, Refusal> {
        self.add(request)
    }
    fn has_requests(&self) -> bool {
        self.has_requests()
    }
    fn abort(&mut self, id: RequestId) {
        self.abort(id);
    }
    fn schedule(&mut self) -> Decision {
        self.schedule()
    }
    fn complete(&mut self, decision: &Decision) -> Completion {
        self.complete(decision)
    }
    fn running(&self) -> Vec<RequestId> {
        self.running().to_vec()
    }
    fn waiting(&self) -> Vec<RequestId> {
        self.waiting()
    }
    fn free_blocks(&self) -> u64 {
        self.free_blocks()
    }
    fn computed_tokens(&self, id: RequestId) -> u64 {
        self.computed_tokens(id)
    }
}

impl Decides for CountedScheduler {
    fn start(spec: VllmSpec, requests: &[Request]) -> Self {
        Self::new(spec, requests).unwrap_or_else(|error| panic!("{error}"))
    }
    fn add(&mut self, request: &Request) -> Result<RequestId, Refusal> {
        self.add(request)
    }
    fn has_requests(&self) -> bool {
        self.has_requests()
    }
    fn abort(&mut self, id: RequestId) {
        self.abort(id);
    }
    fn schedule(&mut self) -> Decision {
        self.schedule()
    }
    fn complete(&mut self, _: &Decision) -> Completion {
        self.complete()
    }
    fn running(&self) -> Vec<RequestId> {
        self.running()
    }
    fn waiting(&self) -> Vec<RequestId> {
        self.waiting()
    }
    fn free_blocks(&self) -> u64 {
        self.free_blocks()
    }
    fn computed_tokens(&self, id: RequestId) -> u64 {
        self.computed_tokens(id)
    }
}

#[derive(Deserialize)]
struct Traces {
    scenarios: std::collections::BTreeMap<String, Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    config: Config,
    requests: Vec<Asked>,
    /// Requests whose clients went away, and before which step.
    #[serde(default)]
    aborts: Vec<(u64, String)>,
    steps: Vec<Recorded>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    block_size: u64,
    num_blocks: u64,
    max_num_seqs: u64,
    max_num_batched_tokens: u64,
    max_model_len: u64,
    policy: String,
    prefix_caching: bool,
    #[serde(default)]
    long_prefill_token_threshold: u64,
    scheduler_reserve_full_isl: Option<bool>,
    chunked_prefill: Option<bool>,
    #[serde(default)]
    watermark: f64,
    #[serde(default, rename = "async")]
    is_async: bool,
    prefill_schedule_interval: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: String,
    arrival_step: u64,
    prompt_len: u64,
    max_tokens: u64,
    #[serde(default)]
    priority: i64,
    prefix_group: Option<u64>,
    prefix_len: Option<u64>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Recorded {
    step: u64,
    scheduled: Vec<(String, u64)>,
    new: Vec<String>,
    resumed: Vec<String>,
    preempted: Vec<String>,
    running: Vec<String>,
    waiting: Vec<String>,
    free_blocks: u64,
    computed_after: std::collections::BTreeMap<String, u64>,
    cached: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    finished: Vec<String>,
    sampled: Vec<String>,
}

fn spec(config: &Config) -> VllmSpec {
    VllmSpec {
        version: Version::V0_33,
        block_size: config.block_size,
        num_blocks: config.num_blocks,
        max_num_seqs: config.max_num_seqs,
        max_num_batched_tokens: config.max_num_batched_tokens,
        max_model_len: config.max_model_len,
        policy: if config.policy == "priority" { Policy::Priority } else { Policy::Fcfs },
        prefix_caching: config.prefix_caching,
        chunked_prefill: config.chunked_prefill.unwrap_or(true),
        long_prefill_token_threshold: config.long_prefill_token_threshold,
        scheduler_reserve_full_isl: config.scheduler_reserve_full_isl.unwrap_or(true),
        watermark: config.watermark,
        steps_in_flight: if config.is_async { 2 } else { 1 },
        prefill_schedule_interval: config.prefill_schedule_interval.unwrap_or(1),
    }
}

fn request(arrival: u64, asked: &Asked) -> Request {
    let content = match (asked.prefix_group, asked.prefix_len) {
        (Some(group), Some(tokens)) => Content::SharedPrefix { group, tokens },
        _ => Content::Unique,
    };
    Request {
        prompt_tokens: asked.prompt_len,
        output_tokens: asked.max_tokens,
        priority: asked.priority,
        arrival,
        content,
    }
}

/// Replays a scenario; steps in flight come back when there are as many as may be, or when there is
/// nothing to compose.
struct Replay<'a, S> {
    scheduler: S,
    depth: u64,
    requests: Vec<Request>,
    names: Vec<&'a str>,
    ids: Vec<RequestId>,
    in_flight: VecDeque<(usize, Decision)>,
    record: Vec<Recorded>,
}

impl<'a, S: Decides> Replay<'a, S> {
    fn run(scenario: &'a Scenario) -> Vec<Recorded> {
        let spec = spec(&scenario.config);
        let mut asked: Vec<&Asked> = scenario.requests.iter().collect();
        asked.sort_by_key(|asked| asked.arrival_step);
        let requests: Vec<_> =
            (0..).zip(&asked).map(|(index, asked)| request(index, asked)).collect();
        let mut replay = Self {
            scheduler: S::start(spec, &requests),
            depth: spec.steps_in_flight,
            requests,
            names: Vec::new(),
            ids: Vec::new(),
            in_flight: VecDeque::new(),
            record: Vec::new(),
        };
        let last_step = scenario.steps.last().map_or(0, |step| step.step);
        let last_step = scenario.aborts.iter().map(|abort| abort.0).fold(last_step, u64::max);
        for step in 0..=last_step {
            for asked in scenario.requests.iter().filter(|asked| asked.arrival_step == step) {
                replay.add(asked);
            }
            for (_, id) in scenario.aborts.iter().filter(|(before, _)| *before == step) {
                replay.abort(id);
            }
            if replay.scheduler.has_requests() {
                replay.step(step);
            } else {
                // Whoever was aborted may have left steps behind.
                replay.drain();
            }
        }
        replay.drain();
        replay.record
    }

    fn drain(&mut self) {
        while let Some((index, decision)) = self.in_flight.pop_front() {
            self.come_back(index, &decision);
        }
    }

    /// A client goes away; one that has its answer is gone already.
    fn abort(&mut self, id: &str) {
        if let Some(index) = self.names.iter().position(|name| *name == id) {
            self.scheduler.abort(self.ids[index]);
        }
    }

    fn add(&mut self, asked: &'a Asked) {
        let request = &self.requests[self.names.len()];
        let id = self.scheduler.add(request).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(id.index(), self.names.len());
        self.names.push(&asked.id);
        self.ids.push(id);
    }

    fn step(&mut self, step: u64) {
        let decision = self.scheduler.schedule();
        self.record.push(self.describe(step, &decision));
        if !decision.is_empty() {
            self.in_flight.push_back((self.record.len() - 1, decision));
            if (self.in_flight.len() as u64) < self.depth {
                return;
            }
        }
        if let Some((index, decision)) = self.in_flight.pop_front() {
            self.come_back(index, &decision);
        }
    }

    fn come_back(&mut self, index: usize, decision: &Decision) {
        let Completion { sampled, finished } = self.scheduler.complete(decision);
        self.record[index].sampled = self.names_of(&sampled);
        // vLLM keeps them as a set; the traces list it sorted.
        self.record[index].finished = self.names_of(&finished);
        self.record[index].finished.sort_unstable();
    }

    fn describe(&self, step: u64, decision: &Decision) -> Recorded {
        let scheduled = decision.scheduled.iter();
        Recorded {
            step,
            scheduled: scheduled.clone().map(|s| (self.name(s.id), s.tokens)).collect(),
            new: self.names_of(&decision.new),
            resumed: self.names_of(&decision.resumed),
            preempted: self.names_of(&decision.preempted),
            running: self.names_of(&self.scheduler.running()),
            waiting: self.names_of(&self.scheduler.waiting()),
            free_blocks: self.scheduler.free_blocks(),
            computed_after: scheduled
                .map(|s| (self.name(s.id), self.scheduler.computed_tokens(s.id)))
                .collect(),
            cached: decision.cached_tokens.iter().map(|&(id, n)| (self.name(id), n)).collect(),
            finished: Vec::new(),
            sampled: Vec::new(),
        }
    }

    fn name(&self, id: RequestId) -> String {
        self.names[id.index()].to_owned()
    }

    fn names_of(&self, ids: &[RequestId]) -> Vec<String> {
        ids.iter().map(|&id| self.name(id)).collect()
    }
}

/// Replays every scenario of a file and compares every step.
fn replay_all<S: Decides>(text: &str, scenarios: usize) {
    let traces: Traces = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    assert!(traces.scenarios.len() >= scenarios, "{}", traces.scenarios.len());
    for (name, scenario) in &traces.scenarios {
        let ours = Replay::<S>::run(scenario);
        for (ours, theirs) in ours.iter().zip(&scenario.steps) {
            assert_eq!(ours, theirs, "{name}");
        }
        assert_eq!(ours.len(), scenario.steps.len(), "{name}");
    }
}

const TRACES: &str = include_str!("../../../tests/golden/vllm/traces.json");
/// Random requests in tiny pools: preemption under every combination of rules.
const FUZZ: &str = include_str!("../../../tests/golden/vllm/fuzz.json");
/// Every pair of rules and events meets, clients that go away among them.
const EDGES: &str = include_str!("../../../tests/golden/vllm/edges.json");

#[test]
fn every_step_of_every_trace_is_decided_alike() {
    replay_all::<Scheduler>(TRACES, 19);
}

#[test]
fn every_step_of_random_scenarios_is_decided_alike() {
    replay_all::<Scheduler>(FUZZ, 24);
}

#[test]
fn every_step_at_the_edges_is_decided_alike() {
    replay_all::<Scheduler>(EDGES, 48);
}

#[test]
fn the_counting_engine_decides_every_step_at_the_edges_alike() {
    replay_all::<CountedScheduler>(EDGES, 48);
}

#[test]
fn the_counting_engine_decides_every_step_of_every_trace_alike() {
    replay_all::<CountedScheduler>(TRACES, 19);
}

#[test]
fn the_counting_engine_decides_every_step_of_random_scenarios_alike() {
    replay_all::<CountedScheduler>(FUZZ, 24);
}

/// More of the same kind, from files that an environment variable names, with colons between them.
#[test]
fn every_step_of_further_traces_is_decided_alike() {
    let paths = std::env::var("HEADROOM_VLLM_TRACES").unwrap_or_default();
    for path in paths.split(':').filter(|path| !path.is_empty()) {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        replay_all::<Scheduler>(&text, 1);
        replay_all::<CountedScheduler>(&text, 1);
    }
}
