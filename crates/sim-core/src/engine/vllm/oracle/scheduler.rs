//! The scheduler: its state, who is admitted, and the order of a step.

use std::collections::{BTreeSet, VecDeque};

use crate::{
    engine::{
        attended::Offer,
        vllm::{Policy, Refusal, VllmSpec},
    },
    setup::SetupError,
};

use super::{
    decision::{Decision, Scheduled},
    kv_cache::{Gate, KvCache},
    queue::WaitingQueue,
    request::{Request, RequestId, Status, Tracked},
};

/// vLLM's V1 scheduler, without a clock.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) spec: VllmSpec,
    pub(super) requests: Vec<Tracked>,
    pub(super) waiting: WaitingQueue,
    /// In the order of admission.
    pub(super) running: Vec<RequestId>,
    pub(super) kv: KvCache,
    /// Waiting requests that were passed over because outputs of theirs are still on their way.
    pub(super) passed_over: BTreeSet<RequestId>,
    /// Steps that computed something.
    executed_steps: u64,
    /// The last of them that worked on a prompt.
    last_prefill_step: Option<u64>,
    /// Whether the last step that was free to admit left requests waiting: prompts are not held
    /// back then.
    is_backed_up: bool,
}

/// A step while it is being composed.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) decision: Decision,
    /// Tokens left.
    pub(super) budget: u64,
    /// Most tokens of one prompt.
    pub(super) prompt_limit: u64,
    /// Whether prompts are held back.
    pub(super) holds_prompts: bool,
    /// Whether the step works on a prompt.
    pub(super) has_prompt: bool,
}

/// Those who have never run and stand in a line outside of the scheduler.
pub(in crate::engine) trait Line {
    /// How many.
    fn number(&self) -> usize;

    /// Whose turn it is.
    fn head(&mut self) -> Option<Request>;

    /// Whoever's turn it is fits or does not; where it is served it has this number from now on.
    fn offer(&mut self, fits: bool, id: RequestId) -> Offer;
}

/// Everybody stands in the scheduler's own queue.
struct NoLine;

impl Line for NoLine {
    fn number(&self) -> usize {
        0
    }

    fn head(&mut self) -> Option<Request> {
        None
    }

    fn offer(&mut self, _: bool, _: RequestId) -> Offer {
        Offer::Blocked
    }
}

/// What a request gets that is admitted.
struct Fit {
    found: Vec<u32>,
    cached_tokens: u64,
    missing_tokens: u64,
    tokens: u64,
    gate: Gate,
}

impl Scheduler {
    /// An idle scheduler.
    ///
    /// # Errors
    /// The specification holds a number outside its domain.
    pub fn new(spec: VllmSpec) -> Result<Self, SetupError> {
        spec.check()?;
        Ok(Self {
            spec,
            requests: Vec::new(),
            waiting: WaitingQueue::new(spec.policy),
            running: Vec::new(),
            kv: KvCache::new(&spec),
            passed_over: BTreeSet::new(),
            executed_steps: 0,
            last_prefill_step: None,
            is_backed_up: false,
        })
    }

    /// The specification.
    #[must_use]
    pub const fn spec(&self) -> &VllmSpec {
        &self.spec
    }

    /// A request comes.
    ///
    /// # Errors
    /// It can never be served.
    pub fn add(&mut self, request: &Request) -> Result<RequestId, Refusal> {
        let number = u32::try_from(self.requests.len()).map_err(|_| Refusal::TooManyRequests)?;
        if request.output_tokens == 0 {
            return Err(Refusal::NoOutput);
        }
        let id = RequestId(number);
        let tracked = Tracked::new(id, request, self.spec.max_model_len);
        if tracked.prompt_tokens >= self.spec.max_model_len {
            return Err(Refusal::PromptFillsModel {
                prompt_tokens: tracked.prompt_tokens,
                max_model_len: self.spec.max_model_len,
            });
        }
        // The last token is sampled, never computed.
        let needed_blocks = self.spec.blocks_for(tracked.final_tokens - 1);
        let usable_blocks = self.spec.usable_blocks();
        if needed_blocks > usable_blocks {
            return Err(Refusal::NeverFits { needed_blocks, usable_blocks });
        }
        self.waiting.add(&tracked);
        self.requests.push(tracked);
        Ok(id)
    }

    /// Running requests, in the order of admission.
    #[must_use]
    pub fn running(&self) -> &[RequestId] {
        &self.running
    }

    /// Waiting requests, first to last.
    #[must_use]
    pub fn waiting(&self) -> Vec<RequestId> {
        self.waiting.ids()
    }

    /// How many requests wait.
    #[must_use]
    pub fn waiting_len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether there is any request to serve.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        !self.running.is_empty() || self.waiting.len() > 0
    }

    /// Blocks that nobody holds.
    #[must_use]
    pub const fn free_blocks(&self) -> u64 {
        self.kv.free_blocks()
    }

    /// Tokens of a request that are computed, counting the steps in flight.
    #[must_use]
    pub fn computed_tokens(&self, id: RequestId) -> u64 {
        self.requests[id.index()].computed_tokens
    }

    /// Output tokens of a request that have come back.
    #[must_use]
    pub fn output_tokens(&self, id: RequestId) -> u64 {
        self.requests[id.index()].output_tokens
    }

    /// Compose the next step.
    pub fn schedule(&mut self) -> Decision {
        self.schedule_with(&mut NoLine)
    }

    /// Compose the next step, where those who have never run stand in a line of their own.
    pub(in crate::engine) fn schedule_with(&mut self, line: &mut dyn Line) -> Decision {
        let mut draft = self.draft(line.number());
        self.schedule_running(&mut draft);
        if draft.decision.preempted.is_empty() {
            self.admit(line, &mut draft);
            if !draft.holds_prompts {
                self.is_backed_up =
                    self.waiting.len() > self.passed_over.len() || line.number() > 0;
            }
        }
        if !draft.decision.is_empty() {
            self.executed_steps += 1;
        }
        if draft.has_prompt {
            self.last_prefill_step = Some(self.executed_steps);
        }
        self.count_as_computed(&draft.decision);
        draft.decision
    }

    fn draft(&self, in_line: usize) -> Draft {
        let threshold = self.spec.long_prefill_token_threshold;
        let is_alone = self.running.len() + self.waiting.len() + in_line <= 1;
        let is_limited = threshold > 0 && !(is_alone && self.spec.version.spares_a_lone_prompt());
        Draft {
            decision: Decision::default(),
            budget: self.spec.max_num_batched_tokens,
            prompt_limit: if is_limited { threshold } else { u64::MAX },
            holds_prompts: self.holds_prompts(),
            has_prompt: false,
        }
    }

    /// Whether too few steps have passed since the last one that worked on a prompt. Nothing is
    /// held back when nobody decodes, or when requests pile up.
    fn holds_prompts(&self) -> bool {
        let interval = self.spec.prefill_schedule_interval;
        interval > 1
            && !self.is_backed_up
            && self.last_prefill_step.is_some_and(|last| self.executed_steps + 1 - last < interval)
            && self.running.iter().any(|id| !self.requests[id.index()].is_prefilling)
    }

    /// Admit waiting requests in order until one cannot be. Those in the queue have run before, or
    /// there is no line outside of it: they go first, unless by priority somebody in the line is
    /// more important.
    fn admit(&mut self, line: &mut dyn Line, draft: &mut Draft) {
        let mut passed_over = VecDeque::new();
        while draft.budget > 0 && (self.running.len() as u64) < self.spec.max_num_seqs {
            let queued = self.waiting.first();
            let newcomer = line.head().filter(|head| {
                queued.is_none_or(|id| {
                    let request = &self.requests[id.index()];
                    self.spec.policy == Policy::Priority
                        && (head.priority, head.arrival) < (request.priority, request.arrival)
                })
            });
            if let Some(head) = newcomer {
                if !self.admit_newcomer(&head, line, draft) {
                    break;
                }
                continue;
            }
            let Some(id) = queued else { break };
            let request = &self.requests[id.index()];
            if request.stale_tokens > 0 {
                // An output of it is still on its way: resumed now, it would be sampled twice.
                self.waiting.remove(request);
                self.passed_over.insert(id);
                passed_over.push_front(id);
            } else if !self.admit_first(id, draft) {
                break;
            }
        }
        for id in passed_over {
            self.waiting.put_back(&self.requests[id.index()]);
        }
    }

    /// Try the head of the line; `false` if it has to wait.
    fn admit_newcomer(&mut self, head: &Request, line: &mut dyn Line, draft: &mut Draft) -> bool {
        let id = RequestId(self.requests.len() as u32);
        self.requests.push(Tracked::new(id, head, self.spec.max_model_len));
        let fit = self.fit(id, draft);
        match line.offer(fit.is_some(), id) {
            Offer::Served(_) => {
                if let Some(fit) = fit {
                    self.enter(id, &fit, draft);
                }
                true
            }
            offer => {
                self.requests.pop();
                offer == Offer::Dropped
            }
        }
    }

    /// Admit the first waiting request, if budget and blocks allow.
    fn admit_first(&mut self, id: RequestId, draft: &mut Draft) -> bool {
        let Some(fit) = self.fit(id, draft) else { return false };
        self.waiting.remove(&self.requests[id.index()]);
        self.passed_over.remove(&id);
        self.enter(id, &fit, draft);
        true
    }

    /// What a request would get in this step; `None` if budget or blocks do not allow it.
    fn fit(&self, id: RequestId, draft: &Draft) -> Option<Fit> {
        let request = &self.requests[id.index()];
        let found = self.kv.find(request);
        let cached_tokens = self.kv.tokens_in(found.len());
        let missing_tokens = request.known_tokens() - cached_tokens;
        if draft.holds_prompts && missing_tokens > 1 {
            return None;
        }
        let wanted_tokens = missing_tokens.min(draft.prompt_limit);
        if !self.spec.chunked_prefill && wanted_tokens > draft.budget {
            return None;
        }
        let tokens = wanted_tokens.min(draft.budget);
        let gate = Gate {
            whole_tokens: self.spec.scheduler_reserve_full_isl.then(|| request.known_tokens()),
            keeps_watermark: !self.running.is_empty(),
        };
        self.kv.has_room(request, cached_tokens + tokens, &found, gate).then_some(Fit {
            found,
            cached_tokens,
            missing_tokens,
            tokens,
            gate,
        })
    }

    fn enter(&mut self, id: RequestId, fit: &Fit, draft: &mut Draft) {
        let Fit { found, cached_tokens, missing_tokens, tokens, gate } = fit;
        let request = &mut self.requests[id.index()];
        self.kv.allocate(request, cached_tokens + tokens, found, *gate);
        self.kv.publish(request, cached_tokens + tokens);
        self.running.push(id);
        match request.status {
            Status::Preempted => draft.decision.resumed.push(id),
            _ => draft.decision.new.push(id),
        }
        request.status = Status::Running;
        request.computed_tokens = *cached_tokens;
        draft.decision.cached_tokens.push((id, *cached_tokens));
        draft.has_prompt |= *missing_tokens > 1;
        draft.budget -= tokens;
        draft.decision.scheduled.push(Scheduled {
            id,
            tokens: *tokens,
            context_tokens: *cached_tokens,
            samples: tokens == missing_tokens,
            decodes: false,
        });
    }

    /// The tokens of a step count as computed from when it is composed, so that the next step can
    /// be composed before this one is done.
    fn count_as_computed(&mut self, decision: &Decision) {
        for scheduled in &decision.scheduled {
            let request = &mut self.requests[scheduled.id.index()];
            request.computed_tokens += scheduled.tokens;
            request.in_flight_tokens += scheduled.tokens;
            request.is_prefilling = !scheduled.samples;
            if scheduled.samples && self.spec.is_async() {
                request.expected_tokens += 1;
            }
        }
    }
}
