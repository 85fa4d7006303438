//! A measuring client against an engine, step by step: what a benchmark would have measured.
//!
//! Composition of steps follows the engine's own rules; while a batch only decodes and nothing can change
//! it, many steps are one jump. Besides means, a run gives its *pieces*: the shapes of its steps with the
//! weight each has in the mean TTFT and TPOT. Means are linear in the durations of steps, so that for a
//! given composition they, and their derivatives, follow from the pieces without simulating again.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
};

use sim_core::step_time::kernel::{Kernel, KernelShape};

/// Time a server takes for each request before the next can pass, seconds.
const FRONT_END_S: f64 = 0.5e-3;

/// One request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Prompt tokens that must be computed.
    pub prompt: f64,
    /// Prompt tokens that are found in the cache.
    pub cached: f64,
    /// Tokens of output.
    pub output: u64,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// So many in flight from the start, the next when one is answered.
    InFlight(usize),
    /// One every so many seconds.
    Every(f64),
}

/// How an engine composes steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Prompts are computed in steps of their own, before any decode.
    pub is_prompt_first: bool,
    /// Whether a prompt may be cut to what a step has left.
    pub is_chunked: bool,
    /// Of the output that running requests still have to make, the share for which memory is kept.
    pub reserved_share: f64,
    /// Tokens of a step.
    pub budget_tokens: f64,
    /// Requests that run at once.
    pub most_running: usize,
    /// Tokens of KV cache.
    pub kv_tokens: f64,
    /// New requests are looked for every so many steps.
    pub receive_every: u64,
}

/// The shapes of alike steps and their weight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Piece {
    /// Their mean shape.
    pub shape: KernelShape,
    /// Seconds of mean TTFT for a second of step.
    pub ttft_weight: f64,
    /// Seconds of mean TPOT for a second of step.
    pub tpot_weight: f64,
}

/// What a client measured.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Mean time to the first token, seconds.
    pub ttft_mean_s: f64,
    /// Median of the same.
    pub ttft_median_s: f64,
    /// Mean time per further token, seconds.
    pub tpot_mean_s: f64,
    /// Mean time to the last token, seconds.
    pub e2e_mean_s: f64,
    /// Tokens of output per second over the run.
    pub output_per_s: f64,
    /// Requests that had to be computed again.
    pub preemptions: u64,
    /// Shapes of steps.
    pub pieces: Vec<Piece>,
    /// Mean TTFT that is no step's: front end and API.
    pub ttft_fixed_s: f64,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    sent: Sent,
    sent_s: f64,
    visible_s: f64,
    computed: f64,
    first_s: f64,
    tokens_out: u64,
    /// Decode step with which its last token comes.
    last_step: u64,
    epoch: u32,
}

struct Engine<'a> {
    kernel: &'a Kernel,
    rules: Rules,
    now_s: f64,
    steps: u64,
    decode_steps: u64,
    requests: Vec<Request>,
    todo: VecDeque<Sent>,
    coming: VecDeque<usize>,
    waiting: VecDeque<usize>,
    prefilling: Vec<usize>,
    decoding: Vec<usize>,
    ends: BinaryHeap<Reverse<(u64, usize, u32)>>,
    context: f64,
    reserved: f64,
    inverse_outputs: f64,
    free_server_s: f64,
    pace: Pace,
    finished: Vec<(f64, f64, f64)>,
    tokens_out: u64,
    preemptions: u64,
    pieces: Pieces,
    count: f64,
    with_tpot: f64,
}

/// Send `requests` at `pace` to an engine that runs by `rules` and takes `kernel`'s time.
#[must_use]
pub fn replay(kernel: &Kernel, rules: Rules, pace: Pace, requests: &[Sent]) -> Replayed {
    let mut engine = Engine::new(kernel, rules, pace, requests);
    engine.run();
    engine.result()
}

impl<'a> Engine<'a> {
    fn new(kernel: &'a Kernel, rules: Rules, pace: Pace, sent: &[Sent]) -> Self {
        let count = sent.len() as f64;
        let with_tpot = sent.iter().filter(|it| it.output > 1).count().max(1) as f64;
        let mut engine = Self {
            kernel,
            rules,
            now_s: 0.0,
            steps: 0,
            decode_steps: 0,
            requests: Vec::with_capacity(sent.len()),
            todo: sent.iter().copied().collect(),
            coming: VecDeque::new(),
            waiting: VecDeque::new(),
            prefilling: Vec::new(),
            decoding: Vec::new(),
            ends: BinaryHeap::new(),
            context: 0.0,
            reserved: 0.0,
            inverse_outputs: 0.0,
            free_server_s: 0.0,
            pace,
            finished: Vec::with_capacity(sent.len()),
            tokens_out: 0,
            preemptions: 0,
            pieces: Pieces::default(),
            count,
            with_tpot,
        };
        match pace {
            Pace::InFlight(most) => (0..most).for_each(|_| engine.send(0.0)),
            Pace::Every(gap_s) => (0..sent.len()).for_each(|at| engine.send(at as f64 * gap_s)),
        }
        engine
    }

    fn send(&mut self, sent_s: f64) {
        let Some(sent) = self.todo.pop_front() else { return };
        let free_s = if self.free_server_s > sent_s { self.free_server_s } else { sent_s };
        self.free_server_s = free_s + FRONT_END_S;
        let visible_s = self.free_server_s + self.kernel.api_s();
        self.coming.push_back(self.requests.len());
        self.requests.push(Request {
            sent,
            sent_s,
            visible_s,
            computed: 0.0,
            first_s: 0.0,
            tokens_out: 0,
            last_step: 0,
            epoch: 0,
        });
    }

    fn run(&mut self) {
        let mut guard = 0_u64;
        while self.finished.len() < self.requests.len() || !self.todo.is_empty() {
            guard += 1;
            if guard > 20_000_000 {
                return;
            }
            self.receive();
            if self.decoding.is_empty() && self.prefilling.is_empty() && self.waiting.is_empty() {
                let Some(next) = self.coming.front() else { return };
                self.now_s = self.requests[*next].visible_s;
                self.steps = self.steps.next_multiple_of(self.rules.receive_every);
                continue;
            }
            let prompts = self.compose();
            if prompts.is_empty() && self.decoding.is_empty() {
                // Nothing fits: the first in line is larger than the memory.
                let Some(at) = self.waiting.pop_front() else { return };
                self.finished.push((f64::INFINITY, f64::NAN, f64::INFINITY));
                self.requests[at].epoch += 1;
                continue;
            }
            if prompts.is_empty() {
                self.jump();
            } else {
                self.step(&prompts);
            }
        }
    }

    fn receive(&mut self) {
        if !self.steps.is_multiple_of(self.rules.receive_every) {
            return;
        }
        while let Some(&at) = self.coming.front() {
            if self.requests[at].visible_s > self.now_s + 1e-12 {
                break;
            }
            self.coming.pop_front();
            self.waiting.push_back(at);
        }
    }

    /// Prompts of the next step and how many tokens of each.
    fn compose(&mut self) -> Vec<(usize, f64)> {
        let decodes = self.decoding.len() as f64;
        let mut left = self.rules.budget_tokens;
        if !self.rules.is_prompt_first {
            left -= decodes;
        }
        let mut prompts = Vec::new();
        for &at in &self.prefilling {
            let request = &self.requests[at];
            let rest = request.sent.prompt - request.computed;
            let part = if rest < left { rest } else { left };
            if part > 0.0 {
                prompts.push((at, part));
                left -= part;
            }
        }
        while let Some(&at) = self.waiting.front() {
            let running = self.decoding.len() + self.prefilling.len();
            if left <= 0.0 || running >= self.rules.most_running {
                break;
            }
            let sent = self.requests[at].sent;
            let tokens = sent.prompt + sent.cached;
            if !self.has_room(tokens, sent.output) {
                break;
            }
            let mut part = sent.prompt;
            if part > left {
                if self.rules.is_chunked {
                    part = left;
                } else if !(prompts.is_empty() && part > self.rules.budget_tokens - decodes) {
                    break;
                }
            }
            self.waiting.pop_front();
            self.prefilling.push(at);
            self.reserved += tokens + self.rules.reserved_share * sent.output as f64;
            prompts.push((at, part));
            left -= part;
        }
        prompts
    }

    fn has_room(&self, tokens: f64, output: u64) -> bool {
        let share = self.rules.reserved_share;
        let used = if share > 0.0 { self.reserved } else { self.used() };
        used + tokens + share * output as f64 <= self.rules.kv_tokens
    }

    fn used(&self) -> f64 {
        let prompts = self.prefilling.iter().map(|&at| self.requests[at].sent);
        self.context + prompts.map(|sent| sent.prompt + sent.cached).sum::<f64>()
    }

    /// A step with prompts.
    fn step(&mut self, prompts: &[(usize, f64)]) {
        let decodes_too = !self.rules.is_prompt_first;
        if decodes_too {
            self.make_room();
        }
        let mut shape = KernelShape::default();
        if decodes_too {
            shape.decodes = self.decoding.len() as f64;
            shape.context_tokens = self.context;
        }
        for &(at, part) in prompts {
            let request = &self.requests[at];
            let before = request.computed + request.sent.cached;
            shape.prompt_tokens += part;
            shape.prompt_pairs += part * (before + 0.5 * part);
            if request.computed + part >= request.sent.prompt - 1e-9 {
                shape.ending_prompts += 1.0;
            }
        }
        let step_s = self.kernel.step_s(&shape);
        self.pass(shape, step_s, 1.0, step_s);
        if decodes_too {
            self.decode(1);
        }
        for &(at, part) in prompts {
            let request = &mut self.requests[at];
            request.computed += part;
            if request.computed >= request.sent.prompt - 1e-9 {
                self.prefilling.retain(|&other| other != at);
                self.first_token(at);
            }
        }
        self.retire();
    }

    /// Let time pass, and note what it means for the means.
    fn pass(&mut self, shape: KernelShape, step_s: f64, steps: f64, total_s: f64) {
        let end_s = self.now_s + total_s;
        // Whoever came before the step waits for all of it; who comes meanwhile, for the rest.
        let mut waited_s = (self.waiting.len() + self.prefilling.len()) as f64 * total_s;
        for &at in &self.coming {
            let visible_s = self.requests[at].visible_s;
            if visible_s >= end_s {
                break;
            }
            let since_s = if visible_s > self.now_s { visible_s } else { self.now_s };
            waited_s += end_s - since_s;
        }
        let ttft_weight = waited_s / step_s / self.count;
        let tpot_weight = steps * self.inverse_outputs / self.with_tpot;
        self.pieces.add(shape, ttft_weight, tpot_weight);
        self.now_s = end_s;
        self.steps += steps as u64;
    }

    fn decode(&mut self, steps: u64) {
        self.decode_steps += steps;
        let tokens = self.decoding.len() as u64 * steps;
        self.context += tokens as f64;
        self.tokens_out += tokens;
    }

    fn first_token(&mut self, at: usize) {
        let decode_steps = self.decode_steps;
        let now_s = self.now_s;
        let request = &mut self.requests[at];
        if request.tokens_out == 0 {
            request.first_s = now_s;
            request.tokens_out = 1;
            self.tokens_out += 1;
            if request.sent.output <= 1 {
                let sent = request.sent;
                let sent_s = request.sent_s;
                self.reserved -=
                    sent.prompt + sent.cached + self.rules.reserved_share * sent.output as f64;
                self.finished.push((now_s - sent_s, f64::NAN, now_s - sent_s));
                self.answered();
                return;
            }
            self.inverse_outputs += 1.0 / (request.sent.output - 1) as f64;
        }
        let rest = request.sent.output - request.tokens_out;
        request.last_step = decode_steps + rest;
        self.context += request.sent.prompt + request.sent.cached + 1.0;
        self.ends.push(Reverse((request.last_step, at, request.epoch)));
        self.decoding.push(at);
    }

    fn answered(&mut self) {
        if matches!(self.pace, Pace::InFlight(_)) {
            self.send(self.now_s);
        }
    }

    fn retire(&mut self) {
        while let Some(&Reverse((last_step, at, epoch))) = self.ends.peek() {
            let request = self.requests[at];
            if request.epoch != epoch {
                self.ends.pop();
                continue;
            }
            if last_step > self.decode_steps {
                break;
            }
            self.ends.pop();
            self.decoding.retain(|&other| other != at);
            let sent = request.sent;
            self.context -= sent.prompt + sent.cached + self.made_since(&request) + 1.0;
            self.reserved -=
                sent.prompt + sent.cached + self.rules.reserved_share * sent.output as f64;
            self.inverse_outputs -= 1.0 / (sent.output - 1) as f64;
            let ttft_s = request.first_s - request.sent_s;
            let tpot_s = (self.now_s - request.first_s) / (sent.output - 1) as f64;
            self.finished.push((ttft_s, tpot_s, self.now_s - request.sent_s));
            self.answered();
        }
    }

    /// Tokens made since the prompt was last computed.
    fn made_since(&self, request: &Request) -> f64 {
        (request.sent.output - request.tokens_out) as f64
            - (request.last_step - self.decode_steps) as f64
    }

    /// Take the latest out until all can decode once more.
    fn make_room(&mut self) {
        while self.rules.reserved_share <= 0.0
            && self.decoding.len() > 1
            && self.used() + self.decoding.len() as f64 > self.rules.kv_tokens
        {
            let Some(at) = self.decoding.pop() else { return };
            let request = self.requests[at];
            let made = self.made_since(&request);
            self.context -= request.sent.prompt + request.sent.cached + made + 1.0;
            let request = &mut self.requests[at];
            request.tokens_out += made as u64;
            request.epoch += 1;
            request.computed = 0.0;
            request.sent.prompt += made + 1.0;
            self.waiting.push_front(at);
            self.preemptions += 1;
        }
    }

    /// Decode until something can change.
    fn jump(&mut self) {
        self.make_room();
        let Some(&Reverse((end, _, _))) = self.ends.peek() else { return };
        let batch = self.decoding.len() as f64;
        let mut most = (end - self.decode_steps).max(1);
        if self.rules.reserved_share <= 0.0 {
            let room = ((self.rules.kv_tokens - self.used()) / batch).floor();
            if room < most as f64 {
                most = if room > 1.0 { room as u64 } else { 1 };
            }
        }
        let shape = |steps: u64| KernelShape {
            decodes: batch,
            context_tokens: self.context + 0.5 * batch * (steps - 1) as f64,
            ..KernelShape::default()
        };
        let total_s = |steps: u64| self.kernel.step_s(&shape(steps)) * steps as f64;
        let can_take = self.decoding.len() + self.prefilling.len() < self.rules.most_running;
        if let (Some(&next), true) = (self.coming.front(), can_take || self.waiting.is_empty()) {
            let gap_s = self.requests[next].visible_s - self.now_s;
            if gap_s <= 0.0 || total_s(most) > gap_s {
                // The first step that ends when the request is there.
                let (mut low, mut high) = (0, most);
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if total_s(middle) >= gap_s {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                most = high;
                let every = self.rules.receive_every;
                let until = (end - self.decode_steps).max(1);
                most = ((self.steps + most).next_multiple_of(every) - self.steps).min(until).max(1);
            }
        }
        let (shape, total) = (shape(most), total_s(most));
        self.pass(shape, total / most as f64, most as f64, total);
        self.decode(most);
        self.retire();
    }

    fn result(mut self) -> Replayed {
        let count = self.finished.len().max(1) as f64;
        let mut firsts: Vec<f64> = self.finished.iter().map(|it| it.0).collect();
        firsts.sort_by(f64::total_cmp);
        let tpots: Vec<f64> =
            self.finished.iter().map(|it| it.1).filter(|it| it.is_finite()).collect();
        let ttft_mean_s = firsts.iter().sum::<f64>() / count;
        let pieces = std::mem::take(&mut self.pieces).finish();
        let of_steps = pieces.iter().map(|it| it.ttft_weight * self.kernel.step_s(&it.shape));
        let ttft_fixed_s = ttft_mean_s - of_steps.sum::<f64>();
        Replayed {
            ttft_mean_s,
            ttft_median_s: firsts[(firsts.len() - 1) / 2],
            tpot_mean_s: tpots.iter().sum::<f64>() / tpots.len().max(1) as f64,
            e2e_mean_s: self.finished.iter().map(|it| it.2).sum::<f64>() / count,
            output_per_s: self.tokens_out as f64 / self.now_s,
            preemptions: self.preemptions,
            pieces,
            ttft_fixed_s,
        }
    }
}

/// Sums over alike steps.
#[derive(Default)]
struct Sums {
    shape: KernelShape,
    ttft_weight: f64,
    tpot_weight: f64,
    weight: f64,
}

/// Pieces by alike shapes.
#[derive(Default)]
struct Pieces {
    by_key: BTreeMap<[i32; 3], Sums>,
}

impl Pieces {
    fn add(&mut self, shape: KernelShape, ttft_weight: f64, tpot_weight: f64) {
        let bin = |value: f64| if value <= 0.0 { -1 } else { (libm::log(value) * 6.0) as i32 };
        let key = [bin(shape.prompt_tokens), bin(shape.decodes), bin(shape.prompt_pairs) / 3];
        let sums = self.by_key.entry(key).or_default();
        // Shapes count by what they weigh in both means.
        let weight = ttft_weight + tpot_weight + 1e-12;
        let sum = &mut sums.shape;
        sum.prompt_tokens += weight * shape.prompt_tokens;
        sum.prompt_pairs += weight * shape.prompt_pairs;
        sum.decodes += weight * shape.decodes;
        sum.context_tokens += weight * shape.context_tokens;
        sum.ending_prompts += weight * shape.ending_prompts;
        sums.ttft_weight += ttft_weight;
        sums.tpot_weight += tpot_weight;
        sums.weight += weight;
    }

    fn finish(self) -> Vec<Piece> {
        let of = |sums: Sums| {
            let Sums { shape, ttft_weight, tpot_weight, weight } = sums;
            let shape = KernelShape {
                prompt_tokens: shape.prompt_tokens / weight,
                prompt_pairs: shape.prompt_pairs / weight,
                decodes: shape.decodes / weight,
                context_tokens: shape.context_tokens / weight,
                ending_prompts: shape.ending_prompts / weight,
            };
            Piece { shape, ttft_weight, tpot_weight }
        };
        self.by_key.into_values().map(of).collect()
    }
}
